"""Style, texts and axes of all plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.plots._fonts import families
from ledgerframes.plots._labels import point_label
from ledgerframes.plots._pyplot import pyplot
from ledgerframes.texts.short_names import display_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis, XAxis, YAxis
    from matplotlib.text import Text

STYLE = Path(__file__).parent.parent / "ledgerframes.mplstyle"
MARK_SETTINGS = ("axes.prop_cycle", "hatch.", "legend.", "lines.", "text.usetex")
SIZE = (9.0, 4.0)
MARGINS = {"left": 0.07, "right": 0.98}  # about those of the layout, which a legend and a note need to know earlier
MINUS = "\N{MINUS SIGN}"
NOTE_SIZE = 8  # of the font of notes, legends and labels of rows, in printer's points
MAX_LABELS = 8  # of points in one picture
LETTER_WIDTH = 0.55  # of the size of the font
MIN_LETTERS = 30  # of a line
BYTE_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B"))
ROUND_STEPS = (1, 2, 2.5, 5, 10)
Numbers = npt.NDArray[np.float64]


@contextmanager
def canvas(ax: Axes | None) -> Iterator[Axes]:
    """Yield axes to draw on, new ones without `ax`, in the style of these plots.

    The user's own axes keep their text, ticks and grid, because those of the style could be dark on dark there.
    """
    plt = pyplot()
    if not isinstance(ax, plt.Axes | None):
        raise UsageError(f"ax= must be axes of matplotlib, such as those of plt.subplots(), got {type(ax).__name__}.")
    plt.draw_if_interactive()  # loads the backend now, which in a notebook changes settings that the style would change back
    if ax is not None:
        with plt.rc_context(_mark_settings()):
            yield ax
        return
    with style():
        figure, ax = plt.subplots(figsize=SIZE, layout="constrained", gridspec_kw=MARGINS)
        try:
            yield ax
        except BaseException:
            plt.close(figure)  # a notebook would show an empty figure
            raise
        for axis in (axis for each in (ax, *ax.child_axes) for axis in (each.xaxis, each.yaxis)):
            # matplotlib makes ticks when it draws, in the style of that time. Made here, they have this style.
            axis.get_major_ticks(len(axis.get_majorticklocs()))


@contextmanager
def style() -> Iterator[None]:
    """Apply the style of these plots, with the installed fonts for other scripts."""
    with pyplot().style.context([STYLE, {"font.family": families()}]):
        yield


def _mark_settings() -> dict[str, Any]:
    """Return the settings of the style for lines, bars, the legend and the letters of names."""
    from matplotlib import rc_params_from_file

    settings = rc_params_from_file(STYLE, use_default_template=False)
    marks: dict[str, Any] = {name: value for name, value in settings.items() if name.startswith(MARK_SETTINGS)}
    return marks | {"font.family": families()}


def color(number: int) -> str:
    """Return a color of the style as a value, because `C0` could later be the user's."""
    from matplotlib import rcParams

    colors = rcParams["axes.prop_cycle"].by_key()["color"]
    return str(colors[number % len(colors)])


def band(color: str) -> dict[str, Any]:
    """Return the style of a band, visible with its lines on light and on dark paper."""
    return {"facecolor": (color, 0.25), "edgecolor": color, "linewidth": 0.8}


def text_color(ax: Axes) -> str:
    """Return the text color of these axes, which can be the user's own on a dark page."""
    return str(ax.xaxis.label.get_color())


# -- texts --------------------------------------------------------------------------------------------------------------


def set_titles(ax: Axes, title: str, *notes: str, label_height: float = 0, label_width: float = 0) -> None:
    """Set the title, and in small type below it the limitations, clear of the labels."""
    line_width = width(ax) - label_width
    note = _lines(". ".join(part for part in notes if part), line_width, NOTE_SIZE)
    pad = 20 + 10 * note.count("\n") if note else 8
    ax.set_title(_lines(title, line_width, float(ax.title.get_fontsize())), loc="left", pad=label_height + pad)
    if note:
        written = annotate(ax, note, (0, 1), (0, label_height + 4), "axes fraction", va="bottom")
        written.set_in_layout(False)  # the layout would narrow the axes to make room


