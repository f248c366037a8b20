"""Plots of traffic costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis.empty_results import NO_COST, ONLY_ZERO, ONLY_ZERO_WASTED
from ledgerframes.analysis.groups import is_true
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots import panels as p
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends
from ledgerframes.texts.representation import pluralize

TOPS = {"top_1": "top 1", "top_3": "top 3", "top_10": "top 10"}
VIEW_STYLES: dict[str, tuple[int, dict[str, Any]]] = {"with views": (0, {}), "without views": (2, s.HATCHED)}
OVERLAPPING = {"party": "A request of several parties counts for each", "label": "A request of several labels counts for each"}
SPIKE = 1.5  # times the second highest period
MEMBERS = {"participant": "participants", "party": "parties that submit alone", "template": "kinds of transaction"}


@draws("cost.spend", "Traffic cost", empty=NO_COST, column="total_traffic_cost", only_zero=ONLY_ZERO, is_ranking=True)
def cost_spend(chart: Chart) -> None:
    """Draw traffic cost over time, or the groups with the highest cost.

    Per period: cost [bytes] with its rejected and overhead parts over record time [UTC], or stacked by group; a strip marks
    periods with unknown costs. By party or label, which can share a request: a panel for each of the 12 largest. Otherwise: a
    bar of cost [bytes] per group, those beyond 15 in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.spend(day, every="1h"))
    """
    ax, frame = chart.ax, chart.frame
    costs = chart.numbers("total_traffic_cost")
    chart.notes.append(OVERLAPPING.get(str(chart.by), ""))
    if not chart.has_periods:
        _rank_costs(chart, chart.labels(), costs, chart.numbers("share"))
        return chart.show_titles(r.coverage_note(frame))
    if chart.by in OVERLAPPING:  # a stack of them would be higher than the cost of all requests
        title = chart.axis_title("total_traffic_cost")
        p.panels(chart, chart.group_table(costs, costs), lambda axis, highest: c.bytes_axis(axis, highest, title), c.size)
        return chart.show_titles(r.coverage_note(frame))
    if chart.by:
        table = chart.group_table(costs, costs)
        colors = [c.color(each) for each in s.HUES]
        largest = s.areas(ax, chart.edges(), s.largest_parts(table, len(s.HUES), colors, c.color(2))).max()
    else:
        largest = _stack_outcomes(chart, costs)
    _mark_partly_known(chart)
    ax.set_ylim(0, largest * 1.15 or 1)
    label_ends(ax)
    c.bytes_axis(ax.yaxis, largest, chart.axis_title("total_traffic_cost"))
    chart.draw_time_axis()
    if not chart.by:
        _label_spike(chart, costs)
    return chart.show_titles(r.coverage_note(frame))


def _mark_partly_known(chart: Chart) -> None:
    """Draw a strip below the periods in which the cost of some requests is unknown."""
    partly = chart.frame[chart.frame["coverage"] < 1].drop_duplicates("period_start")
    if len(partly):
        chart.draw_strip(partly, 0.015, color="0.45", zorder=3)
        chart.notes.append("Strip at the bottom: cost partly known")


def _label_spike(chart: Chart, costs: r.Numbers) -> None:
    """Write the cost of the highest period above it, if it is far above all others."""
    known = np.sort(costs[~np.isnan(costs)])
    if len(known) > 1 and known[-1] > SPIKE * known[-2]:
        at = int(np.nanargmax(costs))
        text = f"{chart.frame['period_start'].iloc[at]:%d %b %H:%M}, {c.size(known[-1])}"
        c.label_points(chart.ax, [chart.positions()[at]], [known[-1]], [text])


def _rank_costs(chart: Chart, labels: list[str], costs: r.Numbers, shares: r.Numbers) -> None:
    is_known = ~np.isnan(costs)
    known = [label for label, each in zip(labels, is_known, strict=True) if each]
    longest = s.ranked_bars(chart, known, costs[is_known], c.size, shares[is_known])
    c.bytes_axis(chart.ax.xaxis, longest, "Traffic cost")


def _stack_outcomes(chart: Chart, total: r.Numbers) -> float:
    edges, rejected = chart.edges(), chart.numbers("rejected_traffic_cost")
    is_known = chart.frame["rejected"].notna().any()
    accepted = total - np.nan_to_num(rejected)
    parts: list[s.Part] = [("not rejected" if is_known else "committed updates", accepted, {"color": c.color(0)})]
    if is_known:
        parts.append(("rejected", rejected, {"facecolor": c.color(1), **s.HATCHED}))
    s.areas(chart.ax, edges, parts)
    line: dict[str, Any] = {"color": c.text_color(chart.ax), "linestyle": "--", "linewidth": 1.2}
    chart.ax.stairs(chart.numbers("overhead_traffic_cost"), edges, label="overhead (no views)", **line)
    return float(np.nanmax(total))


@draws(
    "cost.requests",
    "Requests with the highest traffic cost",
    empty=NO_COST,
    column="total_traffic_cost",
    only_zero=ONLY_ZERO,
    is_ranking=True,
)
def cost_requests(chart: Chart) -> None:
    """Draw the requests with the highest cost.

    A bar of cost [bytes] per request, the first 15, with its multiple of the median of its kind.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.requests(day))
    """
    known = chart.frame[chart.frame["total_traffic_cost"].notna()]
    visible = known.head(r.MAX_ROWS)
    kinds = visible[["kind", "template_name", "choice"]].itertuples(index=False)
    labels = [f"{r.template_label(*kind)}  {r.label(each[:8])}…" for kind, each in zip(kinds, visible["update_id"], strict=True)]
    costs = r.numbers(visible["total_traffic_cost"])
    texts = [
        c.size(cost) + ("" if np.isnan(times) else f"  ({times:,.1f} × median)")
        for cost, times in zip(costs, visible["times_median"], strict=True)
    ]
    s.bars(chart, labels, costs, texts)
    chart.ax.set_xlim(0, costs.max() * 1.4 or 1)
    c.bytes_axis(chart.ax.xaxis, costs.max(), chart.axis_title("total_traffic_cost"))
    omitted = r.omitted_note(len(known) - len(visible), r.MAX_ROWS, "requests")
    chart.show_titles(omitted)


@draws("cost.overhead", "Traffic cost of envelopes with and without views", is_ranking=True)
def cost_overhead(chart: Chart) -> None:
    """Draw the cost of envelopes with views and of those without.

    Bars of cost [bytes], a stacked bar per group, those beyond 15 in one, or the cost of both kinds of envelopes over
    record time [UTC], where a strip marks periods with unknown costs. Groups over time: the share [%] of envelopes without
    views, a panel for each of the 12 largest.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.overhead(day))
    """
    ax, frame = chart.ax, chart.frame
    drawn = frame[frame["kind"].isin([*VIEW_STYLES])] if chart.by or chart.has_periods else frame
    if not drawn["traffic_cost"].gt(0).any():
        return chart.show_message(ONLY_ZERO if drawn["traffic_cost"].notna().any() else NO_COST)
    rows, costs = _by_kind(chart, "traffic_cost")
    kinds = [kind for kind in VIEW_STYLES if kind in costs]
    title = chart.title
    if chart.by and chart.has_periods:
        title = "Share of envelopes without views in the traffic cost"
        shares = _by_kind(chart, "share")[1].reindex(columns=["without views"])
        table = chart.group_table(r.numbers(shares["without views"]), r.numbers(costs.iloc[:, -1]), rows)
        p.panels(chart, table, lambda axis, _: c.percent_axis(axis, "Share of the traffic cost"), r.percent)
    elif chart.has_periods:
        largest = s.areas(ax, chart.edges(), [_view_part(kind, r.numbers(costs[kind])) for kind in kinds]).max()
        _mark_partly_known(chart)
        ax.set_ylim(0, largest * 1.1 or 1)
        label_ends(ax)
        c.bytes_axis(ax.yaxis, largest, "Traffic cost")
        chart.draw_time_axis()
    elif chart.by:
        both = r.numbers(costs.sum(axis=1))
        order = np.argsort(-both, kind="stable")[: (both > 0).sum()]
        labels = chart.labels(rows.iloc[order])
        parts = [_view_part(kind, r.group_remaining(labels, np.nan_to_num(costs[kind])[order])[1]) for kind in kinds]
        ranked, _ = r.group_remaining(labels, both[order])
        c.bytes_axis(ax.xaxis, s.stacked_rows(chart, ranked, parts).max(), "Traffic cost")
    else:
        visible = frame[(frame["kind"] != "unassigned") | is_true(frame["traffic_cost"] > 0)]
        counts = zip(visible["kind"], visible["envelopes"], strict=True)
        labels = [
            kind if kind == "unassigned" or pd.isna(count) else f"{kind}\n{pluralize(count, 'envelope')}"
            for kind, count in counts
        ]
        _rank_costs(chart, labels, r.numbers(visible["traffic_cost"]), r.numbers(visible["share"]))
    return chart.show_titles(r.coverage_note(frame, "Cost and envelopes"), title=title)


def _by_kind(chart: Chart, column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row of each period and group, and their values.

    The values have a column for each kind, with or without views, that has rows.
    """
    frame = chart.frame
    names = [*(["period_start"] if chart.has_periods else []), *chart.keys]
    codes = frame.groupby(names, dropna=False, observed=True, sort=False).ngroup() if names else pd.Series(0, frame.index)
    values = pd.Series(r.numbers(frame[column])).groupby([codes.to_numpy(), frame["kind"].astype("str").to_numpy()])
    return frame[~codes.duplicated()], values.first().unstack().filter([*VIEW_STYLES])


