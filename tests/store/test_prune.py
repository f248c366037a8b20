from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ledgerframes import testing
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store import (
    BULK,
    EVENTS,
    LEDGER,
    PRICE_VOTES,
    Migration,
    MigrationWindow,
    ObjectSet,
    Observation,
    OffsetRange,
    Store,
)
from ledgerframes.store.extent import ANY_MIGRATION, from_microseconds
from ledgerframes.store.prune import prune
from ledgerframes.windows import Window

NOW = timedelta(0)
HOUR = 3_600_000_000


def put(store: Store, start: int, stop: int, *, final: bool = True) -> None:
    """A range of hours of 1970-01-01; one row, in one file."""
    row = testing.table("traffic").sample_arrow(1, record_time=from_microseconds(start * HOUR), update_id=f"id{start}")
    tables = {"traffic": row}
    store.commit(EVENTS, MigrationWindow(4, start * HOUR, stop * HOUR), tables, final=final, source="test")


def age(store: Store, hours: float) -> None:
    """All files were written so long ago."""
    assert store.location.local
    then = time.time() - hours * 3600
    for path in store.location.local.rglob("*.parquet"):
        os.utime(path, (then, then))


def files(store: Store) -> int:
    assert store.location.local
    return len(list(store.location.local.rglob("*.parquet")))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, "net")
    put(store, 0, 2)
    put(store, 2, 4)
    put(store, 4, 6)
    return store


def test_what_counts_stays(store: Store) -> None:
    age(store, 100)
    done = prune(store)
    assert (done.dropped, done.removed, done.kept) == ((), (), ())
    assert files(store) == 3


def test_replaced_files_go_once_they_are_old(store: Store) -> None:
    put(store, 6, 8, final=False)
    put(store, 6, 8)
    young = prune(store)
    assert (len(young.removed), len(young.kept), files(store)) == (0, 1, 5)
    age(store, 2)
    old = prune(store)
    assert (old.removed[0].path, len(old.kept), files(store)) == (young.kept[0].path, 0, 4)
    assert len(Frames(store.snapshot(EVENTS), ["traffic"]).traffic) == 4


def test_the_grace_time_is_the_callers(store: Store) -> None:
    put(store, 6, 8, final=False)
    put(store, 6, 8)
    age(store, 2)
    assert prune(store, grace=timedelta(hours=3)).removed == ()
    assert len(prune(store, grace=timedelta(minutes=90)).removed) == 1


def test_without_a_catalog_nothing_is_deleted(store: Store, tmp_path: Path) -> None:
    """It may have been moved away, and nothing else says what counts."""
    (tmp_path / "net" / "catalog.sqlite").rename(tmp_path / "kept.sqlite")
    assert prune(store, grace=NOW, before="1971-01-01").removed == ()
    assert files(store) == 3


