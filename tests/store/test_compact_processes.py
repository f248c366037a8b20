"""Compacting in a process that is killed, and beside one that syncs."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from equality import assert_equal, every_table
from processes import begun, ended

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.loaders import buffering
from ledgerframes.store.compact import compact

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
from ledgerframes.loaders import buffering
buffering.SEGMENT_BYTES = 60_000
net = lf.connect("sandbox", store=sys.argv[1], page_size=20, max_concurrency=2, **{WORLD!r})
lf.load_events(net, **{WHOLE!r})
"""


def stored(store: Path) -> dict[str, pd.DataFrame]:
    return every_table(lf.load_events(lf.connect("sandbox", store=store, offline=True, **WORLD), **WHOLE))


@pytest.fixture(scope="module")
def in_pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of many small segments."""
    store = tmp_path_factory.mktemp("in_pieces")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffering, "SEGMENT_BYTES", 30_000)
        net = lf.connect("sandbox", store=store, page_size=20, **WORLD)
        lf.load_events(net, **WHOLE)
    assert len(net.store.segments(EVENTS)) > 50
    return store


def test_killed_at_any_moment_every_table_reads_the_same(tmp_path: Path, in_pieces: Path) -> None:
    expected = stored(in_pieces)
    shutil.copytree(in_pieces, tmp_path / "whole")
    process, began = begun(COMPACT, tmp_path / "whole"), time.monotonic()
    assert ended(process) == 0
    seconds = time.monotonic() - began
    assert_equal(stored(tmp_path / "whole"), expected)
    chance, killed = random.Random(3), 0
    for kill in range(KILLS):
        store = tmp_path / f"killed{kill}"
        shutil.copytree(in_pieces, store)
        process = begun(COMPACT, store)
        time.sleep(chance.uniform(0, seconds))
        process.kill()
        killed += ended(process) != 0
        assert_equal(stored(store), expected)
        compact(lf.connect("sandbox", store=store, **WORLD).store)
        assert_equal(stored(store), expected)
    assert killed >= KILLS // 2, "the runs were over before they could be killed"


def test_one_process_syncs_while_another_compacts(tmp_path: Path, in_pieces: Path) -> None:
    process = begun(COMPACT, tmp_path, "for ever")
    assert subprocess.run([sys.executable, "-c", SYNC, str(tmp_path)], check=False).returncode == 0
    assert process.poll() is None, "the compaction has failed"
    process.kill()
    ended(process)
    assert_equal(stored(tmp_path), stored(in_pieces))
    compact(lf.connect("sandbox", store=tmp_path, **WORLD).store)
    assert_equal(stored(tmp_path), stored(in_pieces))
