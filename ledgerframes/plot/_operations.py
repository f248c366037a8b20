"""Plots of runways, of requests that waited, and of price votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cost_runway", "verdict_head_of_line", "verdict_waited_for", "votes_price", "votes_stale"]

LEVEL = 0.05
DAY = pd.Timedelta(days=1)
SECOND = pd.Timedelta(seconds=1)


def cost_runway(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the traffic balance to come, with the band that covers about 4 of 5 cases.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.cost.runway`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Balance [bytes] over time [UTC], down to the first hour below 0, which is marked.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``cost.runway``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=6500, days=29)
    >>> frames = lf.load_events(net, since="2026-10-12", until="2026-11-09")
    >>> payer = lf.cost.spend(frames, by="participant")["submitting_participant_uid"][0]
    >>> balance = lf.TrafficBalance(2_000_000, "2026-11-09")
    >>> ax = lf.plot.cost_runway(lf.cost.runway(frames, participant=payer, balance=balance))
    >>> ax.get_xlabel()
    'Time (UTC)'
    """
    r.check_result(frame, "cost.runway")
    with c.canvas(ax) as ax:
        if frame.empty:
            return c.draw_message(ax, "No hour to forecast.")
        low, middle, high = (_numbers(frame, f"balance_{name}") for name in ("low", "middle", "high"))
        times = c.time_numbers(frame["hour"])
        ax.fill_between(
            times, np.maximum(low, 0), np.maximum(high, 0), color=c.color(0), alpha=0.2, linewidth=0, label="4 of 5 cases"
        )
        ax.plot(times, np.where(middle < 0, np.nan, middle), color=c.color(0), label="mean burn")
        ends = [_mark_end(ax, times, each, text) for each, text in ((low, "earliest end"), (middle, "end at mean burn"))]
        largest = float(np.nanmax([np.nanmax(high, initial=0), np.nanmax(middle, initial=0)])) or 1.0
        ax.set_ylim(0, largest * 1.15)
        ax.set_xlim(times[0] - 1 / 24, max(times[-1], times[0] + 1 / 24))
        ax.legend(loc="upper right")
        c.bytes_axis(ax.yaxis, largest, "Traffic balance")
        c.time_axis(ax.xaxis)
        ax.set_xlabel("Time (UTC)")
        title = "Traffic balance to come" if any(ends) else "Traffic balance to come, not used up in this time"
        c.set_titles(ax, title, "If the coming weeks are like the last")
        return ax


def _mark_end(ax: Axes, times: r.Numbers, balances: r.Numbers, text: str) -> bool:
    """Draw a line at the first hour below 0, and return whether there is one."""
    (dry,) = np.nonzero(balances < 0)
    if not len(dry):
        return False
    end = pd.Timestamp(times[dry[0]] * DAY.total_seconds(), unit="s").round("h")
    style = "--" if text.startswith("earliest") else ":"
    ax.axvline(times[dry[0]], color=c.color(1), linewidth=1, linestyle=style, label=f"{text}, {end:%d %b %H:%M}")
    return True


