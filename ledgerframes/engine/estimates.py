"""Relations that put actual costs next to estimates."""

from __future__ import annotations

from ledgerframes.engine.relation import Parameter, Relation
from ledgerframes.engine.requests import REQUESTS, ROOT_NODES

ESTIMATES = Parameter("estimates", "One row per estimate, with the key of the request or command.")
REQUEST_COSTS = Relation(
    "request_costs",
    "One row per confirmation request, with its cost and whether it was rejected.",
    """
    SELECT
        update_id,
        record_time,
        total_traffic_cost AS cost,
        coalesce(verdict_result = 'VERDICT_RESULT_REJECTED', false) AS is_rejected
    FROM requests
    """,
    relations=(REQUESTS,),
)
LEDGER_COSTS = Relation(
    "ledger_costs",
    "One row per update of one of your participants, with the cost that it paid.",
    """
    SELECT
        participant_id,
        "offset",
        update_id,
        command_id,
        record_time,
        CASE WHEN paid_traffic_cost >= 0 THEN paid_traffic_cost END AS cost,
        false AS is_rejected
    FROM ledger_updates
    """,
    tables=("ledger_updates",),
)
KINDS = Relation(
    "kinds",
    "One row per visible update, with its kind.",
    """
    SELECT update_id, kind FROM updates
    """,
    tables=("updates",),
)


def outcomes(costs: Relation, key: str, *, has_kinds: bool) -> Relation:
    """Return all requests and all estimates, each once and with its outcome."""
    query = f"""
    SELECT
        coalesce(update_id, estimated_update_id) AS update_id,
        record_time,
        cost,
        request_bytes,
        -- 0 is matched, 1 rejected, 2 no actual cost, 3 no estimate.
        CASE WHEN request_bytes IS NULL THEN 3 WHEN is_rejected THEN 1 WHEN cost IS NOT NULL THEN 0 ELSE 2 END AS outcome_number
    FROM {costs.name}
    FULL JOIN estimates ON estimates.id = {costs.name}.{key}
    """
    description = "One row per request, and per estimate without one."
    rows = Relation("outcomes", description, query, relations=(costs,), parameters=(ESTIMATES,))
    if not has_kinds:
        return rows
    with_kinds = """
    SELECT outcomes.*, root_nodes.* EXCLUDE (update_id), coalesce(kinds.kind, 'not visible') AS kind
    FROM outcomes
    LEFT JOIN root_nodes USING (update_id)
    LEFT JOIN kinds USING (update_id)
    """
    return Relation("outcomes_by_kind", "One row per outcome, with its kind.", with_kinds, relations=(rows, ROOT_NODES, KINDS))
