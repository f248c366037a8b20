"""Plot of the parties that confirm together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["verdict_quorums"]


def verdict_quorums(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the parties that confirm together most often.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.verdict.quorums`, in any grouping.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One bar per quorum, the 15 most frequent, and one for all others. Over time: a line for each of the most frequent.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``verdict.quorums``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> ax = lf.plot.verdict_quorums(lf.verdict.quorums(day))
    >>> ax.get_xlabel()
    'Quorums'
    """
    shape = r.check_result(frame, "verdict.quorums")
    labels = [
        f"{threshold} of {count}:  {r.join_parties(parties)}"
        for threshold, count, parties in zip(frame["threshold"], frame["party_count"], frame["parties"], strict=True)
    ]
    if shape.by:
        labels = [f"{group}, {label}" for group, label in zip(r.group_labels(frame, shape), labels, strict=True)]
    title, note = f"Quorums: confirmations needed and parties{r.group_text(shape)}", r.coverage_note(frame, "Verdict")
    rows, values = r.group_remaining(labels, frame["quorums"].to_numpy("float64"))
    with c.canvas(ax, 4.0 if shape.has_periods else c.height_for_rows(len(rows))) as ax:
        if values.sum() == 0:
            return c.draw_message(ax, "No quorum in this window.")
        if shape.has_periods:
            keys = [*shape.keys, "parties", "threshold", "party_count"]
            table = r.by_group_over_time(frame, keys, labels, frame["quorums"], frame["quorums"])
            omitted = c.lines_over_time(ax, table, frame)
            c.count_axis(ax.yaxis, shape.title("quorums"))
            c.set_titles(ax, f"{title}, per {r.period_length(frame)}", omitted, note)
            return ax
        c.bars(ax, rows, list(values), [f"{value:,.0f}  ({r.percent(value / values.sum())})" for value in values])
        c.count_axis(ax.xaxis, shape.title("quorums"))
        c.set_titles(ax, title, f"Percent of {values.sum():,.0f} quorums, {len(frame):,} of them different", note)
        return ax
