"""The usual range of a sum per day, such as the spend."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ledgerframes.statistics.distributions import Numbers
from ledgerframes.statistics.usual_ranges import (
    MAX_WEEKS,
    MIN_WEEKS,
    PARTIAL,
    PERIOD_LEVEL,
    SHORT_HISTORY,
    WEEK_LEVEL,
    Limits,
    UsualRange,
    _array,
    _limits_of,
    _quantile,
    _without_limits,
    count_tests,
    whole_weeks,
)

DAYS = 7
EMPTY_PERIOD = "a period without any"
# Equal sums are not above their limit, which logarithms would miss by a hair.
ROUNDING_ERROR = 1e-12


def usual_sum(history: npt.ArrayLike, periods: npt.ArrayLike, *, start: int = 0, series: int = 1) -> UsualRange:
    """Return the usual range of a sum per day, from the weeks before.

    Parameters
    ----------
    history : array of shape (weeks, 7)
        Sums of the days of the whole weeks before the report, oldest first, from Monday. The latest 6 weeks count.
    periods : array
        Sums of the report's days, without a gap. NaN for a day that is not whole.
    start : int, optional
        Weekday of the first day, Monday as 0 (default: 0).
    series : int, optional
        Number of series with a usual range in the report (default: 1). They share the chance of a false alarm.

    Returns
    -------
    UsualRange
        With less than 4 weeks of history, or a day without any in it, a reason instead of limits.

    Raises
    ------
    UsageError
        If the history has another shape.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> weeks = [[100, 104, 98, 101, 99, 60, 61], [97, 101, 103, 99, 100, 62, 59]] * 2
    >>> lf.statistics.usual_sum(weeks, [101, 99, 160]).periods.is_above.tolist()
    [False, False, True]
    """
    past, report = _array(history, (DAYS,))[-MAX_WEEKS:], _array(periods, ())
    weekdays = (start + np.arange(len(report))) % DAYS
    weeks = whole_weeks(len(report), DAYS)
    reason = SHORT_HISTORY if len(past) < MIN_WEEKS else EMPTY_PERIOD if (past <= 0).any() else ""
    if reason:
        return _without_limits(len(report), DAYS, reason, len(past))
    number = len(past)
    logs = np.log(past)
    means = logs.mean(axis=0)
    degrees = DAYS * (number - 1)
    deviation = math.sqrt(float(((logs - means) ** 2).sum()) / degrees)
    factor = _quantile(1 - PERIOD_LEVEL / series, count_tests(report), degrees)
    widen = math.sqrt(1 + 1 / number)
    limits = _limits(report, np.exp(means)[weekdays], factor * deviation * widen)

    sums = np.array([report[week].sum() for week in weeks], dtype=float)
    totals = np.log(past.sum(axis=1))
    week_factor = _quantile(1 - WEEK_LEVEL / series, count_tests(sums), number - 1)
    week_center = np.full(len(weeks), math.exp(float(totals.mean())))
    week_limits = _limits(sums, week_center, week_factor * float(totals.std(ddof=1)) * widen)
    return UsualRange(limits, week_limits, history_weeks=number, degrees=degrees, factor=factor)


def _limits(sums: Numbers, center: Numbers, width: float) -> Limits:
    """Return limits that are wider than the center by a factor, given as its logarithm."""
    reasons = [PARTIAL if is_partial else "" for is_partial in np.isnan(sums).tolist()]
    return _limits_of(sums, center, center * math.exp(width) * (1 + ROUNDING_ERROR), reasons)
