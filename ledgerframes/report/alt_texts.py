"""Texts for readers who do not see a plot, computed from what it draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

MAX_ROWS = 3
MIN_POINTS = 3  # a line with fewer marks a limit
Numbers = npt.NDArray[np.float64]


def register_alt_texts() -> None:
    """Let each plot of this notebook carry its text, in the metadata of the output."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()  # type: ignore[no-untyped-call]
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name("matplotlib.figure", "Figure", lambda figure, **_: ({}, {"alt": describe_figure(figure)}))


def describe_figure(figure: Figure) -> str:
    """Return what a figure shows: its titles, its axes, and its largest bars or the range of its lines.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> _, ax = plt.subplots()
    >>> _ = ax.set_title("Requests"), ax.plot([1, 2, 3], [5, 9, 6]), ax.set_xlabel("Hour"), ax.set_ylabel("Requests")
    >>> describe_figure(ax.figure)
    'Requests. Requests by Hour: from 5 to 9, highest at 2.'
    """
    return " ".join(text for ax in figure.axes for text in _sentences(ax))


def _sentences(ax: Axes) -> list[str]:
    titles = [ax.get_title(loc=side) for side in ("left", "center")]
    notes = [text.get_text() for text in ax.texts if text.get_transform() != ax.transData][:1]
    shapes = [*_bars(ax), *_lines(ax)] or _rows(ax)
    axes = " by ".join(text for text in (ax.get_ylabel(), ax.get_xlabel()) if text)
    data = f"{axes}: {'; '.join(shapes)}" if axes and shapes else axes or "; ".join(shapes)
    return [f"{text.rstrip('.')}." for text in (*titles, *notes, data) if text.strip()]


def _bars(ax: Axes) -> list[str]:
    """Return the largest of the bars, the first of them if they are horizontal."""
    from matplotlib.container import BarContainer

    return [text for each in ax.containers if isinstance(each, BarContainer) and (text := _describe_bars(ax, each))]


def _describe_bars(ax: Axes, bars: BarContainer) -> str:
    name = _name(bars.get_label())
    if bars.orientation == "horizontal":
        labels = [label.get_text() for label in ax.get_yticklabels()]
        widths = [f"{label} {_text(ax.xaxis, bar.get_width())}" for label, bar in zip(labels, bars, strict=False) if label]
        more = f" and {len(widths) - MAX_ROWS} more" if len(widths) > MAX_ROWS else ""
        return f"{name}{', '.join(widths[:MAX_ROWS])}{more}"
    heights = np.array([bar.get_height() for bar in bars], dtype=np.float64)
    centers = np.array([bar.get_x() + bar.get_width() / 2 for bar in bars], dtype=np.float64)
    return f"{name}{_describe_range(ax, centers, heights)}"


def _lines(ax: Axes) -> list[str]:
    return [text for line in ax.get_lines() if (text := _describe_line(ax, line))]


def _describe_line(ax: Axes, line: Line2D) -> str:
    x, y = (np.asarray(values, dtype=np.float64) for values in line.get_data())
    if len(x) < MIN_POINTS or (_name(line.get_label()) == "" and len(ax.get_legend_handles_labels()[1]) > 1):
        return ""
    return f"{_name(line.get_label())}{_describe_range(ax, x, y)}"


def _describe_range(ax: Axes, x: Numbers, y: Numbers) -> str:
    if not np.isfinite(y).any():
        return "no value"
    low, high, at = np.nanmin(y), np.nanmax(y), x[np.nanargmax(y)]
    return f"from {_text(ax.yaxis, low)} to {_text(ax.yaxis, high)}, highest at {_text(ax.xaxis, at)}"


def _rows(ax: Axes) -> list[str]:
    """Return the first labels of rows, where neither bars nor lines tell more."""
    labels = [label.get_text() for label in ax.get_yticklabels() if not _is_number(label.get_text())]
    labels = [label for label in labels if label]
    more = f" and {len(labels) - MAX_ROWS} more rows" if len(labels) > MAX_ROWS else ""
    return [f"{', '.join(labels[:MAX_ROWS])}{more}"] if labels else []


def _name(label: Any) -> str:
    """Return the name of a series with a space, empty for one that matplotlib named."""
    text = str(label)
    return "" if not text or text.startswith("_") else f"{text} "


def _text(axis: Axis, value: Any) -> str:
    """Return a value as its axis prints it, a time to the minute."""
    import matplotlib.dates as dates

    if isinstance(axis.get_major_formatter(), dates.ConciseDateFormatter | dates.AutoDateFormatter | dates.DateFormatter):
        return f"{dates.num2date(value):%Y-%m-%d %H:%M}"
    return axis.get_major_formatter().format_data(value) if _is_plain(axis) else axis.get_major_formatter()(value)


def _is_plain(axis: Axis) -> bool:
    from matplotlib.ticker import ScalarFormatter

    return isinstance(axis.get_major_formatter(), ScalarFormatter)


def _is_number(text: str) -> bool:
    return text.replace("−", "").replace(".", "").replace(",", "").replace(" ", "").replace("%", "").isdigit()
