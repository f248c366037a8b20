"""What every picture has in common: our style, the axes, units and labels.

Text that comes from the network is not trusted: it is cut, stripped of what a font cannot show, and never read as mathematics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import BarContainer

STYLE = Path(__file__).parent.parent / "ledgerframes.mplstyle"
MARKS = ("axes.prop_cycle", "hatch.", "legend.", "lines.", "text.usetex")
WIDTH = 9.0
LONGEST_LABEL = 38
OTHER = "other"
BYTE_UNITS = ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B"))
PERIOD_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))

Numbers = npt.NDArray[np.float64]


def pyplot() -> ModuleType:
    """The one import of pyplot; late, because it takes a second and is an extra."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise UsageError("Plots need matplotlib. Install it with: pip install 'ledgerframes[plot]'.") from error
    return pyplot


@contextmanager
def canvas(ax: Axes | None, height: float = 4.0) -> Iterator[Axes]:
    """Axes to draw on (new ones if none are given); our style holds only inside.

    The user's own axes keep their text, ticks and grid: ours would be dark on dark there.
    """
    plt = pyplot()
    plt.draw_if_interactive()  # loads the backend now: in a notebook it changes settings, which our style would change back
    if ax is not None:
        with plt.rc_context(_marks_only()):
            yield ax
        return
    with plt.style.context(STYLE):
        _, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        yield ax
        for axis in (ax.xaxis, ax.yaxis):
            # matplotlib makes ticks when it draws, in the style of that moment; made here, they have ours.
            axis.get_major_ticks(len(axis.get_majorticklocs()))


def _marks_only() -> dict[str, Any]:
    """The part of our style that concerns lines, bars and the legend."""
    from matplotlib import rc_params_from_file

    style = rc_params_from_file(STYLE, use_default_template=False)
    return {name: value for name, value in style.items() if name.startswith(MARKS)}


def color(number: int) -> str:
    """A colour of our style, as a fixed value: `C0` would be looked up when the user's style holds again."""
    from matplotlib import rcParams

    return str(rcParams["axes.prop_cycle"].by_key()["color"][number])


def ink(ax: Axes) -> str:
    """The colour of text on these axes, which may be the user's own on a dark page."""
    return str(ax.xaxis.label.get_color())


def rows_high(count: int) -> float:
    """Inches of a figure for this many rows."""
    return 1.5 + 0.3 * max(count, 1)


# -- words ------------------------------------------------------------------------------------------------------------


def titles(ax: Axes, title: str, note: str = "") -> None:
    """What the picture shows, and below it in small how complete it is."""
    ax.set_title(title, loc="left", pad=20 if note else 8)
    ax.annotate(note, (0, 1), xycoords="axes fraction", xytext=(0, 6), textcoords="offset points", fontsize=8, color=ink(ax))


def sentence(ax: Axes, text: str) -> Axes:
    """Axes without data, saying why."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=ink(ax))
    return ax


def coverage_note(frame: pd.DataFrame, fact: str = "cost") -> str:
    """How much of the requests the picture is made from; empty when it is all of them."""
    is_counted = frame["coverage"].notna()
    requests = frame.loc[is_counted, "requests"] if "requests" in frame else is_counted[is_counted].astype(int)
    if requests.sum() == 0:
        return ""
    known = float((frame.loc[is_counted, "coverage"] * requests).sum() / requests.sum())
    percent = min(known * 100, 99.9)
    return "" if known == 1 else f"{fact} known for {percent:.3g} % of requests"


def label(text: object, longest: int = LONGEST_LABEL) -> str:
    """A text of the network, safe and short: the middle of long party ids and names is left out."""
    if not isinstance(text, str):
        return "not known"
    text = "".join(letter if " " <= letter <= "~" else "?" for letter in text)
    party = re.fullmatch(r"(.*)::(\w{6})\w{4,}(\w{2})", text)
    if party:
        text = f"{_cut(party[1], longest - 12)}::{party[2]}…{party[3]}"
    return _cut(text, longest).replace("$", r"\$")


def several(texts: str) -> str:
    """A list of parties, separated by commas: the first two, and how many more."""
    names = texts.split(", ")
    more = f" + {len(names) - 2}" if len(names) > 2 else ""
    return ", ".join(label(name, 30) for name in names[:2]) + more


def template(template_name: object, choice: object, without: str = "no visible update") -> str:
    """Template and choice as one label."""
    if not isinstance(template_name, str):
        return without
    return label(template_name + ("." + choice if isinstance(choice, str) else " (create)"), 44)


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


# -- axes with units --------------------------------------------------------------------------------------------------


def size(number: float) -> str:
    """Bytes in words: `5.2 kB`."""
    scale, unit = _byte_unit(number)
    digits = 0 if scale == 1 else 1
    return f"{number / scale:,.{digits}f} {unit}"


def bytes_axis(axis: Axis, largest: float, what: str) -> None:
    """Plain numbers at the ticks, the unit in the label."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    scale, unit = _byte_unit(largest)
    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number / scale:,.6g}"))
    axis.set_label_text(f"{what} [{unit}]")


