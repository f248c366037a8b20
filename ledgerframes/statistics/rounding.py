"""Rounded parts that add up to their whole."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from ledgerframes.errors import UsageError


def shares_to_100(values: Sequence[int], decimals: int = 1) -> list[Decimal]:
    """Return shares in percent that add up to exactly 100.

    Use them in a table headed "shares, rounded to add up". Elsewhere, rounded shares need not add up.

    Parameters
    ----------
    values : sequence of int
        At least 0, with a sum above 0.
    decimals : int, optional
        Decimal places (default: 1).

    Returns
    -------
    list of Decimal
        Percent, in the order of the values. The largest remainders get the steps that are missing, earlier rows first.

    Raises
    ------
    UsageError
        If a value is negative, or their sum is 0.

    Examples
    --------
    >>> [str(each) for each in shares_to_100([1, 1, 1])]
    ['33.4', '33.3', '33.3']
    """
    total = sum(values)
    if total <= 0 or min(values) < 0:
        raise UsageError("values= must be at least 0 with a sum above 0, got none or a negative value.")
    steps = largest_remainder([Fraction(value * 100 * 10**decimals, total) for value in values])
    return [Decimal(step).scaleb(-decimals) for step in steps]


def half_up(value: Fraction) -> int:
    """Return the nearest integer, rounding halves away from 0."""
    magnitude = math.floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


def largest_remainder(values: Iterable[Fraction]) -> list[int]:
    """Return integers that add up to the sum of the values, rounded half to even.

    Each value is rounded down. The largest remainders get the units that are missing, earlier values first.
    """
    exact = [Fraction(value) for value in values]
    floors = [math.floor(value) for value in exact]
    missing = round(sum(exact)) - sum(floors)
    order = sorted(range(len(exact)), key=lambda position: floors[position] - exact[position])
    for position in order[:missing]:
        floors[position] += 1
    return floors
