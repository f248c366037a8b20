"""Relations of confirmation requests, and of what belongs to a request.

All whose names start with ``requests`` have the columns of ``requests``, so that a measure can read any of them.
"""

from __future__ import annotations

from ledgerframes.engine.keys import key_of
from ledgerframes.engine.relation import Parameter, Relation

# The mediator gives up after 30 s, and clocks can make a timeout look a little shorter [microseconds].
TIMEOUT = 29_900_000
# Rejections from this latency on can be timeouts of a network with another limit [microseconds].
NEAR_TIMEOUT = 20_000_000
PARTY_LABELS = Parameter("party_labels", "One row per party with a label.")
PARTICIPANT_LABELS = Parameter("participant_labels", "One row per participant with a label. Its id has no prefix.")
ERAS = Parameter("eras", "One row per era of the network, with its start and end.")
SEGMENTS = Parameter("segments", "One row per segment of the store, with its source, migration, start and end.")
DECISIONS = Relation(
    "decisions",
    "One row per verdict, with its latency in microseconds and the class of its outcome.",
    f"""
    SELECT
        *,
        epoch_us(finalization_time) - epoch_us(record_time) AS latency,
        -- A verdict gives no reason. Its result and latency together tell one.
        CASE
            WHEN latency < 0 THEN 'impossible: before its record time'
            WHEN verdict_result NOT IN ('VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED') THEN 'unspecified'
            WHEN verdict_result = 'VERDICT_RESULT_ACCEPTED' AND latency < {TIMEOUT:_} THEN 'accepted'
            WHEN verdict_result = 'VERDICT_RESULT_ACCEPTED' AND latency >= {TIMEOUT:_} THEN 'accepted after the limit'
            WHEN verdict_result = 'VERDICT_RESULT_REJECTED' AND latency < {TIMEOUT:_} THEN 'rejected'
            WHEN verdict_result = 'VERDICT_RESULT_REJECTED' AND latency >= {TIMEOUT:_} THEN 'timed out (by latency)'
            WHEN verdict_result IN ('VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED') THEN 'latency missing'
        END AS outcome
    FROM verdicts
    """,
    tables=("verdicts",),
)
REQUESTS = Relation(
    "requests",
    "One row per confirmation request: an update id with a verdict, an update or a traffic summary.",
    """
    SELECT
        *,
        -- A negative cost is unknown in all figures.
        coalesce(cost >= 0, false) AS is_known,
        CASE WHEN is_known THEN cost END AS total_traffic_cost,
        CASE
            WHEN NOT is_known THEN NULL
            WHEN cost < 2_000 THEN 'under 2 kB'
            WHEN cost < 5_000 THEN '2 to 5 kB'
            WHEN cost < 10_000 THEN '5 to 10 kB'
            WHEN cost < 20_000 THEN '10 to 20 kB'
            WHEN cost < 50_000 THEN '20 to 50 kB'
            ELSE '50 kB and more'
        END AS size,
        -- In UTC. Weeks start on Monday.
        date_trunc('day', record_time) AS day,
        epoch_us(record_time) // 3_600_000_000 % 24 AS hour,
        (epoch_us(record_time) // 86_400_000_000 + 3) % 7 AS weekday,
        -- Whether a row is the first of its request, which has several by party, for example.
        true AS is_first
    FROM (
        SELECT
            update_id,
            coalesce(decisions.migration_id, updates.migration_id, traffic.migration_id) AS migration_id,
            coalesce(decisions.record_time, updates.record_time, traffic.record_time) AS record_time,
            decisions.record_time IS NOT NULL AS has_verdict,
            decisions.latency,
            decisions.outcome,
            decisions.verdict_result,
            decisions.submitting_participant_uid,
            decisions.submitting_parties,
            decisions.view_count,
            coalesce(updates.kind, 'not visible') AS kind,
            traffic.total_traffic_cost AS cost
        FROM decisions
        FULL JOIN updates USING (update_id)
        FULL JOIN traffic USING (update_id)
    )
    """,
    tables=("updates", "traffic"),
    relations=(DECISIONS,),
    is_shared=True,
)


