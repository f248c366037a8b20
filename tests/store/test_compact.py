from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.errors import IntegrityError, StoreError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders import by_range
from ledgerframes.store import (
    BULK,
    EVENTS,
    EVENTS_BY_ID,
    LEDGER,
    PRICE_VOTES,
    Extent,
    Ids,
    Migration,
    Moment,
    Objects,
    OffsetSpan,
    Span,
    Store,
    Stream,
)
from ledgerframes.store import compact as compaction
from ledgerframes.store.compact import Compacted, compact
from ledgerframes.store.extent import from_microseconds
from ledgerframes.store.prune import prune
from ledgerframes.store.segments import ROW_GROUP
from ledgerframes.tables import Table
from ledgerframes.times import Window

DAY = 86_400_000_000
NO_GRACE = timedelta(0)


# -- stores made by hand --------------------------------------------------------------------------------------------


def column(kind: pa.DataType, name: str, times: list[int], low: int) -> pa.Array:
    """Values that differ from row to row, and dictionaries that differ from segment to segment."""
    if name in ("migration_id", "offset"):
        return pa.array([4 if name == "migration_id" else time for time in times], kind)
    if pa.types.is_timestamp(kind):
        return pa.array([from_microseconds(time) for time in times], kind)
    if pa.types.is_dictionary(kind):
        return pa.array([f"{(low * 7 + time) % 3}" for time in times], pa.string()).dictionary_encode()
    if pa.types.is_boolean(kind):
        return pa.array([time % 2 == 0 for time in times], kind)
    if pa.types.is_integer(kind):
        return pa.array([time % 1_000_000 for time in times], kind)
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(time) / 8 for time in times], kind)
    if pa.types.is_list(kind):
        return pa.array([[f"{time}"] if pa.types.is_string(kind.value_type) else [time % 99] for time in times], kind)
    return pa.array([f"id{time:06}" for time in times], kind)


def rows(table: Table, times: list[int]) -> pa.Table:
    """A row for each time."""
    return table.from_columns({each.name: column(each.type, each.name, times, min(times)) for each in table.columns})


def put(store: Store, stream: Stream, extent: Extent, times: list[int], *, final: bool = True, source: str = "a") -> None:
    tables = {table.name: rows(table, times) for table in chosen_tables(stream)} if times else {}
    store.commit(stream, extent, tables, final=final, source=source)


def chosen_tables(stream: Stream) -> tuple[Table, ...]:
    """A few tables with all kinds of columns: writing all of them takes long."""
    return stream.tables[:2] if stream is not EVENTS else (stream.tables[0], stream.tables[3])


def spans(store: Store, *edges: int, source: str = "a") -> None:
    """Segments of events from edge to edge, one row a microsecond."""
    for low, high in pairwise(edges):
        put(store, EVENTS, Span(4, low, high), list(range(low, high)), source=source)


def frames(store: Store, stream: Stream = EVENTS) -> dict[str, pd.DataFrame]:
    shown = Frames(store.snapshot(stream), [table.name for table in stream.tables])
    return {name: shown.read(name) for name in shown.tables}


def assert_same(left: dict[str, pd.DataFrame], right: dict[str, pd.DataFrame]) -> None:
    assert left.keys() == right.keys()
    for name, frame in left.items():
        pd.testing.assert_frame_equal(frame, right[name], obj=name)


def extents(store: Store, stream: Stream = EVENTS) -> list[tuple[int, int]]:
    return [(segment.extent.low, segment.extent.high) for segment in store.segments(stream)]  # type: ignore[union-attr]


# -- properties -----------------------------------------------------------------------------------------------------


def span(low: int, high: int) -> Extent:
    return Span(4, low, high)


def offsets(low: int, high: int) -> Extent:
    return OffsetSpan("view", low - 1, high - 1)


def ids(low: int, high: int) -> Extent:
    return Ids(frozenset(f"id{time:06}" for time in range(low, high)))


