"""Compacting bulk objects."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from campaign import examples
from equality import assert_equal
from handmade import frames, put
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.datasets.bulk.extent import ANY_MIGRATION, ObjectSet
from ledgerframes.datasets.registry import BULK, BULK_BY_KEY, DATASETS, Dataset
from ledgerframes.store import Store
from ledgerframes.store.compact import compact
from ledgerframes.values.windows import Window


def bulk_object(number: int, start: int, stop: int, *, day: int = 8, migrations: tuple[int, int] = (4, 4)) -> ObjectSet:
    key = f"2026-11-{day:02}T00:00:00Z~2026-11-{day + 1:02}T00:00:00Z/updates_compact_json_{number}.zstd"
    return ObjectSet(frozenset({key}), migrations, start, stop)


def put_object(store: Store, extent: ObjectSet, dataset: Dataset = BULK) -> None:
    put(store, dataset, extent, list(range(extent.start, extent.stop)))


def test_objects_of_a_folder_become_one_and_are_still_known_by_key(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    objects = [bulk_object(number, 3 * number, 3 * number + 2) for number in range(12)]
    for extent in reversed(objects):
        put_object(store, extent)
    expected = frames(store, BULK)
    (done,) = compact(store)
    assert (done.segments_before, done.segments_after) == (12, 1)
    assert_equal(frames(store, BULK), expected)
    assert store.committed_keys(BULK) == frozenset().union(*(extent.keys for extent in objects))
    put_object(store, objects[5])  # another process was slower
    assert len(store.segments(BULK)) == 1
    assert_equal(frames(store, BULK), expected)


def test_objects_that_do_not_follow_each_other_are_not_merged(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    apart = [
        bulk_object(0, 0, 3),
        bulk_object(2, 3, 6),  # 1 was not read
        bulk_object(3, 5, 9),  # the same record time at the edge
        bulk_object(0, 9, 12, day=9),
        bulk_object(1, 12, 15, day=9, migrations=(4, 5)),
        bulk_object(2, 15, 18, day=9, migrations=(5, 5)),
    ]
    for extent in apart:
        put_object(store, extent)
    store.commit(
        BULK,
        ObjectSet(frozenset({"2026-11-08T00:00:00Z~2026-11-09T00:00:00Z/"}), ANY_MIGRATION, 0, 9),
        {},
        final=True,
        source="a",
    )
    assert [each.segments_after for each in compact(store)] == [7]


def test_objects_loaded_by_key_are_not_merged(tmp_path: Path) -> None:
    """They are asked for one by one: rows of updates do not say which object they came in."""
    store = Store(tmp_path, "net", DATASETS)
    for number in range(3):
        put_object(store, bulk_object(number, 3 * number, 3 * number + 3), BULK_BY_KEY)
    before = store.segments(BULK_BY_KEY)
    assert compact(store)[0].segments_after == 3
    assert store.segments(BULK_BY_KEY) == before


# -- the sandbox's ----------------------------------------------------------------------------------------------------

WORLD = {"events": 900, "days": 2}
WHOLE = Window(datetime(2026, 11, 7, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
minutes = st.integers(0, int((WHOLE.until - WHOLE.since) / timedelta(minutes=1)))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[lf.Network, lf.Network]:
    """A store of an object a segment, and the same one compacted."""
    plain = lf.connect("sandbox", store=tmp_path_factory.mktemp("plain"), min_merged_segments=1_000, **WORLD)
    lf.load_bulk(plain, since="0001-01-01", until=WHOLE.until)
    merged_root = tmp_path_factory.mktemp("merged")
    shutil.copytree(plain.store.root.local_path, merged_root, dirs_exist_ok=True)
    merged = lf.connect("sandbox", store=merged_root, offline=True, **WORLD)
    (done,) = compact(merged.store)
    assert done.segments_after < done.segments_before / 3
    assert done.bytes_after is not None
    assert done.bytes_after < done.bytes_before
    return plain, merged


@pytest.mark.exhaustive
@settings(max_examples=examples(4))
@given(edges=st.tuples(minutes, minutes).map(sorted).filter(lambda edges: edges[0] < edges[1]))
def test_any_range_reads_as_before(two: tuple[lf.Network, lf.Network], edges: list[int]) -> None:
    since, until = (WHOLE.since + timedelta(minutes=edge) for edge in edges)
    before, after = (lf.load_bulk(net, since=since, until=until) for net in two)
    for table in before.tables:
        pd.testing.assert_frame_equal(after.read(table), before.read(table), obj=table)
        assert after.count_rows(table) == before.count_rows(table)


def test_what_was_merged_is_not_read_again(two: tuple[lf.Network, lf.Network]) -> None:
    plain, merged = two
    assert merged.store.committed_keys(BULK) == plain.store.committed_keys(BULK)
    assert lf.plan(lf.load_bulk, merged, since=WHOLE.since, until=WHOLE.until).empty
    whole = lf.load_bulk(merged, since=WHOLE.since, until=WHOLE.until)
    assert len(whole.updates) == int(whole.bulk_objects["lines"].sum())


def test_objects_of_contracts_are_not_merged(tmp_path: Path) -> None:
    """Their objects are in order of creation: rows of several would have to be sorted among each other."""
    net = lf.connect("sandbox", store=tmp_path, **WORLD)
    expected = lf.load_bulk(net, kind="acs").active_contracts
    (done,) = compact(net.store)
    assert done.segments_after == done.segments_before > 2
    pd.testing.assert_frame_equal(lf.load_bulk(net, kind="acs").active_contracts, expected)


def test_the_state_is_the_same(two: tuple[lf.Network, lf.Network]) -> None:
    states = [lf.contracts.active_at(lf.load_bulk(net, since="0001-01-01", until=WHOLE.until), "2026-11-08") for net in two]
    pd.testing.assert_frame_equal(states[1], states[0])
    snapshot = lf.load_bulk(two[0], kind="acs", at="2026-11-08").active_contracts
    assert states[1]["contract_id"].equals(snapshot["contract_id"])
