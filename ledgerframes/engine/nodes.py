"""Relations of the nodes of transaction trees, and of the contracts that they create."""

from __future__ import annotations

from collections.abc import Sequence

from ledgerframes.datasets.templates import DSO_RULES, ISSUING_ROUND, MEMBER_TRAFFIC, OPEN_ROUND
from ledgerframes.engine.literals import one_of, quoted
from ledgerframes.engine.relation import Parameter, Relation

NETWORK = Parameter(
    "network",
    "One row: the network's word for its coin, the same with a capital letter, and the party that signs the network's contracts.",
)
NODE_NAMES = Parameter(
    "node_names",
    "One row per package of the network, template and choice of nodes, with names in which Coin stands for the network's word.",
)
OLDER = Parameter("older", "One row per contract of a snapshot before the frames.")
# Only these packages have templates of the network. The word for the coin differs from network to network.
TEMPLATE = """CASE
            WHEN package_name IN ('splice-' || coin, 'splice-' || coin || '-name-service', 'splice-dso-governance')
            THEN replace(template_name, coin_word, 'Coin')
            ELSE ''
        END"""


def nodes_of(
    name: str,
    rows: str,
    *,
    is_create: bool | None = None,
    templates: Sequence[str] = (),
    condition: str = "",
    are_few: bool = False,
    names: Relation | None = None,
) -> Relation:
    """Return the nodes of the network's packages.

    `is_create` selects the nodes that create a contract, or the others. `templates` selects nodes of these templates, whose
    names must not contain the network's word for its coin, because files are filtered by them. `condition` selects nodes that
    meet it. `names`, a relation of some rows of ``node_names`` with more columns, selects nodes with these names and adds the
    columns.

    The engine keeps the nodes if they `are_few`. Otherwise each reader needs its own relation, because the engine would keep
    rows that several readers share, payloads included.
    """
    conditions = [] if is_create is None else [f"node_names.choice {'=' if is_create else '<>'} ''"]
    conditions += _of_templates(templates) if templates else []
    conditions += [condition] if condition else []
    query = f"""
    SELECT
        migration_id,
        record_time,
        update_id,
        event_id,
        parent_event_id,
        node_index,
        depth,
        contract_id,
        {"node_names.* EXCLUDE (package_name, template_name, sent_choice)" if names else "template, node_names.choice"},
        coalesce(consuming, false) AS is_consuming,
        signatories,
        coalesce(list_contains(signatories, dso), false) AS is_signed,
        create_arguments,
        choice_argument,
        exercise_result,
        coin
    FROM tree_events
    JOIN {f"{names.name} AS " if names else ""}node_names
        ON node_names.package_name = tree_events.package_name
        AND node_names.template_name IS NOT DISTINCT FROM tree_events.template_name
        AND node_names.sent_choice IS NOT DISTINCT FROM tree_events.choice
    CROSS JOIN network
    WHERE {" AND ".join(conditions) or "true"}
    """
    relations = (names,) if names else ()
    parameters = (NETWORK,) if names else (NETWORK, NODE_NAMES)
    return Relation(name, rows, query, ("tree_events",), relations, parameters, is_materialized=are_few)


def _of_templates(templates: Sequence[str]) -> list[str]:
    """Return the conditions on nodes of these templates."""
    return [
        # DuckDB compares with a range while it reads a file, and with a list only afterwards, when it has decoded all columns.
        f"tree_events.template_name BETWEEN {quoted(min(templates))} AND {quoted(max(templates))}",
        f"template IN {one_of(templates)}",
    ]


NODES = nodes_of("nodes", "One row per node of the network's packages, with the neutral word for the coin.")
TRAFFIC_CREATED = nodes_of(
    "traffic_created",
    "One row per node that creates a contract of bought traffic.",
    is_create=True,
    templates=(MEMBER_TRAFFIC,),
)
TRAFFIC_CONTRACTS = Relation(
    "traffic_contracts",
    "One row per contract of bought traffic that the frames create.",
    "FROM traffic_created WHERE is_signed",
    relations=(TRAFFIC_CREATED,),
    is_materialized=True,
)
CREATES = nodes_of("creates", "One row per node of the network's packages that creates a contract.", is_create=True)
OLDER_CONTRACTS = Relation(
    "older_contracts",
    "One row per contract of the network's packages in the snapshot.",
    f"""
    SELECT
        contract_id,
        {TEMPLATE} AS template,
        coalesce(list_contains(signatories, dso), false) AS is_signed,
        signatories,
        create_arguments
    FROM older, network
    WHERE package_name LIKE 'splice-%'
    """,
    parameters=(NETWORK, OLDER),
    is_materialized=False,
)
CREATED_AND_OLDER = Relation(
    "created_and_older",
    "One row per contract of the snapshot that is also created in the frames.",
    """
    SELECT contract_id
    FROM tree_events
    SEMI JOIN older USING (contract_id)
    WHERE package_name LIKE 'splice-%' AND choice IS NULL
    """,
    tables=("tree_events",),
    parameters=(OLDER,),
)


