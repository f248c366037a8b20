"""The usual range of the sum of a week, from the sums of the weeks before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from ledgerframes.statistics.distributions import t_quantile
from ledgerframes.statistics.usual_ranges import MAX_WEEKS, MIN_WEEKS, WEEK_LEVEL


def usual_sum(weeks: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of the usual range of a week's sum.

    Parameters
    ----------
    weeks : sequence of float
        Sums of the whole weeks before it, oldest first. The latest 6 count.

    Returns
    -------
    tuple of (float, float) or None
        None with less than 4 weeks, or with a sum that is not above 0.

    Notes
    -----
    Large and small sums vary by the same factors, so their logarithms are compared. Each end leaves out one week in 200.

    Examples
    --------
    >>> low, high = usual_sum([90, 100, 110, 100])
    >>> round(low), round(high)
    (58, 170)
    >>> usual_sum([90, 100, 110]) is None
    True
    """
    past = weeks[-MAX_WEEKS:]
    if len(past) < MIN_WEEKS or min(past) <= 0:
        return None
    logarithms = [math.log(total) for total in past]
    center = fmean(logarithms)
    half = t_quantile(1 - WEEK_LEVEL, len(past) - 1) * stdev(logarithms) * math.sqrt(1 + 1 / len(past))
    return math.exp(center - half), math.exp(center + half)
