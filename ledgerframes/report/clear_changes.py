"""Whether the change of a key figure is more than chance and the weeks before explain.

A change is clear only if it was tested. A sum of a week is compared with its usual range, and so is the wasted share, of which
only a rise is judged. Two percentiles differ clearly if their intervals exclude each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pandas as pd

from ledgerframes.analysis.usual_range import waste_range
from ledgerframes.report.run_content import DayRows
from ledgerframes.report.summary.traffic import is_same_coverage
from ledgerframes.statistics.usual_sums import usual_sum

DAYS_OF_WEEK = 7
Values = Sequence[float | None]
Day = TypeVar("Day")


def is_clear_sum(before: Values, days: Values) -> bool:
    """Return whether the sum of a week is outside its usual range.

    The range includes the week before, so that a sum outside has changed in this direction.

    Parameters
    ----------
    before, days : sequence of (float or None)
        The values of the days before, and of the window. None if unknown. A week with such a day does not count.
    """
    weeks = [sum(value for value in week if value is not None) if None not in week else None for week in _weeks_of(before)]
    if len(days) != DAYS_OF_WEEK or None in days or not weeks or weeks[-1] is None:
        return False
    limits = usual_sum([total for total in weeks if total is not None])
    if limits is None:
        return False
    return not limits[0] <= sum(value for value in days if value is not None) <= limits[1]


def is_clear_cost(before: DayRows, days: DayRows) -> bool:
    """Return whether the known cost of a week is outside its usual range.

    A week in which another share of the costs is known does not count.
    """
    coverage = _coverage_of(days)
    values: list[float | None] = []
    for week in _weeks_of(before):
        is_alike = is_same_coverage(_coverage_of(week), coverage)
        values += [float(day["total_traffic_cost"]) if is_alike and day["is_whole"] else None for day in week]
    return is_clear_sum(values, [float(day["total_traffic_cost"]) if day["is_whole"] else None for day in days])


def is_clear_waste(before: DayRows, days: DayRows) -> bool:
    """Return whether the wasted share of a week has risen above its usual range."""
    if len(days) != DAYS_OF_WEEK or len(before) < DAYS_OF_WEEK:
        return False
    (is_above,) = waste_range(_frame_of(days), _frame_of(before), "1d").weeks.is_above
    return bool(is_above)


def is_clear_median(before: Any, after: Any) -> bool:
    """Return whether the intervals of two medians exclude each other.

    Parameters
    ----------
    before, after : row of ``lf.verdict.latency``
    """
    ends = [before.p50_low, before.p50_high, after.p50_low, after.p50_high]
    return not any(pd.isna(end) for end in ends) and bool(before.p50_high < after.p50_low or after.p50_high < before.p50_low)


# -- helpers ----------------------------------------------------------------------------------------------------------------


def _weeks_of(days: Sequence[Day]) -> list[Sequence[Day]]:
    """Return the whole weeks of consecutive days, counted back from the last one."""
    starts = range(len(days) % DAYS_OF_WEEK, len(days), DAYS_OF_WEEK)
    return [days[start : start + DAYS_OF_WEEK] for start in starts]


def _coverage_of(days: DayRows) -> float:
    requests = sum(day["requests"] for day in days)
    return sum(day["requests_with_cost"] for day in days) / requests if requests else 0.0


def _frame_of(days: DayRows) -> pd.DataFrame:
    frame = pd.DataFrame(days)
    return frame.assign(period_start=pd.to_datetime(frame["since"], utc=True))
