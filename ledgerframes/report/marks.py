"""Marks of a figure with the values that they show, for a pointer on a page.

A mark is a row, a period, a point or a cell of axes. Its text comes from what is drawn: the labels of rows and series, the
texts at the ends of bars, and the numbers as their axis prints them, with its unit.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.ticker import FixedLocator
from matplotlib.transforms import Bbox

from ledgerframes.plots.panels import OWN_LINE
from ledgerframes.report.alt_texts import (
    CAPS,
    MIN_POINTS,
    NO_MARKERS,
    area_points,
    axis_text,
    end_texts,
    has_times,
    horizontal_bars,
    panel_name,
    position_text,
    row_names,
    series_name,
    without_escapes,
)
from ledgerframes.report.picture_html import MARK_SCALE

MAX_MARKS = 400  # of axes. More are thinner than a pointer.
POINT_SIZE = 10.0  # printer's points around a point
ROW_HEIGHT = 0.9  # of a row of points
UNIT = re.compile(r" \(([^()]+)\)$")  # at the end of the label of an axis
DECIMALS = 6  # of positions, so that equal ones are equal numbers
NO_VALUE = "no value"
WITHOUT_LABEL = ("_child", "_nolegend_")  # starts of the label of what was drawn without one
Span = tuple[float, float]
Value = tuple[str, str]  # name of the series, and text
Numbers = npt.NDArray[np.float64]
LocatedMark = tuple[int, int, int, int, str]  # left, top, width, height, text


@dataclass(frozen=True)
class Mark:
    """A part of axes with its text. Without a span, it is as wide or as high as the axes."""

    ax: Axes
    text: str
    x: Span | None = None
    y: Span | None = None


@dataclass(frozen=True)
class Series:
    """Values over positions, with the name in the legend, empty if it has none."""

    name: str
    x: Numbers
    y: Numbers
    is_connected: bool  # by a line, or as areas


def find_marks(figure: Figure) -> list[Mark]:
    """Return the marks of a figure that was drawn, with at most some of each axes."""
    axes = [(ax, panel) for ax in figure.axes for panel in cast("list[Axes]", ax.child_axes) or [ax]]
    return [mark for parent, ax in axes for mark in _thinned(_marks(ax, parent))]


def locate_marks(marks: Iterable[Mark], figure: Figure) -> list[LocatedMark]:
    """Return the places of marks in a figure that was drawn, as shares of its size."""
    return [(*_locate(mark, figure), without_escapes(mark.text)) for mark in marks]


def _locate(mark: Mark, figure: Figure) -> tuple[int, int, int, int]:
    axes, half = mark.ax.bbox, POINT_SIZE / 2 * figure.dpi / 72
    (left, right), (bottom, top) = mark.x or mark.ax.viewLim.intervalx, mark.y or mark.ax.viewLim.intervaly
    box = Bbox(mark.ax.transData.transform([(left, bottom), (right, top)]))
    x0, x1 = (box.xmin, box.xmax) if mark.x else (axes.x0, axes.x1)
    y0, y1 = (box.ymin, box.ymax) if mark.y else (axes.y0, axes.y1)
    x0, x1 = (x0 - half, x1 + half) if x0 == x1 else (max(x0, axes.x0), min(x1, axes.x1))
    y0, y1 = (y0 - half, y1 + half) if y0 == y1 else (max(y0, axes.y0), min(y1, axes.y1))
    unit_x, unit_y = MARK_SCALE / figure.bbox.width, MARK_SCALE / figure.bbox.height
    return round(x0 * unit_x), round(MARK_SCALE - y1 * unit_y), round((x1 - x0) * unit_x), round((y1 - y0) * unit_y)


def _thinned(marks: list[Mark]) -> list[Mark]:
    """Return marks, of many only every second, third and so on."""
    return marks[:: -(-len(marks) // MAX_MARKS) or 1]


def _marks(ax: Axes, parent: Axes) -> list[Mark]:
    """Return the marks of axes, whose parent has the labels of a panel."""
    names, series = row_names(ax), _series(ax)
    if names:
        points = _points_over_time(ax, names) if has_times(ax.xaxis) else _rows(ax, names)
        return [*_cells(ax, parent, names), *points]
    is_over_positions = _has_fixed_positions(ax) or any(each.is_connected for each in series)
    return list(_columns(ax, parent, series) if is_over_positions else _points(ax))


# -- rows ---------------------------------------------------------------------------------------------------------------


def _rows(ax: Axes, names: Sequence[str]) -> Iterator[Mark]:
    """Yield a mark for each row of bars or of points."""
    rows: dict[Span, list[Value]] = {}
    for middle, height, value in [*_bars(ax), *_points_of_rows(ax)]:
        rows.setdefault((middle - height / 2, middle + height / 2), []).append(value)
    for span, values in rows.items():
        yield Mark(ax, _text(_row_name(ax, names, sum(span) / 2), values), y=span)


def _bars(ax: Axes) -> Iterator[tuple[float, float, Value]]:
    """Yield the middle and the height of each bar with its value."""
    intervals = _intervals(ax, 0)
    bars = [(series_name(each), bar) for each in horizontal_bars(ax) for bar in each]
    texts = end_texts(ax) or [_value_text(ax.xaxis, bar.get_width(), ax.get_xlabel()) for _, bar in bars]
    for (name, bar), text in zip(bars, texts, strict=True):
        middle = round(bar.get_y() + bar.get_height() / 2, DECIMALS)
        interval = _interval_text(ax.xaxis, ax.get_xlabel(), bar.get_width(), intervals[middle])
        yield middle, bar.get_height(), (name, text + interval)


def _points_of_rows(ax: Axes) -> Iterator[tuple[float, float, Value]]:
    """Yield the middle and the height of the row of each point with its value."""
    intervals, label = _intervals(ax, 0), ax.get_xlabel()
    for each in _markers(ax):
        for x, row in zip(each.x, each.y, strict=True):
            if np.isfinite(x):
                interval = _interval_text(ax.xaxis, label, x, intervals[round(float(row), DECIMALS)])
                yield float(row), ROW_HEIGHT, (each.name, _value_text(ax.xaxis, x, label) + interval)


def _cells(ax: Axes, parent: Axes, names: Sequence[str]) -> Iterator[Mark]:
    """Yield a mark for each cell of rows."""
    for collection in ax.collections:
        if isinstance(collection, PolyCollection) and series_name(collection):
            for path in collection.get_paths():
                (left, bottom), (right, top) = path.get_extents().get_points().tolist()
                values = [(_position_text(ax, parent, left), series_name(collection))]
                yield Mark(ax, _text(_row_name(ax, names, (bottom + top) / 2), values), (left, right), (bottom, top))


def _points_over_time(ax: Axes, names: Sequence[str]) -> Iterator[Mark]:
    """Yield a mark for each point of rows over time."""
    for each in _markers(ax):
        for x, row in zip(each.x.tolist(), each.y.tolist(), strict=True):
            yield Mark(ax, _text(_row_name(ax, names, row), [(each.name, position_text(ax, x))]), (x, x), (row, row))


def _row_name(ax: Axes, names: Sequence[str], row: float) -> str:
    return " ".join(names[int(np.abs(np.asarray(ax.get_yticks()) - row).argmin())].split())


# -- periods and other positions ----------------------------------------------------------------------------------------


def _columns(ax: Axes, parent: Axes, series: Sequence[Series]) -> Iterator[Mark]:
    """Yield a mark for each position, also for one without a value."""
    values: dict[float, dict[str, str]] = {}
    positions: dict[float, float] = {}
    label, intervals = ax.get_ylabel() or parent.get_ylabel(), _intervals(ax, 1)
    for each in series:
        for x, y in zip(each.x.tolist(), each.y.tolist(), strict=True):
            at = values.setdefault(positions.setdefault(round(x, DECIMALS), x), {})
            if np.isfinite(y):
                interval = _interval_text(ax.yaxis, label, y, intervals[round(x, DECIMALS)])
                at[each.name] = _value_text(ax.yaxis, y, label) + interval
    for name, x, (low, high) in _ranges(ax):
        at = values.setdefault(positions.setdefault(round(x, DECIMALS), x), {})
        from_low = "" if (start := axis_text(ax.yaxis, low)) == axis_text(ax.yaxis, high) else f"{start} to "
        at[name] = from_low + _value_text(ax.yaxis, high, label)
    panel = "" if ax is parent else f"{panel_name(ax)}\n"
    for x, span in zip(sorted(values), _spans(ax, sorted(values)), strict=True):
        yield Mark(ax, _text(panel + _position_text(ax, parent, x), [*values[x].items()] or [("", NO_VALUE)]), x=span)


def _has_fixed_positions(ax: Axes) -> bool:
    """Return whether the horizontal axis shows times or hours."""
    return has_times(ax.xaxis) or isinstance(ax.xaxis.get_major_locator(), FixedLocator)


def _spans(ax: Axes, positions: list[float]) -> list[Span | None]:
    """Return from where to where each position is the nearest one, also on a logarithmic axis."""
    if len(positions) < 2:
        return [None] * len(positions)
    scale = ax.xaxis.get_transform()
    middles = scale.transform(np.array(positions))
    inner = (middles[1:] + middles[:-1]) / 2
    edges = scale.inverted().transform([2 * middles[0] - inner[0], *inner, 2 * middles[-1] - inner[-1]]).tolist()
    return list(pairwise(edges))


def _series(ax: Axes) -> list[Series]:
    """Return the values of lines and areas, of those with a name if there are any."""
    lines = [line for line in ax.get_lines() if _is_series(ax, line)]
    own = [line for line in lines if line.get_label() == OWN_LINE]
    series = [*map(_of_line, own or lines), *(_of_area(patch) for patch in ax.patches if isinstance(patch, StepPatch))]
    return [each for each in series if each.name] or series


def _is_series(ax: Axes, line: Line2D) -> bool:
    """Return whether a line shows values rather than a limit or the ends of intervals."""
    has_points = np.size(line.get_ydata()) >= MIN_POINTS or line.get_marker() not in NO_MARKERS
    return has_points and line.get_transform() == ax.transData and line.get_marker() not in CAPS


def _of_line(line: Line2D) -> Series:
    x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data(orig=False))
    is_known = np.isfinite(x)
    return Series(series_name(line), x[is_known], y[is_known], is_connected=line.get_linestyle() not in NO_MARKERS)


def _of_area(area: StepPatch) -> Series:
    return Series(series_name(area), *area_points(area), is_connected=True)


# -- intervals ----------------------------------------------------------------------------------------------------------


def _intervals(ax: Axes, axis: int) -> defaultdict[float, list[Span]]:
    """Return the ends of intervals along an axis, by their positions on the other one."""
    intervals = defaultdict(list)
    for collection in ax.collections:
        if isinstance(collection, LineCollection) and str(collection.get_label()).startswith(WITHOUT_LABEL):
            for start, end in (ends for ends in collection.get_segments() if len(ends) == 2):
                intervals[round(float(start[1 - axis]), DECIMALS)].append((float(start[axis]), float(end[axis])))
    return intervals


def _ranges(ax: Axes) -> Iterator[tuple[str, float, Span]]:
    """Yield name, position and ends of each range of a band.

    A band with steps has the values on both sides of a step at one position, so the lines in it have the ends.
    """
    lines = {str(each.get_label()): each for each in ax.collections if isinstance(each, LineCollection)}
    for band in ax.collections:
        if isinstance(band, PolyCollection) and (name := series_name(band)):
            inside = lines.get(f"_{name}")
            for shape in band.get_paths() if inside is None else inside.get_segments():
                points = np.asarray(getattr(shape, "vertices", shape))
                for x in np.unique(points[:, 0]):
                    ends = points[points[:, 0] == x, 1]
                    yield name, float(x), (float(ends.min()), float(ends.max()))


def _interval_text(axis: Axis, label: str, value: float, intervals: Iterable[Span]) -> str:
    """Return the ends of the interval of a value in parentheses, or an empty text without any."""
    spans = (f" ({axis_text(axis, low)} to {_value_text(axis, high, label)})" for low, high in intervals if low <= value <= high)
    return next(spans, "")


# -- points -------------------------------------------------------------------------------------------------------------


def _points(ax: Axes) -> Iterator[Mark]:
    """Yield a mark for each point between two axes with numbers."""
    labels = (ax.get_xlabel(), ax.get_ylabel())
    for each in _markers(ax):
        for x, y in zip(each.x.tolist(), each.y.tolist(), strict=True):
            if np.isfinite([x, y]).all():
                numbers = zip((ax.xaxis, ax.yaxis), (x, y), labels, strict=True)
                values = [(_quantity(label), _value_text(axis, number, label)) for axis, number, label in numbers]
                yield Mark(ax, _text(each.name, values), (x, x), (y, y))


def _markers(ax: Axes) -> list[Series]:
    """Return the points of axes."""
    lines = [_of_line(line) for line in ax.get_lines() if _is_series(ax, line) and line.get_marker() not in NO_MARKERS]
    collections = [each for each in ax.collections if isinstance(each, PathCollection)]
    points = [(series_name(each), np.ma.filled(each.get_offsets(), np.nan)) for each in collections]
    return [*lines, *(Series(name, offsets[:, 0], offsets[:, 1], is_connected=False) for name, offsets in points)]


# -- texts --------------------------------------------------------------------------------------------------------------


def _text(title: str, values: Sequence[Value]) -> str:
    r"""Return a title and lines of values, or one line with a value without a name.

    >>> _text("Monday", [("", "5 MB")]), _text("Monday", [("paid", "5 MB"), ("wasted", "1 MB")])
    ('Monday: 5 MB', 'Monday\npaid: 5 MB\nwasted: 1 MB')
    """
    lines = [f"{name}: {text}" if name else text for name, text in values]
    if title and [name for name, _ in values] == [""]:
        return f"{title}: {lines[0]}"
    return "\n".join(filter(None, [title, *lines]))


def _position_text(ax: Axes, parent: Axes, x: float) -> str:
    """Return a position with the quantity of its axis, or a time alone."""
    if has_times(ax.xaxis):
        return position_text(ax, x)
    shared = [each.get_xlabel() for each in ax.get_shared_x_axes().get_siblings(ax)]
    label = next(filter(None, [ax.get_xlabel(), parent.get_xlabel(), *shared]), "")
    if not len(ax.get_xticks()):
        return label
    return f"{_quantity(label)} {position_text(ax, x)}{_unit(label)}".strip()


def _quantity(label: str) -> str:
    return UNIT.sub("", label)


def _value_text(axis: Axis, value: float, label: str) -> str:
    """Return a value as its axis prints it, with the unit of its label."""
    return axis_text(axis, value) + ("" if np.isnan(value) else _unit(label))


def _unit(label: str) -> str:
    unit = UNIT.search(label)
    return f" {unit[1]}" if unit else ""
