"""How fast data is loaded and read, in one run: a table on stdout, progress on stderr, and docs/performance.md with its picture.

``python benchmarks/run.py`` takes 25 minutes on two quiet cores; ``--quick`` one or two, and leaves docs/ alone.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import page
import table_building
import unknown_members
from activity_weights import activity_weights
from bulk_objects import memory, one_process, two_processes
from figures import as_table
from first_reads import first_reads, small_syncs
from history import FRAME_BYTES, make_history
from http_pages import http_pages
from imports import imports
from large_sync import large_sync
from measuring import KEPT, ROOT, Row, days_of, frames_of, put_together, recut, say
from warm_reads import warm_reads

HOW_TABLES = (
    "The nine history tables from the same JSON lines, in memory, on one core; see `benchmarks/table_building.py`. Tables are "
    "retained, except in the comparison with decoding alone, which retains nothing: there they are dropped, and both take turns, "
    "block by block. "
    "The prototype, `benchmarks/prototype.py`, builds the same columns of the same structs, but keeps no unknown members and "
    "checks nothing. Pandas, which takes longer than the others together, is repeated separately, with all tables."
)
HOW_UNKNOWN = (
    "The nine history tables from JSON lines in which each item, or each node, has a member that this version does not know, to "
    "the same lines without it; see `benchmarks/unknown_members.py`. The member is in the column `extra` of the tables."
)


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    every: int  # of so many of the sandbox's events, one
    gigabytes: float
    frame_bytes: int  # of the history's objects, compressed
    frames: int  # of the object that one process reads
    objects: int  # that two processes read
    store_rows: int
    events: int
    rounds: int
    requests: int
    syncs: int


FULL = Sizes(table_building.EVERY, 10, FRAME_BYTES, 2, 16, 5_000_000, 16_000, 5, 400_000, 10_000)
QUICK = Sizes(40, 0.2, 2**18, 8, 8, 100_000, 2_000, 1, 5_000, 200)


def measured(sizes: Sizes, folder: Path) -> list[Row]:
    """Everything, one after the other; the picture goes to the folder."""
    history, cut = _history(sizes)
    one = put_together(frames_of(days_of(history)[0])[: sizes.frames], KEPT / "one-object.zstd")
    rows: list[Row] = []
    steps: list[tuple[str, Callable[[], Row | list[Row]]]] = [
        ("tables, against what one would pick instead", lambda: _tables(sizes)),
        ("an object to Parquet", lambda: one_process(one, sizes.rounds)),
        ("two processes against one", lambda: two_processes(cut[: sizes.objects], min(3, sizes.rounds))),
        ("memory of reading objects", lambda: memory(history, KEPT)),
        ("reading two columns of a store", lambda: warm_reads(sizes.store_rows, sizes.rounds)),
        ("first reads", lambda: first_reads(sizes.rounds)),
        ("a store of many small syncs", lambda: small_syncs(sizes.syncs, sizes.rounds)),
        ("pages over HTTP", lambda: http_pages(sizes.events, sizes.rounds)),
        ("activity weights", lambda: activity_weights(sizes.requests, sizes.rounds)),
        ("import", lambda: imports(2 * sizes.rounds)),
        ("the whole history", lambda: large_sync(cut, min(2, sizes.rounds), folder / page.PICTURE)),
    ]
    for name, step in steps:
        say(f"measuring: {name}")
        found = step()
        rows += found if isinstance(found, list) else [found]
    return rows


def _history(sizes: Sizes) -> tuple[Path, list[Path]]:
    """The history on disk, made if it is not there yet, and the same cut into equal objects."""
    history = KEPT / f"history-{sizes.gigabytes:g}"
    say(f"making {sizes.gigabytes:g} GB of lines, unless they are in {history}")
    make_history(history, sizes.gigabytes, frame_bytes=sizes.frame_bytes)
    return history, recut(history, KEPT / f"objects-{sizes.gigabytes:g}", 1)


def _tables(sizes: Sizes) -> list[Row]:
    with tempfile.TemporaryDirectory(dir=KEPT) as folder:
        path = table_building.write_lines(Path(folder) / "events.jsonl", sizes.every)
        figures = table_building.measure(path, 2 * sizes.rounds)
        profile = table_building.where_time_goes(path)
        rows = [Row(figure, HOW_TABLES, "" if figure.reached == "goal" else profile) for figure in figures]
        unknown = unknown_members.measure(path, sizes.rounds)
        return rows + [Row(figure, HOW_UNKNOWN, "" if figure.reached == "goal" else profile) for figure in unknown]


def main() -> int:
    """Measure, print, write the page; 1 if a figure falls below its bound."""
    quick = "--quick" in sys.argv
    began = time.monotonic()
    KEPT.mkdir(parents=True, exist_ok=True)
    for left in KEPT.glob("store-*"):
        shutil.rmtree(left)  # of a run that was broken off
    folder = KEPT / "quick" if quick else ROOT / "docs"
    rows = measured(QUICK if quick else FULL, folder)
    print(as_table([row.figure for row in rows]))
    path = page.write(folder, rows, quick)
    print(f"\n{path} was written; {(time.monotonic() - began) / 60:.1f} minutes.")
    return int(any(row.figure.reached == "neither" for row in rows) and not quick)


if __name__ == "__main__":
    sys.exit(main())
