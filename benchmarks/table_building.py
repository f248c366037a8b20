"""JSON lines to the nine history tables in memory: how much faster than what one would pick instead.

Every contestant reads the same file on one core, one after the other in each round; only ratios inside a round count, of
seconds of processor time. Each has a process of its own, so that none works in the memory that another has left behind. The
garbage collector is as everybody finds it: on, but where this library pauses it, as its loaders do. The tables are kept until
the clock stops.

Decoding alone keeps nothing. What is compared with it lets go of its tables, too, as loaders do when they have written them,
and both take turns block by block in one process: they have the same memory and the same neighbours.
"""

from __future__ import annotations

import functools
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import rivals
from figures import Figure, as_table
from prototype import Prototype
from rounds import Pace, Run, busy, contest, middle, ratio, seconds_of

from ledgerframes.datasets import TABLES
from ledgerframes.datasets.bulk.expand import BATCH_BYTES
from ledgerframes.datasets.bulk.lines import decode_lines
from ledgerframes.datasets.events.build import UPDATE_TABLES, VERDICT_TABLES, EventTableBuilder
from ledgerframes.datasets.events.wire import Event
from ledgerframes.datasets.schema import TEXT
from ledgerframes.gc_pause import pause_gc
from ledgerframes.sandbox import Sandbox
from ledgerframes.settings.groups import Limits

EVERY = 2  # half of the sandbox's default world, evenly: 12,000 event items, 126 MB
SEGMENT_BYTES = Limits().segment_bytes
PAYLOADS = ("create_arguments", "choice_argument", "exercise_result")
PLACES = ["node_index", "parent_event_id", "depth"]
Builder: TypeAlias = EventTableBuilder | Prototype


def write_lines(path: Path, every: int = EVERY) -> Path:
    """Write every so many event items of the sandbox as JSON lines."""
    with path.open("wb") as file:
        for event in islice(Sandbox(events=24_000, days=8).world.events(), 0, None, every):
            file.write(event.item() + b"\n")
    return path


def blocks(path: Path) -> Iterator[memoryview]:
    """The file in blocks of whole lines, each in the buffer of the one before."""
    buffer = bytearray(BATCH_BYTES)
    view, kept = memoryview(buffer), 0
    with path.open("rb", buffering=0) as file:
        while read := file.readinto(view[kept:]):
            end = buffer.rfind(b"\n", 0, kept + read) + 1
            yield view[:end]
            kept += read - end
            view[:kept] = view[end : end + kept]


# -- the contestants ------------------------------------------------------------------------------------------------


def decoded_only(path: Path) -> None:
    """Structs, dropped as soon as they are there."""
    with pause_gc():
        for block in blocks(path):
            decode_lines(block, Event, path.name)


def all_tables(path: Path) -> list[dict[str, pa.Table]]:
    """What `load_events` does with what it read."""
    return _segments(path, functools.partial(EventTableBuilder, "listing"))


def prototyped(path: Path) -> list[dict[str, pa.Table]]:
    """The same structs, with nothing checked and no unknown member kept."""
    return _segments(path, Prototype)


def _segments(path: Path, builder: Callable[[], Builder]) -> list[dict[str, pa.Table]]:
    with pause_gc():
        return list(segments((decode_lines(block, Event, path.name) for block in blocks(path)), builder))


def segments(blocks: Iterable[Sequence[Any]], builder: Callable[[], Builder]) -> Iterator[dict[str, pa.Table]]:
    """Tables of blocks of items, as often as loaders make them."""
    rows = builder()
    for items in blocks:
        rows.add(items)
        if rows.bytes >= SEGMENT_BYTES:
            yield rows.tables()
            rows = builder()
    yield rows.tables()


def walked(path: Path) -> dict[str, pa.Table]:
    """A row walk over what orjson gives."""
    with path.open("rb") as file:
        return rivals.walked(file)


