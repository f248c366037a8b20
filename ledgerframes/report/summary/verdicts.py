"""Statements on the rejection rate, its change, its cost, and the latency."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import cost, verdict
from ledgerframes.analysis.groups import is_true, iter_rows
from ledgerframes.frames import Frames
from ledgerframes.report.cells import shorten
from ledgerframes.report.key_figure import LATENCY, WASTED
from ledgerframes.report.prices import Prices
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.texts import listing
from ledgerframes.statistics import printing
from ledgerframes.statistics.rates import difference_of_rates
from ledgerframes.texts.representation import describe_day, pluralize

MAX_NAMES, MAX_PARTIES = 5, 2
MICROSECOND = np.timedelta64(1, "us")


def describe_verdicts(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on verdicts."""
    overall = periods.outcomes
    decided = overall.accepted + overall.rejected
    if not decided:
        return [{"term": "Rejections", "text": "No request has a decision.", "details": []}]
    days = verdict.outcomes(periods.after, every="1d")
    change, without_days = _change(periods, overall, days)
    details = [_who_differs(periods.after), _which_days(days)]
    return [
        {"term": "Rejections", "text": _rejections(overall, decided), "details": [each for each in details if each]},
        {"term": "Change of the rejections", "text": change, "details": without_days},
        {
            "term": "Cost of the rejections",
            "text": _waste(periods.after, prices),
            "details": [],
            "key_figure": WASTED,
        },
        {"term": "Latency", "text": _latency(periods), "details": [], "key_figure": LATENCY},
        *_slow_parties(periods.after),
    ]


def _rejections(overall: Any, decided: int) -> str:
    decimals = printing.rate_decimals(decided)
    rate = f"{printing.percent(overall.rejected, decided, decimals)} ({printing.interval(overall.low, overall.high, decimals)})"
    timeouts = f" {_timeouts(overall)}" if overall.rejected else ""
    return f"{overall.rejected:,} of {pluralize(decided, 'decided request')}, {rate}.{timeouts}"


def _timeouts(overall: Any) -> str:
    if pd.isna(overall.timeouts):
        return "Timeouts are not named, because the limit of this network may not be 30 s."
    return f"{overall.timeouts:,} of them timed out."


# -- who and when ---------------------------------------------------------------------------------------------------------


def _who_differs(frames: Frames) -> str:
    """Return the participants whose own rate differs from that of the others."""
    rows = verdict.outcomes(frames, by="participant").dropna(subset="submitting_participant_uid")
    if len(rows) < 2:
        return ""
    judged = int(rows["differs"].notna().sum())
    if not judged:
        return "No participant has enough requests to be told from the others."
    differing = rows[is_true(rows["differs"])].sort_values(["p_holm", "submitting_participant_uid"])
    subject = f"{pluralize(judged, 'participant')} with enough requests"
    if differing.empty:
        return f"Of {subject}, none can be told from the others."
    first = iter_rows(differing.head(MAX_NAMES))
    names = [f"{shorten(row.submitting_participant_uid)} {_against_the_rest(row, rows)}" for row in first]
    more = [f"{len(differing) - MAX_NAMES:,} more"] if len(differing) > MAX_NAMES else []
    verb = "differs" if len(differing) == 1 else "differ"
    return f"Of {subject}, {len(differing):,} {verb} from the others: {listing([*names, *more])}."


def _which_days(days: pd.DataFrame) -> str:
    """Return the days whose rate differs from that of the other days of the window."""
    differing = iter_rows(days[is_true(days["differs"])])
    texts = [
        f"{describe_day(row.period_start)} differs from the other days: {_against_the_rest(row, days)}." for row in differing
    ]
    return " ".join(texts)


def _against_the_rest(row: Any, rows: pd.DataFrame) -> str:
    """Return the rate of a row, and the rate of all others together."""
    trials, rejected = row.accepted + row.rejected, int(rows["rejected"].sum()) - row.rejected
    rest = int((rows["accepted"] + rows["rejected"]).sum()) - trials
    others = printing.percent(rejected, rest, printing.rate_decimals(rest))
    return f"{printing.rate(row.rejected, trials)} against {others} of the others"


