"""Plots of outcomes, latency, rejections and quorums of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._arguments import require_columns
from ledgerframes.analysis._figures import TIME
from ledgerframes.analysis._groups import is_true
from ledgerframes.analysis.verdict._latency_classes import timeouts_of, with_latency
from ledgerframes.analysis.verdict._limit import DOUBTFUL_LIMIT
from ledgerframes.errors import UsageError
from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r
from ledgerframes.plot import _shapes as s
from ledgerframes.plot._chart import Chart, draws
from ledgerframes.statistics.percentiles import ecdf
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "verdict_head_of_line",
    "verdict_latency",
    "verdict_latency_distribution",
    "verdict_outcomes",
    "verdict_quorums",
    "verdict_rejection_rates",
    "verdict_rejections",
    "verdict_waited_for",
]

TIMEOUT_SECONDS = 30.0
MIN_SECONDS = 0.001  # a logarithmic axis has no 0
MIN_REQUESTS_PER_CELL = 20
HOURS = range(24)
NO_VERDICT = "No verdict in this window."
IN_DOUBT = f"Timeouts are not named: {DOUBTFUL_LIMIT}."
LATENCY_TITLE = "Latency until finalization"
PERCENTILES = (("p50", "o", 0), ("p95", "s", 1), ("p99", "^", 3))


# -- outcomes -----------------------------------------------------------------------------------------------------------


@draws("verdict.outcomes", empty=NO_VERDICT, column="rejection_rate")
def verdict_outcomes(chart: Chart) -> None:
    """Draw rejection rates with their 95 % intervals.

    Rates [%] over time for hours, days and periods, with a line for each of the largest groups. Otherwise: one row per group,
    the 25 with the most requests.

    >>> ax = lf.plot.verdict_outcomes(lf.verdict.outcomes(day, by="participant"))
    """
    ax, frame = chart.ax, chart.frame
    is_vertical = chart.has_periods or chart.by in ("hour", "day")
    known = frame[frame["rejection_rate"].notna()]
    title = "Rejection rate with 95 % intervals"
    if chart.has_periods and chart.by:
        title = "Rejection rate"
        s.lines(chart, chart.group_table(chart.numbers("rejection_rate"), chart.numbers("requests")))
    else:
        visible = known if is_vertical else chart.largest(known)
        _draw_intervals(chart, visible, is_vertical=is_vertical)
        set_limits = ax.set_ylim if is_vertical else ax.set_xlim
        set_limits(0, min(float(visible["high"].max()) * 1.1, 1.02) or 1)
    c.percent_axis(ax.yaxis if is_vertical else ax.xaxis, chart.axis_title("rejection_rate"))
    return chart.show_titles(title, r.coverage_note(frame, "Verdict"))


def _draw_intervals(chart: Chart, rows: pd.DataFrame, *, is_vertical: bool) -> None:
    ax, rate = chart.ax, rows["rejection_rate"].to_numpy()
    # Floats can put the end of an interval a hair inside the rate, and matplotlib refuses a length below 0.
    spread = np.clip([rate - rows["low"], rows["high"] - rate], 0, None)
    style: dict[str, Any] = {"fmt": "o", "color": c.color(0), "ecolor": c.color(2), "elinewidth": 2, "capsize": 3}
    if not is_vertical:
        ax.errorbar(rate, range(len(rows)), xerr=spread, **style)
        chart.show_rows(chart.labels_with_counts(rows))
    elif chart.has_periods:
        ax.errorbar(chart.positions(rows), rate, yerr=spread, **style)
        chart.draw_time_axis()
    elif chart.by == "hour":
        ax.errorbar(r.numbers(rows["hour"]), rate, yerr=spread, **style)
        c.hour_axis(ax)
    else:
        ax.errorbar(c.time_numbers(rows["day"]), rate, yerr=spread, **style)
        days = c.time_numbers(chart.frame["day"])
        chart.show_times(days[0] - 0.7, days[-1] + 0.7)


@draws("verdict.rejections", empty="No rejected request in this window.")
def verdict_rejections(chart: Chart) -> None:
    """Draw the number of rejected requests per hour of the day, by kind.

    A number says nothing about a participant, because those with more requests have more rejections. For rates, see
    :func:`ledgerframes.plot.verdict_rejection_rates`.

    Stacked bars of rejected requests by hour of the day [UTC], one color for each kind, which is a heuristic.

    >>> ax = lf.plot.verdict_rejections(lf.verdict.rejections(day))
    """
    ax, frame = chart.ax, chart.frame
    kinds = frame["reject_kind_heuristic"].astype("str").fillna("unknown")
    counts = pd.crosstab(kinds, frame["record_time"].dt.hour).reindex(columns=HOURS, fill_value=0)
    parts: list[s.Part] = [
        (f"{r.label(kind)} ({values.sum():,})", values.to_numpy("float64"), {"color": c.color(number)})
        for number, (kind, values) in enumerate(counts.iterrows())
    ]
    ax.set_ylim(0, s.areas(ax, np.arange(25) - 0.5, parts).max() * 1.25)
    c.legend_top(ax, 2)
    c.hour_axis(ax)
    c.count_axis(ax.yaxis, "Rejected requests")
    return chart.show_titles("Rejected requests by kind and hour of the day", "Kinds are inferred from the latency")


@draws("verdict.outcomes")
def verdict_rejection_rates(chart: Chart) -> None:
    """Draw the rejection rate of each group per hour of the day, as a heat map.

    The result needs ``every="1h"`` and a group, such as ``by="participant"``. Any other one raises the error, too.

    Rejection rate [%] by hour of the day [UTC], one row for each of the 25 groups with the most requests; cells of fewer than
    20 decided requests are hatched, because their rate is mostly chance.

    >>> ax = lf.plot.verdict_rejection_rates(lf.verdict.outcomes(day, by="participant", every="1h"))
    """
    ax, frame = chart.ax, chart.frame
    if not (chart.has_periods and chart.keys) or (frame["period_end"] - frame["period_start"]).max() > pd.Timedelta(hours=1):
        raise UsageError('Pass the result of lf.verdict.outcomes(frames, by="participant", every="1h"), or of another group.')
    groups = frame.groupby(chart.keys, dropna=False, observed=True, sort=False).ngroup()
    hours = [groups, frame["period_start"].dt.hour]
    rejected, decided = (
        counts.groupby(hours).sum().unstack(fill_value=0).reindex(columns=HOURS, fill_value=0)
        for counts in (frame["rejected"], frame["accepted"] + frame["rejected"])
    )
    if decided.to_numpy().sum() == 0:
        return chart.show_message(NO_VERDICT)
    totals = decided.sum(axis=1).sort_values(ascending=False, kind="stable")
    chart.notes.append(r.omitted_note(len(totals) - r.MAX_ROWS))
    totals = totals.iloc[: r.MAX_ROWS]
    names = dict(zip(groups, chart.labels(), strict=True))
    decisions = decided.loc[totals.index].to_numpy()
    is_enough = decisions >= MIN_REQUESTS_PER_CELL
    rates = np.where(is_enough, rejected.loc[totals.index].to_numpy() / np.maximum(decisions, 1), np.nan)
    texts = {(row, hour): r.percent(rates[row, hour]).removesuffix(" %") for row, hour in np.argwhere(is_enough)}
    s.heat_map(ax, rates, texts)
    s.hatched_cells(ax, np.argwhere(~is_enough & (decisions > 0)))
    chart.show_rows([f"{names[group]}  ({count:,})" for group, count in zip(totals.index, totals, strict=True)])
    ax.set_ylim(len(totals) - 0.5, -0.5)
    c.hour_axis(ax)
    ax.set_xlim(-0.5, 23.5)
    notes = (f"Hatched: fewer than {MIN_REQUESTS_PER_CELL} decided requests", r.coverage_note(frame, "Verdict"))
    group = chart.suffix.partition(",")[0]
    return chart.show_titles("Rejection rate (%)", *notes, suffix=f"{group} and hour of the day")


# -- latency ------------------------------------------------------------------------------------------------------------


@draws("verdict.latency", empty="Too few accepted requests for a percentile.", column="p50")
def verdict_latency(chart: Chart) -> None:
    """Draw the median, 95th and 99th percentile of the latency.

    Latency [s] on a logarithmic axis with a line at the timeout of 30 s: one row per group, the 25 with the most requests, or a
    line per percentile over record time [UTC]. Groups over time: the medians of the largest.

    >>> ax = lf.plot.verdict_latency(lf.verdict.latency(day, by="hour"))
    """
    ax, frame = chart.ax, chart.frame
    rows = frame if chart.has_periods else chart.largest(frame[frame["p50"].notna()])
    seconds = {name: np.maximum(r.numbers(rows[name]), MIN_SECONDS) for name, _, _ in PERCENTILES}
    notes = (r.coverage_note(frame, "Verdict"), r.few_requests_note(rows, [name for name, _, _ in PERCENTILES]))
    if chart.has_periods:
        grouped = (
            chart.group_table(seconds["p50"], chart.numbers("requests"))
            if chart.by
            else pd.DataFrame(seconds, index=chart.positions())
        )
        highest = s.lines(chart, grouped)
        c.latency_axis(ax.yaxis, chart.axis_title("p50"))
        ax.set_ylim(float(np.nanmin(grouped.to_numpy())) / 1.6, max(highest, TIMEOUT_SECONDS) * 5)
        ax.axhline(TIMEOUT_SECONDS, **_timeout_line(ax))
        return chart.show_titles("Median latency of accepted requests" if chart.by else LATENCY_TITLE, *notes)
    positions, longest = np.arange(len(rows)), np.nanmax(np.stack([*seconds.values()]), axis=0)
    ax.hlines(positions, seconds["p50"], longest, color=c.color(2), linewidth=1.5, alpha=0.6)
    for name, marker, number in PERCENTILES:
        if not np.isnan(seconds[name]).all():
            ax.plot(seconds[name], positions, marker, color=c.color(number), label=name)
    chart.show_rows(chart.labels_with_counts(rows))
    c.latency_axis(ax.xaxis, chart.axis_title("p50"))
    ax.set_xlim(seconds["p50"].min() / 1.6, max(longest.max(), TIMEOUT_SECONDS) * 1.6)
    ax.axvline(TIMEOUT_SECONDS, **_timeout_line(ax))
    c.legend_right(ax)
    return chart.show_titles(f"{LATENCY_TITLE} of accepted requests", *notes)


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
        no decision, so the curve of rejected requests ends below 100 %. A curve has at most 2,000 points.

    Raises
    ------
    UsageError
        If `verdicts` is not a table of verdicts.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")
    >>> ax = lf.plot.verdict_latency_distribution(day.verdicts)
    """
    columns = ("record_time", "finalization_time", "verdict_result")
    require_columns(verdicts, columns, "Pass frames.verdicts to lf.plot.verdict_latency_distribution")
    with c.canvas(ax) as ax:
        rows = with_latency(verdicts.astype(dict.fromkeys(columns[:2], TIME)))
        if rows.empty:
            c.draw_message(ax, NO_VERDICT)
            return ax
        timeouts = timeouts_of(rows)
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
        ax.axvline(TIMEOUT_SECONDS, **_timeout_line(ax))
        c.legend_right(ax)
        c.set_titles(ax, LATENCY_TITLE)
        return ax


