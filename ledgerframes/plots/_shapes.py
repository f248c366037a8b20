"""Bars, lines, areas, rows and cells that several plots share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.analysis.groups import is_true
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._chart import MAX_MARKERS, Chart
from ledgerframes.plots.direct_labels import label_ends, label_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

MAX_LINES = 5
HUES = (0, 1, 3, 4)  # the colors of the style without its gray, which is for all other groups
MAX_GAP = 0.06  # between cells, of a cell
MAX_GAP_OF_ALL = 0.003  # a wider one could be read as a time without data
SHARES_ERROR = 1e-9  # of shares that add up to 1
NAME_ROWS = 0.5  # for a name above the first bar, in rows
WIDTH_WITH_NAMES = 1.4  # of the axes relative to the longest bar, which has a text and a name
TEXT_SHARE = 0.3  # of an axis of changes, for a text at the end of a bar
WIDE_RATIO = 50  # of the largest cost to the median one
HATCHED: dict[str, Any] = {"edgecolor": "white", "linewidth": 0, "hatch": "////"}
FINE, ODD, BAD = "#3b8576", "#c08319", "#8a3f6a"
# Cells that would be too faint without a pattern or an edge.
LESS_FINE: dict[str, Any] = {"facecolor": FINE, **HATCHED}
LESS_BAD: dict[str, Any] = {"facecolor": BAD, **HATCHED}
MISSING: dict[str, Any] = {"facecolor": "#f3e3ec", "edgecolor": BAD, "linewidth": 0.8}
NOTHING: dict[str, Any] = {"facecolor": "#dfe2e6", "edgecolor": "#8a8f98", "linewidth": 0.8}
Values = npt.NDArray[Any]
Part = tuple[str, Values, Mapping[str, Any]]
Styles = Mapping[str, Mapping[str, Any]]
Marker = tuple[str, int, str]  # of points, with the number of their color and what they mean
Judgment = tuple[npt.NDArray[np.bool_], str, int, str]  # its rows, and their marker
MARKER_NAMES = {"D": "Diamond", "x": "Cross"}


# -- bars ---------------------------------------------------------------------------------------------------------------


def bars(
    chart: Chart, labels: Sequence[str], values: r.Numbers, texts: Sequence[str], left: Any = 0, colors: Sequence[str] = ()
) -> BarContainer:
    """Draw horizontal bars from the top down, each with a text at its end.

    The text of a missing value is `unknown`.
    """
    ax, texts = chart.ax, ["unknown" if np.isnan(value) else text for value, text in zip(values, texts, strict=True)]
    values = np.nan_to_num(values)
    drawn = ax.barh(range(len(values)), values, left=left, height=0.7, color=colors or c.color(0), edgecolor="none")
    if r.is_other(labels[-1]):
        drawn[-1].set_facecolor(c.color(2))
    ax.bar_label(drawn, labels=texts, padding=4, fontsize=8, color=c.text_color(ax))
    chart.show_rows(labels)
    ax.set_xlim(0, float((values + left).max()) * 1.22 or 1)
    return drawn


def ranked_bars(chart: Chart, labels: list[str], values: r.Numbers, to_text: Callable[[float], str], shares: r.Numbers) -> float:
    """Draw bars with their shares, the last for all other rows, and return the longest length.

    A missing share has no text. The share of all other rows is missing where rows overlap: a request counts for each of its
    parties.
    """
    rest = shares[r.MAX_ROWS :].sum() if shares.sum() <= 1 + SHARES_ERROR else np.nan
    labels, values = r.group_remaining(labels, values)
    visible = shares if len(shares) == len(values) else np.append(shares[: r.MAX_ROWS], rest)
    texts = [
        to_text(value) + ("" if np.isnan(share) else f"  ({r.percent(share, 1)})")
        for value, share in zip(values, visible, strict=True)
    ]
    bars(chart, labels, values, texts)
    return float(np.nanmax(values))


def stacked_rows(chart: Chart, labels: Sequence[str], parts: Iterable[Part]) -> r.Numbers:
    """Draw a horizontal bar of several parts for each row, and return their sums."""
    base, starts, names, colors = np.zeros(len(labels)), [], [], []
    for text, values, style in parts:
        drawn = chart.ax.barh(range(len(labels)), values, left=base, height=0.7, label=text, **style)
        starts.append(float(base[0]))
        names.append(text)
        colors.append(drawn[0].get_facecolor())
        base = base + values
    chart.ax.bar_label(drawn, labels=[c.size(each) for each in base], padding=4, fontsize=8, color=c.text_color(chart.ax))
    chart.show_rows(labels)
    chart.ax.set_xlim(0, float(base.max()) * 1.22)
    chart.ax.set_ylim(top=chart.ax.get_ylim()[1] - NAME_ROWS * len(names))
    label_parts(chart.ax, starts, names, colors)
    return base


def count_bars(chart: Chart, labels: Sequence[str], counts: Mapping[str, Values], styles: Styles, quantity: str) -> None:
    """Draw the counts of each row, a bar for each outcome that occurs."""
    occurring = [name for name in reversed([*counts]) if counts[name].any()] or [*counts][-1:]
    grouped_bars(chart, labels, {name: counts[name] for name in occurring}, styles, lambda count: f"{count:,.0f}")
    c.count_axis(chart.ax.xaxis, quantity)


def grouped_bars(
    chart: Chart,
    labels: Sequence[str],
    values: Mapping[str, Values],
    styles: Styles,
    to_text: Callable[[float], str],
    intervals: Mapping[str, tuple[Values, Values]] | None = None,
    missing: str = "unknown",
) -> None:
    """Draw a bar of each series in each row.

    The bars of the first row have the names of their series. Intervals are thin lines. A missing value has a text alone.
    """
    ax, height, longest = chart.ax, 0.8 / len(values), 0.0
    for number, (name, lengths) in enumerate(values.items()):
        positions = np.arange(len(labels)) - 0.4 + height * (number + 0.5)
        style = {"linewidth": 0, **styles[name]}
        bars = ax.barh(positions, np.nan_to_num(lengths), height=height, label=name, **style)
        texts = [missing if np.isnan(length) else to_text(length) for length in lengths]
        texts[0] += f"  {name}"
        low, ends = intervals[name] if intervals else (lengths, lengths)
        if intervals:
            ax.hlines(positions, low, ends, color=c.text_color(ax), linewidth=1)
        ends = np.nanmax([np.nan_to_num(lengths), ends], axis=0)
        for text, end in zip(ax.bar_label(bars, texts, padding=3, fontsize=7, color=c.text_color(ax)), ends, strict=True):
            text.xy = (end, text.xy[1])
        longest = max(longest, float(ends.max()))
    chart.show_rows(labels, 0.17 + 0.13 * len(values))
    ax.set_xlim(0, (longest or 1) * WIDTH_WITH_NAMES)


# -- periods and rounds -------------------------------------------------------------------------------------------------


def lines(chart: Chart, table: pd.DataFrame) -> float:
    """Draw the first columns of values by position as lines, and return the highest value."""
    ax, drawn = chart.ax, table.dropna(axis="columns", how="all")
    visible = drawn.iloc[:, :MAX_LINES]
    style: dict[str, Any] = {"marker": "o" if len(table) <= MAX_MARKERS else "", "markersize": 3, "linewidth": 1.2}
    for number, name in enumerate(visible):
        line(ax, table.index.to_numpy(), r.numbers(visible.iloc[:, number]), color=c.color(number), label=name, **style)
    highest = float(np.nanmax(visible.to_numpy(), initial=0))
    if len(table.columns) > 1 and len(visible.columns):
        label_ends(ax)
    ax.set_ylim(0, highest * 1.15 or 1)
    chart.draw_time_axis()
    chart.notes.append(r.omitted_note(len(drawn.columns) - MAX_LINES, MAX_LINES))
    chart.notes.append(r.without_value_note(table))
    return highest


def line(ax: Axes, x: Values, y: r.Numbers, **style: Any) -> None:
    """Draw a line, and a point for each value without neighbors, which no line would show."""
    (drawn,) = ax.plot(x, y, **style)
    missing = np.concatenate([[True], np.isnan(y), [True]])
    is_isolated = ~missing[1:-1] & missing[:-2] & missing[2:]
    if is_isolated.any() and drawn.get_marker() in ("", "None"):
        ax.plot(x[is_isolated], y[is_isolated], "o", color=drawn.get_color(), markersize=3)


def areas(ax: Axes, edges: Values, parts: Iterable[Part], sign: int = 1) -> r.Numbers:
    """Stack values of periods or rounds, downwards with sign -1, and return their sums.

    A missing value has no area, and none of height 0.
    """
    base = np.zeros(len(edges) - 1)
    for text, values, style in parts:
        ax.stairs(sign * (base + values), edges, baseline=sign * base, fill=True, label=text, **{"linewidth": 0, **style})
        base = base + np.nan_to_num(values)
    return base


def largest_parts(table: pd.DataFrame, most: int, colors: Sequence[Any], rest: Any) -> list[Part]:
    """Return the first groups of a table as parts, and the sum of all others as one."""
    values = table.to_numpy("float64").T
    visible = most if len(values) > most + 1 else len(values)
    parts: list[Part] = [(str(table.columns[each]), values[each], {"color": colors[each]}) for each in range(visible)]
    if visible < len(values):
        others = table.iloc[:, visible:].sum(axis=1, min_count=1).to_numpy()
        parts.append((f"{r.OTHER} ({len(values) - visible:,})", others, {"color": rest}))
    return parts


# -- changes -----------------------------------------------------------------------------------------------------------


def change_bars(
    chart: Chart,
    labels: Sequence[str],
    changes: r.Numbers,
    texts: Sequence[str],
    colors: Sequence[str],
    quantity: str,
    set_axis: Callable[..., None],
) -> None:
    """Draw bars to both sides of a line at 0, from the top down, each with a text at its end."""
    bars = chart.ax.barh(range(len(changes)), changes, height=0.7, color=colors)
    chart.ax.bar_label(bars, labels=texts, padding=4, fontsize=8, color=c.text_color(chart.ax))
    chart.show_rows(labels)
    change_axis(chart.ax, changes, quantity, set_axis)
    low, high = chart.ax.get_xlim()
    space = (high - low) * TEXT_SHARE
    chart.ax.set_xlim(low - space * bool((changes < 0).any()), high + space * bool((changes >= 0).any()))


def change_axis(ax: Axes, values: Values, quantity: str, set_axis: Callable[..., None]) -> None:
    """Show changes of rows on both sides of a line at 0."""
    low, high = min(float(np.nanmin(values)), 0), max(float(np.nanmax(values)), 0)
    margin = (high - low) * 0.08 or 1
    ax.axvline(0, color=c.text_color(ax), linewidth=1, zorder=0.5)
    set_axis(ax.xaxis, max(high, -low), quantity)
    ax.set_xlim(low - margin, high + margin)


# -- judgments ----------------------------------------------------------------------------------------------------------


def judgments(differs: pd.Series, unjudged: Marker) -> Iterator[Judgment]:
    """Yield the rows of each judgment that occurs, with their marker."""
    is_different, is_judged = is_true(differs), differs.notna().to_numpy()
    markers = (("o", 0, "as chance explains"), ("D", 1, "more than chance explains"), unjudged)
    for rows, marker in zip((is_judged & ~is_different, is_different, ~is_judged), markers, strict=True):
        if rows.any():
            yield rows, *marker


def marker_note(judgments: Iterable[Judgment]) -> str:
    """Return what the markers of points mean, except that of ordinary ones."""
    return ". ".join(f"{MARKER_NAMES[marker]}: {text}" for _, marker, _, text in judgments if marker in MARKER_NAMES)


# -- cells --------------------------------------------------------------------------------------------------------------


def cell_spans(periods: pd.DataFrame) -> tuple[r.Numbers, r.Numbers]:
    """Return where the cell of each period starts and ends, with a gap after it."""
    starts, ends = (c.time_numbers(periods[name]) for name in ("period_start", "period_end"))
    gaps = np.minimum((ends - starts) * MAX_GAP, (ends.max() - starts.min()) * MAX_GAP_OF_ALL)
    return starts, ends - gaps


def time_limits(periods: pd.DataFrame) -> tuple[float, float]:
    """Return where the first period starts and the last one ends."""
    return c.time_numbers(periods["period_start"]).min(), c.time_numbers(periods["period_end"]).max()


def cells(
    chart: Chart,
    labels: Sequence[str],
    spans: tuple[r.Numbers, r.Numbers],
    rows: Values,
    outcomes: Sequence[str],
    styles: Styles,
) -> None:
    """Draw spans as cells in the styles of their outcomes, with a legend."""
    from matplotlib.patches import Patch

    (starts, ends), outcome = spans, np.array(outcomes)
    for name, style in styles.items():
        for row in np.unique(rows[outcome == name]):
            mask = (outcome == name) & (rows == row)
            strip = list(zip(starts[mask], (ends - starts)[mask], strict=True))
            chart.ax.broken_barh(strip, (row - 0.36, 0.72), label=name, **{"linewidth": 0, **style})
    handles = [Patch(label=name, **style) for name, style in styles.items() if name in set(outcomes)]
    c.legend_right(chart.ax, handles)
    chart.show_rows(labels, 0.35)
    chart.ax.grid(visible=False)


def equal_costs(chart: Chart, estimated: c.Numbers, actual: c.Numbers) -> None:
    """Set axes of two costs to one scale, with the line on which they are equal.

    If one cost is many times the median, the scale is logarithmic. On a linear one, it would push all points into a corner.
    """
    ax, values = chart.ax, np.concatenate([estimated, actual])
    low, high = 0.0, float(values.max()) * 1.05 or 1.0
    set_axis = c.bytes_axis
    if values.min() > 0 and high > WIDE_RATIO * float(np.median(values)):
        low, set_axis = float(values.min()) / 1.05, c.log_bytes_axis
        ax.set(xscale="log", yscale="log")
    equal = ax.plot([low, high], [low, high], color=c.text_color(ax), linewidth=1, linestyle="--", label="equal")
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    label_ends(ax, equal)
    set_axis(ax.xaxis, high, chart.axis_title("estimated"))
    set_axis(ax.yaxis, high, chart.axis_title("actual"))
