"""Following a growing ledger while its services fail: exact rows, and nothing that grows with time."""

from __future__ import annotations

import gc
import statistics
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pyarrow as pa
import pytest
from campaign import Effort, tell
from equality import assert_equal, every_table

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.api.update_format import update_format
from ledgerframes.datasets.registry import LEDGER
from ledgerframes.errors import LedgerframesError
from ledgerframes.loaders.ledger_filter import open_ledger
from ledgerframes.loaders.ledger_pages import OffsetReader, follow
from ledgerframes.network import Network
from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.settings import load_settings
from ledgerframes.store.compact import compact

QUICK_SECONDS = 6.0
MIN_LOADS = 16  # fewer do not tell growth from what a process needs once, however slow the machine is
FAULTS = Faults(
    too_many_requests=0.05, retry_after=0.5, unavailable_html=0.03, dropped_connections=0.03, truncated_bodies=0.03,
    html_instead_of_json=0.03, overload_409=0.03, token_mismatch=0.03, unknown_members=0.02, string_integers=0.1, seed=11,
)  # fmt: skip
ROOM = 60_000_000  # bytes by which memory may grow over a run, of any length


def network(box: Sandbox, store: Path) -> Network:
    values = {"history_url": box.history_url, "ledger_url": box.ledger_url, "network": "long", "store": store}
    limits = {"page_size": 50, "requests_per_second": 0, "retries": 3}
    return Network(load_settings("sandbox", {**values, **limits}), transport=in_process(box.app), clock=lambda: box.now)


def usage() -> dict[str, int]:
    """What must not grow: bytes of memory, open files and threads."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    process = psutil.Process()
    return {"memory": process.memory_info().rss, "files": process.num_fds(), "threads": threading.active_count()}


class Follower:
    """A thread that follows the ledger, again after each error, as a service manager would start it again."""

    def __init__(self, net: Network) -> None:
        self.net, self.stop, self.errors = net, threading.Event(), 0
        self.failures: list[str] = []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                ledger = open_ledger(self.net, update_format(topology=True), bind=True)
                reached = self.net.store.max_position(LEDGER, ledger.partition)
                follow(OffsetReader(self.net, ledger, 50, False), reached, 0.01, self.stop)
            except LedgerframesError:
                self.errors += 1
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                return


def stored(net: Network) -> tuple[dict[str, pd.DataFrame], int]:
    """What was followed, and through which offset."""
    net.offline = True
    frames = lf.load_updates(net)
    return every_table(frames), int(frames.coverage["through"].max())


def without_extras(frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {name: frame.drop(columns="extra", errors="ignore") for name, frame in frames.items()}


@pytest.mark.exhaustive
def test_hours_of_following_leave_exact_rows_and_flat_memory(tmp_path: Path, effort: Effort) -> None:
    seconds = effort.seconds("long_run", QUICK_SECONDS)
    shape: dict[str, Any] = {"seed": 1, "events": 4000 if effort.is_soak else 1200, "days": 4}
    hours = 24 * shape["days"] / 4
    box = Sandbox(**shape, faults=FAULTS, grows=True, speed=hours * 3600 / seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = network(box, tmp_path / "followed")
        follower, samples, loads = Follower(net), [], 0
        until = time.monotonic() + seconds
        while (time.monotonic() < until or loads < MIN_LOADS) and not follower.failures:
            try:
                lf.load_events(network(box, tmp_path / "followed"), since=box.now.replace(hour=0), until=box.now)
                compact(net.store)
            except LedgerframesError:
                follower.errors += 1
            loads += 1
            samples.append(usage())
            time.sleep(min(0.2, seconds / 100))
        follower.stop.set()
        follower.thread.join(60)
    assert not follower.failures and not follower.thread.is_alive()
    followed, through = stored(net)
    quiet = Sandbox(**shape)
    expected = every_table(lf.load_updates(network(quiet, tmp_path / "quiet"), through=through))
    assert_equal(without_extras(followed), without_extras(expected))
    assert sum(map(len, followed.values())) > 100
    begin, end = samples[len(samples) // 4 : len(samples) // 2], samples[-len(samples) // 4 :]
    growth = {name: statistics.median(s[name] for s in end) - max(s[name] for s in begin) for name in samples[0]}
    assert growth["memory"] < ROOM and growth["files"] <= 2 and growth["threads"] <= 2, growth
    tell("long run", seconds=round(seconds), requests=net.request_count, errors=follower.errors, loads=loads, growth=growth,
         rows=sum(map(len, followed.values())))  # fmt: skip


def test_what_is_missing_after_following_would_be_noticed(tmp_path: Path) -> None:
    """The comparison above sees a lost update: this is its counterexample."""
    box = Sandbox(seed=1, events=300, days=1)
    frames = every_table(lf.load_updates(network(box, tmp_path)))
    lost = {name: frame.iloc[1:] for name, frame in frames.items()}
    with pytest.raises(AssertionError):
        assert_equal(lost, frames)
