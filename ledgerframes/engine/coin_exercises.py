"""Relations of the exercises that move coin, or end contracts that take part in moves.

Payloads make up most of the bytes, so one relation reads those of exercises once and keeps the few members that others need.
"""

from __future__ import annotations

from ledgerframes.datasets.templates import COIN_RULES, TRANSFER_PREAPPROVAL
from ledgerframes.engine.amounts import columns_of, exact, member, members, whole
from ledgerframes.engine.coin_contracts import COIN_CONTRACTS, COINS, COUPONS, KIND
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.literals import array_of, one_of, quoted
from ledgerframes.engine.nodes import NODE_NAMES, nodes_of
from ledgerframes.engine.relation import Relation

WITH_SUMMARIES = one_of([COIN_RULES, TRANSFER_PREAPPROVAL])
EXPIRIES = one_of(["Coin_Expire", "Coin_ExpireV2", "LockedCoin_ExpireCoin", "LockedCoin_ExpireCoinV2"])
CLAIMS = one_of(["CoinRules_ClaimExpiredRewards", "CoinRules_ClaimExpiredRewardsV2", "DsoRules_ClaimExpiredRewards"])
UNHIDE = "CoinRules_UnhideRewardCouponsV2"  # archives coupons and creates them again
NAME_PAYMENTS = ("AnsRules_CollectInitialEntryPayment", "AnsRules_CollectEntryRenewalPayment")

OF_RESULTS = {
    "own_summary": "$.summary",
    "summary_of_result": "$.result.summary",
    "summary_of_transfer": "$.transferResult.summary",
    "round_of_transfer": "$.round.number",
}
OF_ARGUMENTS = {"sender_of_transfer": "$.transfer.sender", "provider": "$.provider"}
# What each member of a summary mints or burns. The amount for validators includes that of the faucet.
AMOUNTS_OF_SUMMARIES = {
    "$.inputAppRewardAmount": "minted_app",
    "$.inputValidatorRewardAmount": "minted_validator",
    "$.inputSvRewardAmount": "minted_sv",
    "$.inputUnclaimedActivityRecordAmount": "minted_other",
    "$.inputDevelopmentFundAmount": "minted_other",
    "$.holdingFees": "fees",
    "$.senderChangeFee": "fees",
}

