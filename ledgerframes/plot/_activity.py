"""Plots of activity weights, rewards of rounds and concentration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "activity_concentration",
    "activity_lorenz",
    "activity_rounds",
    "activity_weights",
]

MAX_AREAS = 10
MAX_MARKERS = 60
HUES = (0, 1, 3, 4)  # the colors of the style without its gray
TINTS = (1.0, 0.6, 0.3)
REST_COLOR = "#d5d8dc"
NO_RECORD = "No activity record in this window."
WITHOUT_AMOUNTS = "No rewards: the rounds do not reward traffic, or records can be missing"


def activity_weights(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the shares of app providers over time, or their weights.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.weights`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Per round or period: stacked shares [%] of the ten largest parties and of all others, or the weight [bytes] of all.
        Otherwise: a bar of weight [bytes] per party, those beyond 15 in one.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.weights``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")
    >>> ax = lf.plot.activity_weights(lf.activity.weights(frames, every="6h"))
    >>> ax.get_ylabel()
    'Share (%)'
    """
    shape = r.check_result(frame, "activity.weights")
    is_over_time = shape.has_periods or shape.has_rounds
    labels, values = r.group_remaining(_labels(frame, shape), frame["weight"].to_numpy("float64", na_value=np.nan))
    with c.canvas(ax, 4.2 if is_over_time else c.height_for_rows(len(labels))) as ax:
        if frame["weight"].notna().sum() == 0:
            return c.draw_message(ax, NO_RECORD)
        title, period = "Activity weight", f", per {_period(frame, shape)}" if is_over_time else ""
        if not is_over_time:
            total = np.nansum(values) or 1
            c.bars(ax, labels, list(np.nan_to_num(values)), [f"{c.size(each)}  ({r.percent(each / total)})" for each in values])
            c.bytes_axis(ax.xaxis, float(np.nanmax(values)), "Activity weight")
        elif shape.by is None:
            _draw_line(ax, frame, shape)
        else:
            title = "Share of the activity weight"
            _stack_shares(ax, frame, shape)
        c.set_titles(ax, title + period, _partial_note(frame, shape))
        return ax


