"""Relations of the coin that is minted and burned, from the few choices that move it.

A choice that wraps a transfer repeats its summary, so a summary counts at the deepest node of its branch only.
"""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, member, whole
from ledgerframes.engine.coupons import COUPON_FLOWS, NAME_PAYMENTS, PARENTS
from ledgerframes.engine.nodes import CONTRACTS, EXERCISES, NODES, OLDER_CONTRACTS, above
from ledgerframes.engine.relation import Relation

COINS = "('Splice.Coin:Coin', 'Splice.Coin:LockedCoin')"
EXPIRIES = "('Coin_Expire', 'Coin_ExpireV2', 'LockedCoin_ExpireCoin', 'LockedCoin_ExpireCoinV2')"
# The network's word for the coin is the name of the coin in a locked one.
COIN = f"""CASE
            WHEN template = 'Splice.Coin:LockedCoin' THEN {member("create_arguments", "'$.' || coin")}
            ELSE create_arguments
        END"""

# -- transfers ----------------------------------------------------------------------------------------------------------------

SUMMARIES = Relation(
    "summaries",
    "One row per exercise with the summary of a transfer.",
    f"""
    SELECT
        record_time,
        update_id,
        node_index,
        depth,
        coalesce(
            nullif({member("choice_argument", "'$.transfer.sender'")}, ''), {member("choice_argument", "'$.provider'")}
        ) AS party,
        {member("exercise_result", "'$.round.number'")} AS round_text,
        json_extract_string(summary, [
            '$.inputAppRewardAmount', '$.inputValidatorRewardAmount', '$.inputSvRewardAmount',
            '$.inputUnclaimedActivityRecordAmount', '$.inputDevelopmentFundAmount', '$.holdingFees', '$.senderChangeFee'
        ]) AS texts,
        json_extract(summary, '$.outputFees[*]') AS output_fees
    FROM (
        SELECT *, list_filter(
            TRY(json_extract(exercise_result, ['$.summary', '$.result.summary', '$.transferResult.summary'])),
            lambda value: starts_with(value, '{{')
        )[1] AS summary
        FROM exercises
        WHERE template IN ('Splice.CoinRules:CoinRules', 'Splice.CoinRules:TransferPreapproval')
    )
    WHERE summary <> '{{}}'
    """,
    relations=(EXERCISES,),
    is_kept=True,
)
LOWER_SUMMARIES = Relation(
    "lower_summaries",
    "One row per summary in an update with an earlier one that can be above it.",
    """
    SELECT update_id, node_index, depth
    FROM summaries
    WHERE EXISTS (
        FROM summaries AS earlier
        WHERE earlier.update_id = summaries.update_id
            AND earlier.node_index < summaries.node_index
            AND earlier.depth < summaries.depth
    )
    """,
    relations=(SUMMARIES,),
)
ABOVE_SUMMARIES = above(LOWER_SUMMARIES)
COUNTED_SUMMARIES = Relation(
    "counted_summaries",
    "One row per summary that no node below repeats.",
    f"""
    SELECT record_time, update_id, node_index, party, {whole("round_text")} AS round_number, texts, output_fees
    FROM summaries
    ANTI JOIN (SELECT update_id, above_index AS node_index FROM above_lower_summaries) USING (update_id, node_index)
    """,
    relations=(SUMMARIES, ABOVE_SUMMARIES),
)
SUMMARY_FLOWS = Relation(
    "summary_flows",
    "One row per amount of a summary that counts, by the round of the transfer.",
    f"""
    SELECT kind, record_time, update_id, party, round_number, {amount_of("text")} AS amount
    FROM (
        SELECT
            record_time,
            update_id,
            party,
            round_number,
            unnest([
                'minted_app', 'minted_validator', 'minted_sv', 'minted_other', 'minted_other', 'fees', 'fees'
            ]) AS kind,
            -- That of the validator contains the amount of the faucet.
            unnest(texts) AS text
        FROM counted_summaries
        UNION ALL
        SELECT
            record_time,
            update_id,
            party,
            round_number,
            'fees' AS kind,
            -- A number that is no text can have lost digits, so that it is unknown.
            CASE WHEN fee NOT LIKE '"%' AND regexp_matches(fee, '[.eE]') THEN '' ELSE json_extract_string(fee, '$') END AS text
        FROM (SELECT *, unnest(output_fees) AS fee FROM counted_summaries)
        WHERE fee <> 'null'
    )
    WHERE text IS NOT NULL
    """,
    relations=(COUNTED_SUMMARIES,),
    is_read_anew=True,
)

