"""First reads of windows of any size, and reads of a store that many small syncs have filled.

A window of old history has updates without verdicts. Its first read takes as long for each request, however many there are,
because second verdicts are found when segments are committed. A store of many syncs reads like one of few, because a sync merges
what it has made small.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from figures import Figure
from measuring import KEPT, Row, interleaved, sampled, say
from rounds import middle, ratio

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.network import Network
from ledgerframes.store.compact import compact
from ledgerframes.store.small_segments import merge_small_segments
from ledgerframes.values.extents import Migration, MigrationWindow, microseconds
from ledgerframes.values.windows import Window, instant

MIGRATION, SEED, DAYS = 4, 7, 30
UNTIL = instant("2026-11-09")
SINCE = UNTIL - timedelta(days=DAYS)
WHOLE = Window(SINCE, UNTIL)
ONE_DAY = Window(SINCE + timedelta(days=14), SINCE + timedelta(days=15))
COLUMNS = ["update_id", "record_time", "verdict_result"]
REQUESTS = (27_000, 70_000, 159_000, 349_000)
EVENTS_OF_A_SYNC = 20


def first_reads(rounds: int, requests: tuple[int, ...] = REQUESTS) -> Row:
    """Compare the time for each request of the largest window with that of the smallest."""
    nets = {count: _loaded(KEPT / f"requests-{count}", count) for count in requests}
    taken = interleaved(rounds, {str(count): _reading(net, WHOLE) for count, net in nets.items()})
    smallest, largest = requests[0], requests[-1]
    per_request = ratio(taken, str(largest), str(smallest)) * smallest / largest
    note = ", ".join(f"{count:,}: {middle(taken, str(count)):.2f} s" for count in requests)
    figure = Figure(
        f"first read of {largest:,} requests, for each, to {smallest:,}",
        per_request,
        1.25,
        1.5,
        higher_is_better=False,
        note=note,
    )
    how = "The verdicts of a window with updates without a verdict, in frames that were never read. 1 is linear."
    return Row.of(figure, how, lambda: sampled(_reading(nets[largest], WHOLE)))


def small_syncs(count: int, rounds: int) -> list[Row]:
    """Compare reads of a store of small syncs with reads of the same rows in one segment for each day."""
    folder = KEPT / f"syncs-{count}"
    synced, compacted = _synced(folder / "synced", count), _network(folder / "compacted")
    if not compacted.store.exists():
        shutil.copytree(folder / "synced", folder / "compacted")
        compact(compacted.store)
    note = f"{len(synced.store.segments(EVENTS)):,} segments, and {len(compacted.store.segments(EVENTS)):,}"
    how = "The verdicts of a store in which each sync has added 20 events, after the merges that the syncs made by themselves."
    rows = []
    for words, window in (("one day", ONE_DAY), ("all", WHOLE)):
        contestants = {"synced": _reading(synced, window), "compacted": _reading(compacted, window)}
        times = interleaved(rounds, contestants)
        slower = ratio(times, "synced", "compacted")
        figure = Figure(
            f"{words} of {count:,} small syncs, to the same compacted", slower, 1.5, 2.0, higher_is_better=False, note=note
        )
        rows.append(Row.of(figure, how, functools.partial(sampled, contestants["synced"])))
    return rows


def _reading(net: Network, window: Window) -> Callable[[], pd.DataFrame]:
    def read() -> pd.DataFrame:
        return lf.load_events(net, since=window.since, until=window.until, progress=False).read("verdicts", COLUMNS)

    return read


# -- the stores -----------------------------------------------------------------------------------------------------


def _network(store: Path) -> Network:
    """A network that is never asked, at a time when all of the range is settled."""
    settings = lf.connect("sandbox", history_url="http://127.0.0.1:9", store=store, network="first").settings
    return Network(settings, clock=lambda: UNTIL + timedelta(days=1))


def _loaded(folder: Path, count: int) -> Network:
    """A store of four segments, as one load leaves them."""
    shutil.rmtree(folder, ignore_errors=True)
    say(f"making a store of {count:,} requests")
    net = _network(folder)
    for _ in _commits(net, count, 4):
        pass
    return net


def _synced(folder: Path, count: int) -> Network:
    """A store of so many syncs, each followed by the merges that it makes."""
    net = _network(folder)
    if net.store.exists() and net.store.is_complete(EVENTS, WHOLE):
        return net
    shutil.rmtree(folder, ignore_errors=True)
    say(f"making a store of {count:,} syncs")
    for _ in _commits(net, count * EVENTS_OF_A_SYNC, count):
        merge_small_segments(net.store, EVENTS, net.settings.limits.min_merged_segments)
    return net


def _commits(net: Network, count: int, segments: int) -> Iterator[None]:
    """Commit so many events in so many segments, and pause after each."""
    net.store.save_migrations([Migration(MIGRATION, microseconds(SINCE))])
    edges = np.linspace(microseconds(SINCE), microseconds(UNTIL), segments + 1).astype(np.int64).tolist()
    random = np.random.default_rng(SEED)
    size = count // segments
    samples = {"verdicts": testing.table("verdicts").sample_arrow(size), "updates": testing.table("updates").sample_arrow(size)}
    for start, stop in pairwise(edges):
        digits = random.bytes(32 * size).hex()
        new = {
            "record_time": pa.array(np.sort(random.integers(start, stop, size))).cast(pa.timestamp("us", "UTC")),
            "update_id": pa.array([f"1220{digits[at : at + 64]}" for at in range(0, len(digits), 64)], pa.string()),
            "migration_id": pa.array(np.full(size, MIGRATION)),
        }
        tables = {name: _replaced(rows, new) for name, rows in samples.items()}
        tables["verdicts"] = tables["verdicts"].slice(1)  # so that one update has no verdict
        net.store.commit(EVENTS, MigrationWindow(MIGRATION, start, stop), tables, final=True, source="benchmark")
        yield


def _replaced(rows: pa.Table, new: dict[str, pa.Array]) -> pa.Table:
    return pa.table([new.get(name, rows[name]) for name in rows.column_names], schema=rows.schema)