def activity_rounds(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the reward and the weight of each round.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.rounds`, in any grouping. Of several parties, the one with the largest weight.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A bar of the reward [coin] per round, hollow at the allowance where it is below the threshold, and a line of the
        weight [bytes] on an axis to the right. Without rewards: the weight alone.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.rounds``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.activity_rounds(lf.activity.rounds(frames))
    >>> ax.get_xlabel()
    'Mining round'
    """
    shape = r.check_result(frame, "activity.rounds")
    visible, title = _largest_party(frame, shape)
    with c.canvas(ax, 4.2) as ax:
        if visible.empty:
            return c.draw_message(ax, NO_RECORD)
        rounds = visible["round_number"].to_numpy("float64")
        amounts = _floats(visible["amount"])
        if np.isnan(amounts).all():
            _draw_weights(ax, visible, rounds)
            c.set_titles(ax, title, WITHOUT_AMOUNTS)
        else:
            notes = _draw_amounts(ax, visible, rounds, amounts)
            _draw_weights(ax.twinx(), visible, rounds)
            c.set_titles(ax, title, *notes)
        _round_axis(ax, rounds)
        return ax


def activity_concentration(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how much of the activity the largest parties have.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.concentration`, with any ``every=``.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A line per share and coefficient [%] over time, or a bar for each of them.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.concentration``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")
    >>> ax = lf.plot.activity_concentration(lf.activity.concentration(frames))
    >>> ax.get_xlabel()
    'Share or coefficient (%)'
    """
    shape = r.check_result(frame, "activity.concentration")
    tops = [name for name in frame.columns if name.startswith("top_") and not name.endswith("_parties")]
    names = {"gini": "Gini coefficient", "hhi": "HHI", **{name: _top_label(name) for name in tops}}
    is_over_time = shape.has_periods or shape.has_rounds
    title = "Concentration of activity"
    with c.canvas(ax, 4.0 if is_over_time else c.height_for_rows(len(names))) as ax:
        if frame["gini"].notna().sum() == 0:
            return c.draw_message(ax, NO_RECORD)
        if is_over_time:
            marker = "o" if len(frame) <= MAX_MARKERS else ""
            for number, (name, text) in enumerate(names.items()):
                ax.plot(_positions(frame, shape), frame[name], color=c.color(number), marker=marker, markersize=3, label=text)
            ax.set_ylim(0, 1.35)
            ax.set_yticks(np.arange(0, 1.1, 0.2))
            ax.legend(loc="upper left", ncols=3)
            ax.yaxis.set_major_formatter(lambda number, _: f"{number * 100:.4g}")
            ax.set_ylabel("Share or coefficient (%)")
            _time_or_rounds(ax, frame, shape)
            title += f", per {_period(frame, shape)}"
        else:
            row = frame.iloc[0]
            values = [float(row[name]) for name in names]
            c.bars(ax, [*names.values()], values, [r.percent(value) for value in values])
            c.percent_axis(ax.xaxis, "Share or coefficient")
        parties = frame["parties"].max()
        among = f"Among {'at most ' if is_over_time else ''}{parties:,} parties with any"
        c.set_titles(ax, title, among, r.partial_note(frame) if shape.has_periods else "")
        return ax


def activity_lorenz(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the Lorenz curve of the activity of all parties.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.lorenz`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Share of activity [%] of the smallest parties over their share of all parties [%], with the diagonal.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.lorenz``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), during="2026-11-08")
    >>> ax = lf.plot.activity_lorenz(lf.activity.lorenz(frames))
    >>> ax.get_xlabel()
    'Share of parties, smallest first (%)'
    """
    r.check_result(frame, "activity.lorenz")
    with c.canvas(ax, 5.0) as ax:
        if frame.empty:
            return c.draw_message(ax, NO_RECORD)
        x, y = (np.append(0, frame[name].to_numpy("float64")) for name in ("cumulative_parties", "cumulative_share"))
        ax.plot([0, 1], [0, 1], "--", color=c.color(2), linewidth=1.2, label="all equal")
        marker = "o" if len(frame) <= r.MAX_ROWS else ""
        ax.plot(x, y, color=c.color(0), marker=marker, markersize=4, label="activity")
        ax.fill_between(x, y, x, color=c.color(0), alpha=0.12)
        c.percent_axis(ax.xaxis, "Share of parties, smallest first")
        c.percent_axis(ax.yaxis, "Share of activity")
        ax.set_xlim(0, 1.02)
        ax.set_ylim(0, 1.02)
        ax.legend(loc="upper left")
        largest = f"{r.label(frame['party'].iloc[-1])} has {r.percent(1 - y[-2])}"
        c.set_titles(ax, "Distribution of activity over parties", f"Among {len(frame):,} parties with any. {largest}")
        return ax


# -- helpers ------------------------------------------------------------------------------------------------------------


def _labels(frame: pd.DataFrame, shape: r.ResultShape) -> list[str]:
    return r.group_labels(frame, shape) if shape.by else ["all parties"] * len(frame)


def _period(frame: pd.DataFrame, shape: r.ResultShape) -> str:
    return "round" if shape.has_rounds else r.period_length(frame)


def _top_label(name: str) -> str:
    number = name.removeprefix("top_")
    return "largest party" if number == "1" else f"{number} largest"


def _rounds_text(count: int, text: str) -> str:
    """Return a note on a number of rounds, empty for none."""
    return f"{count:,} {'round' if count == 1 else 'rounds'} {text}" if count else ""


def _partial_note(frame: pd.DataFrame, shape: r.ResultShape) -> str:
    if "is_partial" not in frame:
        return ""
    if shape.has_periods:
        return r.partial_note(frame)
    count = frame.loc[frame["is_partial"].fillna(True), "round_number"].nunique()
    return _rounds_text(count, "with records that can be missing")


def _positions(frame: pd.DataFrame, shape: r.ResultShape) -> r.Numbers:
    """Return each row's round, or the middle of its period."""
    if shape.has_rounds:
        return frame["round_number"].to_numpy("float64")
    return (c.time_numbers(frame["period_start"]) + c.time_numbers(frame["period_end"])) / 2


def _time_or_rounds(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> None:
    if shape.has_rounds:
        _round_axis(ax, frame["round_number"].to_numpy("float64"))
    else:
        c.period_axis(ax, frame)


def _round_axis(ax: Axes, rounds: r.Numbers) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:.0f}"))
    ax.set_xlim(rounds.min() - 0.6, rounds.max() + 0.6)
    ax.set_xlabel("Mining round")


def _draw_line(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> None:
    values = frame["weight"].to_numpy("float64", na_value=np.nan)
    ax.plot(_positions(frame, shape), values, color=c.color(0), marker="o", markersize=3)
    ax.set_ylim(0, float(np.nanmax(values)) * 1.15 or 1)
    c.bytes_axis(ax.yaxis, float(np.nanmax(values)), "Activity weight")
    _time_or_rounds(ax, frame, shape)


def _stack_shares(ax: Axes, frame: pd.DataFrame, shape: r.ResultShape) -> None:
    """Stack the shares of the ten largest groups, and those of all others as one."""
    weight = frame["weight"].astype("Float64").to_numpy("float64", na_value=0)
    starts, edges = _edges(frame, shape)
    rows = pd.DataFrame({"start": starts, "group": frame[shape.keys[0]].to_numpy(), "weight": weight})
    rows = rows[rows["weight"] > 0]
    order = rows.groupby("group")["weight"].sum().sort_values(ascending=False, kind="stable").index
    table = rows.pivot_table(index="start", columns="group", values="weight", aggfunc="sum", fill_value=0)[order]
    table = table.reindex(edges[:-1], fill_value=0)
    largest = table.iloc[:, :MAX_AREAS]
    labels, areas = [r.label(name, 32) for name in largest], [largest[name].to_numpy() for name in largest]
    colors = [_tint(number) for number in range(len(labels))]
    rest = len(order) - MAX_AREAS
    if rest > 0:
        labels.append(f"{r.OTHER} ({rest:,})")
        areas.append(table.iloc[:, MAX_AREAS:].sum(axis=1).to_numpy())
        colors.append(_rgb(REST_COLOR))
    totals = np.maximum(table.sum(axis=1).to_numpy(), 1)
    bottom = np.zeros(len(table))
    for label, area, color in zip(labels, areas, colors, strict=True):
        top = bottom + area / totals
        ax.stairs(top, edges, baseline=bottom, fill=True, color=color, linewidth=0, label=label)
        bottom = top
    c.percent_axis(ax.yaxis, "Share")
    ax.set_ylim(0, 1)
    _time_or_rounds(ax, frame, shape)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), frameon=False, labelcolor=c.text_color(ax))


