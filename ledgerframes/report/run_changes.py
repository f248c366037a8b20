"""Changes between two published runs of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Final

import pandas as pd
import pyarrow.parquet as pq

from ledgerframes.analysis.cost.compare_totals import unequal_lengths, unequal_shares
from ledgerframes.errors import UsageError
from ledgerframes.report.headline import HEADLINE
from ledgerframes.report.publish import ReportDir
from ledgerframes.report.run_content import RunContent
from ledgerframes.report.runs import report_names
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import MICROSECOND, Window

CHANGE_DTYPES = {"item": "str", "before": "str", "after": "str", "change": "str", "note": "str"}
Value = str | int | float | None
SETTINGS: Final = ("network", "window", "parameters", "versions")
FIGURES = ("final", *HEADLINE)
OF_COSTS = ("total_traffic_cost", "wasted_traffic_cost", "wasted_share")
COVERAGE = ("final", "cost_coverage")


@dataclass(frozen=True)
class Basis:
    """Length of a run's window, and the known share of its time and costs."""

    length: timedelta
    final: float | None
    cost_coverage: float | None

    @classmethod
    def of(cls, run: RunContent) -> Basis:
        """Return the basis of a published run."""
        window = Window.from_dict(run["window"])
        return cls(window.until - window.since, run["coverage"]["final"], run.get("headline", {}).get("cost_coverage"))


def compare_runs(out: Path, report: str, before: str | None = None, after: str | None = None) -> pd.DataFrame:
    """Return what changed between two runs of a report.

    Parameters
    ----------
    out : Path
        Directory of all reports.
    report : str
    before, after : str, optional
        Keys of the runs, or their first characters (default: the two newest windows of one network).

    Returns
    -------
    DataFrame
        One row for the keys of the runs, per setting that differs, for the final share of the window, per figure of
        :data:`HEADLINE`, and per table whose number of rows differs, in this order. The columns are ``item``, ``before``,
        ``after``, ``change`` and ``note``, as text. The note says whether length or coverage differ, and is otherwise empty. If
        the windows differ in length, the change of a count is per day.

    Raises
    ------
    UsageError
        If there are no such runs, or they are of two networks.
    """
    report_dir = ReportDir(Path(out), report)
    runs = report_dir.published_runs()
    if not runs:
        published = [name for name in report_names(Path(out)) if ReportDir(Path(out), name).published_runs()]
        step = f"Choose from {', '.join(published)}." if published else "Run a report first."
        raise UsageError(f"No run of report {report!r} is published in {out}. {step}")
    keys = list(runs) if before or after else _newest_of_windows(runs)
    if before is None and after is None and len(keys) < 2:
        windows = pluralize(len(keys), "window")
        message = f"Report {report} has runs over {windows} in {out}, but a comparison needs two."
        raise UsageError(f"{message} Run it over another window.")
    keys = [_find_key(keys, before or keys[-2]), _find_key(keys, after or keys[-1])]
    networks = [runs[key].get("network") for key in keys]
    if networks[0] != networks[1]:
        raise UsageError(f"Runs of two networks do not compare, got {networks[0]} and {networks[1]}. Choose two of one network.")
    bases = [Basis.of(runs[key]) for key in keys]
    older, newer = (_items(key, runs[key], report_dir.path / key) for key in keys)
    rows = [row for groups in zip(older, newer, strict=True) for row in _changes(*groups, *bases)]
    return pd.DataFrame(rows, columns=list(CHANGE_DTYPES)).astype(CHANGE_DTYPES)


def _newest_of_windows(runs: dict[str, RunContent]) -> list[str]:
    """Return the key of the newest run over each window of the newest network."""
    newest = list(runs.values())[-1].get("network")
    of_windows: dict[tuple[str, str], str] = {}
    for key, run in runs.items():
        if run.get("network") == newest:
            window = run["window"]["since"], run["window"]["until"]
            of_windows.pop(window, None)  # so that the order stays that of the newest runs
            of_windows[window] = key
    return [*of_windows.values()]


def _find_key(keys: list[str], text: str) -> str:
    matches = [key for key in keys if key.startswith(text)]
    if len(matches) != 1:
        raise UsageError(f"{len(matches)} runs have a key that begins with {text!r}. Choose from {', '.join(keys) or 'none'}.")
    return matches[0]


def _items(key: str, run: RunContent, directory: Path) -> list[dict[str, Value]]:
    """Return the settings, the figures and the rows of each table of a run."""
    headline, tables = run.get("headline", {}), sorted((directory / "tables").glob("*.parquet"))
    settings: dict[str, Value] = {f"{name} {part}".strip(): value for name in SETTINGS for part, value in _parts(run[name])}
    figures: dict[str, Value] = {"final": run["coverage"]["final"], **{name: headline.get(name) for name in HEADLINE}}
    return [{"key": key}, settings, figures, {f"rows of {path.stem}": pq.read_metadata(path).num_rows for path in tables}]


def _parts(value: object) -> Iterator[tuple[str, str]]:
    yield from (
        (name, "" if each is None else str(each)) for name, each in (value.items() if isinstance(value, dict) else [("", value)])
    )


def _changes(
    before: dict[str, Value], after: dict[str, Value], basis: Basis, basis_after: Basis
) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield the figures, and the other items that differ."""
    for item in dict.fromkeys([*before, *after]):
        older, newer = before.get(item), after.get(item)
        if item in FIGURES:
            notes = ", ".join(_notes(item, older, basis, basis_after))
            yield item, _text(older), _text(newer), _change(older, newer, basis.length, basis_after.length), notes
        elif older != newer:
            yield item, _text(older), _text(newer), _change(older, newer), ""


def _notes(item: str, value: Value, before: Basis, after: Basis) -> Iterator[str]:
    """Yield why a figure of two runs does not compare as it is."""
    if item in COVERAGE:
        return
    if isinstance(value, int):
        yield from unequal_lengths(before.length, after.length)
    yield from unequal_shares("final", before.final, after.final)
    if item in OF_COSTS:
        yield from unequal_shares("known costs", before.cost_coverage, after.cost_coverage)


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else printing.share(value, 2)


def _change(before: Value, after: Value, length: timedelta | None = None, length_after: timedelta | None = None) -> str:
    """Return a change of a count in percent of the one before, and of a share in points.

    That of a count is per day if the lengths differ.
    """
    if before is None or after is None or isinstance(before, str) or isinstance(after, str):
        return ""
    if isinstance(before, float) or isinstance(after, float):
        return f"{(after - before) * 100:+.2f} points"
    if not before:
        return ""
    if length is None or length_after is None or length == length_after:
        return f"{(after - before) / before * 100:+.1f} %"
    microseconds = [each // MICROSECOND for each in (length, length_after)]
    relative = Fraction(after * microseconds[0], before * microseconds[1]) - 1
    return f"{float(relative) * 100:+.1f} % per day"
