"""Results with the axes to draw them on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.analysis import FIGURES, Figure, eras
from ledgerframes.analysis.groups import is_true
from ledgerframes.analysis.labels import with_names
from ledgerframes.errors import UsageError
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._time_axis import time_axis
from ledgerframes.plots.checks import check_result, has_gaps
from ledgerframes.texts.representation import pluralize
from ledgerframes.texts.short_names import number_repeated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OVER_AREAS = 1.5  # of bars and stacks, which would otherwise hide what is below, and under lines
ERA_LABEL_WIDTH = 0.013  # of the axes, for a letter on a narrow page
MAX_MARKERS = 60
MAX_BINS = 100  # of rounds in one picture
LABEL_HEIGHT = 10  # printer's points, of names above the axes


@dataclass
class Chart:
    """A result with the axes to draw it on."""

    frame: pd.DataFrame
    figure: Figure
    title: str  # without data, and with data unless the picture shows another one
    by: str | None
    has_periods: bool
    has_rounds: bool
    ax: Axes
    is_new: bool  # whether the axes fill a new figure, whose height can change
    notes: list[str] = field(default_factory=list)  # for the line below the title
    label_height: int = 0  # of the names of eras above the axes, in printer's points
    label_width: float = 0  # of the names of rows
    rounds_per_bin: int = 1
    is_panel: bool = False  # whether the axes are one of several panels, too narrow for the names of eras

    @property
    def is_over_time(self) -> bool:
        """Whether the result has a row, or rows, for each period or round."""
        return self.has_periods or self.has_rounds

    @property
    def keys(self) -> list[str]:
        """Names of the columns that name the group."""
        return self.figure.grouping(self.by).key_names

    def axis_title(self, column: str) -> str:
        """Return the axis label of a declared column, without its unit."""
        return self.figure.column(column).title

    # -- rows and groups ------------------------------------------------------------------------------------------------

    def numbers(self, column: str) -> r.Numbers:
        """Return a column as floats."""
        return r.numbers(self.frame[column])

    def labels(self, rows: pd.DataFrame | None = None) -> list[str]:
        """Return the label of each row's group."""
        rows = self.frame if rows is None else rows
        if not self.keys:
            return [r.LABELS[None]()] * len(rows)
        to_label = r.LABELS.get(self.by, r.label)
        return [to_label(*keys) for keys in zip(*(rows[name] for name in self.keys), strict=True)]

    def labels_with_counts(self, rows: pd.DataFrame, column: str = "requests") -> list[str]:
        """Return the label of each row's group with its number of requests."""
        return [f"{text}  ({count:,})" for text, count in zip(self.labels(rows), rows[column], strict=True)]

    def largest(self, rows: pd.DataFrame, column: str = "requests") -> pd.DataFrame:
        """Return the rows with the largest counts in the order of the frame.

        Those that differ are among them, however small they are. All hours and days are.
        """
        if self.by in ("hour", "day"):
            return rows
        differs = is_true(rows["differs"]) if "differs" in rows else np.zeros(len(rows), bool)
        by_count = np.argsort(-r.numbers(rows[column]), kind="stable")
        visible = by_count[np.argsort(~differs[by_count], kind="stable")][: r.MAX_ROWS]
        is_by_count = set(visible) == set(by_count[: r.MAX_ROWS])
        omitted = f"Those that differ and the largest others, {len(rows) - len(visible):,} more not shown"
        self.notes.append(r.omitted_note(len(rows) - r.MAX_ROWS) if is_by_count else omitted)
        return rows.iloc[np.sort(visible)]

    def group_table(
        self,
        values: r.Numbers,
        weights: r.Numbers,
        rows: pd.DataFrame | None = None,
        keys: Sequence[str] = (),
        labels: Sequence[str] = (),
    ) -> pd.DataFrame:
        """Return values with a row per period or round, and a column per group, largest first."""
        rows = self.frame if rows is None else rows
        labels = labels or self.labels(rows)
        codes: npt.NDArray[Any] = np.zeros(len(rows), dtype=np.int64)  # without a grouping, all rows are one group
        if keys := [*(keys or self.keys)]:
            codes = rows.groupby(keys, dropna=False, observed=True, sort=False).ngroup().to_numpy()
        order = pd.Series(np.nan_to_num(weights)).groupby(codes).sum().sort_values(ascending=False, kind="stable").index
        table = pd.Series(values).groupby([self.positions(rows), codes]).first().unstack()[order]
        if self.has_rounds:
            table = table.reindex(np.arange(table.index.min(), table.index.max() + 1))
        texts = dict(zip(codes[::-1], labels[::-1], strict=True))
        return table.set_axis(number_repeated([texts[code] for code in table.columns]), axis="columns")

    # -- periods and rounds ---------------------------------------------------------------------------------------------

    def edges(self) -> r.Numbers:
        """Return the edges of periods or rounds, or of rows without either, for areas."""
        edges: npt.NDArray[Any] = np.arange(len(self.frame) + 1) - 0.5
        if self.has_rounds:
            edges = self.round_edges()
        elif self.has_periods:
            if has_gaps(self.frame):
                raise UsageError(f"Pass all periods of the result of lf.{self.figure.name}, whose areas would fill the gaps.")
            edges = np.unique(c.time_numbers(pd.concat([self.frame["period_start"], self.frame["period_end"]])))
        return edges

    def round_edges(self) -> r.Numbers:
        """Return the edges of rounds, or of bins of rounds that are added up."""
        rounds = self.numbers("round_number")
        first, after = np.nanmin(rounds), np.nanmax(rounds) + 1
        return np.append(np.arange(first, after, self.rounds_per_bin), after) - 0.5

    def bin_rounds(self, table: pd.DataFrame, summary: str = "sum") -> pd.DataFrame:
        """Return values by round, with a row for each bin of rounds if there are many.

        A bin has the sum of its rounds, or another summary, and is NaN without a known value. From then on, the axis and the
        titles are those of the bins.
        """
        first, *_, last = self.round_edges()
        self.rounds_per_bin = math.ceil((last - first) / MAX_BINS)
        in_last = int(last - first) % self.rounds_per_bin
        self.notes.append(f"The last point has only {pluralize(in_last, 'round')}" if in_last else "")
        edges = self.round_edges()
        bins = table.groupby(np.searchsorted(edges, table.index, side="right") - 1)
        values = bins.sum(min_count=1) if summary == "sum" else bins.agg(summary)
        return values.reindex(range(len(edges) - 1)).set_axis((edges[1:] + edges[:-1]) / 2)

    @property
    def round_length(self) -> str:
        """The number of rounds of a bin, for a title."""
        return "round" if self.rounds_per_bin == 1 else f"{self.rounds_per_bin} rounds"

    def positions(self, rows: pd.DataFrame | None = None) -> r.Numbers:
        """Return the middle of each row's period, or its round, for points and lines."""
        rows = self.frame if rows is None else rows
        if self.has_rounds:
            return r.numbers(rows["round_number"])
        return (c.time_numbers(rows["period_start"]) + c.time_numbers(rows["period_end"])) / 2

    def panel_below(self) -> Axes:
        """Return axes below those of the chart, for a quantity of another unit."""
        self.set_height(6.0)
        return c.panel_below(self.ax)

    def draw_time_axis(self, below: Axes | None = None) -> None:
        """Show all periods, with those that are partial in gray, or all rounds."""
        if self.has_rounds:
            self.draw_round_axis(self.edges(), below)
            return
        if not self.has_periods:
            edges = self.edges()
            self.ax.set(xlim=(edges[0] - 0.5, edges[-1] + 0.5), xticks=[], xlabel="Whole window")
            return
        first, last = c.time_numbers(self.frame["period_start"]).min(), c.time_numbers(self.frame["period_end"]).max()
        self.show_times(first, last, below=below)
        starts = np.unique(c.time_numbers(self.frame["period_start"]))
        for ax in (self.ax, below or self.ax):
            ax.fmt_xdata = c.period_text(np.append(starts, last))
        partial = self.frame[is_true(self.frame["is_partial"])].drop_duplicates("period_start")
        self.draw_strip(partial, 1, color="0.5", alpha=0.15, zorder=OVER_AREAS)
        self.notes.append("Gray: partial periods" if len(partial) else "")

    def draw_round_axis(self, edges: r.Numbers, below: Axes | None = None) -> None:
        """Show the numbers of mining rounds at the lowest panel.

        Rows that say when a round opens add this time.
        """
        ax = self.ax if below is None else below
        openings = self._openings()
        quantity = "Mining round and its opening (UTC)" if openings else "Mining round"
        c.number_axis(ax.xaxis, quantity, lambda number: f"{number:.0f}\n{openings.get(number, '')}".strip(), integer=True)
        ax.set_xlim(edges[0] - 0.1, edges[-1] + 0.1)
        self.ax.fmt_xdata = ax.fmt_xdata = c.round_text(edges)

    def _openings(self) -> dict[float, str]:
        """Return the time at which each round opens, empty if the rows do not have it."""
        if "opens_at" not in self.frame:
            return {}
        known = self.frame[self.frame["round_number"].notna() & self.frame["opens_at"].notna()]
        rounds = zip(known["round_number"], known["opens_at"], strict=True)
        return {float(number): f"{time:%d %b %H:%M}" for number, time in rounds}

    def draw_strip(self, periods: pd.DataFrame, height: float, **style: Any) -> None:
        """Draw a strip under some periods, up to a share of the height of the axes."""
        starts, ends = (c.time_numbers(periods[name]) for name in ("period_start", "period_end"))
        strip = list(zip(starts, ends - starts, strict=True))
        self.ax.broken_barh(strip, (0, height), transform=self.ax.get_xaxis_transform(), linewidth=0, **style)

    def show_times(self, first: float, last: float, label: str = "Record time (UTC)", below: Axes | None = None) -> None:
        """Show a time axis, and the eras of the main network if several are in it.

        A note has the names of all eras. A name stands above the axes where its era is wide enough.
        """
        lowest = self.ax if below is None else below
        time_axis(lowest.xaxis, label)
        self.ax.fmt_xdata = lowest.fmt_xdata = c.time_text  # of a pointer
        self.ax.set_xlim(first, last)
        table = eras.table()
        starts = c.time_numbers(table["at"])
        inner = (starts > first) & (starts < last)
        if not inner.any():
            return
        times = pd.Series(pd.to_datetime(np.append(first, starts[inner]), unit="D", utc=True)).dt.as_unit("us")
        names, edges = eras.of(times, table).tolist(), np.concatenate([[first], starts[inner], [last]])
        for number, name in enumerate(names):
            start, end = edges[number : number + 2]
            if number % 2:
                self.ax.axvspan(start, end, color=c.color(0), alpha=0.07, linewidth=0, zorder=0)
            if not self.is_panel and (end - start) / (last - first) > ERA_LABEL_WIDTH * len(name):
                c.annotate(self.ax, name, (start, 1), (2, 2), self.ax.get_xaxis_transform(), fontsize=7)
        self.label_height = 0 if self.is_panel else LABEL_HEIGHT
        self.notes.append(f"Eras of the main network: {', '.join(names)}")

    # -- texts and size -------------------------------------------------------------------------------------------------

    def show_titles(self, *notes: str, title: str = "", suffix: str | None = None) -> None:
        """Show a title with the grouping and the period, and all notes below it."""
        title = (title or self.title) + (self.suffix if suffix is None else suffix)
        notes = (*notes, *self.notes, r.population_note(self.frame))
        c.set_titles(self.ax, title, *notes, label_height=self.label_height, label_width=self.label_width)

    @property
    def suffix(self) -> str:
        """The grouping and the period for the end of a title."""
        period = self.round_length if self.has_rounds else r.period_length(self.frame) if self.has_periods else ""
        return self._group_text + (f", per {period}" if period else "")

    @property
    def _group_text(self) -> str:
        text = r.GROUP_TEXTS.get(f"{self.figure.name} {self.by}") or r.GROUP_TEXTS.get(str(self.by), f"by {self.by}")
        return f" {text}" if self.by else ""

    def show_message(self, text: str) -> None:
        """Say on axes without data what they would show, and why they do not."""
        c.set_titles(self.ax, self.title + self._group_text)
        c.draw_message(self.ax, text)

    def label_vertical_line(self, text: str, position: float) -> None:
        """Write the name of a vertical line above the axes, whose limits are set."""
        c.label_vertical_line(self.ax, text, position)
        self.label_height = LABEL_HEIGHT

    def set_height(self, inches: float) -> None:
        """Set the height of a new figure."""
        if self.is_new:
            self.ax.figure.set_figheight(inches)  # type: ignore[union-attr]

    def show_rows(self, labels: Sequence[str], height: float = 0.3) -> None:
        """Show one label per row, the first at the top, each row with the same height in inches."""
        labels = number_repeated(labels)
        line_count = max((label.count("\n") + 1 for label in labels), default=1)
        self.set_height(1.6 + (height + 0.12 * (line_count - 1)) * max(len(labels), 1))
        self.label_width = max(map(c.text_width, labels), default=0) if self.is_new else 0  # the layout narrows new axes
        c.row_labels(self.ax, labels)


