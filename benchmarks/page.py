"""The page of docs/ that a run of the benchmarks writes."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from figures import Figure
from measuring import Row

LIBRARIES = ("pandas", "pyarrow", "numpy", "msgspec", "zstandard", "httpx", "duckdb", "orjson", "loky")
PICTURE = "performance.png"
MARKS = {"goal": "", "floor": "goal missed", "neither": "**bound missed**"}

HEAD = """\
<!-- Written by benchmarks/run.py; do not edit. -->

# Performance

Ratios, measured in one run, each against something that was measured in the same run: seconds are those of one machine, ratios
mostly are not. In each repeat, all variants run one after the other. A ratio compares variants of one repeat, and the median of
the repeats is reported.

Other programs make a shared machine slower, some code more than other code. So a loop that never changes is timed before and
after each run, and a run waits up to a second for a calm moment. Repeats go on until enough of them were calm, or until there
are twice as many as count. The calmest count. Only the loop decides which these are, and the notes below say how slow it was in
them. Memory and the large sync at the end are measured without that.

Memory is what the operating system says of fresh processes (VmHWM). Disk caches are warm.

`make bench-loading` measures all of this again and writes this page: 25 minutes on two quiet cores, 40 on busy ones, and 3 GB
of disk below `.ledgerframes/bench`, where the history it makes is kept for the next time. `python benchmarks/run.py --quick`
runs everything on a small scale, prints its figures, and leaves this page as it is.
"""


def write(folder: Path, rows: list[Row], quick: bool) -> Path:
    """Write the page beside its picture."""
    parts = [HEAD.rstrip(), machine(quick), "## Figures", _table(rows)]
    parts += ["## What is compared", "\n".join(f"- {sentence}" for sentence in _compared(rows))]
    parts += ["## How the cost grows", f"![Seconds over size, both logarithmic]({PICTURE})"]
    parts += _limits([row for row in rows if row.figure.reached != "goal"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "performance.md"
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return path


def machine(quick: bool = False) -> str:
    """Return the sentence that says where a page was measured."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    said = (
        f"Measured on {cores} cores ({platform.machine()}, {platform.system()}), Python {platform.python_version()}, {versions}."
    )
    return said + (" **With `--quick`: these figures mean nothing.**" if quick else "")


def _table(rows: list[Row]) -> str:
    """Ratios beside what they should be."""
    titles = ("figure", "measured", "goal", "bound", "note")
    lines = [titles, ("---", "---:", "---:", "---:", "---"), *[_cells(row.figure) for row in rows]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(figure: Figure) -> tuple[str, ...]:
    sign = "≥" if figure.higher_is_better else "≤"
    return figure.name, f"{figure.ratio:.3g}", f"{sign} {figure.goal:g}", f"{sign} {figure.floor:g}", MARKS[figure.reached]


def _compared(rows: list[Row]) -> Iterator[str]:
    """What the figures compare; those that are measured together are told together."""
    for how, together in _alike(rows, lambda row: row.how):
        notes = dict.fromkeys(f" Here: {row.figure.note}." for row in together if row.figure.note)
        yield f"{_names(together)}: {how}{''.join(notes)}"


def _limits(missed: list[Row]) -> list[str]:
    """What is known of the figures that miss their goal."""
    if not missed:
        return []
    parts = ["## What limits the figures that miss their goal"]
    for profile, together in _alike(missed, lambda row: row.profile):
        parts.append(f"{_names(together)}:")
        parts.append(f"```text\n{profile}\n```" if profile else "See what is compared.")
    return parts


def _alike(rows: list[Row], text: Callable[[Row], str]) -> Iterator[tuple[str, list[Row]]]:
    """Neighbours of which the same is said, with what it is."""
    for said, together in groupby(rows, text):
        yield said, list(together)


def _names(rows: list[Row]) -> str:
    return "; ".join(f"**{row.figure.name}**" for row in rows)