def _edges(frame: pd.DataFrame, shape: r.ResultShape) -> tuple[r.Numbers, r.Numbers]:
    """Return the start of each row's round or period, and the edges of all of them."""
    if shape.has_rounds:
        starts = frame["round_number"].to_numpy("float64") - 0.5
        return starts, np.arange(starts.min(), starts.max() + 2)
    starts = c.time_numbers(frame["period_start"])
    return starts, np.append(np.unique(starts), c.time_numbers(frame["period_end"]).max())


def _tint(number: int) -> tuple[float, float, float]:
    """Return one of twelve colors, first the strong ones."""
    tint = TINTS[number // len(HUES) % len(TINTS)]
    red, green, blue = (1 - tint * (1 - part) for part in _rgb(c.color(HUES[number % len(HUES)])))
    return red, green, blue


def _rgb(color: str) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(color)


def _largest_party(frame: pd.DataFrame, shape: r.ResultShape) -> tuple[pd.DataFrame, str]:
    if shape.by is None or frame.empty:
        return frame, "Reward and activity weight per round"
    sums = frame[["party", "weight"]].groupby("party", sort=False)["weight"].sum()
    party, others = str(sums.idxmax()), len(sums) - 1
    more = f" (the largest of {others + 1:,} parties)" if others else ""
    return frame[frame["party"] == party], f"Reward and activity weight of {r.label(party)}{more}"


def _floats(values: pd.Series) -> r.Numbers:
    return np.array([np.nan if pd.isna(value) else float(value) for value in values])


def _draw_amounts(ax: Axes, visible: pd.DataFrame, rounds: r.Numbers, amounts: r.Numbers) -> list[str]:
    """Draw a bar per round, hollow below the threshold, and return the notes."""
    is_below = np.zeros(len(visible), dtype=bool)
    heights = amounts
    if "below_threshold" in visible:
        is_below = visible["below_threshold"].fillna(False).to_numpy(dtype=bool)
        heights = np.where(is_below, _floats(visible["allowance"]), amounts)
    ax.bar(rounds[~is_below], heights[~is_below], width=0.75, color=c.color(0), label="reward")
    if is_below.any():
        hollow: dict[str, Any] = {"facecolor": "none", "edgecolor": c.color(0), "linewidth": 1.2}
        ax.bar(rounds[is_below], heights[is_below], width=0.75, label="below the threshold, not paid", **hollow)
    ax.set_ylim(0, float(np.nanmax(heights, initial=0)) * 1.35 or 1)
    ax.set_ylabel("Reward (coin)")
    ax.legend(loc="upper left", ncols=2)
    unknown = int(np.isnan(amounts).sum())
    return ["Line: weight", _rounds_text(unknown, "without a known reward")]


def _draw_weights(ax: Axes, visible: pd.DataFrame, rounds: r.Numbers) -> None:
    weights = visible["weight"].to_numpy("float64", na_value=np.nan)
    ax.plot(rounds, weights, color=c.color(1), marker="o", markersize=3, linewidth=1.2)
    largest = float(np.nanmax(weights, initial=0))
    ax.set_ylim(0, largest * 1.35 or 1)
    c.bytes_axis(ax.yaxis, largest, "Activity weight")
    if ax.yaxis.get_ticks_position() == "right":
        ax.grid(visible=False)
