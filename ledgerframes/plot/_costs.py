"""Pictures of what traffic costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 15
MOST_ENVELOPES = 25
NOTHING = "No request with a known cost in this range."


def cost_over_time(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Cost per period, its rejected part, and its overhead.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.over_time`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Cost [bytes] over record time [UTC]. Periods whose cost is only partly known have a bar at the bottom.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_over_time(lf.cost.over_time(frames, "1h"))
    >>> ax.get_xlabel()
    'record time [UTC]'
    """
    with c.canvas(ax) as ax:
        if frame["total_traffic_cost"].notna().sum() == 0:
            return c.sentence(ax, NOTHING)
        edges = np.append(c.time_numbers(frame["period_start"]), c.time_numbers(frame["period_end"].tail(1)))
        total, rejected, overhead_cost = (_bytes(frame, part) for part in ("total", "rejected", "overhead"))
        accepted = total - np.nan_to_num(rejected)
        ax.stairs(accepted, edges, fill=True, color=c.color(0), label="not rejected")
        hatched: dict[str, Any] = {"facecolor": c.color(1), "edgecolor": "white", "linewidth": 0, "hatch": "////"}
        ax.stairs(total, edges, baseline=accepted, fill=True, label="rejected", **hatched)
        ax.stairs(overhead_cost, edges, color=c.ink(ax), linestyle="--", linewidth=1.2, label="overhead (no views)")
        _mark_partly_known(ax, frame)
        ax.set_ylim(0, np.nanmax(total) * 1.25 or 1)
        ax.legend(loc="upper left", ncols=4)
        c.bytes_axis(ax.yaxis, np.nanmax(total), "traffic cost")
        c.time_axis(ax.xaxis)
        ax.set_xlim(edges[0], edges[-1])
        c.titles(ax, f"Traffic cost per {c.period(frame)}", c.coverage_note(frame))
        return ax


