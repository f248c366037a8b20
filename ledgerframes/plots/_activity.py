"""Plots of activity weights, of rewards and of their checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis.empty_results import NO_PROVIDER, NO_RECORD, ONLY_ZERO_WEIGHTS
from ledgerframes.analysis.groups import is_true
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends
from ledgerframes.texts.representation import pluralize

MAX_AREAS = 7
PATTERNS = ("", "////")  # of the areas with the first colors, and of the next
WITHOUT_AMOUNTS = "No rewards: the rounds do not reward traffic, or records can be missing"
NAMED, NEAR_AXIS = 0.6, 0.08  # where curves have their names, and where there is no room below
FIXED = "Requests, costs and the behavior of all parties stay the same"


@draws("activity.weights", "Activity weight", empty=NO_RECORD, column="weight", only_zero=ONLY_ZERO_WEIGHTS, is_ranking=True)
def activity_weights(chart: Chart) -> None:
    """Draw the shares of app providers over time, or their weights.

    More than 100 rounds are added up in groups, which the title says.

    Per round or period: stacked shares [%] of the seven parties with the highest shares at any time, and of all others, or the
    weight [weighted bytes] of all. Otherwise: a bar of weight [weighted bytes] per party, those beyond 15 in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.activity.weights(day, by="party", every="6h"))
    """
    ax, weights, title = chart.ax, chart.numbers("weight"), chart.title
    if not chart.is_over_time:
        labels = chart.labels() if chart.by else ["all parties"]
        c.weight_axis(ax.xaxis, s.ranked_bars(chart, labels, weights, c.weight, chart.numbers("share")))
    elif chart.by:
        title = "Share of the activity weight"
        _stack_shares(chart, weights)
    else:
        table = pd.DataFrame({"all parties": weights}, index=chart.positions())
        largest = s.lines(chart, chart.bin_rounds(table) if chart.has_rounds else table)
        c.weight_axis(ax.yaxis, largest)
    if chart.has_rounds:
        uncertain = chart.frame.loc[chart.frame["is_partial"].fillna(True), "round_number"].nunique()
        chart.notes.append(_rounds_text(uncertain, "with records that can be missing"))
    return chart.show_titles(title=title)


def _rounds_text(count: int, text: str) -> str:
    """Return a note on a number of rounds, empty for none."""
    return f"{pluralize(count, 'round')} {text}" if count else ""


def _stack_shares(chart: Chart, weights: r.Numbers) -> None:
    ax, table = chart.ax, chart.group_table(weights, weights)
    table = table.loc[:, table.sum().to_numpy() > 0]
    if table.empty:
        chart.show_message("No app provider has an activity weight above 0.")
        return
    table = chart.bin_rounds(table) if chart.has_rounds else table
    totals = table.sum(axis=1)
    shares = table.fillna(0).div(totals.where(totals > 0), axis=0)  # without any weight, there are no shares
    parts = s.largest_parts(_highest_first(shares), MAX_AREAS, [c.color(each) for each in s.HUES * len(PATTERNS)], c.color(2))
    s.areas(ax, chart.edges(), [_with_pattern(number, part) for number, part in enumerate(parts)])
    chart.draw_time_axis()
    c.percent_axis(ax.yaxis, "Share")
    ax.set_ylim(0, 1)
    label_ends(ax)


def _highest_first(shares: pd.DataFrame) -> pd.DataFrame:
    """Return the parties that are visible before all others.

    A party that is large for one day would be among the others by its total.
    """
    highest = shares.columns.isin(shares.max().sort_values(ascending=False, kind="stable").index[:MAX_AREAS])
    return pd.concat([shares.loc[:, highest], shares.loc[:, ~highest]], axis=1)


def _with_pattern(number: int, part: s.Part) -> s.Part:
    """Return an area with a pattern if another one has its color, except that of all others.

    Paler colors would be too faint on white paper, or on dark paper.
    """
    text, values, style = part
    pattern = "" if r.is_other(text) else PATTERNS[number // len(s.HUES)]
    return text, values, {**style, **s.HATCHED, "hatch": pattern}


@draws("activity.rewards", "Reward and activity weight", empty="No round has a known weight in this window.", column="weight")
def activity_rewards(chart: Chart) -> None:
    """Draw the reward and the weight of each round.

    Of several parties, the one with the largest weight is shown. More than 100 rounds are added up in groups, which the title
    says.

    A bar of the reward [coin] per round, hollow at the allowance where it is below the threshold, and below it a line of
    the weight [weighted bytes]. Without rewards: the weight alone.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.activity.rewards(frames))
    """
    visible, title = _largest_party(chart)
    is_below = is_true(visible["below_threshold"]) if "below_threshold" in visible else np.zeros(len(visible), dtype=bool)
    amounts = r.numbers(visible["amount"])
    allowances = r.numbers(visible["allowance"]) if "allowance" in visible else amounts
    heights = {"paid": np.where(is_below, 0, amounts), "unpaid": np.where(is_below, allowances, 0)}
    values = pd.DataFrame({**heights, "weight": r.numbers(visible["weight"])}).set_axis(r.numbers(visible["round_number"]))
    bins, edges = chart.bin_rounds(values), chart.round_edges()
    ax = chart.ax
    if np.isnan(amounts).all():
        chart.notes.append(WITHOUT_AMOUNTS)
    else:
        hollow: dict[str, Any] = {"facecolor": "none", "edgecolor": c.color(0), "linewidth": 0.8}
        parts: list[s.Part] = [("reward", bins["paid"].to_numpy(), {"color": c.color(0)})]
        if is_below.any():
            parts.append(("below the threshold, not paid", bins["unpaid"].to_numpy(), hollow))
            chart.notes.append("Hollow: below the threshold, not paid")
        ax.set_ylim(0, s.areas(ax, edges, parts).max() * 1.1 or 1)
        c.amount_axis(ax.yaxis, "Reward")
        chart.notes.append(_rounds_text(int(np.isnan(amounts).sum()), "without a known reward"))
        ax = chart.panel_below()
    weights, largest = bins["weight"].to_numpy(), float(bins["weight"].max())
    style: dict[str, Any] = {"color": c.color(1), "marker": "o", "markersize": 3, "linewidth": 1.2}
    ax.plot((edges[1:] + edges[:-1]) / 2, weights, label="weight", **style)
    ax.set_ylim(0, largest * 1.2 or 1)
    c.weight_axis(ax.yaxis, largest)
    chart.draw_round_axis(edges, ax)
    return chart.show_titles(title=title, suffix=f", per {chart.round_length}")


def _largest_party(chart: Chart) -> tuple[pd.DataFrame, str]:
    frame = chart.frame
    if chart.by is None:
        return frame, chart.title
    sums = frame[["party", "weight"]].groupby("party", sort=False)["weight"].sum()
    party = str(sums.idxmax())
    more = f" (the largest of {len(sums):,} parties)" if len(sums) > 1 else ""
    return frame[frame["party"] == party], f"{chart.title} of {r.label(party)}{more}"


@draws("activity.concentration", "Concentration of activity", empty=NO_PROVIDER, column="gini")
def activity_concentration(chart: Chart) -> None:
    """Draw how much of the activity the largest parties have.

    Of more than 100 rounds, the medians of groups are shown, which the title says.

    A line per share and coefficient [%] over time, or a bar for each of them.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.activity.concentration(day))
    """
    ax, frame, quantity = chart.ax, chart.frame, "Share or coefficient"
    tops = [name for name in frame.columns if name.startswith("top_") and not name.endswith("_parties")]
    names = {"gini": "Gini coefficient", "hhi": "HHI", **{name: _top_label(name) for name in tops}}
    values = pd.DataFrame({text: chart.numbers(name) for name, text in names.items()})
    if chart.is_over_time:
        table = values.set_index(chart.positions())
        s.lines(chart, chart.bin_rounds(table, "median") if chart.has_rounds else table)
        ax.set_ylim(0, 1.02)
        c.percent_axis(ax.yaxis, quantity)
        ax.set_yticks(np.arange(0, 1.1, 0.2))
    else:
        s.bars(chart, [*names.values()], values.iloc[0].to_numpy(), [r.percent(value) for value in values.iloc[0]])
        ax.set_xlim(0, 1.22)
        c.percent_axis(ax.xaxis, quantity)
    among = f"Among {'at most ' if chart.is_over_time else ''}{pluralize(frame['parties'].max(), 'party')} with activity"
    suffix = f", median of {chart.round_length}" if chart.rounds_per_bin > 1 else None
    return chart.show_titles(among, suffix=suffix)


def _top_label(name: str) -> str:
    number = name.removeprefix("top_")
    return "largest party" if number == "1" else f"{number} largest"


@draws("activity.lorenz", "Distribution of activity over parties", empty=NO_RECORD, column="cumulative_share")
def activity_lorenz(chart: Chart) -> None:
    """Draw the Lorenz curve of the activity of all parties.

    Share of activity [%] of the smallest parties over their share of all parties [%], with the diagonal.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot(lf.activity.lorenz(day))
    """
    ax, frame = chart.ax, chart.frame
    x, y = (np.append(0, chart.numbers(name)) for name in ("cumulative_parties", "cumulative_share"))
    ax.plot([0, 1], [0, 1], "--", color=c.color(2), linewidth=1.2, label="all equal")
    marker = "o" if len(frame) <= r.MAX_ROWS else ""
    ax.plot(x, y, color=c.color(0), marker=marker, markersize=4, label="activity")
    ax.fill_between(x, y, x, color=c.color(0), alpha=0.12)
    c.percent_axis(ax.xaxis, "Share of parties, smallest first")
    c.percent_axis(ax.yaxis, "Share of activity")
    ax.set(xlim=(0, 1.02), ylim=(0, 1.02))
    is_known = ~np.isnan(x + y)
    at = min(NAMED, float(x[is_known][-1]))  # a curve ends early where shares are missing
    middle = float(np.interp(at, x[is_known], y[is_known]))
    c.annotate(ax, "all equal", (NAMED, NAMED), (-4, 4), "data", ha="right")
    c.annotate(ax, "activity", (at, middle), (4, 4 if middle < NEAR_AXIS else -10), "data")
    chart.set_height(5)
    largest = "" if np.isnan(y[-2]) else f"{r.label(frame['party'].iloc[-1])} has {r.percent(1 - y[-2])}"
    among = f"Among {pluralize(len(frame), 'party')} with activity"
    return chart.show_titles(among, largest)


@draws("activity.what_if", "Change of the activity weight", empty="No weight before or after the change.", column="party")
def activity_what_if(chart: Chart) -> None:
    """Draw the change of each party's weight.

    Rounds are summed.

    A bar per party with the change of its weight [weighted bytes], the 15 with the largest weight, each with the
    weights before and after.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.activity.what_if(frames, confirmers="informees"))
    """
    sums = chart.frame[["party", "weight_before", "weight_after"]].groupby("party", sort=False).sum(min_count=1)
    sums = sums.dropna()  # the change of an unknown weight is unknown
    if sums.empty:
        return chart.show_message("No party has a known weight before and after the change.")
    visible = sums.loc[sums.max(axis=1).sort_values(ascending=False, kind="stable").index[: r.MAX_ROWS]]
    before, after = (r.numbers(visible[name]) for name in visible)
    changes = after - before
    texts = [f"{c.size(old)} → {c.size(new)}" for old, new in zip(before, after, strict=True)]
    labels, colors = [r.label(party) for party in visible.index], [c.color(1 if more else 0) for more in changes > 0]
    s.change_bars(chart, labels, changes, texts, colors, "Change of the activity weight", c.weight_axis)
    notes = ("Weighted bytes before → after", FIXED, r.omitted_note(len(sums) - len(visible)))
    return chart.show_titles(*notes, suffix="")


# -- published and computed weights -------------------------------------------------------------------------------------
