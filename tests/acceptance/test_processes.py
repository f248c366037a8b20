"""Whole processes: killed at any moment, two at once, and over a real port."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from equality import assert_equal, every_table
from processes import begin, end, killed_at_random, seconds_of
from servers import served

import ledgerframes as lf
from ledgerframes.loaders import buffering
from ledgerframes.sandbox import Sandbox

WORLD: dict[str, Any] = {"events": 1200, "days": 2}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09T06:00:00Z"}
KILLS = 20


def sync(store: Path) -> None:
    """Load with small segments and pages, so that there are many moments to be killed at."""
    buffering.SEGMENT_BYTES = 75_000
    lf.load_events(lf.connect("sandbox", store=store, page_size=20, max_concurrency=2, **WORLD), **WHOLE)


def stored(store: Path) -> dict[str, pd.DataFrame]:
    return every_table(lf.load_events(lf.connect("sandbox", store=store, offline=True, **WORLD), **WHOLE))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, pd.DataFrame], float]:
    """Every table after a run that nobody disturbed, and how long the run took."""
    store = tmp_path_factory.mktemp("undisturbed")
    seconds = seconds_of(sync, store)
    return stored(store), seconds


def test_killed_twenty_times_the_store_equals_an_undisturbed_one(
    tmp_path: Path, undisturbed: tuple[dict[str, pd.DataFrame], float]
) -> None:
    expected, seconds = undisturbed
    chance = random.Random(7)
    killed = sum(killed_at_random(chance, seconds / 4, sync, tmp_path) for _ in range(KILLS))
    assert killed >= KILLS // 2, "the runs were over before they could be killed"
    assert end(begin(sync, tmp_path)) == 0
    assert_equal(stored(tmp_path), expected)


def test_two_processes_on_one_store_double_nothing(tmp_path: Path, undisturbed: tuple[dict[str, pd.DataFrame], float]) -> None:
    both = [begin(sync, tmp_path), begin(sync, tmp_path)]
    assert [end(process) for process in both] == [0, 0]
    assert_equal(stored(tmp_path), undisturbed[0])


@pytest.fixture
def port() -> Iterator[int]:
    """A sandbox served on a loopback port."""
    with served(Sandbox(seed=1, **WORLD)) as port:
        yield port


@pytest.mark.loopback
def test_over_a_port_the_frames_are_those_of_the_embedded_network(
    tmp_path: Path, port: int, undisturbed: tuple[dict[str, pd.DataFrame], float]
) -> None:
    Path("ledgerframes.toml").write_text(f'[local]\nhistory_url = "http://127.0.0.1:{port}"\nrequests_per_second = 0\n')
    with lf.connect("local", store=tmp_path) as net:
        frames = lf.load_events(net, **WHOLE)
    assert_equal(every_table(frames), undisturbed[0])
