"""Relations of the coin that parties own, from the creates and archives of coins.

The caller passes ``known``, one row with the time from which the coins are known, and ``chosen``, the parties to count, all
without rows.
"""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, exact
from ledgerframes.engine.coin_contracts import COIN, COINS, KIND
from ledgerframes.engine.coin_exercises import ENDS
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.nodes import CONTRACTS
from ledgerframes.engine.relation import Relation

OWNED_COINS = Relation(
    "owned_coins",
    "One row per coin of the network, with its owner. One of the snapshot has no time.",
    f"""
    SELECT
        record_time,
        contract_key,
        kind = 'locked coin' AS is_locked,
        members[1] AS owner,
        {amount_of("members[2]")} AS amount,
        {amount_of("members[3]")} AS fee_per_round
    FROM (
        SELECT *, TRY(json_extract_string({COIN}, [
            '$.owner', '$.amount.initialAmount', '$.amount.ratePerRound.rate'
        ])) AS members
        FROM (
            SELECT
                record_time,
                {key_of("contract_id")} AS contract_key,
                {KIND} AS kind,
                {exact("create_arguments")} AS payload
            FROM contracts
            WHERE is_signed AND kind IN {COINS}
        ), network
    )
    """,
    relations=(CONTRACTS,),
    is_kept=True,
)
CHANGES = Relation(
    "changes",
    "One row per coin that a party gets or has no more. Without a time, it is there when the coins are first known.",
    f"""
    SELECT
        CASE WHEN record_time > since THEN record_time END AS record_time,
        owner,
        is_locked,
        amount,
        fee_per_round,
        step
    FROM (
        SELECT record_time, owner, is_locked, amount, fee_per_round, 1 AS step
        FROM owned_coins
        UNION ALL
        SELECT ends.record_time, owner, is_locked, -amount, -fee_per_round, -1
        FROM ends
        JOIN owned_coins USING (contract_key)
        WHERE is_consuming AND ends.kind IN {COINS}
    ), known
    WHERE owner IS NULL OR owner IN (SELECT party FROM chosen) OR NOT EXISTS (FROM chosen)
    """,
    relations=(OWNED_COINS, ENDS),
    is_kept=True,
)
OWNERS = Relation(
    "owners",
    "One row per party that owns or owned coin.",
    "SELECT DISTINCT owner FROM owned_coins WHERE owner IS NOT NULL",
    relations=(OWNED_COINS,),
)
COIN_AT_SUMS = Relation(
    "coin_at_sums",
    "One row per sum of the network: the coin that the history leads to at its time.",
    """
    SELECT
        sums.party,
        sums.snapshot_time,
        coalesce(sum(amount) FILTER (NOT is_locked), 0)::DECIMAL(38, 10) AS unlocked,
        coalesce(sum(amount) FILTER (is_locked), 0)::DECIMAL(38, 10) AS locked,
        coalesce(sum(step) FILTER (amount IS NULL), 0) AS unknown
    FROM sums
    LEFT JOIN changes ON owner = party AND (record_time IS NULL OR record_time <= snapshot_time)
    GROUP BY ALL
    """,
    relations=(CHANGES,),
)