def _view_part(kind: str, values: r.Numbers) -> s.Part:
    number, style = VIEW_STYLES[kind]
    return kind, values, {"facecolor": c.color(number), **style}


@draws(
    "cost.wasted",
    "Wasted share of the traffic cost",
    empty="The wasted share is not known in this window.",
    column="share",
    only_zero=ONLY_ZERO_WASTED,
    is_ranking=True,
)
def cost_wasted(chart: Chart) -> None:
    """Draw the share of the cost that rejected requests caused, as a control chart.

    Share [%] over record time [UTC] with the usual range from 0 to its upper limit and its center; diamonds are above it,
    partial periods are open. Groups over time: a panel for each of the 12 with the highest cost. Otherwise: one bar of share
    [%] per group.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.wasted(day, every="1h"))
    """
    ax, frame = chart.ax, chart.frame
    notes = [r.coverage_note(frame)]
    if not chart.has_periods:
        visible = chart.largest(frame[frame["share"].notna()], "wasted_traffic_cost")
        shares = r.numbers(visible["share"])
        s.bars(chart, chart.labels_with_counts(visible), shares, [r.percent(share, 1) for share in shares])
        ax.set_xlim(0, max(shares.max(), 0.01) * 1.22)
        c.percent_axis(ax.xaxis, chart.axis_title("share"))
    elif chart.by:
        wasted, useful = (np.nan_to_num(chart.numbers(name)) for name in ("wasted_traffic_cost", "useful_traffic_cost"))
        table = chart.group_table(chart.numbers("share"), wasted + useful)
        p.panels(chart, table, lambda axis, _: c.percent_axis(axis, chart.axis_title("share")), r.percent)
    else:
        _draw_control_chart(chart)
        c.percent_axis(ax.yaxis, chart.axis_title("share"))
        if frame["upper"].isna().all():
            notes.append(f"No usual range: {', '.join(frame['reason'].dropna().unique())}")
    return chart.show_titles(*notes)