PICTURES: dict[str, Callable[..., Axes]] = {}
RANKINGS: set[str] = set()  # pictures that without periods are bars per row, as the table of the result has them, too


def draws(
    figure: str,
    title: str,
    *,
    empty: str = "",
    column: str = "",
    only_zero: str = "",
    picture: str = "",
    is_ranking: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., Axes]]:
    """Register a function that draws a chart, as the picture of a figure.

    If the result has no rows, or no value of the column, its title and the sentence `empty` stand instead of the drawing, and
    `only_zero` instead of bars of which none has a length. A second picture of a figure has its own name. A picture is a
    ranking if it has a bar per row wherever there are no periods.
    """

    def register(draw: Callable[..., None]) -> Callable[..., Axes]:
        @wraps(draw)
        def draw_result(frame: pd.DataFrame, ax: Axes | None = None, **options: Any) -> Axes:
            frame = with_names(frame) if isinstance(frame, pd.DataFrame) else frame
            by, has_periods, has_rounds = check_result(frame, figure)
            frame = frame.reset_index(drop=True)  # rows of a concatenation can repeat labels, by which rows are selected
            with c.canvas(ax) as axes:
                chart = Chart(frame, FIGURES[figure], title, by, has_periods, has_rounds, axes, is_new=ax is None)
                if empty and (frame[column].isna().all() if column else frame.empty):
                    chart.show_message(empty)
                elif only_zero and not chart.is_over_time and r.are_only_zero(frame[column]):
                    chart.show_message(only_zero)
                else:
                    draw(chart, **options)
            return axes

        PICTURES[picture or figure] = draw_result
        if is_ranking:
            RANKINGS.add(picture or figure)
        return draw_result

    return register
