"""Plots of compared and changed activity weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["activity_reconcile", "activity_reconcile_summary", "activity_what_if"]

NO_RECORD = "No activity record in this window."
FIXED = "Requests, costs and the behavior of all parties stay the same"


def activity_reconcile(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the number of records for each reason of a mismatch.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.reconcile`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A bar per outcome and reason on a logarithmic axis, and the parties with the most mismatches in the note.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.reconcile``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.activity_reconcile(lf.activity.reconcile(frames))
    >>> ax.get_xlabel()
    'Records'
    """
    r.check_result(frame, "activity.reconcile")
    counts = frame.groupby(["outcome", "reason"], dropna=False, observed=True).size().reset_index(name="records")
    parties = frame.loc[frame["outcome"] != "equal", "party"].value_counts().head(2)
    most = ", ".join(f"{r.label(party, 30)} ({count:,})" for party, count in parties.items())
    return _draw_reasons(counts, f"Most mismatches: {most}" if most else "", ax)


def activity_reconcile_summary(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the number of records for each reason of a mismatch.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.reconcile_summary`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A bar per outcome and reason on a logarithmic axis.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.reconcile_summary``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.activity_reconcile_summary(lf.activity.reconcile_summary(frames))
    >>> ax.get_xlabel()
    'Records'
    """
    r.check_result(frame, "activity.reconcile_summary")
    return _draw_reasons(frame, "", ax)


def activity_what_if(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the weight of each party before and after a change.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.activity.what_if`, with any ``every=``. Rounds are summed.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        A row per party with its weight [bytes] before and after, the 25 with the largest weight.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``activity.what_if``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    >>> ax = lf.plot.activity_what_if(lf.activity.what_if(frames, confirmers="informees"))
    >>> ax.get_xlabel().startswith("Activity weight")
    True
    """
    r.check_result(frame, "activity.what_if")
    columns = ["weight_before", "weight_after"]
    sums = frame[["party", *columns]].groupby("party", sort=False).sum()
    largest = sums.max(axis=1).sort_values(ascending=False, kind="stable").index[: r.MAX_ROWS]
    visible = sums.loc[largest]
    with c.canvas(ax, c.height_for_rows(len(visible)) + 0.3) as ax:
        if visible.empty:
            return c.draw_message(ax, "No weight before or after the change.")
        before, after = (visible[name].to_numpy("float64") for name in columns)
        rows = np.arange(len(visible))
        ax.hlines(rows, before, after, color=c.color(2), linewidth=2, alpha=0.6)
        ax.plot(before, rows, "o", color=c.color(0), markerfacecolor="none", markersize=8, label="before")
        ax.plot(after, rows, "o", color=c.color(1), label="after")
        c.row_labels(ax, [r.label(party) for party in visible.index])
        top = float(max(before.max(), after.max()))
        ax.set_xlim(0, top * 1.08 or 1)
        c.bytes_axis(ax.xaxis, top, "Activity weight")
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 2.1}
        ax.legend(ncols=2, frameon=False, labelcolor=c.text_color(ax), **above)
        c.set_titles(ax, "Activity weight before and after", FIXED, r.omitted_note(len(sums) - len(visible)))
        return ax


# -- helpers ------------------------------------------------------------------------------------------------------------


def _draw_reasons(counts: pd.DataFrame, note: str, ax: Axes | None) -> Axes:
    """Draw a bar per outcome and reason, the equal records first."""
    is_equal = (counts["outcome"] == "equal").to_numpy(dtype=bool)
    rows = counts.iloc[np.lexsort((-counts["records"].to_numpy(), ~is_equal))]
    labels = [
        "equal" if outcome == "equal" else f"{outcome}: {reason if isinstance(reason, str) else 'unknown'}"
        for outcome, reason in zip(rows["outcome"], rows["reason"], strict=True)
    ]
    values = rows["records"].to_numpy("float64")
    with c.canvas(ax, c.height_for_rows(len(rows))) as ax:
        if rows.empty:
            return c.draw_message(ax, NO_RECORD)
        visible = slice(r.MAX_ROWS)
        total = values.sum() or 1
        texts = [f"{value:,.0f}  ({r.percent(value / total)})" for value in values[visible]]
        drawn = c.bars(ax, labels[visible], list(values[visible]), texts)
        for bar, is_match in zip(drawn, np.sort(~is_equal)[visible], strict=True):
            bar.set_facecolor(c.color(1) if is_match else c.color(0))
        ax.set_xscale("log")
        ax.set_xlim(0.8, max(values.max(), 1) * 8)
        ax.xaxis.set_major_formatter(lambda number, _: f"{number:,.0f}")
        ax.set_xlabel("Records")
        c.set_titles(ax, "Published and computed activity weights", note, r.omitted_note(len(rows) - r.MAX_ROWS))
        return ax
