"""Plots of the outcomes and latency of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._requests import REJECTED
from ledgerframes.analysis.verdict._latency_classes import LIMIT
from ledgerframes.errors import UsageError
from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["verdict_latency", "verdict_latency_distribution", "verdict_outcomes"]

MAX_CURVE_POINTS = 2_000
TIMEOUT_SECONDS = 30.0
MIN_SECONDS = 0.001
NO_TIME = pd.Timedelta(0)
NO_VERDICT = "No verdict in this window."
TOO_FEW = "Too few accepted requests for a percentile."
LATENCY_TITLE = "Latency until finalization"
PERCENTILES = (("p50", "o", 0), ("p95", "s", 1), ("p99", "^", 3))


def verdict_outcomes(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw rejection rates with their 95% intervals.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.outcomes`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Rates [%] over time for hours, days and periods, with a line for each of the largest groups. Otherwise: one row per
        group, the 25 with the most requests.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.outcomes``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_outcomes(lf.verdict.outcomes(day, by="participant"))
    >>> ax.get_xlabel()
    'Rejection rate (%)'
    """
    shape = r.check_result(frame, "verdict.outcomes")
    is_over_time = shape.has_periods or shape.by in ("hour", "day")
    has_rate = frame[frame["rejection_rate"].notna()]
    visible, note = (has_rate, "") if is_over_time else r.largest_groups(has_rate)
    title = f"Rejection rate{r.group_text(shape)} with 95% intervals"
    with c.canvas(ax, 4.0 if is_over_time else c.height_for_rows(len(visible))) as ax:
        if visible.empty:
            return c.draw_message(ax, NO_VERDICT)
        if shape.has_periods and shape.by:
            labels = r.group_labels(frame, shape)
            table = r.by_group_over_time(frame, shape.keys, labels, frame["rejection_rate"], frame["requests"])
            note, title = c.lines_over_time(ax, table, frame), f"Rejection rate{r.group_text(shape)}"
        else:
            _draw_intervals(ax, visible, shape, is_over_time=is_over_time)
            set_limits = ax.set_ylim if is_over_time else ax.set_xlim
            set_limits(0, min(float(visible["high"].max()) * 1.1, 1.02) or 1)
        if is_over_time:
            _finish_time_axis(ax, frame, shape)
        c.percent_axis(ax.yaxis if is_over_time else ax.xaxis, shape.title("rejection_rate"))
        period = f", per {r.period_length(frame)}" if shape.has_periods else ""
        c.set_titles(ax, title + period, note, r.coverage_note(frame, "Verdict"), r.population_note(frame))
        return ax


