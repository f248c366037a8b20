"""Bulk objects to committed Parquet: against building the tables alone, two processes against one, and peak memory.

The objects are those of `history.py`. Threads beside the caller's may use both cores, building alone uses one.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from figures import Figure
from measuring import (
    Row,
    days_of,
    empty_store,
    frames_of,
    fresh,
    interleaved,
    peak_megabytes,
    put_together,
    sampled,
)
from rounds import busy, middle, ratio
from table_building import segments

import ledgerframes as lf
from ledgerframes.datasets.bulk.expand import iter_line_batches
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.events.build import UPDATE_TABLES, EventTableBuilder
from ledgerframes.datasets.events.wire import Event, Update
from ledgerframes.datasets.registry import BULK
from ledgerframes.gc_pause import pause_gc

SHARES = (1 / 8, 1 / 4, 1 / 2, 1)  # of a day's frames, for memory
LARGEST = 2e9  # bytes of lines

# -- one process ----------------------------------------------------------------------------------------------------


def one_process(path: Path, rounds: int) -> Row:
    """An object into an empty store, against its lines, expanded already, into tables that are dropped."""
    with path.open("rb") as file:
        blocks = [bytes(block.lines) for block in iter_line_batches(file, path.name, sys.maxsize)]
    megabytes = sum(map(len, blocks)) / 1e6

    def tables_alone() -> None:
        with pause_gc():
            builder = functools.partial(EventTableBuilder, "listing", UPDATE_TABLES)
            for _ in segments((_events(block, path.name) for block in blocks), builder):
                pass

    threads = pa.cpu_count()
    pa.set_cpu_count(1)
    try:
        taken = interleaved(rounds, {"object": lambda: committed([path]), "tables alone": tables_alone})
    finally:
        pa.set_cpu_count(threads)
    note = f"{megabytes:,.0f} MB of lines at {megabytes / middle(taken, 'object'):.0f} MB/s; "
    note += f"tables alone {megabytes / middle(taken, 'tables alone'):.0f} MB/s; {busy(taken)}"
    return Row.of(
        Figure(
            "zstd object to committed Parquet, to building alone", ratio(taken, "tables alone", "object"), 0.75, 0.6, note=note
        ),
        "`load_bulk` of one object in one process, with its threads beside: hash, check, expand, decode, build, write, commit. "
        "Against decoding and building the same lines, in memory already, on one core.",
        lambda: sampled(lambda: committed([path])),
    )


def _events(block: bytes, name: str) -> list[Event]:
    return [Event(update=update) for update in decode_lines(block, Update, name)]


def committed(paths: list[Path], executor: Any = None) -> int:
    """Load objects into an empty store; the rows that were written."""
    with empty_store() as net:
        lf.load_bulk(net, paths=paths, executor=executor, progress=False)
        return sum(segment.rows for segment in net.store.segments(BULK))


# -- two processes --------------------------------------------------------------------------------------------------


def two_processes(paths: list[Path], rounds: int) -> Row:
    """The same objects with two workers and with one, all of them started before."""
    from loky import ProcessPoolExecutor

    with ProcessPoolExecutor(1) as one, ProcessPoolExecutor(2) as two:
        for executor in (one, two):
            committed(paths[:4], executor)
        taken = interleaved(rounds, {"one": lambda: committed(paths, one), "two": lambda: committed(paths, two)}, warm=False)
    note = f"{len(paths)} equal objects; workers have no threads beside them: one process with idle cores uses threads instead; "
    note += busy(taken)
    return Row(
        Figure("bulk objects with two processes, to one", ratio(taken, "one", "two"), 1.75, 1.5, note=note),
        "`load_bulk` with an executor of two processes against one of one, all started and warm.",
    )


# -- memory ---------------------------------------------------------------------------------------------------------


def memory(history: Path, folder: Path) -> Row:
    """ObjectSet of four sizes, each read by a fresh process."""
    pieces = max((frames_of(day) for day in days_of(history)), key=len)
    most = min(len(pieces), round(LARGEST / _frame_bytes(pieces[0], folder)))
    facts = []
    for share in SHARES:
        frames = max(1, round(share * most))
        path = put_together(pieces[:frames], folder / f"object-of-{frames}-frames.zstd")
        facts.append(fresh("bulk_objects.py", "read", path))
        path.unlink()
    over = [fact["peak"] - fact["bare"] for fact in facts]
    sizes = ", ".join(f"{fact['bytes'] / 1e9:.2g} GB: +{more:.0f}" for fact, more in zip(facts, over, strict=True))
    return Row(
        Figure("peak memory of reading an object, MB over bare", max(over), 150, 250, higher_is_better=False, note=sizes),
        "The operating system's own figure (VmHWM) of a fresh process that loads one object with its threads, minus the peak "
        "after all imports. The largest of four sizes counts.",
    )


def _frame_bytes(piece: tuple[Path, int, int], folder: Path) -> int:
    """Bytes of lines in a frame."""
    path = put_together([piece], folder / "frame.zstd")
    with path.open("rb") as file:
        size = max(block.uncompressed_bytes for block in iter_line_batches(file, path.name, sys.maxsize))
    path.unlink()
    return size


def read(path: str) -> None:
    """In a process of its own: read one object, and say what it took."""
    with empty_store() as net:
        bare = peak_megabytes()
        facts = lf.load_bulk(net, paths=path, progress=False).bulk_objects
        print(json.dumps({"bare": bare, "peak": peak_megabytes(), "bytes": int(facts["uncompressed_bytes"].sum())}))


if __name__ == "__main__":
    read(sys.argv[2])