KINDS = {"ranges": (EVENTS, span), "offsets": (LEDGER, offsets), "ids": (EVENTS_BY_ID, ids)}
commits = st.tuples(st.integers(0, 12), st.integers(1, 5), st.booleans(), st.booleans(), st.sampled_from("aab"))
targets = st.sampled_from([1, 25_000, 128_000_000])


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(steps=st.lists(st.one_of(commits, commits, targets), min_size=2, max_size=9))
def test_any_commits_and_compactions_read_like_the_commits_alone(kind: str, steps: list[Any]) -> None:
    stream, extent = KINDS[kind]
    with tempfile.TemporaryDirectory() as folder:
        merged, plain = Store(Path(folder, "merged"), "net"), Store(Path(folder, "plain"), "net")
        for step in [*steps, 128_000_000]:
            if isinstance(step, int):
                compact(merged, target_bytes=step)
                continue
            low, length, final, empty, source = step
            for store in (merged, plain):
                times = [] if empty else list(range(low, low + length))
                put(store, stream, extent(low, low + length), times, final=final, source=source)
        assert_same(frames(merged, stream), frames(plain, stream))
        for final in (True, False):
            assert covered(merged, stream, final) == covered(plain, stream, final)
        assert len(merged.segments(stream)) <= len(plain.segments(stream))


def covered(store: Store, stream: Stream, final: bool) -> set[object]:
    points: list[object] = []
    for segment in store.segments(stream):
        if segment.final == final:
            extent = segment.extent
            points += extent.update_ids if isinstance(extent, Ids) else range(extent.low, extent.high)
    assert len(points) == len(set(points)), "covered twice"
    return set(points)


