"""Plots of rejected requests by hour of the day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["verdict_rejection_rates", "verdict_rejections"]

MIN_REQUESTS_PER_CELL = 20
HOURS = range(24)
CELL_INK = "#111418"  # of numbers on light cells, on a dark page as well


def verdict_rejections(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the number of rejected requests per hour of the day, by kind.

    A number says nothing about a participant, because those with more requests have more rejections. For rates, see
    :func:`ledgerframes.plot.verdict_rejection_rates`.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.rejections`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Stacked bars of rejected requests by hour of the day [UTC], one color for each kind, which is a heuristic.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.rejections``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_rejections(lf.verdict.rejections(day))
    >>> ax.get_xlabel()
    'Hour of day (UTC)'
    """
    r.check_result(frame, "verdict.rejections")
    kinds = frame["reject_kind_heuristic"].astype("str")
    counts = pd.crosstab(kinds, frame["record_time"].dt.hour).reindex(columns=HOURS, fill_value=0)
    with c.canvas(ax) as ax:
        if frame.empty:
            return c.draw_message(ax, "No rejected request in this window.")
        base = np.zeros(len(HOURS))
        for number, (kind, values) in enumerate(counts.iterrows()):
            label = f"{r.label(kind)} ({values.sum():,})"
            ax.bar(HOURS, values, bottom=base, color=c.color(number), edgecolor="none", label=label)
            base = base + values.to_numpy("float64")
        ax.set_ylim(0, base.max() * 1.25)
        ax.legend(loc="upper left", ncols=2)
        c.hour_axis(ax)
        c.count_axis(ax.yaxis, "Rejected requests")
        c.set_titles(ax, "Rejected requests by kind (guessed from latency)", r.population_note(frame))
        return ax


def verdict_rejection_rates(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the rejection rate of each group per hour of the day, as a heat map.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.outcomes` with ``every="1h"`` and a group, such as ``by="participant"``.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Rejection rate [%] by hour of the day [UTC], one row for each of the 25 groups with the most requests; cells of fewer
        than 20 decided requests are hatched, because their rate is mostly chance.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.outcomes`` with groups and periods of an hour or less.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_rejection_rates(lf.verdict.outcomes(day, by="participant", every="1h"))
    >>> ax.get_xlabel()
    'Hour of day (UTC)'
    """
    shape = r.check_result(frame, "verdict.outcomes")
    if not shape.has_periods or not shape.keys or (frame["period_end"] - frame["period_start"]).max() > pd.Timedelta(hours=1):
        raise UsageError('Pass the result of lf.verdict.outcomes(frames, by="participant", every="1h"), or of another group.')
    groups = frame.groupby(shape.keys, dropna=False, observed=True, sort=False).ngroup()
    hours = [groups, frame["period_start"].dt.hour]
    rejected, decided = (
        counts.groupby(hours).sum().unstack(fill_value=0).reindex(columns=HOURS, fill_value=0)
        for counts in (frame["rejected"], frame["accepted"] + frame["rejected"])
    )
    largest = decided.sum(axis=1).sort_values(ascending=False, kind="stable").index[: r.MAX_ROWS]
    names = dict(zip(groups, r.group_labels(frame, shape), strict=True))
    with c.canvas(ax, c.height_for_rows(len(largest)) + 0.3) as ax:
        if decided.to_numpy().sum() == 0:
            return c.draw_message(ax, "No verdict in this window.")
        _heat_map(ax, rejected.loc[largest].to_numpy(), decided.loc[largest].to_numpy())
        totals = decided.loc[largest].sum(axis=1)
        c.row_labels(ax, [f"{names[group]}  ({count:,})" for group, count in zip(largest, totals, strict=True)])
        ax.set_ylim(len(largest) - 0.5, -0.5)
        ax.grid(visible=False)
        c.hour_axis(ax)
        ax.set_xlim(-0.5, 23.5)
        notes = (
            r.omitted_note(len(decided) - len(largest)),
            r.coverage_note(frame.drop(columns="is_partial"), "Verdict"),
            r.population_note(frame),
        )
        hatched = f"Hatched: under {MIN_REQUESTS_PER_CELL} decided"
        c.set_titles(ax, "Rejection rate (%) by hour", hatched, *notes)
        return ax


def _heat_map(ax: Axes, rejected: Any, decided: Any) -> None:
    """Shade cells by rate, and write the percentage into those with enough requests."""
    is_enough = decided >= MIN_REQUESTS_PER_CELL
    rates = np.where(is_enough, rejected / np.maximum(decided, 1), np.nan)
    highest = float(np.nanmax(rates, initial=0)) or 1.0
    ax.imshow(rates, aspect="auto", cmap="Blues", vmin=0, vmax=highest * 1.3)
    for row, column in np.argwhere(is_enough):
        rate = rates[row, column]
        color = "#ffffff" if rate > highest * 0.75 else CELL_INK
        ax.text(column, row, r.percent(rate).removesuffix(" %"), ha="center", va="center", fontsize=7, color=color)
    cells: dict[str, Any] = {"facecolor": "0.88", "edgecolor": "white", "linewidth": 0, "hatch": "////"}
    for row, column in np.argwhere(~is_enough & (decided > 0)):
        ax.fill_between([column - 0.5, column + 0.5], row - 0.5, row + 0.5, **cells)
