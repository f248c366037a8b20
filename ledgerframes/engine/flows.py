"""Relations of the coin that is minted and burned, from the few choices that move it.

A choice that wraps a transfer repeats its summary, so a summary counts only at the deepest node of its branch.
"""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of
from ledgerframes.engine.coin_contracts import COIN_CONTRACTS, COINS
from ledgerframes.engine.coin_exercises import AMOUNTS_OF_SUMMARIES, ENDS, LOWER_SUMMARIES, NAME_PAYMENTS, PAYMENTS, SUMMARIES
from ledgerframes.engine.coupons import COUPON_FLOWS, PARENTS, UNSETTLED_ROUNDS, branches_above
from ledgerframes.engine.literals import array_of, one_of
from ledgerframes.engine.relation import Parameter, Relation

LOWEST_ROUNDS = Parameter("lowest_rounds", "One row per lowest open round, with the time from which it is the lowest.")

# -- transfers ----------------------------------------------------------------------------------------------------------------

ABOVE_SUMMARIES = branches_above(LOWER_SUMMARIES)
COUNTED_SUMMARIES = Relation(
    "counted_summaries",
    "One row per summary of a transfer that no node below repeats.",
    """
    FROM transfer_summaries
    ANTI JOIN (SELECT update_key, above_index AS node_index FROM branches_above_lower_summaries) USING (update_key, node_index)
    """,
    relations=(SUMMARIES, ABOVE_SUMMARIES),
)
SUMMARY_FLOWS = Relation(
    "summary_flows",
    "One row per amount in the summary of a transfer, with the round of the transfer.",
    f"""
    SELECT kind, record_time, party, round_number, {amount_of("text")} AS amount
    FROM (
        SELECT
            record_time,
            sender AS party,
            round_number,
            unnest({array_of(AMOUNTS_OF_SUMMARIES.values())}) AS kind,
            unnest(amount_texts) AS text
        FROM counted_summaries
        UNION ALL
        SELECT
            record_time,
            sender AS party,
            round_number,
            'fees' AS kind,
            -- A number that was not sent as text can have lost digits, so it is unknown.
            CASE WHEN fee NOT LIKE '"%' AND regexp_matches(fee, '[.eE]') THEN '' ELSE json_extract_string(fee, '$') END AS text
        FROM (SELECT *, unnest(output_fees) AS fee FROM counted_summaries)
        WHERE fee <> 'null'
    )
    WHERE text IS NOT NULL
    """,
    relations=(COUNTED_SUMMARIES,),
    is_materialized=False,
)

# -- other choices ------------------------------------------------------------------------------------------------------------

NAME_FEES = Relation(
    "name_fees",
    "One row per coin of the network's party that a payment for a name archives.",
    f"""
    SELECT ends.record_time, update_key, has_own_parent, amount
    FROM ends
    JOIN parents USING (update_key, node_index)
    JOIN coin_contracts USING (contract_key)
    WHERE is_consuming AND ends.kind = 'coin' AND is_of_dso AND parent_choice IN {one_of(NAME_PAYMENTS)}
    """,
    relations=(ENDS, PARENTS, COIN_CONTRACTS),
    is_materialized=False,
)
ARCHIVED_COINS = Relation(
    "archived_coins",
    "One row per coin that is archived, and per coin that expires. The amount is missing if the contract is unknown.",
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
    is_materialized=False,
)
OTHER_FLOWS = Relation(
    "other_flows",
    "One row per amount that a choice other than a transfer moves, or that a coin adds to the supply or takes from it.",
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
    SELECT other_kind, record_time, update_key, receiver, {amount_of("other_text")}
    FROM payments
    WHERE other_kind IS NOT NULL
    """,
    relations=(COIN_CONTRACTS, ENDS, ARCHIVED_COINS, NAME_FEES, PARENTS, PAYMENTS),
    is_materialized=False,
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
    is_materialized=False,
)
FLOWS_AND_COUPONS = Relation(
    "flows_and_coupons",
    "One row per amount of coin or bought traffic, and per coupon that is issued or expires.",
    """
    FROM flows
    UNION ALL BY NAME
    FROM coupon_flows
    """,
    relations=(FLOWS, COUPON_FLOWS),
    is_materialized=False,
)
ROUNDS_OF_UPDATES = Relation(
    "rounds_of_updates",
    "One row per update with a transfer, with the round of its first transfer.",
    """
    SELECT update_key, arg_min_null(round_number, node_index) AS transfer_round
    FROM counted_summaries
    GROUP BY ALL
    """,
    relations=(COUNTED_SUMMARIES,),
)
SUMS_BY_TRANSFER = Relation(
    "sums_by_transfer",
    "One row per kind of amount and round of the transfer in its update, or time if that round is unknown.",
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
    "One row per kind of amount and round: that of the coupon or transfer, or else the lowest open round at the time. "
    "A round whose coupons are not final has one more row, whose kind says what can still happen.",
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
    UNION ALL
    SELECT CASE WHEN can_issue THEN 'can be issued' ELSE 'can expire' END, round_number, NULL, 0, 0
    FROM unsettled_rounds
    """,
    relations=(SUMS_BY_TRANSFER, COUPON_FLOWS, UNSETTLED_ROUNDS),
    parameters=(LOWEST_ROUNDS,),
    is_materialized=False,
)