@settings(max_examples=6)
@given(lengths=st.lists(st.integers(1, 9_000), min_size=1, max_size=8))
def test_row_groups_are_full_and_nothing_is_lost_at_their_edges(lengths: list[int]) -> None:
    store_edges = [0]
    for length in lengths:
        store_edges.append(store_edges[-1] + length)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder, "net")
        spans(store, *store_edges)
        before = frames(store)
        compact(store)
        assert_same(frames(store), before)
        (segment,) = store.segments(EVENTS)
        groups = pq.ParquetFile(store.place.full(segment.files["updates"].path)).metadata
        sizes = [groups.row_group(group).num_rows for group in range(groups.num_row_groups)]
        assert sizes == [ROW_GROUP] * (sum(lengths) // ROW_GROUP) + ([rest] if (rest := sum(lengths) % ROW_GROUP) else [])


# -- what belongs together ------------------------------------------------------------------------------------------


def test_neighbours_become_one_and_say_so(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 3, 5, 9)
    before = store.segments(EVENTS)
    size = sum(file.bytes for segment in before for file in segment.files.values())
    (done,) = compact(store)
    (segment,) = store.segments(EVENTS)
    assert segment.extent == Span(4, 0, 9)
    assert (segment.status, segment.source, segment.rows) == ("final", "a", 18)
    assert segment.fetched_at == min(each.fetched_at for each in before)
    now = sum(file.bytes for file in segment.files.values())
    assert done == Compacted("events", 3, 1, 6, 2, size, now)
    store.remember([Migration(4, 0)])
    assert store.missing(EVENTS, Window(from_microseconds(0), from_microseconds(9))) == []
    assert compact(store) == [Compacted("events", 1, 1, 2, 2, now, now)]


def test_what_does_not_belong_together_stays_apart(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 3)
    spans(store, 3, 6, source="b")
    spans(store, 7, 9)  # 6 is missing
    put(store, EVENTS, Span(4, 9, 12), [], final=False)
    put(store, EVENTS, Span(5, 12, 15), [])
    put(store, EVENTS, Span(5, DAY, DAY + 2), [DAY])
    put(store, EVENTS, Span(5, 15, DAY), [])
    for moment in (1, 2):
        put(store, PRICE_VOTES, Moment(moment, moment + 1), [moment])
    store.commit(LEDGER, OffsetSpan("view", 0, 5), {}, final=True, gap=True, source="a")
    put(store, LEDGER, OffsetSpan("view", 5, 7), [6, 7])
    put(store, LEDGER, OffsetSpan("other", 7, 9), [8, 9])
    compact(store)
    assert extents(store) == [(0, 3), (3, 6), (7, 9), (9, 12), (12, DAY), (DAY, DAY + 2)]
    assert extents(store, PRICE_VOTES) == [(1, 2), (2, 3)]
    assert extents(store, LEDGER) == [(7, 9), (0, 5), (5, 7)]
    assert [segment.status for segment in store.segments(LEDGER)] == ["final", "gap", "final"]


def test_no_file_grows_past_the_target(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    spans(store, *range(0, 1001, 100))
    size = max(file.bytes for file in store.segments(EVENTS)[0].files.values())
    compact(store, target_bytes=3 * size)
    assert 2 <= len(store.segments(EVENTS)) <= 5
    assert all(file.bytes <= 3 * size for segment in store.segments(EVENTS) for file in segment.files.values())
    while compact(store, target_bytes=3 * size)[0].segments_before > len(store.segments(EVENTS)):
        pass  # what was merged is smaller than its parts, so that there may be room again; it comes to an end


def test_only_the_streams_named(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 1, 2)
    assert compact(store, streams=["ledger"]) == []
    assert len(store.segments(EVENTS)) == 2


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 3, 6)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    (planned,) = compact(store, dry_run=True)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    (done,) = compact(store)
    assert planned == replace(done, bytes_after=None)


def test_an_empty_store_has_nothing_to_merge_and_is_not_created(tmp_path: Path) -> None:
    assert compact(Store(tmp_path / "store", "net")) == []
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("wrong", [{"streams": ["event"]}, {"target_bytes": 0}])
def test_what_makes_no_sense_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        compact(Store(tmp_path, "net"), **wrong)


def test_a_frozen_snapshot_is_not_changed(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 1, 2)
    store.freeze(tmp_path / "frozen.sqlite")
    with pytest.raises(UsageError, match="frozen"):
        compact(Store(tmp_path, "net", tmp_path / "frozen.sqlite"))


def test_bulk_objects_are_left_alone(tmp_path: Path) -> None:
    """They are asked for one by one: rows of updates do not say which object they came in."""
    store = Store(tmp_path, "net")
    for low in (0, 3):
        put(store, BULK, Objects(frozenset({f"day/{low}"}), (4, 4), low, low + 3), [low])
    before = store.segments(BULK)
    assert compact(store)[0].segments_after == 2
    assert store.segments(BULK) == before


# -- other processes, readers, damage -------------------------------------------------------------------------------


def test_what_another_process_has_changed_is_not_merged_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 3, 6)
    expected = frames(store)
    files = set(tmp_path.rglob("*.parquet"))
    written = compaction._written

    def overtaken(*arguments: Any) -> Any:
        monkeypatch.setattr(compaction, "_written", written)
        compact(Store(tmp_path, "net"))
        files.update(tmp_path.rglob("*.parquet"))
        return written(*arguments)

    monkeypatch.setattr(compaction, "_written", overtaken)
    (done,) = compact(store)
    assert (done.segments_before, done.segments_after) == (2, 2)
    assert set(tmp_path.rglob("*.parquet")) == files
    assert len(store.segments(EVENTS)) == 1
    assert_same(frames(store), expected)


def test_what_another_process_has_merged_and_pruned_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, "net")
    spans(store, 0, 3, 6)
    written = compaction._written

    def overtaken(*arguments: Any) -> Any:
        monkeypatch.setattr(compaction, "_written", written)
        compact(Store(tmp_path, "net"))
        prune(store, grace=NO_GRACE)
        return written(*arguments)

    monkeypatch.setattr(compaction, "_written", overtaken)
    compact(store)
    assert extents(store) == [(0, 6)]