def verdict_head_of_line(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the requests that timed out over time, with the time that others waited for them.

    An interval of 30 s is too short to be seen in a window of hours, so a circle stands for each request.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.head_of_line`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Record time [UTC], one row for each of the 25 participants with the most added time. The area of a circle grows with
        the added time, and a cross has no victims.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.head_of_line``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_head_of_line(lf.verdict.head_of_line(day))
    >>> ax.get_ylabel()
    ''
    """
    r.check_result(frame, "verdict.head_of_line")
    added = pd.Series(frame["added"].to_numpy() / SECOND, index=frame.index, dtype="float64")
    names = frame["submitting_participant_uid"].astype("str")
    order = added.groupby(names, dropna=False).sum().sort_values(ascending=False, kind="stable").index[: r.MAX_ROWS]
    with c.canvas(ax, c.height_for_rows(len(order)) + 0.3) as ax:
        if frame.empty:
            return c.draw_message(ax, "No request timed out in this window.")
        largest = max(float(added.max()), 1.0)
        for row, name in enumerate(order):
            part = frame[(names == name) | (names.isna() & pd.isna(name))]
            times, sizes = c.time_numbers(part["record_time"]), added[part.index].to_numpy() / largest
            ax.scatter(
                times[sizes > 0], np.full((sizes > 0).sum(), row), s=20 + 400 * sizes[sizes > 0], color=c.color(1), alpha=0.5
            )
            ax.plot(times[sizes == 0], np.full((sizes == 0).sum(), row), "x", color=c.text_color(ax), markersize=4, alpha=0.6)
        c.row_labels(ax, [r.label(name) for name in order])
        c.time_axis(ax.xaxis)
        total, chance = int(frame["victims"].sum()), frame["expected_victims"].sum()
        notes = (
            f"{total:,} requests waited, {chance:,.1f} expected by chance",
            f"largest circle: {largest:,.0f} s, cross: nobody waited",
            r.omitted_note(names.nunique(dropna=False) - len(order)),
        )
        c.set_titles(ax, "Requests that timed out, and the time that others waited (heuristic)", *notes)
        return ax


def verdict_waited_for(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how often requests that need a party's confirmation are slow.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.waited_for`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Share of slow requests [%] with its 95% interval, one row for each of the 25 parties that most requests need.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.waited_for``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_waited_for(lf.verdict.waited_for(day))
    >>> ax.get_xlabel()
    'Slow requests (%)'
    """
    shape = r.check_result(frame, "verdict.waited_for")
    with_rate = frame[frame["slow_rate"].notna()]
    largest = with_rate["required"].sort_values(ascending=False, kind="stable").index[: r.MAX_ROWS]
    visible = with_rate[with_rate.index.isin(largest)]
    with c.canvas(ax, c.height_for_rows(len(visible)) + 0.3) as ax:
        if visible.empty:
            return c.draw_message(ax, "No request needs a party's confirmation.")
        rows, differs = np.arange(len(visible)), (visible["p_holm"] <= LEVEL).to_numpy(dtype=bool)
        for flag, marker, number, text in (
            (False, "o", 0, "as the others, or too few"),
            (True, "D", 1, "more than chance explains"),
        ):
            part, at = visible[differs == flag], rows[differs == flag]
            ax.hlines(at, part["low"], part["high"], color=c.color(number), linewidth=2, alpha=0.5)
            ax.plot(part["slow_rate"], at, marker, color=c.color(number), label=text)
        c.row_labels(
            ax, [f"{r.label(name)}  ({count:,})" for name, count in zip(visible["party"], visible["required"], strict=True)]
        )
        ax.set_xlim(0, min(1.02, float(visible["high"].max()) * 1.1))
        c.percent_axis(ax.xaxis, shape.title("slow_rate"))
        ax.legend(loc="lower right")
        notes = (r.omitted_note(len(with_rate) - len(visible)), r.population_note(frame), "Association, not cause")
        c.set_titles(ax, "Slow requests among those that need a party", *notes)
        return ax


def votes_price(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw median and range of the price votes over time.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.votes.price`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Price [USD per coin] over the time of the observations [UTC]: steps of the median, and a band from the lowest to the
        highest vote.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``votes.price``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> ax = lf.plot.votes_price(lf.votes.price(votes))
    >>> ax.get_ylabel()
    'Price (USD per coin)'
    """
    r.check_result(frame, "votes.price")
    visible = frame[frame["median"].notna()]
    with c.canvas(ax) as ax:
        if visible.empty:
            return c.draw_message(ax, "No vote has a price.")
        times = c.time_numbers(visible["observed_at"])
        lowest, median, highest = (visible[name].astype("float64").to_numpy() for name in ("lowest", "median", "highest"))
        ax.fill_between(times, lowest, highest, step="post", color=c.color(0), alpha=0.15, linewidth=0, label="all votes")
        ax.vlines(times, lowest, highest, color=c.color(0), linewidth=1, alpha=0.4)
        ax.step(times, median, where="post", color=c.color(0), marker="o", markersize=4, label="median")
        ax.legend(loc="upper left", ncols=2)
        ax.set_ylim(0, float(highest.max()) * 1.3)
        c.time_axis(ax.xaxis)
        if len(times) == 1:
            ax.set_xlim(times[0] - 0.5, times[0] + 0.5)  # days; matplotlib would show years around one time
        ax.set_xlabel("Time of the observation (UTC)")
        ax.set_ylabel("Price (USD per coin)")
        c.set_titles(ax, "Votes on the network's own conversion rate", "Not a market price")
        return ax


def votes_stale(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw age and deviation of each vote of the latest observation.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.votes.stale`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Deviation from the median [USD per coin] by age [days]; stale votes are hollow, outliers are squares with a name.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``votes.stale``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> ax = lf.plot.votes_stale(lf.votes.stale(votes))
    >>> ax.get_xlabel()
    'Age of the vote (days)'
    """
    shape = r.check_result(frame, "votes.stale")
    visible = frame[frame["deviation"].notna() & (frame["observed_at"] == frame["observed_at"].max())]
    with c.canvas(ax) as ax:
        if visible.empty:
            return c.draw_message(ax, "No vote has a price.")
        ages, deviations = visible["age"].to_numpy() / DAY.to_timedelta64(), visible["deviation"].astype("float64").to_numpy()
        stale, outliers = (visible[name].fillna(value=False).to_numpy(dtype=bool) for name in ("is_stale", "is_outlier"))
        for is_stale, is_outlier in ((False, False), (True, False), (False, True), (True, True)):
            mask = (stale == is_stale) & (outliers == is_outlier)
            label = f"{'stale' if is_stale else 'current'}{', outlier' if is_outlier else ''} ({mask.sum():,})"
            color = c.color(1 if is_outlier else 0)
            face = "none" if is_stale else color
            if mask.any():
                ax.plot(ages[mask], deviations[mask], "s" if is_outlier else "o", color=color, markerfacecolor=face, label=label)
        for age, deviation, name in zip(ages[outliers], deviations[outliers], visible["sv"][outliers], strict=True):
            ax.annotate(r.label(name, 24), (age, deviation), xytext=(6, 4), textcoords="offset points", fontsize=8)
        ax.axhline(0, color=c.text_color(ax), linewidth=1, linestyle="--")
        ax.set_xlim(0, float(ages.max()) * 1.25 or 1)
        ax.legend(loc="best")
        ax.set_xlabel(f"{shape.title('age')} (days)")
        ax.set_ylabel(f"{shape.title('deviation')} (USD per coin)")
        c.set_titles(ax, f"Price votes on {visible['observed_at'].max():%Y-%m-%d}", "Not a market price")
        return ax


def _numbers(frame: pd.DataFrame, name: str) -> r.Numbers:
    return frame[name].to_numpy("float64", na_value=np.nan)
