"""Concentration of a total on few members, exact until the last step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import pandas as pd

from ledgerframes.errors import UsageError

Values = pd.Series | Mapping[Hashable, int] | Iterable[int]


@dataclass(frozen=True)
class Concentration:
    """Concentration of a total on its members.

    Attributes
    ----------
    gini : float or None
        Gini coefficient of the population, from 0 (all equal) to (n - 1) / n. None without a total.
    hhi : float or None
        Sum of the squared shares, from 1 / n to 1. None without a total.
    members : int
        Members with a known value, also with 0.
    zeros, missing : int
        Members with 0, and with a missing value. A missing value counts nowhere else.
    total : int
        Sum of the values.
    """

    gini: float | None
    hhi: float | None
    members: int
    zeros: int
    missing: int
    total: int


@dataclass(frozen=True)
class TopMembers:
    """The largest members, ties included.

    Attributes
    ----------
    count : int
        Number of members, more than was requested if several equal the last.
    share : float
        Their share of the total.
    """

    count: int
    share: float


def concentration(values: Values) -> Concentration:
    """Return the Gini coefficient and the Herfindahl-Hirschman index.

    Parameters
    ----------
    values : Series, mapping or iterable of int
        Values of at least 0. Missing values are counted and not used.

    Raises
    ------
    UsageError
        If a value is negative, with its key.

    Examples
    --------
    >>> shares = concentration({"alice": 100, "bob": 300, "carol": 600})
    >>> round(shares.gini, 4), round(shares.hhi, 4)
    (0.3333, 0.46)
    """
    ordered, missing = _ascending(values)
    count, total = len(ordered), sum(ordered)
    zeros = sum(value == 0 for value in ordered)
    if not total:
        return Concentration(None, None, count, zeros, missing, total)
    weighted = sum((2 * rank - count - 1) * value for rank, value in enumerate(ordered, 1))
    squares = sum(value * value for value in ordered)
    gini, hhi = float(Fraction(weighted, count * total)), float(Fraction(squares, total * total))
    return Concentration(gini, hhi, count, zeros, missing, total)


def top(values: Values, count: int) -> TopMembers | None:
    """Return the share of the largest members, with all that equal the last of them.

    Parameters
    ----------
    values : Series, mapping or iterable of int
        Values of at least 0.
    count : int
        Number of members, at least 1. All members if there are fewer.

    Returns
    -------
    TopMembers or None
        None without a total.

    Raises
    ------
    UsageError
        If a value is negative, or the count is less than 1.

    Examples
    --------
    >>> top([5, 4, 3, 3, 3, 2], 3)
    TopMembers(count=5, share=0.9)
    """
    if count < 1:
        raise UsageError(f"count= must be at least 1, got {count!r}.")
    ordered, _ = _ascending(values)
    total = sum(ordered)
    if not total:
        return None
    least = ordered[-min(count, len(ordered))]
    members = [value for value in ordered if value >= least]
    return TopMembers(len(members), float(Fraction(sum(members), total)))


def lorenz(values: Values) -> pd.DataFrame:
    """Return the points of the Lorenz curve.

    Parameters
    ----------
    values : Series, mapping or iterable of int
        Values of at least 0.

    Returns
    -------
    DataFrame
        One row per member and one for the start, sorted by value: ``cumulative_members`` and ``cumulative_share``, from
        (0, 0) to exactly (1, 1). Empty without a total.

    Raises
    ------
    UsageError
        If a value is negative, with its key.

    Examples
    --------
    >>> lorenz([3, 1, 6])["cumulative_share"].tolist()
    [0.0, 0.1, 0.4, 1.0]
    """
    ordered, _ = _ascending(values)
    total, reached = sum(ordered), 0
    points = [(0.0, 0.0)] if total else []
    for rank, value in enumerate(ordered if total else (), 1):
        reached += value
        points.append((rank / len(ordered), float(Fraction(reached, total))))
    return pd.DataFrame(points, columns=["cumulative_members", "cumulative_share"], dtype="float64")


def _ascending(values: Values) -> tuple[list[int], int]:
    """Return the known values as integers in ascending order, and the number of missing ones."""
    if isinstance(values, pd.Series):
        pairs = list(zip(values.index, values.tolist(), strict=True))
    else:
        pairs = list(values.items()) if isinstance(values, Mapping) else list(enumerate(values))
    known = [(key, int(value)) for key, value in pairs if not pd.isna(value)]
    for key, value in known:
        if value < 0:
            raise UsageError(f"values= must be at least 0, got {value:,} for {key!r}.")
    return sorted(value for _, value in known), len(pairs) - len(known)
