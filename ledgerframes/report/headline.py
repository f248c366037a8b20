"""Headline figures of a window, which rules, lists of runs and comparisons of runs read."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis._groups import exact_sum
from ledgerframes.analysis._requests import ACCEPTED, has_result, is_rejected

HEADLINE = {
    "requests": "confirmation requests",
    "accepted": "accepted requests",
    "rejected": "rejected requests",
    "rejection_rate": "rejected requests as a share of accepted and rejected",
    "requests_with_cost": "requests with a known traffic cost",
    "cost_coverage": "share of the requests with a known traffic cost",
    "total_traffic_cost": "bytes of the requests with a known cost",
    "wasted_traffic_cost": "bytes of the rejected requests with a known cost",
    "wasted_share": "wasted bytes as a share of those with a known verdict",
}


def measure_headline(requests: pd.DataFrame) -> dict[str, int | float | None]:
    """Return the figures in :data:`HEADLINE` of all requests, None if unknown."""
    costs = requests["total_traffic_cost"]
    has_cost = costs.notna().to_numpy()
    is_accepted, is_wasted = has_result(requests, ACCEPTED), is_rejected(requests)
    accepted, rejected = int(is_accepted.sum()), int(is_wasted.sum())
    useful, wasted = (exact_sum(costs[mask]) if mask.any() else 0 for mask in (is_accepted, is_wasted))
    with_cost = int(has_cost.sum())
    return {
        "requests": len(requests),
        "accepted": accepted,
        "rejected": rejected,
        "rejection_rate": _share(rejected, accepted + rejected),
        "requests_with_cost": with_cost,
        "cost_coverage": _share(with_cost, len(requests)),
        "total_traffic_cost": exact_sum(costs),
        "wasted_traffic_cost": wasted if with_cost else None,
        "wasted_share": None if wasted is None or useful is None else _share(wasted, wasted + useful),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