NAMES_OF_EXERCISES = Relation(
    "names_of_exercises",
    "One row per package, template and choice whose exercises can matter to coin.",
    f"""
    FROM (
        SELECT
            *,
            {KIND} AS kind,
            template IN {WITH_SUMMARIES} AS is_of_rules,
            choice IN {EXPIRIES} AS is_expiry,
            choice IN {CLAIMS} OR choice IN {one_of(NAME_PAYMENTS)} OR choice IN (
                'ProcessRewardsV2_ProcessBatch', 'CoinRules_MergeMemberTrafficContracts', {quoted(UNHIDE)}
            ) AS changes_meaning,
            CASE
                WHEN choice = 'CoinRules_Mint' THEN 'minted_other'
                WHEN choice IN (
                    'CoinRules_CreateTransferPreapproval', 'CoinRules_CreateExternalPartySetupProposal',
                    'TransferPreapproval_Renew'
                ) THEN 'burned_preapproval'
            END AS other_kind,
            is_of_rules OR other_kind IS NOT NULL OR is_expiry OR changes_meaning AS matters,
            coalesce(kind IN {COINS} OR kind IN {COUPONS}, false) AS matters_if_consuming
        FROM node_names
        WHERE choice <> ''
    )
    WHERE matters OR matters_if_consuming
    """,
    parameters=(NODE_NAMES,),
)
EXERCISED = nodes_of(
    "exercised",
    "One row per exercise that can matter to coin, with its payloads.",
    condition="(matters OR matters_if_consuming AND consuming)",
    names=NAMES_OF_EXERCISES,
)
COIN_EXERCISES = Relation(
    "coin_exercises",
    "One row per exercise that can move coin, end a contract of it, or change what the nodes below it mean.",
    f"""
    SELECT
        record_time,
        update_key,
        node_index,
        depth,
        contract_key,
        kind,
        is_consuming,
        is_expiry,
        changes_meaning,
        {whole("(round_of_transfer ->> '$')")} AS round_number,
        coalesce(nullif(sender_of_transfer, ''), provider) AS sender,
        summary IS NOT NULL AS has_summary,
        json_extract_string(summary, {array_of(AMOUNTS_OF_SUMMARIES)}) AS amount_texts,
        json_extract(summary, '$.outputFees[*]') AS output_fees,
        other_kind,
        CASE other_kind WHEN 'minted_other' THEN {member(exact("argument"), "'$.receiver'")} END AS receiver,
        CASE other_kind
            WHEN 'minted_other' THEN {member(exact("argument"), "'$.amount'")}
            WHEN 'burned_preapproval' THEN {member("result", "'$.' || coin || 'Paid'")}
        END AS other_text
    FROM (
        SELECT
            *,
            CASE
                WHEN NOT is_of_rules THEN NULL
                WHEN starts_with(own_summary, '{{') THEN nullif(own_summary, '{{}}')
                WHEN starts_with(summary_of_result, '{{') THEN nullif(summary_of_result, '{{}}')
                WHEN starts_with(summary_of_transfer, '{{') THEN nullif(summary_of_transfer, '{{}}')
            END AS summary
        FROM (
            SELECT *, {columns_of("of_result", OF_RESULTS)}, {columns_of("of_argument", OF_ARGUMENTS)}
            FROM (
                SELECT
                    *,
                    {members("result", OF_RESULTS, as_json=True)} AS of_result,
                    {members(exact("argument"), OF_ARGUMENTS)} AS of_argument
                FROM (
                    SELECT
                        * EXCLUDE (choice_argument, exercise_result),
                        {key_of("update_id")} AS update_key,
                        {key_of("contract_id")} AS contract_key,
                        CASE WHEN is_of_rules OR other_kind IS NOT NULL THEN choice_argument END AS argument,
                        CASE WHEN is_of_rules OR other_kind IS NOT NULL THEN {exact("exercise_result")} END AS result
                    FROM exercised
                )
            )
        )
    )
    """,
    relations=(EXERCISED,),
    is_materialized=True,
)
ENDS = Relation(
    "ends",
    "One row per exercise that archives a coin or a coupon, or by which a coin expires.",
    f"""
    FROM coin_exercises
    WHERE is_expiry OR is_consuming AND (kind IN {COINS} OR kind IN {COUPONS})
    """,
    relations=(COIN_EXERCISES,),
)
PAYMENTS = Relation(
    "payments",
    "One row per exercise that has the summary of a transfer, mints coin for tests, or burns coin for a preapproval.",
    """
    FROM coin_exercises
    ANTI JOIN (SELECT contract_key FROM coin_contracts WHERE NOT is_signed) USING (contract_key)
    WHERE has_summary OR other_kind IS NOT NULL
    """,
    relations=(COIN_EXERCISES, COIN_CONTRACTS),
)
SUMMARIES = Relation(
    "transfer_summaries",
    "One row per exercise with the summary of a transfer.",
    "FROM payments WHERE has_summary",
    relations=(PAYMENTS,),
)
LOWER_SUMMARIES = Relation(
    "lower_summaries",
    "One row per summary of a transfer, if an earlier one in the same update can be above it.",
    """
    SELECT update_key, node_index, depth
    FROM transfer_summaries AS summaries
    SEMI JOIN transfer_summaries AS earlier
        ON earlier.update_key = summaries.update_key
        AND earlier.node_index < summaries.node_index
        AND earlier.depth < summaries.depth
    """,
    relations=(SUMMARIES,),
)
