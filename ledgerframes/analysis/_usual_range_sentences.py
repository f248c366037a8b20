"""Sentences on the usual range that the figures support."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.statistics import UsualRange, printing
from ledgerframes.statistics.usual_ranges import MAX_WEEKS, MIN_WEEKS, SHORT_HISTORY

NOUNS = {"rejection_rate": "rejection rate", "wasted_share": "wasted share", "spend": "traffic cost"}
PERIOD_NOUNS = {"1d": "day", "1h": "hour"}
# Rises of the share of one weekday that simulations found in 8 of 10 reports, by requests a week, with 4 and with 6 weeks.
FOUND_RISES = ((200_000, 20, 20), (20_000, 30, 30), (2_000, 100, 75))


def describe_usual_range(name: str, result: UsualRange, tested: pd.DataFrame, every: str) -> str:
    """Return what a report may say of the usual range of one series.

    That is one sentence per period above its limit, or that there is none. It says nothing of falls and names no cause.
    """
    noun = PERIOD_NOUNS[every]
    if result.reason == SHORT_HISTORY:
        return f"Too little history for a usual range: {MIN_WEEKS} whole weeks are needed, {result.history_weeks} are here."
    if result.reason:
        return f"No usual range: {result.reason}."
    if not np.isfinite(result.periods.upper).any():
        return f"No {noun} has a usual range: {', '.join(sorted(set(result.periods.reasons)))}."
    basis = f"the {result.history_weeks} weeks before" if result.history_weeks else "the other days of this window"
    sentences = [
        f"{_period(tested['period_start'].iloc[position], every)}: {NOUNS[name]} {_value(name, value)}, above its usual range "
        f"(up to {_value(name, upper)}, from {basis})."
        for position, (value, upper) in enumerate(zip(_values(name, tested), result.periods.upper, strict=True))
        if result.periods.is_above[position]
    ]
    if result.weeks.is_above.any():
        sentences.append(f"The {NOUNS[name]} of the whole week is above its usual range.")
    if not sentences and not result.history_weeks:
        return f"No {noun} stands out from the others of this window."
    return " ".join(sentences) or f"No {noun} is above its usual range{_found_rise(name, result, tested, every)}."


def _found_rise(name: str, result: UsualRange, tested: pd.DataFrame, every: str) -> str:
    """Return the rise of one day that would have been noticed.

    The text is empty if no simulation fits.
    """
    weekly = float(tested.loc[np.isfinite(result.periods.upper), "requests"].mean()) * 7
    rise = next((rises for requests, *rises in FOUND_RISES if weekly >= requests), None)
    if rise is None or every != "1d" or name == "spend":
        return ""
    percent = rise[0] if result.history_weeks < MAX_WEEKS else rise[1]
    return f", and a rise of about {percent} % of one day would have been noticed in 4 of 5 cases"


def _period(start: pd.Timestamp, every: str) -> str:
    return f"{start:%A %Y-%m-%d}" if every == "1d" else f"{start:%Y-%m-%d %H:%M}"


def _values(name: str, tested: pd.DataFrame) -> list[float]:
    if name == "spend":
        return [float(value) for value in tested["total_traffic_cost"]]
    part, whole = ("rejected", "requests") if name == "rejection_rate" else ("wasted_traffic_cost", "total_traffic_cost")
    return [a / b if b else float("nan") for a, b in zip(tested[part].tolist(), tested[whole].tolist(), strict=True)]


def _value(name: str, value: float) -> str:
    return f"{value:,.0f} bytes" if name == "spend" else printing.share(float(value))
