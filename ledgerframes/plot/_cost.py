"""Plots of traffic costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cost_anatomy", "cost_overhead", "cost_spend", "cost_wasted"]

MAX_ENVELOPES = 25
NO_COST = "No request with a known cost in this window."
HATCHED: dict[str, Any] = {"edgecolor": "white", "linewidth": 0, "hatch": "////"}


def cost_spend(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw traffic cost over time, or the groups with the highest cost.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.spend`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Per period: cost [bytes] with its rejected and overhead parts over record time [UTC], or stacked by group; a strip
        marks periods with unknown costs. Otherwise: a bar of cost [bytes] per group, those beyond 15 in one.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.spend``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_spend(lf.cost.spend(day, every="1h"))
    >>> ax.get_xlabel()
    'Record time (UTC)'
    """
    shape = r.check_result(frame, "cost.spend")
    column, title = "total_traffic_cost", f"Traffic cost{r.group_text(shape)}"
    if not shape.has_periods:
        return _ranked(frame, r.group_labels(frame, shape), column, title, ax)
    with c.canvas(ax) as ax:
        if frame[column].notna().sum() == 0:
            return c.draw_message(ax, NO_COST)
        largest = _stack_parts(ax, frame) if shape.by is None else _stack_groups(ax, frame, shape)
        _mark_partly_known(ax, frame)
        ax.set_ylim(0, largest * (1.25 if shape.by is None else 1.4) or 1)
        ax.legend(loc="upper left", ncols=4 if shape.by is None else 3)
        c.bytes_axis(ax.yaxis, largest, shape.title(column))
        c.period_axis(ax, frame)
        c.set_titles(ax, f"{title}, per {r.period_length(frame)}", r.coverage_note(frame))
        return ax


