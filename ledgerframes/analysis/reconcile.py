"""Comparison of the costs that a participant paid with those in the history."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._figures import require_frames
from ledgerframes.frames import Frames

__all__ = ["paid_traffic"]

PAID_TRAFFIC = declare.Figure(
    "reconcile.paid_traffic",
    columns=(
        declare.ResultColumn("update_id", declare.TEXT, "Update that both sources have."),
        declare.ResultColumn("offset", "int64", "Offset of the update on the participant's ledger."),
        declare.ResultColumn("record_time", declare.TIME, "Sequencing time.", "UTC"),
        declare.cost("paid_traffic_cost", "Cost that the participant paid. Missing for others' and for old requests."),
        declare.cost("total_traffic_cost", "Cost in the history. Missing without a traffic summary."),
        declare.ResultColumn("difference", declare.INTEGER, "Paid minus total cost. Missing if one of them is missing.", "bytes"),
        declare.ResultColumn("outcome", declare.LABEL, "equal, different, paid only, total only, or neither."),
    ),
    fact="cost in both sources",
    unit="updates of this result",
)
OUTCOMES = ("equal", "different", "paid only", "total only", "neither")


@PAID_TRAFFIC.document
def paid_traffic(ledger: Frames, history: Frames) -> pd.DataFrame:
    """Return the cost that a participant paid next to the cost in the history, per update.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.
    history : Frames
        From :func:`ledgerframes.load_events`, for the same time.

    Returns
    -------
    DataFrame
        One row per update in both; sorted by offset.

    Raises
    ------
    UsageError
        If `ledger` or `history` are not Frames with these tables, or are of two networks.

    Notes
    -----
    Source: docs/facts.md#traffic-fields. A missing cost is not 0 (docs/facts.md#paid-cost-missing).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> compared = lf.reconcile.paid_traffic(lf.load_updates(net), lf.load_events(net, since="2026-11-08"))
    >>> list(compared["outcome"].cat.categories)
    ['equal', 'different', 'paid only', 'total only', 'neither']
    """
    require_frames(ledger, PAID_TRAFFIC.name)
    require_frames(history, PAID_TRAFFIC.name)
    declare.require_one_network(PAID_TRAFFIC.name, ledger, history)
    paid = ledger.read("ledger_updates", ["update_id", "offset", "record_time", "paid_traffic_cost"])
    costs = history.read("traffic", ["update_id", "total_traffic_cost"])
    updates = history.read("updates", ["update_id"]).merge(costs, how="outer")
    both = paid.merge(updates.astype({"total_traffic_cost": declare.INTEGER}), on="update_id").sort_values(
        "offset", ignore_index=True
    )
    has_paid, has_total = both["paid_traffic_cost"].notna(), both["total_traffic_cost"].notna()
    both["difference"] = both["paid_traffic_cost"] - both["total_traffic_cost"]
    conditions = [has_paid & has_total & (both["difference"] == 0).fillna(False), has_paid & has_total, has_paid, has_total]
    outcome = np.select([condition.to_numpy(dtype=bool) for condition in conditions], OUTCOMES[:4], OUTCOMES[4])
    both["outcome"] = pd.Categorical(outcome, categories=list(OUTCOMES))
    both["coverage"] = (has_paid & has_total).mean() if len(both) else np.nan
    return PAID_TRAFFIC.build(history, {str(name): both[name] for name in both})