def percent_axis(axis: Axis, what: str) -> None:
    """Shares as percent."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number * 100:.4g}"))
    axis.set_label_text(f"{what} [%]")


def time_axis(axis: Axis) -> None:
    """Few, readable dates in UTC, whatever the user's time zone."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator(tz=UTC, minticks=4, maxticks=9)  # type: ignore[no-untyped-call]
    axis.set_major_locator(locator)
    formatter = ConciseDateFormatter(locator, tz=UTC)  # type: ignore[no-untyped-call]
    formatter.formats = ["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%S.%f"]
    formatter.zero_formats = ["", "%b %Y", "%d %b", "%d %b", "%H:%M", "%H:%M"]
    formatter.offset_formats = ["", "", "%Y", "%d %b %Y", "%d %b %Y", "%d %b %Y %H:%M"]
    axis.set_major_formatter(formatter)
    axis.set_label_text("record time [UTC]")


def latency_axis(axis: Axis) -> None:
    """Seconds on a logarithmic axis."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set_xscale("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())
    axis.set_label_text("latency [s]")


def time_numbers(times: pd.Series) -> Numbers:
    """Times as matplotlib counts them: days since 1970."""
    return times.astype("int64").to_numpy() / 86_400e6


def period(frame: pd.DataFrame) -> str:
    """The length of the periods in words."""
    seconds = int((frame["period_end"].iloc[0] - frame["period_start"].iloc[0]).total_seconds())
    divisor, unit = next((pair for pair in PERIOD_UNITS if seconds % pair[0] == 0), (1, "s"))
    number = seconds // divisor
    words = {"d": "day", "h": "hour", "min": "minute"}
    return words[unit] if number == 1 and unit in words else f"{number} {unit}"


def _byte_unit(number: float) -> tuple[int, str]:
    return next((pair for pair in BYTE_UNITS if abs(number) >= pair[0]), BYTE_UNITS[-1])


# -- bars -------------------------------------------------------------------------------------------------------------


def bars(ax: Axes, labels: Sequence[str], values: Sequence[float], texts: Sequence[str]) -> BarContainer:
    """Horizontal bars from the top down, each with its value at its end."""
    drawn = ax.barh(range(len(values)), values, height=0.7, color=color(0), edgecolor="none")
    if labels[-1].startswith(OTHER):
        drawn[-1].set_facecolor(color(2))
    ax.bar_label(drawn, labels=list(texts), padding=4, fontsize=8, color=ink(ax))
    row_labels(ax, labels)
    ax.set_xlim(0, max([*values, 1]) * 1.22)
    return drawn


def row_labels(ax: Axes, labels: Sequence[str]) -> None:
    """One label per row, the first at the top."""
    ax.set_yticks(range(len(labels)), labels=list(labels))
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)


def with_other(labels: list[str], values: Numbers, most: int) -> tuple[list[str], Numbers]:
    """The first rows, and the sum of all others as one."""
    if len(values) <= most + 1:
        return labels, values
    rest = len(values) - most
    return [*labels[:most], f"{OTHER} ({rest:,})"], np.append(values[:most], np.nansum(values[most:]))