def with_parties(rows: Relation) -> Relation:
    """Return requests with their submitting parties as a sorted list."""
    query = f"""
    SELECT * EXCLUDE (known_parties), CASE WHEN len(known_parties) > 0 THEN known_parties ELSE [NULL] END AS parties
    FROM (SELECT *, list_sort(list_distinct(submitting_parties)) AS known_parties FROM {rows.name})
    """
    description = "One row per request, with its submitting parties sorted by name, or a list of one missing party."
    return Relation(f"{rows.name}_with_parties", description, query, relations=(rows,))


REQUESTS_WITH_PARTIES = with_parties(REQUESTS)
REQUESTS_BY_PARTY = Relation(
    "requests_by_party",
    "One row per request and submitting party, or one row with a missing party.",
    """
    SELECT
        * EXCLUDE (parties, is_first),
        unnest(parties) AS party,
        len(parties) = 1 AND parties[1] IS NOT NULL AS is_single_party,
        generate_subscripts(parties, 1) = 1 AS is_first
    FROM requests_with_parties
    """,
    relations=(REQUESTS_WITH_PARTIES,),
)
REQUESTS_BY_LABEL = Relation(
    "requests_by_label",
    "One row per request and label of its participant or a submitting party, or one row with a missing label.",
    """
    SELECT * EXCLUDE (found, is_first), unnest(found) AS label, generate_subscripts(found, 1) = 1 AS is_first
    FROM (
        SELECT requests.*, coalesce(labels_of_request.found, [NULL]) AS found
        FROM requests
        LEFT JOIN (
            SELECT update_id, list_sort(list(DISTINCT label)) AS found
            FROM (
                SELECT update_id, label
                FROM (SELECT update_id, unnest(submitting_parties) AS id FROM requests)
                JOIN party_labels USING (id)
                UNION ALL
                -- Some fields put a prefix before the id of a participant.
                SELECT update_id, label
                FROM requests
                JOIN participant_labels ON id = regexp_replace(submitting_participant_uid, '^PAR::', '')
            )
            GROUP BY update_id
        ) AS labels_of_request USING (update_id)
    )
    """,
    relations=(REQUESTS,),
    parameters=(PARTY_LABELS, PARTICIPANT_LABELS),
)
ROOT_NODES = Relation(
    "root_nodes",
    "One row per visible update: package, template and choice of its first root node.",
    """
    -- The first node in pre-order is a root.
    SELECT update_id, package_name, package_id, template_name, choice
    FROM tree_events
    WHERE node_index = 0
    """,
    tables=("tree_events",),
    is_shared=True,
    bounded_by=("updates",),
)
REQUESTS_BY_TEMPLATE = Relation(
    "requests_by_template",
    "One row per request, with package, template and choice of its first root node.",
    """
    FROM requests LEFT JOIN root_nodes USING (update_id)
    """,
    relations=(REQUESTS, ROOT_NODES),
)
REQUESTS_BY_ERA = Relation(
    "requests_by_era",
    "One row per request, with the era of the network.",
    """
    SELECT requests.*, eras.name AS era
    FROM requests
    LEFT JOIN eras ON record_time >= eras.since AND record_time < eras.until
    """,
    relations=(REQUESTS,),
    parameters=(ERAS,),
)
REQUESTS_BY_SOURCE = Relation(
    "requests_by_source",
    "One row per request, with the host or file that it was read from.",
    """
    SELECT requests.*, segments.source
    FROM requests
    LEFT JOIN segments
        ON record_time >= segments.since AND record_time < segments.until
        AND coalesce(segments.migration_id, requests.migration_id) = requests.migration_id
    """,
    relations=(REQUESTS,),
    parameters=(SEGMENTS,),
)


def count_confirmers(condition: str = "true") -> str:
    """Return SQL that counts the parties that can confirm each request with a quorum.

    A request whose quorums have no parties has the count 0.
    """
    return f"""
    SELECT update_id, count(party) AS confirmers
    FROM (
        SELECT DISTINCT update_id, unnest(coalesce(nullif(parties, []), [NULL])) AS party
        FROM quorums
        WHERE {condition}
    )
    GROUP BY update_id
    """