def text_width(text: str) -> float:
    """Return about the width of the longest line of a label, in printer's points."""
    return max(map(display_width, text.split("\n"))) * NOTE_SIZE * LETTER_WIDTH


def width(ax: Axes) -> float:
    """Return the width of axes, in printer's points."""
    return float(ax.get_window_extent().width * 72 / ax.figure.dpi)


def _lines(text: str, width: float, font_size: float) -> str:
    letters = max(int(width / font_size / LETTER_WIDTH), MIN_LETTERS)
    return fill(text, letters, break_long_words=False, break_on_hyphens=False)


def annotate(ax: Axes, text: str, point: tuple[float, float], shift: tuple[float, float], coordinates: Any, **style: Any) -> Text:
    """Write a text next to a point, shifted by printer's points."""
    style = {"color": text_color(ax), "fontsize": NOTE_SIZE, **style}
    return ax.annotate(text, point, xycoords=coordinates, xytext=shift, textcoords="offset points", **style)


def label_points(ax: Axes, x: Iterable[float], y: Iterable[float], texts: Iterable[str]) -> None:
    """Write a text above each of a few points, and nothing above many."""
    points = list(zip(x, y, texts, strict=True))
    for at, height, text in points if len(points) <= MAX_LABELS else ():
        label_point(ax, text, (at, height), 6)


def label_point(ax: Axes, text: str, point: tuple[float, float], rise: float, **style: Any) -> None:
    """Write a text above a point by so many printer's points, within the axes."""
    from matplotlib.transforms import IdentityTransform

    style = {"color": text_color(ax), "fontsize": NOTE_SIZE, "clip_on": False, **style}
    label = point_label()(text, point, xycoords="data", xytext=(0, rise), textcoords="offset points", **style)
    # Without this, the layout would take the shift for data, which a logarithmic axis does not have.
    label.set_transform(IdentityTransform())
    ax.add_artist(label)


def label_vertical_line(ax: Axes, text: str, position: float) -> None:
    """Write the name of a vertical line above axes whose limits are set."""
    label_point(ax, text, (position, ax.get_ylim()[1]), 2, annotation_clip=False)


def draw_message(ax: Axes, text: str) -> None:
    """Write a sentence on axes without data."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=text_color(ax))


def panel_below(ax: Axes) -> Axes:
    """Return axes below others over the same time, for a quantity of another unit.

    With one axis on the left and one on the right, only the scales would decide where the lines cross.
    """
    spec, figure = ax.get_subplotspec(), ax.figure
    if spec is None:  # axes that were placed by hand
        box = ax.get_position()
        ax.set_position((box.x0, box.y0 + box.height * 0.54, box.width, box.height * 0.46))
        panel = figure.add_axes((box.x0, box.y0, box.width, box.height * 0.42), sharex=ax)
    else:
        rows = spec.subgridspec(2, 1)
        ax.set_subplotspec(rows[0])
        panel = figure.add_subplot(rows[1], sharex=ax)
    ax.tick_params(axis="x", labelbottom=False)
    return panel


def legend_right(ax: Axes, handles: Sequence[Any]) -> None:
    """Show the legend of cells to the right of the axes, as they can be anywhere inside."""
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1, 1), frameon=False, labelcolor=text_color(ax))


def plain(number: float) -> str:
    """Return a number with up to ten digits, and never with an exponent."""
    return f"{Decimal(f'{number:.10g}'):,f}".replace("-", MINUS)


def size(number: float) -> str:
    """Return bytes as text, such as `5.2 kB`."""
    scale, unit = _byte_unit(number)
    digits = 0 if scale == 1 else 1
    return f"{number / scale:,.{digits}f} {unit}".replace("-", MINUS)


def weight(number: float) -> str:
    """Return an activity weight as text, such as `5.2 weighted kB`."""
    amount, _, unit = size(number).partition(" ")
    return f"{amount} weighted {unit}"


def _byte_unit(number: float) -> tuple[int, str]:
    return next((pair for pair in BYTE_UNITS if abs(number) >= pair[0]), BYTE_UNITS[-1])


# -- axes with units ----------------------------------------------------------------------------------------------------


def number_axis(axis: Axis, label: str, to_text: Callable[[float], str], **ticks: Any) -> None:
    """Show numbers as texts at only a few ticks."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6, min_n_ticks=1, **ticks))
    axis.set_major_formatter(FuncFormatter(lambda number, _: to_text(number)))
    axis.set_label_text(label)


