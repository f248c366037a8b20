"""The difference of a percentile between two samples, with exact bootstrap interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ledgerframes.errors import UsageError
from ledgerframes.statistics.distributions import Integers, Numbers, beta_regularized
from ledgerframes.statistics.percentiles import CONFIDENCE, TOO_FEW, Percent, least_count, nearest_rank

LEAST_COUNT = 30
MIN_WEIGHT = 1e-12
SPARE = 1e-12
MAX_SPAN = 2**62


@dataclass(frozen=True)
class PercentileDifference:
    """A percentile of one sample minus that of another.

    Attributes
    ----------
    difference, low, high : int or None
        Difference and its interval, in the unit of the values. None if one sample is too small.
    reason : str
        "too few" if the difference is missing, otherwise empty.
    """

    difference: int | None
    low: int | None
    high: int | None
    reason: str = ""


def difference_of_percentiles(
    before: npt.ArrayLike, after: npt.ArrayLike, percent: Percent, *, confidence: float = CONFIDENCE
) -> PercentileDifference:
    """Return the percentile of `after` minus that of `before`, with its interval.

    Parameters
    ----------
    before, after : array of int
        Values without missing ones, in any order.
    percent : int, float, str or Fraction
        Such as 50, ``"99.9"``.
    confidence : float, optional
        Confidence of the interval (default: 0.95). For many comparisons, 1 - 0.05 / their number.

    Returns
    -------
    PercentileDifference
        Missing if a sample has less than 30 values, 72 for the 95th or 368 for the 99th percentile.

    Raises
    ------
    UsageError
        If `percent` is not between 0 and 100, or the values span more than 2**62.

    Notes
    -----
    The interval is that of the percentile bootstrap with infinitely many resamples. It needs no random number.

    Examples
    --------
    >>> difference_of_percentiles([1, 2, 3, 4, 5] * 8, [2, 3, 4, 5, 6] * 8, 50)
    PercentileDifference(difference=1, low=0, high=2, reason='')
    """
    first, second = (np.sort(np.asarray(values, dtype=np.int64)) for values in (before, after))
    if min(len(first), len(second)) < max(LEAST_COUNT, least_count(percent)):
        return PercentileDifference(None, None, None, TOO_FEW)
    ends = (first[0], second[0], first[-1], second[-1])
    if int(max(ends)) - int(min(ends)) >= MAX_SPAN:
        raise UsageError("before= and after= must span less than 2**62, got values farther apart.")
    x, y = (int(values[nearest_rank(len(values), percent) - 1]) for values in (first, second))
    offset = int(min(ends))
    weights = [_bootstrap_weights(values - offset, percent) for values in (first, second)]
    tail = (1 - confidence) / 2
    low, high = (_least_difference(*weights[0], *weights[1], share) for share in (tail, 1 - tail))
    return PercentileDifference(y - x, low, high)


def _bootstrap_weights(ordered: Integers, percent: Percent) -> tuple[Integers, Numbers]:
    """Return the values that a percentile of a resample can be, and their probabilities."""
    count = len(ordered)
    rank = nearest_rank(count, percent)
    spread = 9 * math.sqrt(rank * (count - rank + 1) / count) + 30
    first, last = max(0, math.floor(rank - spread)), min(count, math.ceil(rank + spread))
    reached = beta_regularized(np.arange(first, last + 1) / count, rank, count - rank + 1)
    weights = np.diff(reached)
    is_possible = weights > MIN_WEIGHT
    return ordered[first:last][is_possible], weights[is_possible]


def _least_difference(x: Integers, x_weights: Numbers, y: Integers, y_weights: Numbers, share: float) -> int:
    """Return the least difference y - x at which the products of the weights reach a share."""
    cumulated = np.concatenate([[0.0], np.cumsum(y_weights)])
    low, high = int(y[0] - x[-1]), int(y[-1] - x[0])
    while low < high:
        middle = (low + high) // 2
        reached = x_weights @ cumulated[np.searchsorted(y, x + middle, side="right")]
        low, high = (low, middle) if reached >= share - SPARE else (middle + 1, high)
    return low
