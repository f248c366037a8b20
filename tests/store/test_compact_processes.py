"""Compacting in a process that is killed, and beside one that syncs."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from equality import assert_equal, every_table
from processes import again_and_again, at_work, begin, end, killed_at_random, seconds_of

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.store.compact import compact

WORLD: dict[str, Any] = {"events": 1200, "days": 2}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09T06:00:00Z"}
KILLS = 3


def merge(store: Path) -> None:
    """Compact in two steps."""
    for target in (60_000, 128_000_000):
        compact(lf.connect("sandbox", store=store, **WORLD).store, target_bytes=target)


def sync(store: Path) -> None:
    net = lf.connect("sandbox", store=store, page_size=20, max_concurrency=2, segment_bytes=60_000, **WORLD)
    lf.load_events(net, **WHOLE)


def stored(store: Path) -> dict[str, pd.DataFrame]:
    return every_table(lf.load_events(lf.connect("sandbox", store=store, offline=True, **WORLD), **WHOLE))


@pytest.fixture(scope="module")
def in_pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of many small segments."""
    store = tmp_path_factory.mktemp("in_pieces")
    net = lf.connect("sandbox", store=store, page_size=20, segment_bytes=30_000, min_merged_segments=1_000, **WORLD)
    lf.load_events(net, **WHOLE)
    assert len(net.store.segments(EVENTS)) > 50
    return store


@pytest.mark.exhaustive
def test_killed_at_any_moment_every_table_reads_the_same(tmp_path: Path, in_pieces: Path) -> None:
    expected = stored(in_pieces)
    shutil.copytree(in_pieces, tmp_path / "whole")
    seconds = seconds_of(merge, tmp_path / "whole")
    assert_equal(stored(tmp_path / "whole"), expected)
    chance, killed = random.Random(3), 0
    for kill in range(KILLS):
        store = tmp_path / f"killed{kill}"
        shutil.copytree(in_pieces, store)
        killed += killed_at_random(chance, seconds, merge, store)
        assert_equal(stored(store), expected)
        compact(lf.connect("sandbox", store=store, **WORLD).store)
        assert_equal(stored(store), expected)
    assert killed >= KILLS // 2, "the runs were over before they could be killed"


@pytest.mark.exhaustive
def test_one_process_syncs_while_another_compacts(tmp_path: Path, in_pieces: Path) -> None:
    with at_work(again_and_again, merge, tmp_path) as process:
        assert end(begin(sync, tmp_path)) == 0
        assert process.is_alive(), "the compaction has failed"
    assert_equal(stored(tmp_path), stored(in_pieces))
    compact(lf.connect("sandbox", store=tmp_path, **WORLD).store)
    assert_equal(stored(tmp_path), stored(in_pieces))
