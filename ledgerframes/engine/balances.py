"""Relations of the coin that parties own, from the creates and archivals of coins."""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, columns_of, exact, members
from ledgerframes.engine.coin_contracts import COIN, COINS, KIND
from ledgerframes.engine.coin_exercises import ENDS
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.nodes import CONTRACTS, NETWORK
from ledgerframes.engine.relation import Parameter, Relation

KNOWN = Parameter("known", "One row: the time from which the coins are known, in microseconds since 1970.")
CHOSEN = Parameter("chosen", "One row per party to count. Without rows, all parties count.")
SUMS = Parameter("sums", "One row per sum that the network publishes, with its party and time.")
OF_COINS = {"owner": "$.owner", "initial_amount": "$.amount.initialAmount", "rate_per_round": "$.amount.ratePerRound.rate"}
OWNED_COINS = Relation(
    "owned_coins",
    "One row per coin of the network, with its owner. Coins of the snapshot have no time.",
    f"""
    SELECT
        record_time,
        contract_key,
        kind = 'locked coin' AS is_locked,
        owner,
        {amount_of("initial_amount")} AS amount,
        {amount_of("rate_per_round")} AS fee_per_round
    FROM (
        SELECT *, {columns_of("members", OF_COINS)}
        FROM (
            SELECT *, {members(COIN, OF_COINS)} AS members
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
    )
    """,
    relations=(CONTRACTS,),
    parameters=(NETWORK,),
    is_materialized=True,
)
CHANGES = Relation(
    "changes",
    "One row per coin that a party gains or loses. The time is missing up to the time from which coins are known.",
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
    parameters=(KNOWN, CHOSEN),
    is_materialized=True,
)
ACTIVE_COINS = Relation(
    "active_coins",
    "One row per coin of the network that is active at the end of the frames.",
    "FROM owned_coins ANTI JOIN (SELECT contract_key FROM ends WHERE is_consuming) USING (contract_key)",
    relations=(OWNED_COINS, ENDS),
)
OWNERS = Relation(
    "owners",
    "One row per party that owns or owned coin.",
    "SELECT DISTINCT owner FROM owned_coins WHERE owner IS NOT NULL",
    relations=(OWNED_COINS,),
)
COIN_AT_SUMS = Relation(
    "coin_at_sums",
    "One row per sum that the network publishes, with the coin at its time as it follows from the history.",
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
    parameters=(SUMS,),
)
