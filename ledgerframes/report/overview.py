"""The page of all runs of all reports, which each run writes again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from ledgerframes.report.coverage import format_duration
from ledgerframes.report.page import render_template
from ledgerframes.report.publish import PAGE, ReportDir, replace_text
from ledgerframes.report.runs import failure_notes, list_runs, report_names
from ledgerframes.statistics import printing

if TYPE_CHECKING:
    from ledgerframes.report.key_figures import KeyFigure


def write_overview(out: Path) -> Path:
    """Write ``index.html`` of a directory of reports, and return its path.

    Parameters
    ----------
    out : Path
        Directory of all reports.
    """
    page = out / PAGE
    replace_text(page, render_overview(out, datetime.now(UTC).replace(microsecond=0)))
    return page


def render_overview(out: Path, now: datetime) -> str:
    """Return the page of a directory of reports as HTML, with ages relative to `now`."""
    runs, notes = list_runs(out), failure_notes(out)
    reports = [
        {
            "name": name,
            "failure": notes.get(name, ""),
            "figures": _latest_figures(ReportDir(out, name)),
            "runs": [_describe(run, now) for run in reversed(runs[runs["report"] == name].to_dict("records"))],
        }
        for name in report_names(out)
    ]
    return render_template("overview.html.j2", reports=reports, now=f"{now:%Y-%m-%d %H:%M}")


def _latest_figures(report_dir: ReportDir) -> list[KeyFigure]:
    """Return the key figures of the latest run, if it has any."""
    runs = report_dir.published_runs()
    latest = report_dir.latest_key()
    return runs[latest].get("key_figures", []) if latest in runs else []


def _describe(run: dict[str, Any], now: datetime) -> dict[str, Any]:
    created_at = run["created_at"].to_pydatetime()
    return {
        "link": f"{run['report']}/{run['key']}/{PAGE}",
        "window": f"{run['since']:%Y-%m-%d %H:%M} to {run['until']:%Y-%m-%d %H:%M}",
        "created_at": f"{created_at:%Y-%m-%d %H:%M}",
        "age": format_duration(now - created_at),
        "final": printing.share(run["final"]),
        "requests": printing.MISSING if pd.isna(run["requests"]) else f"{run['requests']:,}",
        "rejection_rate": printing.share(run["rejection_rate"]),
        "cost_coverage": printing.share(run["cost_coverage"]),
        "is_latest": bool(run["is_latest"]),
    }
