"""Published runs as rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.report.headline import HEADLINE
from ledgerframes.report.publish import FAILED, PAGE, RUN, ReportDir
from ledgerframes.report.run_content import RunContent

RUN_DTYPES = {
    "report": "str",
    "key": "str",
    "network": "str",
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
        One row per run with ``report``, ``key``, ``network``, window, ``created_at``, ``final`` (share of the window),
        ``is_latest``, the figures of :data:`HEADLINE` and ``page_path``; sorted by report and end of the window.

    Raises
    ------
    UsageError
        If `out` is not a directory.
    """
    out = Path(out)
    rows = [row for name in report_names(out) if report in (None, name) for row in _run_rows(out, name)]
    return pd.DataFrame(rows, columns=list(RUN_DTYPES)).astype(RUN_DTYPES)


def published_contents(out: Path) -> list[RunContent]:
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
            "network": run.get("network"),
            "since": pd.Timestamp(run["window"]["since"]),
            "until": pd.Timestamp(run["window"]["until"]),
            "created_at": pd.Timestamp(run["created_at"]),
            "final": run["coverage"]["final"],
            "is_latest": key == latest,
            "page_path": str(report_dir.path / key / PAGE),
        }
