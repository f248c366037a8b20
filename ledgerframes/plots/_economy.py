"""Plots of coin that is minted and burned, and of who owns it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledgerframes.analysis.empty_results import ONLY_ZERO_COIN
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots import panels as p
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends
from ledgerframes.texts.representation import pluralize

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MINTED = {  # each with its text and color
    "minted_app": ("minted for apps", 0),
    "minted_validator": ("minted for validators", 1),
    "minted_sv": ("minted for super validators", 3),
    "minted_other": ("minted otherwise", 4),
}
OTHER_BURN = ("burned_preapproval", "burned_names", "burned_dust", "fees")


@draws("economy.flows", "Coin minted and burned")
def economy_flows(chart: Chart) -> None:
    """Draw what each round or period minted, upwards, and burned, downwards.

    The result needs ``every="round"`` or a period. More than 100 rounds are added up in groups, which the title says.

    Coin per round or period: minted by kind above 0, burned below 0, and a line of the net.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.flows(frames))
    """
    ax, frame = chart.ax, chart.frame
    if frame.empty or (chart.has_rounds and frame["round_number"].isna().all()):
        return chart.show_message("No coin was minted or burned in this window.")
    names = [*MINTED, "burned_traffic", *OTHER_BURN, "net"]
    if chart.has_rounds:
        known = frame["round_number"].notna()
        table = pd.DataFrame({name: chart.numbers(name) for name in names}).set_axis(chart.positions())
        values, edges = chart.bin_rounds(table[known.to_numpy()]), chart.edges()
        chart.draw_round_axis(edges)
    else:
        values, edges = pd.DataFrame({name: chart.numbers(name) for name in names}), chart.edges()
        chart.draw_time_axis()
    minted = s.areas(
        ax, edges, [(text, values[name].to_numpy(), {"color": c.color(hue)}) for name, (text, hue) in MINTED.items()]
    )
    other = values[[*OTHER_BURN]].sum(axis=1).to_numpy()
    parts: list[s.Part] = [
        ("burned for traffic", values["burned_traffic"].to_numpy(), {"color": c.color(2)}),
        ("burned otherwise", other, {"facecolor": c.color(2), **s.HATCHED}),
    ]
    burned = s.areas(ax, edges, parts, sign=-1)
    s.line(ax, (edges[1:] + edges[:-1]) / 2, values["net"].to_numpy(), color=c.text_color(ax), linewidth=1.2, label="net")
    ax.axhline(0, color=c.text_color(ax), linewidth=0.6)
    ax.set_ylim(-burned.max() * 1.15, minted.max() * 1.1 or burned.max() * 0.6 or 1)
    label_ends(ax)
    c.amount_axis(ax.yaxis, "Minted and burned")
    return chart.show_titles(_unexplained_note(frame), _known_note(frame))


def _known_note(frame: pd.DataFrame) -> str:
    return r.coverage_note(frame, "Amounts", "the flows")


def _unexplained_note(frame: pd.DataFrame) -> str:
    """Return a note on coin that no flow explains, or an empty text without any."""
    count, unknown = int((r.numbers(frame["unexplained"].dropna()) != 0).sum()), int(frame["unexplained"].isna().sum())
    parts = (
        f"{pluralize(count, 'row')} with an unexplained net" if count else "",
        f"{pluralize(unknown, 'row')} with unknown amounts" if unknown else "",
    )
    return ", ".join(part for part in parts if part)


@draws("economy.burn_mint", "Coin burned per coin minted", empty="The ratio of this window is not known.", column="ratio")
def economy_burn_mint(chart: Chart) -> None:
    """Draw how much coin was burned for each coin minted.

    The ratio over time with a line at 1, where both are equal, and below it the coin burned. Partial periods are hollow.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.burn_mint(frames, every="1d"))
    """
    ax, frame, ratio, quantity = chart.ax, chart.frame, chart.numbers("ratio"), "Burned per coin minted"
    if not chart.has_periods:
        s.bars(chart, ["all of the window"], ratio[:1], [r.amount(ratio[0], 4)])
        c.number_axis(ax.xaxis, quantity, c.plain)
        return chart.show_titles("1: burn equals mint", _unexplained_note(frame))
    burned, part = chart.numbers("burned"), np.nan_to_num(chart.numbers("traffic_part"))
    x, is_partial = chart.positions(), frame["is_partial"].fillna(True).to_numpy(dtype=bool)
    ax.plot(x, ratio, color=c.color(3), marker="o", markersize=4)
    ax.plot(x[is_partial], ratio[is_partial], "o", color=c.color(3), markersize=4, markerfacecolor="white")
    ax.axhline(1, color=c.text_color(ax), linestyle="--", linewidth=1)
    c.annotate(ax, "1: burn equals mint", (0.01, 1), (0, 3), ("axes fraction", "data"))
    ax.set_ylim(0, max(1.3, float(np.nanmax(ratio)) * 1.3))
    c.number_axis(ax.yaxis, quantity, c.plain)
    below = chart.panel_below()
    parts: list[s.Part] = [
        ("burned for traffic", burned * part, {"color": c.color(0)}),
        ("otherwise", burned * (1 - part), {"color": c.color(2)}),
    ]
    highest = s.areas(below, chart.edges(), parts).max()
    c.amount_axis(below.yaxis, "Burned")
    below.set_ylim(0, highest * 1.1 or 1)
    label_ends(below)
    chart.draw_time_axis(below)
    return chart.show_titles(_unexplained_note(frame))


@draws(
    "economy.balance",
    "Coin of parties",
    empty="No balance is known in this window.",
    column="balance",
    only_zero=ONLY_ZERO_COIN,
)
def economy_balance(chart: Chart) -> None:
    """Draw the coin of parties, and the sums of the network that differ from it.

    The result of one party shows how much of its coin is locked. Of several parties, it shows those with the most coin.

    Coin at the end of each period over time, with a ring for the last or worst sum of a period: green if it is equal,
    red if it differs. Several parties: a panel for each of the 12 with the most coin. Without periods, one bar per
    party.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.economy.balance(frames, every="6h"))
    """
    ax, frame = chart.ax, chart.frame
    names = [r.label(party) if isinstance(party, str) else "unknown owner" for party in frame["party"]]
    if not chart.has_periods:
        visible = chart.largest(frame.assign(name=names), "balance").sort_values("balance", ascending=False)
        values = r.numbers(visible["balance"])
        s.bars(chart, visible["name"].tolist(), values, ["" if pd.isna(coin) else r.amount(coin) for coin in visible["balance"]])
        c.amount_axis(ax.xaxis, "Balance")
        return chart.show_titles(*_balance_notes(frame))
    if frame["party"].nunique(dropna=False) == 1:
        parts: list[s.Part] = [
            (text, chart.numbers(column), {"color": c.color(hue)})
            for text, column, hue in (("not locked", "unlocked", 0), ("locked", "locked", 2))
        ]
        ax.set_ylim(0, s.areas(ax, chart.edges(), parts).max() * 1.1 or 1)
        label_ends(ax)
        chart.draw_time_axis()
    else:
        balances = chart.numbers("balance")
        table = chart.group_table(balances, np.nan_to_num(balances), keys=["party"], labels=names)
        table = table.set_index(np.unique(c.time_numbers(frame["period_end"])))
        of_parties = p.panels(chart, table, lambda axis, _: c.amount_axis(axis, "Balance"), r.amount)
        for name, panel in of_parties.items():
            _draw_sums(panel, frame[pd.Series(names, frame.index) == name])
        return chart.show_titles(*_balance_notes(frame))
    c.amount_axis(ax.yaxis, "Balance")
    _draw_sums(ax, frame)
    return chart.show_titles(*_balance_notes(frame), title=f"Coin of {names[0]}")


def _draw_sums(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw a ring for each sum of the network, within the axes as they are."""
    limits, (first, last) = ax.get_ylim(), ax.get_xlim()
    for differs, color in ((False, s.FINE), (True, s.BAD)):
        rows = frame[(frame["differing_sums"] > 0) == differs].dropna(subset=["node_time", "node_balance"])
        x, y = c.time_numbers(rows["node_time"]), r.numbers(rows["node_balance"])
        is_within = (y <= limits[1]) & (x >= first) & (x <= last)
        ax.plot(x[is_within], y[is_within], "o", color=color, markerfacecolor="none", markersize=7, clip_on=False, zorder=4)
    ax.set_ylim(limits)


def _balance_notes(frame: pd.DataFrame) -> list[str]:
    return [_sums_note(frame), r.coverage_note(frame, "Amounts", "the coins")]


def _sums_note(frame: pd.DataFrame) -> str:
    """Return how many sums of the network tie, or an empty text without any."""
    count, differing = int(frame["node_sums"].sum()), int(frame["differing_sums"].sum())
    return f"{pluralize(count, 'sum')} of the network, {differing:,} of them different" if count else ""
