"""Loads beside processes that drop and replace what they have fetched: all rows of the window, or an error that says so."""

from __future__ import annotations

import multiprocessing
import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from campaign import Effort, tell
from cases import every_nth
from equality import assert_equal, every_table
from loads import LOADS, WINDOW, Frames, network
from processes import again_and_again, at_work, begin, end

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS, PRICE_VOTES
from ledgerframes.errors import CoverageError, LedgerframesError
from ledgerframes.loaders import sync
from ledgerframes.loaders.recheck import recheck
from ledgerframes.loaders.repair import repair
from ledgerframes.network import Network
from ledgerframes.store import catalog as records
from ledgerframes.store.compact import compact
from ledgerframes.store.prune import prune
from ledgerframes.store.verify import DamagedFile

LOADED_BY_SYNC = ["load_events", "load_events (ids)", "load_updates", "load_updates (trees)", "load_bulk", "load_bulk (acs)"]
WAIT = 120  # seconds


# -- what other processes do ------------------------------------------------------------------------------------------


def drop_all(net: Network) -> None:
    """Drop every segment, as a prune and a repair without success do."""
    segments = net.store.all_segments()
    with net.store.catalog.write_transaction() as connection:
        for segment in segments:
            records.remove_segment(connection, segment.segment_id)


def drop_between(store: Path, barrier: Any, times: int) -> None:
    """Drop every segment each time that both processes are there."""
    net = network(store)
    for _ in range(times):
        barrier.wait(WAIT)
        drop_all(net)
        barrier.wait(WAIT)


def prune_some(store: Path) -> None:
    net, chance = network(store), random.Random()
    hours = chance.uniform(1, 9)
    prune(net.store, before=pd.Timestamp("2026-11-08", tz="UTC").to_pydatetime() + timedelta(hours=hours))


def repair_some(store: Path) -> None:
    net = network(store)
    segments = [segment for segment in net.store.all_segments() if segment.files]
    if segments:
        damaged = random.Random().choice(segments)
        with suppress(LedgerframesError):
            repair(net, [DamagedFile(damaged, each.table, each.path, "a test") for each in damaged.files.values()])


def recheck_some(store: Path) -> None:
    with suppress(LedgerframesError):
        recheck(network(store), sample=2, replace=True)


def compact_all(store: Path) -> None:
    with suppress(LedgerframesError):
        compact(network(store).store)


# -- after the sync, before the frames --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Frames]:
    """The frames of each load in a store that nobody else uses."""
    store, frames = tmp_path_factory.mktemp("undisturbed"), dict[str, Frames]()

    def load(name: str) -> Frames:
        if name not in frames:
            frames[name] = LOADS[name](network(store))
        return frames[name]

    return load


def meet_after_sync(monkeypatch: pytest.MonkeyPatch, barrier: Any, times: int) -> list[int]:
    """Let another process in between the first syncs and what is read after them, and count the syncs."""
    original, counts = sync.sync, [0]

    def wrapped(*arguments: Any, **options: Any) -> None:
        original(*arguments, **options)
        counts[0] += 1
        if counts[0] <= times:
            barrier.wait(WAIT)
            barrier.wait(WAIT)

    monkeypatch.setattr(sync, "sync", wrapped)
    return counts


@pytest.mark.parametrize(("name", "stored_before"), every_nth(product(LOADED_BY_SYNC, [False, True]), 3))
def test_what_another_process_drops_after_the_sync_is_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: Callable[[str], Frames], name: str, stored_before: bool
) -> None:
    net, barrier = network(tmp_path), multiprocessing.get_context("forkserver").Barrier(2)
    if stored_before:
        LOADS[name](net)
    expected = undisturbed(name)
    counts = meet_after_sync(monkeypatch, barrier, 1)
    other = begin(drop_between, tmp_path, barrier, 1)
    frames = LOADS[name](net)
    assert end(other) == 0
    assert counts == [2]
    assert_equal(_without_times(frames), _without_times(expected))


def _without_times(frames: Frames) -> Frames:
    return {name: frame.drop(columns="fetched_at", errors="ignore") for name, frame in frames.items()}


