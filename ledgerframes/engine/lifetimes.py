"""Relations of the lifetimes of contracts that hold the state of the network.

The caller passes ``base_contracts``, the contracts of an earlier snapshot, or an empty table.
"""

from __future__ import annotations

from ledgerframes.datasets.templates import DSO_RULES, OF_STATE, OPEN_ROUND
from ledgerframes.engine.literals import quoted
from ledgerframes.engine.relation import Relation

# Only these templates hold state. The word for the coin differs from network to network.
IS_STATE = f"regexp_full_match(template_name, {quoted(OF_STATE)})"
CREATED = Relation(
    "state_creates",
    "One row per contract with state that is created in the frames or is in the snapshot before them.",
    f"""
    SELECT DISTINCT ON (contract_id) *
    FROM (
        SELECT
            'history' AS source,
            record_time AS since,
            created_at AS effective_from,
            contract_id,
            update_id,
            template_name,
            package_name,
            signatories,
            create_arguments
        FROM tree_events
        -- Not as a plain condition, because Arrow would copy the payloads of all nodes that meet it.
        WHERE coalesce(event_type, '') = 'created_event' AND {IS_STATE}
        UNION ALL BY NAME
        SELECT
            'snapshot' AS source,
            created_at AS since,
            created_at AS effective_from,
            contract_id,
            template_name,
            package_name,
            signatories,
            create_arguments
        FROM base_contracts
        WHERE {IS_STATE}
    )
    ORDER BY source, since
    """,
    tables=("tree_events", "base_contracts"),
    is_materialized=True,
)
ENDS = Relation(
    "state_ends",
    "One row per archived contract with state or rules: its first consuming exercise.",
    f"""
    SELECT DISTINCT ON (contract_id) contract_id, template_name, record_time AS until, update_id
    FROM tree_events
    WHERE consuming AND (contract_id IN (SELECT contract_id FROM state_creates) OR template_name = {quoted(DSO_RULES)})
    ORDER BY record_time, update_id
    """,
    tables=("tree_events",),
    relations=(CREATED,),
    is_materialized=True,
)
LIFETIMES = Relation(
    "lifetimes",
    "One row per contract with state, with its start and end.",
    f"""
    SELECT
        state_creates.*,
        state_ends.until,
        updates.effective_at AS effective_until,
        -- Rules that replace others do not start the network.
        state_creates.update_id IN (SELECT update_id FROM state_ends WHERE template_name = {quoted(DSO_RULES)}) AS replaces_rules
    FROM state_creates
    LEFT JOIN state_ends USING (contract_id)
    LEFT JOIN updates ON updates.update_id = state_ends.update_id
    """,
    tables=("updates",),
    relations=(CREATED, ENDS),
)
ROUNDS_CREATED = Relation(
    "rounds_created",
    "One row per contract of any package whose template has the name of that for open mining rounds.",
    f"""
    SELECT template_name, package_name, create_arguments, signatories
    FROM tree_events
    WHERE event_type = 'created_event' AND template_name = {quoted(OPEN_ROUND)}
    """,
    tables=("tree_events",),
)