CONFIRMERS = Relation(
    "confirmers_by_request",
    "One row per request with a quorum: how many different parties can confirm it.",
    count_confirmers(),
    tables=("quorums",),
)
REQUESTS_BY_CONFIRMERS = Relation(
    "requests_by_confirmers",
    "One row per request, with the number of parties that can confirm it.",
    """
    FROM requests LEFT JOIN confirmers_by_request USING (update_id)
    """,
    relations=(REQUESTS, CONFIRMERS),
)
ENVELOPES_BY_REQUEST = Relation(
    "envelopes_by_request",
    "One row per request with envelopes whose costs are all known: the cost of its envelopes without views.",
    """
    SELECT update_id, coalesce(sum(traffic_cost) FILTER (coalesce(len(view_ids), 0) = 0), 0)::BIGINT AS overhead_traffic_cost
    FROM envelopes
    GROUP BY update_id
    HAVING bool_and(coalesce(traffic_cost >= 0, false))
    """,
    tables=("envelopes",),
    is_shared=True,
    bounded_by=("traffic",),
)
ENVELOPES_BY_VIEW = Relation(
    "envelopes_by_view",
    "One row per view with envelopes. An envelope counts for the lowest of its views.",
    """
    SELECT update_id, list_min(view_ids) AS view_id, count(*) AS envelopes, sum(traffic_cost)::BIGINT AS traffic_cost
    FROM envelopes
    WHERE traffic_cost >= 0 AND len(view_ids) > 0
    GROUP BY ALL
    """,
    tables=("envelopes",),
)
CONFIRMERS_BY_VIEW = Relation(
    "confirmers_by_view",
    "One row per view with a quorum: how many different parties can confirm it.",
    """
    -- A view whose quorums have no parties has the count 0.
    SELECT update_id, view_id, count(party) AS confirmers
    FROM (SELECT DISTINCT update_id, view_id, unnest(coalesce(nullif(parties, []), [NULL])) AS party FROM quorums)
    GROUP BY ALL
    """,
    tables=("quorums",),
)
COSTS_OF_VIEWS = Relation(
    "costs_of_views",
    "One row per view with a verdict or envelopes: its envelopes, and its informees and confirmers (missing without a verdict).",
    f"""
    -- One key groups the rows of three tables, because three joins of all views of a week do not fit into memory.
    SELECT
        update_key,
        view_id,
        max(informees) AS informees,
        CASE WHEN max(informees) IS NOT NULL THEN count(party_number)::INTEGER END AS confirmers,
        count(envelope) AS envelopes,
        sum(traffic_cost)::BIGINT AS traffic_cost
    FROM (
        SELECT {key_of("update_id")} AS update_key, view_id, coalesce(len(informees), 0)::INTEGER AS informees FROM views
        UNION ALL BY NAME
        -- An envelope counts for the lowest of its views.
        SELECT {key_of("update_id")} AS update_key, list_min(view_ids) AS view_id, true AS envelope, traffic_cost
        FROM envelopes
        WHERE traffic_cost >= 0 AND len(view_ids) > 0
        UNION ALL BY NAME
        SELECT DISTINCT update_key, view_id, hash(party) AS party_number
        FROM (SELECT {key_of("update_id")} AS update_key, view_id, unnest(parties) AS party FROM quorums)
    )
    GROUP BY update_key, view_id
    HAVING max(informees) IS NOT NULL OR count(envelope) > 0
    """,
    tables=("views", "envelopes", "quorums"),
)
REQUESTS_BY_VIEW = Relation(
    "requests_by_view",
    "One row per view of a request, with the cost of its envelopes.",
    f"""
    SELECT
        requests.* EXCLUDE (update_key, has_envelopes) REPLACE (
            CASE WHEN is_known AND has_envelopes THEN traffic_cost END AS total_traffic_cost,
            is_known AND has_envelopes AS is_known
        ),
        view_id,
        informees,
        confirmers,
        CASE WHEN is_known AND has_envelopes THEN envelopes ELSE 0 END AS envelopes
    FROM costs_of_views
    JOIN (
        SELECT
            requests_by_template.*,
            {key_of("requests_by_template.update_id")} AS update_key,
            envelopes_by_request.update_id IS NOT NULL AS has_envelopes
        FROM requests_by_template
        LEFT JOIN envelopes_by_request USING (update_id)
    ) AS requests USING (update_key)
    WHERE informees IS NOT NULL OR is_known AND has_envelopes
    """,
    relations=(COSTS_OF_VIEWS, REQUESTS_BY_TEMPLATE, ENVELOPES_BY_REQUEST),
)
