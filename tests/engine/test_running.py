"""What queries may use, and how they end."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cases import every_nth

import ledgerframes as lf
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.errors import UsageError
from ledgerframes.long_waits import shown_by
from ledgerframes.settings import EngineSettings
from ledgerframes.store import Store

pytestmark = pytest.mark.usefixtures("first_loads_copied_in_module")
DAY = {"since": "2026-11-08", "until": "2026-11-09"}
# Each verdict with each, three times: nobody waits for the end.
PAIRS = "verdicts a, verdicts b, verdicts c, verdicts d"
CONDITION = "a.view_count * b.view_count + c.view_count * d.view_count = -1"
ENDLESS = Relation("endless", "One row per four verdicts.", f"SELECT 1 AS one FROM {PAIRS} WHERE {CONDITION}", ("verdicts",))


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> lf.Network:
    net = lf.connect("sandbox", events=2_000, days=1, store=tmp_path_factory.mktemp("store"))
    lf.load_events(net, **DAY)
    return net


@contextmanager
def control_c(seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# The bar appears after two seconds.
@pytest.mark.parametrize(("seconds", "has_bars"), every_nth([(0.3, True), (2.5, True), (2.5, False)], 3))
def test_control_c_ends_a_query_of_an_analysis(
    net: lf.Network, seconds: float, has_bars: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames, terminal = lf.load_events(net, **DAY), Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with shown_by(terminal.write, has_bars=has_bars), control_c(seconds), pytest.raises(KeyboardInterrupt):
        run(frames, Query("SELECT count(*) AS rows FROM endless", (ENDLESS,)))
    assert ("Query" in terminal.getvalue()) == (has_bars and seconds > 2)
    assert run(frames, Query("SELECT count(*) AS requests FROM requests", (REQUESTS,)))["requests"][0] > 0


def test_control_c_ends_sql(net: lf.Network) -> None:
    with control_c(0.5), pytest.raises(KeyboardInterrupt):
        lf.sql(net, f"select count(*) as rows from {PAIRS} where {CONDITION}")


def test_settings_reach_the_engine(tmp_path: Path, net: lf.Network) -> None:
    limits = {"threads": 1, "memory_limit": "1GB", "spill_dir": tmp_path}
    limited = lf.connect("sandbox", events=2_000, days=1, store=net.settings.store, **limits)
    assert limited.settings.engine == EngineSettings(threads=1, memory_limit="1GB", spill_dir=tmp_path)
    select = "select current_setting('threads') as threads, current_setting('temp_directory') as directory"
    of_sql = lf.sql(limited, select).to_dict("records")[0]
    of_analyses = run(lf.load_events(limited, **DAY), Query(select, ())).to_dict("records")[0]
    for settings in (of_sql, of_analyses):
        assert settings["threads"] == 1
        assert Path(settings["directory"]).parent == tmp_path


def test_a_directory_to_spill_to_is_made(tmp_path: Path, net: lf.Network) -> None:
    directory = tmp_path / "no" / "directory yet"
    limited = lf.connect("sandbox", events=2_000, days=1, store=net.settings.store, spill_dir=directory)
    lf.cost.spend(lf.load_events(limited, **DAY))
    assert len(list(directory.iterdir())) == 1  # of the database, which stays until the end of this process


def of_an_analysis(net: lf.Network, select: str) -> None:
    run(lf.load_events(net, **DAY), Query(select, (Relation("rows", "Texts.", "SELECT 1", ("verdicts",)),)))


@pytest.mark.parametrize("call", [of_an_analysis, lf.sql])
def test_too_little_memory_names_the_setting(net: lf.Network, call: Callable[[lf.Network, str], object]) -> None:
    limited = lf.connect("sandbox", events=2_000, days=1, store=net.settings.store, memory_limit="20MB")
    with pytest.raises(UsageError, match="memory_limit=20MB"):
        call(limited, "select max(len(texts)) as n from (select list(repeat('x', 1000)) as texts from range(1000000))")


@pytest.mark.parametrize("call", [of_an_analysis, lf.sql])
def test_a_directory_to_spill_to_that_is_none_names_the_setting(
    call: Callable[[lf.Network, str], object], tmp_path: Path, net: lf.Network
) -> None:
    file = tmp_path / "file"
    file.touch()
    limited = lf.connect("sandbox", events=2_000, days=1, store=net.settings.store, spill_dir=file)
    with pytest.raises(UsageError, match=r"Cannot write to spill_dir='.*file': File exists\. Set spill_dir= to another"):
        call(limited, "select 1 as one")


def test_a_full_directory_to_spill_to_is_not_taken_for_a_full_store(net: lf.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    freeze = Store.freeze
    monkeypatch.setattr(Store, "freeze", lambda store, target: freeze(store, Path("/dev/full")))
    with pytest.raises(UsageError, match=r"^Cannot write to the directory of temporary files: No space left on device\. Set"):
        lf.sql(net, "select count(*) as n from traffic")


def test_a_limit_of_memory_can_have_a_fraction(net: lf.Network) -> None:
    limited = lf.connect("sandbox", events=2_000, days=1, store=net.settings.store, memory_limit="1.5GiB")
    assert lf.sql(limited, "select current_setting('memory_limit') as memory")["memory"].tolist() == ["1.5 GiB"]


NO_LIMITS = [("threads", 0), *(("memory_limit", text) for text in ("much", "-1GB", "0GB", "0.0GB", "1.5", ".GB"))]


@pytest.mark.parametrize(("name", "value"), NO_LIMITS)
def test_a_limit_that_makes_no_sense(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=name):
        lf.connect("sandbox", **{name: value})