def test_what_is_dropped_again_and_again_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    barrier = multiprocessing.get_context("forkserver").Barrier(2)
    meet_after_sync(monkeypatch, barrier, sync.MAX_SYNCS)
    other = begin(drop_between, tmp_path, barrier, sync.MAX_SYNCS)
    with pytest.raises(CoverageError, match=r"Load again when it has finished") as caught:
        lf.load_events(network(tmp_path), **WINDOW)
    assert end(other) == 0
    assert "2026-11-08T06:00:00Z" in caught.value.missing[0]


def test_an_observation_that_is_dropped_at_once_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = network(tmp_path)
    commit = net.store.commit

    def commit_and_drop(*arguments: Any, **options: Any) -> None:
        commit(*arguments, **options)
        drop_all(net)

    monkeypatch.setattr(net.store, "commit", commit_and_drop)
    with pytest.raises(CoverageError, match="dropped the observation"):
        lf.load_price_votes(net)


def test_one_moment_is_one_state_of_the_catalog(tmp_path: Path) -> None:
    net = network(tmp_path)
    lf.load_events(net, **WINDOW)
    dropper = threading.Thread(target=drop_all, args=(network(tmp_path),))
    with net.store.one_state():
        before = net.store.segments(EVENTS)
        dropper.start()
        dropper.join(0.3)
        assert net.store.segments(EVENTS) == before != []
        assert net.store.unreadable(PRICE_VOTES) == []
    dropper.join(WAIT)
    assert net.store.segments(EVENTS) == []


def test_a_file_that_is_deleted_after_the_load_is_named(tmp_path: Path) -> None:
    frames = lf.load_events(network(tmp_path), **WINDOW)
    drop_all(network(tmp_path))
    prune(network(tmp_path).store, min_age=timedelta(0))
    reads: list[Callable[[], object]] = [
        lambda: frames.verdicts,
        lambda: frames.count_rows("verdicts"),
        lambda: list(frames.iter_batches("verdicts")),
        lambda: frames.scan("verdicts"),
        lambda: frames.where("verdicts", verdict_result="VERDICT_RESULT_ACCEPTED"),
    ]
    for read in reads:
        with pytest.raises(lf.StoreError, match=r"was pruned or lost. Load again"):
            read()


# -- a campaign -------------------------------------------------------------------------------------------------------


def random_load(chance: random.Random) -> tuple[str, Callable[[Network], lf.Frames]]:
    """Return a load of any kind, and its name."""
    first = chance.randint(0, 8)
    window: Any = {"since": f"2026-11-08T{first:02}:00:00Z", "until": f"2026-11-08T{chance.randint(first + 1, 10):02}:00:00Z"}
    after = chance.randint(0, 20)
    offsets: Any = {"after": after, "through": chance.randint(after + 1, 60), "page_size": 10}
    loads: list[tuple[str, Callable[[Network], lf.Frames]]] = [
        (f"load_events {window}", lambda net: lf.load_events(net, **window)),
        (f"load_updates {offsets}", lambda net: lf.load_updates(net, **offsets)),
        (f"load_bulk {window}", lambda net: lf.load_bulk(net, **window)),
    ]
    return chance.choices(loads, weights=[8, 3, 1])[0]


@pytest.mark.exhaustive
def test_no_load_is_short_beside_prune_repair_recheck_and_compaction(tmp_path: Path, effort: Effort) -> None:
    store, quiet, chance = tmp_path / "shared", network(tmp_path / "quiet"), random.Random(17)
    outcomes, count = Counter[str](), effort.count(30, 1000)
    network(store).store.create()
    with ExitStack() as stack:
        others = [
            stack.enter_context(at_work(again_and_again, each, store))
            for each in (prune_some, repair_some, recheck_some, compact_all)
        ]
        for _ in range(count):
            name, load = random_load(chance)
            expected = every_table(load(quiet))
            try:
                frames = every_table(load(network(store)))
            except LedgerframesError as error:
                outcomes[type(error).__name__] += 1
                continue
            assert {table: len(frame) for table, frame in frames.items()} == {
                table: len(frame) for table, frame in expected.items()
            }, name
            assert_equal(_without_times(frames), _without_times(expected))
            outcomes["whole"] += 1
        assert all(other.is_alive() for other in others), "a process beside the loads has failed"
    assert outcomes["whole"] > count / 2, outcomes
    tell("beside", loads=count, **outcomes)
