"""Plots of what parties get, buy and own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis.empty_results import ONLY_ZERO_AMOUNTS
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.texts.representation import pluralize

ZERO_LINE = 3  # printer's points, for a bar of 0, of which the axis hides half
BYTES = "bytes_bought"
RANKED = {  # title and quantity, by of=
    "issued": ("Parties with the largest rewards", "Rewards issued (coin)"),
    "minted": ("Parties that collected the most coin", "Coin minted (coin)"),
    BYTES: ("Parties that bought the most traffic", "Traffic bought"),
    "burned": ("Parties that burned the most coin for traffic", "Coin burned (coin)"),
}


@draws(
    "economy.leaderboard", "Parties with the largest amounts", empty="No known party has an amount in this window.", column="rank"
)
def economy_leaderboard(chart: Chart) -> None:
    """Draw the parties with the largest amounts of the latest whole period.

    One bar per party with its share, and the ranks that it gained or lost. Without a whole period, the latest one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.leaderboard(frames, every="1d"))
    """
    frame = chart.frame
    suffix = ""
    if chart.has_periods:
        ranked = frame[frame["rank"].notna()]
        whole = ranked[~ranked["is_partial"].fillna(True)]
        latest = (whole if len(whole) else ranked)["period_start"].max()
        frame = frame[frame["period_start"] == latest]
        suffix = f", per {r.period_length(frame)}: {latest:%Y-%m-%d %H:%M}"
        chart.notes.append("" if len(whole) else "The period is partial")
    known, unknown = frame[frame["rank"].notna()], frame[frame["party"].isna()]
    if r.are_only_zero(known["amount"]):
        return chart.show_message(ONLY_ZERO_AMOUNTS)
    chart.notes += [f"Unknown parties: {r.percent(share)}" for share in unknown["share"].dropna()]
    visible = known.sort_values(["rank", "party"]).head(r.MAX_ROWS)
    labels = [f"{row.rank:,}  {r.label(row.party)}" for row in visible.itertuples()]
    of, amounts = str(chart.frame.attrs.get("of")), r.numbers(visible["amount"])
    to_text = c.size if of == BYTES else _amount
    texts = [to_text(amount) + _share_and_change(row) for amount, (_, row) in zip(amounts, visible.iterrows(), strict=True)]
    s.bars(chart, labels, amounts, texts)
    title, quantity = RANKED.get(of, (chart.title, "Amount"))  # a concatenation loses its attributes
    if of == BYTES:
        c.bytes_axis(chart.ax.xaxis, float(np.nanmax(amounts, initial=0)), quantity)
    else:
        c.number_axis(chart.ax.xaxis, quantity, c.plain, steps=c.ROUND_STEPS)
    omitted = f"The first {len(visible):,} of {len(known):,}" if len(known) > len(visible) else ""
    return chart.show_titles(omitted, r.coverage_note(visible, "Amounts", "the flows"), title=title, suffix=suffix)


def _amount(amount: float) -> str:
    return f"{amount:,.0f}" if abs(amount) >= 1000 else c.plain(float(f"{amount:.4g}"))


def _share_and_change(row: pd.Series) -> str:
    change = "" if pd.isna(row["change"]) else f", {_arrow(int(row['change']))}"
    return "" if pd.isna(row["share"]) else f"  ({r.percent(float(row['share']))}{change})"


def _arrow(change: int) -> str:
    return f"up {change:,}" if change > 0 else f"down {-change:,}" if change < 0 else "same rank"


@draws("economy.reward_split", "Rewards of app providers by beneficiary", empty="No reward was split in this window.")
def economy_reward_split(chart: Chart) -> None:
    """Draw the expected and the actual parts of the beneficiaries of each provider.

    Two bars per provider [coin], divided into the parts of its beneficiaries: expected above, actual below.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.reward_split(frames))
    """
    ax, frame, sides = chart.ax, chart.frame, ["expected", "actual"]
    if r.are_only_zero(pd.concat([frame[name] for name in sides])):
        return chart.show_message(ONLY_ZERO_AMOUNTS)
    sums = frame.assign(**{name: np.nan_to_num(chart.numbers(name)) for name in sides})
    sums = sums.groupby(["provider", "beneficiary"], dropna=False)[sides].sum().reset_index()
    totals = sums.groupby("provider", dropna=False)[sides].sum().max(axis=1).sort_values(ascending=False, kind="stable")
    visible = list(totals.index[: r.MAX_ROWS])
    is_known = frame["coupon_amount"].notna().groupby(frame["provider"], dropna=False).any().reindex(visible).to_numpy(dtype=bool)
    for name, shift, color in (("expected", -0.19, c.color(2)), ("actual", 0.19, c.color(0))):
        ends = np.where(is_known, 0.0, np.nan)
        for widths in _parts_of(sums, visible, name):
            style: dict[str, Any] = {"color": color, "edgecolor": "white", "linewidth": 0.8, "height": 0.34}
            bars = ax.barh(np.arange(len(visible)) + shift, np.where(is_known, widths, np.nan), left=ends, label=name, **style)
            ends = ends + widths
        for row in np.flatnonzero(ends == 0).tolist():
            bars[row].set(edgecolor=color, linewidth=ZERO_LINE)
        for row in np.flatnonzero(is_known).tolist():
            c.annotate(ax, f"{r.amount(ends[row])}  {name}", (ends[row], row + shift), (4, 0), "data", va="center")
    for row in np.flatnonzero(~is_known).tolist():
        c.annotate(ax, "unknown", (0, row), (4, 0), "data", va="center")
    chart.show_rows([r.label(name) for name in visible], 0.6)
    ax.set_xlim(0, float(totals.max()) * s.WIDTH_WITH_NAMES or 1)
    c.amount_axis(ax.xaxis, "Reward")
    counts = frame["outcome"].astype("str").value_counts()
    outcomes = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    omitted = r.omitted_note(len(totals) - len(visible), len(visible), "providers")
    return chart.show_titles(outcomes.capitalize(), omitted)


def _parts_of(sums: pd.DataFrame, providers: list[object], name: str) -> list[r.Numbers]:
    """Return the first, second … part of each provider, 0 for those that have fewer parts."""
    number = sums.groupby("provider", dropna=False).cumcount()
    table = pd.Series(sums[name].to_numpy("float64")).groupby([number, sums["provider"]], dropna=False).first().unstack()
    return [row.to_numpy("float64") for _, row in table[providers].fillna(0).iterrows()]


@draws("economy.purchases", "Traffic bought")
def economy_purchases(chart: Chart) -> None:
    """Draw who bought how much traffic for whom, or the traffic bought over time.

    A bar of the bytes bought for each buyer and member, the 15 with the most. A buyer alone bought for itself. With
    ``every=``, a bar per period.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.purchases(frames, every="1d"))
    """
    ax, frame, bought = chart.ax, chart.frame, chart.numbers("bytes")
    if not frame["purchases"].sum():
        return chart.show_message("Nobody bought traffic in this window.")
    if not np.nansum(bought):
        return chart.show_message(f"The size of {pluralize(int(frame['purchases'].sum()), 'purchase')} is unknown.")
    is_unknown = np.isnan(bought) & (frame["purchases"] > 0).to_numpy(dtype=bool)
    if chart.has_periods:
        periods = pd.DataFrame({"bytes": bought, "is_gap": is_unknown}).groupby(chart.positions()).sum()
        totals = r.numbers(periods["bytes"].mask(periods["is_gap"] > 0))
        s.areas(ax, chart.edges(), [("traffic", totals, {"color": c.color(0)})])
        c.bytes_axis(ax.yaxis, float(np.nanmax(totals, initial=0)), "Traffic bought")
        chart.draw_time_axis()
        gap_count = pluralize(int((periods["is_gap"] > 0).sum()), "period")
        gaps = f"Gap: {gap_count} with a purchase of unknown size" if is_unknown.any() else ""
        return chart.show_titles(pluralize(int(frame["purchases"].sum()), "purchase"), gaps)
    pairs = pd.DataFrame({"buyer": frame["buyer"], "member": frame["member_id"], "bytes": bought})
    sums = pairs.groupby(["buyer", "member"], dropna=False, observed=True)["bytes"].sum(min_count=1)
    sums = sums.sort_values(ascending=False, kind="stable")
    labels = [_buyer_and_member(*names) for names in sums.index]
    values = sums.to_numpy("float64")
    shares = values / np.nansum(values) if not is_unknown.any() else np.full(len(values), np.nan)
    c.bytes_axis(ax.xaxis, s.ranked_bars(chart, labels, values, c.size, shares), "Traffic bought")
    differing = int(frame["price_differs"].sum())
    prices = f"{differing:,} at another price than that of their round" if differing else ""
    title = f"{chart.title}: {'at least ' if is_unknown.any() else ''}{c.size(float(np.nansum(bought)))}"
    return chart.show_titles(prices, title=title, suffix="")


def _buyer_and_member(buyer: object, member: object) -> str:
    """Return who bought traffic, and in a new line for whom if that is somebody else."""
    names = [each.removeprefix("PAR::") if isinstance(each, str) else "" for each in (buyer, member)]
    if names[0] and names[0] == names[1]:
        return r.label(names[0])
    return "\nfor ".join(r.label(name) if name else "several or unknown" for name in names)


@draws("economy.names", "Names not archived")
def economy_names(chart: Chart) -> None:
    """Draw the number of names that are not archived over time.

    Steps of names that are not archived over time [UTC], or of names bought less expired if the frames do not have all history.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.names(frames))
    """
    ax, frame = chart.ax, chart.frame
    times = frame["period_end"] if chart.has_periods else frame["record_time"]
    if times.isna().all():
        return chart.show_message("No name was bought, renewed or expired in this window.")
    active = chart.numbers("active_at_end")
    is_known = not np.isnan(active).any()
    values = active if is_known else np.cumsum(chart.numbers("bought") - chart.numbers("expired"))
    x = c.time_numbers(times)
    ax.step(x, values, where="post", color=c.color(0))
    ax.plot(x[-1:], values[-1:], "o", color=c.color(0), markersize=4)
    margin = max((x[-1] - x[0]) * 0.04, 0.02)
    chart.show_times(x[0] - margin, x[-1] + margin)
    c.count_axis(ax.yaxis, "Names")
    ax.set_ylim(min(0, values.min()), max(values.max(), 1) * 1.15)
    bought, renewed, expired = (int(frame[name].sum()) for name in ("bought", "renewed", "expired"))
    title = chart.title if is_known else "Names bought less names expired"
    return chart.show_titles(f"{bought:,} bought, {renewed:,} renewed, {expired:,} expired", title=title)