def test_an_empty_store_is_not_created(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", "net")
    assert prune(store, grace=NOW, before="2026-01-01").dropped == ()
    assert not (tmp_path / "store").exists()


def test_what_is_not_the_stores_is_never_deleted(store: Store, tmp_path: Path) -> None:
    (tmp_path / "net" / "journal.sqlite").write_text("of the wallet")
    (tmp_path / "net" / "own.parquet").write_text("a person's")
    (tmp_path / "net" / "traffic" / "own.txt").write_text("a person's")
    age(store, 100)
    assert prune(store, grace=NOW).removed == ()
    assert len(list((tmp_path / "net").rglob("own.*"))) == 2


def test_quarantine_goes_only_when_told(store: Store, tmp_path: Path) -> None:
    aside = tmp_path / "net" / "quarantine" / "traffic" / "damaged.parquet"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(b"damaged")
    assert prune(store, grace=NOW).removed == ()
    assert [stored.path for stored in prune(store, grace=NOW, quarantine=True).removed] == ["quarantine/traffic/damaged.parquet"]
    assert not aside.exists()


# -- ranges ---------------------------------------------------------------------------------------------------------


def test_whole_ranges_that_end_before_a_time_are_dropped(store: Store) -> None:
    store.save_migrations([Migration(4, 0)])
    before = store.snapshot(EVENTS)
    done = prune(store, before="1970-01-01T05:00:00Z", grace=NOW)
    assert [segment.extent for segment in done.dropped] == [
        MigrationWindow(4, 0, 2 * HOUR),
        MigrationWindow(4, 2 * HOUR, 4 * HOUR),
    ]
    assert (len(done.removed), files(store)) == (2, 1)
    whole = Window(from_microseconds(0), from_microseconds(6 * HOUR))
    assert store.missing(EVENTS, whole) == [MigrationWindow(4, 0, 4 * HOUR)]
    with pytest.raises(StoreError, match=r"The file traffic/m4_.* is gone"):
        Frames(before, ["traffic"]).read("traffic")


def test_dropped_files_that_are_young_wait_for_the_next_time(store: Store) -> None:
    done = prune(store, before="1970-01-01T05:00:00Z")
    assert (len(done.dropped), len(done.removed), len(done.kept), files(store)) == (2, 0, 2, 3)


def test_a_dry_run_says_what_would_go(store: Store) -> None:
    age(store, 2)
    planned = prune(store, before="1970-01-01T05:00:00Z", dry_run=True)
    assert (len(store.segments(EVENTS)), files(store)) == (3, 3)
    assert prune(store, before="1970-01-01T05:00:00Z") == planned


def test_a_range_that_ends_at_the_time_goes_and_one_that_reaches_past_it_stays(store: Store) -> None:
    assert len(prune(store, before="1970-01-01T02:00:00Z", dry_run=True).dropped) == 1
    assert len(prune(store, before="1970-01-01T01:59:59.999999Z", dry_run=True).dropped) == 0


def test_snapshots_go_only_when_named_because_they_cannot_be_fetched_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    store.commit(PRICE_VOTES, Observation(5, 6), {}, final=True, source="test")
    store.commit(LEDGER, OffsetRange("view", 0, 5), {}, final=True, source="test")
    assert prune(store, before="1971-01-01").dropped == ()
    assert [segment.dataset for segment in prune(store, before="1971-01-01", datasets=["price_votes"]).dropped] == ["price_votes"]
    assert len(store.segments(LEDGER)) == 1


def test_a_folder_that_says_that_all_its_objects_are_known_stays_whole(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    for folder, start in (("first", 0), ("second", 10)):
        for number in range(2):
            begin = start + 5 * number
            extent = ObjectSet(frozenset({f"{folder}/{number}"}), (4, 4), begin, begin + 4)
            store.commit(BULK, extent, {}, final=True, source="test")
        store.commit(BULK, ObjectSet(frozenset({f"{folder}/"}), ANY_MIGRATION, start, start + 10), {}, final=True, source="test")
    store.commit(BULK, ObjectSet(frozenset({"third/0"}), (4, 4), 12, 13), {}, final=True, source="test")
    prune(store, before=from_microseconds(15))
    assert store.committed_keys(BULK) == {"second/", "second/0", "second/1"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"datasets": ["events"]},
        {"before": "2026-01-01", "datasets": ["ledger"]},
        {"before": "2026-01-01", "datasets": ["events_by_id"]},
        {"before": "2026-01-01", "datasets": ["event"]},
        {"before": "soon"},
        {"grace": timedelta(hours=-1)},
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_goes(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        prune(store, **wrong)
    assert (len(store.segments(EVENTS)), files(store)) == (3, 3)


def test_a_frozen_snapshot_deletes_nothing(store: Store, tmp_path: Path) -> None:
    """It does not know what was committed after it."""
    store.freeze(tmp_path / "frozen.sqlite")
    put(store, 6, 8)
    with pytest.raises(UsageError, match="frozen"):
        prune(Store(tmp_path, "net", tmp_path / "frozen.sqlite"), grace=NOW)
    assert files(store) == 4