def normalized(path: Path) -> dict[str, pd.DataFrame]:
    """Pandas."""
    with path.open("rb") as file:
        return rivals.normalized(file)


CONTESTANTS: dict[str, Callable[[Path], object]] = {
    "decoded only": decoded_only,
    "all tables": all_tables,
    "prototype": prototyped,
    "DuckDB": rivals.queried,
    "orjson": walked,
    "pandas": normalized,
}
SLOWEST = "pandas"  # takes longer than the others together, so it has few rounds of its own
BESIDE = "beside decoding"
PACE = Pace()  # of this process


def beside_decoding(path: Path) -> float:
    """Seconds of decoding alone, to those of all tables: each block is decoded alone, and decoded and built."""
    seconds = {"alone": 0.0, "built": 0.0}
    rows = EventTableBuilder("listing")

    def decode(block: memoryview) -> list[Event]:
        return decode_lines(block, Event, path.name)

    def build(block: memoryview) -> None:
        nonlocal rows
        rows.add(decode(block))
        if rows.bytes >= SEGMENT_BYTES:
            rows.tables()
            rows = EventTableBuilder("listing")

    turns: list[tuple[str, Callable[[memoryview], object]]] = [("alone", decode), ("built", build)]
    with pause_gc():
        for block in blocks(path):
            for name, work in turns:
                began = time.process_time()
                work(block)
                seconds[name] += time.process_time() - began
            turns.reverse()  # who comes second finds the block in the cache
        began = time.process_time()
        rows.tables()
    return seconds["alone"] / (seconds["built"] + time.process_time() - began)


# -- measuring ------------------------------------------------------------------------------------------------------