def _timeout_line(ax: Axes) -> dict[str, Any]:
    return {"color": c.text_color(ax), "linestyle": ":", "linewidth": 1.2, "label": "timeout (30 s)"}


# -- parties and participants -------------------------------------------------------------------------------------------


@draws("verdict.quorums")
def verdict_quorums(chart: Chart) -> None:
    """Draw the parties that confirm together most often.

    One bar per quorum, the 15 most frequent. Over time: a line for each of the most frequent.

    >>> ax = lf.plot.verdict_quorums(lf.verdict.quorums(day))
    """
    ax, frame, counts = chart.ax, chart.frame, chart.numbers("quorums")
    if counts.sum() == 0:
        return chart.show_message("No quorum in this window.")
    labels = [
        f"{threshold} of {count}:  {r.join_parties(parties)}"
        for threshold, count, parties in zip(frame["threshold"], frame["party_count"], frame["parties"], strict=True)
    ]
    if chart.by:
        separator = ", " if chart.has_periods else "\n"
        labels = [f"{group}{separator}{label}" for group, label in zip(chart.labels(), labels, strict=True)]
    if chart.has_periods:
        keys = [*chart.keys, "parties", "threshold", "party_count"]
        s.lines(chart, chart.group_table(counts, counts, keys=keys, labels=labels))
        c.count_axis(ax.yaxis, chart.axis_title("quorums"))
    else:
        visible, total, omitted = counts[: r.MAX_BARS], counts.sum(), len(frame) - r.MAX_BARS
        s.bars(chart, labels[: r.MAX_BARS], visible, [f"{count:,.0f}  ({r.percent(count / total)})" for count in visible])
        c.count_axis(ax.xaxis, chart.axis_title("quorums"))
        chart.notes += [
            f"Percent of {total:,.0f} quorums, {len(frame):,} of them different",
            f"Not shown: {omitted:,} others with {r.percent(1 - visible.sum() / total)}" if omitted > 0 else "",
        ]
    return chart.show_titles("Quorums by confirmations needed and parties", r.coverage_note(frame, "Verdict"))


