"""Plots of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ledgerframes.plot import _canvas as c
from ledgerframes.plot import _results as r

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reconcile_paid_traffic_totals"]


def reconcile_paid_traffic_totals(frame: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw how many updates of a ledger and a history agree, per outcome.

    Parameters
    ----------
    frame : DataFrame
        From :func:`ledgerframes.reconcile.paid_traffic_totals`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        One bar per outcome and reason, on a logarithmic axis.

    Raises
    ------
    UsageError
        If `frame` is not a result of ``reconcile.paid_traffic_totals``.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> ledger, history = lf.load_updates(net), lf.load_events(net, since="2026-11-08")
    >>> ax = lf.plot.reconcile_paid_traffic_totals(lf.reconcile.paid_traffic_totals(ledger, history))
    >>> ax.get_xlabel()
    'Updates and requests'
    """
    r.check_result(frame, "reconcile.paid_traffic_totals")
    with c.canvas(ax) as ax:
        if frame.empty:
            return c.draw_message(ax, "Neither the ledger nor the history has an update.")
        labels = [_label(row) for row in frame.itertuples()]
        counts = frame["updates"].to_numpy("float64")
        colors = [c.color(1 if outcome in ("different", "only in ledger") else 0) for outcome in frame["outcome"]]
        ax.barh(range(len(frame)), counts, color=colors, edgecolor="none")
        for position, count in enumerate(frame["updates"]):
            ax.annotate(f"{count:,}", (count, position), xytext=(4, 0), textcoords="offset points", va="center")
        ax.set_yticks(range(len(frame)), labels)
        ax.invert_yaxis()
        ax.set_xscale("log")
        ax.set_xlim(0.5, counts.max() * 4)
        ax.set_xlabel("Updates and requests")
        c.set_titles(ax, "Costs in the ledger and in the history", "Costs are compared in the time that both sources hold.")
        return ax


def _label(row: object) -> str:
    outcome, why = getattr(row, "outcome", ""), getattr(row, "why", None)
    return f"{outcome}\n{why}" if isinstance(why, str) else str(outcome)