# -- other choices ------------------------------------------------------------------------------------------------------------

COIN_CONTRACTS = Relation(
    "coin_contracts",
    "One row per contract, with the owner and the amount that a coin has, locked or not.",
    f"""
    SELECT * EXCLUDE (payload), {member("payload", "'$.owner'")} AS owner, {member("payload", "'$.amount.initialAmount'")} AS text
    FROM (SELECT record_time, update_id, contract_id, template, is_signed, {COIN} AS payload FROM contracts, network)
    """,
    relations=(CONTRACTS,),
    is_read_anew=True,
)
COINS_OF_SNAPSHOT = Relation(
    "coins_of_snapshot",
    "One row per coin of the network in the snapshot, with its owner and amount.",
    f"""
    SELECT template, {member("payload", "'$.owner'")} AS owner, {member("payload", "'$.amount.initialAmount'")} AS text
    FROM (SELECT template, {COIN} AS payload FROM older_contracts, network WHERE is_signed AND template IN {COINS})
    """,
    relations=(OLDER_CONTRACTS,),
)
PURCHASES = Relation(
    "purchases",
    "One row per contract of bought traffic that does not merge earlier ones.",
    """
    SELECT nodes.*
    FROM nodes
    LEFT JOIN parents USING (update_id, node_index)
    WHERE choice = '' AND is_signed AND template = 'Splice.DecentralizedSynchronizer:MemberTraffic'
        AND parent_choice IS DISTINCT FROM 'CoinRules_MergeMemberTrafficContracts'
    """,
    relations=(NODES, PARENTS),
    is_read_anew=True,
)
NAME_FEES = Relation(
    "name_fees",
    "One row per coin of the network's own party that a payment for a name archives.",
    f"""
    SELECT nodes.record_time, nodes.update_id, parent_index, has_own_parent, text
    FROM nodes
    JOIN coin_contracts USING (contract_id)
    JOIN parents ON parents.update_id = nodes.update_id AND parents.node_index = nodes.node_index
    JOIN network ON owner = dso
    WHERE is_consuming AND nodes.template = 'Splice.Coin:Coin' AND parent_choice IN {NAME_PAYMENTS}
    """,
    relations=(NODES, PARENTS, COIN_CONTRACTS),
    is_read_anew=True,
)
ARCHIVED_COINS = Relation(
    "archived_coins",
    "One row per coin that is archived, and per coin that expires, without an amount if its contract is not known.",
    f"""
    SELECT unnest(kinds) AS kind, record_time, update_id, text
    FROM (
        SELECT
            nodes.record_time,
            nodes.update_id,
            text,
            CASE WHEN choice IN {EXPIRIES} THEN ['burned_dust'] ELSE [] END
                || CASE WHEN is_consuming AND nodes.template IN {COINS} THEN ['net'] ELSE [] END AS kinds
        FROM nodes
        LEFT JOIN coin_contracts USING (contract_id)
        WHERE (choice IN {EXPIRIES} OR is_consuming AND nodes.template IN {COINS}) AND coalesce(coin_contracts.is_signed, true)
    )
    """,
    relations=(NODES, COIN_CONTRACTS),
    is_read_anew=True,
)
OTHER_FLOWS = Relation(
    "other_flows",
    "One row per amount that another choice moves, or that a coin adds to the supply or takes from it.",
    f"""
    SELECT kind, record_time, update_id, party,
        CASE
            WHEN kind = 'traffic_bought' THEN ({whole("text")})::DECIMAL(38, 10)
            WHEN is_archived THEN -({amount_of("text")})
            ELSE {amount_of("text")}
        END AS amount
    FROM (
        SELECT 'net' AS kind, record_time, update_id, NULL AS party, text, false AS is_archived
        FROM coin_contracts
        WHERE update_id IS NOT NULL AND is_signed AND template IN {COINS}
        UNION ALL
        SELECT kind, record_time, update_id, NULL, text, kind = 'net'
        FROM archived_coins
        UNION ALL
        SELECT 'to_dso', record_time, update_id, NULL, text, false
        FROM coin_contracts
        JOIN network ON owner = dso
        ANTI JOIN (SELECT update_id, contract_id FROM nodes WHERE is_consuming) USING (update_id, contract_id)
        WHERE is_signed AND template = 'Splice.Coin:Coin' AND update_id IS NOT NULL
        UNION ALL
        SELECT 'burned_names', record_time, update_id, NULL, text, false
        FROM name_fees
        WHERE has_own_parent
        UNION ALL
        SELECT 'burned_traffic', record_time, update_id, NULL, {member("create_arguments", "'$.' || coin || 'Spent'")}, false
        FROM purchases, network
        UNION ALL
        SELECT 'traffic_bought', record_time, update_id, NULL, {member("create_arguments", "'$.totalPurchased'")}, false
        FROM purchases
        UNION ALL
        SELECT
            CASE choice WHEN 'CoinRules_Mint' THEN 'minted_other' ELSE 'burned_preapproval' END,
            record_time,
            update_id,
            CASE choice WHEN 'CoinRules_Mint' THEN {member("choice_argument", "'$.receiver'")} END,
            CASE choice
                WHEN 'CoinRules_Mint' THEN {member("choice_argument", "'$.amount'")}
                ELSE {member("exercise_result", "'$.' || coin || 'Paid'")}
            END,
            false
        FROM exercises, network
        WHERE choice IN (
            'CoinRules_Mint', 'CoinRules_CreateTransferPreapproval', 'CoinRules_CreateExternalPartySetupProposal',
            'TransferPreapproval_Renew'
        )
    )
    """,
    relations=(NODES, EXERCISES, COIN_CONTRACTS, ARCHIVED_COINS, NAME_FEES, PURCHASES),
    is_read_anew=True,
)