@draws("verdict.waited_for")
def verdict_waited_for(chart: Chart) -> None:
    """Draw how often requests that need a party's confirmation are slow.

    Share of slow requests [%] with its 95 % interval, one row for each of the 25 parties or participants that most
    requests need.

    >>> ax = lf.plot.verdict_waited_for(lf.verdict.waited_for(day))
    """
    ax, frame = chart.ax, chart.frame
    if frame["slow_rate"].isna().all():
        return chart.show_message(IN_DOUBT if frame["slow"].isna().any() else "No request needs a party's confirmation.")
    visible = chart.largest(frame[frame["slow_rate"].notna()], "required")
    rows, differs = np.arange(len(visible)), is_true(visible["differs"])
    is_judged = visible["differs"].notna().to_numpy()
    kinds = (
        (is_judged & ~differs, "o", 0, "as chance explains"),
        (differs, "D", 1, "more than chance explains"),
        (~is_judged, "x", 2, "too few to say"),
    )
    for is_of_kind, marker, number, text in kinds:
        part, at = visible[is_of_kind], rows[is_of_kind]
        if len(part):
            ax.hlines(at, part["low"], part["high"], color=c.color(number), linewidth=2, alpha=0.5)
            ax.plot(part["slow_rate"], at, marker, color=c.color(number), label=text)
    names = visible["party"].fillna(visible["participant"])
    chart.show_rows([f"{r.label(name)}  ({count:,})" for name, count in zip(names, visible["required"], strict=True)])
    ax.set_xlim(0, min(1.02, float(visible["high"].max()) * 1.1))
    c.percent_axis(ax.xaxis, chart.axis_title("slow_rate"))
    c.legend_right(ax)
    noun = "party" if visible["party"].notna().any() else "participant"
    return chart.show_titles(f"Share of slow requests by confirming {noun}", "Association, not cause")


