"""App activity weights by the public formula (docs/facts.md#activity-weights).

It takes verdict and traffic summary in their wire form, and the state of the network (featured providers, SV
participants, round) from the caller.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

MAXIMUM_COST = 100 * 1024 * 1024  # bytes; above it the products of the formula would not fit 64 bits
SCALE = 10**10  # weights are decimals of at most ten digits


def activity_records(
    verdict: Mapping[str, Any] | None,
    traffic_summary: Mapping[str, Any] | None,
    round_number: int | None,
    featured: Mapping[str, str],
    sv_participants: Collection[str],
) -> dict[str, Any] | None:
    """Return the activity records of one event, or None if it earns none.

    `featured` has the activity weight, as decimal text, by featured provider, and `sv_participants` the participants of
    the SVs without the "PAR::" prefix, both as of the opening of the round. The result has parties ascending and weights
    in bytes. Source: docs/facts.md#activity-weights, steps 1 to 10.
    """
    if verdict is None or traffic_summary is None or round_number is None:
        return None
    total = traffic_summary["total_traffic_cost"]
    if verdict["verdict_result"] != "VERDICT_RESULT_ACCEPTED" or total > MAXIMUM_COST:
        return None
    if verdict["submitting_participant_uid"] in sv_participants:
        return None
    burns = _burns(verdict["transaction_views"]["views"], traffic_summary, featured)
    if not burns:
        return None
    records = [{"party": party, "weight": burns[party] * _scaled(featured[party]) // SCALE} for party in sorted(burns)]
    return {"round_number": round_number, "records": records}


def _burns(views: list[dict[str, Any]], traffic_summary: Mapping[str, Any], featured: Mapping[str, str]) -> dict[str, int]:
    """Spread the whole cost over the featured confirmers, with one division per party."""
    total = traffic_summary["total_traffic_cost"]
    featured_of = {view["view_id"]: _featured_confirmers(view, featured) for view in views}
    shares: dict[str, int] = {}
    confirmed = 0
    for envelope in traffic_summary["envelope_traffic_summaries"]:
        parties: set[str] = set()
        for view_id in envelope["view_ids"]:
            parties.update(featured_of.get(view_id, ()))
        if not parties:
            continue
        cost = envelope["traffic_cost"]
        confirmed += cost
        share = cost * total // len(parties)
        for party in parties:
            shares[party] = shares.get(party, 0) + share
    return {party: share // confirmed for party, share in shares.items()} if confirmed else {}


def _featured_confirmers(view: Mapping[str, Any], featured: Mapping[str, str]) -> list[str]:
    return [party for quorum in view["confirming_parties"] for party in quorum["parties"] if party in featured]


@lru_cache(maxsize=256)
def _scaled(weight: str) -> int:
    return int(Decimal(weight) * SCALE)
