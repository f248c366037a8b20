"""Texts for readers who do not see a plot, computed from its marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import StepPatch
from matplotlib.ticker import FixedLocator, ScalarFormatter

from ledgerframes.plots.direct_labels import SERIES_NAME
from ledgerframes.plots.panels import OWN_LINE
from ledgerframes.texts.representation import pluralize

MAX_SERIES = 4
MAX_ROWS = 3
MIN_POINTS = 3  # a line with fewer points marks a limit
MAX_POINTS = 4
NO_MARKERS = (None, "", " ", "None", "none")
MINUS = "\N{MINUS SIGN}"
UNKNOWN = "unknown"
CAPS = ("_", "|")  # markers at the ends of intervals
Numbers = npt.NDArray[np.float64]


def describe_figure(figure: Figure) -> str:
    """Return titles, axes, and the first rows or the range of each series of a figure.

    >>> import matplotlib.pyplot as plt
    >>> _, ax = plt.subplots()
    >>> _ = ax.set_title("Requests"), ax.plot([1, 2, 3], [5, 9, 6]), ax.set_xlabel("Hour"), ax.set_ylabel("Number")
    >>> describe_figure(ax.figure)
    'Requests. Number by Hour: from 5 to 9, highest at 2.'
    """
    figure.draw_without_rendering()  # sets the texts of ticks
    return describe_drawn(figure)


def describe_drawn(figure: Figure) -> str:
    """Return the text of a figure that was drawn."""
    return without_escapes(" ".join(text for ax in figure.axes for text in _sentences(ax)))


def _sentences(ax: Axes) -> Iterator[str]:
    axes = " by ".join(text for text in (ax.get_ylabel(), ax.get_xlabel()) if text)
    data = "; ".join(_panels(ax) or _rows(ax) or [*_series(ax)][:MAX_SERIES] or [*_points(ax)][:MAX_SERIES])
    notes = [text.get_text() for text in ax.texts if _is_note(text)]
    for text in (ax.get_title(loc="left"), ax.get_title(), *notes, f"{axes}: {data}" if axes and data else axes or data):
        if text.strip():
            yield f"{' '.join(text.split()).rstrip('.')}."


def _panels(ax: Axes) -> list[str]:
    """Return the names and ranges of the first panels inside axes."""
    panels = cast("list[Axes]", ax.child_axes)
    texts = [f"{panel_name(panel)} {_of_panel(panel)}".strip() for panel in panels]
    more = [pluralize(len(texts) - MAX_SERIES, "more panel")] if len(texts) > MAX_SERIES else []
    return [*texts[:MAX_SERIES], *more]


def panel_name(panel: Axes) -> str:
    """Return the name of a panel in one line, as its text breaks within an id."""
    return panel.get_title(loc="left").replace("\n", "")


def _of_panel(panel: Axes) -> str:
    """Return the range of the group in the title of a panel, whose first line can be another."""
    own = (_describe_line(panel, line) for line in panel.get_lines() if line.get_label() == OWN_LINE)
    return next(own, "") or next(_series(panel), "")


def without_escapes(text: str) -> str:
    r"""Return a text without the backslashes that keep dollar signs from being mathematics.

    >>> without_escapes(r"Pay\$one\$")
    'Pay$one$'
    """
    return text.replace(r"\$", "$")


# -- rows ---------------------------------------------------------------------------------------------------------------


def _rows(ax: Axes) -> list[str]:
    """Return the first rows of a plot with one row per name, each with its bar or its points."""
    texts, names = _bar_texts(ax), row_names(ax)
    if not names:
        return []
    texts = texts or _point_texts(ax)
    rows = [f"{name} {text}".strip() for name, text in zip(names, texts or [""] * len(names), strict=False)]
    more = [pluralize(len(rows) - MAX_ROWS, "more row")] if len(rows) > MAX_ROWS else []
    return [*rows[:MAX_ROWS], *more]


def row_names(ax: Axes) -> list[str]:
    """Return the names of the rows of axes, none if their vertical axis shows a quantity."""
    is_named = isinstance(ax.yaxis.get_major_locator(), FixedLocator) and (not ax.get_ylabel() or bool(horizontal_bars(ax)))
    return [label.get_text() for label in ax.get_yticklabels()] if is_named else []


def _bar_texts(ax: Axes) -> list[str]:
    """Return the texts at the ends of the bars of each row, or else their lengths."""
    series = horizontal_bars(ax)
    bars = [bar for each in series for bar in each]
    texts = end_texts(ax) or [axis_text(ax.xaxis, bar.get_width()) for bar in bars]
    if len(series) < 2 or {len(each) for each in series} != {len(ax.get_yticks())}:
        return texts
    count = len(series[0])
    names = [str(each.get_label()) for each in series]
    parts = [[f"{name} {text}" for text in texts[n * count :][:count]] for n, name in enumerate(names)]
    return [", ".join(of_row) for of_row in zip(*parts, strict=True)]


def _point_texts(ax: Axes) -> list[str]:
    """Return the values of the points in each row.

    There are none on a time axis, or for a row with many points.
    """
    if has_times(ax.xaxis):
        return []
    points = [(x, y) for _, xs, ys in _markers_of(ax) for x, y in zip(xs.tolist(), ys.tolist(), strict=True) if np.isfinite(x)]
    rows = [[axis_text(ax.xaxis, x) for x, y in points if y == row] for row in ax.get_yticks()]
    return [", ".join(row) if len(row) <= MAX_POINTS else "" for row in rows]


# -- series -------------------------------------------------------------------------------------------------------------


def _series(ax: Axes) -> Iterator[str]:
    """Return the range of each series of bars, areas and lines."""
    for bars in bar_containers(ax):
        centers = [bar.get_x() + bar.get_width() / 2 for bar in bars]
        yield _describe(ax, series_name(bars), centers, [bar.get_height() for bar in bars])
    for patch in ax.patches:
        if isinstance(patch, StepPatch):
            yield _describe(ax, series_name(patch), *area_points(patch))
    for line in ax.get_lines():
        if np.size(line.get_ydata()) >= MIN_POINTS and line.get_marker() not in CAPS:
            yield _describe_line(ax, line)


def _points(ax: Axes) -> Iterator[str]:
    """Return the range of each series of points, also of those that are too few for a line."""
    for name, x, y in _markers_of(ax):
        if np.isfinite(y).any():
            yield _describe(ax, name, x, y)


def _markers_of(ax: Axes) -> Iterator[tuple[str, Numbers, Numbers]]:
    """Return the name and the positions of each series of markers and circles."""
    for line in ax.get_lines():
        if line.get_marker() not in (*CAPS, *NO_MARKERS):
            x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data(orig=False))
            yield series_name(line), x, y
    for each in ax.collections:
        if isinstance(each, PathCollection):
            offsets = np.ma.filled(each.get_offsets(), np.nan)
            yield series_name(each), offsets[:, 0], offsets[:, 1]


def _describe_line(ax: Axes, line: Line2D) -> str:
    x, y = (np.asarray(data, dtype=np.float64) for data in line.get_data(orig=False))
    return _describe(ax, series_name(line), x, y)


def series_name(artist: Any) -> str:
    """Return the name of a series, empty if matplotlib or a panel made it up."""
    name = str(artist.get_label())
    return "" if name.startswith("_") else name


def area_points(area: StepPatch) -> tuple[Numbers, Numbers]:
    """Return the middles of the steps of an area, and its heights there."""
    values, edges, baseline = area.get_data()
    heights = np.asarray(values, dtype=np.float64) - (0.0 if baseline is None else baseline)
    return (edges[1:] + edges[:-1]) / 2, heights


def _describe(ax: Axes, name: str, x: Any, y: Any) -> str:
    values, prefix = np.asarray(y, dtype=np.float64), f"{name} " if name else ""
    if not np.isfinite(values).any():
        return f"{prefix}without values"
    low, high, at = np.nanmin(values), np.nanmax(values), np.asarray(x, dtype=np.float64)[np.nanargmax(values)]
    if low == high:
        return f"{prefix}{axis_text(ax.yaxis, low)}"
    return f"{prefix}from {axis_text(ax.yaxis, low)} to {axis_text(ax.yaxis, high)}, highest at {position_text(ax, float(at))}"


def end_texts(ax: Axes) -> list[str]:
    """Return the texts at the ends of all horizontal bars without their names.

    There are none if some bars have no text.
    """
    texts = [text.get_text() for text in ax.texts if not _is_note(text) and text.get_label() != SERIES_NAME]
    names = [str(each.get_label()) for each in horizontal_bars(ax) for _ in each]
    if len(texts) != len(names):
        return []
    return [text.removesuffix(name).rstrip() for text, name in zip(texts, names, strict=True)]


def horizontal_bars(ax: Axes) -> list[BarContainer]:
    """Return the series of bars of rows that are not empty."""
    return [each for each in bar_containers(ax) if each.orientation == "horizontal"]


def bar_containers(ax: Axes) -> list[BarContainer]:
    """Return the series of bars of axes that are not empty."""
    return [each for each in ax.containers if isinstance(each, BarContainer) and len(each)]


# -- texts --------------------------------------------------------------------------------------------------------------


def _is_note(text: Any) -> bool:
    """Return whether a text stands at the axes rather than at data."""
    return getattr(text, "xycoords", "") == "axes fraction" or text.get_transform() == text.axes.transAxes


def axis_text(axis: Axis, value: Any) -> str:
    """Return a value as its axis prints it, times to the minute, and NaN as unknown."""
    formatter = axis.get_major_formatter()
    if np.isnan(value):
        return UNKNOWN
    if has_times(axis):
        return f"{dates.num2date(value):%Y-%m-%d %H:%M}"  # type: ignore[no-untyped-call]
    return _number(str(value) if isinstance(formatter, ScalarFormatter) else formatter(value))


def position_text(ax: Axes, x: float) -> str:
    """Return a position as a pointer says it, or as its axis prints it."""
    return ax.format_xdata(x) if ax.fmt_xdata else axis_text(ax.xaxis, x)


def has_times(axis: Axis) -> bool:
    """Return whether an axis shows times."""
    return isinstance(axis.get_major_formatter(), dates.ConciseDateFormatter | dates.AutoDateFormatter | dates.DateFormatter)


def _number(text: str) -> str:
    """Return a number with three digits, another text as it is.

    >>> _number("28.3267"), _number("1234567.0"), _number("2 s"), _number("\N{MINUS SIGN}28.3267")
    ('28.3', '1,234,567', '2 s', '−28.3')
    """
    try:
        number = float(text.replace(",", "").replace(MINUS, "-"))
    except ValueError:
        return text
    printed = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
    return printed.replace("-", MINUS) if MINUS in text else printed
