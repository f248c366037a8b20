"""Time until a traffic balance is used up, if the coming weeks are like the last ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from statistics import stdev

from ledgerframes.errors import UsageError
from ledgerframes.statistics.distributions import t_quantile
from ledgerframes.statistics.usual_ranges import MAX_WEEKS, MIN_WEEKS, SHORT_HISTORY
from ledgerframes.values.checks import require_integer

HOURS_PER_WEEK = 168
MAX_HOURS = 366 * 24
BAND = 0.90

Weeks = Sequence[Sequence[int]]


@dataclass(frozen=True)
class TopUp:
    """A rule for purchases.

    At the end of an hour, it buys until the balance is back at a level.

    Attributes
    ----------
    below : int
        Level of the balance below which the rule buys, at least 0 [bytes].
    amount : int
        Size of one purchase, at least 1 [bytes]. Purchases are whole.

    Raises
    ------
    UsageError
        If `below` or `amount` is not such an integer.
    """

    below: int
    amount: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", require_integer("below", self.below, 0))
        object.__setattr__(self, "amount", require_integer("amount", self.amount, 1))

    def apply(self, balance: int, scale: int = 1) -> int:
        """Return the balance after the purchases, with all bytes times `scale`."""
        missing = self.below * scale - balance
        return balance if missing <= 0 else balance - (-missing // (self.amount * scale)) * self.amount * scale


@dataclass(frozen=True)
class Runway:
    """Hours until the balance is below 0, on three paths.

    Attributes
    ----------
    high, middle, low : int or None
        Hours at a high, mean and low burn: the earliest, usual and latest end. None if not within a year.
    factor : float or None
        Factor between the burns, which cover 4 of 5 cases. None without a band.
    weeks : int
        Number of weeks of history.
    reason : str
        Reason if nothing is known, otherwise empty.
    """

    high: int | None
    middle: int | None
    low: int | None
    factor: float | None
    weeks: int
    reason: str = ""


def runway(history: Weeks, balance: int, *, start: int = 0, free_per_hour: int = 0, top_up: TopUp | None = None) -> Runway:
    """Return the hours until a traffic balance is used up.

    Parameters
    ----------
    history : sequence of sequences of int
        Burn in the 168 hours of each whole week before, from Monday, oldest week first [bytes]. The latest 6 weeks count.
    balance : int
        Balance at the start [bytes].
    start : int, optional
        Hour of the week of the start (default: 0).
    free_per_hour : int, optional
        Free rate, which is not carried to later hours [bytes] (default: 0).
    top_up : TopUp, optional
        Rule for purchases.

    Returns
    -------
    Runway
        With less than 4 weeks, a reason only. With a week without any burn, the middle path only.

    Raises
    ------
    UsageError
        If a week does not have 168 hours.

    Examples
    --------
    >>> weeks = [[100] * 168, [110] * 168, [90] * 168, [100] * 168]
    >>> found = runway(weeks, 100_000)
    >>> found.high, found.middle, found.low
    (860, 1000, 1161)
    """
    weeks = _whole_weeks(history)
    if len(weeks) < MIN_WEEKS:
        return Runway(None, None, None, None, len(weeks), SHORT_HISTORY)
    factor = _band_factor(weeks)
    paths = _paths(weeks, factor, balance, start, free_per_hour, top_up)
    hours = {name: _hours_until_dry(path) for name, path in paths.items()}
    return Runway(hours.get("high"), hours["middle"], hours.get("low"), factor, len(weeks))


def balances(
    history: Weeks, balance: int, hours: int, *, start: int = 0, free_per_hour: int = 0, top_up: TopUp | None = None
) -> dict[str, list[int]]:
    """Return the balance at the end of each hour, on the paths of :func:`runway`.

    Parameters
    ----------
    history, balance, start, free_per_hour, top_up
        Those of :func:`runway`.
    hours : int
        Number of hours.

    Returns
    -------
    dict of str to list of int
        Balances of the paths ``high``, ``middle`` and ``low`` burn, rounded down [bytes]. Without a band ``middle`` only, and
        empty with less than 4 weeks.

    Raises
    ------
    UsageError
        If a week does not have 168 hours.

    Examples
    --------
    >>> balances([[100] * 168] * 4, 250, 3)
    {'high': [150, 50, -50], 'middle': [150, 50, -50], 'low': [150, 50, -50]}
    """
    weeks = _whole_weeks(history)
    if len(weeks) < MIN_WEEKS:
        return {}
    paths = _paths(weeks, _band_factor(weeks), balance, start, free_per_hour, top_up)
    return {name: list(islice(path, hours)) for name, path in paths.items()}


def safe_interval(hourly: Sequence[int | Fraction], amount: int, *, factor: float = 1.0, free_per_hour: int = 0) -> int:
    """Return the longest interval between purchases that one purchase always covers.

    Parameters
    ----------
    hourly : sequence of int or Fraction
        Mean burn of the 168 hours of the week, from Monday [bytes].
    amount : int
        Size of one purchase [bytes].
    factor : float, optional
        Factor of a high burn (default: 1).
    free_per_hour : int, optional
        Free rate, which is not carried to later hours [bytes] (default: 0).

    Returns
    -------
    int
        Hours, from 0 (an hour can exceed one purchase) to 168.

    Raises
    ------
    UsageError
        If there are not 168 hours.

    Examples
    --------
    >>> safe_interval([100] * 168, 2_650)
    26
    """
    _check_week(hourly)
    burns = [max(Fraction(0), Fraction(each) * Fraction(factor) - free_per_hour) for each in hourly]
    reached = [Fraction(0)]
    for burn in burns * 2:
        reached.append(reached[-1] + burn)
    for hours in range(1, HOURS_PER_WEEK + 1):
        if max(reached[first + hours] - reached[first] for first in range(HOURS_PER_WEEK)) > amount:
            return hours - 1
    return HOURS_PER_WEEK


def silent_hours(history: Weeks, balance: int, top_up: TopUp | None = None, *, free_per_hour: int = 0) -> int:
    """Return the hours of the past weeks in which a rule would have left the balance below 0.

    Parameters
    ----------
    history : sequence of sequences of int
        Burn of the 168 hours of each week, oldest first [bytes].
    balance : int
        Balance at the start [bytes].
    top_up : TopUp, optional
        Rule for purchases.
    free_per_hour : int, optional
        Free rate, which is not carried to later hours [bytes] (default: 0).

    Raises
    ------
    UsageError
        If a week does not have 168 hours.

    Examples
    --------
    >>> silent_hours([[100] * 168], 16_750, TopUp(below=0, amount=1_000))
    1
    """
    hours = 0
    for week in history:
        _check_week(week)
        for burn in week:
            balance -= max(0, int(burn) - free_per_hour)
            hours += balance < 0
            balance = top_up.apply(balance) if top_up else balance
    return hours


def _whole_weeks(history: Weeks) -> list[list[int]]:
    for week in history:
        _check_week(week)
    return [[int(burn) for burn in week] for week in history[-MAX_WEEKS:]]


def _check_week(hours: Sequence[object]) -> None:
    if len(hours) != HOURS_PER_WEEK:
        raise UsageError(f"A week must have {HOURS_PER_WEEK} hours, got {len(hours)}.")


def _band_factor(weeks: list[list[int]]) -> float | None:
    """Return the factor between a mean and a high week, None if a week has no burn."""
    totals = [sum(week) for week in weeks]
    if min(totals) <= 0:
        return None
    deviation = stdev(math.log(total) for total in totals)
    return math.exp(t_quantile(BAND, len(totals) - 1) * deviation * math.sqrt(1 + 1 / len(totals)))


def _paths(
    weeks: list[list[int]], factor: float | None, balance: int, start: int, free_per_hour: int, top_up: TopUp | None
) -> dict[str, Iterator[int]]:
    """Return the paths from the high burn to the low one, or without a factor one."""
    factors = {"middle": Fraction(1)}
    if factor is not None:
        factors = {"high": Fraction(factor), "middle": Fraction(1), "low": 1 / Fraction(factor)}
    return {name: _path(weeks, each, balance, start, free_per_hour, top_up) for name, each in factors.items()}


def _path(
    weeks: list[list[int]], factor: Fraction, balance: int, start: int, free_per_hour: int, top_up: TopUp | None
) -> Iterator[int]:
    """Yield the balance at the end of each hour, before purchases, rounded down."""
    scale = len(weeks) * factor.denominator  # all bytes times this are integers
    sums = [sum(hours) for hours in zip(*weeks, strict=True)]
    burns = [max(0, each * factor.numerator - free_per_hour * scale) for each in sums]
    scaled_balance = balance * scale
    for hour in count(start):
        scaled_balance -= burns[hour % HOURS_PER_WEEK]
        yield scaled_balance // scale
        scaled_balance = top_up.apply(scaled_balance, scale) if top_up else scaled_balance


def _hours_until_dry(path: Iterator[int]) -> int | None:
    """Return the first hour at whose end the balance is below 0, counted from 0."""
    return next((hour for hour, balance in enumerate(islice(path, MAX_HOURS)) if balance < 0), None)
