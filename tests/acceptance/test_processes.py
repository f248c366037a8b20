"""Whole processes: killed at any moment, two at once, and over a real port."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from equality import assert_equal, every_table
from processes import begun, ended

import ledgerframes as lf
from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.serve import make_server

WORLD = {"events": 2400, "days": 2}
WHOLE = {"since": "2026-11-07", "until": "2026-11-09T06:00:00Z"}
KILLS = 20

# Small segments and pages, so that there are many moments to be killed at.
SYNC = f"""
import sys, threading
import ledgerframes as lf
from ledgerframes.loaders import buffering
buffering.SEGMENT_BYTES = 150_000
net = lf.connect("sandbox", store=sys.argv[1], page_size=40, max_concurrency=2, **{WORLD!r})
print("begun", flush=True)
lf.load_events(net, **{WHOLE!r})
print("done", flush=True)
"""


def stored(store: Path) -> dict[str, pd.DataFrame]:
    return every_table(lf.load_events(lf.connect("sandbox", store=store, offline=True, **WORLD), **WHOLE))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, pd.DataFrame], float]:
    """Every table after a run that nobody disturbed, and how long the run took."""
    store = tmp_path_factory.mktemp("undisturbed")
    process, began = begun(SYNC, store), time.monotonic()
    assert ended(process) == 0
    return stored(store), time.monotonic() - began


def test_killed_twenty_times_the_store_equals_an_undisturbed_one(
    tmp_path: Path, undisturbed: tuple[dict[str, pd.DataFrame], float]
) -> None:
    expected, seconds = undisturbed
    chance = random.Random(7)
    killed = 0
    for _ in range(KILLS):
        process = begun(SYNC, tmp_path)
        time.sleep(chance.uniform(0, seconds / 4))
        process.kill()
        killed += ended(process) != 0
    assert killed >= KILLS // 2, "the runs were over before they could be killed"
    process = begun(SYNC, tmp_path)
    assert ended(process) == 0
    assert_equal(stored(tmp_path), expected)


def test_two_processes_on_one_store_double_nothing(tmp_path: Path, undisturbed: tuple[dict[str, pd.DataFrame], float]) -> None:
    both = [begun(SYNC, tmp_path), begun(SYNC, tmp_path)]
    assert [ended(process) for process in both] == [0, 0]
    assert_equal(stored(tmp_path), undisturbed[0])


@pytest.fixture
def port() -> Iterator[int]:
    """A sandbox served on a loopback port."""
    server = make_server(Sandbox(seed=1, **WORLD), 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server.effective_port
    server.close()


@pytest.mark.loopback
def test_over_a_port_the_frames_are_those_of_the_embedded_network(
    tmp_path: Path, port: int, undisturbed: tuple[dict[str, pd.DataFrame], float]
) -> None:
    Path("ledgerframes.toml").write_text(f'[local]\nhistory_url = "http://127.0.0.1:{port}"\nrequests_per_second = 0\n')
    with lf.connect("local", store=tmp_path) as net:
        frames = lf.load_events(net, **WHOLE)
    assert_equal({name: frames.read(name) for name in frames.tables}, undisturbed[0])
