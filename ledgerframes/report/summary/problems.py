"""The statement on what is wrong with the data of a report."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.coverage import period_share
from ledgerframes.analysis.eras import breaks_between
from ledgerframes.analysis.groups import rows_of
from ledgerframes.engine import Query, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.frames import Frames
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize


def describe_problems(periods: Periods) -> Statement:
    """Return incomplete coverage, and the rows and values that do not count."""
    problems = list(_problems(periods.after))
    text = "None." if not problems else "Unknown, excluded or not counted:"
    return {"term": "Problems", "text": text, "details": problems}


def _breaks(frames: Frames) -> Iterator[str]:
    """Yield the eras of the network that begin in the window."""
    if frames.window is None:
        return
    for era in rows_of(breaks_between(pd.Timestamp(frames.window.since), pd.Timestamp(frames.window.until), None)):
        yield f"The era {era.name} begins on {era.at:%Y-%m-%d}, so figures of the window mix two meanings."


def _problems(frames: Frames) -> Iterator[str]:
    final = period_share(frames)
    if final < 1:
        yield f"Only {printing.share(final)} of the window is final and in the history."
    yield from _breaks(frames)
    (unknown,) = run(frames, Query("SELECT count(*) AS requests FROM requests WHERE NOT is_known", (REQUESTS,)))["requests"]
    if unknown:
        yield f"The cost of {pluralize(unknown, 'request')} is unknown."
    excluded = frames.problems
    for name, rows in excluded[excluded["table"] == "verdicts"].groupby("problem")["rows"].sum().items():
        yield f"{pluralize(rows, 'verdict')} {'is' if rows == 1 else 'are'} excluded ({name})."
    values = cost.problems(frames)
    for row in rows_of(values[values["rows"] > 0]):
        verb, reason = ("does", "it is") if row.rows == 1 else ("do", "they are")
        yield f"{pluralize(row.rows, 'value')} of {row.column} {verb} not count, because {reason} {row.problem}."
