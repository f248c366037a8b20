"""Relations of quorums, the groups of parties that can confirm a view."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import DECISIONS, ROOT_NODES

HOSTING = Parameter("hosting", "One row per party and participant that hosts it, with the start and end of the hosting.")
PARTY_SETS = Relation(
    "party_sets",
    "One row per request, set of parties and threshold, with the numbers of quorums and views that have this set and threshold.",
    """
    SELECT
        update_id,
        record_time,
        -- In alphabetical order, because the order in a verdict has no meaning.
        array_to_string(list_sort(members), ', ') AS parties,
        threshold,
        coalesce(len(members), 0) AS party_count,
        count(*) AS quorums,
        len(list_distinct(list(view_id))) AS views
    FROM (
        -- A party that a quorum lists twice counts once.
        SELECT update_id, record_time, view_id, threshold, list_distinct(parties) AS members FROM quorums
    )
    GROUP BY ALL
    """,
    tables=("quorums",),
)
PARTY_SETS_BY_PARTICIPANT = Relation(
    "party_sets_by_participant",
    "One row per request, set of parties and threshold, with the participant that submitted the request.",
    """
    SELECT party_sets.*, submitting_participant_uid
    FROM party_sets
    LEFT JOIN verdicts USING (update_id)
    """,
    tables=("verdicts",),
    relations=(PARTY_SETS,),
)
PARTY_SETS_BY_TEMPLATE = Relation(
    "party_sets_by_template",
    "One row per request, set of parties and threshold, with package, template and choice of the first root node.",
    """
    SELECT party_sets.*, coalesce(updates.kind, 'not visible') AS kind, root_nodes.* EXCLUDE (update_id)
    FROM party_sets
    LEFT JOIN updates USING (update_id)
    LEFT JOIN root_nodes USING (update_id)
    """,
    tables=("updates",),
    relations=(PARTY_SETS, ROOT_NODES),
)
JUDGED_REQUESTS = Relation(
    "judged_requests",
    "One row per decided request: whether it timed out, or took longer than 90 % of the requests that did not time out.",
    """
    SELECT update_id, record_time, latency, outcome, is_timeout OR coalesce(latency > usual_latency, false) AS is_slow
    FROM (
        SELECT
            *,
            coalesce(outcome = 'timed out (by latency)', false) AS is_timeout,
            quantile_disc(latency, 0.90) FILTER (WHERE NOT is_timeout) OVER () AS usual_latency
        FROM decisions
        WHERE latency >= 0 AND verdict_result IN ('VERDICT_RESULT_ACCEPTED', 'VERDICT_RESULT_REJECTED')
    )
    """,
    relations=(DECISIONS,),
)
ROLES_OF_PARTIES = Relation(
    "roles_of_parties",
    "One row per request and confirming party: whether a quorum of the request cannot reach its threshold without the party.",
    """
    SELECT update_id, party, bool_or(is_tight) AS is_required
    FROM (
        -- A party that a quorum lists twice counts once.
        SELECT update_id, unnest(members) AS party, coalesce(threshold >= len(members), false) AS is_tight
        FROM (SELECT update_id, threshold, list_distinct(parties) AS members FROM quorums)
    )
    GROUP BY ALL
    """,
    tables=("quorums",),
)
ROLES_OF_PARTICIPANTS = Relation(
    "roles_of_participants",
    "One row per request and participant that hosts a confirming party: whether it is the only host of a required party.",
    """
    SELECT update_id, participant, bool_or(is_required AND is_only_host) AS is_required
    FROM (
        SELECT
            update_id,
            participant,
            is_required,
            min(participant) OVER hosts = max(participant) OVER hosts AS is_only_host
        FROM roles_of_parties
        JOIN judged_requests USING (update_id)
        JOIN hosting USING (party)
        WHERE since <= record_time AND (record_time < until OR until IS NULL)
        WINDOW hosts AS (PARTITION BY update_id, party)
    )
    WHERE participant IS NOT NULL
    GROUP BY ALL
    """,
    relations=(ROLES_OF_PARTIES, JUDGED_REQUESTS),
    parameters=(HOSTING,),
)
