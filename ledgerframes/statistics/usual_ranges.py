"""The usual range of a share or a sum, explained by chance and the weeks before.

A period is compared with the same weekday, or the same hour of working days or of the weekend, in the weeks before the report.
Limits are one-sided, because only rises count. The report's own periods are never part of its limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.statistics.distributions import Flags, Integers, Numbers, t_quantile

PERIODS_PER_WEEK = {"1d": 7, "1h": 168}
MIN_WEEKS, MAX_WEEKS = 4, 6
MIN_PERIODS = 7
PERIOD_LEVEL, WEEK_LEVEL, WINDOW_LEVEL = 0.02, 0.005, 0.05
MAX_OMITTED_SHARE = 0.1
# The mean square of normal scores that are winsorized at their 10 % and 90 % quantile.
WINSORIZED_SQUARE = 0.6787
SHORT_HISTORY = "history is too short"
UNKNOWN_HISTORY = "too few costs of the history are known"
UNSTEADY_HISTORY = "history is not steady"
TOO_FEW_REQUESTS = "too few requests"
NO_REQUESTS = "no requests"
NEVER_BEFORE = "none in the history"
NO_HISTORY = "no history of this period"
PARTIAL = "not a whole period"
DAYS = 7
# Equal sums are not above their limit, which logarithms would miss by a hair.


@dataclass(frozen=True)
class Limits:
    """Upper limits, one per period.

    Attributes
    ----------
    center, upper : array of float
        Usual value and limit, NaN where there is none.
    is_above : array of bool
        Whether the period is above its limit, False where there is none.
    reasons : tuple of str
        Reason of a missing limit, otherwise empty.
    """

    center: Numbers
    upper: Numbers
    is_above: Flags
    reasons: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per period, ``is_above`` missing where there is no limit."""
        is_above = pd.Series(pd.array(self.is_above, dtype="boolean")).mask(np.isnan(self.upper))
        reasons = pd.array(list(self.reasons), dtype="str")
        return pd.DataFrame({"center": self.center, "upper": self.upper, "is_above": is_above, "reason": reasons})


@dataclass(frozen=True)
class UsualRange:
    """Limits of the periods and whole weeks of a report.

    Attributes
    ----------
    periods : Limits
        One per period, in order.
    weeks : Limits
        One per whole week of the report, counted from its first period.
    reason : str
        Reason if there are no limits at all, otherwise empty.
    history_weeks : int
        Number of weeks of the history, at most 6.
    omitted : int
        Number of outlying periods of the history that were not used.
    dispersion : float
        Variance of the history relative to chance, at least 1.
    degrees, factor : int, float
        Degrees of freedom, and the number of standard deviations of a limit before its correction for skewness.
    """

    periods: Limits
    weeks: Limits
    reason: str = ""
    history_weeks: int = 0
    omitted: int = 0
    dispersion: float = float("nan")
    degrees: int = 0
    factor: float = float("nan")


def usual_range(history: npt.ArrayLike, periods: npt.ArrayLike, every: str, *, start: int = 0, series: int = 1) -> UsualRange:
    """Return the usual range of a share per day or hour, from the weeks before.

    Parameters
    ----------
    history : array of shape (weeks, periods of a week, 2)
        Hits and requests of the whole weeks before the report, oldest first, from Monday. Of a share of bytes, hits are the
        share times the requests. The latest 6 weeks count.
    periods : array of shape (periods, 2)
        Hits and requests of the report's periods, without a gap. NaN for a period that is not whole.
    every : {"1d", "1h"}
        Length of each period.
    start : int, optional
        Position of the first period in its week: weekday from Monday as 0, or hour of the week (default: 0).
    series : int, optional
        Number of series with a usual range in the report (default: 1). They share the chance of a false alarm.

    Returns
    -------
    UsualRange
        With less than 4 weeks of history, or more than 10 % of outlying periods in it, a reason instead of limits.

    Raises
    ------
    UsageError
        If `every` is neither ``"1d"`` nor ``"1h"``, or the arrays have another shape.

    Notes
    -----
    In simulations, at most 5 % of the weekly reports without a real rise show a period above its usual range.

    Examples
    --------
    >>> weeks = [[[12, 100]] * 7] * 4
    >>> found = usual_range(weeks, [[12, 100], [31, 100]], "1d")
    >>> found.periods.is_above.tolist(), found.periods.upper.round(3).tolist()
    ([False, True], [0.219, 0.219])
    """
    if every not in PERIODS_PER_WEEK:
        raise UsageError(f"every= must be '1d' or '1h', got {every!r}.")
    length = PERIODS_PER_WEEK[every]
    past, report = _array(history, (length, 2))[-MAX_WEEKS:], _array(periods, (2,))
    positions = (start + np.arange(len(report))) % length
    if len(past) < MIN_WEEKS:
        return range_without_limits(len(report), length, SHORT_HISTORY, len(past))
    fit = _fit(past, slot_of_positions(every))
    if fit is None:
        return range_without_limits(len(report), length, UNSTEADY_HISTORY, len(past))
    x, n = report.T
    slots = slot_of_positions(every)[positions]
    degrees = fit.degrees if every == "1d" else 7 * (len(past) - 1)
    factor = _quantile(1 - PERIOD_LEVEL / series, count_tests(n), degrees)
    return UsualRange(
        _limits(x, n, fit.hits[slots], fit.requests[slots], fit.dispersion, factor),
        _week_limits(past, report, length, series),
        history_weeks=len(past),
        omitted=fit.omitted,
        dispersion=fit.dispersion,
        degrees=degrees,
        factor=factor,
    )


