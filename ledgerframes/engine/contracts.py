"""Relations of contracts that are active at a time.

The caller passes ``base_contracts``, the contracts of an earlier snapshot, or an empty table.
"""

from __future__ import annotations

from ledgerframes.engine.relation import Relation

ARCHIVALS = Relation(
    "archivals",
    "One row per exercise that consumes a contract.",
    """
    SELECT contract_id FROM tree_events WHERE consuming
    """,
    tables=("tree_events",),
    is_materialized=False,
)
REPLAYED_CONTRACTS = Relation(
    "replayed_contracts",
    "One row per contract that is in the earlier snapshot or created in the frames, and that the frames do not archive.",
    """
    FROM base_contracts
    ANTI JOIN archivals USING (contract_id)
    UNION ALL BY NAME
    SELECT
        contract_id,
        template_id,
        package_id,
        template_name,
        package_name,
        created_at,
        signatories,
        observers,
        create_arguments,
        update_id AS created_in_update_id,
        extra
    FROM (FROM tree_events WHERE event_type = 'created_event')
    ANTI JOIN archivals USING (contract_id)
    ANTI JOIN base_contracts USING (contract_id)
    """,
    tables=("tree_events", "base_contracts"),
    relations=(ARCHIVALS,),
)
SNAPSHOT_CONTRACTS = Relation(
    "snapshot",
    "One row per contract of the snapshot.",
    """
    FROM snapshot_contracts
    """,
    tables=("snapshot_contracts",),
)
