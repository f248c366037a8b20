"""Plots of latency, and of requests that wait for others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.empty_results import NO_VERDICT
from ledgerframes.analysis.figures import TIME
from ledgerframes.analysis.groups import Flags, is_true, microseconds
from ledgerframes.analysis.result_frame import WINDOW
from ledgerframes.analysis.verdict.limit import DOUBTFUL_LIMIT
from ledgerframes.datasets.events.wire import REJECTED
from ledgerframes.engine.requests import NEAR_TIMEOUT, TIMEOUT
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots import panels as p
from ledgerframes.plots._chart import LABEL_HEIGHT, PICTURES, Chart, draws
from ledgerframes.plots.direct_labels import label_ends
from ledgerframes.statistics.percentiles import ecdf
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIMEOUT_SECONDS = 30.0
MIN_SECONDS = 0.001  # a logarithmic axis has no 0
IN_DOUBT = f"Timeouts are not named: {DOUBTFUL_LIMIT}."
LATENCY_TITLE = "Latency until finalization"
MIN_AREA, MAX_AREA = 20, 420  # of a circle, in square printer's points
# Marks at the edge of a window are not cut, because part of a circle would have another area.
WHOLE: dict[str, Any] = {"clip_on": False, "in_layout": False}
PERCENTILES = ("p50", "p95", "p99")
COLORS = {"p50": 0, "p95": 1}


@draws("verdict.latency", "Latency of accepted requests", empty="Too few accepted requests for a percentile.", column="p50")
def verdict_latency(chart: Chart) -> None:
    """Draw the median and the 95th percentile of the latency with their intervals.

    Latency [s]: two bars per group, the 15 with the most requests, or points over hours and days. Over record time [UTC]: a
    line per percentile, also of the 99th, on a logarithmic axis with a line at the timeout of 30 s. Groups over time: a
    panel with the medians for each of the 12 largest.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.verdict.latency(day, by="hour"))
    """
    ax, frame = chart.ax, chart.frame
    is_known = frame["p50"].notna()
    rows = frame if chart.has_periods else chart.largest(frame[is_known])
    seconds = {name: np.maximum(r.numbers(rows[name]), MIN_SECONDS) for name in PERCENTILES}
    notes = (r.coverage_note(frame, "Verdict"), r.few_requests_note(rows, PERCENTILES if chart.has_periods else [*COLORS]))
    if chart.has_periods and chart.by:
        table = chart.group_table(seconds["p50"], chart.numbers("requests"))
        lowest = float(np.nanmin(seconds["p50"])) / 1.6
        p.panels(chart, table, lambda axis, _: c.latency_axis(axis, chart.axis_title("p50")), _seconds, low=lowest)
        return chart.show_titles(*notes, title="Median latency of accepted requests")
    if chart.has_periods:
        ax.axhline(TIMEOUT_SECONDS, **_timeout_line(ax))
        highest = s.lines(chart, pd.DataFrame(seconds, index=chart.positions()))
        c.latency_axis(ax.yaxis, chart.axis_title("p50"))
        ax.set_ylim(float(np.nanmin(seconds["p50"])) / 1.6, max(highest, TIMEOUT_SECONDS) * 1.6)
        return chart.show_titles(*notes, title=LATENCY_TITLE)
    if chart.by in ("hour", "day"):
        _draw_over_hours_or_days(chart, rows)
    else:
        _draw_bars(chart, rows)
    without = r.unknown_note(chart.labels(frame[~is_known & (frame["requests"] > 0)]))  # a short window has not all hours
    return chart.show_titles("Thin lines: 95 % intervals", *notes, without, title=f"{LATENCY_TITLE} of accepted requests")


def _draw_bars(chart: Chart, rows: pd.DataFrame) -> None:
    """Draw two bars per group, with the intervals as lines at their ends."""
    values = {name: r.numbers(rows[name]) for name in COLORS if rows[name].notna().any()}
    intervals = {name: (r.numbers(rows[f"{name}_low"]), r.numbers(rows[f"{name}_high"])) for name in values}
    styles = {name: {"color": c.color(number)} for name, number in COLORS.items()}
    s.grouped_bars(chart, chart.labels_with_counts(rows, "accepted"), values, styles, _seconds, intervals, "too few")
    c.number_axis(chart.ax.xaxis, f"{chart.axis_title('p50')} (s)", c.plain, steps=c.ROUND_STEPS)


def _draw_over_hours_or_days(chart: Chart, rows: pd.DataFrame) -> None:
    """Draw a line per percentile, with an interval at each hour of the day or day."""
    ax, highest = chart.ax, 0.0
    x = r.numbers(rows["hour"]) if chart.by == "hour" else c.time_numbers(rows["day"])
    for name, number in COLORS.items():
        y, low, high = (r.numbers(rows[column]) for column in (name, f"{name}_low", f"{name}_high"))
        if np.isnan(y).all():
            continue
        ax.vlines(x, low, high, color=c.color(number), linewidth=1)
        ax.plot(x, y, "o-", color=c.color(number), markersize=3, linewidth=1.2, label=name)
        highest = float(np.nanmax([highest, *y, *high]))
    if chart.by == "hour":
        c.hour_axis(ax)
    else:
        chart.show_times(x[0] - 0.7, x[-1] + 0.7)
    ax.set_ylim(0, highest * 1.1)
    label_ends(ax)
    c.number_axis(ax.yaxis, f"{chart.axis_title('p50')} (s)", c.plain, steps=c.ROUND_STEPS)


def verdict_latency_distribution(verdicts: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the share of requests that are decided within a time, of a table of verdicts.

    Share of requests [%] over latency [s] on a logarithmic axis, one curve per result, with a line at 30 s. A timeout is no
    decision, so the curve of rejected requests ends below 100 %. A curve has at most 2,000 points.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")
    >>> ax = lf.plot(day.verdicts, picture="verdict.latency_distribution")
    """
    columns = ("record_time", "finalization_time", "verdict_result")
    require_columns(verdicts, columns, "Pass frames.verdicts to lf.plot")
    with c.canvas(ax) as ax:
        rows = _with_latency(verdicts.astype(dict.fromkeys(columns[:2], TIME)))
        if rows.empty:
            c.set_titles(ax, LATENCY_TITLE)
            c.draw_message(ax, NO_VERDICT)
            return ax
        timeouts = _timeouts_of(rows)
        is_timeout = np.zeros(len(rows), dtype=bool) if timeouts is None else timeouts
        latencies = np.maximum(rows["latency"] / 1e6, MIN_SECONDS)
        for result, (name, line, number) in list(r.RESULTS.items())[:2]:  # the others are no decisions
            is_of_result = rows["verdict_result"] == result
            values, late_count = latencies[is_of_result & ~is_timeout], int((is_of_result & is_timeout).sum())
            if len(values):
                late = f", of which {late_count:,} timed out" if late_count else ""
                curve = ecdf((values * 1e6).round(), is_of_result.sum())  # the function counts in microseconds
                x, y = r.numbers(curve["value"]) / 1e6, r.numbers(curve["share"])
                label = f"{name} ({is_of_result.sum():,}{late})"
                ax.step(np.append(x[0], x), np.append(0, y), line, where="post", color=c.color(number), label=label)
        c.latency_axis(ax.xaxis, "Latency")
        c.percent_axis(ax.yaxis, "Requests decided within this time")
        ax.set_ylim(0, 1.02)
        ax.set_xlim(latencies.min() / 1.6, max(latencies.max(), TIMEOUT_SECONDS) * 1.6)
        label_ends(ax)
        timeout = _timeout_line(ax)
        ax.axvline(TIMEOUT_SECONDS, **timeout)
        c.label_vertical_line(ax, timeout["label"], TIMEOUT_SECONDS)
        c.set_titles(ax, LATENCY_TITLE, label_height=LABEL_HEIGHT)
        return ax


