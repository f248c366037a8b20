"""Axes of time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axis import Axis

SHORTEST_MONTH = 28  # days
MILLISECOND = 1 / 86_400_000  # of a day
Numbers = npt.NDArray[np.float64]


def time_axis(axis: Axis, label: str) -> None:
    """Show a few readable dates in UTC, for any time zone of the user."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, num2date

    class EvenDates(AutoDateLocator):
        def __call__(self) -> Any:
            ticks: Any = super().__call__()  # type: ignore[no-untyped-call]
            return even_days(ticks, *sorted(axis.get_view_interval()))

    class Dates(ConciseDateFormatter):
        def format_ticks(self, values: Sequence[float]) -> list[str]:
            labels: list[str] = super().format_ticks(values)  # type: ignore[no-untyped-call]
            dates = (f"{num2date(value):%d %b}" for value in values)  # type: ignore[no-untyped-call]
            return [date if label == "00:00" else label for label, date in zip(labels, dates, strict=True)]

        def get_offset(self) -> str:  # not the date of the last tick, at which another day or year can begin
            date_of_last = super().get_offset()  # type: ignore[no-untyped-call]
            return shared_date(*sorted(axis.get_view_interval())) if date_of_last else ""

    locator = EvenDates(tz=UTC, minticks=4, maxticks=9)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    formatter = Dates(locator, tz=UTC)  # type: ignore[no-untyped-call]
    formatter.formats = ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"]
    formatter.zero_formats = ["", "%b %Y", "%d %b", "%d %b", "%H:%M", "%H:%M"]
    formatter.offset_formats = ["", "", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y %H:%M"]
    axis.set_major_formatter(formatter)
    axis.axes.set_xlabel(label, loc="left")  # the date stands at the right


def shared_date(first: float, last: float) -> str:
    """Return the minute, the day or the year of all times of a window, or both its years.

    >>> shared_date(20_514, 20_515), shared_date(20_514.5, 20_515.5), shared_date(20_453.5, 20_454.5)
    ('02 Mar 2026', '2026', '2025 to 2026')
    """
    from matplotlib.dates import num2date

    start, end = num2date(first), num2date(last - MILLISECOND)  # type: ignore[no-untyped-call]
    dates = ((f"{start:{form}}", f"{end:{form}}") for form in ("%d %b %Y %H:%M", "%d %b %Y", "%Y"))
    return next((one for one, other in dates if one == other), f"{start:%Y} to {end:%Y}")


def even_days(ticks: Sequence[float], first: float, last: float) -> Numbers:
    """Return ticks of several days at one distance, which would be uneven where a month ends.

    >>> even_days([9, 13, 17, 19], 9, 24).tolist(), even_days([0.25, 0.5], 0, 1).tolist()
    ([9.0, 13.0, 17.0, 21.0], [0.25, 0.5])
    >>> even_days([1, 15, 32], 1, 40).tolist()
    [1.0, 17.0, 33.0]
    """
    numbers = np.asarray(ticks, dtype=np.float64)
    steps = np.diff(numbers)
    if not len(steps) or not 1 < (step := round(float(np.median(steps)))) < SHORTEST_MONTH:
        return numbers
    return np.arange(numbers[0] - step * ((numbers[0] - first) // step), last + step * 1e-6, step)
