"""Small pictures of a key figure by day, which a page draws itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from ledgerframes.report.units import value_text

if TYPE_CHECKING:
    from ledgerframes.report.key_figure import KeyFigure
    from ledgerframes.report.run_content import DayTotals, RunContent
    from ledgerframes.values.windows import Bounds

MIN_DAYS = 14  # before a window, for its usual band
STEP, HEIGHT, MARGIN = 10, 40, 4  # units of the drawing: from day to day, of the picture, and above and below the values
Values = Sequence[float | None]


@dataclass(frozen=True)
class Day:
    """One day of a sparkline, with the text that a pointer shows."""

    left: int
    text: str


@dataclass(frozen=True)
class Sparkline:
    """Lines of the days before a window and of the days of the window, with their usual band.

    Attributes
    ----------
    width, height : int
        Of the drawing.
    before, days, outside : str
        SVG paths of the days before, of the window, and of its days above or below all days before.
    band : tuple of float or None
        Top and height of the band, None with too few days before.
    tips : list of Day
    label : str
        What the picture shows, in words.
    """

    width: int
    height: int
    before: str
    days: str
    outside: str
    band: tuple[float, float] | None
    tips: list[Day]
    label: str


def sparkline(figure: KeyFigure, first_day: date) -> Sparkline | None:
    """Return the days of a key figure as a picture, or None if there is only one.

    `first_day` is that of its window.

    >>> figure = {"label": "Cost", "unit": "bytes", "before": [None, 1.0], "days": [3.0, 2.0]}
    >>> line = sparkline(figure, date(2026, 11, 2))
    >>> line.before, line.days, line.tips[2].text
    ('M15 36L25 4', 'M25 4L35 20', '2026-11-02: 3 bytes')
    >>> line.label
    'Cost by day, from 2 bytes to 3 bytes; before, from 1 byte to 1 byte'
    """
    before, days = list(figure["before"]), list(figure["days"])
    values = [*before, *days]
    known = [value for value in values if value is not None]
    if len(days) < 2 or len(known) < 2 or "unit" not in figure:  # the last of runs by an earlier version
        return None
    band = usual_band(before)
    low, high = min([*known, *(band or [])]), max([*known, *(band or [])])
    heights = [None if value is None else _height(value, low, high) for value in values]
    first = len(before)
    return Sparkline(
        width=STEP * len(values),
        height=HEIGHT,
        before=_path(heights[: first + 1]),  # and on to the window
        days=_path([None] * first + heights[first:]),
        outside="".join(_dot(first + at, heights[first + at]) for at in _never_before(before, days)),
        band=_band_of(band, low, high),
        tips=_tips(values, first_day - timedelta(days=first), figure["unit"]),
        label=_describe(figure, band),
    )


def first_day_of(run: RunContent) -> date:
    """Return the first day that the key figures of a run have of its window.

    That of a window over all history is the first day of the history.
    """
    days: Sequence[DayTotals | Bounds] = run.get("days") or [run["window"]]
    return datetime.fromisoformat(days[0]["since"]).date()


def usual_band(before: Values) -> tuple[float, float] | None:
    """Return the limits between which 8 of 10 days lie, or None with too few days.

    >>> usual_band([float(number) for number in range(20)]), usual_band([1.0, None])
    ((2.0, 17.0), None)
    """
    known = sorted(value for value in before if value is not None)
    if len(known) < MIN_DAYS:
        return None
    tenth = len(known) // 10
    return known[tenth], known[-1 - tenth]


def _never_before(before: Values, days: Values) -> list[int]:
    """Return the days of a window that are higher or lower than all days before."""
    known = [value for value in before if value is not None]
    if len(known) < MIN_DAYS:
        return []
    return [at for at, value in enumerate(days) if value is not None and not min(known) <= value <= max(known)]


# -- helpers --------------------------------------------------------------------------------------------------------------


def _height(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return round(HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN), 1)


def _band_of(band: tuple[float, float] | None, low: float, high: float) -> tuple[float, float] | None:
    if band is None:
        return None
    bottom, top = (_height(limit, low, high) for limit in band)
    return top, max(1.0, round(bottom - top, 1))


def _path(heights: Sequence[float | None]) -> str:
    """Return lines between known neighbors, and a dot for a day between unknown ones."""
    parts = list[str]()
    for at, height in enumerate(heights):
        if height is None:
            continue
        has_left, has_right = (0 <= near < len(heights) and heights[near] is not None for near in (at - 1, at + 1))
        parts.append(f"{'L' if has_left else 'M'}{_center(at)} {height:g}" if has_left or has_right else _dot(at, height))
    return "".join(parts)


def _dot(at: int, height: float | None) -> str:
    return f"M{_center(at)} {height:g}h0"  # round ends make it visible


def _center(at: int) -> int:
    return STEP * at + STEP // 2


def _tips(values: Values, first: date, unit: str) -> list[Day]:
    texts = [value_text(value, unit) for value in values]
    return [Day(STEP * at, f"{first + timedelta(days=at)}: {text}") for at, text in enumerate(texts)]


def _describe(figure: KeyFigure, band: tuple[float, float] | None) -> str:
    """Return what a sparkline shows."""
    days, before = (_range_text(figure[name], figure["unit"]) for name in ("days", "before"))
    text = f"{figure['label']} by day, {days}"
    text += f"; before, {before}" if figure["before"] else ""
    if band is None:
        return text
    low, high = (value_text(limit, figure["unit"]) for limit in band)
    return f"{text}; 8 of 10 days before lie between {low} and {high}"


def _range_text(values: Values, unit: str) -> str:
    known = [value for value in values if value is not None]
    return f"from {value_text(min(known), unit)} to {value_text(max(known), unit)}" if known else "unknown"
