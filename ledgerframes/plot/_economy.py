"""Plots of coin that is minted and burned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["economy_burn_mint", "economy_rounds"]

MINTED = {"minted_app": 0, "minted_validator": 1, "minted_sv": 3, "minted_other": 4}
OTHER_BURN = ("burned_preapproval", "burned_names", "burned_dust", "fees")
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
        x, width = positions(visible, shape)
        width *= bin_size
        traffic, other = amounts(visible, "burned_traffic"), sum(amounts(visible, name) for name in OTHER_BURN)
        base = np.zeros(len(visible))
        for name, color in MINTED.items():
            minted = amounts(visible, name)
            ax.bar(x, minted, width, bottom=base, color=c.color(color), label=name.replace("_", " "), linewidth=0)
            base += minted
        ax.bar(x, -traffic, width, color=c.color(2), label="burned for traffic", linewidth=0)
        ax.bar(x, -other, width, bottom=-traffic, color="#c5c9ce", label="burned otherwise", linewidth=0)
        ax.plot(x, amounts(visible, "net"), color=c.text_color(ax), linewidth=1.2, label="net")
        ax.axhline(0, color=c.text_color(ax), linewidth=0.6)
        lowest, highest = -(traffic + other).max(), max(base.max(), PIXELS)
        ax.set_ylim(lowest * 1.15, highest * 1.45)
        ax.legend(loc="upper left", ncols=4)
        _finish_x(ax, visible, shape, x, width)
        c.count_axis(ax.yaxis, "Minted and burned (coin)")
        partial = r.partial_note(frame) if shape.has_periods else ""
        period = f", per {bin_size} rounds" if bin_size > 1 else period_text(visible, shape)
        c.set_titles(ax, f"Coin minted and burned{period}", _unexplained_note(frame), known_note(frame), partial)
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
    ratio = floats(frame, "ratio")
    with c.canvas(ax, 4.0) as ax:
        if frame.empty or np.isnan(ratio).all():
            return c.draw_message(ax, "No coin was minted in this window.")
        ax.set_ylabel("Burned for each coin minted")
        if not shape.has_periods:
            c.bars(ax, ["burned for each coin minted"], [float(ratio[0])], [f"{ratio[0]:.4f}"])
            ax.set_ylabel("Burned for each coin minted")
            c.set_titles(ax, "Coin burned for each coin minted", "1 is balance", _unexplained_note(frame))
            return ax
        x, width = positions(frame, shape)
        burned, part = amounts(frame, "burned"), np.nan_to_num(floats(frame, "traffic_part"))
        back = ax.twinx()
        back.bar(x, burned * part, width, color=c.color(0), alpha=0.25, linewidth=0, label="burned for traffic")
        back.bar(x, burned * (1 - part), width, bottom=burned * part, color=c.color(2), alpha=0.3, linewidth=0, label="otherwise")
        back.set_ylabel("Burned (coin)")
        back.set_ylim(0, max(burned.max(), PIXELS) * 1.5)
        back.grid(visible=False)
        back.legend(loc="upper right")
        ax.set_zorder(back.get_zorder() + 1)
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
        title = f"Coin burned for each coin minted{period_text(frame, shape)}"
        c.set_titles(ax, title, _unexplained_note(frame), r.partial_note(frame))
        return ax


# -- helpers ------------------------------------------------------------------------------------------------------------


def floats(frame: pd.DataFrame, name: str) -> r.Numbers:
    return np.array([np.nan if pd.isna(value) else float(value) for value in frame[name]], dtype="float64")


def amounts(frame: pd.DataFrame, name: str) -> r.Numbers:
    """Return amounts as numbers, 0 where they are missing, which a note counts."""
    return np.nan_to_num(floats(frame, name))


def positions(frame: pd.DataFrame, shape: r.ResultShape) -> tuple[r.Numbers, float]:
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


def period_text(frame: pd.DataFrame, shape: r.ResultShape) -> str:
    return ", per round" if shape.has_rounds else f", per {r.period_length(frame)}" if shape.has_periods else ""


def _bins(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return the known rounds, and of how many each row is the sum if they are too many."""
    known = frame[frame["round_number"].notna()].sort_values("round_number", ignore_index=True)
    size = -(-len(known) // MAX_BARS)
    if size <= 1:
        return known, 1
    names = [*MINTED, "burned_traffic", *OTHER_BURN, "net"]
    sums = pd.DataFrame({name: amounts(known, name) for name in names}).groupby(known.index // size).sum()
    return sums.assign(round_number=known["round_number"].groupby(known.index // size).mean()), size


def known_note(frame: pd.DataFrame) -> str:
    """Return a note on flows of unknown amount, or an empty text if all are known."""
    lowest = frame["coverage"].min()
    is_known = pd.isna(lowest) or lowest == 1
    return "" if is_known else f"Amounts known for at least {r.percent(float(lowest), 1)} of the flows in each row"


def _unexplained_note(frame: pd.DataFrame) -> str:
    """Return a note on coin that no flow explains, or empty text without any."""
    count = int((amounts(frame, "unexplained") != 0).sum())
    unknown = int(frame["unexplained"].isna().sum())
    parts = [
        f"{count:,} rows with an unexplained net" if count else "",
        f"{unknown:,} rows with unknown amounts" if unknown else "",
    ]
    return ", ".join(part for part in parts if part)
