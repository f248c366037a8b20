"""Relations of the nodes that create and end names, and of what is paid for names.

These nodes are few. The names of their templates do not contain the network's word for its coin, so files are filtered by them.
"""

from __future__ import annotations

from ledgerframes.datasets.templates import COIN, DSO_RULES, NAME_ENTRY, NAME_RULES
from ledgerframes.engine.amounts import amount_of, exact, member
from ledgerframes.engine.coin_exercises import NAME_PAYMENTS
from ledgerframes.engine.literals import one_of, quoted
from ledgerframes.engine.nodes import CONTRACTS, NETWORK, contracts_from, exercises, exercises_in, nodes_of, payloads_above
from ledgerframes.engine.relation import Relation

# -- contracts ----------------------------------------------------------------------------------------------------------

ENTRIES = nodes_of(
    "entries", "One row per node that creates the contract of a name.", is_create=True, templates=(NAME_ENTRY,), are_few=True
)
NAMES_CREATED = Relation(
    "names",
    "One row per contract of a name that the frames create.",
    """
    SELECT migration_id, record_time, update_id, node_index, depth, create_arguments
    FROM entries
    WHERE is_signed
    """,
    relations=(ENTRIES,),
)
CONTRACTS_OF_NAMES = contracts_from(
    ENTRIES,
    "contracts_of_names",
    "One row per contract of a name that is created in the frames or in the snapshot.",
    (NAME_ENTRY,),
)
NAMES_EXPIRED = exercises("expiries_of_names", "choice = 'AnsEntry_Expire'", CONTRACTS_OF_NAMES, (NAME_ENTRY,))
NODES_OF_RULES = nodes_of(
    "nodes_of_rules", "One row per node that creates a contract of rules.", is_create=True, templates=(DSO_RULES,)
)
RULES_CREATED = Relation(
    "rules",
    "One row per contract of the network's rules that the frames create.",
    "SELECT update_id, node_index, depth FROM nodes_of_rules WHERE is_signed",
    relations=(NODES_OF_RULES,),
    is_materialized=True,
)

# -- what is above names ------------------------------------------------------------------------------------------------

RULES_OF_NAMES = nodes_of(
    "rules_of_names", "One row per exercise of the rules of names.", is_create=False, templates=(NAME_RULES,)
)
UPDATES_OF_NAMES = Relation(
    "updates_of_names",
    "One row per update that creates the contract of a name, or contains a payment for a name.",
    f"""
    SELECT update_id FROM names
    UNION
    SELECT update_id FROM rules_of_names WHERE choice IN {one_of(NAME_PAYMENTS)}
    """,
    relations=(NAMES_CREATED, RULES_OF_NAMES),
    is_materialized=True,
)
EXERCISES = exercises_in(UPDATES_OF_NAMES)
CONTRACTS_EXERCISED = Relation(
    "contracts_exercised",
    "One row per contract of the network with an exercise in an update that creates a name or contains a payment for one.",
    f"""
    FROM contracts
    SEMI JOIN {EXERCISES.name} USING (contract_id)
    """,
    relations=(CONTRACTS, EXERCISES),
    is_materialized=True,
)
ABOVE_NAMES = payloads_above(NAMES_CREATED, EXERCISES)
CHOICES_ABOVE_NAMES = Relation(
    "choices_above_names",
    "One row per contract of a name with an exercise above it: the choices of the network above, and the index of the payment.",
    f"""
    SELECT
        above.update_id,
        above.node_index,
        max(above_index) FILTER (WHERE choice IN {one_of(NAME_PAYMENTS)}) AS payment_index,
        list(choice) FILTER (WHERE coalesce(contracts.is_signed, true)) AS choices
    FROM {ABOVE_NAMES.name} AS above
    LEFT JOIN contracts_exercised AS contracts USING (contract_id)
    GROUP BY above.update_id, above.node_index
    """,
    relations=(ABOVE_NAMES, CONTRACTS_EXERCISED),
)

# -- fees ---------------------------------------------------------------------------------------------------------------

COINS_ENDED = Relation(
    "coins_ended",
    "One row per coin that is archived in an update that creates a name or contains a payment for one.",
    f"""
    SELECT update_id, node_index, depth, contract_id
    FROM {EXERCISES.name}
    WHERE is_consuming AND template = {quoted(COIN)}
    """,
    relations=(EXERCISES,),
)
ABOVE_COINS = payloads_above(COINS_ENDED, EXERCISES)
FEES = Relation(
    "fees_of_names",
    "One row per payment for a name: the amounts of the coins of the network's party that are archived right below it.",
    f"""
    SELECT update_id, payment_index, list({amount_of("text")}) AS fees
    FROM (
        SELECT coins.update_id, payment_index, {member(exact("create_arguments"), "'$.amount.initialAmount'")} AS text
        FROM contracts_exercised
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
        WHERE coins.choice IN {one_of(NAME_PAYMENTS)}
            AND template = {quoted(COIN)}
            AND {member("create_arguments", "'$.owner'")} = dso
    )
    GROUP BY update_id, payment_index
    """,
    relations=(CONTRACTS_EXERCISED, ABOVE_COINS, COINS_ENDED),
    parameters=(NETWORK,),
)
