"""Processes share the request rate of a host, and a file that cannot be used costs no load."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from equality import assert_equal, every_table
from processes import begin, end
from servers import served
from virtual_clock import VirtualClock

import ledgerframes as lf
from ledgerframes import network
from ledgerframes.api.host_rates import FORGET_AFTER, HostRate, HostRates, Wait, Waits
from ledgerframes.loaders import sync
from ledgerframes.loaders.progress import Progress
from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.store.rate_file import RateFile

HOST = "one.invalid"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "host_rates.sqlite"


def rate(path: Path, per_second: float = 4, host: str = HOST) -> HostRate:
    """The rate of a host as another process gets it."""
    return HostRates(RateFile(path).record).of(host, per_second)


def test_two_processes_take_turns(path: Path, clock: VirtualClock) -> None:
    both = [rate(path), rate(path)]
    for number in range(9):
        both[number % 2].acquire(Waits())
    assert clock.time == 1002.0


def test_the_rate_of_another_host_is_its_own(path: Path, clock: VirtualClock) -> None:
    for host in ("one.invalid", "two.invalid"):
        rate(path, host=host).acquire(Waits())
    assert clock.time == 1000


def test_what_one_process_is_told_another_one_obeys(path: Path, clock: VirtualClock) -> None:
    one, two = rate(path), rate(path)
    one.refuse(clock.time, 34.0, "one.invalid returned 429")
    shown: list[str] = []
    waits = Waits()
    with waits.session(lambda text: bool(shown.append(text)), threading.Event()):
        two.acquire(waits)
    assert clock.time == 1034
    assert shown[0] == "waits 34 s: one.invalid returned 429"
    two.acquire(Waits())
    assert clock.time == 1034.5, "half the rate, also for the process that was not refused"


def test_a_process_sees_what_its_workers_wait_for(path: Path, clock: VirtualClock) -> None:
    caller, worker = rate(path), rate(path)
    assert caller.wait is None
    worker.refuse(clock.time, 34.0, "one.invalid returned 429")
    assert caller.wait == Wait(clock.time + 34, "one.invalid returned 429", HOST)
    clock.time += 33
    assert caller.wait is None


def test_the_progress_bar_shows_what_workers_wait_for(
    path: Path, clock: VirtualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rates = HostRates(RateFile(path).record)
    monkeypatch.setattr(network, "shared_rates", lambda: rates)
    monkeypatch.setattr(sync, "WATCH_SECONDS", 0.001)
    rate(path, host="far.invalid").refuse(clock.time, 34.0, "far.invalid returned 429")
    net = lf.connect("sandbox", history_url="http://far.invalid", store=tmp_path / "store")
    shown = threading.Event()
    with Progress("Fetching bulk objects (x)", 10, "objects", visible=True) as bar:
        monkeypatch.setattr(bar, "show_wait", lambda text: text.startswith("waits 34 s: far.invalid") and not shown.set())
        with net.waits.session(bar.show_wait, threading.Event()), sync._showing_waits_of_workers(net):
            assert shown.wait(60)
    capsys.readouterr()


def test_a_process_waits_no_longer_than_its_user_allows(path: Path, clock: VirtualClock) -> None:
    one, two = rate(path), rate(path)
    one.refuse(clock.time, 7200.0, "429")
    two.acquire(Waits(), 1800.0)
    assert clock.time == 1000, "its own request tells whether the host still refuses"


def test_refusals_of_long_ago_are_forgotten(path: Path, clock: VirtualClock) -> None:
    rate(path).refuse(clock.time, 900.0, "429")
    clock.time += FORGET_AFTER + 1
    assert rate(path).open_at == 1900, "the host said so"
    clock.time = 1900 + FORGET_AFTER + 1
    later = rate(path)
    later.acquire(Waits())
    begin = clock.time
    later.acquire(Waits())
    assert clock.time - begin == 0.25


def test_times_before_this_machine_was_started_are_forgotten(path: Path, clock: VirtualClock) -> None:
    rate(path).refuse(clock.time, 900.0, "429")
    clock.time = 5.0
    rate(path).acquire(Waits())
    assert clock.time == 5.0


def test_hosts_that_nobody_uses_leave_the_file(path: Path, clock: VirtualClock) -> None:
    rate(path, host="old.invalid").acquire(Waits())
    clock.time += 200_000
    rate(path, host="new.invalid").acquire(Waits())
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute("SELECT host FROM rates").fetchall() == [("new.invalid",)]


@pytest.mark.parametrize("content", [b"no database" * 100, None])
def test_a_file_that_cannot_be_used_costs_no_request(content: bytes | None, path: Path, clock: VirtualClock) -> None:
    path.parent.mkdir()
    path.mkdir() if content is None else path.write_bytes(content)
    one = rate(path)
    for _ in range(9):
        one.acquire(Waits())
    one.refuse(clock.time, None, "429")
    one.accept()
    assert clock.time == 1002.0


# -- two jobs at once -----------------------------------------------------------------------------------------------------

WORLD = {"events": 600, "days": 1}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def sync_day(store: Path) -> None:
    net = lf.connect("local", store=store, page_size=20, max_concurrency=2, retries=1)
    lf.load_events(net, **DAY)


@pytest.fixture
def server() -> Iterator[str]:
    """A sandbox on loopback that lets 20 requests in half a second pass."""
    limiter = Faults(limit_requests=20, limit_seconds=0.5, retry_after=1)
    with served(Sandbox(seed=1, **WORLD, faults=limiter)) as port:
        yield f"127.0.0.1:{port}"


@pytest.mark.loopback
def test_a_limiter_costs_two_jobs_time_and_neither_of_them_its_run(tmp_path: Path, server: str) -> None:
    Path("ledgerframes.toml").write_text(f'[local]\nhistory_url = "http://{server}"\nrequests_per_second = 60\n')
    jobs = [begin(sync_day, tmp_path / name) for name in ("a", "b")]
    assert [end(job) for job in jobs] == [0, 0]
    quiet = lf.load_events(lf.connect("sandbox", store=tmp_path / "quiet", **WORLD), **DAY)
    for name in ("a", "b"):
        assert_equal(
            every_table(lf.load_events(lf.connect("local", store=tmp_path / name, offline=True), **DAY)), every_table(quiet)
        )
    with closing(sqlite3.connect(tmp_path / "data" / "ledgerframes" / "host_rates.sqlite")) as connection, connection:
        assert connection.execute("SELECT host FROM rates").fetchall() == [(server,)]
