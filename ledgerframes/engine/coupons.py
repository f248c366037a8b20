"""Relations of the coupons that rounds issue and that expire."""

from __future__ import annotations

from ledgerframes.engine.amounts import product_of
from ledgerframes.engine.coin_contracts import COIN_CONTRACTS, COUPONS, ENDS
from ledgerframes.engine.nodes import above, nodes_of
from ledgerframes.engine.relation import Relation

CLAIMS = "('CoinRules_ClaimExpiredRewards', 'CoinRules_ClaimExpiredRewardsV2', 'DsoRules_ClaimExpiredRewards')"
NAME_PAYMENTS = "('AnsRules_CollectInitialEntryPayment', 'AnsRules_CollectEntryRenewalPayment')"
NODES_BELOW = nodes_of("nodes_below", "One row per node of the network's packages, again.")
NODES_OF_CHOICES = nodes_of("nodes_of_choices", "One row per exercise, again.", is_create=False)
NODES_ABOVE = nodes_of("nodes_above", "One row per exercise, again.", is_create=False)
DEPENDENT = Relation(
    "dependent",
    "One row per node that means something else below some choices, in the updates with such a choice.",
    f"""
    SELECT update_id, node_index, depth
    FROM nodes_below
    WHERE (
            choice = '' AND template IN ('Splice.Coin:RewardCouponV2', 'Splice.DecentralizedSynchronizer:MemberTraffic')
            OR is_consuming AND template IN (
                'Splice.Coin:Coin', 'Splice.Coin:RewardCouponV2', 'Splice.Coin:AppRewardCoupon',
                'Splice.Coin:ValidatorRewardCoupon', 'Splice.Coin:SvRewardCoupon',
                'Splice.ValidatorLicense:ValidatorLivenessActivityRecord'
            )
        )
        AND update_id IN (
            SELECT update_id
            FROM nodes_of_choices
            WHERE choice IN ('ProcessRewardsV2_ProcessBatch', 'CoinRules_MergeMemberTrafficContracts')
                OR choice IN {CLAIMS}
                OR choice IN {NAME_PAYMENTS}
        )
    """,
    relations=(NODES_BELOW, NODES_OF_CHOICES),
    is_kept=True,
)
ABOVE_DEPENDENT = above(DEPENDENT)
PARENTS = Relation(
    "parents",
    "One row per such node: the choice right above it, and whether a claim of expired rewards is above.",
    f"""
    SELECT
        update_id,
        md5_number(update_id) AS update_key,
        node_index,
        max(above_index) AS parent_index,
        arg_max(choice, above_index) AS parent_choice,
        arg_max(is_own, above_index) AS has_own_parent,
        arg_max(is_dry_run, above_index) AS is_dry_run,
        bool_or(choice IN {CLAIMS} AND is_own) AS is_claimed
    FROM (
        SELECT
            above_dependent.*,
            choice,
            coalesce(coin_contracts.is_signed, true) AS is_own,
            coalesce(coin_contracts.is_dry_run, false) AS is_dry_run
        FROM (
            SELECT above_dependent.*, choice, md5_number(contract_id) AS contract_key
            FROM above_dependent
            JOIN nodes_above
                ON nodes_above.update_id = above_dependent.update_id AND nodes_above.node_index = above_index
        ) AS above_dependent
        LEFT JOIN coin_contracts USING (contract_key)
    )
    GROUP BY update_id, node_index
    """,
    relations=(ABOVE_DEPENDENT, NODES_ABOVE, COIN_CONTRACTS),
    is_kept=True,
)
COUPONS_MOVED = Relation(
    "coupons",
    "One row per coupon that a round issues, and per coupon that expires.",
    f"""
    SELECT coin_contracts.*, false AS is_expired
    FROM coin_contracts
    LEFT JOIN parents USING (update_key, node_index)
    -- Neither a part of an earlier coupon nor a dry run is an issue.
    WHERE update_key IS NOT NULL AND is_signed AND kind IN {COUPONS}
        AND (kind <> 'reward' OR parent_choice = 'ProcessRewardsV2_ProcessBatch' AND NOT parents.is_dry_run)
    UNION ALL
    SELECT coin_contracts.* REPLACE (ends.record_time AS record_time, ends.update_key AS update_key), true AS is_expired
    FROM ends
    JOIN parents USING (update_key, node_index)
    JOIN coin_contracts USING (contract_key)
    WHERE is_consuming AND is_claimed AND ends.kind IN {COUPONS} AND is_signed
    """,
    relations=(COIN_CONTRACTS, ENDS, PARENTS),
    is_read_anew=True,
)
COUPON_FLOWS = Relation(
    "coupon_flows",
    "One row per such coupon, with the round that it is of, and the amount that it is worth.",
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
        -- The weight of a traffic-based reward is its amount.
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
    -- What a round issues for a weight of 1.
    LEFT JOIN issuances USING (round_number, issuance_name)
    """,
    relations=(COUPONS_MOVED,),
    is_read_anew=True,
)
