"""Relations of envelopes, and of the parties that can confirm what they carry."""

from __future__ import annotations

from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import REQUESTS_BY_TEMPLATE

ENVELOPES_OF_KINDS = Relation(
    "envelopes_of_kinds",
    "One row per request with envelopes: those with views and those without.",
    """
    SELECT
        update_id,
        true AS has_envelopes,
        count(*) FILTER (has_views) AS envelopes_with_views,
        count(*) FILTER (NOT has_views) AS envelopes_without_views,
        coalesce(sum(traffic_cost) FILTER (has_views), 0) AS cost_with_views,
        coalesce(sum(traffic_cost) FILTER (NOT has_views), 0) AS cost_without_views
    FROM (SELECT update_id, traffic_cost, coalesce(len(view_ids), 0) > 0 AS has_views FROM envelopes WHERE traffic_cost >= 0)
    GROUP BY update_id
    """,
    tables=("envelopes",),
)
CONFIRMERS_OF_ENVELOPES = Relation(
    "confirmers_of_envelopes",
    "One row per envelope with views that somebody can confirm: the parties, in order.",
    """
    SELECT update_id, traffic_cost, confirmers
    FROM (
        SELECT update_id, envelope_index, traffic_cost, list_sort(list(DISTINCT party)) AS confirmers
        FROM (
            SELECT update_id, envelope_index, traffic_cost, unnest(parties) AS party
            FROM (SELECT *, unnest(view_ids) AS view_id FROM envelopes WHERE traffic_cost >= 0)
            JOIN quorums USING (update_id, view_id)
        )
        WHERE party IS NOT NULL
        GROUP BY update_id, envelope_index, traffic_cost
    )
    """,
    tables=("envelopes", "quorums"),
)
SAME_CONFIRMERS = Relation(
    "same_confirmers",
    "One row per request with confirmers: the most of one envelope, and the envelopes that are not the largest with theirs.",
    """
    SELECT
        update_id,
        max(len(confirmers)) AS confirmers,
        sum(envelopes - 1) AS same_confirmers_envelopes,
        sum(traffic_cost - largest) AS same_confirmers_cost
    FROM (
        SELECT update_id, confirmers, count(*) AS envelopes, sum(traffic_cost) AS traffic_cost, max(traffic_cost) AS largest
        FROM confirmers_of_envelopes
        GROUP BY update_id, confirmers
    )
    GROUP BY update_id
    """,
    relations=(CONFIRMERS_OF_ENVELOPES,),
)
REQUESTS_BY_REQUEST_KIND = Relation(
    "requests_by_request_kind",
    "One row per request, as by template. The kind of its envelopes is another column.",
    """
    SELECT *, kind AS request_kind FROM requests_by_template
    """,
    relations=(REQUESTS_BY_TEMPLATE,),
)
