"""Plots of what parties get, buy and hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r
from ledgerframes.plot._economy import PIXELS, amounts, floats, known_note, period_text, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["economy_leaderboard", "economy_names", "economy_purchases", "economy_reward_split"]

MAX_CELLS = 14


def economy_leaderboard(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the parties with the largest amounts of the latest whole period.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.leaderboard`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One bar per party with its share, and the ranks that it gained or lost. Without a whole period, the latest one.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``economy.leaderboard``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.economy_leaderboard(lf.economy.leaderboard(frames, every="1d"))
    >>> ax.get_xlabel()
    'Amount (coin or bytes)'
    """
    shape = r.check_result(frame, "economy.leaderboard")
    known = frame[frame["rank"].notna()]
    period = ""
    if shape.has_periods and len(known):
        whole = known[~known["is_partial"].fillna(True)]
        latest = (whole if len(whole) else known)["period_start"].max()
        known = known[known["period_start"] == latest]
        period = f", per {r.period_length(known)}: {latest:%Y-%m-%d %H:%M}"
    visible = known.sort_values(["rank", "party"]).head(r.MAX_ROWS)
    with c.canvas(ax, c.height_for_rows(len(visible))) as ax:
        if visible.empty:
            return c.draw_message(ax, "Nobody has an amount in this window.")
        labels = [f"{row.rank}  {r.label(row.party)}" for row in visible.itertuples()]
        texts = [_leader_text(row) for _, row in visible.iterrows()]
        c.bars(ax, labels, list(amounts(visible, "amount")), texts)
        ax.set_xlabel("Amount (coin or bytes)")
        omitted = f"The first {len(visible):,} of {len(known):,}" if len(known) > len(visible) else ""
        has_partial = "is_partial" in visible and bool(visible["is_partial"].fillna(True).all())
        c.set_titles(
            ax,
            f"Largest amounts{period}",
            omitted,
            "The period is partial" if has_partial else "",
            known_note(visible),
        )
        return ax


