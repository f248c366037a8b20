"""Comparisons of counts, rates and medians of subjects with the weeks before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ledgerframes.analysis.findings._weeks import Subjects
from ledgerframes.analysis.groups import Flags, Integers, Rates
from ledgerframes.engine.weeks import CLASSES
from ledgerframes.statistics.surprises import count_scores, rank_scores, rate_scores, surprises

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


def compare_counts(
    subjects: Subjects,
    name: str,
    is_covered: Flags,
    *,
    units: Rates | None = None,
    has_cost: bool = False,
    only_rises: bool = False,
) -> Comparison:
    """Return counts, or sums in units, against the mean of the weeks before.

    With `has_cost`, each of what is counted costs bytes. With `only_rises`, fewer are not unusual.
    """
    counts = subjects[name]
    units = np.ones(len(subjects)) if units is None else units
    scaled = counts / units[:, None]
    weeks = counts.shape[1] - 1
    scores = count_scores(scaled)
    ends = np.arange(len(subjects))
    if subjects.kind == "hour":
        runs, ends = empty_runs(scaled, is_covered)
        scores[:, 0] = count_scores(runs)[:, 0]
    result = surprises(scores, only_rises=only_rises)
    before = counts[:, 1:].mean(axis=1)
    root, half = np.sqrt(before / units), result.width * np.sqrt(1 + 1 / weeks) / 2
    low, high = (np.maximum(root + sign * half, 0) ** 2 * units for sign in (-1, 1))
    effect = (counts[:, 0] - before) * (_mean_costs(subjects) if has_cost else np.nan)
    if subjects.kind == "hour":
        effect = np.array([effect[start : end + 1].sum() for start, end in enumerate(ends.tolist())])
    return Comparison(counts[:, 0], before, low, high, effect, result.p)


def compare_rates(hits: Rates, trials: Rates, bytes_of_all: Rates) -> Comparison:
    """Return rates against the rate of the weeks before."""
    result = surprises(rate_scores(hits, trials), only_rises=True)
    rest = trials[:, 1:].sum(axis=1)
    value, before = ratio_of(hits[:, 0], trials[:, 0]), ratio_of(hits[:, 1:].sum(axis=1), rest)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = result.width * np.sqrt(before * (1 - before) * (1 / trials[:, 0] + 1 / rest))
    low, high = np.clip(before - half, 0, 1), np.clip(before + half, 0, 1)
    return Comparison(value, before, low, high, (value - before) * bytes_of_all, result.p)


def compare_medians(subjects: Subjects, name: str, *, has_effect: bool) -> Comparison:
    """Return medians against those of the weeks before, by the ranks of all values."""
    classes, medians = subjects.classes[name], subjects[f"{name}_median"]
    result = surprises(rank_scores(classes), only_rises=not has_effect)
    value, before = medians[:, 0], _middle(medians[:, 1:])
    number, rest = classes[:, 0].sum(axis=1), classes[:, 1:].sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        half = result.width * MEDIAN_ERROR * _spread(classes[:, 1:].sum(axis=1)) / CLASSES * np.sqrt(1 / number + 1 / rest)
    effect = np.full(len(subjects), np.nan)
    if has_effect:
        usual = ratio_of(subjects["cost"][:, 1:].sum(axis=1), subjects["known"][:, 1:].sum(axis=1))
        effect = subjects["cost"][:, 0] - subjects["known"][:, 0] * usual
    return Comparison(value, before, before * np.exp(-half), before * np.exp(half), effect, result.p)


def _mean_costs(subjects: Subjects) -> Rates:
    """Return the mean cost of a request in the weeks before.

    If they have no known cost, it is that of the window.
    """
    before = ratio_of(subjects["cost"][:, 1:].sum(axis=1), subjects["known"][:, 1:].sum(axis=1))
    return np.where(np.isnan(before), ratio_of(subjects["cost"][:, 0], subjects["known"][:, 0]), before)


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


def empty_runs(counts: Rates, is_covered: Flags) -> tuple[Rates, Integers]:
    """Return counts that add up each run of empty hours, and the last hour of each run.

    A longer run of empty hours is less likely. A run counts as one surprise, in its first hour.
    """
    runs, ends, is_empty = counts.copy(), np.arange(len(counts)), (counts[:, 0] == 0) & is_covered
    for hour in range(len(counts) - 2, -1, -1):
        if is_empty[hour] and is_empty[hour + 1]:
            runs[hour] += runs[hour + 1]
            ends[hour] = ends[hour + 1]
    return runs, ends


def ratio_of(part: Rates, whole: Rates, otherwise: float = np.nan) -> Rates:
    """Return a part over the whole, or another value where that is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Rates = np.where(whole > 0, part / np.where(whole > 0, whole, 1), otherwise)
    return result
