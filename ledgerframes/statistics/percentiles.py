"""Percentiles by nearest rank, their intervals, and the empirical distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.statistics.distributions import Integers, binomial_cdf

Percent = int | float | str | Fraction

TOO_FEW = "too few"
CONFIDENCE = 0.95
MAX_STEPS = 2_000
EVEN_STEPS = 1_000
LAST_STEPS = 50


@dataclass(frozen=True)
class Percentile:
    """A percentile with the ends of its interval, all of them values that occur.

    Attributes
    ----------
    value, low, high : int or None
        The percentile and its 95 % interval, in the unit of the values. None if the count cannot support them.
    count : int
        Number of values.
    reason : str
        "too few" if the count cannot support the interval, otherwise empty. In that case, only `min_count` gives a value.
    """

    value: int | None
    low: int | None
    high: int | None
    count: int
    reason: str = ""


@dataclass(frozen=True)
class Ranks:
    """The ranks of a percentile and of the ends of its interval, from 1.

    Attributes
    ----------
    value, low, high : int or None
        None if the count cannot support them.
    """

    value: int | None
    low: int | None
    high: int | None


def nearest_rank(count: int, percent: Percent) -> int:
    """Return the rank of a percentile among `count` sorted values, from 1."""
    return _nearest(count, _share(percent))


def _nearest(count: int, share: Fraction) -> int:
    return max(1, -(-share.numerator * count // share.denominator))


def percentile_ranks(
    count: int, percent: Percent, *, confidence: float = CONFIDENCE, design_effect: float = 1.0
) -> tuple[int | None, int | None]:
    """Return the ranks of the lower and upper end of a percentile's interval.

    The interval is free of any assumption on the distribution. It assumes independent values, or values whose clusters have
    the design effect.

    Parameters
    ----------
    count : int
        Number of values.
    percent : int, float, str or Fraction
        Such as 50, ``"99.9"``.
    confidence : float, optional
        Confidence of the interval as a share of 1 (default: 0.95).
    design_effect : float, optional
        Factor by which clusters widen the variance (default: 1). Less than 1 counts as 1.

    Returns
    -------
    tuple of (int or None, int or None)
        Ranks from 1. None where no value is low or high enough.

    Raises
    ------
    UsageError
        If `percent` is not between 0 and 100.

    Examples
    --------
    >>> percentile_ranks(86, 90)
    (72, 83)
    >>> percentile_ranks(367, 99)
    (359, None)
    """
    return _interval(count, _share(percent), confidence, design_effect)


def _interval(count: int, share: Fraction, confidence: float, design_effect: float) -> tuple[int | None, int | None]:
    low, high = _ranks(count, share, confidence)
    if design_effect <= 1:
        return low, high
    middle, factor = _nearest(count, share), math.sqrt(design_effect)
    if low is not None:
        low = math.floor(middle - (middle - low) * factor)
    if high is not None:
        high = math.ceil(middle + (high - middle) * factor)
    return (low if low is not None and low >= 1 else None, high if high is not None and high <= count else None)


def percentile(
    values: npt.ArrayLike, percent: Percent, *, design_effect: float = 1.0, min_count: int | None = None
) -> Percentile:
    """Return a percentile by nearest rank with its 95 % interval.

    Parameters
    ----------
    values : array of int
        Without missing values, in any order.
    percent : int, float, str or Fraction
        Such as 50, ``"99.9"``.
    design_effect : float, optional
        Factor by which clusters widen the variance (default: 1).
    min_count : int, optional
        Least number of values for a percentile without its interval (default: as many as the interval needs).

    Returns
    -------
    Percentile
        Without value, low and high if the count cannot support the interval: below 6 values for the median, 36 for the 90th,
        72 for the 95th and 368 for the 99th percentile.

    Raises
    ------
    UsageError
        If `percent` is not between 0 and 100.

    Notes
    -----
    The median of an even count is the lower of the two middle values.

    Examples
    --------
    >>> percentile([5, 3, 8, 1, 9, 4], 50)
    Percentile(value=4, low=1, high=9, count=6, reason='')
    >>> percentile([5, 3, 8], 50).reason
    'too few'
    >>> percentile([5, 3, 8], 50, min_count=3)
    Percentile(value=5, low=None, high=None, count=3, reason='too few')
    """
    ordered = np.sort(np.asarray(values))
    ranks = supported_ranks(len(ordered), percent, design_effect=design_effect, min_count=min_count)
    value, low, high = (None if each is None else int(ordered[each - 1]) for each in (ranks.value, ranks.low, ranks.high))
    return Percentile(value, low, high, len(ordered), TOO_FEW if low is None else "")


def supported_ranks(count: int, percent: Percent, *, design_effect: float = 1.0, min_count: int | None = None) -> Ranks:
    """Return the ranks of a percentile and its 95 % interval that the count supports."""
    return _supported(count, _share(percent), design_effect, min_count)


@lru_cache(maxsize=65_536)
def _supported(count: int, share: Fraction, design_effect: float, min_count: int | None) -> Ranks:
    low, high = _interval(count, share, CONFIDENCE, design_effect)
    has_interval, is_enough = low is not None and high is not None, min_count is None or count >= min_count
    if not count or not is_enough or (min_count is None and not has_interval):
        return Ranks(None, None, None)
    return Ranks(_nearest(count, share), low, high) if has_interval else Ranks(_nearest(count, share), None, None)


def least_count(percent: Percent) -> float:
    """Return the smallest count that supports a percentile with its interval.

    All results hide percentiles of fewer values. It is infinity for the smallest and the largest value.

    Parameters
    ----------
    percent : int, float, str or Fraction
        Such as 50, ``"99.9"``.

    Raises
    ------
    UsageError
        If `percent` is not between 0 and 100.

    Examples
    --------
    >>> [least_count(percent) for percent in (50, 90, 95, 99)]
    [6, 36, 72, 368]
    """
    share = float(_share(percent))
    if share in (0, 1):
        return math.inf
    count = math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log(max(share, 1 - share)))
    return max(count, 1)


@lru_cache(maxsize=65_536)
def _ranks(count: int, share: Fraction, confidence: float) -> tuple[int | None, int | None]:
    """Return the ranks whose tails are at most half of 1 - `confidence`."""
    tail = (1 - confidence) / 2
    steps = np.arange(0, count + 1)
    center, spread = float(share) * count, math.sqrt(count * float(share * (1 - share)))
    steps = steps[max(0, math.floor(center - 9 * spread) - 9) : math.ceil(center + 9 * spread) + 10]
    below = np.asarray(binomial_cdf(steps - 1, count, float(share)))  # P(B <= rank - 1)
    low = int(steps[below <= tail][-1]) if (below <= tail).any() else 0
    high = steps[below >= 1 - tail]
    return low or None, int(high[0]) if len(high) else None


def _share(percent: Percent) -> Fraction:
    """Return a percent as an exact share. Floats have the value that they print."""
    try:
        share = Fraction(str(percent)) / 100
    except ValueError:
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise UsageError(f"percent= must be between 0 and 100, got {percent!r}.")
    return share


# -- empirical distribution -----------------------------------------------------------------------------------------------


def ecdf(values: npt.ArrayLike, total: int) -> pd.DataFrame:
    """Return the share of all requests that is decided within each latency.

    Requests that timed out are in the total but not in the values, so the curve ends below 1.

    Parameters
    ----------
    values : array of int
        Values of the decided requests, in any order.
    total : int
        Number of all requests, at least that of the values.

    Returns
    -------
    DataFrame
        One row per different value, sorted by value: ``value``, and ``share`` of the total with at most this value. Of more
        than 2,000 different values, 1,000 at even ranks and the last 50.

    Raises
    ------
    UsageError
        If the total is less than the number of values.

    Examples
    --------
    >>> ecdf([3, 1, 1, 9], 5)["share"].tolist()
    [0.4, 0.6, 0.8]
    """
    distinct, counts = np.unique(np.asarray(values, dtype=np.int64), return_counts=True)
    reached = np.cumsum(counts)
    if len(reached) and total < reached[-1]:
        raise UsageError(f"total= must be at least the number of values, {reached[-1]:,}, got {total!r}.")
    positions = _visible_steps(len(distinct))
    return pd.DataFrame({"value": distinct[positions], "share": reached[positions] / max(total, 1)})


def _visible_steps(count: int) -> Integers:
    if count <= MAX_STEPS:
        return np.arange(count, dtype=np.int64)
    even = np.linspace(0, count - 1, EVEN_STEPS).round().astype(np.int64)
    result: Integers = np.union1d(even, np.arange(count - LAST_STEPS, count))
    return result
