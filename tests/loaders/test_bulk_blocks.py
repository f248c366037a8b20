"""ObjectSet worked on block by block: however small the blocks are, and whoever works beside, the same rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import zstandard

import ledgerframes as lf
from ledgerframes.sandbox import Sandbox

WORLD = {"events": 400, "days": 1}
LONG = "y" * 100_000


def updates(box: Sandbox) -> Iterator[dict[str, Any]]:
    """The transactions of a world; every twentieth has a payload that is much longer than a block."""
    found = (json.loads(event.item())["update"] for event in box.world.events())
    for number, update in enumerate(update for update in found if update and "events_by_id" in update):
        if number % 20 == 10:
            next(iter(update["events_by_id"].values()))["choice_argument"] = {"long": LONG}
        yield update


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [json.dumps(update, separators=(",", ":")).encode() for update in updates(Sandbox(**WORLD))]
    path = tmp_path_factory.mktemp("objects") / "long.zstd"
    path.write_bytes(b"".join(zstandard.compress(b"\n".join(lines[n : n + 50]) + b"\n") for n in range(0, len(lines), 50)))
    return path


def nodes(store: Path, file: Path) -> pd.DataFrame:
    with lf.connect("sandbox", **WORLD, store=store) as net:
        return lf.load_bulk(net, paths=file).tree_events


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, file: Path) -> pd.DataFrame:
    return nodes(tmp_path_factory.mktemp("whole"), file)


@pytest.mark.parametrize("cores", [1, 2])
def test_lines_longer_than_many_blocks_change_nothing(
    tmp_path: Path, file: Path, whole: pd.DataFrame, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (whole["choice_argument"].str.len() > len(LONG)).sum() > 10
    # With two cores, the next block is made while one is worked on.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr("ledgerframes.datasets.bulk.expand.BATCH_BYTES", 30_000)
    pd.testing.assert_frame_equal(nodes(tmp_path / "small", file), whole)
