"""Relations of the coin that is minted and burned, from the few choices that move it.

A choice that wraps a transfer repeats its summary, so a summary counts at the deepest node of its branch only.
"""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, exact, member, whole
from ledgerframes.engine.coin_contracts import COIN_CONTRACTS, COINS, ENDS
from ledgerframes.engine.coupons import COUPON_FLOWS, NAME_PAYMENTS, PARENTS
from ledgerframes.engine.nodes import NODES, above, nodes_of
from ledgerframes.engine.relation import Relation

RULES = "'Splice.CoinRules:CoinRules', 'Splice.CoinRules:TransferPreapproval'"

# -- transfers ----------------------------------------------------------------------------------------------------------------

PAYING = nodes_of("paying", "One row per exercise.", is_create=False)
PAYMENTS = Relation(
    "payments",
    "One row per exercise with the summary of a transfer, or of a choice that mints coin for tests or burns it.",
    f"""
    SELECT
        record_time,
        update_id,
        node_index,
        depth,
        round_number,
        sender,
        summary IS NOT NULL AS has_summary,
        json_extract_string(summary, [
            '$.inputAppRewardAmount', '$.inputValidatorRewardAmount', '$.inputSvRewardAmount',
            '$.inputUnclaimedActivityRecordAmount', '$.inputDevelopmentFundAmount', '$.holdingFees', '$.senderChangeFee'
        ]) AS texts,
        json_extract(summary, '$.outputFees[*]') AS output_fees,
        other_kind,
        CASE other_kind WHEN 'minted_other' THEN {member("argument", "'$.receiver'")} END AS receiver,
        CASE other_kind
            WHEN 'minted_other' THEN {member("argument", "'$.amount'")}
            WHEN 'burned_preapproval' THEN {member("result", "'$.' || coin || 'Paid'")}
        END AS other_text
    FROM (
        SELECT
            *,
            CASE
                WHEN template NOT IN ({RULES}) THEN NULL
                WHEN starts_with(found[1], '{{') THEN nullif(found[1], '{{}}')
                WHEN starts_with(found[2], '{{') THEN nullif(found[2], '{{}}')
                WHEN starts_with(found[3], '{{') THEN nullif(found[3], '{{}}')
            END AS summary,
            {whole("(found[4] ->> '$')")} AS round_number,
            coalesce(nullif(senders[1], ''), senders[2]) AS sender
        FROM (
            SELECT
                *,
                TRY(json_extract(result, [
                    '$.summary', '$.result.summary', '$.transferResult.summary', '$.round.number'
                ])) AS found,
                TRY(json_extract_string(argument, ['$.transfer.sender', '$.provider'])) AS senders
            FROM (
                SELECT
                    record_time,
                    update_id,
                    node_index,
                    depth,
                    contract_id,
                    template,
                    {exact("choice_argument")} AS argument,
                    {exact("exercise_result")} AS result,
                    CASE
                        WHEN choice = 'CoinRules_Mint' THEN 'minted_other'
                        WHEN choice IN (
                            'CoinRules_CreateTransferPreapproval', 'CoinRules_CreateExternalPartySetupProposal',
                            'TransferPreapproval_Renew'
                        ) THEN 'burned_preapproval'
                    END AS other_kind
                FROM paying
                WHERE template IN ({RULES}) OR other_kind IS NOT NULL
            )
        )
    )
    CROSS JOIN network
    ANTI JOIN (SELECT contract_key FROM coin_contracts WHERE NOT is_signed) ON contract_key = md5_number(contract_id)
    WHERE summary IS NOT NULL OR other_kind IS NOT NULL
    """,
    relations=(PAYING, COIN_CONTRACTS),
    is_kept=True,
)
SUMMARIES = Relation(
    "summaries",
    "One row per exercise with the summary of a transfer.",
    "FROM payments WHERE has_summary",
    relations=(PAYMENTS,),
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
    """
    FROM summaries
    ANTI JOIN (SELECT update_id, above_index AS node_index FROM above_lower_summaries) USING (update_id, node_index)
    """,
    relations=(SUMMARIES, ABOVE_SUMMARIES),
)
SUMMARY_FLOWS = Relation(
    "summary_flows",
    "One row per amount of a summary that counts, by the round of the transfer.",
    f"""
    SELECT kind, record_time, party, round_number, {amount_of("text")} AS amount
    FROM (
        SELECT
            record_time,
            sender AS party,
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
            sender AS party,
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
    SELECT ends.record_time, parents.update_id, update_key, parent_index, has_own_parent, amount
    FROM ends
    JOIN parents USING (update_key, node_index)
    JOIN coin_contracts USING (contract_key)
    WHERE is_consuming AND ends.kind = 'coin' AND is_of_dso AND parent_choice IN {NAME_PAYMENTS}
    """,
    relations=(ENDS, PARENTS, COIN_CONTRACTS),
    is_read_anew=True,
)
ARCHIVED_COINS = Relation(
    "archived_coins",
    "One row per coin that is archived, and per coin that expires, without an amount if its contract is not known.",
    f"""
    SELECT unnest(kinds) AS kind, record_time, update_key, amount
    FROM (
        SELECT
            ends.record_time,
            ends.update_key,
            amount,
            CASE WHEN is_expiry THEN ['burned_dust'] ELSE [] END
                || CASE WHEN is_consuming AND ends.kind IN {COINS} THEN ['net'] ELSE [] END AS kinds
        FROM ends
        LEFT JOIN coin_contracts USING (contract_key)
        WHERE (is_expiry OR ends.kind IN {COINS}) AND coalesce(is_signed, true)
    )
    """,
    relations=(ENDS, COIN_CONTRACTS),
    is_read_anew=True,
)
OTHER_FLOWS = Relation(
    "other_flows",
    "One row per amount that another choice moves, or that a coin adds to the supply or takes from it.",
    f"""
    SELECT 'net' AS kind, record_time, update_key, NULL AS party, amount
    FROM coin_contracts
    WHERE update_key IS NOT NULL AND is_signed AND kind IN {COINS}
    UNION ALL
    SELECT kind, record_time, update_key, NULL, CASE kind WHEN 'net' THEN -amount ELSE amount END
    FROM archived_coins
    UNION ALL
    SELECT 'to_dso', record_time, update_key, NULL, amount
    FROM coin_contracts
    ANTI JOIN (SELECT update_key, contract_key FROM ends WHERE is_consuming) USING (update_key, contract_key)
    WHERE update_key IS NOT NULL AND is_signed AND kind = 'coin' AND is_of_dso
    UNION ALL
    SELECT 'burned_names', record_time, update_key, NULL, amount
    FROM name_fees
    WHERE has_own_parent
    UNION ALL
    SELECT
        unnest(['burned_traffic', 'traffic_bought']),
        record_time,
        update_key,
        NULL,
        unnest([amount, bytes_bought::DECIMAL(38, 10)])
    FROM coin_contracts
    LEFT JOIN parents USING (update_key, node_index)
    WHERE update_key IS NOT NULL AND is_signed AND kind = 'traffic'
        AND parent_choice IS DISTINCT FROM 'CoinRules_MergeMemberTrafficContracts'
    UNION ALL
    SELECT other_kind, record_time, md5_number(update_id), receiver, {amount_of("other_text")}
    FROM payments
    WHERE other_kind IS NOT NULL
    """,
    relations=(COIN_CONTRACTS, ENDS, ARCHIVED_COINS, NAME_FEES, PARENTS, PAYMENTS),
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
ROUNDS_OF_UPDATES = Relation(
    "rounds_of_updates",
    "One row per update with a transfer, and the round of its first transfer.",
    """
    SELECT md5_number(update_id) AS update_key, arg_min_null(round_number, node_index) AS transfer_round
    FROM counted_summaries
    GROUP BY ALL
    """,
    relations=(COUNTED_SUMMARIES,),
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
        SELECT other_flows.*, transfer_round AS round_number
        FROM other_flows
        LEFT JOIN rounds_of_updates USING (update_key)
    )
    GROUP BY ALL
    """,
    relations=(SUMMARY_FLOWS, OTHER_FLOWS, ROUNDS_OF_UPDATES),
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
