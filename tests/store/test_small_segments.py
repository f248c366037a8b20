"""Merges of small neighbors after a sync."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from equality import assert_equal, every_table
from handmade import frames, put, spans

import ledgerframes as lf
from ledgerframes.datasets.registry import DATASETS, EVENTS, LEDGER
from ledgerframes.settings.groups import Limits
from ledgerframes.store import Store
from ledgerframes.store.small_segments import merge_small_segments
from ledgerframes.values.extents import MigrationWindow, OffsetRange

MIN_COUNT = Limits().min_merged_segments
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, "net", DATASETS)


def sizes(store: Store) -> list[int]:
    return [segment.rows // 2 for segment in store.segments(EVENTS)]  # two tables have a row for each event


def test_five_neighbors_of_one_size_become_one(store: Store) -> None:
    spans(store, *range(MIN_COUNT))
    merge_small_segments(store, EVENTS, MIN_COUNT)
    assert sizes(store) == [1] * (MIN_COUNT - 1)
    spans(store, MIN_COUNT - 1, MIN_COUNT)
    before = frames(store)
    merge_small_segments(store, EVENTS, MIN_COUNT)
    assert sizes(store) == [MIN_COUNT]
    assert_equal(frames(store), before)


def test_a_large_neighbor_is_not_written_again(store: Store) -> None:
    spans(store, 0, 20, 21, 22, 23, 24, 25)
    merge_small_segments(store, EVENTS, MIN_COUNT)
    assert sizes(store) == [20, 5]


def test_provisional_segments_are_not_merged(store: Store) -> None:
    spans(store, *range(4))
    put(store, EVENTS, MigrationWindow(4, 3, 5), [3, 4], final=False)
    merge_small_segments(store, EVENTS, MIN_COUNT)
    assert len(store.segments(EVENTS)) == 4


@pytest.mark.exhaustive
def test_a_row_is_written_a_limited_number_of_times(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows written by merges, for one row a sync: at most 4 times each, where a rewrite of everything takes 64 times."""
    count, written = 128, 0
    for offset in range(count):
        put(store, LEDGER, OffsetRange("filter", offset, offset + 1), [offset + 1])
        before = {segment.segment_id for segment in store.segments(LEDGER)}
        merge_small_segments(store, LEDGER, MIN_COUNT)
        written += sum(segment.rows // 2 for segment in store.segments(LEDGER) if segment.segment_id not in before)
    assert len(store.segments(LEDGER)) <= 10
    assert written <= 4 * count


def test_damage_stops_neither_the_sync_nor_other_merges(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    spans(store, *range(6))
    spans(store, *range(10, 16))
    damaged = store.segments(EVENTS)[0].files["updates"]
    (store.location.local_path / damaged.path).write_bytes(b"damaged")  # type: ignore[operator]
    merge_small_segments(store, EVENTS, MIN_COUNT)
    assert "segments_not_merged" in caplog.text
    assert sizes(store) == [1, 1, 1, 1, 1, 5]


def test_many_syncs_of_a_day_leave_few_segments_with_the_same_rows(tmp_path: Path) -> None:
    expected = lf.load_events(lf.connect("sandbox", events=640, days=2, store=tmp_path / "whole"), **DAY)
    net = lf.connect("sandbox", events=640, days=2, store=tmp_path / "parts")
    start = datetime(2026, 11, 8, tzinfo=UTC)
    edges = sorted({0, 1440, *random.Random(1).sample(range(1440), 25)})
    counts = []
    for since, until in pairwise(edges):
        lf.load_events(net, since=start + timedelta(minutes=since), until=start + timedelta(minutes=until))
        counts.append(len(net.store.segments(EVENTS)))
        plan = lf.plan(lf.load_events, net, **DAY)
        assert len(net.store.segments(EVENTS)) == counts[-1], "a plan changes nothing"
    assert len(plan) == 0
    assert max(counts) <= 16
    assert counts[-1] < MIN_COUNT
    assert_equal(every_table(lf.load_events(net, **DAY)), every_table(expected))
