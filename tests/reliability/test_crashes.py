"""Kills at random moments, writers at the same time, and readers during a compaction: nothing lost, nothing doubled."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from campaign import Effort, tell
from cases import every_nth
from equality import assert_equal, every_table
from processes import again_and_again, at_work, begin, end, killed_at_random, seconds_of
from servers import served
from victims import OFFERS, VICTIMS, WINDOW, WORLD, Frames, compact_and_read, make_offers, network, report, sync_events

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.store.verify import verify
from ledgerframes.wallet import Journal

KILLS = {"sync events": (4, 50), "sync updates": (4, 40), "sync bulk": (4, 40), "compact": (2, 40)}  # by default, and in a soak
OFFER_KILLS, REPORT_KILLS = (3, 30), (1, 10)
KILLS_IN_A_ROW = 4


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Frames]:
    """The frames of each victim in a store of its own."""
    return cache(lambda name: VICTIMS[name](tmp_path_factory.mktemp("undisturbed")))


def committed_rows(store: Path) -> int:
    """Rows that a reader sees, which must not fall."""
    return sum(segment.rows for segment in network(store, offline=True).store.all_segments())


def assert_intact(store: Path, frames: Frames, expected: Frames) -> None:
    assert_equal(frames, expected)
    for name, frame in frames.items():
        assert not frame.duplicated(list(TABLES[name].key)).any(), f"{name} has a row twice"
    assert verify(network(store, offline=True).store) == []


@pytest.mark.parametrize("name", every_nth(VICTIMS, len(VICTIMS)))
def test_killed_at_random_moments(name: str, tmp_path: Path, effort: Effort, undisturbed: Callable[[str], Frames]) -> None:
    work, chance = VICTIMS[name], random.Random(f"{name} {effort.minutes}")
    seconds = seconds_of(work, tmp_path / "timed")
    killed = tries = 0
    wanted = effort.count(*KILLS[name])
    while killed < wanted:
        store, rows = tmp_path / f"store{tries}", 0
        for _ in range(KILLS_IN_A_ROW):
            killed += killed_at_random(chance, seconds, work, store)
            assert committed_rows(store) >= rows or name == "compact"
            rows = committed_rows(store)
        assert_intact(store, work(store), undisturbed(name))
        tries += 1
        assert tries < 10 * wanted, "the runs were over before they could be killed"
    tell("kills", victim=name, kills=killed)


@pytest.fixture
def box() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox on a port whose answers to offers are lost now and then."""
    box = Sandbox(seed=1, events=300, days=1, require_token=True, faults=Faults(dropped_after_write=0.3, wallet_500_after=0.2))
    with served(box) as port:
        yield box, f"http://127.0.0.1:{port}"


@pytest.mark.loopback
def test_offers_killed_at_random_moments_exist_once(tmp_path: Path, effort: Effort, box: tuple[Sandbox, str]) -> None:
    sandbox, url = box
    chance, wanted = random.Random(5), effort.count(*OFFER_KILLS)
    killed = tries = 0
    while killed < wanted:
        killed += killed_at_random(chance, 0.4 + 0.1 * (tries % 12), make_offers, tmp_path, url, sandbox.token)
        tries += 1
        if tries % 12 == 0:  # all offers exist by now, so the next ones are others
            tmp_path = tmp_path / "next"
            sandbox.wallet.offers.clear()
        assert tries < 20 * wanted
    assert end(begin(make_offers, tmp_path, url, sandbox.token)) == 0
    assert sorted(offer.tracking_id for offer in sandbox.offers) == [f"t-{number:03}" for number in range(OFFERS)]
    (folder,) = [path for path in tmp_path.iterdir() if path.name not in ("next", "data")]
    journalled = Journal(folder).offers()
    assert len(journalled) == OFFERS and all(offer.exists for offer in journalled)
    tell("kills", victim="offers", kills=killed)


@pytest.mark.loopback
def test_reports_killed_at_random_moments_are_whole_or_absent(tmp_path: Path, effort: Effort) -> None:
    chance, wanted = random.Random(9), effort.count(*REPORT_KILLS)
    killed = 0
    for tries in range(4 * wanted):
        store = tmp_path / f"store{tries}"
        killed += killed_at_random(chance, 4.0, report, store)
        for page in (store / "reports" / "latest").glob("*/index.html"):
            assert page.read_text(encoding="utf-8").rstrip().endswith("</html>")
        if tries % 3 == 2:  # in a soak, because a report takes seconds
            (tables,) = report(store)["run"]["tables"]
            assert "outcomes" in tables
        if killed == wanted:
            break
    assert killed == wanted
    tell("kills", victim="report run", kills=killed)


def test_writers_at_the_same_time(tmp_path: Path, undisturbed: Callable[[str], Frames]) -> None:
    writers = [begin(sync_events, tmp_path) for _ in range(4)]
    assert [end(process) for process in writers] == [0, 0, 0, 0]
    assert_intact(tmp_path, sync_events(tmp_path), undisturbed("sync events"))
    tell("writers", writers=len(writers))


@pytest.mark.exhaustive
def test_readers_during_a_compaction(tmp_path: Path, effort: Effort, undisturbed: Callable[[str], Frames]) -> None:
    expected, reads = undisturbed("sync events"), 0
    sync_events(tmp_path)
    with at_work(again_and_again, compact_and_read, tmp_path) as process:
        until = time.monotonic() + effort.count(2, 30)
        while time.monotonic() < until:
            net = lf.connect("sandbox", store=tmp_path, offline=True, **WORLD)
            assert_equal(every_table(lf.load_events(net, **WINDOW)), expected)
            reads += 1
        assert process.is_alive()
    assert reads
    tell("readers", reads=reads)
