"""Shared parts of all plots: style, axes, units and labels.

Text from the network is not trusted: labels cut it, replace characters that a font cannot show, and never read it as mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.analysis import CALLS, FIGURES, Figure
from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis, XAxis, YAxis
    from matplotlib.container import BarContainer

STYLE = Path(__file__).parent.parent / "ledgerframes.mplstyle"
MARK_SETTINGS = ("axes.prop_cycle", "hatch.", "legend.", "lines.", "text.usetex")
WIDTH = 9.0
MAX_LABEL = 38
MAX_BARS = 15
MAX_ROWS = 25
MAX_LINES = 5
OTHER = "other"
BYTE_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B"))
PERIOD_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
RESULTS = {
    "VERDICT_RESULT_ACCEPTED": ("accepted", "-", 0),
    "VERDICT_RESULT_REJECTED": ("rejected", "--", 1),
    "VERDICT_RESULT_UNSPECIFIED": ("unspecified", ":", 2),
}

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ResultShape:
    """The figure that a DataFrame is a result of, and the way its rows are grouped."""

    figure: Figure
    by: str | None
    has_periods: bool

    @property
    def keys(self) -> list[str]:
        """Names of the columns that name the group."""
        return self.figure.grouping(self.by).key_names

    def title(self, column: str) -> str:
        """Return the axis label of a declared column, without its unit."""
        return self.figure.column(column).title


def check_result(frame: object, name: str) -> ResultShape:
    """Return the shape of a figure's result.

    Raises
    ------
    UsageError
        If `frame` is not a result of the figure.
    """
    figure, advice = FIGURES[name], f"Pass the result of {CALLS[name]} to lf.plot.{name.replace('.', '_')}"
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"{advice}, got {type(frame).__name__}.")
    missing = [column.name for column in figure.columns if column.name not in frame]
    if missing:
        raise UsageError(f"{advice}, got a DataFrame without column {missing[0]!r}.")
    leading = list(frame.columns[: frame.columns.get_loc(figure.columns[0].name)])
    has_periods = leading[:1] == ["period_start"]
    keys = leading[2:] if has_periods else leading
    for by in (None, *figure.by):
        if figure.grouping(by).key_names == keys:
            return ResultShape(figure, by, has_periods)
    raise UsageError(f"{advice}, got a DataFrame grouped by {', '.join(map(str, keys))}.")


def pyplot() -> ModuleType:
    """Import pyplot, late because the import takes a second and matplotlib is an extra."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise UsageError("Plots require matplotlib. Install it with: pip install 'ledgerframes[plot]'.") from error
    return pyplot


@contextmanager
def canvas(ax: Axes | None, height: float = 4.0) -> Iterator[Axes]:
    """Yield axes to draw on, new ones unless `ax` is given; the style holds only inside.

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
    """Return a color of the style as a fixed value, because `C0` would be looked up in the user's style later."""
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


def known_share_note(frame: pd.DataFrame, fact: str = "Cost") -> str:
    """Return the share of requests that the plot is made from, or an empty text if it is all of them."""
    shares = frame["known_share"].dropna()
    if shares.empty or shares.min() == 1:
        return ""
    if "requests" not in frame:  # the share of all cannot be computed from those of groups of unknown size
        text = f"{min(shares.min() * 100, 99.9):.3g}% of requests"
        return f"{fact} known for {text}" if shares.nunique() == 1 else f"{fact} known for at least {text} in each row"
    requests = frame["requests"].loc[shares.index]
    return f"{fact} known for {min((shares * requests).sum() / requests.sum() * 100, 99.9):.3g}% of requests"


def omitted_note(omitted: int, shown: int = MAX_ROWS) -> str:
    """Return how many groups are left out, or an empty text."""
    return f"The {shown} largest groups, {omitted:,} more not shown" if omitted > 0 else ""


def label(text: object, max_length: int = MAX_LABEL) -> str:
    """Return a text of the network, safe and short: the middle of long party ids and names is left out."""
    if not isinstance(text, str):
        return "unknown"
    text = "".join(letter if " " <= letter <= "~" else "?" for letter in text)
    party = re.fullmatch(r"(.*)::(\w{6})\w{4,}(\w{2})", text)
    if party:
        text = f"{_cut(party[1], max_length - 12)}::{party[2]}…{party[3]}"
    return _cut(text, max_length).replace("$", r"\$")


def join_parties(texts: object) -> str:
    """Return the first two of a list of parties, and the number of others."""
    names = texts.split(", ") if isinstance(texts, str) else []
    more = f" + {len(names) - 2}" if len(names) > 2 else ""
    return ", ".join(label(name, 30) for name in names[:2]) + more


def template_label(template_name: object, choice: object, fallback: str = "no visible update") -> str:
    """Return template and choice as one label."""
    if not isinstance(template_name, str):
        return fallback
    return label(template_name + ("." + choice if isinstance(choice, str) else " (create)"), 44)