def _with_latency(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts with a possible latency [microseconds]."""
    decided = verdicts[verdicts["finalization_time"].notna()]
    latency = microseconds(decided["finalization_time"]) - microseconds(decided["record_time"])
    return decided.assign(latency=latency)[latency >= 0]


def _timeouts_of(rows: pd.DataFrame) -> Flags | None:
    """Return which requests timed out.

    It is unknown if more rejections lie just below the limit than from it on.
    """
    is_rejected = is_true(rows["verdict_result"] == REJECTED)
    latency = rows["latency"].to_numpy()
    is_timeout: Flags = is_rejected & (latency >= TIMEOUT)
    is_near = is_rejected & (latency >= NEAR_TIMEOUT) & (latency < TIMEOUT)
    return None if is_near.sum() > is_timeout.sum() else is_timeout


PICTURES["verdict.latency_distribution"] = verdict_latency_distribution  # of a table, not of a figure


def _seconds(number: float) -> str:
    return f"{number:.3g} s"


def _timeout_line(ax: Axes) -> dict[str, Any]:
    return {"color": c.text_color(ax), "linestyle": ":", "linewidth": 1.2, "label": "timeout (30 s)"}


@draws("verdict.waited_for", "Share of slow requests")
def verdict_waited_for(chart: Chart) -> None:
    """Draw how often requests that need a party's confirmation are slow.

    Share of slow requests [%] with its 95 % interval, highest first, one row for each of the 15 parties or participants that
    most requests need.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.verdict.waited_for(day))
    """
    ax, frame = chart.ax, chart.frame
    if frame["slow_rate"].isna().all():
        return chart.show_message(IN_DOUBT if frame["slow"].isna().any() else "No request needs a party's confirmation.")
    visible = chart.largest(frame[frame["slow_rate"].notna()], "required")
    visible = visible.sort_values("slow_rate", ascending=False, kind="stable")
    rows = np.arange(len(visible))
    judgments = list(s.judgments(visible["differs"], ("x", 2, "too few to say")))
    for is_of_kind, marker, number, text in judgments:
        part, at = visible[is_of_kind], rows[is_of_kind]
        ax.hlines(at, part["low"], part["high"], color=c.color(number), linewidth=1.2)
        ax.plot(part["slow_rate"], at, marker, color=c.color(number), label=text)
    names = visible["party"].fillna(visible["participant"])
    chart.show_rows([f"{r.label(name)}  ({count:,})" for name, count in zip(names, visible["required"], strict=True)])
    ax.set_xlim(0, min(1.02, float(visible["high"].max()) * 1.1))
    c.percent_axis(ax.xaxis, chart.axis_title("slow_rate"))
    noun = "party" if visible["party"].notna().any() else "participant"
    markers = s.marker_note(judgments)
    return chart.show_titles("Association, not cause", markers, title=f"{chart.title} by confirming {noun}")


@draws(
    "verdict.head_of_line",
    "Requests that timed out, and the time that others waited",
    empty="No request timed out in this window.",
)
def verdict_head_of_line(chart: Chart) -> None:
    """Draw the requests that timed out over time, with the time that others waited for them.

    An interval of 30 s is too short to be seen in a window of hours, so a circle stands for each request.

    Record time [UTC], one row for each of the 15 participants with the most added time. The area of a circle grows with the
    added time, and a cross has no victims.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.verdict.head_of_line(day))
    """
    ax, frame = chart.ax, chart.frame
    if frame[["victims", "added"]].isna().any(axis=None):
        return chart.show_message(IN_DOUBT)
    added, times = chart.numbers("added"), c.time_numbers(frame["record_time"])
    codes, names = pd.factorize(frame["submitting_participant_uid"], use_na_sentinel=False)
    order = np.argsort(-np.bincount(codes, added), kind="stable")
    largest = max(added.max(), 1.0)
    for row, code in enumerate(order[: r.MAX_ROWS]):
        waited, nobody = (codes == code) & (added > 0), (codes == code) & (added == 0)
        area = MIN_AREA + (MAX_AREA - MIN_AREA) * added[waited] / largest
        ax.scatter(times[waited], np.full(waited.sum(), row), s=area, color=c.color(1), alpha=0.8, **WHOLE)
        ax.plot(times[nobody], np.full(nobody.sum(), row), "x", color=c.text_color(ax), markersize=4, **WHOLE)
    chart.show_rows([r.label(names[code]) for code in order[: r.MAX_ROWS]])
    ax.tick_params(axis="y", pad=math.sqrt(MAX_AREA / math.pi))  # room for half of the largest circle
    chart.show_times(*_window(frame, times))
    expected = frame["expected_victims"].sum(skipna=False)
    by_chance = "" if pd.isna(expected) else f", {expected:,.1f} expected by chance"
    notes = (
        f"{pluralize(int(frame['victims'].sum()), 'request')} waited{by_chance}",
        f"Largest circle: {largest:,.0f} s, cross: nobody waited",
        r.omitted_note(len(order) - r.MAX_ROWS),
    )
    return chart.show_titles(*notes, title=f"{chart.title} (heuristic)")


def _window(frame: pd.DataFrame, times: r.Numbers) -> tuple[float, float]:
    """Return the edges of the window, or of the requests of a result that lost it."""
    if WINDOW in frame.attrs:
        since, until = c.time_numbers(pd.Series(frame.attrs[WINDOW]))
        return since, until
    margin = max((times.max() - times.min()) * 0.03, 0.01)
    return times.min() - margin, times.max() + margin