def cost_overhead(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the cost of envelopes with views and of those without.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.overhead`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Bars of cost [bytes], a stacked bar per group, those beyond 15 in one, or the cost of both kinds of envelopes over
        record time [UTC]. Groups over time: the share [%] of envelopes without views.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.overhead``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_overhead(lf.cost.overhead(day))
    >>> ax.get_xlabel().startswith("Traffic cost")
    True
    """
    shape = r.check_result(frame, "cost.overhead")
    title = f"Traffic cost of envelopes with and without views{r.group_text(shape)}"
    if not shape.has_periods and shape.by is None:
        visible = frame[(frame["kind"] != "unassigned") | (frame["traffic_cost"] > 0).fillna(value=False)]
        pairs = zip(visible["kind"], visible["envelopes"], strict=True)
        labels = [kind if kind == "unassigned" else f"{kind}\n{count:,} envelopes" for kind, count in pairs]
        return _ranked(visible, labels, "traffic_cost", title, ax)
    if not shape.has_periods:
        return _stacked_rows(frame, shape, title, ax)
    with c.canvas(ax) as ax:
        if frame["traffic_cost"].notna().sum() == 0:
            return c.draw_message(ax, NO_COST)
        if shape.by is None:
            note = ""
            _stack_kinds(ax, frame, shape)
        else:
            without, title = frame[_is_without_views(frame)].reset_index(drop=True), "Share of envelopes without views"
            labels = r.group_labels(without, shape)
            table = r.by_group_over_time(without, shape.keys, labels, without["share"], without["traffic_cost"])
            note = c.lines_over_time(ax, table, without)
            c.percent_axis(ax.yaxis, "Share of the traffic cost")
        c.period_axis(ax, frame)
        c.set_titles(ax, f"{title}, per {r.period_length(frame)}", note, r.coverage_note(frame))
        return ax


def cost_wasted(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the share of the cost that rejected requests caused, as a control chart.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.wasted`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Share [%] over record time [UTC] with the median and ± 3 median absolute deviations; diamonds are outside, partial
        periods are open. Groups over time: a line for each of the largest. Otherwise: one bar of share [%] per group.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.wasted``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_wasted(lf.cost.wasted(day, every="1h"))
    >>> ax.get_ylabel()
    'Share of the cost that was wasted (%)'
    """
    shape = r.check_result(frame, "cost.wasted")
    title = f"Share of the traffic cost that was wasted{r.group_text(shape)}"
    visible, note = (frame, "") if shape.has_periods else r.largest_groups(frame[frame["share"].notna()])
    with c.canvas(ax, 4.0 if shape.has_periods else c.height_for_rows(len(visible))) as ax:
        if frame["share"].notna().sum() == 0:
            return c.draw_message(ax, NO_COST)
        if not shape.has_periods:
            texts = [r.percent(share, 1) for share in visible["share"]]
            c.bars(ax, r.rows_with_counts(visible, shape), list(visible["share"]), texts)
            ax.set_xlim(0, max(visible["share"].max(), 0.01) * 1.22)
            c.percent_axis(ax.xaxis, shape.title("share"))
            c.set_titles(ax, title, note, r.coverage_note(frame), r.population_note(frame))
            return ax
        if shape.by is None:
            _draw_control_chart(ax, frame)
        else:
            labels = r.group_labels(frame, shape)
            table = r.by_group_over_time(frame, shape.keys, labels, frame["share"], frame["requests"])
            note = c.lines_over_time(ax, table, frame)
        c.percent_axis(ax.yaxis, shape.title("share"))
        c.period_axis(ax, frame)
        c.set_titles(ax, f"{title}, per {r.period_length(frame)}", note, r.coverage_note(frame), r.population_note(frame))
        return ax


def cost_anatomy(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the envelopes of one transaction as a waterfall of bytes.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.anatomy`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One bar per envelope [bytes], each starting at the end of the previous one; hatched if it carries no view.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.anatomy``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_anatomy(lf.cost.anatomy(day, day.traffic["update_id"].iloc[0]))
    >>> ax.get_ylabel()
    'Envelope'
    """
    shape = r.check_result(frame, "cost.anatomy")
    envelopes = frame[frame["part"].isin(["envelope", "unassigned"])]
    texts = [f"{position}   {r.label(text)}" for position, text in zip(envelopes["position"], envelopes["label"], strict=True)]
    labels, costs = r.group_remaining(texts, envelopes["traffic_cost"].to_numpy("float64"), MAX_ENVELOPES)
    with c.canvas(ax, c.height_for_rows(len(labels) + 1)) as ax:
        if len(costs) == 0:
            return c.draw_message(ax, "The cost of this transaction is unknown.")
        starts, total = np.concatenate([[0.0], np.cumsum(costs)[:-1]]), float(costs.sum())
        drawn = ax.barh(range(len(costs)), costs, left=starts, height=0.7, color=c.color(0), edgecolor="white", linewidth=0)
        for bar, text in zip(drawn, labels, strict=True):
            if "no views" in text:
                bar.set(facecolor=c.color(2), hatch="////")
        ax.bar_label(drawn, labels=[c.size(cost) for cost in costs], padding=4, fontsize=8, color=c.text_color(ax))
        c.row_labels(ax, labels)
        ax.set_xlim(0, max(total, 1) * 1.18)
        c.bytes_axis(ax.xaxis, total, shape.title("traffic_cost"))
        ax.set_ylabel("Envelope")
        counts = frame["part"].value_counts().reindex(["node", "view", "envelope", "activity"], fill_value=0)
        note = f"Nodes: {counts['node']:,}. Views: {counts['view']:,}. Activity records: {counts['activity']:,}"
        c.set_titles(ax, f"Traffic cost by envelope: {c.size(total)} in {counts['envelope']:,} envelopes", note)
        return ax


# -- helpers ------------------------------------------------------------------------------------------------------------


def _ranked(frame: pd.DataFrame, labels: list[str], column: str, title: str, ax: Axes | None) -> Axes:
    """Draw a bar of cost for each of the first rows, and one for all others."""
    is_known = frame[column].notna().to_numpy()
    known_labels = [label for label, known in zip(labels, is_known, strict=True) if known]
    labels, values = r.group_remaining(known_labels, frame.loc[is_known, column].to_numpy("float64"))
    with c.canvas(ax, c.height_for_rows(len(labels))) as ax:
        if len(values) == 0:
            return c.draw_message(ax, NO_COST)
        total = values.sum() or 1
        c.bars(ax, labels, list(values), [f"{c.size(value)}  ({r.percent(value / total)})" for value in values])
        c.bytes_axis(ax.xaxis, values.max(), "Traffic cost")
        c.set_titles(ax, title, r.coverage_note(frame))
        return ax


def _stacked_rows(frame: pd.DataFrame, shape: r.ResultShape, title: str, ax: Axes | None) -> Axes:
    """Draw the cost of both kinds of envelopes as a bar per group, highest cost first."""
    is_without = _is_without_views(frame)
    with_views, without = (np.nan_to_num(_bytes(frame[mask], "traffic_cost")) for mask in (_is_with_views(frame), is_without))
    order = np.argsort(-(with_views + without), kind="stable")
    order = order[(with_views + without)[order] > 0]
    all_labels = r.group_labels(frame[is_without], shape)
    labels, with_views = r.group_remaining([all_labels[index] for index in order], with_views[order])
    _, without = r.group_remaining(labels, without[order])
    with c.canvas(ax, c.height_for_rows(len(labels)) + 0.3) as ax:
        if len(labels) == 0:
            return c.draw_message(ax, NO_COST)
        rows, both = range(len(labels)), with_views + without
        ax.barh(rows, with_views, height=0.7, color=c.color(0), edgecolor="none", label="with views")
        drawn = ax.barh(rows, without, left=with_views, height=0.7, label="without views", facecolor=c.color(2), **HATCHED)
        ax.bar_label(drawn, labels=[c.size(cost) for cost in both], padding=4, fontsize=8, color=c.text_color(ax))
        c.row_labels(ax, labels)
        ax.set_xlim(0, both.max() * 1.22)
        ax.legend(loc="lower right")
        c.bytes_axis(ax.xaxis, both.max(), shape.title("traffic_cost"))
        c.set_titles(ax, title, r.coverage_note(frame))
        return ax


def _stack_parts(ax: Axes, frame: pd.DataFrame) -> float:
    edges = _edges(frame)
    total, rejected, overhead = (_bytes(frame, f"{part}_traffic_cost") for part in ("total", "rejected", "overhead"))
    accepted = total - np.nan_to_num(rejected)
    is_known = frame["rejected"].notna().any()
    ax.stairs(accepted, edges, fill=True, color=c.color(0), label="not rejected" if is_known else "committed updates")
    if is_known:
        ax.stairs(total, edges, baseline=accepted, fill=True, label="rejected", facecolor=c.color(1), **HATCHED)
    ax.stairs(overhead, edges, color=c.text_color(ax), linestyle="--", linewidth=1.2, label="overhead (no views)")
    return float(np.nanmax(total))


def _stack_groups(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> float:
    costs = frame["total_traffic_cost"]
    table = r.by_group_over_time(frame, shape.keys, r.group_labels(frame, shape), costs, costs).fillna(0)
    edges, base = _edges(frame), np.zeros(len(table))
    visible = [(str(name), table.iloc[:, number].to_numpy()) for number, name in enumerate(table.columns[: r.MAX_LINES - 1])]
    rest = table.iloc[:, r.MAX_LINES - 1 :]
    if len(rest.columns):
        visible.append((f"{r.OTHER} ({len(rest.columns):,})", rest.sum(axis=1).to_numpy()))
    for number, (name, values) in enumerate(visible):
        ax.stairs(base + values, edges, baseline=base, fill=True, color=c.color(number), label=name)
        base = base + values
    return float(base.max())


def _stack_kinds(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> None:
    is_without = _is_without_views(frame)
    periods = frame[is_without].reset_index(drop=True)
    without, with_views = (np.nan_to_num(_bytes(frame[mask], "traffic_cost")) for mask in (is_without, _is_with_views(frame)))
    ax.stairs(with_views, _edges(periods), fill=True, color=c.color(0), label="with views")
    both = with_views + without
    ax.stairs(both, _edges(periods), baseline=with_views, fill=True, label="without views", facecolor=c.color(2), **HATCHED)
    ax.set_ylim(0, both.max() * 1.25 or 1)
    ax.legend(loc="upper left", ncols=2)
    c.bytes_axis(ax.yaxis, both.max(), shape.title("traffic_cost"))


def _draw_control_chart(ax: Axes, frame: pd.DataFrame) -> None:
    times = (c.time_numbers(frame["period_start"]) + c.time_numbers(frame["period_end"])) / 2
    shares = frame["share"].to_numpy()
    ax.plot(times, shares, color=c.color(0), marker="o", markersize=3.5, label="wasted share")
    is_partial = frame["is_partial"].fillna(value=False).to_numpy(dtype=bool)
    ax.plot(times[is_partial], shares[is_partial], "o", markersize=3.5, color=c.color(0), markerfacecolor="white")
    upper = frame["upper"].to_numpy(dtype="float64")
    if not np.isnan(upper).all():
        edges = _edges(frame)
        ax.stairs(np.nan_to_num(upper), edges, fill=True, color=c.color(2), alpha=0.2, label="usual range")
    is_above = frame["is_above"].fillna(value=False).to_numpy(dtype=bool)
    if is_above.any():
        marks: dict[str, Any] = {"marker": "D", "linestyle": "", "color": c.color(1), "markeredgecolor": c.text_color(ax)}
        ax.plot(times[is_above], shares[is_above], label="above the usual range", **marks)
    ax.legend(loc="upper left", ncols=4)
    ax.set_ylim(0, max(np.nanmax(shares), np.nanmax(np.append(upper, 0.01))) * 1.3)


def _is_with_views(frame: pd.DataFrame) -> r.Flags:
    is_with: r.Flags = (frame["kind"] == "with views").to_numpy(dtype=bool)
    return is_with


def _is_without_views(frame: pd.DataFrame) -> r.Flags:
    is_without: r.Flags = (frame["kind"] == "without views").to_numpy(dtype=bool)
    return is_without


def _bytes(frame: pd.DataFrame, column: str) -> r.Numbers:
    return frame[column].to_numpy("float64", na_value=np.nan)


def _edges(frame: pd.DataFrame) -> r.Numbers:
    periods = frame.drop_duplicates("period_start")
    return np.append(c.time_numbers(periods["period_start"]), c.time_numbers(periods["period_end"].tail(1)))


def _mark_partly_known(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw a strip at the bottom under the periods whose cost is a lower bound."""
    partly = frame[frame["coverage"] < 1].drop_duplicates("period_start")
    if partly.empty:
        return
    starts = c.time_numbers(partly["period_start"])
    widths = c.time_numbers(partly["period_end"]) - starts
    strip = list(zip(starts, widths, strict=True))
    ax.broken_barh(strip, (0, 0.015), transform=ax.get_xaxis_transform(), color="0.45", label="cost partly known", zorder=3)
