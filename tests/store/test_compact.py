from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from equality import assert_equal
from handmade import extents, frames, put, spans
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.datasets.registry import DATASETS, EVENTS, EVENTS_BY_ID, LEDGER, PRICE_VOTES, Dataset
from ledgerframes.errors import IntegrityError, StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.store import Store
from ledgerframes.store import compact as compaction
from ledgerframes.store.compact import CompactionResult, compact
from ledgerframes.store.prune import prune
from ledgerframes.store.segments import ROW_GROUP
from ledgerframes.values.extents import Extent, IdSet, Migration, MigrationWindow, Observation, OffsetRange, from_microseconds
from ledgerframes.values.windows import Window

DAY = 86_400_000_000
NO_GRACE = timedelta(0)


# -- properties -----------------------------------------------------------------------------------------------------


def span(start: int, stop: int) -> Extent:
    return MigrationWindow(4, start, stop)


def offsets(start: int, stop: int) -> Extent:
    return OffsetRange("view", start - 1, stop - 1)


def ids(start: int, stop: int) -> Extent:
    return IdSet(frozenset(f"id{time:06}" for time in range(start, stop)))


KINDS = {"ranges": (EVENTS, span), "offsets": (LEDGER, offsets), "ids": (EVENTS_BY_ID, ids)}
commits = st.tuples(st.integers(0, 12), st.integers(1, 5), st.booleans(), st.booleans(), st.sampled_from("aab"))
targets = st.sampled_from([1, 25_000, 128_000_000])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=4)
@given(steps=st.lists(st.one_of(commits, commits, targets), min_size=2, max_size=9))
def test_any_commits_and_compactions_read_like_the_commits_alone(kind: str, steps: list[Any]) -> None:
    dataset, extent = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        merged, plain = Store(Path(folder, "merged"), "net", DATASETS), Store(Path(folder, "plain"), "net", DATASETS)
        for step in [*steps, 128_000_000]:
            if isinstance(step, int):
                compact(merged, target_bytes=step)
                continue
            start, length, final, empty, source = step
            for store in (merged, plain):
                times = [] if empty else list(range(start, start + length))
                put(store, dataset, extent(start, start + length), times, final=final, source=source)
        assert_equal(frames(merged, dataset), frames(plain, dataset))
        for final in (True, False):
            assert covered(merged, dataset, final) == covered(plain, dataset, final)
        assert len(merged.segments(dataset)) <= len(plain.segments(dataset))


def covered(store: Store, dataset: Dataset, final: bool) -> set[object]:
    points: list[object] = []
    for segment in store.segments(dataset):
        if segment.final == final:
            extent = segment.extent
            points += extent.keys if isinstance(extent, IdSet) else range(extent.start, extent.stop)
    assert len(points) == len(set(points)), "covered twice"
    return set(points)


