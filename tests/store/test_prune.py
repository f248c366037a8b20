from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ledgerframes import testing
from ledgerframes.datasets.bulk.extent import ANY_MIGRATION, ObjectSet
from ledgerframes.datasets.registry import BULK, DATASETS, EVENTS, LEDGER, PRICE_VOTES
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store import Store
from ledgerframes.store.prune import prune
from ledgerframes.values.extents import Migration, MigrationWindow, Observation, OffsetRange, from_microseconds
from ledgerframes.values.windows import Window

NOW = timedelta(0)
HOUR = 3_600_000_000


def put(store: Store, start: int, stop: int, *, final: bool = True) -> None:
    """A range of hours of 1970-01-01; one row, in one file."""
    row = testing.table("traffic").sample_arrow(1, record_time=from_microseconds(start * HOUR), update_id=f"id{start}")
    tables = {"traffic": row}
    store.commit(EVENTS, MigrationWindow(4, start * HOUR, stop * HOUR), tables, final=final, source="test")


def age(store: Store, hours: float) -> None:
    """All files were written so long ago."""
    assert store.location.local_path
    then = time.time() - hours * 3600
    for path in store.location.local_path.rglob("*.parquet"):
        os.utime(path, (then, then))


def files(store: Store) -> int:
    assert store.location.local_path
    return len(list(store.location.local_path.rglob("*.parquet")))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, "net", DATASETS)
    put(store, 0, 2)
    put(store, 2, 4)
    put(store, 4, 6)
    return store


def test_committed_files_stay(store: Store) -> None:
    age(store, 100)
    done = prune(store)
    assert (done.dropped_segments, done.deleted_files, done.retained_files) == ((), (), ())
    assert files(store) == 3


def test_replaced_files_are_deleted_once_they_are_old(store: Store) -> None:
    put(store, 6, 8, final=False)
    put(store, 6, 8)
    young = prune(store)
    assert (len(young.deleted_files), len(young.retained_files), files(store)) == (0, 1, 5)
    age(store, 2)
    old = prune(store)
    assert (old.deleted_files[0].path, len(old.retained_files), files(store)) == (young.retained_files[0].path, 0, 4)
    assert len(Frames(store.snapshot(EVENTS), ["traffic"]).traffic) == 4


def test_the_minimum_age_is_the_callers(store: Store) -> None:
    put(store, 6, 8, final=False)
    put(store, 6, 8)
    age(store, 2)
    assert prune(store, min_age=timedelta(hours=3)).deleted_files == ()
    assert len(prune(store, min_age=timedelta(minutes=90)).deleted_files) == 1


def test_without_a_catalog_nothing_is_deleted(store: Store, tmp_path: Path) -> None:
    """It may have been moved away, and nothing else says what counts."""
    (tmp_path / "net" / "catalog.sqlite").rename(tmp_path / "kept.sqlite")
    with pytest.raises(StoreError, match="store rebuild"):
        prune(store, min_age=NOW, before="1971-01-01")
    assert files(store) == 3


def test_an_empty_store_is_not_created(tmp_path: Path) -> None:
    store = Store(tmp_path / "store", "net", DATASETS)
    assert prune(store, min_age=NOW, before="2026-01-01").dropped_segments == ()
    assert not (tmp_path / "store").exists()


def test_other_files_are_never_deleted(store: Store, tmp_path: Path) -> None:
    (tmp_path / "net" / "journal.sqlite").write_text("of the wallet")
    (tmp_path / "net" / "own.parquet").write_text("a person's")
    (tmp_path / "net" / "traffic" / "own.txt").write_text("a person's")
    age(store, 100)
    assert prune(store, min_age=NOW).deleted_files == ()
    assert len(list((tmp_path / "net").rglob("own.*"))) == 2


def test_quarantine_is_deleted_only_with_include_quarantine(store: Store, tmp_path: Path) -> None:
    aside = tmp_path / "net" / "quarantine" / "traffic" / "damaged.parquet"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(b"damaged")
    assert prune(store, min_age=NOW).deleted_files == ()
    (deleted,) = prune(store, min_age=NOW, include_quarantine=True).deleted_files
    assert deleted.path == "quarantine/traffic/damaged.parquet"
    assert not aside.exists()


# -- ranges ---------------------------------------------------------------------------------------------------------


def test_whole_ranges_that_end_before_a_time_are_dropped(store: Store) -> None:
    store.save_migrations([Migration(4, 0)])
    before = store.snapshot(EVENTS)
    done = prune(store, before="1970-01-01T05:00:00Z", min_age=NOW)
    assert [segment.extent for segment in done.dropped_segments] == [
        MigrationWindow(4, 0, 2 * HOUR),
        MigrationWindow(4, 2 * HOUR, 4 * HOUR),
    ]
    assert (len(done.deleted_files), files(store)) == (2, 1)
    whole = Window(from_microseconds(0), from_microseconds(6 * HOUR))
    assert store.missing(EVENTS, whole) == [MigrationWindow(4, 0, 4 * HOUR)]
    with pytest.raises(StoreError, match=r"The file traffic/m4_.* was pruned or lost"):
        Frames(before, ["traffic"]).read("traffic")


def test_dropped_files_that_are_young_wait_for_the_next_time(store: Store) -> None:
    done = prune(store, before="1970-01-01T05:00:00Z")
    assert (len(done.dropped_segments), len(done.deleted_files), len(done.retained_files), files(store)) == (2, 0, 2, 3)


def test_a_dry_run_returns_what_would_be_deleted(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="ledgerframes")
    age(store, 2)
    planned = prune(store, before="1970-01-01T05:00:00Z", dry_run=True)
    assert (len(store.segments(EVENTS)), files(store)) == (3, 3)
    assert "segments_dropped" not in caplog.text
    assert prune(store, before="1970-01-01T05:00:00Z") == planned
    assert "segments_dropped" in caplog.text


def test_a_range_that_ends_at_the_time_goes_and_one_that_reaches_past_it_stays(store: Store) -> None:
    assert len(prune(store, before="1970-01-01T02:00:00Z", dry_run=True).dropped_segments) == 1
    assert len(prune(store, before="1970-01-01T01:59:59.999999Z", dry_run=True).dropped_segments) == 0


def test_observations_are_dropped_only_if_named_because_they_cannot_be_fetched_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    store.commit(PRICE_VOTES, Observation(5, 6), {}, final=True, source="test")
    store.commit(LEDGER, OffsetRange("view", 0, 5), {}, final=True, source="test")
    assert prune(store, before="1971-01-01").dropped_segments == ()
    (dropped,) = prune(store, before="1971-01-01", datasets=["price_votes"]).dropped_segments
    assert dropped.dataset == "price_votes"
    assert len(store.segments(LEDGER)) == 1


def test_a_complete_folder_stays_whole(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
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
        {"min_age": timedelta(hours=-1)},
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
        prune(Store(tmp_path, "net", DATASETS, tmp_path / "frozen.sqlite"), min_age=NOW)
    assert files(store) == 4
