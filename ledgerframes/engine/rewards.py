"""Relations of the steps from the activity of a round to its coupons."""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, member
from ledgerframes.engine.coupons import PARENTS
from ledgerframes.engine.nodes import NODES, exercises, nodes_of
from ledgerframes.engine.relation import Relation

PUBLISHED_WEIGHTS = Relation(
    "published_weights",
    "One row per round and party with records.",
    """
    SELECT round_number, party, sum(weight) AS weight, count(*) AS records
    FROM activity_records
    WHERE weight >= 0
    GROUP BY ALL
    """,
    tables=("activity_records",),
)
STEP = "migration_id, record_time, update_id, node_index, contract_id, template, choice"
PROCESSING = exercises("processing", "choice IN ('CoinRules_StartProcessingRewardsV2', 'ProcessRewardsV2_ProcessBatch')")
REWARD_STEPS = Relation(
    "reward_steps",
    "One row per contract and exercise that leads from the end of a round to its coupons, and per version of the DSO's rules.",
    f"""
    SELECT {STEP}, create_arguments, choice_argument
    FROM nodes
    WHERE choice = '' AND is_signed
        AND (
            template IN (
                'Splice.Coin.RewardAccountingV2:CalculateRewardsV2',
                'Splice.Coin.RewardAccountingV2:ProcessRewardsV2',
                'Splice.DsoRules:DsoRules'
            )
            OR template = 'Splice.DsoRules:Confirmation' AND contains(create_arguments, 'StartProcessingRewardsV2')
        )
    UNION ALL
    SELECT {STEP}, create_arguments, choice_argument
    FROM processing
    """,
    relations=(NODES, PROCESSING),
)
REWARD_STEPS_BELOW = Relation(
    "reward_steps_below",
    "One row per such step, with the node right above it.",
    """
    SELECT reward_steps.*, event_id, parent_event_id
    FROM reward_steps
    JOIN tree_events USING (update_id, node_index)
    """,
    tables=("tree_events",),
    relations=(REWARD_STEPS,),
)
PROCESSED = nodes_of("processed", "One row per exercise, again.", is_create=False)
ARCHIVING = nodes_of("archiving", "One row per exercise, again.", is_create=False)
REWARD_COUPONS = Relation(
    "reward_coupons",
    "One row per coupon that a batch of rewards creates, with what became of it.",
    f"""
    SELECT
        above.contract_id AS batch_contract_id,
        nodes.contract_id,
        {member("nodes.create_arguments", "'$.provider'")} AS party,
        {amount_of(member("nodes.create_arguments", "'$.amount'"))} AS amount,
        CASE WHEN ends.is_claimed THEN 'expired' WHEN ends.contract_id IS NOT NULL THEN 'used' ELSE 'open' END AS fate
    FROM nodes
    JOIN parents ON parents.update_id = nodes.update_id AND parents.node_index = nodes.node_index
    JOIN (FROM processed WHERE choice = 'ProcessRewardsV2_ProcessBatch') AS above
        ON above.update_id = nodes.update_id AND above.node_index = parents.parent_index
    LEFT JOIN (
        SELECT contract_id, bool_or(coalesce(is_claimed, false)) AS is_claimed
        FROM archiving
        LEFT JOIN parents USING (update_id, node_index)
        WHERE is_consuming AND template = 'Splice.Coin:RewardCouponV2'
        GROUP BY contract_id
    ) AS ends ON ends.contract_id = nodes.contract_id
    WHERE nodes.choice = '' AND nodes.is_signed AND nodes.template = 'Splice.Coin:RewardCouponV2'
        AND parents.parent_choice = 'ProcessRewardsV2_ProcessBatch'
    """,
    relations=(NODES, PROCESSED, ARCHIVING, PARENTS),
)