def verdict_latency(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the median, 95th and 99th percentile of the latency.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.latency`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Latency [s] on a logarithmic axis with a line at the timeout of 30 s: one row per group, the 25 with the most
        requests, or a line per percentile over record time [UTC]. Groups over time: the medians of the largest.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.latency``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_latency(lf.verdict.latency(day, by="hour"))
    >>> ax.get_xlabel()
    'Latency (s)'
    """
    shape = r.check_result(frame, "verdict.latency")
    has_latency = frame[frame["p50"].notna()]
    visible, note = (has_latency, "") if shape.has_periods else r.largest_groups(has_latency)
    with c.canvas(ax, 4.0 if shape.has_periods else c.height_for_rows(len(visible)) + 0.3) as ax:
        if visible.empty:
            return c.draw_message(ax, TOO_FEW)
        if shape.has_periods:
            return _latency_over_time(ax, frame, shape)
        rows = np.arange(len(visible))
        seconds = {name: _seconds(visible[name]) for name, _, _ in PERCENTILES}
        highest = np.nanmax(np.stack(list(seconds.values())), axis=0)
        ax.hlines(rows, seconds["p50"], highest, color=c.color(2), linewidth=1.5, alpha=0.6)
        for name, marker, number in PERCENTILES:
            ax.plot(seconds[name], rows, marker, color=c.color(number), label=name)
        c.row_labels(ax, r.rows_with_counts(visible, shape))
        c.latency_axis(ax.xaxis, shape.title("p50"))
        ax.set_xlim(seconds["p50"].min() / 1.6, max(highest.max(), TIMEOUT_SECONDS) * 1.6)
        _timeout_line(ax)
        notes = (note, r.coverage_note(frame, "Verdict"))
        # Next to the title, because anywhere inside the axes there can be points.
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 2.1 if any(notes) else 0.6}
        ax.legend(ncols=3, frameon=False, labelcolor=c.text_color(ax), **above)
        c.set_titles(ax, f"{LATENCY_TITLE} of accepted requests{r.group_text(shape)}", *notes)
        return ax


def verdict_latency_distribution(verdicts: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the share of requests that are decided within a time.

    Parameters
    ----------
    verdicts : DataFrame
        ``frames.verdicts``, or its columns ``record_time``, ``finalization_time`` and ``verdict_result``.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Share of requests [%] over latency [s] on a logarithmic axis, one curve per result, with a line at 30 s. A timeout is
        no decision, so the curve of rejected requests ends below 100%. A curve has at most 2,000 points.

    Raises
    ------
    UsageError
        If `verdicts` is not a table of verdicts.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_latency_distribution(day.verdicts)
    >>> ax.get_xlabel()
    'Latency (s)'
    """
    needed = {"record_time", "finalization_time", "verdict_result"}
    if not isinstance(verdicts, pd.DataFrame) or not needed <= set(verdicts.columns):
        raise UsageError(f"Pass frames.verdicts to lf.plot.verdict_latency_distribution, got {type(verdicts).__name__}.")
    with c.canvas(ax) as ax:
        if verdicts.empty:
            return c.draw_message(ax, NO_VERDICT)
        durations = verdicts["finalization_time"] - verdicts["record_time"]
        verdicts, durations = verdicts[durations >= NO_TIME], durations[durations >= NO_TIME]
        latencies = _seconds(durations)
        for result, (name, line, number) in list(r.RESULTS.items())[:2]:  # the others are no decisions
            values = latencies[(verdicts["verdict_result"] == result).to_numpy(dtype=bool)]
            is_timeout = (values >= LIMIT / 1e6) & (result == REJECTED)
            ordered = np.sort(values[~is_timeout])
            if len(ordered):
                x, y = _curve(ordered, len(values))
                timeouts = f", of which {is_timeout.sum():,} timed out" if is_timeout.any() else ""
                ax.step(x, y, line, where="post", color=c.color(number), label=f"{name} ({len(values):,}{timeouts})")
        c.latency_axis(ax.xaxis, "Latency")
        c.percent_axis(ax.yaxis, "Share of requests decided within")
        ax.set_ylim(0, 1.02)
        ax.set_xlim(latencies.min() / 1.6, max(latencies.max(), TIMEOUT_SECONDS) * 1.6)
        _timeout_line(ax)
        ax.legend(loc="lower right", bbox_to_anchor=(0.9, 0.02))
        c.set_titles(ax, LATENCY_TITLE)
        return ax


# -- helpers ------------------------------------------------------------------------------------------------------------


def _draw_intervals(ax: Axes, visible: pd.DataFrame, shape: r.ResultShape, *, is_over_time: bool) -> None:
    rate = visible["rejection_rate"].to_numpy()
    # Floats can put the end of an interval a hair inside the rate, and matplotlib refuses a length below 0.
    spread = np.clip([rate - visible["low"], visible["high"] - rate], 0, None)
    drawing: dict[str, Any] = {"fmt": "o", "color": c.color(0), "ecolor": c.color(2), "elinewidth": 2, "capsize": 3}
    if is_over_time:
        ax.errorbar(_time_positions(visible, shape), rate, yerr=spread, **drawing)
    else:
        ax.errorbar(rate, range(len(visible)), xerr=spread, **drawing)
        c.row_labels(ax, r.rows_with_counts(visible, shape))


def _time_positions(frame: pd.DataFrame, shape: r.ResultShape) -> r.Numbers:
    if shape.has_periods:
        return (c.time_numbers(frame["period_start"]) + c.time_numbers(frame["period_end"])) / 2
    return frame["hour"].to_numpy("float64") if shape.by == "hour" else c.time_numbers(frame["day"])


def _finish_time_axis(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> None:
    if shape.has_periods:
        c.period_axis(ax, frame)
    elif shape.by == "hour":
        c.hour_axis(ax)
    else:
        days = c.time_numbers(frame["day"])
        c.time_axis(ax.xaxis)
        ax.set_xlim(days[0] - 0.7, days[-1] + 0.7)


def _latency_over_time(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> Axes:
    title, names = LATENCY_TITLE, [name for name, _, _ in PERCENTILES]
    if shape.by:
        labels = r.group_labels(frame, shape)
        table = r.by_group_over_time(frame, shape.keys, labels, _optional_seconds(frame["p50"]), frame["requests"])
        title = f"Median latency of accepted requests{r.group_text(shape)}"
    else:
        table = pd.DataFrame({name: _optional_seconds(frame[name]).to_numpy() for name in names})
    note = c.lines_over_time(ax, table, frame)
    c.latency_axis(ax.yaxis, shape.title("p50"))
    seconds = table.to_numpy()
    ax.set_ylim(float(np.nanmin(seconds)) / 1.6, max(float(np.nanmax(seconds)), TIMEOUT_SECONDS) * 5)
    ax.axhline(TIMEOUT_SECONDS, color=c.text_color(ax), linestyle=":", linewidth=1.2)
    c.set_titles(ax, f"{title}, per {r.period_length(frame)}", note, r.coverage_note(frame, "Verdict"))
    return ax


def _seconds(durations: pd.Series) -> r.Numbers:
    """Return seconds, at least a millisecond, so that a logarithmic axis can show them."""
    seconds: r.Numbers = np.maximum(durations.dt.total_seconds().to_numpy(), MIN_SECONDS)
    return seconds


def _optional_seconds(durations: pd.Series) -> pd.Series:
    seconds: pd.Series = durations.dt.total_seconds().clip(lower=MIN_SECONDS)
    return seconds


def _curve(ordered: r.Numbers, total: int) -> tuple[r.Numbers, r.Numbers]:
    """Return latencies and the share of all requests decided within them, starting at 0."""
    indexes = np.unique(np.linspace(0, len(ordered) - 1, MAX_CURVE_POINTS).astype(int))
    x, y = ordered[indexes], (indexes + 1) / total
    return np.append(x[0], x), np.append(0.0, y)


def _timeout_line(ax: Axes) -> None:
    ax.axvline(TIMEOUT_SECONDS, color=c.text_color(ax), linestyle=":", linewidth=1.2)
    ax.annotate(
        "30 s", (TIMEOUT_SECONDS, 1), xycoords=("data", "axes fraction"), xytext=(-3, -9), textcoords="offset points",
        ha="right", fontsize=8, color=c.text_color(ax),
    )  # fmt: skip
