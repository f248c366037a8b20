"""Relations of quorums, the groups of parties that can confirm a view."""

from __future__ import annotations

from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import ROOT_NODES

PARTY_SETS = Relation(
    "party_sets",
    "One row per request, set of parties and threshold, with the number of such quorums and of their views.",
    """
    SELECT
        update_id,
        record_time,
        -- In alphabetical order, because that of a verdict does not matter.
        array_to_string(list_sort(parties), ', ') AS parties,
        threshold,
        coalesce(len(parties), 0) AS party_count,
        count(*) AS quorums,
        len(list_distinct(list(view_id))) AS views
    FROM quorums
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
