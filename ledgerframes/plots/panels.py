"""Panels for the largest groups of a result, all on one scale.

The panels stand inside the axes of the plot, which have the title, the notes and the labels of both quantities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._chart import MAX_MARKERS, Chart
from ledgerframes.plots._shapes import line
from ledgerframes.texts.short_names import break_before_fingerprints, number_repeated, without_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.transforms import Bbox

OWN_LINE = "_own"  # label of the line of a panel's own group, among the others of the panel
NO_VALUE = "No value is known in this window."
MAX_PANELS = 12
MAX_COLUMNS = 4
MAX_TICKS = 3  # of each axis
LEFT, BELOW, NAME, GAP = 36, 16, 20, 30  # printer's points for the labels of ticks, the name of a panel, and between two
NAME_LINE = 10  # printer's points of each further line of a name
TICK_SIZE = 7
DIGIT_WIDTH = 0.64 * TICK_SIZE
MIN_WIDTH = 95  # of a panel, in printer's points
MIN_HEIGHT, ROW_HEIGHT, AROUND_ROWS = 3.4, 1.15, 1.4  # inches
MIN_RATIO = 20  # of the ends of a logarithmic axis, which has ticks at powers of 10 and three times that
SetAxis = Callable[["XAxis | YAxis", float], None]  # shows the quantity on an axis up to its highest value


def panels(
    chart: Chart,
    table: pd.DataFrame,
    set_axis: SetAxis,
    to_text: Callable[[float], str],
    *,
    low: float = 0,
    marks: pd.DataFrame | None = None,
    around: pd.Series | None = None,
) -> Mapping[str, Axes]:
    """Draw a panel for each of the first columns of a table, and return them by column.

    A text stands at the values that `marks` has if the texts fit, or else at the highest one. `around` is a gray line in
    each panel. Without a value, a sentence stands instead of the panels.
    """
    drawn = table.dropna(axis="columns", how="all")
    if drawn.empty:
        c.draw_message(chart.ax, NO_VALUE)
        return {}
    visible = drawn.iloc[:, :MAX_PANELS]
    highest = float(np.nanmax(visible.to_numpy(), initial=low))
    set_axis(chart.ax.yaxis, highest)
    of_columns = {}
    for number, name in enumerate(visible):
        panel = chart.ax.inset_axes((0, 0, 1, 1), facecolor="none")
        copy = replace(chart, ax=panel, is_new=False, is_panel=True, notes=[])
        marked = np.zeros(len(visible), dtype=bool) if marks is None else marks[name].to_numpy(dtype=bool)
        _draw_panel(copy, visible.iloc[:, number], marked, around, to_text)
        set_axis(panel.yaxis, highest)
        panel.set_ylim(low, _top(low, highest, panel.get_yscale()))
        label = panel.get_xlabel()
        _reduce_labels(panel)
        of_columns[str(name)] = panel
        if number == 0:
            chart.notes += copy.notes
            chart.ax.set_xlabel(label, loc="left")
    _clear(chart.ax)
    width = c.width(chart.ax) - _label_width(chart.ax)
    columns = column_count(len(of_columns), width)
    letters = int((width - GAP * columns) / columns / c.NOTE_SIZE / c.LETTER_WIDTH)
    names = r.shorten([break_before_fingerprints(name) for name in of_columns], letters)
    for panel, name in zip(of_columns.values(), number_repeated(names), strict=True):
        _set_name(panel, name)
    arrange(chart.ax, columns)
    chart.set_height(height(chart.ax, columns))
    chart.notes.append(r.omitted_note(len(drawn.columns) - MAX_PANELS, MAX_PANELS))
    chart.notes.append(r.without_value_note(table))
    return of_columns


def shorten_names(ax: Axes, letters: int) -> None:
    """Shorten the lines of the names of panels, so that different names stay different."""
    panels = cast("list[Axes]", ax.child_axes)
    lines = (panel.get_title(loc="left").split("\n") for panel in panels)
    names = number_repeated(["\n".join(without_middle(line, letters) for line in of_panel) for of_panel in lines])
    for panel, name in zip(panels, names, strict=True):
        _set_name(panel, name)


def _set_name(panel: Axes, name: str) -> None:
    panel.set_title(name, loc="left", fontsize=c.NOTE_SIZE, pad=4)


def _draw_panel(
    chart: Chart,
    values: pd.Series,
    marked: npt.NDArray[np.bool_],
    around: pd.Series | None,
    to_text: Callable[[float], str],
) -> None:
    """Draw the values of one group over time."""
    ax, x, y = chart.ax, values.index.to_numpy(), r.numbers(values)
    if around is not None:
        line(ax, around.index.to_numpy(), r.numbers(around), color=c.color(2), linewidth=1, label="_around")
    style: dict[str, Any] = {"marker": "o" if len(values) <= MAX_MARKERS else "", "markersize": 2.5, "linewidth": 1.2}
    line(ax, x, y, color=c.color(0), label=OWN_LINE, **style)
    ax.plot(x[marked], y[marked], "D", color=c.color(1), markersize=4, label="_marked")
    chart.draw_time_axis()
    texts = np.flatnonzero(marked & ~np.isnan(y))
    if not len(texts) or not _fit(ax, x[texts], [to_text(value) for value in y[texts]]):
        texts = np.array([np.nanargmax(y)])
    for at in texts:
        c.label_point(ax, to_text(y[at]), (x[at], y[at]), 4, fontsize=TICK_SIZE)


def _fit(ax: Axes, x: r.Numbers, texts: list[str]) -> bool:
    """Return whether texts above points lie next to each other in the narrowest panel."""
    first, last = ax.get_xlim()
    width = max(map(len, texts)) * DIGIT_WIDTH
    middles = np.clip((x - first) / (last - first) * MIN_WIDTH, width / 2, MIN_WIDTH - width / 2)  # no text leaves its panel
    return bool((np.diff(middles) >= width).all())


def _top(low: float, highest: float, scale: str) -> float:
    """Return the end of an axis, with room for a text above the highest value."""
    if scale == "log":
        return max(highest * 2, low * MIN_RATIO)
    return highest + (highest - low) * 0.35 if highest > low else low + 1


# -- positions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Locator:
    """Position of a panel inside axes of any size."""

    parent: Axes
    number: int
    columns: int
    rows: int
    left: float
    name: float

    def __call__(self, panel: object, renderer: object) -> Bbox:
        """Return the position as a part of the figure, for matplotlib."""
        from matplotlib.transforms import Bbox

        box, point = self.parent.bbox, self.parent.figure.dpi / 72  # pixels
        row, column = divmod(self.number, self.columns)
        width = (box.width - (self.left + GAP * (self.columns - 1)) * point) / self.columns
        height = max((box.height - BELOW * point) / self.rows - self.name * point, 1)
        left = box.x0 + self.left * point + column * (width + GAP * point)
        position = Bbox.from_bounds(left, box.y1 - (row + 1) * (height + self.name * point), max(width, 1), height)
        return position.transformed(self.parent.figure.transSubfigure.inverted())


def arrange(ax: Axes, columns: int) -> None:
    """Place the panels of axes in so many columns.

    Labels of ticks stand at the first column and the last row, and their date at the last panel.
    """
    count = len(ax.child_axes)
    left = _label_width(ax) if count else LEFT
    name = NAME + _further_lines(ax) * NAME_LINE
    for number, panel in enumerate(ax.child_axes):
        panel.set_axes_locator(Locator(ax, number, columns, -(-count // columns), left, name))
        panel.tick_params(labelleft=number % columns == 0, labelbottom=number + columns >= count)
        panel.xaxis.get_offset_text().set_visible(number == count - 1)


def _label_width(ax: Axes) -> float:
    """Return the room for the labels of ticks at the first column, in printer's points."""
    axis = ax.child_axes[0].yaxis
    letters = max(map(len, axis.get_major_formatter().format_ticks([*axis.get_majorticklocs()])), default=0)
    return max(LEFT, letters * DIGIT_WIDTH + TICK_SIZE)