def contracts_from(created: Relation, name: str, rows: str, templates: Sequence[str] = ()) -> Relation:
    """Return the contracts that are created in the frames or are in the snapshot before.

    `templates` are those of the contracts in `created`, and select those of the snapshot.
    """
    query = f"""
    SELECT
        migration_id,
        record_time,
        update_id,
        node_index,
        depth,
        contract_id,
        template,
        is_signed,
        signatories,
        create_arguments
    FROM {created.name}
    UNION ALL BY NAME
    FROM older_contracts
    ANTI JOIN created_and_older USING (contract_id)
    {f"WHERE template IN {one_of(templates)}" if templates else ""}
    """
    return Relation(name, rows, query, relations=(created, CREATED_AND_OLDER, OLDER_CONTRACTS), is_materialized=False)


CONTRACTS = contracts_from(
    CREATES,
    "contracts",
    "One row per contract of the network's packages that is created in the frames or is in the snapshot before them.",
)

OF_RULES_AND_ROUNDS = (DSO_RULES, OPEN_ROUND, ISSUING_ROUND)
NODES_OF_ROUNDS = nodes_of(
    "nodes_of_rounds", "One row per node of the network's rules and rounds.", templates=OF_RULES_AND_ROUNDS
)
RULES_AND_ROUNDS = Relation(
    "rules_and_rounds",
    "One row per contract of the network's rules and rounds, and per archival of one.",
    f"""
    FROM nodes_of_rounds
    WHERE choice = '' OR is_consuming
    UNION ALL BY NAME
    SELECT *, false AS is_consuming
    FROM older_contracts
    ANTI JOIN created_and_older USING (contract_id)
    WHERE template IN {one_of(OF_RULES_AND_ROUNDS)}
    """,
    relations=(NODES_OF_ROUNDS, CREATED_AND_OLDER, OLDER_CONTRACTS),
)


def exercises(name: str, condition: str, contracts: Relation = CONTRACTS, templates: Sequence[str] = ()) -> Relation:
    """Return the exercises that meet a condition on their nodes.

    `templates` selects exercises on contracts of these templates, all of which `contracts` must have.
    """
    rows = "One row per exercise of the network's packages."
    nodes = nodes_of(f"nodes_of_{name}", rows, is_create=False, templates=templates)
    query = f"""
    SELECT chosen.* REPLACE (contracts.create_arguments AS create_arguments)
    FROM {contracts.name} AS contracts
    -- The engine keeps the right side of a join in memory. Here, it has few rows.
    RIGHT JOIN (FROM {nodes.name} WHERE {condition}) AS chosen ON chosen.contract_id = contracts.contract_id
    WHERE coalesce(contracts.is_signed, true)
    """
    rows = f"One row per exercise with {condition} on a contract of the network or an unknown one, with the contract's payload."
    return Relation(name, rows, query, relations=(nodes, contracts), is_materialized=False)


def exercises_in(updates: Relation) -> Relation:
    """Return the relation of the exercises in the updates of another, which are few."""
    return Relation(
        f"exercises_in_{updates.name}",
        f"One row per exercise in the updates of {updates.name}.",
        f"""
        SELECT
            update_id,
            node_index,
            depth,
            contract_id,
            coalesce(node_names.choice <> '', false) AS is_of_network,
            node_names.template,
            node_names.choice,
            coalesce(consuming, false) AS is_consuming,
            choice_argument,
            exercise_result
        FROM tree_events
        SEMI JOIN {updates.name} USING (update_id)
        LEFT JOIN node_names
            ON node_names.package_name = tree_events.package_name
            AND node_names.template_name IS NOT DISTINCT FROM tree_events.template_name
            AND node_names.sent_choice = tree_events.choice
        WHERE tree_events.choice IS NOT NULL
        """,
        tables=("tree_events",),
        relations=(updates,),
        parameters=(NODE_NAMES,),
        is_materialized=True,
    )


def payloads_above(below: Relation, in_updates: Relation | None = None) -> Relation:
    """Return the relation of the exercises of the network above the nodes of another.

    The nodes must be few. `in_updates` has at least the exercises in their updates (default: read from the stored table).
    """
    all_exercises = in_updates or exercises_in(below)
    return Relation(
        f"payloads_above_{below.name}",
        f"One row per node of {below.name} and exercise of the network above it.",
        f"""
        SELECT above.*, contract_id, template, choice, choice_argument, exercise_result
        FROM {all_exercises.name} AS exercised
        JOIN (
            -- In pre-order, the node above at some depth is the last earlier one of that depth.
            SELECT below.update_id, below.node_index, max(above.node_index) AS above_index
            FROM {all_exercises.name} AS above
            JOIN {below.name} AS below
                ON above.update_id = below.update_id AND above.node_index < below.node_index AND above.depth < below.depth
            GROUP BY below.update_id, below.node_index, above.depth
        ) AS above ON exercised.update_id = above.update_id AND exercised.node_index = above_index
        WHERE is_of_network
        """,
        relations=(below, all_exercises),
    )
