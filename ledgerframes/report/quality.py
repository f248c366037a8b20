"""Quality of the data of a window, for the chip below the title of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from ledgerframes.analysis import cost
from ledgerframes.analysis.coverage import period_share
from ledgerframes.analysis.eras import breaks_between
from ledgerframes.analysis.groups import iter_rows
from ledgerframes.engine import Query, run
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.frames import Frames
from ledgerframes.report.sentences import Quality
from ledgerframes.report.summary.texts import listing
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize

COUNTS = Query("SELECT count(*) AS requests, count(*) FILTER (WHERE is_known) AS known FROM requests", (REQUESTS,))


class _Part(NamedTuple):
    text: str  # empty for what a reader expects
    details: list[str]
    is_whole: bool = False


def describe_quality(frames: Frames) -> Quality:
    """Return what is known of the window of frames, and what their figures leave out."""
    parts = [_final(frames), _costs(frames), _rows(frames), _values(frames), _eras(frames)]
    return Quality(
        text=" · ".join(part.text for part in parts if part.text),
        details=[detail for part in parts for detail in part.details],
        is_whole=all(part.is_whole for part in parts),
    )


def _final(frames: Frames) -> _Part:
    share = period_share(frames)
    if share == 1:
        return _Part("", ["All of the window is final and in the history."], is_whole=True)
    text = f"{printing.share(share)} of the window"
    return _Part(f"{text} final", [f"Only {text} is final and in the history."])


def _costs(frames: Frames) -> _Part:
    counts = run(frames, COUNTS)
    (requests,), (known,) = (counts[name].tolist() for name in ("requests", "known"))
    if known == requests:
        return _Part("all costs known", [f"The cost of all {pluralize(requests, 'request')} is known."], is_whole=True)
    detail = f"The cost of {requests - known:,} of {pluralize(requests, 'request')} is unknown."
    return _Part(f"{printing.percent(known, requests)} of costs known", [detail])


def _rows(frames: Frames) -> _Part:
    excluded = frames.problems
    if excluded.empty:
        return _Part("no row left out", ["No row is left out."], is_whole=True)
    return _Part(f"{pluralize(int(excluded['rows'].sum()), 'row')} left out", [*_rows_by_problem(excluded)])


def _rows_by_problem(excluded: pd.DataFrame) -> Iterator[str]:
    for problem, of_problem in excluded.groupby("problem"):
        counts = of_problem.groupby("table")["rows"].sum()
        tables = listing([f"{count:,} of {table}" for table, count in counts.items()])
        verb = "is" if counts.sum() == 1 else "are"
        yield f"{pluralize(int(counts.sum()), 'row')} {verb} left out ({problem}): {tables}."


def _values(frames: Frames) -> _Part:
    values = cost.invalid_values(frames)
    values = values[values["rows"] > 0]
    if values.empty:
        return _Part("", [], is_whole=True)
    return _Part(f"{pluralize(int(values['rows'].sum()), 'value')} not counted", [*map(_of_value, iter_rows(values))])


def _of_value(row: Any) -> str:
    verb, reason = ("does", "it is") if row.rows == 1 else ("do", "they are")
    return f"{pluralize(row.rows, 'value')} of {row.column} {verb} not count, because {reason} {row.problem}."


def _eras(frames: Frames) -> _Part:
    """Return the eras of the network that begin in the window."""
    if frames.window is None:
        return _Part("", [], is_whole=True)
    begins = iter_rows(breaks_between(pd.Timestamp(frames.window.since), pd.Timestamp(frames.window.until), None))
    details = [*map(_of_era, begins)]
    return _Part(pluralize(len(details) + 1, "era") if details else "", details, is_whole=not details)


def _of_era(era: Any) -> str:
    return f"The era {era.name} begins on {era.at:%Y-%m-%d}, so figures of the window mix two meanings."
