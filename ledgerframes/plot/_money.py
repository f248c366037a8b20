"""Plots of costs before and after, of estimates, of budgets and of concentration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cost_budget", "cost_compare", "cost_concentration", "cost_estimate"]

VERDICT_COLORS = {"dearer": 1, "cheaper": 3}
TOPS = {"top_1": ("highest", "o"), "top_3": ("highest 3", "s"), "top_10": ("highest 10", "^")}
MEMBERS = {"participant": "participants", "party": "parties, of requests submitted alone", "template": "kinds of transaction"}
MAX_POINTS = 5_000


def cost_compare(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the median cost of each kind before and after, with the interval.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.compare`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Median cost [bytes] before (hollow) and after (filled), one row for each of the 25 kinds with the largest change in
        total. The line through the second dot is the 95% interval of the difference.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.compare``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> noon = "2026-11-08T12:00:00Z"
    >>> ax = lf.plot.cost_compare(lf.cost.compare(day.between("2026-11-08", noon), day.between(noon, "2026-11-09")))
    >>> ax.get_xlabel().startswith("Median traffic cost")
    True
    """
    shape = r.check_result(frame, "cost.compare")
    is_drawn = frame["median_before"].notna() & frame["median_after"].notna()
    visible = frame[is_drawn].head(r.MAX_ROWS)
    with c.canvas(ax, c.height_for_rows(len(visible)) + 0.3) as ax:
        if visible.empty:
            return c.draw_message(ax, "No kind of request has a median before and after.")
        before, after, low, high = (_numbers(visible, name) for name in ("median_before", "median_after", "low", "high"))
        for row, verdict in enumerate(visible["verdict"]):
            color = c.color(VERDICT_COLORS[verdict]) if verdict in VERDICT_COLORS else c.text_color(ax)
            ax.plot([before[row], after[row]], [row, row], color=color, linewidth=1, alpha=0.6)
            ax.plot([before[row] + low[row], before[row] + high[row]], [row, row], color=color, linewidth=3.5, alpha=0.35)
            ax.plot(before[row], row, "o", color=color, markerfacecolor="none")
            ax.plot(after[row], row, "o", color=color)
        names = zip(r.group_labels(visible, shape), visible["relative"], visible["verdict"], strict=True)
        c.row_labels(ax, [_with_change(*each) for each in names])
        largest = float(np.nanmax([before, after, before + high]))
        ax.set_xlim(0, largest * 1.1 or 1)
        c.bytes_axis(ax.xaxis, largest, "Median traffic cost")
        hidden = len(frame) - len(visible)
        notes = ("Hollow: before, filled: after, band: 95% interval", f"{hidden:,} kinds not shown" if hidden else "")
        c.set_titles(ax, "Cost of each kind of request before and after", *notes)
        return ax


def _with_change(label: str, relative: float, verdict: str) -> str:
    """Return the label of a kind, with the change of its median if it is clear."""
    if verdict == "too few":
        return f"{label}  (few)"
    is_clear = verdict in VERDICT_COLORS and not pd.isna(relative)
    return f"{label}  ({'+' if relative > 0 else '−'}{r.percent(abs(relative), 1)})" if is_clear else label