def test_a_damaged_file_gets_no_digest_that_fits(tmp_path: Path) -> None:
    store = Store(tmp_path, "net")
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
    store = Store(tmp_path, "net")
    spans(store, 0, 3, 6)
    older, expected = store.snapshot(EVENTS), frames(store)
    compact(store)
    assert_same({name: Frames(older, [name]).read(name) for name in expected}, expected)
    prune(store, grace=NO_GRACE)
    with pytest.raises(StoreError, match=r"The file updates/m4_.* is gone"):
        Frames(older, ["updates"]).read("updates")
    assert_same(frames(store), expected)


# -- whole processes ------------------------------------------------------------------------------------------------

WORLD = {"events": 1200, "days": 2}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09T06:00:00Z"}
KILLS = 5

COMPACT = f"""
import sys
import ledgerframes as lf
from ledgerframes.store.compact import compact
store = lf.connect("sandbox", store=sys.argv[1], **{WORLD!r}).store
print("begun", flush=True)
while True:
    for target in (60_000, 128_000_000):
        compact(store, target_bytes=target)
    if len(sys.argv) == 2:
        break
"""

SYNC = f"""
import sys
import ledgerframes as lf
from ledgerframes.loaders import by_range
by_range.SEGMENT_BYTES = 60_000
net = lf.connect("sandbox", store=sys.argv[1], page_size=20, parallel=2, **{WORLD!r})
lf.load_events(net, **{WHOLE!r})
"""


def compacting(store: Path, *more: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", COMPACT, str(store), *more], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate()
    return process.returncode


def every_table(shown: Frames) -> dict[str, pd.DataFrame]:
    return {name: shown.read(name) for name in shown.tables}


def stored(store: Path) -> dict[str, pd.DataFrame]:
    return every_table(lf.load_events(lf.connect("sandbox", store=store, offline=True, **WORLD), **WHOLE))


@pytest.fixture(scope="module")
def in_pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of many small segments."""
    store = tmp_path_factory.mktemp("in_pieces")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_range, "SEGMENT_BYTES", 30_000)
        net = lf.connect("sandbox", store=store, page_size=20, **WORLD)
        lf.load_events(net, **WHOLE)
    assert len(net.store.segments(EVENTS)) > 50
    return store


def test_killed_at_any_moment_every_table_reads_the_same(tmp_path: Path, in_pieces: Path) -> None:
    expected = stored(in_pieces)
    shutil.copytree(in_pieces, tmp_path / "whole")
    process, began = compacting(tmp_path / "whole"), time.monotonic()
    assert ended(process) == 0
    seconds = time.monotonic() - began
    assert_same(stored(tmp_path / "whole"), expected)
    chance, killed = random.Random(3), 0
    for kill in range(KILLS):
        store = tmp_path / f"killed{kill}"
        shutil.copytree(in_pieces, store)
        process = compacting(store)
        time.sleep(chance.uniform(0, seconds))
        process.kill()
        killed += ended(process) != 0
        assert_same(stored(store), expected)
        compact(lf.connect("sandbox", store=store, **WORLD).store)
        assert_same(stored(store), expected)
    assert killed >= KILLS // 2, "the runs were over before they could be killed"


def test_one_process_syncs_while_another_compacts(tmp_path: Path, in_pieces: Path) -> None:
    process = compacting(tmp_path, "for ever")
    assert subprocess.run([sys.executable, "-c", SYNC, str(tmp_path)], check=False).returncode == 0
    assert process.poll() is None, "the compaction has failed"
    process.kill()
    ended(process)
    assert_same(stored(tmp_path), stored(in_pieces))
    compact(lf.connect("sandbox", store=tmp_path, **WORLD).store)
    assert_same(stored(tmp_path), stored(in_pieces))