def bytes_axis(axis: Axis, largest: float, quantity: str) -> None:
    """Show plain numbers at the ticks and the unit in the label."""
    scale, unit = _byte_unit(largest)
    number_axis(axis, f"{quantity} ({unit})", lambda number: plain(number / scale), steps=ROUND_STEPS)


def log_bytes_axis(axis: Axis, largest: float, quantity: str) -> None:
    """Show bytes with their unit at the ticks of a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    subs = (1.0,) if largest > 1_000_000 else (1.0, 3.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda number, _: size(number).replace(".0 ", " ")))
    axis.set_minor_formatter(NullFormatter())
    axis.set_label_text(quantity)


def weight_axis(axis: Axis, largest: float, quantity: str = "Activity weight") -> None:
    """Show activity weights, which are bytes times a factor, not bytes that somebody paid."""
    scale, unit = _byte_unit(largest)
    number_axis(axis, f"{quantity} (weighted {unit})", lambda number: plain(number / scale), steps=ROUND_STEPS)


def count_axis(axis: Axis, quantity: str) -> None:
    """Show whole numbers."""
    number_axis(axis, quantity, lambda number: f"{number:,.0f}".replace("-", MINUS), integer=True)


def amount_axis(axis: Axis, quantity: str) -> None:
    """Show amounts of coin."""
    number_axis(axis, f"{quantity} (coin)", plain, steps=ROUND_STEPS)


def percent_axis(axis: Axis, quantity: str) -> None:
    """Show parts of a whole as percent, without ticks above 100."""
    from matplotlib.ticker import MaxNLocator

    class UpToWhole(MaxNLocator):
        def tick_values(self, vmin: float, vmax: float) -> list[float]:
            return [tick for tick in super().tick_values(vmin, vmax) if tick <= 1]

    ratio_axis(axis, quantity)
    axis.set_major_locator(UpToWhole(6, min_n_ticks=1, steps=ROUND_STEPS))


def ratio_axis(axis: Axis, quantity: str) -> None:
    """Show quotients as percent, which can be above 100."""
    number_axis(axis, f"{quantity} (%)", lambda number: plain(number * 100), steps=ROUND_STEPS)


def time_text(number: float) -> str:
    """Return a time as text, to the minute, and midnight as a date."""
    return _minute_text(number).removesuffix(" 00:00")


def period_text(edges: Numbers) -> Callable[[float], str]:
    """Return a function for the start of the period at a time as text.

    It is a date if all periods start at midnight.
    """
    to_text = time_text if (edges[:-1] % 1 == 0).all() else _minute_text
    return lambda number: to_text(edges[np.searchsorted(edges[1:], number, side="right")])


def round_text(edges: Numbers) -> Callable[[float], str]:
    """Return a function for the round at a position as text.

    It names the first and the last round of a bin.
    """

    def to_text(number: float) -> str:
        after = int(np.clip(np.searchsorted(edges, number, side="right"), 1, len(edges) - 1))
        first, last = edges[after - 1] + 0.5, edges[after] - 0.5
        return f"{first:.0f}" if first == last else f"{first:.0f} to {last:.0f}"

    return to_text


def _minute_text(number: float) -> str:
    from matplotlib.dates import num2date

    return f"{num2date(number):%Y-%m-%d %H:%M}"  # type: ignore[no-untyped-call]


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
    axis.set_major_formatter(FuncFormatter(lambda number, _: plain(number)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_label_text(f"{quantity} (s)")


def row_labels(ax: Axes, labels: Sequence[str]) -> None:
    """Show one label per row, the first at the top."""
    ax.set_yticks(range(len(labels)), labels=list(labels), fontfamily=families())
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)


def counts_of_bars(ax: Axes, largest: float, quantity: str) -> None:
    """Show counts from 0, with room for a text at the end of each bar."""
    ax.set_xlim(0, max(largest, 1) * 1.22)
    count_axis(ax.xaxis, quantity)


def time_numbers(times: pd.Series) -> Numbers:
    """Return times as days since 1970, as matplotlib counts them."""
    return times.astype("int64").to_numpy() / 86_400e6
