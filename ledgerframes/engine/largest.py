"""Relations of the requests with the highest cost, and of the costs of their kinds."""

from __future__ import annotations

from ledgerframes.engine.query import Query
from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import REQUESTS_BY_TEMPLATE, count_confirmers

IS_LARGEST = "update_id IN (SELECT update_id FROM largest_requests)"
KIND = "kind, package_name, template_name, choice"


def costs_of_kinds(least: int) -> Relation:
    """Return the relation of the costs of each kind, whose median needs some requests."""
    return Relation(
        "costs_of_kinds",
        "One row per kind of request: how many there are, how many have a known cost, and the sum and median of known costs.",
        f"""
        SELECT
            {KIND},
            count(*) AS requests,
            count(total_traffic_cost) AS requests_of_kind,
            sum(total_traffic_cost) AS cost_of_kind,
            CASE WHEN count(total_traffic_cost) >= {least:d} THEN quantile_disc(total_traffic_cost, 0.5) END AS median_of_kind
        FROM requests_by_template
        GROUP BY ALL
        """,
        relations=(REQUESTS_BY_TEMPLATE,),
        is_materialized=True,
    )


def largest_requests(count: int, least: int) -> Query:
    """Return the query of the requests with the highest known cost, sorted by id among equals.

    The median of a kind with fewer than `least` known costs is missing.
    """
    largest = Relation(
        "largest_requests",
        "One row per request with one of the highest known costs.",
        f"""
        SELECT update_id, record_time, submitting_participant_uid, verdict_result, view_count, total_traffic_cost, {KIND}
        FROM requests_by_template
        WHERE is_known
        ORDER BY total_traffic_cost DESC, update_id
        LIMIT {count:d}
        """,
        relations=(REQUESTS_BY_TEMPLATE,),
        is_materialized=True,
    )
    confirmers = Relation(
        "their_confirmers",
        "One row per request with one of the highest costs and a quorum: how many different parties can confirm it.",
        count_confirmers(IS_LARGEST),
        tables=("quorums",),
        relations=(largest,),
    )
    envelopes = Relation(
        "their_envelopes",
        "One row per request with one of the highest costs and envelopes: how many there are, and the highest cost of one.",
        f"""
        SELECT update_id, count(*) AS envelopes, max(traffic_cost) AS largest_envelope
        FROM envelopes
        WHERE traffic_cost >= 0 AND {IS_LARGEST}
        GROUP BY update_id
        """,
        tables=("envelopes",),
        relations=(largest,),
    )
    same_kind = " AND ".join(f"largest_requests.{key} IS NOT DISTINCT FROM costs_of_kinds.{key}" for key in KIND.split(", "))
    select = f"""
SELECT
    largest_requests.*,
    requests_of_kind,
    median_of_kind,
    confirmers,
    envelopes,
    largest_envelope,
    known_cost,
    known_requests,
    all_requests
FROM largest_requests
CROSS JOIN (
    SELECT sum(cost_of_kind) AS known_cost, sum(requests_of_kind) AS known_requests, sum(requests) AS all_requests
    FROM costs_of_kinds
)
JOIN costs_of_kinds ON {same_kind}
LEFT JOIN their_confirmers USING (update_id)
LEFT JOIN their_envelopes USING (update_id)
ORDER BY total_traffic_cost DESC, update_id"""
    return Query(select.strip(), (largest, costs_of_kinds(least), confirmers, envelopes))
