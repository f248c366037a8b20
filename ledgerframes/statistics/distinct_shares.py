"""Shares next to each other that must not read the same."""

from __future__ import annotations

import math
from fractions import Fraction

from ledgerframes.statistics.printing import share

__all__ = ["distinct_decimals"]

MAX_DECIMALS = 6  # of a percentage next to one that is almost the same


def distinct_decimals(*values: Fraction | float) -> int:
    """Return the fewest decimal places that tell shares apart as percentages.

    Otherwise, a share could seem to be its own limit. Shares that differ by less than a millionth of a percent read the same.

    Parameters
    ----------
    *values : Fraction or float
        Shares of 1. NaN does not count.

    Examples
    --------
    >>> distinct_decimals(0.2004, 0.2), share(0.2004, 2), distinct_decimals(0.3, 0.2), distinct_decimals(0.2, 0.2)
    (2, '20.04 %', 1, 1)
    """
    known = {value for value in values if not math.isnan(value)}
    return next(
        (each for each in range(1, MAX_DECIMALS) if len({share(value, each) for value in known}) == len(known)), MAX_DECIMALS
    )
