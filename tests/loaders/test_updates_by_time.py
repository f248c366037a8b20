"""`load_updates` by record time: the same rows as of the whole ledger, by a few small requests."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from cases import every_nth
from equality import assert_equal, every_table

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.frames import Frames
from ledgerframes.loaders import ledger_times
from ledgerframes.sandbox import Sandbox
from ledgerframes.testing import frames_of

WORLD = {"events": 1800, "days": 4}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    return lf.load_updates(lf.connect("sandbox", **WORLD, store=tmp_path_factory.mktemp("whole")))


@pytest.mark.parametrize("seed", every_nth(range(3), 3))
def test_a_window_has_the_rows_that_the_whole_ledger_has_in_it(seed: int, whole: Frames, tmp_path: Path) -> None:
    chance = random.Random(seed)
    times = whole.ledger_updates["record_time"]
    since = times[chance.randrange(len(times) - 1)]
    until = since + pd.Timedelta(minutes=chance.choice([1, 30, 600, 3000]))
    net = lf.connect("sandbox", **WORLD, store=tmp_path)
    frames = lf.load_updates(net, since=since, until=until)
    assert_equal(every_table(frames), every_table(whole.between(since, until)))
    assert frames.window is not None and frames.window.since == since
    margin = pd.Timedelta(minutes=10)
    stored = sum(each.files["ledger_updates"].rows for each in net.store.segments(LEDGER))
    assert 0 <= stored - len(whole.between(since - margin, until + margin).ledger_updates) <= 2  # one on each side


def test_only_the_window_is_loaded_and_few_requests_find_it(whole: Frames, tmp_path: Path) -> None:
    net = lf.connect("sandbox", **WORLD, store=tmp_path)
    plan = lf.plan(lf.load_updates, net, during="2026-11-08")
    assert net.request_count < 70
    assert (plan["through"] - plan["after"]).tolist()[0] < whole.offset_range[1] / 2  # type: ignore[index]
    assert len(lf.load_updates(net, during="2026-11-08").ledger_updates) > 50


def test_windows_before_and_after_the_ledger_are_empty(tmp_path: Path) -> None:
    net = lf.connect("sandbox", **WORLD, store=tmp_path)
    for window in ({"since": "2025-01-01", "until": "2025-01-02"}, {"since": "2027-01-01", "until": "2027-01-02"}):
        assert lf.load_updates(net, **window).ledger_updates.empty


def test_a_window_may_have_the_bounds_of_the_calendar(whole: Frames, tmp_path: Path) -> None:
    first, last = "0001-01-01", "9999-12-31T23:59:59Z"
    online = lf.load_updates(lf.connect("sandbox", **WORLD, store=tmp_path), since=first, until=last)
    assert_equal(every_table(online), every_table(whole))
    net = lf.connect("sandbox", **WORLD, store=tmp_path, offline=True)
    assert_equal(
        every_table(lf.load_updates(net, since=first, until="2026-11-08")), every_table(whole.between(first, "2026-11-08"))
    )
    with pytest.raises(lf.CoverageError, match="has no update 0:10:00 after 9999-12-31"):
        lf.load_updates(net, since=first, until=last)


def test_what_is_pruned_is_named_as_a_gap(tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    box.ledger.prune(0.5)
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    net = lf.connect("sandbox", transport=in_process(box.app), **urls, requests_per_second=0, store=tmp_path)
    assert "gap" in lf.load_updates(net, since="2026-11-05", until="2026-11-09").coverage["status"].tolist()
    assert "gap" not in lf.load_updates(net, since="2026-11-08", until="2026-11-09").coverage["status"].tolist()


def test_offline_the_store_finds_the_offsets(tmp_path: Path) -> None:
    window = {"since": "2026-11-07", "until": "2026-11-08"}
    online = lf.load_updates(lf.connect("sandbox", **WORLD, store=tmp_path), since="2026-11-07", until="2026-11-08T01:00:00Z")
    net = lf.connect("sandbox", **WORLD, store=tmp_path, offline=True)
    frames = lf.load_updates(net, **window)
    assert_equal(every_table(frames), every_table(online.between("2026-11-07", "2026-11-08")))
    with pytest.raises(lf.CoverageError, match="has no update 0:10:00 after 2026-11-09"):
        lf.load_updates(net, since="2026-11-07", until="2026-11-09")
    with pytest.raises(lf.CoverageError, match="not in the store"):
        lf.load_updates(net, since="2026-11-06", until="2026-11-08")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"since": "2026-11-08", "after": 5}, "cannot be combined with after= or through="),
        ({"during": "2026-11-08", "through": 5}, "cannot be combined with after= or through="),
        ({"until": "2026-11-08"}, "Pass since= and until=, or during="),
        ({"since": "2026-11-09", "until": "2026-11-08"}, "until"),
        ({"since": "2026-11-08", "follow": True}, "follow=True cannot be combined with"),
        ({"since": 5}, "since"),
    ],
)
def test_arguments_that_contradict_each_other(arguments: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(lf.UsageError, match=message):
        lf.load_updates(lf.connect("sandbox", **WORLD, store=tmp_path), **arguments)  # type: ignore[call-overload]


def test_record_times_far_from_the_order_of_offsets_are_refused(whole: Frames) -> None:
    updates = whole.ledger_updates
    ledger_times.require_order(frames_of(ledger_updates=updates))
    updates.loc[len(updates) // 2, "record_time"] -= timedelta(hours=5)
    with pytest.raises(lf.CoverageError, match="differ from the order of offsets by "):
        ledger_times.require_order(frames_of(ledger_updates=updates))


@pytest.mark.parametrize("version", every_nth(["3.3.0", "3.4.11"], 2))
def test_participants_without_pages_have_windows_too(version: str, whole: Frames, tmp_path: Path) -> None:
    box = Sandbox(**WORLD, ledger_version=version)
    urls = {"history_url": box.history_url, "ledger_url": box.ledger_url}
    net = lf.connect("sandbox", transport=in_process(box.app), **urls, requests_per_second=0, store=tmp_path)
    updates = lf.load_updates(net, during="2026-11-08").ledger_updates
    assert updates["update_id"].tolist() == whole.between("2026-11-08", "2026-11-09").ledger_updates["update_id"].tolist()