def column_count(count: int, width: float) -> int:
    """Return how many columns of panels fit into a width in printer's points."""
    return max(1, min(count, MAX_COLUMNS, int(width // (MIN_WIDTH + GAP))))


def height(ax: Axes, columns: int) -> float:
    """Return the height of a figure for the panels of axes in so many columns, in inches."""
    row_height = ROW_HEIGHT + _further_lines(ax) * NAME_LINE / 72
    return max(MIN_HEIGHT, AROUND_ROWS + row_height * -(-len(ax.child_axes) // columns))


def _further_lines(ax: Axes) -> int:
    """Return how many lines the longest name of a panel has after the first one."""
    panels = cast("list[Axes]", ax.child_axes)
    return max((panel.get_title(loc="left").count("\n") for panel in panels), default=0)


def _clear(ax: Axes) -> None:
    """Remove all of the axes except what stands around them."""
    ax.set(xscale="linear", yscale="linear")
    ax.set(xticks=[], yticks=[], facecolor="none")
    ax.spines[:].set_visible(False)
    ax.grid(visible=False)


def _reduce_labels(panel: Axes) -> None:
    """Keep only a few small ticks."""
    from matplotlib.dates import HOURLY, MINUTELY, MONTHLY, SECONDLY, AutoDateLocator
    from matplotlib.ticker import LogLocator, MaxNLocator

    panel.set(xlabel="", ylabel="")
    panel.tick_params(labelsize=TICK_SIZE)
    panel.xaxis.get_offset_text().set_fontsize(TICK_SIZE)
    for axis in (panel.xaxis, panel.yaxis):
        locator = axis.get_major_locator()
        if isinstance(locator, AutoDateLocator):
            locator.minticks, locator.maxticks = 2, dict.fromkeys(locator.maxticks, MAX_TICKS + 1)
            # Without a whole day, hour, minute or year, no interval gives so few ticks over a time of almost two of them.
            for unit, whole in ((SECONDLY, 60), (MINUTELY, 60), (HOURLY, 24), (MONTHLY, 12)):
                locator.intervald[unit] = [*locator.intervald[unit], whole]
        elif isinstance(locator, MaxNLocator):
            locator.set_params(nbins=MAX_TICKS)
        elif isinstance(locator, LogLocator):
            locator.set_params(numticks=MAX_TICKS + 1)