def measure(lines_path: Path, rounds: int = 10) -> list[Figure]:
    """Measure the contestants one after the other in each round.

    Parameters
    ----------
    lines_path : Path
        Event items as JSON lines, more than 100 MB for figures that mean something.
    rounds : int
        How many count; those with pandas are a third of it.

    Returns
    -------
    list of Figure
        Ratios of speeds.
    """
    check_same_tables(lines_path)
    ours = "all tables"
    with ExitStack() as stack:
        runs = {name: in_a_process(stack, functools.partial(_run, name, lines_path)) for name in CONTESTANTS}
        beside = in_a_process(stack, functools.partial(_run_beside, lines_path))
        taken = contest(rounds, {**{name: run for name, run in runs.items() if name != SLOWEST}, BESIDE: beside})
        with_slowest = contest(max(1, rounds // 3), {name: runs[name] for name in (ours, SLOWEST)})
    megabytes = lines_path.stat().st_size / 1e6
    speeds = sorted(megabytes / held[ours].value for held in taken)
    note = f"{megabytes / middle(taken, ours):.0f} MB/s with the tables kept ({speeds[0]:.0f} to {speeds[-1]:.0f}), and then "
    note += f"{ratio(taken, 'decoded only', ours):.2f} of decoding in a process of its own; {busy(taken)}"
    return [
        Figure("all nine tables, to decoding alone", middle(taken, BESIDE), 0.42, 0.33, note=note),
        Figure("all nine tables, to a prototype that checks nothing", ratio(taken, "prototype", ours), 1, 0.85),
        Figure("all nine tables, to DuckDB on one thread", ratio(taken, "DuckDB", ours), 1.5, 1.15),
        Figure("all nine tables, to orjson and a row walk", ratio(taken, "orjson", ours), 3, 2.3),
        Figure("all nine tables, to pandas.json_normalize", ratio(with_slowest, SLOWEST, ours), 14, 10),
    ]


def where_time_goes(path: Path, rounds: int = 3) -> str:
    """Shares of the processor time from lines to all nine tables."""
    best = min((_shares(path) for _ in range(rounds)), key=lambda shares: sum(shares.values()))
    total = sum(best.values())
    lines = [f"{seconds / total:5.0%}  {name}" for name, seconds in sorted(best.items(), key=lambda share: -share[1])]
    lines.append(f"\n{path.stat().st_size / 1e6 / total:.0f} MB/s in all. Columns are pyarrow turning Python values")
    lines.append("into arrays: some 40 ns each where they are in the cache, several times that where they are not.")
    return "\n".join(lines)


def _shares(path: Path) -> dict[str, float]:
    seconds: dict[str, float] = defaultdict(float)
    kept = []

    def timed(name: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        done = work()
        seconds[name] += time.process_time() - began
        return done

    sides = {"updates and their trees": UPDATE_TABLES, "verdicts, traffic and activity": VERDICT_TABLES}
    rows = {name: EventTableBuilder("listing", tables) for name, tables in sides.items()}
    with pause_gc():
        for block in blocks(path):
            events = timed("decoding", functools.partial(decode_lines, block, Event, path.name))
            for name in sides:
                timed(f"columns of {name}", functools.partial(rows[name].add, events))
            timed("letting the structs go", events.clear)
            if sum(side.bytes for side in rows.values()) >= SEGMENT_BYTES:
                kept += [timed("columns into tables", side.tables) for side in rows.values()]
                rows = {name: EventTableBuilder("listing", tables) for name, tables in sides.items()}
    return seconds


def in_a_process(stack: ExitStack, run: Callable[[], Run]) -> Callable[[], Run]:
    """The run in a process of its own, always the same, with one core for Arrow."""
    process = ProcessPoolExecutor(1, get_context("spawn"), initializer=pa.set_cpu_count, initargs=(1,))
    stack.enter_context(process)
    return lambda: process.submit(run).result()


def _run(name: str, path: Path) -> Run:
    """Seconds of processor time, not of the clock on the wall: what else runs on the machine must not count."""
    return PACE.measured(lambda: seconds_of(lambda: CONTESTANTS[name](path), time.process_time))


def _run_beside(path: Path) -> Run:
    return PACE.measured(lambda: beside_decoding(path))


def check_same_tables(path: Path) -> None:
    """A rival that builds something else is none: every column must be equal but payloads, which rivals write anew."""
    connection, by_walk, by_pandas = rivals.queried(path), walked(path), normalized(path)
    ours, by_prototype = _together(all_tables(path)), _together(prototyped(path))
    for name, table in ours.items():
        for rival in (connection.table(name).to_arrow_table(), by_walk[name], by_prototype[name]):
            # Rivals have the members that the sandbox sends, so any other column of ours is missing.
            others = set(table.column_names) - set(rival.column_names) - {"extra", "id_source"}
            assert all(table[column].null_count == len(table) for column in others), name
            names = [column for column in rival.column_names if column not in PAYLOADS]
            assert _sorted(rival.select(names), name).equals(_sorted(table.select(names), name)), name
        assert len(by_pandas[name]) == len(table), name
    nodes = by_pandas["tree_events"]
    places = ours["tree_events"].select(["event_id", *PLACES]).to_pandas().set_index("event_id").loc[nodes["event_id"]]
    assert places.fillna("").equals(nodes.set_index("event_id")[PLACES].astype(places.dtypes).fillna(""))


def _together(segments: list[dict[str, pa.Table]]) -> dict[str, pa.Table]:
    return {name: pa.concat_tables([tables[name] for tables in segments]).unify_dictionaries() for name in segments[0]}


def _sorted(rows: pa.Table, name: str) -> pa.Table:
    """Rows in the declared order, as the types declared; closed sets as text."""
    types = {column: TABLES[name][column].type for column in rows.column_names}
    plain = {column: TEXT if pa.types.is_dictionary(kind) else kind for column, kind in types.items()}
    return TABLES[name].sorted(pa.table({column: rows[column].cast(kind) for column, kind in plain.items()}))


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        given = sys.argv[1:]
        path = Path(given[0]) if given else write_lines(Path(folder) / "events.jsonl")
        print(as_table(measure(path)))


if __name__ == "__main__":
    main()
