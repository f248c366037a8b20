"""Do two sources tell the same? What a participant says it paid, against what the history says the request cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis._columns import COST, LABEL, TEXT, TIME, ResultColumn, coverage, shaped
from ledgerframes.frames import Frames

PAID_TRAFFIC = (
    ResultColumn("update_id", TEXT, "Update that both sources know."),
    ResultColumn("offset", "int64", "Its place in the participant's ledger."),
    ResultColumn("record_time", TIME, "When the synchronizer recorded it.", "UTC"),
    ResultColumn("paid_traffic_cost", COST, "What the participant says it paid; missing for others' and old requests.", "bytes"),
    ResultColumn("total_traffic_cost", COST, "What the history says the request cost; missing where it has no summary.", "bytes"),
    ResultColumn("difference", COST, "Paid less total; missing where one of them is.", "bytes"),
    ResultColumn("outcome", LABEL, "Whether they are equal, differ, or one or both are missing."),
    coverage("cost in both sources", "updates of this result"),
)
COLUMNS = {"paid_traffic": PAID_TRAFFIC}
OUTCOMES = ("equal", "different", "paid only", "total only", "neither")

__all__ = ["COLUMNS", "paid_traffic"]


def paid_traffic(ledger: Frames, history: Frames) -> pd.DataFrame:
    """Compare what a participant says it paid with what the history says the same request cost.

    Parameters
    ----------
    ledger : Frames
        From :func:`ledgerframes.load_updates`.
    history : Frames
        From :func:`ledgerframes.load_events`, over the same time.

    Returns
    -------
    DataFrame
        One row per update in both, sorted by offset: ``update_id``, ``offset``, ``record_time``, ``paid_traffic_cost``,
        ``total_traffic_cost``, ``difference``, ``outcome``, ``coverage``.

    Notes
    -----
    Source: docs/facts.md#traffic-fields. Missing is not 0 (docs/facts.md#paid-cost-missing).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> compared = lf.reconcile.paid_traffic(lf.load_updates(net), lf.load_events(net, since="2026-11-08"))
    >>> list(compared["outcome"].cat.categories)
    ['equal', 'different', 'paid only', 'total only', 'neither']
    """
    paid = ledger.read("ledger_updates", ["update_id", "offset", "record_time", "paid_traffic_cost"])
    costs = history.read("traffic", ["update_id", "total_traffic_cost"])
    known = history.read("updates", ["update_id"]).merge(costs, how="outer")
    both = paid.merge(known.astype({"total_traffic_cost": COST}), on="update_id").sort_values("offset", ignore_index=True)
    has_paid, has_total = both["paid_traffic_cost"].notna(), both["total_traffic_cost"].notna()
    both["difference"] = both["paid_traffic_cost"] - both["total_traffic_cost"]
    conditions = [has_paid & has_total & (both["difference"] == 0).fillna(False), has_paid & has_total, has_paid, has_total]
    outcome = np.select([condition.to_numpy(dtype=bool) for condition in conditions], OUTCOMES[:4], OUTCOMES[4])
    both["outcome"] = pd.Categorical(outcome, categories=list(OUTCOMES))
    both["coverage"] = (has_paid & has_total).mean() if len(both) else np.nan
    return shaped(PAID_TRAFFIC, {str(name): both[name] for name in both})
