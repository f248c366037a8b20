"""Relations of what creates and ends names, and of what is paid for them.

These nodes are few among all. Their templates do not have the network's word for its coin, so that files are read by them.
"""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, exact, member
from ledgerframes.engine.coin_exercises import NAME_PAYMENTS
from ledgerframes.engine.nodes import CONTRACTS, contracts_from, exercises, nodes_of, payloads_above
from ledgerframes.engine.relation import Relation

OF_NAMES = "('Splice.Ans:AnsEntry')"
OF_RULES_OF_NAMES = "('Splice.Ans:AnsRules')"
OF_RULES = "('Splice.DsoRules:DsoRules')"

# -- contracts ----------------------------------------------------------------------------------------------------------

ENTRIES = nodes_of("entries", "One row per node that creates the contract of a name.", is_create=True, templates=OF_NAMES)
NAMES_CREATED = Relation(
    "names",
    "One row per contract of a name.",
    """
    SELECT migration_id, record_time, update_id, node_index, depth, create_arguments
    FROM entries
    WHERE is_signed
    """,
    relations=(ENTRIES,),
)
CONTRACTS_OF_NAMES = contracts_from(
    ENTRIES, "contracts_of_names", "One row per such contract, or contract of a name in the snapshot.", OF_NAMES
)
NAMES_EXPIRED = exercises("expiries_of_names", "choice = 'AnsEntry_Expire'", CONTRACTS_OF_NAMES, OF_NAMES)
NODES_OF_RULES = nodes_of(
    "nodes_of_rules", "One row per node that creates a contract of rules.", is_create=True, templates=OF_RULES
)
RULES_CREATED = Relation(
    "rules",
    "One row per contract of the network's rules.",
    "SELECT update_id, node_index, depth FROM nodes_of_rules WHERE is_signed",
    relations=(NODES_OF_RULES,),
)


def choices_above(below: Relation) -> Relation:
    """Return the relation of the lists of choices above the nodes of another."""
    exercises_above = payloads_above(below)
    return Relation(
        f"choices_above_{below.name}",
        f"One row per row of {below.name} with such an exercise above it.",
        f"""
        SELECT
            above.update_id,
            above.node_index,
            list(
                {{'node_index': above_index, 'choice': choice, 'is_own': coalesce(contracts.is_signed, true)}}
                ORDER BY above_index DESC
            ) AS exercises
        -- The engine keeps the right side of a join, which has few rows.
        FROM contracts
        RIGHT JOIN {exercises_above.name} AS above ON above.contract_id = contracts.contract_id
        GROUP BY above.update_id, above.node_index
        """,
        relations=(exercises_above, CONTRACTS),
    )


# -- fees ---------------------------------------------------------------------------------------------------------------

RULES_OF_NAMES = nodes_of(
    "rules_of_names", "One row per exercise of the rules of names.", is_create=False, templates=OF_RULES_OF_NAMES
)
EXERCISES = nodes_of("exercises_in_payments", "One row per exercise.", is_create=False)
COINS_ENDED = Relation(
    "coins_ended",
    "One row per coin that is archived in an update with a payment for a name.",
    f"""
    SELECT update_id, node_index, depth, contract_id
    FROM exercises_in_payments
    SEMI JOIN (SELECT update_id FROM rules_of_names WHERE choice IN {NAME_PAYMENTS}) USING (update_id)
    WHERE is_consuming AND template = 'Splice.Coin:Coin'
    """,
    relations=(EXERCISES, RULES_OF_NAMES),
    is_kept=True,
)
ABOVE_COINS = payloads_above(COINS_ENDED)
FEES = Relation(
    "fees_of_names",
    "One row per coin of the network's own party that is archived right below a payment for a name.",
    f"""
    SELECT update_id, payment_index, {amount_of("text")} AS amount
    FROM (
        SELECT coins.update_id, payment_index, {member(exact("create_arguments"), "'$.amount.initialAmount'")} AS text
        FROM contracts
        -- The engine keeps the right side of a join, which has few rows.
        JOIN (
            SELECT
                above.update_id,
                any_value(coins_ended.contract_id) AS contract_id,
                max(above_index) AS payment_index,
                arg_max(choice, above_index) AS choice
            FROM {ABOVE_COINS.name} AS above
            JOIN coins_ended USING (update_id, node_index)
            GROUP BY above.update_id, above.node_index
        ) AS coins USING (contract_id)
        CROSS JOIN network
        WHERE coins.choice IN {NAME_PAYMENTS}
            AND template = 'Splice.Coin:Coin'
            AND {member("create_arguments", "'$.owner'")} = dso
    )
    """,
    relations=(CONTRACTS, ABOVE_COINS, COINS_ENDED),
)