@settings(max_examples=3)
@given(lengths=st.lists(st.integers(1, 9_000), min_size=1, max_size=8))
def test_row_groups_are_full_and_nothing_is_lost_at_their_edges(lengths: list[int]) -> None:
    store_edges = [0]
    for length in lengths:
        store_edges.append(store_edges[-1] + length)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder, "net", DATASETS)
        spans(store, *store_edges)
        before = frames(store)
        compact(store)
        assert_equal(frames(store), before)
        (segment,) = store.segments(EVENTS)
        groups = pq.ParquetFile(store.location.read(segment.files["updates"].path)).metadata
        sizes = [groups.row_group(group).num_rows for group in range(groups.num_row_groups)]
        assert sizes == [ROW_GROUP] * (sum(lengths) // ROW_GROUP) + ([rest] if (rest := sum(lengths) % ROW_GROUP) else [])


# -- what belongs together ------------------------------------------------------------------------------------------


def test_neighbours_become_one_and_say_so(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3, 5, 9)
    before = store.segments(EVENTS)
    size = sum(file.bytes for segment in before for file in segment.files.values())
    (done,) = compact(store)
    (segment,) = store.segments(EVENTS)
    assert segment.extent == MigrationWindow(4, 0, 9)
    assert (segment.status, segment.source, segment.rows) == ("final", "a", 18)
    assert segment.fetched_at == min(each.fetched_at for each in before)
    now = sum(file.bytes for file in segment.files.values())
    assert done == CompactionResult("events", 3, 1, 9, 3, size, now)
    store.save_migrations([Migration(4, 0)])
    assert store.missing(EVENTS, Window(from_microseconds(0), from_microseconds(9))) == []
    assert compact(store) == [CompactionResult("events", 1, 1, 3, 3, now, now)]


def test_unrelated_segments_are_not_merged(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3)
    spans(store, 3, 6, source="b")
    spans(store, 7, 9)  # 6 is missing
    put(store, EVENTS, MigrationWindow(4, 9, 12), [], final=False)
    put(store, EVENTS, MigrationWindow(5, 12, 15), [])
    put(store, EVENTS, MigrationWindow(5, DAY, DAY + 2), [DAY])
    put(store, EVENTS, MigrationWindow(5, 15, DAY), [])
    for moment in (1, 2):
        put(store, PRICE_VOTES, Observation(moment, moment + 1), [moment])
    store.commit(LEDGER, OffsetRange("view", 0, 5), {}, final=True, gap=True, source="a")
    put(store, LEDGER, OffsetRange("view", 5, 7), [6, 7])
    put(store, LEDGER, OffsetRange("other", 7, 9), [8, 9])
    compact(store)
    assert extents(store) == [(0, 3), (3, 6), (7, 9), (9, 12), (12, DAY), (DAY, DAY + 2)]
    assert extents(store, PRICE_VOTES) == [(1, 2), (2, 3)]
    assert extents(store, LEDGER) == [(7, 9), (0, 5), (5, 7)]
    assert [segment.status for segment in store.segments(LEDGER)] == ["final", "gap", "final"]


def test_no_file_grows_past_the_target(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, *range(0, 1001, 100))
    size = max(file.bytes for file in store.segments(EVENTS)[0].files.values())
    compact(store, target_bytes=3 * size)
    assert 2 <= len(store.segments(EVENTS)) <= 5
    assert all(file.bytes <= 3 * size for segment in store.segments(EVENTS) for file in segment.files.values())
    while compact(store, target_bytes=3 * size)[0].segments_before > len(store.segments(EVENTS)):
        pass  # what was merged is smaller than its parts, so that there may be room again; it comes to an end


def test_only_the_streams_named(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 1, 2)
    assert compact(store, datasets=["ledger"]) == []
    assert len(store.segments(EVENTS)) == 2


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3, 6)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    (planned,) = compact(store, dry_run=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    (done,) = compact(store)
    assert planned == replace(done, bytes_after=None)


def test_an_empty_store_has_nothing_to_merge_and_is_not_created(tmp_path: Path) -> None:
    assert compact(Store(tmp_path / "store", "net", DATASETS)) == []
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("wrong", [{"datasets": ["event"]}, {"target_bytes": 0}, {"target_bytes": "128"}])
def test_what_makes_no_sense_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        compact(Store(tmp_path, "net", DATASETS), **wrong)


def test_a_frozen_snapshot_is_not_changed(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 1, 2)
    store.freeze(tmp_path / "frozen.sqlite")
    with pytest.raises(UsageError, match="frozen"):
        compact(Store(tmp_path, "net", DATASETS, tmp_path / "frozen.sqlite"))


# -- other processes, readers, damage -------------------------------------------------------------------------------


def before_first_write(monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> None:
    """Let another process do some work right before a compaction writes its first file."""
    write, left = compaction._write, [work]

    def write_after_work(*arguments: Any) -> Any:
        if left:
            left.pop()()
        return write(*arguments)

    monkeypatch.setattr(compaction, "_write", write_after_work)


def test_what_another_process_has_changed_is_not_merged_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3, 6)
    expected = frames(store)
    files = set(tmp_path.rglob("*.parquet"))

    def compact_and_look() -> None:
        compact(Store(tmp_path, "net", DATASETS))
        files.update(tmp_path.rglob("*.parquet"))

    before_first_write(monkeypatch, compact_and_look)
    (done,) = compact(store)
    assert (done.segments_before, done.segments_after) == (2, 2)
    assert set(tmp_path.rglob("*.parquet")) == files
    assert len(store.segments(EVENTS)) == 1
    assert_equal(frames(store), expected)


def test_what_another_process_has_merged_and_pruned_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3, 6)

    def compact_and_prune() -> None:
        compact(Store(tmp_path, "net", DATASETS))
        prune(store, min_age=NO_GRACE)

    before_first_write(monkeypatch, compact_and_prune)
    compact(store)
    assert extents(store) == [(0, 6)]


def test_a_damaged_file_gets_no_digest_that_fits(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3, 6)
    damaged = next((tmp_path / "net" / "updates").iterdir())
    damaged.write_bytes(damaged.read_bytes().replace(b"id00000", b"id99999"))
    before, files = store.segments(EVENTS), set(tmp_path.rglob("*.parquet"))
    with pytest.raises(IntegrityError, match=r"store verify --repair") as raised:
        compact(store)
    assert raised.value.path == str(damaged)
    assert store.segments(EVENTS) == before
    assert set(tmp_path.rglob("*.parquet")) == files


def test_readers_of_an_older_snapshot_go_on_until_files_are_pruned(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 3, 6)
    older, expected = store.snapshot(EVENTS), frames(store)
    compact(store)
    assert_equal({name: Frames(older, [name]).read(name) for name in expected}, expected)
    prune(store, min_age=NO_GRACE)
    with pytest.raises(StoreError, match=r"The file updates/m4_.* was pruned or lost"):
        Frames(older, ["updates"]).read("updates")
    assert_equal(frames(store), expected)
