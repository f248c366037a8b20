"""Plots of coin that is issued, minted and burned, and of what it buys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "economy_burn_mint",
    "economy_leaderboard",
    "economy_names",
    "economy_purchases",
    "economy_reward_split",
    "economy_rounds",
]

MINTED = {"minted_app": 0, "minted_validator": 1, "minted_sv": 3, "minted_other": 4}
OTHER_BURN = ("burned_preapproval", "burned_names", "burned_dust", "fees")
MAX_CELLS = 14
MAX_BARS = 100
PIXELS = 1e-9  # of an amount: less than this is no bar


def economy_rounds(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw what each round or period minted, upwards, and burned, downwards.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.rounds`, with ``every=`` ``"round"`` or a period.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Coin per round or period: minted by kind above 0, burned below 0, and a line of the net.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``economy.rounds``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.economy_rounds(lf.economy.rounds(frames))
    >>> ax.get_xlabel()
    'Mining round'
    """
    shape = r.check_result(frame, "economy.rounds")
    visible, bin_size = _bins(frame) if shape.has_rounds else (frame, 1)
    with c.canvas(ax, 4.4) as ax:
        if visible.empty:
            return c.draw_message(ax, "No coin was minted or burned in this window.")
        x, width = _positions(visible, shape)
        width *= bin_size
        traffic, other = _amounts(visible, "burned_traffic"), sum(_amounts(visible, name) for name in OTHER_BURN)
        base = np.zeros(len(visible))
        for name, color in MINTED.items():
            minted = _amounts(visible, name)
            ax.bar(x, minted, width, bottom=base, color=c.color(color), label=name.replace("_", " "), linewidth=0)
            base += minted
        ax.bar(x, -traffic, width, color=c.color(2), label="burned for traffic", linewidth=0)
        ax.bar(x, -other, width, bottom=-traffic, color="#c5c9ce", label="burned otherwise", linewidth=0)
        ax.plot(x, _amounts(visible, "net"), color=c.text_color(ax), linewidth=1.2, label="net")
        ax.axhline(0, color=c.text_color(ax), linewidth=0.6)
        lowest, highest = -(traffic + other).max(), max(base.max(), PIXELS)
        ax.set_ylim(lowest * 1.15, highest * 1.45)
        ax.legend(loc="upper left", ncols=4)
        _finish_x(ax, visible, shape, x, width)
        c.count_axis(ax.yaxis, "Minted and burned (coin)")
        partial = r.partial_note(frame) if shape.has_periods else ""
        period = f", per {bin_size} rounds" if bin_size > 1 else _per(visible, shape)
        c.set_titles(ax, f"Coin minted and burned{period}", _unexplained_note(frame), _known_note(frame), partial)
        return ax


