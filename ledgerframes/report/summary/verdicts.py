"""Statements on the rejection rate, its change, its cost, and the latency."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import cost, verdict
from ledgerframes.frames import Frames
from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.periods import Periods, Statement
from ledgerframes.report.summary.texts import rows_of
from ledgerframes.report.tables import shorten
from ledgerframes.representation import pluralize
from ledgerframes.statistics import difference_of_rates, printing

MICROSECOND = np.timedelta64(1, "us")


def describe_verdicts(periods: Periods, prices: Prices) -> list[Statement]:
    """Return the statements on verdicts."""
    (overall,) = rows_of(verdict.outcomes(periods.after))
    decided = overall.accepted + overall.rejected
    if not decided:
        return [{"term": "Rejections", "text": "No request has a decision.", "details": []}]
    return [
        {"term": "Rejections", "text": _rejections(overall, decided), "details": []},
        {"term": "Change of the rejections", "text": _change(periods, overall), "details": []},
        {"term": "Cost of the rejections", "text": _waste(periods.after, prices), "details": []},
        {"term": "Latency", "text": _latency(periods), "details": []},
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


def _change(periods: Periods, after: Any) -> str:
    if periods.before is None or periods.obstacle:
        return periods.obstacle
    (before,) = rows_of(verdict.outcomes(periods.before))
    sides = [(side.rejected, side.accepted + side.rejected) for side in (before, after)]
    if not sides[0][1]:
        return f"Not compared, because no request of the {periods.name} has a decision."
    effect = np.nanmax([1.0, before.dispersion, after.dispersion])  # requests of one participant in one hour can be alike
    difference, low, high = (float(each) for each in difference_of_rates(*sides, design_effect=effect))
    sign = "+" if difference > 0 else ""
    text = f"{sign}{printing.points(difference)} ({printing.points_interval(low, high)}), from {printing.rate(*sides[0])}"
    return f"{text} in the {periods.name}.{'' if low > 0 or high < 0 else ' Chance can explain such a change.'}"


def _waste(frames: Frames, prices: Prices) -> str:
    (total,) = rows_of(cost.wasted(frames, every=None))
    if pd.isna(total.wasted_traffic_cost):
        return "Unknown."
    number = int(total.wasted_traffic_cost)
    amount = prices.of_bytes(number)
    at_price = f", which is {amount} at the list price" if amount else ""
    text = f"{number:,} known bytes{at_price}, {printing.share(total.share)} of the known cost."
    participants = cost.wasted(frames, by="participant", every=None).dropna(subset="submitting_participant_uid")
    if participants.empty or not number:
        return text
    (worst,) = rows_of(participants.nlargest(1, "wasted_traffic_cost"))
    share = printing.percent(int(worst.wasted_traffic_cost), number)
    return f"{text} Participant {shorten(worst.submitting_participant_uid)} caused {share} of it."


def _latency(periods: Periods) -> str:
    (after,) = rows_of(verdict.latency(periods.after))
    median = _duration(after.p50)
    if median is None:
        return "Too few accepted requests for a median."
    text = f"Half of the accepted requests took at most {median}"
    if periods.before is None or periods.obstacle:
        return f"{text}."
    (before,) = rows_of(verdict.latency(periods.before))
    earlier = _duration(before.p50)
    return f"{text}, against {earlier} in the {periods.name}." if earlier else f"{text}."


def _duration(value: Any) -> str | None:
    return printing.duration(int(np.timedelta64(value) // MICROSECOND)) if value == value else None
