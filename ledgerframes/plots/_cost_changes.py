"""Plots of what the kinds of request cost before and after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize

JUDGMENT_COLORS = {"dearer": 1, "cheaper": 3}
MEDIANS = "Change of the median traffic cost"


@draws("cost.compare", "Change of the traffic cost")
def cost_compare(chart: Chart) -> None:
    """Draw the change of the total cost of each kind, with its requests before and after.

    Change of the total cost [bytes, or bytes per day if the windows differ in length], one bar for each of the 15 kinds with
    the largest change, those with a clear change of the median among them, in a color. The last bar is the sum of all
    others. By version, where a request is in several rows, and without windows: the change of the median cost with its 95 %
    interval, which ``picture="cost.compare_medians"`` draws for any result.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> noon = "2026-11-08T12:00:00Z"
    >>> ax = lf.plot(lf.cost.compare(day.between("2026-11-08", noon), day.between(noon, "2026-11-09")))
    """
    column = "change" if chart.frame["change"].notna().any() else "change_per_day"
    if chart.by == "version" or chart.frame[column].isna().all():
        return _draw_medians(chart)
    return _draw_totals(chart, column)


@draws("cost.compare", MEDIANS, picture="cost.compare_medians")
def cost_compare_medians(chart: Chart) -> None:
    """Draw the change of the median cost of each kind, with its interval.

    Change of the median cost [bytes] with its 95 % interval for all kinds together, one row for each of the 15 kinds
    with the largest change in total, those with a clear change first. An interval that has 0 in it is no clear change. The
    others have a color.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> noon = "2026-11-08T12:00:00Z"
    >>> compared = lf.cost.compare(day.between("2026-11-08", noon), day.between(noon, "2026-11-09"))
    >>> ax = lf.plot(compared, picture="cost.compare_medians")
    """
    return _draw_medians(chart)


def _draw_totals(chart: Chart, column: str) -> None:
    known = chart.frame[chart.frame[column].notna()]
    visible, others = _split(known)
    values, rest = r.numbers(visible[column]), r.numbers(others[column]).sum()
    labels, colors = _labels(chart, visible), [_color(each, c.color(0)) for each in visible["judgment"]]
    counts = zip(values, visible["requests_before"], visible["requests_after"], strict=True)
    texts = [f"{printing.signed_size(int(change))} ({before:,} → {after:,})" for change, before, after in counts]
    if len(others):
        labels, texts = [*labels, f"{r.OTHER} ({len(others):,})"], [*texts, printing.signed_size(int(rest))]
        values, colors = np.append(values, rest), [*colors, c.color(2)]
    s.change_bars(chart, labels, values, texts, colors, chart.axis_title(column), c.bytes_axis)
    unknown = len(chart.frame) - len(known)
    notes = (
        f"Together {printing.signed_size(int(values.sum()))}{' per day' if column == 'change_per_day' else ''}",
        "In parentheses: requests before → after",
        "In color, with percent: a clear change of the median" if _is_clear(visible).any() else "",
        f"Not comparable: {known['not_comparable'].iloc[0]}" if known["not_comparable"].notna().any() else "",
        f"{pluralize(unknown, 'kind')} without a known change" if unknown else "",
    )
    return chart.show_titles(*notes)


def _draw_medians(chart: Chart) -> None:
    chart.title = MEDIANS
    frame = chart.frame
    both = frame[frame["median_before"].notna() & frame["median_after"].notna()]
    if both.empty:
        return chart.show_message("No kind of request has a median before and after.")
    visible = both.iloc[np.argsort(~_is_clear(both), kind="stable")[: r.MAX_ROWS]]
    before, after, low, high = (r.numbers(visible[name]) for name in ("median_before", "median_after", "low_all", "high_all"))
    colors = [_color(each, c.text_color(chart.ax)) for each in visible["judgment"]]
    rows, changes = np.arange(len(visible)), after - before
    chart.ax.hlines(rows, low, high, colors=colors, linewidth=1.5)
    chart.ax.scatter(changes, rows, s=32, c=colors, zorder=3)
    is_few = visible["judgment"] == "too few"
    chart.show_rows([f"{label}  (few)" if few else label for label, few in zip(_labels(chart, visible), is_few, strict=True)])
    s.change_axis(chart.ax, np.concatenate([changes, low, high]), chart.title, c.bytes_axis)
    omitted = len(frame) - len(visible)
    notes = (
        "Line: 95 % interval for all kinds together",
        f"{pluralize(omitted, 'kind')} not shown" if omitted else "",
        r.few_requests_note(visible, ["median_before", "median_after"]),
    )
    return chart.show_titles(*notes)


# -- rows and texts -----------------------------------------------------------------------------------------------------


def _split(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows to draw, and all others.

    Those with a clear change are drawn, however small they are, and the largest others, in their order.
    """
    count = len(rows) if len(rows) <= r.MAX_ROWS + 1 else r.MAX_ROWS
    positions = np.argsort(~_is_clear(rows), kind="stable")
    return rows.iloc[np.sort(positions[:count])], rows.iloc[positions[count:]]


def _is_clear(rows: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return in which rows the median changed by more than chance explains."""
    return rows["judgment"].isin(JUDGMENT_COLORS).to_numpy(dtype=bool)


def _color(judgment: str, usual: str) -> str:
    return c.color(JUDGMENT_COLORS[judgment]) if judgment in JUDGMENT_COLORS else usual


def _labels(chart: Chart, rows: pd.DataFrame) -> list[str]:
    """Return the labels of kinds, each with the change of its median if it is clear.

    If the median before is 0, there is no percentage.
    """
    has_percent = _is_clear(rows) & rows["relative"].notna()
    facts = zip(chart.labels(rows), has_percent, rows["relative"], strict=True)
    return [f"{label}  ({_signed_percent(relative)})" if has else label for label, has, relative in facts]


def _signed_percent(share: float) -> str:
    return f"{'+' if share > 0 else c.MINUS}{r.percent(abs(share), 1)}"