def within_window(periods: npt.ArrayLike) -> UsualRange:
    """Return limits of each period from all others of the same window.

    Use them if the history is too short for :func:`usual_range`.

    Parameters
    ----------
    periods : array of shape (periods, 2)
        Hits and requests of days, or longer periods, NaN for one that is not whole. Of a share of bytes, hits are the share
        times the requests.

    Returns
    -------
    UsualRange
        Without weeks. With less than 7 periods, a reason instead of limits.

    Raises
    ------
    UsageError
        If the array has another shape.

    Examples
    --------
    >>> found = within_window([[12, 100]] * 6 + [[40, 100]])
    >>> found.periods.is_above.tolist()
    [False, False, False, False, False, False, True]
    """
    report = _array(periods, (2,))
    x, n = report.T
    number = int((n > 0).sum())
    if number < MIN_PERIODS:
        reason = f"fewer than {MIN_PERIODS} periods"
        return UsualRange(without_limits(len(report), reason), without_limits(0, reason), reason)
    factor = _quantile(1 - WINDOW_LEVEL, number, number - 2)
    hits, requests = np.nansum(x) - np.nan_to_num(x), np.nansum(n) - np.nan_to_num(n)
    p = hits / requests
    v = p * (1 - p)
    deviations = np.divide(x, n, out=np.zeros(len(n)), where=n > 0)[None, :] - p[:, None]
    squares = deviations**2 * np.nan_to_num(n) * (1 - np.eye(len(n)))
    spread = np.divide(squares.sum(axis=1), v, out=np.zeros(len(n)), where=v > 0) / (number - 2)
    dispersion = np.maximum(1.0, spread)
    return UsualRange(_limits(x, n, hits, requests, dispersion, factor), without_limits(0, ""), degrees=number - 2, factor=factor)


def slot_of_positions(every: str) -> Integers:
    """Return the slot of each position in a week.

    It is the weekday, or the hour of working days or of the weekend.
    """
    positions = np.arange(PERIODS_PER_WEEK[every])
    return positions if every == "1d" else positions // 24 // 5 * 24 + positions % 24


def count_tests(values: Numbers) -> int:
    """Return the number of periods that are whole, at least 1."""
    return max(1, int((~np.isnan(values)).sum()))


def whole_weeks(count: int, length: int) -> list[slice]:
    """Return the whole weeks of consecutive periods, counted from the first one."""
    return [slice(start, start + length) for start in range(0, count - length + 1, length)]


# -- fit of the history ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fit:
    """Hits and requests per slot, without outlying periods, and their dispersion."""

    hits: Numbers
    requests: Numbers
    dispersion: float
    degrees: int
    omitted: int


def _fit(past: Numbers, slot_of_position: Integers) -> _Fit | None:
    """Return the fit of the history, or None if it is not steady."""
    x, n = past.reshape(-1, 2).T
    slots = np.tile(slot_of_position, len(past))
    slots, x, n = slots[n > 0], x[n > 0], n[n > 0]
    count = int(slot_of_position.max()) + 1
    scores = _scores(x, n, slots, count)
    if not len(scores):
        return _Fit(np.zeros(count), np.zeros(count), 1.0, 1, 0)
    robust = np.clip(scores, *np.quantile(scores, [0.1, 0.9]))
    initial = max(1.0, float(np.mean(robust**2)) / WINSORIZED_SQUARE)
    is_used = np.abs(scores) <= 4 * np.sqrt(initial)
    omitted = int((~is_used).sum())
    if omitted > MAX_OMITTED_SHARE * len(scores):
        return None
    x, n, slots = x[is_used], n[is_used], slots[is_used]
    scores = _scores(x, n, slots, count)
    hits, requests = (np.bincount(slots, values, count).astype(float) for values in (x, n))
    degrees = len(x) - int((requests > 0).sum())
    return _Fit(hits, requests, max(1.0, float(np.mean(scores**2))), max(1, degrees), omitted)


