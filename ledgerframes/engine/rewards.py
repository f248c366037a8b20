"""Relations of the steps from the activity of a round to its coupons."""

from __future__ import annotations

from ledgerframes.datasets.templates import (
    CALCULATE_REWARDS,
    COIN_RULES,
    CONFIRMATION,
    DSO_RULES,
    PROCESS_REWARDS,
    REWARD_COUPON,
)
from ledgerframes.engine.amounts import amount_of, member, members
from ledgerframes.engine.coin_exercises import CLAIMS, UNHIDE
from ledgerframes.engine.literals import one_of, quoted
from ledgerframes.engine.nodes import CREATED_AND_OLDER, OLDER_CONTRACTS, exercises_in, nodes_of, payloads_above
from ledgerframes.engine.relation import Relation

PUBLISHED_WEIGHTS = Relation(
    "published_weights",
    "One row per round and party with activity records: the sum of their weights.",
    """
    SELECT round_number, party, sum(weight) AS weight, count(*) AS records
    FROM activity_records
    WHERE weight >= 0
    GROUP BY ALL
    """,
    tables=("activity_records",),
)
STEP = "migration_id, record_time, update_id, event_id, parent_event_id, node_index, contract_id, template, choice"
PROCESSES = one_of(["CoinRules_StartProcessingRewardsV2", "ProcessRewardsV2_ProcessBatch"])
CONTENT = {"party": "$.provider", "round": "$.round.number", "amount": "$.amount", "kind": "$.kind"}
OF_RULES = one_of([COIN_RULES, DSO_RULES])
OF_STEPS = one_of([COIN_RULES, DSO_RULES, PROCESS_REWARDS])


def other_contracts(nodes: Relation) -> Relation:
    """Return the contracts with rules or rewards that the network's party does not sign.

    They come from nodes that are read anyway, because reading the signatories of all contracts would take as long as the rest.
    """
    query = f"""
    SELECT contract_id FROM {nodes.name} WHERE choice = '' AND NOT is_signed
    UNION ALL
    SELECT contract_id
    FROM older_contracts
    ANTI JOIN created_and_older USING (contract_id)
    WHERE template IN {OF_STEPS} AND NOT is_signed
    """
    rows = f"One row per contract of {nodes.name} or the snapshot that the network's party does not sign."
    return Relation(f"others_in_{nodes.name}", rows, query, relations=(nodes, CREATED_AND_OLDER, OLDER_CONTRACTS))


STEPS = nodes_of(
    "steps",
    "One row per contract and exercise that can lead from the end of a round to its coupons, and per contract with rules.",
    condition=f"""(
            template IN {OF_STEPS} AND (node_names.choice = '' OR node_names.choice IN {PROCESSES})
            OR node_names.choice = '' AND template = {quoted(CALCULATE_REWARDS)}
            OR node_names.choice = '' AND template = {quoted(CONFIRMATION)}
                AND contains(create_arguments, 'StartProcessingRewardsV2')
        )""",
    are_few=True,
)
OTHERS_IN_STEPS = other_contracts(STEPS)
REWARD_STEPS = Relation(
    "reward_steps",
    "One row per contract and exercise that leads from the end of a round to its coupons, and per version of the DSO's rules.",
    f"""
    SELECT {STEP}, CASE WHEN choice = '' THEN create_arguments END AS create_arguments, choice_argument
    FROM steps
    ANTI JOIN {OTHERS_IN_STEPS.name} USING (contract_id)
    WHERE choice <> '' OR is_signed AND template <> {quoted(COIN_RULES)}
    """,
    relations=(STEPS, OTHERS_IN_STEPS),
)
NODES_OF_COUPONS = nodes_of(
    "nodes_of_coupons",
    "One row per node that creates or archives a coupon of rewards for traffic, and per contract with rules.",
    condition=f"""(
            template = {quoted(REWARD_COUPON)} AND (node_names.choice = '' OR consuming)
            OR node_names.choice = '' AND template IN {OF_RULES}
        )""",
    are_few=True,
)
OTHERS_IN_COUPONS = other_contracts(NODES_OF_COUPONS)
REWARD_COUPONS_CREATED = Relation(
    "reward_coupons_created",
    "One row per coupon of rewards for traffic.",
    f"FROM nodes_of_coupons WHERE template = {quoted(REWARD_COUPON)} AND choice = '' AND is_signed",
    relations=(NODES_OF_COUPONS,),
)
REWARD_COUPONS_ENDED = Relation(
    "reward_coupons_ended",
    "One row per exercise that archives a coupon of rewards for traffic.",
    "FROM nodes_of_coupons WHERE choice <> ''",
    relations=(NODES_OF_COUPONS,),
)
EXERCISES = exercises_in(NODES_OF_COUPONS)
ABOVE_CREATED, ABOVE_ENDED = (payloads_above(each, EXERCISES) for each in (REWARD_COUPONS_CREATED, REWARD_COUPONS_ENDED))


