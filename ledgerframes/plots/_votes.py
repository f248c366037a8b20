"""Plots of price votes."""

from __future__ import annotations

import numpy as np

from ledgerframes.analysis.groups import is_true
from ledgerframes.plots import _canvas as c
from ledgerframes.plots import _results as r
from ledgerframes.plots._chart import Chart, draws
from ledgerframes.plots.direct_labels import label_ends

NO_PRICE = "No vote has a price."
NO_TIME = "No vote with a price has a time."
NO_MARKET = "Not a market price"
SECONDS_PER_DAY = 86_400


@draws("votes.price", "Votes on the network's own conversion rate", empty=NO_PRICE, column="median")
def votes_price(chart: Chart) -> None:
    """Draw median and range of the price votes over time.

    Price [USD per coin] over the time of the observations [UTC]: steps of the median, a band from the lowest to the highest
    vote, and marks for the price that the network used if it is known.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> votes = lf.load_price_votes(net)
    >>> ax = lf.plot(lf.votes.price(votes))
    """
    ax, visible = chart.ax, chart.frame[chart.frame["median"].notna()]
    times = c.time_numbers(visible["observed_at"])
    lowest, median, highest = (r.numbers(visible[name]) for name in ("lowest", "median", "highest"))
    ax.fill_between(times, lowest, highest, step="post", label="all votes", **c.band(c.color(0)))
    ax.vlines(times, lowest, highest, color=c.color(0), linewidth=0.8, label="_all votes")  # not an interval of the median
    ax.step(times, median, where="post", color=c.color(0), marker="o", markersize=4, label="median")
    used = r.numbers(visible["round_price"])
    if visible["round_price"].notna().any():
        ax.plot(times, used, "D", color=c.color(1), markersize=4, label="price of the round")
    label_ends(ax)
    ax.set_ylim(0, float(np.nanmax(np.append(used, highest))) * 1.15 or 1)
    margin = (times.max() - times.min()) * 0.04 or 0.5  # days; matplotlib would show years around one time
    chart.show_times(times.min() - margin, times.max() + margin, "Time of the observation (UTC)")
    c.number_axis(ax.yaxis, "Price (USD per coin)", c.plain)
    return chart.show_titles(NO_MARKET)


@draws("votes.stale", "Ages of price votes")
def votes_stale(chart: Chart) -> None:
    """Draw age and deviation of each vote of the latest observation.

    Deviation from the median [USD per coin] by age [days]; stale votes are hollow, outliers are squares with a name.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> votes = lf.load_price_votes(net)
    >>> ax = lf.plot(lf.votes.stale(votes))
    """
    ax, frame = chart.ax, chart.frame
    with_price = frame[frame["deviation"].notna() & (frame["observed_at"] == frame["observed_at"].max())]
    visible = with_price[with_price["age"].notna()]
    if visible.empty:
        return chart.show_message(NO_PRICE if with_price.empty else NO_TIME)
    omitted = len(with_price) - len(visible)
    ages, deviations = r.numbers(visible["age"]) / SECONDS_PER_DAY, r.numbers(visible["deviation"])
    stale, outliers = (is_true(visible[name]) for name in ("is_stale", "is_outlier"))
    for is_stale, is_outlier in ((False, False), (True, False), (False, True), (True, True)):
        mask = (stale == is_stale) & (outliers == is_outlier)
        label = f"{'stale' if is_stale else 'current'}{', outlier' if is_outlier else ''} ({mask.sum():,})"
        color = c.color(1 if is_outlier else 0)
        face = "none" if is_stale else color
        if mask.any():
            ax.plot(ages[mask], deviations[mask], "s" if is_outlier else "o", color=color, markerfacecolor=face, label=label)
    for age, deviation, name in zip(ages[outliers], deviations[outliers], visible["sv"][outliers], strict=True):
        c.label_point(ax, r.label(name, 24), (age, deviation), 6)
    ax.axhline(0, color=c.text_color(ax), linewidth=1, linestyle="--")
    oldest = float(np.max(ages)) or 1.0
    ax.set_xlim(-0.02 * oldest, oldest * 1.25)
    ax.margins(y=0.2)  # for the names
    if not deviations.any():  # of votes that agree, around which matplotlib would show tiny numbers
        ax.set_ylim(-0.01, 0.01)
    ax.set_xlabel(f"{chart.axis_title('age')} (days)")
    c.number_axis(ax.yaxis, f"{chart.axis_title('deviation')} (USD per coin)", c.plain)
    notes = (
        f"Hollow: stale ({stale.sum():,} of {len(visible):,})" if stale.any() else "",
        f"Square: outlier ({outliers.sum():,})" if outliers.any() else "",
        f"Votes without a time: {omitted:,}" if omitted else "",
    )
    return chart.show_titles(NO_MARKET, *notes, title=f"Price votes on {visible['observed_at'].max():%Y-%m-%d}")