@draws("verdict.head_of_line", empty="No request timed out in this window.")
def verdict_head_of_line(chart: Chart) -> None:
    """Draw the requests that timed out over time, with the time that others waited for them.

    An interval of 30 s is too short to be seen in a window of hours, so a circle stands for each request.

    Record time [UTC], one row for each of the 25 participants with the most added time. The area of a circle grows with the
    added time, and a cross has no victims.

    >>> ax = lf.plot.verdict_head_of_line(lf.verdict.head_of_line(day))
    """
    ax, frame = chart.ax, chart.frame
    if frame["victims"].isna().any():
        return chart.show_message(IN_DOUBT)
    added, times = chart.numbers("added"), c.time_numbers(frame["record_time"])
    codes, names = pd.factorize(frame["submitting_participant_uid"], use_na_sentinel=False)
    order = np.argsort(-np.bincount(codes, added), kind="stable")
    largest = max(added.max(), 1.0)
    for row, code in enumerate(order[: r.MAX_ROWS]):
        waited, nobody = (codes == code) & (added > 0), (codes == code) & (added == 0)
        area = 20 + 400 * added[waited] / largest
        ax.scatter(times[waited], np.full(waited.sum(), row), s=area, color=c.color(1), alpha=0.5)
        ax.plot(times[nobody], np.full(nobody.sum(), row), "x", color=c.text_color(ax), markersize=4, alpha=0.6)
    chart.show_rows([r.label(names[code]) for code in order[: r.MAX_ROWS]])
    margin = max((times.max() - times.min()) * 0.03, 0.01)
    chart.show_times(times.min() - margin, times.max() + margin)
    expected = frame["expected_victims"].sum(skipna=False)
    by_chance = "" if pd.isna(expected) else f", {expected:,.1f} expected by chance"
    notes = (
        f"{pluralize(int(frame['victims'].sum()), 'request')} waited{by_chance}",
        f"Largest circle: {largest:,.0f} s, cross: nobody waited",
        r.omitted_note(len(order) - r.MAX_ROWS),
    )
    return chart.show_titles("Requests that timed out, and the time that others waited (heuristic)", *notes)