def ended_below(name: str, rows: str, choices: str) -> Relation:
    """Return the exercises that archive a coupon below choices of the network's rules."""
    query = f"""
    SELECT DISTINCT update_id, node_index
    FROM {ABOVE_ENDED.name}
    ANTI JOIN {OTHERS_IN_COUPONS.name} USING (contract_id)
    WHERE choice IN {choices} AND template IN {OF_RULES}
    """
    return Relation(name, rows, query, relations=(ABOVE_ENDED, OTHERS_IN_COUPONS))


CLAIMED = ended_below("claimed_coupons", "One row per exercise that archives a coupon below a claim of expired rewards.", CLAIMS)
UNHIDDEN = ended_below("unhidden_coupons", "One row per exercise that archives a coupon to create it again.", one_of([UNHIDE]))
BATCHES = Relation(
    "batches_of_coupons",
    "One row per coupon of rewards for traffic: the exercise of the network right above its create.",
    f"""
    SELECT
        update_id,
        node_index,
        arg_max(choice, above_index) AS choice,
        arg_max(contract_id, above_index) AS contract_id
    FROM {ABOVE_CREATED.name}
    GROUP BY update_id, node_index
    """,
    relations=(ABOVE_CREATED,),
)
REPLACEMENTS = Relation(
    "replacements_of_coupons",
    "One row per coupon that is archived to create it again, with the only new coupon of the same content.",
    f"""
    SELECT hidden.contract_id, any_value(new.contract_id) AS new_contract_id
    FROM unhidden_coupons
    JOIN reward_coupons_ended AS ended USING (update_id, node_index)
    JOIN reward_coupons_created AS hidden ON hidden.contract_id = ended.contract_id
    JOIN (
        SELECT update_id, created.contract_id, create_arguments
        FROM reward_coupons_created AS created
        JOIN batches_of_coupons USING (update_id, node_index)
        WHERE batches_of_coupons.choice = {quoted(UNHIDE)}
    ) AS new
        ON new.update_id = ended.update_id
        AND {members("new.create_arguments", CONTENT)} = {members("hidden.create_arguments", CONTENT)}
    GROUP BY hidden.contract_id
    HAVING count(*) = 1
    """,
    relations=(UNHIDDEN, REWARD_COUPONS_ENDED, REWARD_COUPONS_CREATED, BATCHES),
)
REWARD_COUPONS = Relation(
    "reward_coupons",
    "One row per coupon that a batch of rewards creates, with what became of it, or of the coupon that was created again.",
    f"""
    SELECT
        batches_of_coupons.contract_id AS batch_contract_id,
        created.contract_id,
        {member("create_arguments", "'$.provider'")} AS party,
        {amount_of(member("create_arguments", "'$.amount'"))} AS amount,
        CASE WHEN ended.is_claimed THEN 'expired' WHEN ended.contract_id IS NOT NULL THEN 'used' ELSE 'open' END AS fate
    FROM reward_coupons_created AS created
    JOIN batches_of_coupons USING (update_id, node_index)
    LEFT JOIN replacements_of_coupons AS replacements ON replacements.contract_id = created.contract_id
    LEFT JOIN (
        SELECT contract_id, bool_or(claimed_coupons.update_id IS NOT NULL) AS is_claimed
        FROM reward_coupons_ended
        ANTI JOIN unhidden_coupons USING (update_id, node_index)
        LEFT JOIN claimed_coupons USING (update_id, node_index)
        GROUP BY contract_id
    ) AS ended ON ended.contract_id = coalesce(replacements.new_contract_id, created.contract_id)
    WHERE batches_of_coupons.choice = 'ProcessRewardsV2_ProcessBatch'
    """,
    relations=(REWARD_COUPONS_CREATED, REWARD_COUPONS_ENDED, CLAIMED, UNHIDDEN, REPLACEMENTS, BATCHES),
)
