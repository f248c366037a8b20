"""Style, axes, units, bars and lines of all plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.extras import extra_for
from ledgerframes.plot._results import MAX_LINES, OTHER, omitted_note

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis, XAxis, YAxis
    from matplotlib.container import BarContainer

STYLE = Path(__file__).parent.parent / "ledgerframes.mplstyle"
MARK_SETTINGS = ("axes.prop_cycle", "hatch.", "legend.", "lines.", "text.usetex")
WIDTH = 9.0
BYTE_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B"))
Numbers = npt.NDArray[np.float64]


def pyplot() -> ModuleType:
    """Import pyplot, late because the import takes a second and matplotlib is an extra."""
    with extra_for("lf.plot"):
        from matplotlib import pyplot
    return pyplot


@contextmanager
def canvas(ax: Axes | None, height: float = 4.0) -> Iterator[Axes]:
    """Yield axes to draw on, new ones without `ax`, in the style of these plots.

    The user's own axes keep their text, ticks and grid: those of the style would be dark on dark there.
    """
    plt = pyplot()
    plt.draw_if_interactive()  # loads the backend now: in a notebook it changes settings, which the style would change back
    if ax is not None:
        with plt.rc_context(_mark_settings()):
            yield ax
        return
    with plt.style.context(STYLE):
        _, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        yield ax
        for axis in (ax.xaxis, ax.yaxis):
            # matplotlib makes ticks when it draws, in the style of that time. Made here, they have this style.
            axis.get_major_ticks(len(axis.get_majorticklocs()))


def _mark_settings() -> dict[str, Any]:
    """Return the settings of the style for lines, bars and the legend."""
    from matplotlib import rc_params_from_file

    style = rc_params_from_file(STYLE, use_default_template=False)
    return {name: value for name, value in style.items() if name.startswith(MARK_SETTINGS)}


def color(number: int) -> str:
    """Return a color of the style as a fixed value.

    Matplotlib would look up `C0` in the user's style later.
    """
    from matplotlib import rcParams

    colors = rcParams["axes.prop_cycle"].by_key()["color"]
    return str(colors[number % len(colors)])


def text_color(ax: Axes) -> str:
    """Return the text color of these axes, which can be the user's own on a dark page."""
    return str(ax.xaxis.label.get_color())


def height_for_rows(count: int) -> float:
    """Return the height of a plot with this many rows, in inches."""
    return 1.5 + 0.3 * max(count, 1)


# -- texts --------------------------------------------------------------------------------------------------------------


def set_titles(ax: Axes, title: str, *notes: str) -> None:
    """Set the title, and below it in small the limitations."""
    note = ". ".join(part for part in notes if part)
    ax.set_title(title, loc="left", pad=20 if note else 8)
    ax.annotate(
        note, (0, 1), xycoords="axes fraction", xytext=(0, 6), textcoords="offset points", fontsize=8, color=text_color(ax)
    )


def draw_message(ax: Axes, text: str) -> Axes:
    """Return axes without data that state the reason."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=text_color(ax))
    return ax


# -- axes with units ----------------------------------------------------------------------------------------------------


def size(number: float) -> str:
    """Return bytes as text, such as `5.2 kB`."""
    scale, unit = _byte_unit(number)
    digits = 0 if scale == 1 else 1
    return f"{number / scale:,.{digits}f} {unit}"


def bytes_axis(axis: Axis, largest: float, quantity: str) -> None:
    """Show plain numbers at the ticks and the unit in the label."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    scale, unit = _byte_unit(largest)
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number / scale:,.6g}"))
    axis.set_label_text(f"{quantity} ({unit})")


def count_axis(axis: Axis, quantity: str) -> None:
    """Show whole numbers."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6, integer=True))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,.0f}"))
    axis.set_label_text(quantity)


def percent_axis(axis: Axis, quantity: str) -> None:
    """Show shares as percent."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number * 100:.4g}"))
    axis.set_label_text(f"{quantity} (%)")


def time_axis(axis: Axis) -> None:
    """Show few, readable dates in UTC, in any time zone of the user."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(tz=UTC, minticks=4, maxticks=9)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, tz=UTC)  # type: ignore[no-untyped-call]
    formatter.formats = ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"]
    formatter.zero_formats = ["", "%b %Y", "%d %b", "%d %b", "%H:%M", "%H:%M"]
    formatter.offset_formats = ["", "", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y %H:%M"]
    axis.set_major_formatter(formatter)
    axis.set_label_text("Record time (UTC)")


def period_axis(ax: Axes, frame: pd.DataFrame) -> None:
    """Show the time of all periods, and those that are partial in gray."""
    time_axis(ax.xaxis)
    ax.set_xlim(time_numbers(frame["period_start"]).min(), time_numbers(frame["period_end"]).max())
    partial = frame[frame["is_partial"].fillna(value=False).astype(bool)].drop_duplicates("period_start")
    starts = time_numbers(partial["period_start"])
    intervals = list(zip(starts, time_numbers(partial["period_end"]) - starts, strict=True))
    ax.broken_barh(intervals, (0, 1), transform=ax.get_xaxis_transform(), color="0.5", alpha=0.15, linewidth=0, zorder=0)


def hour_axis(ax: Axes) -> None:
    """Show the hours of the day."""
    ax.set_xticks(range(0, 24, 2))
    ax.set_xlim(-0.7, 23.7)
    ax.set_xlabel("Hour of day (UTC)")


def latency_axis(axis: XAxis | YAxis, quantity: str) -> None:
    """Show seconds on a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    set_scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    set_scale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())
    axis.set_label_text(f"{quantity} (s)")


def time_numbers(times: pd.Series) -> Numbers:
    """Return times as days since 1970, as matplotlib counts them."""
    return times.astype("int64").to_numpy() / 86_400e6


def _byte_unit(number: float) -> tuple[int, str]:
    return next((pair for pair in BYTE_UNITS if abs(number) >= pair[0]), BYTE_UNITS[-1])


# -- bars, rows and lines -----------------------------------------------------------------------------------------------


def bars(ax: Axes, labels: Sequence[str], values: Sequence[float], texts: Sequence[str]) -> BarContainer:
    """Draw horizontal bars from the top down, each with a text at its end."""
    drawn = ax.barh(range(len(values)), values, height=0.7, color=color(0), edgecolor="none")
    if labels[-1].startswith(OTHER):
        drawn[-1].set_facecolor(color(2))
    ax.bar_label(drawn, labels=list(texts), padding=4, fontsize=8, color=text_color(ax))
    row_labels(ax, labels)
    ax.set_xlim(0, max([*values, 1]) * 1.22)
    return drawn


def row_labels(ax: Axes, labels: Sequence[str]) -> None:
    """Show one label per row, the first at the top."""
    ax.set_yticks(range(len(labels)), labels=list(labels))
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)


def lines_over_time(ax: Axes, table: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Draw the first groups as lines, and return a note on the omitted groups.

    Points are in the middle of their periods.
    """
    visible = table.iloc[:, :MAX_LINES]
    periods = frame.drop_duplicates("period_start").sort_values("period_start")
    times = (time_numbers(periods["period_start"]) + time_numbers(periods["period_end"])) / 2
    for number, name in enumerate(visible):
        ax.plot(times, visible.iloc[:, number], color=color(number), marker="o", markersize=3, linewidth=1.2, label=name)
    ax.legend(loc="upper left", ncols=2)
    ax.set_ylim(0, float(np.nanmax(visible.to_numpy(), initial=0)) * 1.4 or 1)
    period_axis(ax, frame)
    return omitted_note(len(table.columns) - MAX_LINES, MAX_LINES)
