"""Headline figures of a window, which rules, lists of runs and comparisons of runs read."""

from __future__ import annotations

import pandas as pd

from ledgerframes.frames import Frames

Headline = dict[str, int | float | None]
HEADLINE = {
    "requests": "confirmation requests",
    "accepted": "accepted requests",
    "rejected": "rejected requests",
    "rejection_rate": "rejected requests as a share of accepted and rejected",
    "requests_with_cost": "requests with a known traffic cost",
    "cost_coverage": "share of the requests with a known traffic cost",
    "total_traffic_cost": "bytes of the requests with a known cost",
    "wasted_traffic_cost": "bytes of the rejected requests with a known cost",
    "wasted_share": "wasted bytes as a share of all known bytes, unknown without a verdict",
    "findings": "what is unusual against the weeks before, unknown with too little history",
}


def measure_headline(frames: Frames, findings: pd.DataFrame | None = None) -> Headline:
    """Return the figures in :data:`HEADLINE` of all requests, None if unknown.

    The findings come from :func:`ledgerframes.findings`, and are None without the weeks before.
    """
    (row,) = _totals(frames).to_dict("records")
    totals = {str(name): None if pd.isna(value) else int(value) for name, value in row.items()}
    accepted, rejected, with_cost = (totals[name] or 0 for name in ("accepted", "rejected", "requests_with_cost"))
    useful = totals["useful_traffic_cost"] if totals["requests"] != rejected else 0
    wasted = totals["wasted_traffic_cost"] if rejected else 0
    is_share_known = wasted is not None and useful is not None and accepted + rejected > 0
    return {
        "requests": totals["requests"],
        "accepted": accepted,
        "rejected": rejected,
        "rejection_rate": _share(rejected, accepted + rejected),
        "requests_with_cost": with_cost,
        "cost_coverage": _share(with_cost, totals["requests"] or 0),
        "total_traffic_cost": totals["total_traffic_cost"],
        "wasted_traffic_cost": wasted if with_cost else None,
        "wasted_share": _share(wasted or 0, (wasted or 0) + (useful or 0)) if is_share_known else None,
        "findings": None if findings is None else _number_unusual(findings),
    }


def _number_unusual(findings: pd.DataFrame) -> int | None:
    """Return the number of findings, None if the history is too short to tell."""
    from ledgerframes.statistics.usual_ranges import MIN_WEEKS

    return len(findings) if findings.attrs["weeks"] >= MIN_WEEKS else None


def _totals(frames: Frames) -> pd.DataFrame:
    # Late, because a list of runs needs the names only.
    from ledgerframes.analysis.measures import COST, IS_ACCEPTED, IS_KNOWN, IS_REJECTED
    from ledgerframes.engine import Query, run
    from ledgerframes.engine.requests import REQUESTS

    totals = f"""
    SELECT
        count(*) AS requests,
        count(*) FILTER (WHERE {IS_ACCEPTED}) AS accepted,
        count(*) FILTER (WHERE {IS_REJECTED}) AS rejected,
        count(*) FILTER (WHERE {IS_KNOWN}) AS requests_with_cost,
        sum({COST}) AS total_traffic_cost,
        sum({COST}) FILTER (WHERE ({IS_REJECTED}) IS NOT TRUE) AS useful_traffic_cost,
        sum({COST}) FILTER (WHERE {IS_REJECTED}) AS wasted_traffic_cost
    FROM requests
    """
    return run(frames, Query(totals, (REQUESTS,)))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