WITHOUT_TEMPLATE = {"reassignment": "reassignments", "transaction": "transaction without a tree"}
LABELS: dict[str | None, Callable[..., str]] = {
    "template": lambda *keys: template_label(keys[-2], keys[-1], WITHOUT_TEMPLATE.get(str(keys[0]), "no visible update")),
    "view": lambda template_name, choice, view_id: f"{template_label(template_name, choice)}, view {view_id}",
    "hour": lambda hour: f"{hour:02d}:00",
    "day": lambda day: f"{day:%Y-%m-%d}",
    "result": lambda result: RESULTS[result][0] if result in RESULTS else label(result),
    "confirmers": lambda number: "unknown" if pd.isna(number) else f"{number} confirming",
    "view_count": lambda number: _view_count_label(number),
    "views": lambda number: _view_count_label(number),
    None: lambda: "all requests",
}


def _view_count_label(number: Any) -> str:
    return "unknown" if pd.isna(number) else "1 view" if number == 1 else f"{number} views"


def percent(share: float) -> str:
    """Return a share as percent, never 0% for more than nothing."""
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def group_labels(frame: pd.DataFrame, shape: ResultShape) -> list[str]:
    """Return the label of each row's group."""
    if not shape.keys:
        return [LABELS[None]()] * len(frame)
    to_label = LABELS.get(shape.by, label)
    return [to_label(*keys) for keys in zip(*(frame[name] for name in shape.keys), strict=True)]


def _cut(text: str, max_length: int) -> str:
    if len(text) <= max_length:
        return text
    half = (max_length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


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
    """Show few, readable dates in UTC, whatever the user's time zone."""
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
    """Show the time of all periods."""
    time_axis(ax.xaxis)
    ax.set_xlim(time_numbers(frame["period_start"]).min(), time_numbers(frame["period_end"]).max())


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


def period_length(frame: pd.DataFrame) -> str:
    """Return the length of a period as text, such as `hour` or `15 minutes`."""
    start, end = frame["period_start"].iloc[0], frame["period_end"].iloc[0]
    months = (end.year - start.year) * 12 + end.month - start.month
    if months and start.day == end.day == 1:
        return "month" if months == 1 else f"{months} months"
    seconds = int((end - start).total_seconds())
    divisor, unit = next(pair for pair in PERIOD_UNITS if seconds % pair[0] == 0)
    number = seconds // divisor
    return unit if number == 1 else f"{number} {unit}s"


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


def group_remaining(labels: list[str], values: Numbers, max_rows: int = MAX_BARS) -> tuple[list[str], Numbers]:
    """Return the first rows, and the sum of all others as one row."""
    if len(values) <= max_rows + 1:
        return labels, values
    rest = len(values) - max_rows
    return [*labels[:max_rows], f"{OTHER} ({rest:,})"], np.append(values[:max_rows], np.nansum(values[max_rows:]))


def largest_groups(frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the groups with the most requests in their order, and a note on those left out."""
    largest = frame["requests"].sort_values(ascending=False, kind="stable").index[:MAX_ROWS]
    return frame.loc[frame.index.isin(largest)], omitted_note(len(frame) - MAX_ROWS)


def rows_with_counts(frame: pd.DataFrame, shape: ResultShape) -> list[str]:
    """Return the label of each row with its number of requests."""
    return [f"{text}  ({count:,})" for text, count in zip(group_labels(frame, shape), frame["requests"], strict=True)]


def by_group_over_time(
    frame: pd.DataFrame, keys: Sequence[str], labels: Sequence[str], values: pd.Series, weights: pd.Series
) -> pd.DataFrame:
    """Return values with one row per period and one column per group, the group of the highest total weight first."""
    codes = frame.groupby(list(keys), dropna=False, observed=True, sort=False).ngroup().to_numpy()
    order = weights.fillna(0).groupby(codes).sum().sort_values(ascending=False, kind="stable").index
    numbers = pd.Series(values.to_numpy("float64", na_value=np.nan))
    table = numbers.groupby([frame["period_start"].to_numpy(), codes]).first().unstack()[order]
    return table.rename(columns=dict(zip(codes[::-1], labels[::-1], strict=True)))


def lines_over_time(ax: Axes, table: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Draw the first groups as lines in the middle of their periods, and return a note on those left out."""
    shown = table.iloc[:, :MAX_LINES]
    periods = frame.drop_duplicates("period_start").sort_values("period_start")
    times = (time_numbers(periods["period_start"]) + time_numbers(periods["period_end"])) / 2
    for number, name in enumerate(shown):
        ax.plot(times, shown.iloc[:, number], color=color(number), marker="o", markersize=3, linewidth=1.2, label=name)
    ax.legend(loc="upper left", ncols=2)
    ax.set_ylim(0, float(np.nanmax(shown.to_numpy(), initial=0)) * 1.4 or 1)
    period_axis(ax, frame)
    return omitted_note(len(table.columns) - MAX_LINES, MAX_LINES)