def cost_by_participant(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Who pays: cost per submitting validator, the dearest at the top.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.by_participant`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Bars of cost [bytes]; beyond 15 validators the others are summed in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_by_participant(lf.cost.by_participant(frames))
    >>> ax.get_xlabel().startswith("traffic cost")
    True
    """
    labels = [c.label(uid) for uid in frame["submitting_participant_uid"]]
    return _ranked(frame, labels, "total_traffic_cost", "Traffic cost by submitting validator", ax)


def cost_by_template(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Cost per kind of transaction, the dearest at the top.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.by_template`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Bars of cost [bytes]; beyond 15 kinds the others are summed in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_by_template(lf.cost.by_template(frames))
    >>> ax.get_xlabel().startswith("traffic cost")
    True
    """
    without = {"reassignment": "reassignments", "transaction": "transaction without a tree"}
    labels = [
        c.template(name, choice, without.get(str(kind), "no visible update"))
        for kind, name, choice in zip(frame["kind"], frame["template_name"], frame["choice"], strict=True)
    ]
    return _ranked(frame, labels, "total_traffic_cost", "Traffic cost by root template and choice", ax)


def cost_by_view(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Cost per view of each kind of transaction, the dearest at the top.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.by_view`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Bars of cost [bytes]; beyond 15 views the others are summed in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_by_view(lf.cost.by_view(frames))
    >>> ax.get_xlabel().startswith("traffic cost")
    True
    """
    frame = frame.sort_values("traffic_cost", ascending=False, kind="stable", ignore_index=True)
    labels = [
        f"{c.template(name, choice)}, view {view}"
        for name, choice, view in zip(frame["template_name"], frame["choice"], frame["view_id"], strict=True)
    ]
    return _ranked(frame, labels, "traffic_cost", "Traffic cost of envelopes by view", ax)


def overhead(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Cost of envelopes with views and of those without.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.overhead`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Two bars of cost [bytes].

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.overhead(lf.cost.overhead(frames))
    >>> ax.get_xlabel().startswith("traffic cost")
    True
    """
    labels = [f"{kind}\n{count:,} envelopes" for kind, count in zip(frame["kind"], frame["envelopes"], strict=True)]
    return _ranked(frame, labels, "traffic_cost", "Traffic cost of envelopes with and without views", ax)


def wasted(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Share of the cost spent on rejected requests, as a control chart.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.wasted`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        Share [%] over record time [UTC], with the median and ± 3 median absolute deviations; diamonds lie outside.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.wasted(lf.cost.wasted(frames, "1h"))
    >>> ax.get_ylabel()
    'wasted share of cost [%]'
    """
    with c.canvas(ax) as ax:
        if frame["share"].notna().sum() == 0:
            return c.sentence(ax, NOTHING)
        times = (c.time_numbers(frame["period_start"]) + c.time_numbers(frame["period_end"])) / 2
        shares = frame["share"].to_numpy()
        ax.plot(times, shares, color=c.color(0), marker="o", markersize=3.5, label="wasted share")
        _draw_limits(ax, frame)
        is_outside = frame["outside"].fillna(value=False).to_numpy(dtype=bool)
        if is_outside.any():
            marks: dict[str, Any] = {"marker": "D", "linestyle": "", "color": c.color(1), "markeredgecolor": c.ink(ax)}
            ax.plot(times[is_outside], shares[is_outside], label="outside the limits", **marks)
        ax.legend(loc="upper left", ncols=4)
        ax.set_ylim(0, max(np.nanmax(shares), frame["upper"].fillna(0).iloc[0], 0.01) * 1.3)
        c.percent_axis(ax.yaxis, "wasted share of cost")
        c.time_axis(ax.xaxis)
        ax.set_xlim(c.time_numbers(frame["period_start"])[0], c.time_numbers(frame["period_end"])[-1])
        c.titles(ax, f"Bytes spent on rejected requests, per {c.period(frame)}", c.coverage_note(frame))
        return ax


def anatomy(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Where the bytes of one transaction are: a waterfall of its envelopes.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.anatomy`.
    ax : Axes, optional
        Draw here instead of on a new figure.

    Returns
    -------
    Axes
        One bar per envelope [bytes], each beginning where the one before ends; hatched if it carries no view.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.anatomy(lf.cost.anatomy(frames, frames.traffic["update_id"].iloc[0]))
    >>> ax.get_xlabel().startswith("traffic cost")
    True
    """
    envelopes = frame[frame["part"] == "envelope"]
    words = [f"{position}   {c.label(text)}" for position, text in zip(envelopes["position"], envelopes["label"], strict=True)]
    labels, costs = c.with_other(words, envelopes["traffic_cost"].to_numpy("float64"), MOST_ENVELOPES)
    with c.canvas(ax, c.rows_high(len(labels) + 1)) as ax:
        if len(costs) == 0:
            return c.sentence(ax, "The cost of this transaction is not known.")
        starts = np.concatenate([[0.0], np.cumsum(costs)[:-1]])
        drawn = ax.barh(range(len(costs)), costs, left=starts, height=0.7, color=c.color(0), edgecolor="white", linewidth=0)
        for bar, words_of_bar in zip(drawn, labels, strict=True):
            if "no views" in words_of_bar:
                bar.set(facecolor=c.color(2), hatch="////")
        ax.bar_label(drawn, labels=[c.size(cost) for cost in costs], padding=4, fontsize=8, color=c.ink(ax))
        c.row_labels(ax, labels)
        ax.set_xlim(0, max(float(costs.sum()), 1) * 1.18)
        c.bytes_axis(ax.xaxis, float(costs.sum()), "traffic cost, added up")
        ax.set_ylabel("envelope")
        c.titles(ax, f"One transaction: {c.size(float(costs.sum()))} in {len(envelopes):,} envelopes", _counted(frame))
        return ax


# -- helpers ----------------------------------------------------------------------------------------------------------


def _ranked(frame: pd.DataFrame, labels: list[str], column: str, title: str, ax: Axes | None) -> Axes:
    """Bars of cost, the first rows of the frame one by one and the others together."""
    is_known = frame[column].notna().to_numpy()
    known_labels = [label for label, known in zip(labels, is_known, strict=True) if known]
    labels, values = c.with_other(known_labels, frame.loc[is_known, column].to_numpy("float64"), MOST_BARS)
    with c.canvas(ax, c.rows_high(len(labels))) as ax:
        if len(values) == 0:
            return c.sentence(ax, NOTHING)
        total = values.sum() or 1
        c.bars(ax, labels, list(values), [f"{c.size(value)}  ({value / total:.0%})" for value in values])
        c.bytes_axis(ax.xaxis, values.max(), "traffic cost")
        c.titles(ax, title, c.coverage_note(frame))
        return ax


def _bytes(frame: pd.DataFrame, part: str) -> c.Numbers:
    return frame[f"{part}_traffic_cost"].to_numpy("float64", na_value=np.nan)


def _mark_partly_known(ax: Axes, frame: pd.DataFrame) -> None:
    """A strip at the bottom under the periods whose cost is a lower bound."""
    partly = frame[frame["coverage"] < 1]
    if partly.empty:
        return
    starts = c.time_numbers(partly["period_start"])
    widths = c.time_numbers(partly["period_end"]) - starts
    strip = list(zip(starts, widths, strict=True))
    ax.broken_barh(strip, (0, 0.015), transform=ax.get_xaxis_transform(), color="0.45", label="cost partly known", zorder=3)


def _draw_limits(ax: Axes, frame: pd.DataFrame) -> None:
    first = frame.iloc[0]
    if pd.isna(first["center"]):
        return
    ax.axhspan(first["lower"], first["upper"], color=c.color(2), alpha=0.2, linewidth=0, label="median ± 3 MAD")
    ax.axhline(first["center"], color=c.color(2), linestyle="--", linewidth=1.2)


def _counted(frame: pd.DataFrame) -> str:
    counts = frame["part"].value_counts()
    return f"nodes: {counts['node']:,}; views: {counts['view']:,}; activity records: {counts['activity']:,}"