# -- all together -------------------------------------------------------------------------------------------------------------

FLOWS = Relation(
    "flows",
    "One row per amount of coin that is minted, burned, or added to the supply, or of traffic that is bought.",
    """
    FROM summary_flows
    UNION ALL BY NAME
    FROM other_flows
    """,
    relations=(SUMMARY_FLOWS, OTHER_FLOWS),
    is_read_anew=True,
)
FLOWS_AND_COUPONS = Relation(
    "flows_and_coupons",
    "One row per such amount, and per coupon that is issued or expires.",
    """
    FROM flows
    UNION ALL BY NAME
    FROM coupon_flows
    """,
    relations=(FLOWS, COUPON_FLOWS),
    is_read_anew=True,
)
SUMS_BY_TRANSFER = Relation(
    "sums_by_transfer",
    "One row per kind of amount, and round of the transfer in the update, or without one the time.",
    """
    SELECT
        kind,
        round_number,
        CASE WHEN round_number IS NULL THEN record_time END AS unknown_since,
        min(record_time) AS record_time,
        sum(amount) AS amount,
        count(*) AS flows,
        count(amount) AS known
    FROM (
        FROM summary_flows
        UNION ALL BY NAME
        SELECT other_flows.*, round_number
        FROM other_flows
        LEFT JOIN (
            SELECT update_id, first(round_number ORDER BY node_index) AS round_number
            FROM counted_summaries
            GROUP BY update_id
        ) USING (update_id)
    )
    GROUP BY ALL
    """,
    relations=(SUMMARY_FLOWS, OTHER_FLOWS, COUNTED_SUMMARIES),
)
SUMS_BY_ROUND = Relation(
    "sums_by_round",
    "One row per kind of amount and round: that of the coupon or the transfer, or else the lowest open one at the time.",
    """
    SELECT
        kind,
        coalesce(round_number, lowest_round) AS round_number,
        sum(amount) AS amount,
        sum(flows) AS flows,
        sum(known) AS known
    FROM sums_by_transfer
    ASOF LEFT JOIN lowest_rounds ON record_time >= since
    GROUP BY ALL
    UNION ALL
    SELECT kind, round_number, sum(amount), count(*), count(amount)
    FROM coupon_flows
    GROUP BY ALL
    """,
    relations=(SUMS_BY_TRANSFER, COUPON_FLOWS),
    is_read_anew=True,
)
