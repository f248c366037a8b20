"""Relations of the coupons that rounds issue, and of those that expire."""

from __future__ import annotations

from ledgerframes.datasets.templates import CALCULATE_REWARDS, CLOSED_ROUND, PROCESS_REWARDS, SUMMARIZING_ROUND
from ledgerframes.engine.amounts import member, product_of, whole
from ledgerframes.engine.coin_contracts import COIN_CONTRACTS, COUPONS
from ledgerframes.engine.coin_exercises import CLAIMS, COIN_EXERCISES, ENDS, LOWER_SUMMARIES
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.literals import one_of, quoted
from ledgerframes.engine.nodes import CREATED_AND_OLDER, NODE_NAMES, OLDER_CONTRACTS, nodes_of
from ledgerframes.engine.relation import Parameter, Relation

ISSUANCES = Parameter("issuances", "One row per round and kind of coupon: the amount that is issued for a weight of 1.")
DEPENDENT = Relation(
    "dependent",
    "One row per node whose meaning can depend on an exercise above it.",
    f"""
    SELECT update_key, node_index, depth
    FROM (
        SELECT update_key, node_index, depth
        FROM coin_contracts
        WHERE kind IN ('reward', 'traffic')
        UNION ALL
        SELECT update_key, node_index, depth
        FROM ends
        WHERE is_consuming AND (kind = 'coin' OR kind IN {COUPONS})
    )
    SEMI JOIN (SELECT update_key FROM coin_exercises WHERE changes_meaning) USING (update_key)
    """,
    relations=(COIN_CONTRACTS, COIN_EXERCISES, ENDS),
    is_materialized=True,
)
BRANCHES = Relation(
    "branches",
    "One row per exercise in an update with nodes whose meaning depends on what is above them.",
    f"""
    SELECT
        update_id,
        {key_of("update_id")} AS update_key,
        node_index,
        depth,
        coalesce(node_names.choice <> '', false) AS is_of_network,
        node_names.choice
    FROM tree_events
    LEFT JOIN node_names
        ON node_names.package_name = tree_events.package_name
        AND node_names.template_name IS NOT DISTINCT FROM tree_events.template_name
        AND node_names.sent_choice = tree_events.choice
    WHERE tree_events.choice IS NOT NULL
        -- A part of the key is enough here, and several times as fast.
        AND hash(update_id) IN (
            SELECT (update_key >> 64)::UBIGINT
            FROM (SELECT update_key FROM dependent UNION SELECT update_key FROM lower_summaries)
        )
    """,
    tables=("tree_events",),
    relations=(DEPENDENT, LOWER_SUMMARIES),
    parameters=(NODE_NAMES,),
    is_materialized=True,
)


def branches_above(below: Relation) -> Relation:
    """Return the relation of the exercises above nodes, from those of ``branches``."""
    return Relation(
        f"branches_above_{below.name}",
        f"One row per node of {below.name} and exercise above it.",
        f"""
        -- In pre-order, the node above at some depth is the last earlier one of that depth.
        SELECT below.update_key, below.node_index, max(above.node_index) AS above_index
        FROM {below.name} AS below
        JOIN branches AS above
            ON above.update_key = below.update_key AND above.node_index < below.node_index AND above.depth < below.depth
        GROUP BY below.update_key, below.node_index, above.depth
        """,
        relations=(below, BRANCHES),
    )


