"""Plots of the network's prices, featured rights and super validators over time."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots import _shapes as s
from ledgerframes.plots._chart import Chart, draws

MIN_SPAN = 1 / 24  # days
MIN_SHARE = 0.004  # of the axis that a lifetime has, however short it was
LIFETIMES: s.Styles = {"active": {"color": s.FINE}, "ended": c.band(s.FINE)}


@draws("state.rounds", "Prices of coin and traffic")
def state_rounds(chart: Chart) -> None:
    """Draw the prices of coin and of traffic that the rounds set.

    Price of the coin [USD] over the time at which rounds open [UTC], and below it the price of traffic [USD per MB].

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.state.rounds(frames))
    """
    ax, known = chart.ax, chart.frame[chart.frame["opens_at"].notna()].sort_values("opens_at")
    if known["coin_price"].isna().all():
        return chart.show_message("No round of this history has a price.")
    times, coin, traffic = c.time_numbers(known["opens_at"]), r.numbers(known["coin_price"]), r.numbers(known["traffic_price"])
    below = chart.panel_below()
    panels = ((ax, coin, 0, "Coin price (USD)"), (below, traffic, 1, "Traffic price (USD per MB)"))
    for panel, prices, number, quantity in panels:
        s.line(panel, times, prices, color=c.color(number), drawstyle="steps-post")
        panel.set_ylim(0, float(np.nanmax(prices, initial=0)) * 1.2 or 1)
        c.number_axis(panel.yaxis, quantity, c.plain)
    margin = (times[-1] - times[0]) * 0.02 or 0.02
    chart.show_times(times[0] - margin, times[-1] + margin, "Opening of the round (UTC)", below)
    return chart.show_titles(_name_rounds(known["round_number"].dropna()))


def _name_rounds(numbers: pd.Series) -> str:
    """Return the numbers of rounds in words."""
    if numbers.empty:
        return ""
    first, last = int(numbers.min()), int(numbers.max())
    return f"Round {first}" if first == last else f"Rounds {first} to {last}"


@draws("state.featured", "Featured rights of app providers", empty="No party has a featured right in this history.")
def state_featured(chart: Chart) -> None:
    """Draw from when to when parties have a featured right.

    Record time [UTC], one row for each of the 15 parties whose first right is latest, active ones first, with the factor
    after its name, or the lowest and the highest one where it changes.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.state.featured(frames))
    """
    of_party = pd.Series(r.numbers(chart.frame["weight"]).round(4)).groupby(chart.frame["party"], dropna=False)
    factors = [_factor(low, high) for low, high in zip(of_party.transform("min"), of_party.transform("max"), strict=True)]
    names = [r.label(party) for party in chart.frame["party"]]
    return _draw_lifetimes(chart, names, factors, "parties")


def _factor(low: float, high: float) -> str:
    """Return the range of a party's factors, empty if none is known."""
    ends = [f"{end:,.10g}" for end in dict.fromkeys([low, high]) if not np.isnan(end)]
    return f"× {' to '.join(ends)}" if ends else ""


@draws("state.super_validators", "Super validators of the network", empty="No super validator is known in this history.")
def state_super_validators(chart: Chart) -> None:
    """Draw from when to when super validators belong to the network.

    Record time [UTC], one row for each of the 15 super validators that joined last, active ones first, with the latest reward
    weight after its name.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="0001-01-01")
    >>> ax = lf.plot(lf.state.super_validators(frames))
    """
    weights = [f"weight {weight:,}" if pd.notna(weight) else "" for weight in chart.frame["reward_weight"]]
    names = [
        r.label(name if isinstance(name, str) else party)
        for name, party in zip(chart.frame["name"], chart.frame["party"], strict=True)
    ]
    return _draw_lifetimes(chart, names, weights, "super validators")


def _draw_lifetimes(chart: Chart, names: list[str], values: list[str], noun: str) -> None:
    """Draw the lifetimes of each party's contracts in a row, active parties at the top."""
    frame = chart.frame
    codes, parties = pd.factorize(frame["party"], use_na_sentinel=False)
    active = set(codes[frame["until"].isna()])
    visible = sorted(set(codes), key=lambda code: (code in active, code))[-r.MAX_ROWS :]
    visible = sorted(visible, key=lambda code: (code not in active, code))
    is_shown = np.isin(codes, visible)
    rows = pd.Series(codes).map({code: row for row, code in enumerate(visible)}).to_numpy()
    labels = (f"{name}  ({value})" if value else name for name, value in zip(names, values, strict=True))
    texts = dict(zip(codes, labels, strict=True))
    starts = c.time_numbers(frame["from"])
    is_active = frame["until"].isna()
    events = [c.time_numbers(frame[name].dropna()).max(initial=0) for name in ("from", "until", "known_until")]
    end = max(*events, starts.min() + MIN_SPAN)
    ends = np.where(is_active, end, c.time_numbers(frame["until"].fillna(frame["from"])))
    ends = np.maximum(ends, starts + MIN_SHARE * (end - starts.min()))
    outcomes = np.where(is_active, "active", "ended")[is_shown].tolist()
    s.cells(chart, [texts[code] for code in visible], (starts[is_shown], ends[is_shown]), rows[is_shown], outcomes, LIFETIMES)
    chart.show_times(starts.min(), end)
    omitted = f"The latest {r.MAX_ROWS} of {len(parties):,} {noun}, active ones first" if len(parties) > r.MAX_ROWS else ""
    known_until = frame["known_until"].max()
    when = "at the end of the history" if pd.isna(known_until) else f"on {known_until:%Y-%m-%d %H:%M}, where these frames end"
    return chart.show_titles(f"{len(active):,} active {when}", omitted)