def cost_estimate(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw actual costs against estimated costs on equal axes.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.estimate`, by request for one point per request.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Actual cost [bytes] by estimated cost [bytes], one point per row, with the line on which they are equal.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.estimate``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> own = day.traffic[["update_id"]].assign(request_bytes=5_000)
    >>> ax = lf.plot.cost_estimate(lf.cost.estimate(day, own, by="request"))
    >>> ax.get_xlabel().startswith("Estimated traffic cost")
    True
    """
    shape = r.check_result(frame, "cost.estimate")
    both = frame[frame["estimated"].notna() & frame["actual"].notna()]
    with c.canvas(ax, 5.0) as ax:
        if both.empty:
            return c.draw_message(ax, "No request has an estimated and an actual cost.")
        visible = both.iloc[:: max(1, -(-len(both) // MAX_POINTS))]
        for number, outcome in enumerate(("matched", "rejected")):
            part = visible[visible["outcome"] == outcome]
            points = (_numbers(part, "estimated"), _numbers(part, "actual"))
            ax.plot(*points, "os"[number], color=c.color(number), markersize=4, alpha=0.5, label=f"{outcome} ({len(part):,})")
        largest = float(max(_numbers(both, "estimated").max(), _numbers(both, "actual").max())) * 1.05 or 1
        ax.plot([0, largest], [0, largest], color=c.text_color(ax), linewidth=1, linestyle="--", label="equal")
        ax.set_xlim(0, largest)
        ax.set_ylim(0, largest)
        ax.set_aspect("equal")
        ax.legend(loc="upper left")
        c.bytes_axis(ax.xaxis, largest, shape.title("estimated"))
        c.bytes_axis(ax.yaxis, largest, shape.title("actual"))
        thinned = f"{len(visible):,} of {len(both):,} points" if len(visible) < len(both) else ""
        c.set_titles(ax, "Actual against estimated traffic cost", thinned)
        return ax


def cost_budget(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the cost of each kind of request as a percentage of its budget.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.budget`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Value over budget [%], one bar for each of the first 25 kinds, with a line at 100%.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.budget``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> kind = lf.cost.spend(day, by="template").query("kind == 'transaction' and choice.notna()").iloc[0]
    >>> limits = {f"{kind['template_name']}/{kind['choice']}": 1_000_000}
    >>> ax = lf.plot.cost_budget(lf.cost.budget(day, limits, network=day.network, statistic="max"))
    >>> ax.get_xlabel()
    'Cost as a share of the budget (%)'
    """
    r.check_result(frame, "cost.budget")
    visible = frame[frame["value"].notna() & (frame["budget"] > 0)].head(r.MAX_ROWS)
    with c.canvas(ax, c.height_for_rows(len(visible))) as ax:
        if visible.empty:
            return c.draw_message(ax, "No kind of request has enough requests for its budget.")
        used = _numbers(visible, "value") / _numbers(visible, "budget")
        labels = [r.template_label("transaction", *each) for each in visible[["template_name", "choice"]].to_numpy()]
        texts = [f"{value:,} of {budget:,} B" for value, budget in zip(visible["value"], visible["budget"], strict=True)]
        drawn = c.bars(ax, labels, list(used), texts)
        for bar, share in zip(drawn, used, strict=True):
            bar.set_facecolor(c.color(1 if share > 1 else 0))
            bar.set_hatch("///" if share > 1 else "")
        ax.axvline(1, color=c.text_color(ax), linewidth=1, linestyle="--", zorder=0.5)
        ax.set_xlim(0, max(used.max(), 1) * 1.3)
        c.percent_axis(ax.xaxis, "Cost as a share of the budget")
        omitted = len(frame) - len(visible)
        notes = ("Hatched: above the budget", f"Not shown: {omitted:,} without enough requests" if omitted else "")
        c.set_titles(ax, f"Budgets of {visible['statistic'].iloc[0]} cost per request", *notes)
        return ax


def cost_concentration(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the share of the cost of the members with the highest cost.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.concentration`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Share of the known cost [%] of the first, the first 3 and the first 10: lines over record time [UTC], or bars.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.concentration``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.cost_concentration(lf.cost.concentration(day))
    >>> ax.get_xlabel()
    'Share of the known traffic cost (%)'
    """
    shape = r.check_result(frame, "cost.concentration")
    with c.canvas(ax, 4.0 if shape.has_periods else c.height_for_rows(3)) as ax:
        if frame.empty or frame["top_1"].isna().all():
            return c.draw_message(ax, "No request in this window has a known cost.")
        quantity = "Share of the known traffic cost"
        title = f"Concentration of the cost on {MEMBERS[str(frame['member'].iloc[0])]}"
        if shape.has_periods:
            periods = (c.time_numbers(frame["period_start"]) + c.time_numbers(frame["period_end"])) / 2
            for number, (name, (label, marker)) in enumerate(TOPS.items()):
                ax.plot(periods, frame[name].to_numpy(), marker, linestyle="-", color=c.color(number), markersize=4, label=label)
            c.period_axis(ax, frame)
            ax.set_ylim(0, 1.25)
            ax.legend(loc="upper left", ncols=3)
            c.percent_axis(ax.yaxis, quantity)
            ax.set_yticks([0, 0.25, 0.5, 0.75, 1])
            title += f", per {r.period_length(frame)}"
        else:
            (row,) = frame.head(1).to_dict("records")
            shares = [row[name] for name in TOPS]
            labels = [f"{label}  ({row[f'{name}_members']:,} of {row['members']:,})" for name, (label, _) in TOPS.items()]
            c.bars(ax, labels, shares, [r.percent(share, 1) for share in shares])
            c.percent_axis(ax.xaxis, quantity)
            ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
        c.set_titles(ax, title, "Ties included", r.coverage_note(frame, "Cost"), r.population_note(frame))
        return ax


def _numbers(frame: pd.DataFrame, name: str) -> r.Numbers:
    return frame[name].to_numpy("float64", na_value=np.nan)
