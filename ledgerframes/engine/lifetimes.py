"""Relations of the lifetimes of contracts that hold the state of the network.

The caller passes ``base_contracts``, the contracts of an earlier snapshot, or none.
"""

from __future__ import annotations

from ledgerframes.engine.relation import Relation

RULES = "'Splice.DsoRules:DsoRules'"
# Only these templates hold state. The word for the coin differs from network to network.
IS_STATE = r"""regexp_full_match(
        template_name, 'Splice\.(DsoRules:DsoRules|Round:OpenMiningRound|\w+:FeaturedAppRight|\w+Rules:\w+Rules)'
    )"""
CREATED = Relation(
    "created",
    "One row per contract of such a template that the frames create, or that the snapshot before them has.",
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
    is_kept=True,
)
ENDS = Relation(
    "ends",
    "One row per contract of them that is archived, and per contract with rules: its first consuming exercise.",
    f"""
    SELECT DISTINCT ON (contract_id) contract_id, template_name, record_time AS until, update_id
    FROM tree_events
    WHERE consuming AND (contract_id IN (SELECT contract_id FROM created) OR template_name = {RULES})
    ORDER BY record_time, update_id
    """,
    tables=("tree_events",),
    relations=(CREATED,),
    is_kept=True,
)
LIFETIMES = Relation(
    "lifetimes",
    "One row per contract of them.",
    f"""
    SELECT
        created.*,
        ends.until,
        updates.effective_at AS effective_until,
        -- Rules that replace others are no start of the network.
        created.update_id IN (SELECT update_id FROM ends WHERE template_name = {RULES}) AS replaces_rules
    FROM created
    LEFT JOIN ends USING (contract_id)
    LEFT JOIN updates ON updates.update_id = ends.update_id
    """,
    tables=("updates",),
    relations=(CREATED, ENDS),
)
ROUNDS_CREATED = Relation(
    "rounds_created",
    "One row per contract of a template with the name of that of mining rounds.",
    """
    SELECT template_name, package_name, create_arguments, signatories
    FROM tree_events
    WHERE event_type = 'created_event' AND template_name = 'Splice.Round:OpenMiningRound'
    """,
    tables=("tree_events",),
)
