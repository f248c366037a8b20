"""Pictures of figures that declare which column to draw.

They have a bar for each row, or a line over time for each group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ledgerframes.analysis import FIGURES, SHARE
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws

if TYPE_CHECKING:
    from matplotlib.axis import Axis


def draw_column(chart: Chart) -> None:
    """Draw the column that the figure declares."""
    values, ax = chart.numbers(chart.figure.drawn), chart.ax
    if chart.is_over_time:
        show_axis(ax.yaxis, chart, s.lines(chart, chart.group_table(values, values)))
    else:
        order = np.argsort(-np.nan_to_num(values), kind="stable")[: r.MAX_ROWS]
        labels = row_names(chart)
        s.bars(chart, [labels[row] for row in order], values[order], [c.plain(value) for value in values[order]])
        show_axis(ax.xaxis, chart, float(np.nanmax(values)))
        chart.notes.append(r.omitted_note(len(values) - len(order), len(order)))
    chart.show_titles(r.lowest_coverage_note(chart.frame, chart.figure.condition))


def row_names(chart: Chart) -> list[str]:
    """Return each row's name, its group or its first texts in a figure without groups."""
    texts = [column.name for column in chart.figure.columns if column.dtype in ("str", "category")]
    if chart.figure.by or not texts:
        return chart.labels()
    return [",\n".join(map(r.label, row)) for row in zip(*(chart.frame[name] for name in texts[:2]), strict=True)]


def show_axis(axis: Axis, chart: Chart, largest: float) -> None:
    """Show the unit of the column."""
    column = chart.figure.column(chart.figure.drawn)
    if column.unit == "bytes":
        c.bytes_axis(axis, largest, column.title)
    elif column.unit == SHARE:
        c.percent_axis(axis, column.title)
    elif column.unit == "coin":
        c.amount_axis(axis, column.title)
    elif column.unit == "microseconds":
        c.number_axis(axis, f"{column.title} (s)", c.plain)
    else:
        c.count_axis(axis, column.title)


for figure in FIGURES.values():
    if figure.drawn:
        title = figure.column(figure.drawn).title
        empty = f"Nothing to draw: no row has a value of {figure.drawn}."
        only_zero = f"All known values of {figure.drawn} are 0."
        draws(figure.name, title, empty=empty, column=figure.drawn, only_zero=only_zero)(draw_column)
