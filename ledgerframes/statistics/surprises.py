"""Distance of the latest of several weeks from the weeks before it.

Requests are not independent: they come in clusters, and weeks differ. A score therefore has two steps. The first is the distance
of a week from all others, in standard deviations of independent requests. The second compares the distance of the latest week
with those of the weeks before, of the same subject and of similar ones. What moves every week is not a surprise.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ledgerframes.statistics.comparisons import group_against_rest
from ledgerframes.statistics.distributions import Integers, Numbers, beta_regularized, t_quantile

MIN_SCORES = 3  # of the weeks before, for a dispersion of a subject's own
MIN_VALUES = 5  # that have ranks, in one week
MIN_VALUES_BEFORE = 20
MAX_DEGREES = 1000
LEAST_DEGREES = 30  # of all subjects of a kind, of which there can be one
LEAST_P = 1e-300
Z95 = 0.975

_normal_quantile = np.vectorize(NormalDist().inv_cdf, otypes=[float])


@dataclass(frozen=True)
class Surprises:
    """Surprise of each subject's latest week.

    Attributes
    ----------
    p : array of float
        P-value, missing (NaN) where it cannot be judged.
    dispersion : array of float
        Variance of the weeks before, relative to that of independent requests.
    width : array of float
        Number of standard deviations of independent requests within which 95 % of usual weeks stay.
    """

    p: Numbers
    dispersion: Numbers
    width: Numbers


def count_scores(counts: npt.ArrayLike) -> Numbers:
    """Return the score of each week's count against the other weeks before.

    Parameters
    ----------
    counts : array of shape (subjects, weeks)
        Counts, the latest week first. They need not be integers, such as a sum in units of its usual part.

    Returns
    -------
    array of shape (subjects, weeks)
        Scores. The latest week is never among the others. It is exact for independent requests: given the total of all weeks, a
        count is binomial.
    """
    table = np.asarray(counts, dtype=float)
    others, number = _others(table), table.shape[1] - 1 - (np.arange(table.shape[1]) > 0)
    chance = np.broadcast_to(1 / (1 + number), table.shape)
    at_least = np.where(table > 0, beta_regularized(chance, np.maximum(table, LEAST_P), others + 1), 1.0)
    at_most = np.where(others > 0, beta_regularized(1 - chance, np.maximum(others, LEAST_P), table + 1), 1.0)
    return _signed_scores(at_most, at_least)


def rate_scores(hits: npt.ArrayLike, trials: npt.ArrayLike) -> Numbers:
    """Return the score of each week's rate against the other weeks before.

    It is missing (NaN) with too few trials.

    Parameters
    ----------
    hits, trials : array of shape (subjects, weeks)
        Hits among trials, the latest week first.
    """
    x, n = (np.asarray(each, dtype=float) for each in (hits, trials))
    hits_of_all, trials_of_all = x + _others(x), n + _others(n)
    scores, _ = group_against_rest(x, n, hits_of_all, trials_of_all)
    # Weeks before without any hit do not differ, so that the first hits ever can be judged.
    is_alike = (hits_of_all == 0) & (n > 0) & ~np.isnan(scores[:, :1])
    return np.where(is_alike, 0.0, scores)


def rank_scores(classes: npt.ArrayLike) -> Numbers:
    """Return the score of each week's values against those of the other weeks before.

    It is the rank sum of Wilcoxon, Mann and Whitney, so that a few values far from the others do not matter. It is missing (NaN)
    with too few values.

    Parameters
    ----------
    classes : array of shape (subjects, weeks, classes)
        Number of values in each class, in ascending order of the classes, the latest week first.
    """
    table = np.asarray(classes, dtype=float)
    total = table[:, 1:].sum(axis=1, keepdims=True)
    rest = np.concatenate([total, total - table[:, 1:]], axis=1)
    below = np.cumsum(rest, axis=2) - rest / 2
    n, m = table.sum(axis=2), rest.sum(axis=2)
    ties = table + rest
    with np.errstate(invalid="ignore", divide="ignore"):
        tied = (ties**3 - ties).sum(axis=2) / ((n + m) * (n + m - 1))
        scores = ((table * below).sum(axis=2) - n * m / 2) / np.sqrt(n * m / 12 * (n + m + 1 - tied))
    return np.where((n >= MIN_VALUES) & (m >= MIN_VALUES_BEFORE), scores, np.nan)


def surprises(scores: Numbers, *, only_rises: bool = False) -> Surprises:
    """Return how surprising the latest week of each subject is.

    The dispersion of a subject is the mean square of its scores in the weeks before, drawn to that of all subjects of the same
    kind as far as these are alike, and never less than chance alone. Student's t distribution has the rest.

    Parameters
    ----------
    scores : array of shape (subjects, weeks)
        Scores, the latest week first.
    only_rises : bool, optional
        Whether a fall does not count as a surprise (default: False).
    """
    before = scores[:, 1:]
    counts: Integers = (~np.isnan(before)).sum(axis=1)
    degrees = np.maximum(counts - 1, 0)
    squares = np.nansum(before**2, axis=1) / np.maximum(counts, 1)
    has_own = counts >= MIN_SCORES
    if not has_own.any():
        nothing = np.full(len(scores), np.nan)
        return Surprises(nothing, nothing, nothing)
    shared, shared_degrees = _shared_dispersion(squares[has_own], float(degrees[has_own].mean()))
    own = np.where(has_own, degrees, 0)
    dispersion = np.maximum(1.0, (shared_degrees * shared + own * squares) / (shared_degrees + own))
    total = np.minimum(shared_degrees + own, max(float(own.sum()), LEAST_DEGREES))
    p = t_tail(scores[:, 0] / np.sqrt(dispersion), total)
    p = p if only_rises else 2 * np.minimum(p, 1 - p)
    factors = {each: t_quantile(Z95, max(1, round(each))) for each in np.unique(total).tolist()}
    width = np.array([factors[each] for each in total.tolist()]) * np.sqrt(dispersion)
    return Surprises(np.where(np.isnan(scores[:, 0]), np.nan, p), dispersion, width)


def t_tail(t: Numbers, degrees: Numbers) -> Numbers:
    """Return the probability that a variable of Student's t distribution is at least `t`."""
    square = np.nan_to_num(t) ** 2
    half = beta_regularized(degrees / (degrees + square), degrees / 2, np.full_like(square, 0.5)) / 2
    result: Numbers = np.where(t > 0, half, 1 - half)
    return result