def economy_reward_split(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the expected and the actual parts of the beneficiaries of each provider.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.reward_split`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Two bars per provider [coin], divided into the parts of its beneficiaries: expected above, actual below.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``economy.reward_split``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.economy_reward_split(lf.economy.reward_split(frames))
    >>> ax.get_xlabel()
    'Reward (coin)'
    """
    r.check_result(frame, "economy.reward_split")
    sums = frame.assign(**{name: amounts(frame, name) for name in ("expected", "actual")})
    sums = sums.groupby(["provider", "beneficiary"], dropna=False)[["expected", "actual"]].sum().reset_index()
    order = (
        sums.groupby("provider", dropna=False)[["expected", "actual"]]
        .sum()
        .max(axis=1)
        .sort_values(ascending=False, kind="stable")
    )
    visible = list(order.index[: r.MAX_BARS])
    with c.canvas(ax, c.height_for_rows(2 * len(visible)) + 0.4) as ax:
        if frame.empty:
            return c.draw_message(ax, "No reward was split in this window.")
        for row, provider in enumerate(visible):
            parts = sums[sums["provider"] == provider].sort_values("beneficiary")
            for name, offset, color in (("expected", -0.19, c.color(2)), ("actual", 0.19, c.color(0))):
                widths = parts[name].to_numpy("float64")
                lefts = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
                style: dict[str, Any] = {"color": color, "edgecolor": "white", "linewidth": 0.8, "height": 0.34}
                ax.barh(np.full(len(widths), row + offset), widths, left=lefts, label=name if row == 0 else None, **style)
        c.row_labels(ax, [r.label(name) for name in visible])
        ax.set_xlim(0, max(float(order.max()), PIXELS) * 1.12)
        ax.set_xlabel("Reward (coin)")
        ax.legend(loc="lower right")
        counts = frame["outcome"].astype("str").value_counts()
        outcomes = ", ".join(f"{name}: {count:,}" for name, count in counts.items())
        omitted = r.omitted_note(len(order) - len(visible), len(visible))
        c.set_titles(ax, "Rewards of app providers by beneficiary", outcomes.capitalize(), omitted)
        return ax


def economy_purchases(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw who bought how much traffic for whom, or the traffic bought over time.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.purchases`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A matrix of buyers and members with the bytes bought. With ``every=``, a bar per period.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``economy.purchases``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.economy_purchases(lf.economy.purchases(frames, every="1d"))
    >>> ax.get_xlabel()
    'Record time (UTC)'
    """
    shape = r.check_result(frame, "economy.purchases")
    if shape.has_periods:
        return _purchases_over_time(frame, shape, ax)
    rows = frame.assign(bytes=floats(frame, "bytes"))[["buyer", "member_id", "bytes"]].fillna({"buyer": "", "member_id": ""})
    table = rows.pivot_table(index="buyer", columns="member_id", values="bytes", aggfunc="sum", observed=True)
    buyers = table.sum(axis=1).sort_values(ascending=False, kind="stable").index
    visible = table.reindex(index=buyers[:MAX_CELLS]).dropna(axis=1, how="all")
    members = visible.sum().sort_values(ascending=False, kind="stable").index
    visible = visible.reindex(columns=members[:MAX_CELLS])
    with c.canvas(ax, 2.6 + 0.3 * max(len(visible), 1)) as ax:
        if visible.empty:
            return c.draw_message(ax, "Nobody bought traffic in this window.")
        values = visible.to_numpy("float64")
        ax.imshow(values, aspect="auto", cmap="Blues", vmin=0, vmax=float(np.nanmax(values)) * 1.6)
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                ax.text(column, row, c.size(value), ha="center", va="center", fontsize=7)
        ax.set_xticks(range(len(visible.columns)), [_name(name) for name in visible.columns], rotation=90)
        ax.set_yticks(range(len(visible)), [_name(name) for name in visible.index])
        ax.grid(visible=False)
        ax.set_xlabel("For whom: participant or mediator")
        ax.set_ylabel("Buyer")
        parts = (
            []
            if table.shape == visible.shape
            else [f"{visible.shape[0]} of {table.shape[0]:,} buyers, {visible.shape[1]} of {table.shape[1]:,} members"]
        )
        differing = int(frame["price_differs"].sum())
        prices = f"{differing:,} at another price than that of their round" if differing else ""
        c.set_titles(ax, f"Traffic bought: {c.size(float(table.sum().sum()))}", *parts, prices)
        return ax


def economy_names(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the number of names in use over time.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.names`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Steps of active names over time [UTC], or of names bought less expired if the frames do not have all history.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``economy.names``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.economy_names(lf.economy.names(frames))
    >>> ax.get_ylabel()
    'Names'
    """
    shape = r.check_result(frame, "economy.names")
    with c.canvas(ax, 3.6) as ax:
        times = frame["period_end"] if shape.has_periods else frame["record_time"]
        if frame.empty or times.isna().all():
            return c.draw_message(ax, "No name was bought, renewed or expired in this window.")
        active = floats(frame, "active_at_end")
        is_known = not np.isnan(active).any()
        change = np.cumsum(frame["bought"].to_numpy("int64") - frame["expired"].to_numpy("int64"))
        values = active if is_known else change
        ax.step(c.time_numbers(times), values, where="post", color=c.color(0))
        ax.plot(c.time_numbers(times)[-1:], values[-1:], "o", color=c.color(0), markersize=4)
        c.time_axis(ax.xaxis)
        c.count_axis(ax.yaxis, "Names")
        ax.set_ylim(min(0, float(values.min())), max(float(values.max()), 1) * 1.15)
        bought, renewed, expired = (int(frame[name].sum()) for name in ("bought", "renewed", "expired"))
        title = "Names in use" if is_known else "Names bought less names expired"
        c.set_titles(ax, title + period_text(frame, shape), f"{bought:,} bought, {renewed:,} renewed, {expired:,} expired")
        return ax


# -- helpers -----------------------------------------------------------------------------------------------------------


def _leader_text(row: pd.Series) -> str:
    change = "" if pd.isna(row["change"]) else f", {_arrow(int(row['change']))}"
    share = "" if pd.isna(row["share"]) else f"  ({r.percent(float(row['share']))}{change})"
    return f"{float(row['amount']):,.4g}{share}"


def _arrow(change: int) -> str:
    return f"up {change}" if change > 0 else f"down {-change}" if change < 0 else "same rank"


def _name(text: object) -> str:
    return r.label(str(text).removeprefix("PAR::"), 26) if text else "several"


def _purchases_over_time(frame: pd.DataFrame, shape: r.ResultShape, ax: Axes | None) -> Axes:
    bought = frame.assign(number=amounts(frame, "bytes")).groupby("period_start")["number"].sum().to_numpy("float64")
    periods = frame.drop_duplicates("period_start")
    with c.canvas(ax) as ax:
        if bought.sum() == 0:
            return c.draw_message(ax, "Nobody bought traffic in this window.")
        x, width = positions(periods, shape)
        ax.bar(x, bought, width, color=c.color(0), linewidth=0)
        c.bytes_axis(ax.yaxis, float(bought.max()), "Traffic bought")
        c.period_axis(ax, periods)
        c.set_titles(
            ax,
            f"Traffic bought, per {r.period_length(periods)}",
            f"{int(frame['purchases'].sum()):,} purchases",
            r.partial_note(frame),
        )
        return ax
