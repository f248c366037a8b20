"""Published runs as rows, and comparisons of two of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from ledgerframes.errors import UsageError
from ledgerframes.report.headline import HEADLINE
from ledgerframes.report.publish import FAILED, PAGE, RUN, ReportDir
from ledgerframes.representation import pluralize
from ledgerframes.statistics import printing

RUN_DTYPES = {
    "report": "str",
    "key": "str",
    "since": "datetime64[us, UTC]",
    "until": "datetime64[us, UTC]",
    "created_at": "datetime64[us, UTC]",
    "final": "float64",
    "is_latest": "boolean",
    **dict.fromkeys(HEADLINE, "Int64"),
    "rejection_rate": "float64",
    "cost_coverage": "float64",
    "wasted_share": "float64",
    "page_path": "str",
}
CHANGE_DTYPES = {"item": "str", "before": "str", "after": "str", "change": "str"}
Value = str | int | float | None
SETTINGS = ("network", "window", "parameters", "versions")


def list_runs(out: Path, report: str | None = None) -> pd.DataFrame:
    """Return the published runs of a directory of reports.

    Parameters
    ----------
    out : Path
        Directory of all reports.
    report : str, optional
        Only runs of this report (default: of all).

    Returns
    -------
    DataFrame
        One row per run with ``report``, ``key``, window, ``created_at``, ``final`` (share of the window), ``is_latest``, the
        figures of :data:`HEADLINE` and ``page_path``; sorted by report and end of the window.

    Raises
    ------
    UsageError
        If `out` is not a directory.
    """
    out = Path(out)
    rows = [row for name in report_names(out) if report in (None, name) for row in _run_rows(out, name)]
    return pd.DataFrame(rows, columns=list(RUN_DTYPES)).astype(RUN_DTYPES)


def published_contents(out: Path) -> list[dict[str, Any]]:
    """Return ``run.json`` of each published run of all reports, by the time of creation."""
    runs = [run for name in report_names(out) for run in ReportDir(out, name).published_runs().values()]
    return sorted(runs, key=lambda run: str(run["created_at"]))


def failure_notes(out: Path) -> dict[str, str]:
    """Return the note of each report whose last run failed, by report."""
    notes = {name: out / name / FAILED for name in report_names(out)}
    return {name: path.read_text(encoding="utf-8") for name, path in notes.items() if path.is_file()}


def report_names(out: Path) -> list[str]:
    """Return the names of the reports that have a directory, in alphabetical order."""
    if not out.is_dir():
        raise UsageError(f"out= must be a directory of reports, got {str(out)!r}. Run a report first.")
    names = {path.parent.name for path in out.glob(f"*/{FAILED}")} | {path.parents[1].name for path in out.glob(f"*/*/{RUN}")}
    return sorted(names - {"latest"})


def _run_rows(out: Path, report: str) -> Iterator[dict[str, Any]]:
    report_dir = ReportDir(out, report)
    latest = report_dir.latest_key()
    for key, run in report_dir.published_runs().items():
        yield {
            **dict.fromkeys(HEADLINE),
            **run.get("headline", {}),
            "report": report,
            "key": key,
            **{name: pd.Timestamp(time) for name, time in run["window"].items()},
            "created_at": pd.Timestamp(run["created_at"]),
            "final": run["coverage"]["final"],
            "is_latest": key == latest,
            "page_path": str(report_dir.path / key / PAGE),
        }


def compare_runs(out: Path, report: str, before: str | None = None, after: str | None = None) -> pd.DataFrame:
    """Return what changed between two runs of a report.

    Parameters
    ----------
    out : Path
        Directory of all reports.
    report : str
    before, after : str, optional
        Keys of the runs, or their first characters (default: the two newest windows).

    Returns
    -------
    DataFrame
        One row per setting that differs, per figure of :data:`HEADLINE`, and per table whose number of rows differs, with
        ``item``, ``before``, ``after`` and ``change`` as text; in this order.

    Raises
    ------
    UsageError
        If there are no such runs.
    """
    report_dir = ReportDir(Path(out), report)
    runs = report_dir.published_runs()
    keys = list(runs)
    if before is None and after is None and len(keys) < 2:
        number = pluralize(len(keys), "published run")
        raise UsageError(f"Report {report} has {number} in {out}, but a comparison needs two. Run it over another window.")
    keys = [_find_key(keys, before or keys[-2]), _find_key(keys, after or keys[-1])]
    older, newer = (_items(runs[key], report_dir.path / key) for key in keys)
    rows = [row for groups in zip(older, newer, strict=True) for row in _changes(*groups)]
    return pd.DataFrame(rows, columns=list(CHANGE_DTYPES)).astype(CHANGE_DTYPES)


def _find_key(keys: list[str], text: str) -> str:
    matches = [key for key in keys if key.startswith(text)]
    if len(matches) != 1:
        raise UsageError(f"{len(matches)} runs have a key that begins with {text!r}. Choose from {', '.join(keys) or 'none'}.")
    return matches[0]


def _items(run: dict[str, Any], directory: Path) -> list[dict[str, Value]]:
    """Return the settings, the figures and the rows of each table of a run."""
    headline, tables = run.get("headline", {}), sorted((directory / "tables").glob("*.parquet"))
    settings = {f"{name} {part}".strip(): value for name in SETTINGS for part, value in _parts(run[name])}
    figures = {name: headline.get(name) for name in HEADLINE}
    return [settings, figures, {f"rows of {path.stem}": pq.read_metadata(path).num_rows for path in tables}]


def _parts(value: object) -> Iterator[tuple[str, str]]:
    yield from ((name, str(each)) for name, each in (value.items() if isinstance(value, dict) else [("", value)]))


def _changes(before: dict[str, Value], after: dict[str, Value]) -> Iterator[tuple[str, str, str, str]]:
    """Return the figures, and the other items that differ."""
    for item in dict.fromkeys([*before, *after]):
        older, newer = before.get(item), after.get(item)
        if item in HEADLINE or older != newer:
            yield item, _text(older), _text(newer), _change(older, newer)


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else printing.share(value, 2)


def _change(before: Value, after: Value) -> str:
    """Return a change of a count in percent of the one before, and of a share in points."""
    if before is None or after is None or isinstance(before, str) or isinstance(after, str):
        return ""
    if isinstance(before, float) or isinstance(after, float):
        return f"{(after - before) * 100:+.2f} points"
    return f"{(after - before) / before * 100:+.1f} %" if before else ""