def economy_burn_mint(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how much coin was burned for each coin minted.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.burn_mint`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        The ratio over time with a line at 1, where both are equal, and behind it the coin burned. Partial periods are hollow.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``economy.burn_mint``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.economy_burn_mint(lf.economy.burn_mint(frames, every="1d"))
    >>> ax.get_ylabel()
    'Burned for each coin minted'
    """
    shape = r.check_result(frame, "economy.burn_mint")
    ratio = _floats(frame, "ratio")
    with c.canvas(ax, 4.0) as ax:
        if frame.empty or np.isnan(ratio).all():
            return c.draw_message(ax, "No coin was minted in this window.")
        ax.set_ylabel("Burned for each coin minted")
        if not shape.has_periods:
            c.bars(ax, ["burned for each coin minted"], [float(ratio[0])], [f"{ratio[0]:.4f}"])
            ax.set_ylabel("Burned for each coin minted")
            c.set_titles(ax, "Coin burned for each coin minted", "1 is balance", _unexplained_note(frame))
            return ax
        x, width = _positions(frame, shape)
        burned, part = _amounts(frame, "burned"), np.nan_to_num(_floats(frame, "traffic_part"))
        behind = ax.twinx()
        behind.bar(x, burned * part, width, color=c.color(0), alpha=0.25, linewidth=0, label="burned for traffic")
        behind.bar(
            x, burned * (1 - part), width, bottom=burned * part, color=c.color(2), alpha=0.3, linewidth=0, label="otherwise"
        )
        behind.set_ylabel("Burned (coin)")
        behind.set_ylim(0, max(burned.max(), PIXELS) * 1.5)
        behind.grid(visible=False)
        behind.legend(loc="upper right")
        ax.set_zorder(behind.get_zorder() + 1)
        ax.patch.set_visible(False)
        is_partial = frame["is_partial"].fillna(True).to_numpy(dtype=bool)
        ax.plot(x, ratio, color=c.color(3), linewidth=1.4)
        ax.plot(x[~is_partial], ratio[~is_partial], "o", color=c.color(3), markersize=4)
        ax.plot(x[is_partial], ratio[is_partial], "o", color=c.color(3), markersize=4, markerfacecolor="white")
        ax.axhline(1, color=c.text_color(ax), linestyle="--", linewidth=1)
        ax.annotate(
            "1 is balance", (0.01, 1), xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points", fontsize=8
        )
        ax.set_ylim(0, max(1.3, float(np.nanmax(ratio)) * 1.3))
        c.period_axis(ax, frame)
        title = f"Coin burned for each coin minted{_per(frame, shape)}"
        c.set_titles(ax, title, _unexplained_note(frame), r.partial_note(frame))
        return ax


def economy_leaderboard(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the parties with the largest amounts of the latest whole period, and the ranks that they gained or lost.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.economy.leaderboard`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One bar per party with its share, and the change of its rank. Without a whole period, the latest one.

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
        c.bars(ax, labels, list(_amounts(visible, "amount")), texts)
        ax.set_xlabel("Amount (coin or bytes)")
        omitted = f"The first {len(visible):,} of {len(known):,}" if len(known) > len(visible) else ""
        has_partial = "is_partial" in visible and bool(visible["is_partial"].fillna(True).all())
        c.set_titles(
            ax,
            f"Largest amounts{period}",
            omitted,
            "The period is partial" if has_partial else "",
            _known_note(visible),
        )
        return ax


def economy_reward_split(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw what the beneficiaries of each provider got, beside what they should have got.

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
    sums = frame.assign(**{name: _amounts(frame, name) for name in ("expected", "actual")})
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
    rows = frame.assign(bytes=_floats(frame, "bytes"))[["buyer", "member_id", "bytes"]].fillna({"buyer": "", "member_id": ""})
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
        shown = (
            []
            if table.shape == visible.shape
            else [f"{visible.shape[0]} of {table.shape[0]:,} buyers, {visible.shape[1]} of {table.shape[1]:,} members"]
        )
        differing = int(frame["price_differs"].sum())
        prices = f"{differing:,} at another price than that of their round" if differing else ""
        c.set_titles(ax, f"Traffic bought: {c.size(float(table.sum().sum()))}", *shown, prices)
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
        active = _floats(frame, "active_at_end")
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
        c.set_titles(ax, title + _per(frame, shape), f"{bought:,} bought, {renewed:,} renewed, {expired:,} expired")
        return ax


# -- helpers ------------------------------------------------------------------------------------------------------------


def _floats(frame: pd.DataFrame, name: str) -> r.Numbers:
    return np.array([np.nan if pd.isna(value) else float(value) for value in frame[name]], dtype="float64")


def _amounts(frame: pd.DataFrame, name: str) -> r.Numbers:
    """Return amounts as numbers, 0 where they are missing, which a note counts."""
    return np.nan_to_num(_floats(frame, name))


def _positions(frame: pd.DataFrame, shape: r.ResultShape) -> tuple[r.Numbers, float]:
    """Return the place of each bar, and its width."""
    if shape.has_rounds:
        return frame["round_number"].to_numpy("float64"), 0.9
    if not shape.has_periods:
        return np.arange(len(frame), dtype="float64"), 0.6
    starts, ends = c.time_numbers(frame["period_start"]), c.time_numbers(frame["period_end"])
    return (starts + ends) / 2, float((ends - starts).min()) * 0.9


def _finish_x(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape, x: r.Numbers, width: float) -> None:
    if shape.has_periods:
        c.period_axis(ax, frame)
        return
    ax.set_xlim(x.min() - width, x.max() + width)
    if shape.has_rounds:
        c.count_axis(ax.xaxis, "Mining round")
        ax.xaxis.set_major_formatter(lambda number, _: f"{number:.0f}")
    else:
        ax.set_xticks([])
        ax.set_xlabel("All of the window")


def _per(frame: pd.DataFrame, shape: r.ResultShape) -> str:
    return ", per round" if shape.has_rounds else f", per {r.period_length(frame)}" if shape.has_periods else ""


def _bins(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the known rounds, summed in groups of consecutive ones if they are too many for bars, and the group's size."""
    known = frame[frame["round_number"].notna()].sort_values("round_number", ignore_index=True)
    size = -(-len(known) // MAX_BARS)
    if size <= 1:
        return known, 1
    names = [*MINTED, "burned_traffic", *OTHER_BURN, "net"]
    sums = pd.DataFrame({name: _amounts(known, name) for name in names}).groupby(known.index // size).sum()
    return sums.assign(round_number=known["round_number"].groupby(known.index // size).mean()), size


def _known_note(frame: pd.DataFrame) -> str:
    """Return a note on flows of unknown amount, or an empty text if all are known."""
    lowest = frame["coverage"].min()
    is_known = pd.isna(lowest) or lowest == 1
    return "" if is_known else f"Amounts known for at least {r.percent(float(lowest), 1)} of the flows in each row"


def _unexplained_note(frame: pd.DataFrame) -> str:
    """Return a note on coin that no flow explains, or empty text without any."""
    count = int((_amounts(frame, "unexplained") != 0).sum())
    unknown = int(frame["unexplained"].isna().sum())
    parts = [
        f"{count:,} rows with an unexplained net" if count else "",
        f"{unknown:,} rows with unknown amounts" if unknown else "",
    ]
    return ", ".join(part for part in parts if part)


def _leader_text(row: pd.Series) -> str:
    change = "" if pd.isna(row["change"]) else f", {_arrow(int(row['change']))}"
    share = "" if pd.isna(row["share"]) else f"  ({r.percent(float(row['share']))}{change})"
    return f"{float(row['amount']):,.4g}{share}"


def _arrow(change: int) -> str:
    return f"up {change}" if change > 0 else f"down {-change}" if change < 0 else "same rank"


def _name(text: object) -> str:
    return r.label(str(text).removeprefix("PAR::"), 26) if text else "several"


def _purchases_over_time(frame: pd.DataFrame, shape: r.ResultShape, ax: Axes | None) -> Axes:
    bought = frame.assign(number=_amounts(frame, "bytes")).groupby("period_start")["number"].sum().to_numpy("float64")
    periods = frame.drop_duplicates("period_start")
    with c.canvas(ax) as ax:
        if bought.sum() == 0:
            return c.draw_message(ax, "Nobody bought traffic in this window.")
        x, width = _positions(periods, shape)
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
