"""JSON lines to the nine history tables when the service has added a member, to the same lines without it.

The member is unknown to this version: it is in every event item, or in every node of every tree. Each contestant has a process
of its own, which has learned the member in the round that does not count, as a sync has after its first batch.
"""

from __future__ import annotations

import functools
import json
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import table_building
from figures import Figure, as_table
from rounds import Run, busy, contest, ratio, seconds_of

GOAL, FLOOR = 0.9, 0.8
MEMBER = b'"new_member":{"unit":"bytes","values":[1,20,300]},'
IN_ITEM, IN_NODE = b'{"update":', b'"contract_id":'  # what the member is put in front of, or behind


def measure(lines_path: Path, rounds: int = 10) -> list[Figure]:
    """Measure reading with a new member in every item and in every node.

    Parameters
    ----------
    lines_path : Path
        Event items as JSON lines, more than 100 MB for figures that mean something.
    rounds : int
        How many count.

    Returns
    -------
    list of Figure
        Ratios of speeds.
    """
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=lines_path.parent)))
        paths = {
            "without": lines_path,
            "items": write_with_member(lines_path, directory / "items.jsonl", IN_ITEM, b"{" + MEMBER + IN_ITEM[1:]),
            "nodes": write_with_member(lines_path, directory / "nodes.jsonl", IN_NODE, MEMBER + IN_NODE),
        }
        check_same_tables(paths)
        runs = {name: table_building.in_a_process(stack, functools.partial(_run, path)) for name, path in paths.items()}
        taken = contest(rounds, runs)
    return [
        Figure("a new member in every item, to none", ratio(taken, "without", "items"), GOAL, FLOOR, note=busy(taken)),
        Figure("a new member in every node, to none", ratio(taken, "without", "nodes"), GOAL, FLOOR, note=busy(taken)),
    ]


def write_with_member(source: Path, target: Path, old: bytes, new: bytes) -> Path:
    """Write the lines with a member more."""
    with source.open("rb") as lines, target.open("wb") as file:
        for line in lines:
            file.write(line.replace(old, new))
    return target


def check_same_tables(paths: dict[str, Path]) -> None:
    """The tables must be the same but for the new member, and that must be in every row it belongs to."""
    first = {name: table_building.all_tables(path)[0] for name, path in paths.items()}
    member = json.loads(b"{" + MEMBER[:-1] + b"}")
    for name, tables in first.items():
        for table, rows in tables.items():
            count = min(rows.num_rows, first["without"][table].num_rows)
            same = first["without"][table].drop_columns("extra").slice(0, count)
            assert rows.drop_columns("extra").slice(0, count).equals(same), (name, table)
    assert all(json.loads(text) == member for text in first["nodes"]["tree_events"]["extra"].to_pylist())
    assert all(json.loads(text) == {"event": member} for text in first["items"]["updates"]["extra"].to_pylist())


def _run(path: Path) -> Run:
    return table_building.PACE.measured(lambda: seconds_of(lambda: table_building.all_tables(path), time.process_time))


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as directory:
        given = sys.argv[1:]
        path = Path(given[0]) if given else table_building.write_lines(Path(directory) / "events.jsonl")
        print(as_table(measure(path)))


if __name__ == "__main__":
    main()
