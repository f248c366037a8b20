"""Rates with intervals, and the effect of clusters on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.statistics.distributions import Z95, Numbers


class Interval(NamedTuple):
    """Lower and upper ends of the 95 % intervals, as arrays of shares."""

    low: Numbers
    high: Numbers


class Difference(NamedTuple):
    """Differences with the lower and upper ends of their 95 % intervals, as arrays of shares."""

    difference: Numbers
    low: Numbers
    high: Numbers


def wilson(hits: npt.ArrayLike, trials: npt.ArrayLike, *, design_effect: npt.ArrayLike = 1.0) -> Interval:
    """Return the 95 % Wilson interval of each rate.

    Parameters
    ----------
    hits, trials : int or array of int
        Hits among trials.
    design_effect : float or array of float, optional
        Factor by which clusters widen the variance (default: 1). Less than 1 counts as 1.

    Returns
    -------
    Interval
        ``low`` and ``high``, each with one share per rate. Missing (NaN) without trials.

    Raises
    ------
    UsageError
        If there are more hits than trials, or less than 0.

    Examples
    --------
    >>> low, high = wilson(14, 100)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0853, 0.2214)
    """
    x, n = _numbers(hits, trials)
    effect = np.maximum(np.asarray(design_effect, dtype=float), 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate, number = x / n, n / effect
        center = (rate + Z95**2 / (2 * number)) / (1 + Z95**2 / number)
        half = Z95 / (1 + Z95**2 / number) * np.sqrt(rate * (1 - rate) / number + Z95**2 / (4 * number**2))
    # At a rate of 0 or 1 the interval ends exactly there, which floats would miss by a hair.
    low = np.where(x == 0, 0.0, np.clip(np.minimum(center - half, rate), 0, 1))
    high = np.where(x == n, 1.0, np.clip(np.maximum(center + half, rate), 0, 1))
    return Interval(np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan))


def difference_of_rates(
    first: tuple[npt.ArrayLike, npt.ArrayLike],
    second: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    design_effect: npt.ArrayLike = 1.0,
) -> Difference:
    """Return second rate minus first rate, with Newcombe's hybrid score interval.

    Use it for two rates that were chosen before their values were known. For all groups of a result, use
    :func:`ledgerframes.statistics.comparisons.compare_groups`.

    Parameters
    ----------
    first, second : tuple of (int or array, int or array)
        Hits and trials.
    design_effect : float, optional
        Factor by which clusters widen the variance (default: 1).

    Returns
    -------
    Difference
        ``difference``, ``low`` and ``high`` as shares of 1. Missing (NaN) without trials.

    Raises
    ------
    UsageError
        If there are more hits than trials, or less than 0.

    Examples
    --------
    >>> change = difference_of_rates((48, 80), (56, 70))
    >>> [round(float(share), 4) for share in change]
    [0.2, 0.0524, 0.3339]
    """
    (x1, n1), (x2, n2) = _numbers(*first), _numbers(*second)
    with np.errstate(invalid="ignore", divide="ignore"):
        p1, p2 = x1 / n1, x2 / n2
    low1, high1 = wilson(x1, n1, design_effect=design_effect)
    low2, high2 = wilson(x2, n2, design_effect=design_effect)
    difference = p2 - p1
    low = difference - np.sqrt((p2 - low2) ** 2 + (high1 - p1) ** 2)
    high = difference + np.sqrt((high2 - p2) ** 2 + (p1 - low1) ** 2)
    return Difference(np.asarray(difference), np.asarray(low), np.asarray(high))


def design_effect(groups: npt.ArrayLike, hits: npt.ArrayLike, trials: npt.ArrayLike) -> float | None:
    """Return the factor by which clusters widen the variance of a rate.

    Parameters
    ----------
    groups : array
        For each cluster, its group, such as the validator.
    hits, trials : array of int
        Hits among trials of each cluster, such as the requests of one validator in one hour.

    Returns
    -------
    float or None
        At least 1. None, for an unknown design effect, if no group has two clusters and a rate between 0 and 1.

    Notes
    -----
    Differences between groups do not count. They are real, not noise.

    Examples
    --------
    >>> design_effect(["a", "a", "a"], [1, 1, 1], [10, 10, 10])
    1.0
    >>> design_effect(["a"], [3], [10]) is None
    True
    """
    clusters = pd.DataFrame({"group": np.asarray(groups), "x": np.asarray(hits, float), "n": np.asarray(trials, float)})
    clusters = clusters[clusters["n"] > 0]
    by_group = clusters.groupby("group", sort=False)
    number, total = by_group["n"].transform("size"), by_group["n"].transform("sum")
    rate = by_group["x"].transform("sum") / total
    is_used = (number >= 2) & (rate > 0) & (rate < 1)
    x, n, p = (values[is_used].to_numpy() for values in (clusters["x"], clusters["n"], rate))
    expected = (n * p * (1 - p) * (1 - n / total[is_used].to_numpy())).sum()
    return max(1.0, float(((x - n * p) ** 2).sum() / expected)) if len(n) else None


def _numbers(hits: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    x, n = np.asarray(hits, dtype=float), np.asarray(trials, dtype=float)
    if np.any(x < 0) or np.any(x > n):
        raise UsageError("hits= must be between 0 and trials=, got a rate outside of 0 to 1.")
    return x, n