def _scores(x: Numbers, n: Numbers, slots: Integers, count: int) -> Numbers:
    """Return the distance of each period from its slot's rate, in standard deviations."""
    hits, requests = (np.bincount(slots, values, count)[slots] for values in (x, n))
    p = hits / requests
    variance = p * (1 - p) * (1 / n - 1 / requests)
    scores: Numbers = np.divide(x / n - p, np.sqrt(np.maximum(variance, 0)), out=np.zeros(len(x)), where=variance > 0)
    return scores


# -- limits ---------------------------------------------------------------------------------------------------------------


def _limits(
    x: Numbers, n: Numbers, hits: Numbers, requests: Numbers, dispersion: float | Numbers, factor: float, *, has_tail: bool = True
) -> Limits:
    """Return limits, corrected for a long upper tail (Cornish and Fisher)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p = hits / requests
        v = p * (1 - p)
        error = np.sqrt(dispersion * v * (1 / n + 1 / requests))
        skewness = (1 - 2 * p) * np.sqrt(dispersion / (n * v)) if has_tail else 0.0
        upper = np.minimum(1, p + error * (factor + (factor**2 - 1) * skewness / 6))
        conditions = [np.isnan(n), requests <= 0, n <= 0, hits <= 0, n * v / dispersion < 1]
        share = x / n
    reasons = np.select(conditions, [PARTIAL, NO_HISTORY, NO_REQUESTS, NEVER_BEFORE, TOO_FEW_REQUESTS], "")
    return _limits_of(share, p, upper, reasons.tolist())


def _week_limits(past: Numbers, report: Numbers, length: int, series: int) -> Limits:
    weeks = whole_weeks(len(report), length)
    x, n = np.array([report[week].sum(axis=0) for week in weeks]).reshape(-1, 2).T
    by_week = past.sum(axis=1)
    by_week = by_week[by_week[:, 1] > 0]
    hits, requests = by_week.sum(axis=0)
    if not weeks or not requests:
        return without_limits(len(weeks), NO_HISTORY)
    q = hits / requests
    v = q * (1 - q)
    deviations = by_week[:, 0] / by_week[:, 1] - q
    spread = float((deviations**2 * by_week[:, 1]).sum() / v / (len(past) - 1)) if v > 0 else 1.0
    dispersion = max(1.0, spread)
    factor = _quantile(1 - WEEK_LEVEL / series, count_tests(n), len(past) - 1)
    return _limits(x, n, np.full(len(n), hits), np.full(len(n), requests), dispersion, factor, has_tail=False)


def _limits_of(values: Numbers, center: Numbers, upper: Numbers, reasons: Sequence[str]) -> Limits:
    has_limit = np.array([not reason for reason in reasons], dtype=bool)
    limit = np.where(has_limit, upper, np.nan)
    return Limits(center, limit, has_limit & (values > upper), tuple(reasons))


def without_limits(count: int, reason: str) -> Limits:
    """Return periods without limits, all for the same reason."""
    nothing = np.full(count, np.nan)
    return Limits(nothing, nothing, np.zeros(count, dtype=bool), (reason,) * count)


def range_without_limits(count: int, length: int, reason: str, history_weeks: int) -> UsualRange:
    """Return periods and weeks without limits, all for the same reason."""
    weeks = without_limits(len(whole_weeks(count, length)), reason)
    return UsualRange(without_limits(count, reason), weeks, reason, history_weeks)


@lru_cache(maxsize=4096)
def _quantile(level: float, tests: int, degrees: int) -> float:
    """Return the quantile that all tests together exceed with 1 - `level`."""
    return t_quantile(level ** (1 / tests), degrees)


def _array(values: npt.ArrayLike, shape: tuple[int, ...]) -> Numbers:
    array = np.asarray(values, dtype=float)
    if not array.size:
        return np.zeros((0, *shape))
    if array.shape[1:] != shape:
        expected = " x ".join(map(str, shape))
        raise UsageError(f"history= and periods= must be arrays of (n x {expected}), got shape {array.shape}.")
    return array
