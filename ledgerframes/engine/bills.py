"""Relations of requests and the lines of a bill to which their costs belong."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import PARTY_LABELS, REQUESTS, with_parties

PRICE_STARTS = Parameter("price_starts", "One row: the times from which the second and later prices apply.")
PAID_UPDATES = Parameter("paid_updates", "One row per update of one of your participants, with the cost that it paid.")
BILLED_REQUESTS = Relation(
    "billed_requests",
    "One row per request, with the cost that one of your participants paid and the number of its price, counted from 0.",
    """
    SELECT
        requests.*,
        first_paid.paid,
        len(list_filter(price_starts.starts, lambda start: start <= epoch_us(record_time))) AS price_number
    FROM requests
    CROSS JOIN price_starts
    LEFT JOIN (
        -- Only the participant of an update pays for it, and a negative cost is unknown.
        SELECT update_id, arg_min(paid, (participant_id, number)) AS paid
        FROM paid_updates
        WHERE paid >= 0
        GROUP BY update_id
    ) AS first_paid USING (update_id)
    """,
    relations=(REQUESTS,),
    parameters=(PRICE_STARTS, PAID_UPDATES),
)
BILLED_WITH_PARTIES = with_parties(BILLED_REQUESTS)
BILLED_BY_PARTY = Relation(
    "billed_by_party",
    "One row per request and submitting party, numbered by name from 1.",
    """
    SELECT
        * EXCLUDE (parties),
        unnest(parties) AS party,
        generate_subscripts(parties, 1) AS part_number,
        len(parties) AS part_count
    FROM billed_requests_with_parties
    """,
    relations=(BILLED_WITH_PARTIES,),
)
BILLED_BY_LABEL = Relation(
    "billed_by_label",
    "One row per request and label of its parties, numbered by name from 1. Parties without a label come last, as one.",
    """
    SELECT
        billed_requests.*,
        unnest(labels) AS label,
        generate_subscripts(labels, 1) AS part_number,
        len(labels) AS part_count
    FROM billed_requests
    JOIN (
        SELECT update_id, list_sort(list(DISTINCT label), 'ASC', 'NULLS LAST') AS labels
        FROM (SELECT update_id, unnest(parties) AS id FROM billed_requests_with_parties)
        LEFT JOIN party_labels USING (id)
        GROUP BY update_id
    ) USING (update_id)
    """,
    relations=(BILLED_REQUESTS, BILLED_WITH_PARTIES),
    parameters=(PARTY_LABELS,),
)


def first_parts(parts: Relation) -> Relation:
    """Return the parts of bills that assign each request to its first party or label."""
    query = f"SELECT * FROM {parts.name} WHERE part_number = 1"
    return Relation(f"first_of_{parts.name}", "One row per request, for its first party or label.", query, relations=(parts,))


def equal_parts(parts: Relation) -> Relation:
    """Return the parts of bills that divide each request equally.

    The bytes that are left over go to the first parties or labels by name.
    """
    query = f"""
    SELECT * REPLACE (
        total_traffic_cost // part_count + (part_number <= total_traffic_cost % part_count)::BIGINT AS total_traffic_cost,
        paid // part_count + (part_number <= paid % part_count)::BIGINT AS paid
    )
    FROM {parts.name}
    """
    return Relation(f"equal_{parts.name}", "One row per request and party or label: an equal part.", query, relations=(parts,))