ABOVE_DEPENDENT = branches_above(DEPENDENT)
PARENTS = Relation(
    "parents",
    "One row per node whose meaning depends on one above it: the choice right above, and whether a claim of rewards is above.",
    f"""
    SELECT
        any_value(update_id) AS update_id,
        update_key,
        node_index,
        max(above_index) AS parent_index,
        arg_max(choice, above_index) AS parent_choice,
        arg_max(is_own, above_index) AS has_own_parent,
        arg_max(is_dry_run, above_index) AS is_dry_run,
        bool_or(choice IN {CLAIMS} AND is_own) AS is_claimed
    FROM (
        SELECT
            below.*,
            update_id,
            choice,
            coalesce(owners.is_signed, true) AS is_own,
            coalesce(owners.is_dry_run, false) AS is_dry_run
        FROM {ABOVE_DEPENDENT.name} AS below
        JOIN branches ON branches.update_key = below.update_key AND branches.node_index = above_index
        -- Who signed the contract matters only for choices that change what the nodes below mean.
        LEFT JOIN (
            SELECT coin_exercises.update_key, coin_exercises.node_index AS above_index, is_signed, is_dry_run
            FROM coin_contracts
            JOIN (FROM coin_exercises WHERE changes_meaning) AS coin_exercises USING (contract_key)
        ) AS owners ON owners.update_key = below.update_key AND owners.above_index = below.above_index
        WHERE is_of_network
    )
    GROUP BY update_key, node_index
    """,
    relations=(ABOVE_DEPENDENT, BRANCHES, COIN_CONTRACTS, COIN_EXERCISES),
    is_materialized=True,
)
COUPONS_MOVED = Relation(
    "coupons",
    "One row per coupon that a round issues, and per coupon that expires.",
    f"""
    SELECT coin_contracts.*, false AS is_expired
    FROM coin_contracts
    LEFT JOIN parents USING (update_key, node_index)
    -- A part of an earlier coupon is not issued again, and a dry run issues nothing.
    WHERE update_key IS NOT NULL AND is_signed AND kind IN {COUPONS}
        AND (kind <> 'reward' OR parent_choice = 'ProcessRewardsV2_ProcessBatch' AND NOT parents.is_dry_run)
    UNION ALL
    -- The amount and the signatories of a coupon from before the frames are unknown.
    SELECT
        coin_contracts.* REPLACE (ends.record_time AS record_time, ends.update_key AS update_key, ends.kind AS kind),
        true AS is_expired
    FROM ends
    JOIN parents USING (update_key, node_index)
    LEFT JOIN coin_contracts USING (contract_key)
    WHERE is_consuming AND is_claimed AND ends.kind IN {COUPONS} AND coalesce(is_signed, true)
    """,
    relations=(COIN_CONTRACTS, ENDS, PARENTS),
    is_materialized=False,
)
COUPON_FLOWS = Relation(
    "coupon_flows",
    "One row per coupon that a round issues or that expires, with its round and the amount that it is worth.",
    f"""
    SELECT
        CASE
            WHEN is_expired THEN 'expired'
            WHEN kind = 'sv' THEN 'issued_sv'
            WHEN kind = 'app' OR kind = 'reward' AND NOT is_for_validator THEN 'issued_app'
            ELSE 'issued_validator'
        END AS kind,
        record_time,
        update_key,
        party,
        round_number,
        -- A traffic-based reward states its amount. Other coupons state a weight.
        CASE WHEN kind = 'reward' THEN amount ELSE {product_of("amount", "issuance")} END AS amount
    FROM (
        SELECT
            *,
            CASE kind
                WHEN 'validator' THEN 'issuancePerValidatorRewardCoupon'
                WHEN 'sv' THEN 'issuancePerSvRewardCoupon'
                WHEN 'liveness' THEN 'optIssuancePerValidatorFaucetCoupon'
                WHEN 'app' THEN CASE
                    WHEN is_featured THEN 'issuancePerFeaturedAppRewardCoupon'
                    ELSE 'issuancePerUnfeaturedAppRewardCoupon'
                END
            END AS issuance_name
        FROM coupons
    )
    LEFT JOIN issuances USING (round_number, issuance_name)
    """,
    relations=(COUPONS_MOVED,),
    parameters=(ISSUANCES,),
    is_materialized=False,
)
OF_SETTLEMENTS = (SUMMARIZING_ROUND, CALCULATE_REWARDS, PROCESS_REWARDS, CLOSED_ROUND)
NODES_OF_SETTLEMENTS = nodes_of(
    "nodes_of_settlements", "One row per node of a contract that settles a round after its end.", templates=OF_SETTLEMENTS
)
SETTLEMENTS = Relation(
    "settlements",
    "One row per contract that settles a round after its end, and whether it is archived.",
    f"""
    SELECT
        template,
        {whole(member("create_arguments", "'$.round.number'"))} AS round_number,
        coalesce({member("create_arguments", "'$.dryRun'")} = 'true', false) AS is_dry_run,
        contract_id IN (SELECT contract_id FROM nodes_of_settlements WHERE is_consuming) AS is_archived
    FROM (
        FROM nodes_of_settlements WHERE choice = ''
        UNION ALL BY NAME
        FROM older_contracts ANTI JOIN created_and_older USING (contract_id) WHERE template IN {one_of(OF_SETTLEMENTS)}
    )
    WHERE is_signed
    """,
    relations=(NODES_OF_SETTLEMENTS, CREATED_AND_OLDER, OLDER_CONTRACTS),
)
UNSETTLED_ROUNDS = Relation(
    "unsettled_rounds",
    "One row per round whose coupons are not final: whether more can be issued. If not, some can still expire.",
    f"""
    SELECT round_number, bool_or(can_issue) AS can_issue
    FROM (
        SELECT round_number, true AS can_issue
        FROM settlements
        WHERE NOT is_archived AND NOT is_dry_run AND template <> {quoted(CLOSED_ROUND)}
        UNION ALL
        SELECT round_number, false AS can_issue
        FROM coin_contracts
        ANTI JOIN (SELECT contract_key FROM ends WHERE is_consuming) USING (contract_key)
        -- Without its closed round, a coupon of the old scheme can neither be collected nor expire.
        ANTI JOIN (SELECT round_number AS gone FROM settlements WHERE is_archived AND template = {quoted(CLOSED_ROUND)})
            ON gone = round_number AND kind <> 'reward'
        WHERE is_signed AND kind IN {COUPONS}
    )
    WHERE round_number IS NOT NULL
    GROUP BY round_number
    """,
    relations=(COIN_CONTRACTS, ENDS, SETTLEMENTS),
)
