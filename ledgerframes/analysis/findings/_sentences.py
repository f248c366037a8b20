"""Sentences on each finding, and on all together."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from ledgerframes.analysis.finding_names import (
    BALANCE,
    COST,
    EARLY,
    LATENCY,
    NEGATIVE,
    NOT_FINAL,
    NOT_IN_STORE,
    ONE_COST,
    RECORDS,
    REJECTIONS,
    REQUESTS,
    REWARDS,
    WASTE,
    WEIGHT,
)
from ledgerframes.analysis.findings._measures import MEASURES
from ledgerframes.analysis.findings.effects import describe_effect
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.statistics.distinct_shares import distinct_decimals
from ledgerframes.statistics.usual_ranges import DAYS, MIN_WEEKS
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.representation import capitalize, describe_day, pluralize
from ledgerframes.values.windows import iso

MISSING_TIME = "lf.reconcile.coverage({frames})"
CALLS = {**{measure.name: measure.call for measure in MEASURES}, NOT_IN_STORE: MISSING_TIME, NOT_FINAL: MISSING_TIME}
ONE_HOUR = pd.Timedelta(1, "h")
ARGUMENTS = {
    "day": ', every="1d"',
    "hour": ', every="1h"',
    "participant": ', by="participant"',
    "party": ', by="party"',
    "kind": ', by="template"',
}


def expression_of(frames: Frames, part: Frames) -> str:
    """Return an expression of the frames that the findings are about."""
    window = part.window
    if window is None or window == frames.window:
        return "frames"
    return f'frames.between("{iso(window.since)}", "{iso(window.until)}")'


def figure_of(row: Any, source: str, *, has_history: bool) -> str:
    """Return the call that shows a finding, with an expression of its frames."""
    if row.what == ONE_COST:
        return f"lf.cost.anatomy({source}, {row.name!r})"
    if row.what == BALANCE:
        weeks = "history" if has_history else "frames"
        return f"lf.cost.runway_end({weeks}, participant={row.name!r}, balance=balance)"
    if row.what == REWARDS:
        return f"rewards[rewards['round_number'] == {row.name}]"
    if row.subject == "confirming party":
        return f"lf.verdict.waited_for({source})"
    by = ARGUMENTS.get(row.subject, "")
    if row.what == WASTE and row.subject not in ("day", "hour"):
        by += ", every=None"
    if row.what == WASTE:
        by += f", history={'history' if has_history else 'frames'}"
    return CALLS[row.what].format(frames=source, by=by)


def describe(row: Any, weeks: int, days: int) -> str:
    """Return the sentence of a finding, with its value and the usual range."""
    before = f"the {_past(weeks, days)} before"
    text = _of_one_request(row, before) if row.what == ONE_COST else f"{_statement(row, before)}{describe_effect(row)}"
    return capitalize(text)


def _past(weeks: int, days: int) -> str:
    return f"{weeks} weeks" if days == DAYS else f"{weeks} stretches of {days} days"


def _time_span(hours: float) -> str:
    """Return a time in minutes, hours or days. A time that is not 0 is never shown as 0."""
    if hours < 1:
        return pluralize(math.ceil(hours * 60), "minute")
    number, unit = (hours, "hour") if hours < 48 else (hours / 24, "day")
    text = f"{number:.3g}"
    return f"{text} {unit}{'s' * (text != '1')}"


def _statement(row: Any, before: str) -> str:
    subject, value = subject_of(row), _number(row.value)
    usual = f"usually {_number(row.usual_low, math.floor)} to {_number(row.usual_high, math.ceil)}"
    if row.what == BALANCE:
        return _of_balance(row)
    if row.what == REWARDS:
        return f"{subject}: {row.broken}"
    if row.what in (NOT_IN_STORE, NOT_FINAL):
        return f"{_time_span(row.value)} of the window are {row.what}."
    if row.what == REQUESTS:
        return _of_requests(row, subject, value, usual, before)
    if row.what == COST:
        return f"{subject}: the median request costs {value} bytes, {usual}."
    if row.what == LATENCY:
        usual = f"usually {_duration(row.usual_low)} to {_duration(row.usual_high)}"
        return f"{subject}: the median latency of accepted requests is {_duration(row.value)}, {usual}."
    if row.what == WEIGHT:
        return f"{subject} earned an activity weight of {value} weighted bytes, {usual}."
    if row.what == RECORDS:
        return f"{subject} earned activity from {value} requests, {usual}."
    if row.what in (NEGATIVE, EARLY):
        return f"{value} requests have {row.what}, {usual}."
    verbs = {WASTE: "of the cost was wasted", REJECTIONS: "of the decided requests were rejected"}
    decimals = max(distinct_decimals(row.value, limit) for limit in (row.usual_low, row.usual_high))
    start = f"{printing.share(row.value, decimals)} {verbs.get(row.what, 'of the requests have no known cost')}"
    end = f"usually {printing.share(row.usual_low, decimals)} to {printing.share(row.usual_high, decimals)}"
    return f"{subject}: {start}, {end}." if row.subject != "data" else f"{start}, {end}."


def _of_balance(row: Any) -> str:
    owner = f"the balance of participant {escape_control(row.name)}"
    if not row.value:
        return f"{owner} is used up."
    return f"{owner}, {printing.size(round(row.value))}, can run out on {_time(row.until)}."


def _of_one_request(row: Any, before: str) -> str:
    """Return sentences on the cost of a request, and on its id, kind and payer."""
    cost = printing.size(round(row.value))
    payer = f"participant {escape_control(row.payer)}" if isinstance(row.payer, str) else "an unknown participant"
    median = f"{_times(row.value / row.before)} the median of its kind in {before}"
    size = printing.size(round(row.usual_high))
    is_largest = row.usual_high < row.value
    others = f"The largest of its kind cost {size}" if is_largest else f"Another of its kind cost {size}"
    names = f"Its id is {escape_control(row.name)}, its kind {escape_control(row.request_kind)}, and {payer} paid for it."
    return f"A request cost {cost} on {_time(row.since)}, {median}.{describe_effect(row)} {others} in these weeks. {names}"


def _times(multiple: float) -> str:
    """Return a multiple in words.

    >>> _times(103.54), _times(2.14)
    ('104 times', '2.1 times')
    """
    return f"{multiple:,.0f} times" if multiple >= 10 else f"{multiple:.1f} times"


def _of_requests(row: Any, subject: str, value: str, usual: str, before: str) -> str:
    if row.before == 0:
        return f"{subject} is new: {value} requests, and none in {before}."
    if row.subject == "hour" and row.until - row.since > ONE_HOUR:  # The usual range of a run is that of its first hour.
        usual += " in its first hour"
    return f"{subject} has no request, {usual}." if row.value == 0 else f"{subject} has {value} requests, {usual}."


def subject_of(row: Any) -> str:
    """Return what a finding is about, in words."""
    if row.subject == "day":
        return describe_day(row.since) if row.since == row.since.floor("D") else f"the day from {_time(row.since)}"
    if row.subject == "hour":
        is_one_day = row.since.date() == row.until.date()
        return f"the time from {_time(row.since)} to {f'{row.until:%H:%M}' if is_one_day else _time(row.until)}"
    kind = "mining round" if row.subject == "round" else row.subject
    return f"{kind} {escape_control(row.name)}"


def summary_of(count: int, looked_at: int, weeks: int, days: int, notes: list[str]) -> str:
    """Return how many figures were compared, and how many of them are unusual."""
    if weeks < MIN_WEEKS:
        needed = f"{MIN_WEEKS} whole weeks" if days == DAYS else _past(MIN_WEEKS, days)
        first = f"Too little history: {needed} before the window are needed, {weeks} are here."
        if days > DAYS:
            first += f" Choose a window of at most {DAYS} days, which is compared with weeks."
        first += f" Only what needs no history was looked at: {_count(count)}."
    else:
        first = f"{looked_at:,} figures were compared with the {_past(weeks, days)} before: {_count(count)}."
    return " ".join([first, *notes])


def _count(count: int) -> str:
    return "nothing unusual" if not count else f"{count:,} finding{'s' * (count != 1)}"


def _number(value: float, to_integer: Any = round) -> str:
    return f"{to_integer(value):,}" if math.isfinite(value) else "unknown"


def _duration(value: float) -> str:
    return printing.duration(round(value)) if math.isfinite(value) else "unknown"


def _time(time: pd.Timestamp) -> str:
    return f"{time:%Y-%m-%d %H:%M}"
