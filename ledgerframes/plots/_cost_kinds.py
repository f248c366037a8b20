"""Plots of the cost of kinds of request, of one transaction, and of the balance to come."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from matplotlib.text import Annotation

MAX_ENVELOPES = 25
MAX_POINTS = 5_000
EXACT = 1_000_000  # bytes, from which on a limit has its unit
STATISTICS = {"median": "Median", "max": "Highest", **{f"p{each}": f"{each}th percentile of the" for each in (90, 95, 99)}}


@draws("cost.anatomy", "Traffic cost by envelope")
def cost_anatomy(chart: Chart) -> None:
    """Draw the envelopes of one transaction as a waterfall of bytes.

    One bar per envelope [bytes], each starting at the end of the previous one; hatched if it carries no view.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.cost.anatomy(day, day.traffic["update_id"].iloc[0]))
    """
    ax, frame = chart.ax, chart.frame
    envelopes = frame[frame["part"].isin(["envelope", "unassigned"])]
    texts = [f"{position}: {r.label(text)}" for position, text in zip(envelopes["position"], envelopes["label"], strict=True)]
    labels, costs = r.group_remaining(texts, r.numbers(envelopes["traffic_cost"]), MAX_ENVELOPES)
    if len(costs) == 0 or np.isnan(costs).all():
        return chart.show_message("The cost of this transaction is unknown.")
    known = np.nan_to_num(costs)
    total = float(known.sum())
    drawn = s.bars(chart, labels, costs, [c.size(cost) for cost in known], np.cumsum(known) - known)
    for bar, text in zip(drawn, labels, strict=True):
        if "no views" in text:
            bar.set(facecolor=c.color(2), **s.HATCHED)
    c.bytes_axis(ax.xaxis, total, chart.axis_title("traffic_cost"))
    ax.set_ylabel("Envelope")
    counts = frame["part"].value_counts().reindex(["node", "view", "envelope", "activity"], fill_value=0)
    note = f"Nodes: {counts['node']:,}. Views: {counts['view']:,}. Activity records: {counts['activity']:,}"
    bound = "at least " if envelopes["traffic_cost"].isna().any() else ""
    in_envelopes = f"{bound}{c.size(total)} in {pluralize(int(counts['envelope']), 'envelope')}"
    return chart.show_titles(note, title=f"{chart.title}: {in_envelopes}")


@draws("cost.estimate", "Actual and estimated traffic cost")
def cost_estimate(chart: Chart) -> None:
    """Draw actual costs against estimated costs on equal axes.

    Actual cost [bytes] by estimated cost [bytes], one point per row, with the line on which they are equal. By request: one
    point per request.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> estimates = day.traffic[["update_id"]].assign(request_bytes=day.traffic["total_traffic_cost"].clip(0) * 9 // 10)
    >>> ax = lf.plot(lf.cost.estimate(day, estimates, by="request"))
    """
    ax, frame = chart.ax, chart.frame
    both = frame[frame["estimated"].notna() & frame["actual"].notna()]
    if both.empty:
        return chart.show_message("No request has an estimated and an actual cost.")
    visible = both.iloc[:: max(1, -(-len(both) // MAX_POINTS))]
    for number, outcome in enumerate(("matched", "rejected")):
        part = visible[visible["outcome"] == outcome]
        points = (r.numbers(part["estimated"]), r.numbers(part["actual"]))
        if len(part):
            ax.plot(*points, "os"[number], color=c.color(number), markersize=4, alpha=0.5, label=f"{outcome} ({len(part):,})")
    s.equal_costs(chart, r.numbers(both["estimated"]), r.numbers(both["actual"]))
    chart.set_height(5)
    thinned = f"{len(visible):,} of {len(both):,} points" if len(visible) < len(both) else ""
    rejected = (visible["outcome"] == "rejected").sum()
    squares = f"Square: rejected ({rejected:,})" if rejected else ""
    return chart.show_titles(thinned, squares)


@draws("cost.budget", "Cost per request and its limit")
def cost_budget(chart: Chart) -> None:
    """Draw the cost of each kind of request as a percentage of its budget.

    Value over budget [%], highest first, one bar for each of the 15 kinds with the highest, with a line at 100 %. Its texts
    say limit, because a budget can come from other weeks instead of from somebody who set it.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> kinds = lf.cost.spend(day, by="template").query("kind == 'transaction' and choice.notna()").head(8)
    >>> budgets = {f"{kind.template_name}/{kind.choice}": 20_000 for kind in kinds.itertuples()}
    >>> ax = lf.plot(lf.cost.budget(day, budgets, network=day.network, statistic="max"))
    """
    ax, frame = chart.ax, chart.frame
    known = frame[frame["value"].notna() & (frame["budget"] > 0)]
    if known.empty:
        return chart.show_message("No kind of request has enough requests for its limit.")
    shares = r.numbers(known["value"]) / r.numbers(known["budget"])
    highest = np.argsort(-shares, kind="stable")[: r.MAX_ROWS]
    visible, used = known.iloc[highest], shares[highest]
    labels = [r.template_label("transaction", *each) for each in visible[["template_name", "choice"]].to_numpy()]
    texts = [_used_text(*each) for each in zip(visible["value"], visible["budget"], strict=True)]
    bars, annotations = s.bars(chart, labels, used, texts), cast("list[Annotation]", ax.texts)
    for bar, share, text in zip(bars, used, annotations, strict=True):
        bar.set(facecolor=c.color(1 if share > 1 else 0), hatch="///" if share > 1 else "")
        text.xy = (max(share, 1), text.xy[1])  # to the right of the line
    ax.axvline(1, color=c.text_color(ax), linewidth=1, linestyle="--", zorder=0.5)
    ax.set_xlim(0, max(used.max(), 1) * 1.3)
    c.ratio_axis(ax.xaxis, "Cost relative to the limit")
    unknown = len(frame) - len(known)
    notes = (
        "Hatched: above the limit",
        f"Not shown: {unknown:,} without enough requests" if unknown else "",
        f"The {r.MAX_ROWS} highest of {len(known):,} kinds" if len(known) > r.MAX_ROWS else "",
    )
    statistic = STATISTICS[visible["statistic"].iloc[0]]
    return chart.show_titles(*notes, title=f"{statistic} cost per request and its limit")


def _used_text(value: int, budget: int) -> str:
    """Return bytes of a limit, exact below a megabyte."""
    return f"{value:,} of {budget:,} B" if max(value, budget) < EXACT else f"{c.size(value)} of {c.size(budget)}"


@draws("cost.runway", "Forecast of the traffic balance", empty="No hour to forecast.")
def cost_runway(chart: Chart) -> None:
    """Draw the traffic balance to come, with the band that covers about 4 of 5 cases.

    Balance [bytes] over time [UTC], down to the first hour below 0, which is marked.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> net = lf.connect("sandbox", events=6500, days=29)
    >>> frames = lf.load_events(net, since="2026-10-12", until="2026-11-09")
    >>> payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    >>> balance = lf.TrafficBalance(2_000_000, "2026-11-09")
    >>> ax = lf.plot(lf.cost.runway(frames, participant=payer, balance=balance))
    """
    ax, frame = chart.ax, chart.frame
    low, middle, high = (chart.numbers(f"balance_{name}") for name in ("low", "middle", "high"))
    times = c.time_numbers(frame["hour"])
    has_band = not np.isnan(low).all()
    if has_band:
        is_left = np.append(True, high[:-1] > 0)  # up to the first hour of no balance, where the band ends
        ends = np.maximum([low, high], 0)
        ax.fill_between(times, ends[0], ends[1], where=is_left, label="4 of 5 cases", **c.band(c.color(0)))
    s.line(ax, times, np.where(middle < 0, np.nan, middle), color=c.color(0), label="mean burn")
    largest = float(np.nanmax([*high, *middle, 0])) or 1.0
    ax.set_ylim(0, largest * 1.35)
    label_ends(ax)
    # The earlier line is the lower one and its text ends there, so that no line crosses a text.
    lines = ((low, "low end of the band", 0.8), (middle, "end at mean burn", 0.9))
    ends = [_mark_end(chart, times, *each) for each in lines]
    c.bytes_axis(ax.yaxis, largest, "Traffic balance")
    chart.show_times(times[0] - 1 / 24, max(times[-1], times[0] + 1 / 24), "Time (UTC)")
    title = chart.title + ("" if any(ends) or not has_band else ", which lasts longer than this")
    after = "Where a line ends, the participant cannot submit any more" if any(ends) else ""
    no_band = "" if has_band else "No band: a week of the history has no burn"
    return chart.show_titles("If the coming weeks are like the last", after, no_band, title=title)


def _mark_end(chart: Chart, times: r.Numbers, balances: r.Numbers, text: str, height: float) -> bool:
    """Draw a line with its name at the first hour below 0, and return whether there is one."""
    (dry,) = np.nonzero(balances < 0)
    if not len(dry):
        return False
    end = chart.frame["hour"].iloc[dry[0]]
    style, alignment = ("--", "right") if text.startswith("low") else (":", "center")
    chart.ax.axvline(times[dry[0]], ymax=height, color=c.color(1), linewidth=1, linestyle=style)
    c.label_point(
        chart.ax, f"{text}, {end:%d %b %H:%M}", (times[dry[0]], height * chart.ax.get_ylim()[1]), 2, horizontalalignment=alignment
    )
    return True
