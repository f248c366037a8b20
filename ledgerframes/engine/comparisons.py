"""Relations that compare two histories of one network, such as those of two nodes.

The names of the second history's tables start with ``other_``.
"""

from __future__ import annotations

from ledgerframes.engine.query import of_other
from ledgerframes.engine.relation import Relation
from ledgerframes.engine.requests import REQUESTS

ACTIVITY = Relation(
    "activity_by_request",
    "One row per request with an activity record: the weight of each party.",
    """
    SELECT update_id, list_sort(list(ROW(party, weight))) AS weights
    FROM activity_records
    GROUP BY update_id
    """,
    tables=("activity_records",),
)
FACTS = Relation(
    "facts",
    "One row per request, with all facts that a node has about it. Lists are sorted.",
    """
    SELECT
        update_id,
        record_time,
        verdict_result::VARCHAR AS verdict_result,
        submitting_participant_uid,
        list_sort(submitting_parties) AS parties,
        total_traffic_cost,
        weights,
        -- Only for accepted requests, because the mediator's clock decides when others end.
        CASE WHEN verdict_result = 'VERDICT_RESULT_ACCEPTED' AND latency >= 0 THEN latency END AS latency
    FROM requests
    LEFT JOIN activity_by_request USING (update_id)
    """,
    relations=(REQUESTS, ACTIVITY),
)
ASPECTS = {
    "presence": "",
    "record time": "record_time",
    "verdict": "verdict_result",
    "participant": "submitting_participant_uid",
    "parties": "parties",
    "traffic cost": "total_traffic_cost",
    "activity weight": "weights",
}
# By name, because a join would carry all columns of whole rows.
OF_BOTH = ",\n        ".join(
    f"{node}.{column} AS {column}_{suffix}"
    for column in (*filter(None, ASPECTS.values()), "latency")
    for node, suffix in (("facts", "a"), ("other_facts", "b"))
)
BOTH_NODES = Relation(
    "both_nodes",
    "One row per request of either node, with the facts of both.",
    f"""
    SELECT
        coalesce(facts.record_time, other_facts.record_time) AS record_time,
        facts.record_time IS NOT NULL AS in_a,
        other_facts.record_time IS NOT NULL AS in_b,
        in_a AND in_b AS in_both,
        {OF_BOTH}
    FROM facts
    FULL JOIN other_facts ON facts.update_id = other_facts.update_id
    """,
    relations=(FACTS, of_other(FACTS)),
)


def _compared(aspect: str, column: str) -> str:
    """Return SQL for which nodes have a fact, and whether it is equal.

    Facts other than presence are compared only for requests that both nodes have.
    """
    if not column:
        return f"{{'aspect': '{aspect}', 'has_a': in_a, 'has_b': in_b, 'is_equal': in_both}}"
    has_a, has_b = (f"in_both AND {column}_{node} IS NOT NULL" for node in "ab")
    is_equal = f"coalesce({column}_a = {column}_b, false)"
    return f"{{'aspect': '{aspect}', 'has_a': {has_a}, 'has_b': {has_b}, 'is_equal': {is_equal}}}"


ALL_COMPARED = ",\n        ".join(_compared(*each) for each in ASPECTS.items())
COMPARED_FACTS = Relation(
    "compared_facts",
    "One row per request of either node and aspect of the request: which nodes have it, and whether it is equal.",
    f"""
    SELECT record_time, unnest([
        {ALL_COMPARED}
    ], recursive := true)
    FROM both_nodes
    """,
    relations=(BOTH_NODES,),
)
