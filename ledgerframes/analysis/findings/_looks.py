"""Comparisons of each measure of each subject with the weeks before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ledgerframes.analysis.findings._weeks import Stretch, Subjects, starts_of
from ledgerframes.analysis.groups import Flags, Integers, Rates
from ledgerframes.engine.weeks import CLASSES, DAY, HOUR
from ledgerframes.frames import Frames
from ledgerframes.statistics.surprises import count_scores, rank_scores, rate_scores, surprises

REQUESTS, COST, WASTE, REJECTIONS, LATENCY, WEIGHT, RECORDS = (
    "requests",
    "cost per request",
    "wasted share",
    "rejection rate",
    "latency",
    "activity weight",
    "requests with activity",
)
NEGATIVE, EARLY, UNKNOWN = "negative costs", "verdicts before their request", "unknown costs"
UNITS = {
    REQUESTS: "requests",
    COST: "bytes",
    WASTE: "share of 1",
    REJECTIONS: "share of 1",
    LATENCY: "microseconds",
    WEIGHT: "weighted bytes",
    RECORDS: "requests",
    NEGATIVE: "requests",
    EARLY: "requests",
    UNKNOWN: "share of 1",
}
LOOKS = {
    "day": (REQUESTS, COST, WASTE, REJECTIONS, LATENCY),
    "hour": (REQUESTS, COST, WASTE, REJECTIONS, LATENCY),
    "participant": (REQUESTS, COST, WASTE, REJECTIONS, LATENCY),
    "party": (REQUESTS, COST, WASTE, REJECTIONS, LATENCY),
    # Rejected requests show no kind, so a kind has no rejections.
    "kind": (REQUESTS, COST, LATENCY),
    "confirming party": (LATENCY,),
    "app provider": (WEIGHT, RECORDS),
    "data": (NEGATIVE, EARLY, UNKNOWN),
}
PERIODS = {"day": DAY, "hour": HOUR}
MEDIAN_ERROR = 1.2533  # standard error of a median, in standard errors of a mean


@dataclass(frozen=True)
class Comparison:
    """A measure of subjects in the window, and its usual range for each.

    Attributes
    ----------
    value, before, low, high : array of float
        The measure, its center in the weeks before, and the ends of the range in which 95 % of such weeks lie.
    effect : array of float
        Bytes more than usual, missing (NaN) if they are unknown.
    p : array of float
        Missing (NaN) where it cannot be judged.
    """

    value: Rates
    before: Rates
    low: Rates
    high: Rates
    effect: Rates
    p: Rates


def compare(subjects: Subjects, stretch: Stretch, frames: Frames) -> pd.DataFrame:
    """Return one row per measure of a subject that can be judged."""
    length = PERIODS.get(subjects.kind, stretch.until - stretch.since)
    is_covered = np.broadcast_to(stretch.covers(frames, length), len(subjects))
    parts = [_rows(subjects, what, is_covered, stretch) for what in LOOKS[subjects.kind]]
    return pd.concat(parts, ignore_index=True)


def compared(subjects: Subjects, what: str, is_covered: Flags) -> Comparison:
    """Return a measure of subjects against the weeks before."""
    if what in RATES:
        hits, trials = RATES[what](subjects)
        return _rate(hits, trials, EFFECTS[what](subjects))
    if what in MEANS:
        return _median(subjects, MEANS[what], has_effect=what == COST)
    counts, units = (subjects[NAMES[what]], np.ones(len(subjects)))
    if what == WEIGHT:
        units = _unit(subjects)
    return _count(subjects, counts, units, what, is_covered)


NAMES = {REQUESTS: "requests", WEIGHT: "weight", RECORDS: "records", NEGATIVE: "negative_costs", EARLY: "early_verdicts"}
MEANS = {COST: "cost", LATENCY: "latency"}


def _wasted(subjects: Subjects) -> tuple[Rates, Rates]:
    """Return the wasted share times the requests with a cost, and the number of these."""
    trials = np.where((subjects["cost"] > 0) & (subjects["decided"] > 0), subjects["known"], 0)
    return _ratio(subjects["wasted_cost"], subjects["cost"], 0) * trials, trials


RATES: dict[str, Callable[[Subjects], tuple[Rates, Rates]]] = {
    WASTE: _wasted,
    REJECTIONS: lambda subjects: (subjects["rejected"], subjects["decided"]),
    UNKNOWN: lambda subjects: (subjects["requests"] - subjects["known"], subjects["requests"]),
}
# Bytes that one unit of a rate stands for.
EFFECTS: dict[str, Callable[[Subjects], Rates]] = {
    WASTE: lambda subjects: subjects["cost"][:, 0],
    REJECTIONS: lambda subjects: subjects["decided"][:, 0] * _ratio(subjects["wasted_cost"], subjects["rejected_known"])[:, 0],
    UNKNOWN: lambda subjects: np.full(len(subjects), np.nan),
}


# -- comparisons --------------------------------------------------------------------------------------------------------


def _count(subjects: Subjects, counts: Rates, units: Rates, what: str, is_covered: Flags) -> Comparison:
    """Return counts, or sums in units, against the mean of the weeks before."""
    scaled = counts / units[:, None]
    weeks = counts.shape[1] - 1
    scores = count_scores(scaled)
    ends = np.arange(len(subjects))
    if subjects.kind == "hour":
        runs, ends = _empty_runs(scaled, is_covered)
        scores[:, 0] = count_scores(runs)[:, 0]
    result = surprises(scores, only_rises=what in (NEGATIVE, EARLY))
    before = counts[:, 1:].mean(axis=1)
    root, half = np.sqrt(before / units), result.width * np.sqrt(1 + 1 / weeks) / 2
    low, high = (np.maximum(root + sign * half, 0) ** 2 * units for sign in (-1, 1))
    mean_cost = _ratio(subjects["cost"][:, 1:].sum(axis=1), subjects["known"][:, 1:].sum(axis=1)) if what == REQUESTS else np.nan
    if what == REQUESTS:
        mean_cost = np.where(np.isnan(mean_cost), _ratio(subjects["cost"][:, 0], subjects["known"][:, 0]), mean_cost)
    effect = (counts[:, 0] - before) * mean_cost
    if subjects.kind == "hour":
        effect = np.array([effect[start : end + 1].sum() for start, end in enumerate(ends.tolist())])
    return Comparison(counts[:, 0], before, low, high, effect, result.p)


def _rate(hits: Rates, trials: Rates, bytes_of_all: Rates) -> Comparison:
    """Return rates against the rate of the weeks before."""
    result = surprises(rate_scores(hits, trials), only_rises=True)
    rest = trials[:, 1:].sum(axis=1)
    value, before = _ratio(hits[:, 0], trials[:, 0]), _ratio(hits[:, 1:].sum(axis=1), rest)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = result.width * np.sqrt(before * (1 - before) * (1 / trials[:, 0] + 1 / rest))
    low, high = np.clip(before - half, 0, 1), np.clip(before + half, 0, 1)
    return Comparison(value, before, low, high, (value - before) * bytes_of_all, result.p)


def _median(subjects: Subjects, name: str, *, has_effect: bool) -> Comparison:
    """Return medians against those of the weeks before, by the ranks of all values."""
    classes, medians = subjects.classes[name], subjects[f"{name}_median"]
    result = surprises(rank_scores(classes), only_rises=not has_effect)
    value, before = medians[:, 0], _middle(medians[:, 1:])
    number, rest = classes[:, 0].sum(axis=1), classes[:, 1:].sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        half = result.width * MEDIAN_ERROR * _spread(classes[:, 1:].sum(axis=1)) / CLASSES * np.sqrt(1 / number + 1 / rest)
    effect = np.full(len(subjects), np.nan)
    if has_effect:
        usual = _ratio(subjects["cost"][:, 1:].sum(axis=1), subjects["known"][:, 1:].sum(axis=1))
        effect = subjects["cost"][:, 0] - subjects["known"][:, 0] * usual
    return Comparison(value, before, before * np.exp(-half), before * np.exp(half), effect, result.p)


def _middle(medians: Rates) -> Rates:
    """Return the median of the weeks that have a value, or the lower of the two in the middle."""
    ordered = np.sort(medians, axis=1)  # missing ones last
    position = np.maximum(((~np.isnan(medians)).sum(axis=1) - 1) // 2, 0)
    result: Rates = ordered[np.arange(len(medians)), position]
    return result


def _spread(classes: Rates) -> Rates:
    """Return the standard deviation of values, in classes."""
    number, position = np.maximum(classes.sum(axis=1), 1), np.arange(classes.shape[1])
    mean = classes @ position / number
    result: Rates = np.sqrt(np.maximum(classes @ position**2 / number - mean**2, 0))
    return result


def _unit(subjects: Subjects) -> Rates:
    """Return the unit of a sum of weights, by which the sum counts as a number of units."""
    weights, squares = (subjects[name].sum(axis=1) for name in ("weight", "weight_square"))
    return np.where(weights > 0, _ratio(squares, weights, 1), 1)


def _empty_runs(counts: Rates, is_covered: Flags) -> tuple[Rates, Integers]:
    """Return counts that add up each run of empty hours, and the last hour of each run.

    A longer run of empty hours is less likely. A run counts as one surprise, in its first hour.
    """
    runs, ends, is_empty = counts.copy(), np.arange(len(counts)), (counts[:, 0] == 0) & is_covered
    for hour in range(len(counts) - 2, -1, -1):
        if is_empty[hour] and is_empty[hour + 1]:
            runs[hour] += runs[hour + 1]
            ends[hour] = ends[hour + 1]
    return runs, ends


# -- rows ---------------------------------------------------------------------------------------------------------------


def _rows(subjects: Subjects, what: str, is_covered: Flags, stretch: Stretch) -> pd.DataFrame:
    """Return the subjects that can be judged, and their times."""
    comparison = compared(subjects, what, is_covered)
    since, until = np.full(len(subjects), stretch.since), np.full(len(subjects), stretch.until)
    if length := PERIODS.get(subjects.kind):
        since = starts_of(stretch, length)
        until = np.minimum(since + length, stretch.until)
    if subjects.kind == "hour" and what == REQUESTS:
        until = until[_empty_runs(subjects["requests"], is_covered)[1]]
    p = np.where(is_covered, comparison.p, np.nan)
    names = [""] * len(subjects) if subjects.kind in PERIODS else [str(name) for name in subjects.names]
    rows = pd.DataFrame(
        {
            "subject": subjects.kind,
            "name": pd.Series(names, dtype="str"),
            "what": what,
            "unit": UNITS[what],
            "value": comparison.value,
            "before": comparison.before,
            "usual_low": comparison.low,
            "usual_high": comparison.high,
            "effect": comparison.effect,
            "p": p,
            "since": since,
            "until": until,
        }
    )
    return rows[~np.isnan(p)]


def _ratio(part: Rates, whole: Rates, otherwise: float = np.nan) -> Rates:
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Rates = np.where(whole > 0, part / np.where(whole > 0, whole, 1), otherwise)
    return result