def _shared_dispersion(squares: Numbers, degrees: float) -> tuple[float, float]:
    """Return the dispersion that subjects share, and its degrees of freedom.

    They follow from the spread of the subjects' own dispersions, by moments: squares of `degrees` degrees of freedom spread by
    chance alone, and what they spread more is a difference between subjects, which makes the shared one count for less.
    """
    mean = float(squares.mean())
    if mean <= 0:
        return 1.0, MAX_DEGREES
    spread = float(squares.var()) / mean**2
    excess = spread * degrees - 2
    if excess <= 0:
        return max(1.0, mean), MAX_DEGREES
    shared = (4 * spread * degrees + 2 * degrees - 4) / excess
    return max(1.0, mean), min(max(shared, 0.0), MAX_DEGREES)


def _others(table: Numbers) -> Numbers:
    """Return, for each week, the sum of the weeks before the latest, without that week."""
    before = table[:, 1:].sum(axis=1, keepdims=True)
    return np.concatenate([before, before - table[:, 1:]], axis=1)


def _signed_scores(at_most: Numbers, at_least: Numbers) -> Numbers:
    """Return scores of the smaller tail, 0 where neither is below one half."""
    tail = np.clip(np.minimum(at_most, at_least), LEAST_P, 0.5)
    result: Numbers = np.where(at_least < at_most, 1, -1) * -_normal_quantile(tail)
    return result


# -- single values ------------------------------------------------------------------------------------------------------


def largest_p(excess: Numbers, count: Integers, over: Integers, before: Integers, mean_excess: Numbers) -> Numbers:
    """Return the probability that any of `count` values is as far above a limit as `excess`.

    Above the limit, logarithms of costs fall off exponentially at the slowest. The mean of the excesses of the weeks before is
    itself uncertain, which makes the tail longer.

    Parameters
    ----------
    excess : array of float
        Logarithm of a value over the limit of its kind.
    count : array of int
        Values of the kind in the latest week.
    over, before : array of int
        Values of the kind in the weeks before: those above the limit, and all.
    mean_excess : array of float
        Mean of the excesses of the weeks before.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        one = over / before * (1 + excess / (over * mean_excess)) ** -over.astype(float)
    result: Numbers = -np.expm1(count * np.log1p(-np.clip(one, 0, 1 - 1e-16)))
    return result
