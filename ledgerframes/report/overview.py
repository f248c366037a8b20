"""The page of all runs of all reports, which each run writes again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from ledgerframes.report.coverage import format_duration
from ledgerframes.report.key_figure import OWN_COST, KeyFigure
from ledgerframes.report.page import render_template
from ledgerframes.report.publish import PAGE, ReportDir, lock_pages, replace_text
from ledgerframes.report.registry import REPORTS
from ledgerframes.report.run_content import RunContent
from ledgerframes.report.runs import failure_notes, list_runs, published_contents, report_names
from ledgerframes.report.sentences import Attention, LinkedText
from ledgerframes.report.series import position, write_links
from ledgerframes.report.sparklines import first_day_of
from ledgerframes.report.titles import describe_window
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.windows import Window

MAX_WEEKS = 8  # of a sparkline
MAX_SENTENCES = 5  # on what needs attention in a window
DayValues = dict[tuple[str, str, date], float | None]  # by label of a key figure, its participant if it has one, and day


@dataclass(frozen=True)
class WindowRuns:
    """The newest runs over one window of one network."""

    network: str
    since: str
    until: str
    figures: list[KeyFigure]
    first_day: date  # of the figures
    findings: list[dict[str, str]]
    comparison: str  # what was compared, empty without findings
    cards: list[dict[str, Any]]

    @property
    def title(self) -> str:
        """The window as text."""
        return describe_window(Window.from_dict({"since": self.since, "until": self.until}))


def write_overview(out: Path) -> Path:
    """Write ``index.html`` of a directory of reports, and the links between its pages.

    Parameters
    ----------
    out : Path
        Directory of all reports.

    Returns
    -------
    Path
        Of ``index.html``.
    """
    page = out / PAGE
    with lock_pages(out):
        replace_text(page, render_overview(out, datetime.now(UTC).replace(microsecond=0)))
        write_links(out)
    return page


def render_overview(out: Path, now: datetime) -> str:
    """Return the page of a directory of reports as HTML, with ages relative to `now`."""
    runs, notes = list_runs(out), failure_notes(out)
    reports = [
        {
            "name": name,
            "failure": notes.get(name, ""),
            "runs": [_describe(run, now) for run in reversed(runs[runs["report"] == name].to_dict("records"))],
        }
        for name in sorted(report_names(out), key=position)
    ]
    windows = list(_window_runs(out))
    return render_template("overview.html.j2", reports=reports, windows=windows, now=f"{now:%Y-%m-%d %H:%M}")


# -- the newest windows -----------------------------------------------------------------------------------------------------


def _window_runs(out: Path) -> Iterator[WindowRuns]:
    """Yield the latest runs of all reports by window, the newest first."""
    latest = [run for name in sorted(report_names(out), key=position) if (run := _latest(ReportDir(out, name)))]
    contents = published_contents(out)
    keys = {(run["window"]["until"], run["window"]["since"], run["network"]) for run in latest}
    for until, since, network in sorted(keys, reverse=True):
        same = [run for run in latest if (run["window"], run["network"]) == ({"since": since, "until": until}, network)]
        days = days_of([run for run in contents if run["network"] == network])
        head = next((run for run in same if run.get("key_figures")), same[0])
        figures = [_with_weeks(figure, days, head) for figure in head.get("key_figures", [])]
        comparison = next((attention["summary"] for run in same if (attention := run.get("attention"))), "")
        yield WindowRuns(network, since, until, figures, first_day_of(head), _attention(same), comparison, _cards(same, days))


def _attention(runs: list[RunContent]) -> list[dict[str, str]]:
    """Return what needs attention on the pages of one window.

    Each sentence occurs once, with the first page that shows it.
    """
    sentences: dict[str, dict[str, str]] = {}
    for run in runs:
        attention = run.get("attention")
        for each in attention["findings"] if attention else ():
            sentences.setdefault(each["text"], _item(each, run))
    return list(sentences.values())[:MAX_SENTENCES]


def _item(linked: LinkedText, run: RunContent) -> dict[str, str]:
    return {
        "text": linked["text"],
        "what": linked.get("what", ""),
        "effect": linked.get("effect", ""),
        "next_step": linked.get("next_step", ""),
        "report": run["report"],
        "link": _link(run["report"], run["key"]),
    }


def _link(report: str, key: str) -> str:
    return f"{report}/{key}/{PAGE}"


def _latest(report_dir: ReportDir) -> RunContent | None:
    key = report_dir.latest_key()
    return report_dir.read_run(key) if key else None


def _cards(runs: list[RunContent], values: DayValues) -> list[dict[str, Any]]:
    """Return the cards of runs, each with a key figure.

    It is the first one of its page that no card before has, or else the first.
    """
    labels: set[str] = set()
    cards = []
    for run in runs:
        figures: list[KeyFigure] = run.get("key_figures", [])
        figure = next((each for each in figures if each["label"] not in labels), figures[0] if figures else None)
        labels |= {figure["label"]} if figure else set()
        days = _with_weeks(figure, values, run) if figure else None
        cards.append({**_card(run), "figure": days, "first_day": first_day_of(run)})
    return cards


def _card(run: RunContent) -> dict[str, Any]:
    report, attention = REPORTS.get(run["report"]), run.get("attention")
    return {
        "name": run["report"],
        "purpose": report.purpose if report else "",
        "link": _link(run["report"], run["key"]),
        "attention": _count_sentences(attention) if attention else "",
        "created_at": run["created_at"],
    }


def _count_sentences(attention: Attention) -> str:
    """Return how many findings a page is about."""
    count = len(attention["findings"]) + attention["others"]
    return pluralize(count, "finding") if count else "No findings"


def days_of(runs: list[RunContent]) -> DayValues:
    """Return the values of all days that the key figures of runs have.

    Of two runs over the same day, the later one counts.
    """
    values: DayValues = {}
    for run in runs:
        for figure in run.get("key_figures", []):
            start = first_day_of(run) - timedelta(days=len(figure["before"]))
            for number, value in enumerate([*figure["before"], *figure["days"]]):
                if value is not None:
                    values[*_subject(figure, run), start + timedelta(days=number)] = value
    return values


def _subject(figure: KeyFigure, run: RunContent) -> tuple[str, str]:
    """Return the label of a key figure, and whose figure it is if it is not that of all."""
    is_own = figure["label"] == OWN_COST
    return figure["label"], str(run["parameters"]["participant"]) if is_own else ""


def _with_weeks(figure: KeyFigure, values: DayValues, run: RunContent) -> KeyFigure:
    """Return a key figure with the days before that other runs know.

    Together with its own days, these are at most eight weeks.
    """
    first, subject = first_day_of(run), _subject(figure, run)
    count = min(max(0, 7 * MAX_WEEKS - len(figure["days"])), (first - date.min).days)
    before = [values.get((*subject, first - timedelta(days=number))) for number in range(count, 0, -1)]
    known = next((number for number, value in enumerate(before) if value is not None), len(before))
    return {**figure, "before": before[known:]}


# -- all runs -----------------------------------------------------------------------------------------------------------------


def _describe(run: dict[str, Any], now: datetime) -> dict[str, Any]:
    created_at = run["created_at"].to_pydatetime()
    return {
        "link": _link(run["report"], run["key"]),
        "window": f"{run['since']:%Y-%m-%d %H:%M} to {run['until']:%Y-%m-%d %H:%M}",
        "network": run["network"],
        "created_at": f"{created_at:%Y-%m-%d %H:%M}",
        "age": format_duration(now - created_at),
        "final": printing.share(run["final"]),
        "requests": printing.MISSING if pd.isna(run["requests"]) else f"{run['requests']:,}",
        "rejection_rate": printing.share(run["rejection_rate"]),
        "cost_coverage": printing.share(run["cost_coverage"]),
        "is_latest": bool(run["is_latest"]),
    }