# -- change against the period before ---------------------------------------------------------------------------------------


def _change(periods: Periods, after: Any, days: pd.DataFrame) -> tuple[str, list[str]]:
    """Return the change of the rate, with and without the days that differ in its direction."""
    if periods.before is None or periods.obstacle:
        return periods.obstacle, []
    before = periods.outcomes_before
    first, second = ((side.rejected, side.accepted + side.rejected) for side in (before, after))
    if not first[1]:
        return f"Not compared, because no request of the {periods.name} has a decision.", []
    effect = design_effect(periods)
    difference, explanation = _difference(first, second, effect)
    text = f"{difference}, from {printing.rate(*first)} in the {periods.name}.{explanation}"
    has_risen = Fraction(*second) > Fraction(*first)
    days = days[is_true(days["differs"]) & ((days["difference"] > 0) == has_risen)]
    rest = second[0] - int(days["rejected"].sum()), second[1] - int((days["accepted"] + days["rejected"]).sum())
    if days.empty or not rest[1]:
        return text, []
    names = listing([*map(describe_day, days["period_start"])])
    difference, explanation = _difference(first, rest, effect)
    return text, [f"Without {names}: {difference}.{explanation}"]


def design_effect(periods: Periods) -> float:
    """Return the design effect of both periods.

    Requests of one participant in one hour can be alike.
    """
    return float(np.nanmax([1.0, periods.outcomes_before.dispersion, periods.outcomes.dispersion]))


def _difference(before: tuple[int, int], after: tuple[int, int], effect: float) -> tuple[str, str]:
    """Return the difference of two rates with its interval, and whether chance can explain it."""
    difference, low, high = (float(each) for each in difference_of_rates(before, after, design_effect=effect))
    sign = "+" if difference > 0 else ""
    explanation = "" if low > 0 or high < 0 else " Chance can explain such a change."
    return f"{sign}{printing.points(difference)} ({printing.points_interval(low, high)})", explanation


# -- cost and latency -------------------------------------------------------------------------------------------------------


def _slow_parties(frames: Frames) -> list[Statement]:
    """Return the statement on parties whose requests are slow more often, none without any."""
    rows = verdict.waited_for(frames, accept_survivorship=True)
    slower = rows[is_true(rows["differs"]) & (rows["difference"] > 0)]
    if slower.empty:
        return []
    texts = [
        f"{printing.rate(int(row.slow), int(row.required))} of the requests that need {shorten(row.party)} to confirm were slow, "
        f"against {printing.share(row.slow_rate - row.difference)} of those that do not name it."
        for row in iter_rows(slower.head(MAX_PARTIES))
    ]
    more = f" {len(slower) - MAX_PARTIES:,} more parties differ." if len(slower) > MAX_PARTIES else ""
    return [{"term": "Slow requests", "text": f"{' '.join(texts)}{more}", "details": []}]


def _waste(frames: Frames, prices: Prices) -> str:
    (total,) = iter_rows(cost.wasted(frames, every=None))
    if pd.isna(total.wasted_traffic_cost):
        return "Unknown."
    number = int(total.wasted_traffic_cost)
    amount = prices.of_bytes(number)
    at_price = f", which is {amount} at the list price" if amount else ""
    return f"{printing.size(number)}{at_price}, {printing.share(total.share)} of the known cost."


def _latency(periods: Periods) -> str:
    median = _duration(periods.latency.p50)
    if median is None:
        return "Too few accepted requests for a median."
    text = f"Half of the accepted requests took at most {median}"
    if periods.before is None or periods.obstacle:
        return f"{text}."
    earlier = _duration(periods.latency_before.p50)
    return f"{text}, against {earlier} in the {periods.name}." if earlier else f"{text}."


def _duration(value: Any) -> str | None:
    microseconds = microseconds_of(value)
    return None if microseconds is None else printing.duration(microseconds)


def microseconds_of(value: Any) -> int | None:
    """Return a duration in microseconds, None if it is missing."""
    return None if pd.isna(value) else int(np.timedelta64(value) // MICROSECOND)
