"""Relations of the coupons that rounds issue and that expire."""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, member, product_of, whole
from ledgerframes.engine.nodes import CONTRACTS, NODES, above
from ledgerframes.engine.relation import Relation

COUPONS = """(
        'Splice.Coin:RewardCouponV2', 'Splice.Coin:AppRewardCoupon', 'Splice.Coin:ValidatorRewardCoupon',
        'Splice.Coin:SvRewardCoupon', 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord'
    )"""
CLAIMS = "('CoinRules_ClaimExpiredRewards', 'CoinRules_ClaimExpiredRewardsV2', 'DsoRules_ClaimExpiredRewards')"
NAME_PAYMENTS = "('AnsRules_CollectInitialEntryPayment', 'AnsRules_CollectEntryRenewalPayment')"
DEPENDENT = Relation(
    "dependent",
    "One row per node that means something else below some choices, in the updates with such a choice.",
    f"""
    SELECT update_id, node_index, depth
    FROM nodes
    WHERE (
            choice = '' AND template IN ('Splice.Coin:RewardCouponV2', 'Splice.DecentralizedSynchronizer:MemberTraffic')
            OR is_consuming AND (template = 'Splice.Coin:Coin' OR template IN {COUPONS})
        )
        AND update_id IN (
            SELECT update_id
            FROM nodes
            WHERE choice IN ('ProcessRewardsV2_ProcessBatch', 'CoinRules_MergeMemberTrafficContracts')
                OR choice IN {CLAIMS}
                OR choice IN {NAME_PAYMENTS}
        )
    """,
    relations=(NODES,),
)
ABOVE_DEPENDENT = above(DEPENDENT)
PARENTS = Relation(
    "parents",
    "One row per such node: the choice right above it, and whether a claim of expired rewards is above.",
    f"""
    SELECT
        above_dependent.update_id,
        above_dependent.node_index,
        max(above_index) AS parent_index,
        arg_max(choice, above_index) AS parent_choice,
        arg_max(coalesce(contracts.is_signed, true), above_index) AS has_own_parent,
        arg_max(coalesce({member("contracts.create_arguments", "'$.dryRun'")} = 'true', false), above_index) AS is_dry_run,
        bool_or(choice IN {CLAIMS} AND coalesce(contracts.is_signed, true)) AS is_claimed
    FROM above_dependent
    JOIN nodes ON nodes.update_id = above_dependent.update_id AND nodes.node_index = above_index
    LEFT JOIN contracts USING (contract_id)
    GROUP BY ALL
    """,
    relations=(ABOVE_DEPENDENT, NODES, CONTRACTS),
    is_kept=True,
)
COUPONS_MOVED = Relation(
    "coupons",
    "One row per coupon that a round issues, and per coupon that expires.",
    f"""
    SELECT record_time, update_id, template, false AS is_expired, create_arguments
    FROM nodes
    LEFT JOIN parents USING (update_id, node_index)
    -- Neither a part of an earlier coupon nor a dry run is an issue.
    WHERE choice = '' AND is_signed AND template IN {COUPONS}
        AND (template <> 'Splice.Coin:RewardCouponV2' OR parent_choice = 'ProcessRewardsV2_ProcessBatch' AND NOT is_dry_run)
    UNION ALL
    SELECT nodes.record_time, nodes.update_id, contracts.template, true AS is_expired, contracts.create_arguments
    FROM nodes
    JOIN contracts USING (contract_id)
    JOIN parents ON parents.update_id = nodes.update_id AND parents.node_index = nodes.node_index
    WHERE is_consuming AND is_claimed AND nodes.template IN {COUPONS} AND contracts.is_signed
    """,
    relations=(NODES, CONTRACTS, PARENTS),
    is_read_anew=True,
)
WEIGHTED_COUPONS = Relation(
    "weighted_coupons",
    "One row per such coupon, with its weight, and the name of what its round issues for a weight of 1.",
    f"""
    SELECT
        record_time,
        update_id,
        CASE
            WHEN is_expired THEN 'expired'
            WHEN template = 'Splice.Coin:SvRewardCoupon' THEN 'issued_sv'
            WHEN template = 'Splice.Coin:AppRewardCoupon' THEN 'issued_app'
            WHEN template <> 'Splice.Coin:RewardCouponV2' THEN 'issued_validator'
            WHEN {member("create_arguments", "'$.kind'")} = 'RewardKind_Validator' THEN 'issued_validator'
            ELSE 'issued_app'
        END AS kind,
        list_filter(
            TRY(json_extract_string(create_arguments, ['$.provider', '$.user', '$.validator', '$.sv'])),
            lambda party: party <> ''
        )[1] AS party,
        {member("create_arguments", "'$.round.number'")} AS round_text,
        CASE template
            WHEN 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord' THEN '1'
            WHEN 'Splice.Coin:SvRewardCoupon' THEN {member("create_arguments", "'$.weight'")}
            ELSE {member("create_arguments", "'$.amount'")}
        END AS weight_text,
        CASE
            -- Its weight is its amount.
            WHEN template = 'Splice.Coin:RewardCouponV2' THEN ''
            WHEN template = 'Splice.Coin:ValidatorRewardCoupon' THEN 'issuancePerValidatorRewardCoupon'
            WHEN template = 'Splice.Coin:SvRewardCoupon' THEN 'issuancePerSvRewardCoupon'
            WHEN template <> 'Splice.Coin:AppRewardCoupon' THEN 'optIssuancePerValidatorFaucetCoupon'
            WHEN {member("create_arguments", "'$.featured'")} = 'true' THEN 'issuancePerFeaturedAppRewardCoupon'
            ELSE 'issuancePerUnfeaturedAppRewardCoupon'
        END AS issuance_name
    FROM coupons
    """,
    relations=(COUPONS_MOVED,),
    is_read_anew=True,
)
COUPON_FLOWS = Relation(
    "coupon_flows",
    "One row per such coupon, with the round that it is of, and the amount that it is worth.",
    f"""
    SELECT
        kind,
        record_time,
        update_id,
        party,
        round_number,
        CASE WHEN issuance_name = '' THEN weight ELSE {product_of("weight", "issuance")} END AS amount
    FROM (
        SELECT *, {whole("round_text")} AS round_number, {amount_of("weight_text")} AS weight
        FROM weighted_coupons
    )
    LEFT JOIN issuances USING (round_number, issuance_name)
    """,
    relations=(WEIGHTED_COUPONS,),
    is_read_anew=True,
)
