"""Compare each column of each figure with that of an earlier commit, on the same frames.

`python tools/same_figures.py 9aa434d4` lets that commit load and save the whole history of its sandbox. Then both compute the
figures in each grouping, also by period, and all values are compared to the last digit. So are the tables of the sandbox of each.
It takes a few minutes.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from import_picture import ROOT, export

SINCE, UNTIL = "2026-09-01", "2026-11-09"  # the sandbox starts later
PERIOD = "7d"
OTHER_FRAMES = {"cost.compare": "after", "reconcile.bulk": "bulk", "reconcile.bulk_totals": "bulk", "reconcile.nodes": "b"}
OTHER_ARGUMENTS = {"activity.what_if": {"confirmers": "informees"}}

Texts = list[str]  # the type of a column, and each of its values to the last digit
Results = dict[str, dict[str, Texts]]  # columns by name, by call


# -- in a process of each state -------------------------------------------------------------------------------------------


def save_history(directory: str) -> None:
    """Load the history of the sandbox, and save its frames."""
    import ledgerframes as lf

    lf.save_frames(lf.load_events(lf.connect("sandbox"), since=SINCE, until=UNTIL), directory)


def print_results(directory: str) -> None:
    """Print all figures of saved frames as JSON."""
    import ledgerframes as lf

    frames = lf.open_frames(directory)
    figures = {call: columns_of(function, frames, options) for call, function, options in calls(frames)}
    print(json.dumps({**figures, **sandbox_tables()}))


def sandbox_tables() -> Results:
    """Return the tables of a small sandbox, which follow from its responses."""
    import ledgerframes as lf

    net = lf.connect("sandbox", events=400, days=1)
    frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    return {f"table {name} of the sandbox": columns_of(frames.read, name, {}) for name in frames.tables}


def calls(frames: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield each call of a figure in one grouping, with its name and its arguments next to the frames."""
    from ledgerframes.analysis import FIGURES

    for name, figure in sorted(FIGURES.items()):
        try:
            function = resolve_name(f"ledgerframes:{name}")
        except AttributeError:  # it has another name since
            continue
        arguments = inspect.signature(function).parameters
        others = OTHER_ARGUMENTS.get(name, {}) | ({OTHER_FRAMES[name]: frames} if name in OTHER_FRAMES else {})
        for by in (None, *(figure.by if "by" in arguments else ())):
            for every in (None, *([PERIOD] if "every" in arguments else [])):
                options = {option: value for option, value in (("by", by), ("every", every)) if value is not None}
                call = " ".join([name, *(f"{option}={value}" for option, value in options.items())])
                yield call, function, {**others, **options}


def columns_of(function: Any, argument: Any, options: dict[str, Any]) -> dict[str, Texts]:
    """Return the columns of a result, or the kind of the error."""
    try:
        result = function(argument, **options)
    except Exception as error:
        return {"error": [type(error).__name__]}
    if not isinstance(result, pd.DataFrame):
        return {"error": ["no table"]}
    return {str(name): texts_of(result[name]) for name in result}


def texts_of(values: pd.Series) -> Texts:
    """Return the type and the values of a column."""
    missing = values.isna()
    return [str(values.dtype), *("missing" if missing[row] else repr(value) for row, value in values.astype("object").items())]


# -- comparison -----------------------------------------------------------------------------------------------------------


def run_at(package_dir: Path, function: str, directory: Path) -> str:
    """Run a function of this file with the package in a directory, and return what it prints."""
    variables = {**os.environ, "PYTHONPATH": str(package_dir), "LEDGERFRAMES_STORE": str(directory / "store")}
    command = [sys.executable, "-W", "ignore", __file__, function, str(directory / "history")]
    return subprocess.run(command, check=True, env=variables, stdout=subprocess.PIPE, text=True).stdout


def compare(before: Results, after: Results) -> Iterator[str]:
    """Yield a line for each column that differs, and for the columns that only one of the two has."""
    for call in sorted(before.keys() | after.keys()):
        old, new = before.get(call, {}), after.get(call, {})
        for state, names in {"before": old.keys() - new.keys(), "now": new.keys() - old.keys()}.items():
            if names:
                yield f"{call}: only {state} {', '.join(sorted(names))}"
        for name in sorted(old.keys() & new.keys()):
            if old[name] != new[name]:
                yield f"{call}: {name} {difference(old[name], new[name])}"


def difference(old: Texts, new: Texts) -> str:
    """Return how two columns differ: by their types, their numbers of rows, or the first value."""
    if len(old) != len(new):
        return f"has {len(new) - 1:,} rows instead of {len(old) - 1:,}"
    return next(f"has {two[:70]} instead of {one[:70]}" for one, two in zip(old, new, strict=True) if one != two)


def main(commit: str) -> None:
    """Compare this checkout with a commit."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        export(commit, directory / "before")
        run_at(directory / "before", "save_history", directory)
        before, after = (json.loads(run_at(each, "print_results", directory)) for each in (directory / "before", ROOT))
    for line in compare(before, after):
        print(line)
    shared = [(before[call], after[call]) for call in before.keys() & after.keys() if "error" not in before[call]]
    count = Counter(old[name] == new.get(name) for old, new in shared for name in old if name in new)
    print(f"{len(shared)} calls of both: {count[True]:,} columns are the same to the last digit, {count[False]:,} differ.")


if __name__ == "__main__":
    {"save_history": save_history, "print_results": print_results}.get(sys.argv[1], main)(sys.argv[-1])