def _draw_control_chart(chart: Chart) -> None:
    ax, frame, times, shares, upper = chart.ax, chart.frame, chart.positions(), chart.numbers("share"), chart.numbers("upper")
    ax.plot(times, shares, color=c.color(0), marker="o", markersize=3.5, label="wasted share")
    is_partial, is_above = (is_true(frame[name]) for name in ("is_partial", "is_above"))
    ax.plot(times[is_partial], shares[is_partial], "o", markersize=3.5, color=c.color(0), markerfacecolor="white")
    if not np.isnan(upper).all():
        # From 0, because only a share above the limit is unusual, and none that is below the center.
        ax.stairs(upper, chart.edges(), fill=True, label="usual: up to the limit", **c.band(c.color(2)))
        center: dict[str, Any] = {"color": c.text_color(ax), "linestyle": "--", "linewidth": 1}
        ax.stairs(chart.numbers("center"), chart.edges(), baseline=None, label="center of the usual range", **center)
    if is_above.any():
        marks: dict[str, Any] = {"color": c.color(1), "markeredgecolor": c.text_color(ax)}
        ax.plot(times[is_above], shares[is_above], "D", **marks)
        chart.notes.append("Diamond: above the usual range")
    label_ends(ax)
    ax.set_ylim(0, max(np.nanmax(shares), np.nanmax(np.append(upper, 0.01))) * 1.15)
    chart.draw_time_axis()
    c.label_points(ax, times[is_above], shares[is_above], [r.percent(share, 1) for share in shares[is_above]])


@draws(
    "cost.concentration",
    "Concentration of the traffic cost",
    empty="The shares of the known cost cannot be computed in this window.",
    column="top_1",
)
def cost_concentration(chart: Chart) -> None:
    """Draw the share of the cost of the members with the highest cost.

    Share of the known cost [%] of the first, the first 3 and the first 10: lines over record time [UTC], or bars.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.concentration(day))
    """
    ax, frame, quantity = chart.ax, chart.frame, "Share of the known traffic cost"
    shares = {text: chart.numbers(name) for name, text in TOPS.items()}
    ticks = [0, 0.25, 0.5, 0.75, 1]
    if chart.has_periods:
        s.lines(chart, pd.DataFrame(shares, index=chart.positions()))
        ax.set_ylim(0, 1.02)
        c.percent_axis(ax.yaxis, quantity)
        ax.set_yticks(ticks)
    else:
        row = frame.iloc[0]
        labels = [f"{text}  ({row[f'{name}_members']:,} of {row['members']:,})" for name, text in TOPS.items()]
        values = np.concatenate([*shares.values()])
        s.bars(chart, labels, values, [r.percent(value, 1) for value in values])
        c.percent_axis(ax.xaxis, quantity)
        ax.set(xlim=(0, 1.22), xticks=ticks)
    title = f"{chart.title} among {MEMBERS[str(frame['member'].iloc[0])]}"
    return chart.show_titles("Ties included", r.coverage_note(frame), title=title)
