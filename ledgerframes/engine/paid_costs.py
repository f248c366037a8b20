"""Relations of the costs on a participant's ledger next to those of the history."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import REQUESTS


def logical_id(synchronizer: str) -> str:
    """Return the id of a synchronizer without the suffix that physical ids have."""
    return f"regexp_replace({synchronizer}, '::[0-9]+-[0-9]+$', '')"


PRUNED = Parameter("pruned", "One row: the last offsets of ranges that were pruned.")
COMMON_TIMES = Parameter("common_times", "One row per interval that both sources cover, with its first and last microsecond.")
OWNER = Parameter("owner", "One row: the participant without a prefix, and whether the history has all requests of its time.")
OWN_UPDATES = Relation(
    "own_updates",
    "One row per update of the participant's ledger, because offsets of two participants do not compare.",
    """
    SELECT ledger_updates.*
    FROM ledger_updates
    SEMI JOIN owner ON regexp_replace(participant_id, '^PAR::', '') = owner.participant
    """,
    tables=("ledger_updates",),
    parameters=(OWNER,),
    is_materialized=False,
)
LEDGER_PARTS = Relation(
    "ledger_parts",
    "One row per part of the ledger between two pruned ranges, with its first and last time.",
    """
    SELECT part, min(record_time) AS first_time, max(record_time) AS last_time
    FROM (SELECT record_time, len(list_filter(through, lambda each: each < "offset")) AS part FROM own_updates, pruned)
    GROUP BY part
    """,
    relations=(OWN_UPDATES,),
    parameters=(PRUNED,),
)
HISTORY_TIME = Relation(
    "history_time",
    "One row: the first and last time of the history.",
    """
    SELECT min(record_time) AS first_time, max(record_time) AS last_time
    FROM (SELECT record_time FROM verdicts UNION ALL SELECT record_time FROM updates)
    """,
    tables=("verdicts", "updates"),
)
LEDGER_PARTICIPANTS = Relation(
    "ledger_participants",
    "One row per participant of the ledger, in the order of their first offsets.",
    """
    SELECT participant_id FROM ledger_updates GROUP BY ALL ORDER BY min("offset")
    """,
    tables=("ledger_updates",),
)

SYNCHRONIZERS = Relation(
    "synchronizers_of_history",
    "One row: the synchronizers of the history, without the suffix that some nodes add to their ids.",
    f"""
    SELECT list(DISTINCT {logical_id("synchronizer_id")}) AS synchronizers FROM verdicts
    """,
    tables=("verdicts",),
)
FIRST_UPDATES = Relation(
    "first_updates",
    "One row per update of the participant's ledger. If several have the same id, the first counts.",
    """
    SELECT DISTINCT ON (update_id) update_id, "offset", record_time, kind, paid_traffic_cost, synchronizer_id
    FROM own_updates
    ORDER BY "offset"
    """,
    relations=(OWN_UPDATES,),
)
PAID_AND_TOTAL = Relation(
    "paid_and_total",
    "One row per update or request in either source.",
    f"""
    SELECT
        coalesce(requests.update_id, paid.update_id) AS update_id,
        coalesce(requests.record_time, paid.record_time) AS record_time,
        paid."offset",
        paid.kind::VARCHAR AS kind,
        paid.paid_traffic_cost,
        owner.has_all,
        paid.update_id IS NOT NULL AS in_ledger,
        requests.update_id IS NOT NULL AS in_history,
        requests.verdict_result::VARCHAR AS verdict_result,
        requests.total_traffic_cost,
        -- Only the participant of an update pays for it.
        coalesce(
            regexp_replace(requests.submitting_participant_uid, '^PAR::', '') = owner.participant,
            CASE WHEN paid.paid_traffic_cost IS NOT NULL THEN true END
        ) AS is_own,
        coalesce(
            requests.update_id IS NULL AND NOT list_contains(synchronizers, {logical_id("paid.synchronizer_id")}), false
        ) AS is_elsewhere
    FROM requests
    FULL JOIN first_updates AS paid ON requests.update_id = paid.update_id
    CROSS JOIN owner
    CROSS JOIN synchronizers_of_history
    """,
    relations=(REQUESTS, FIRST_UPDATES, SYNCHRONIZERS),
    parameters=(OWNER,),
)
COMPARED_COSTS = Relation(
    "compared_costs",
    "One row per update or request in either source, with outcome and reason from the first condition that it meets.",
    """
    SELECT * EXCLUDE (judgment), judgment.outcome, judgment.why
    FROM (
        SELECT
            paid_and_total.*,
            paid_traffic_cost - total_traffic_cost AS difference,
            first_time IS NOT NULL AND NOT is_elsewhere AS is_inside,
            CASE
                WHEN is_elsewhere THEN {'outcome': 'not comparable', 'why': 'another synchronizer'}
                WHEN NOT is_inside THEN {'outcome': 'not comparable', 'why': 'outside the common time'}
                WHEN kind = 'topology' THEN {'outcome': 'not comparable', 'why': 'topology transaction'}
                WHEN NOT is_own THEN {'outcome': 'not comparable', 'why': 'request of another participant'}
                WHEN NOT in_ledger AND is_own IS NULL
                THEN {'outcome': 'not comparable', 'why': 'no verdict, so the participant is unknown'}
                WHEN NOT in_ledger AND verdict_result = 'VERDICT_RESULT_REJECTED'
                THEN {'outcome': 'only in history', 'why': 'rejected'}
                WHEN NOT in_ledger THEN {'outcome': 'only in history', 'why': NULL}
                WHEN paid_traffic_cost IS NULL THEN {'outcome': 'not comparable', 'why': 'no paid cost in the ledger'}
                WHEN NOT in_history AND NOT has_all
                THEN {'outcome': 'not comparable', 'why': 'not among the chosen requests of the history'}
                WHEN NOT in_history THEN {'outcome': 'only in ledger', 'why': NULL}
                WHEN total_traffic_cost IS NULL THEN {'outcome': 'not comparable', 'why': 'no traffic summary in the history'}
                WHEN paid_traffic_cost = total_traffic_cost THEN {'outcome': 'equal', 'why': NULL}
                ELSE {'outcome': 'different', 'why': NULL}
            END AS judgment
        FROM paid_and_total
        LEFT JOIN common_times ON record_time BETWEEN first_time AND last_time
    )
    """,
    relations=(PAID_AND_TOTAL,),
    parameters=(COMMON_TIMES,),
)
