"""Relations of envelopes, and of the parties that can confirm what they carry."""

from __future__ import annotations

from ledgerframes.engine.keys import key_of
from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import REQUESTS_BY_TEMPLATE

ENVELOPES_OF_KINDS = Relation(
    "envelopes_of_kinds",
    "One row per request with envelopes whose costs are all known: number and cost of those with views, and of those without.",
    """
    SELECT
        update_id,
        true AS has_envelopes,
        count(*) FILTER (has_views) AS envelopes_with_views,
        count(*) FILTER (NOT has_views) AS envelopes_without_views,
        coalesce(sum(traffic_cost) FILTER (has_views), 0) AS cost_with_views,
        coalesce(sum(traffic_cost) FILTER (NOT has_views), 0) AS cost_without_views
    FROM (SELECT update_id, traffic_cost, coalesce(len(view_ids), 0) > 0 AS has_views FROM envelopes)
    GROUP BY update_id
    HAVING bool_and(coalesce(traffic_cost >= 0, false))
    """,
    tables=("envelopes",),
)
# A set of parties is stored as its size and the sum of one number per party, because texts of all sets do not fit into memory.
SETS_OF_VIEWS = Relation(
    "sets_of_views",
    "One row per view that somebody can confirm: the set of parties that can.",
    f"""
    SELECT update_key, view_id, count(*) AS confirmers, sum(party_number) AS set_number
    FROM (
        SELECT DISTINCT update_key, view_id, hash(party) AS party_number
        FROM (SELECT {key_of("update_id")} AS update_key, view_id, unnest(parties) AS party FROM quorums)
        WHERE party IS NOT NULL
    )
    GROUP BY update_key, view_id
    """,
    tables=("quorums",),
)
ENVELOPES_OF_ONE_VIEW = Relation(
    "envelopes_of_one_view",
    "One row per envelope with exactly one view.",
    f"""
    SELECT {key_of("update_id")} AS update_key, view_ids[1] AS view_id, traffic_cost
    FROM envelopes
    WHERE traffic_cost >= 0 AND len(view_ids) = 1
    """,
    tables=("envelopes",),
)
ENVELOPES_OF_SEVERAL_VIEWS = Relation(
    "envelopes_of_several_views",
    "One row per envelope with several views, if somebody can confirm one of the views: the set of parties that can.",
    f"""
    SELECT update_key, traffic_cost, count(*) AS confirmers, sum(party_number) AS set_number
    FROM (
        SELECT DISTINCT
            {key_of("update_id")} AS update_key,
            envelope_index,
            traffic_cost,
            hash(party) AS party_number
        FROM (
            SELECT update_id, envelope_index, traffic_cost, unnest(parties) AS party
            FROM quorums
            -- The engine keeps the right side of a join in memory. Here, it has few rows.
            JOIN (
                SELECT update_id, envelope_index, traffic_cost, unnest(view_ids) AS view_id
                FROM envelopes
                WHERE traffic_cost >= 0 AND len(view_ids) > 1
            ) USING (update_id, view_id)
        )
        WHERE party IS NOT NULL
    )
    GROUP BY update_key, envelope_index, traffic_cost
    """,
    tables=("envelopes", "quorums"),
)
SAME_CONFIRMERS = Relation(
    "same_confirmers",
    "One row per request with confirmers: the most for one envelope, and all envelopes but the largest per set of confirmers.",
    f"""
    SELECT traffic.update_id, confirmers, same_confirmers_envelopes, same_confirmers_cost
    FROM traffic
    JOIN (
        SELECT
            update_key,
            max(confirmers) AS confirmers,
            sum(envelopes - 1) AS same_confirmers_envelopes,
            sum(traffic_cost - largest) AS same_confirmers_cost
        FROM (
            SELECT
                update_key,
                confirmers,
                count(*) AS envelopes,
                sum(traffic_cost) AS traffic_cost,
                max(traffic_cost) AS largest
            FROM (
                SELECT update_key, confirmers, set_number, traffic_cost
                FROM envelopes_of_one_view
                JOIN sets_of_views USING (update_key, view_id)
                UNION ALL
                SELECT update_key, confirmers, set_number, traffic_cost
                FROM envelopes_of_several_views
            )
            GROUP BY update_key, confirmers, set_number
        )
        GROUP BY update_key
    ) AS sums ON update_key = {key_of("traffic.update_id")}
    """,
    tables=("traffic",),
    relations=(SETS_OF_VIEWS, ENVELOPES_OF_ONE_VIEW, ENVELOPES_OF_SEVERAL_VIEWS),
)
REQUESTS_BY_REQUEST_KIND = Relation(
    "requests_by_request_kind",
    "One row per request, with package, template and choice of its first root node, and its kind as request_kind.",
    """
    SELECT *, kind AS request_kind FROM requests_by_template
    """,
    relations=(REQUESTS_BY_TEMPLATE,),
)
