"""Relations of the contracts that coin moves with.

Payloads are most of the bytes, so one relation reads those of contracts, once, and keeps the few members that others need.
"""

from __future__ import annotations

from ledgerframes.engine.amounts import amount_of, exact, member, whole
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.nodes import CONTRACTS, OLDER_CONTRACTS
from ledgerframes.engine.relation import Relation

COINS = "('coin', 'locked coin')"
COUPONS = "('reward', 'app', 'validator', 'sv', 'liveness')"
# Short texts need little memory.
KIND = """CASE template
            WHEN 'Splice.Coin:Coin' THEN 'coin'
            WHEN 'Splice.Coin:LockedCoin' THEN 'locked coin'
            WHEN 'Splice.Coin:RewardCouponV2' THEN 'reward'
            WHEN 'Splice.Coin:AppRewardCoupon' THEN 'app'
            WHEN 'Splice.Coin:ValidatorRewardCoupon' THEN 'validator'
            WHEN 'Splice.Coin:SvRewardCoupon' THEN 'sv'
            WHEN 'Splice.ValidatorLicense:ValidatorLivenessActivityRecord' THEN 'liveness'
            WHEN 'Splice.DecentralizedSynchronizer:MemberTraffic' THEN 'traffic'
            WHEN 'Splice.Coin.RewardAccountingV2:ProcessRewardsV2' THEN 'process'
        END"""
# The network's word for the coin is the name of the coin in a locked one.
COIN = f"""CASE
            WHEN kind = 'locked coin' THEN {member("payload", "'$.' || coin")}
            ELSE payload
        END"""

COIN_CONTRACTS = Relation(
    "coin_contracts",
    "One row per contract that coin moves with, and per contract that the network's party does not sign.",
    f"""
    SELECT
        record_time,
        update_key,
        node_index,
        depth,
        contract_key,
        kind,
        is_signed,
        kind IN {COINS} AND members[1] = dso AS is_of_dso,
        {amount_of("amount_text")} AS amount,
        CASE WHEN kind = 'traffic' THEN {whole("members[13]")} END AS bytes_bought,
        CASE WHEN kind IN {COUPONS} THEN {whole("members[3]")} END AS round_number,
        CASE
            WHEN kind IN {COUPONS}
            THEN coalesce(nullif(members[4], ''), nullif(members[5], ''), nullif(members[6], ''), nullif(members[7], ''))
        END AS party,
        coalesce(members[10] = 'RewardKind_Validator', false) AS is_for_validator,
        coalesce(members[11] = 'true', false) AS is_featured,
        coalesce(members[12] = 'true', false) AS is_dry_run
    FROM (
        SELECT
            *,
            CASE
                WHEN kind IN {COINS} THEN members[2]
                WHEN kind = 'liveness' THEN '1'
                WHEN kind = 'sv' THEN members[8]
                WHEN kind = 'traffic' THEN {member("payload", "'$.' || coin || 'Spent'")}
                ELSE members[9]
            END AS amount_text
        FROM (
            SELECT
                *,
                TRY(json_extract_string({COIN}, [
                    '$.owner', '$.amount.initialAmount', '$.round.number', '$.provider', '$.user', '$.validator', '$.sv',
                    '$.weight', '$.amount', '$.kind', '$.featured', '$.dryRun', '$.totalPurchased'
                ])) AS members
            FROM (
                SELECT
                    record_time,
                    {key_of("update_id")} AS update_key,
                    node_index,
                    depth,
                    {key_of("contract_id")} AS contract_key,
                    {KIND} AS kind,
                    is_signed,
                    CASE WHEN kind IS NOT NULL THEN {exact("create_arguments")} END AS payload
                FROM contracts
                WHERE kind IS NOT NULL OR NOT is_signed
            ), network
        )
    )
    """,
    relations=(CONTRACTS,),
    is_kept=True,
)
COINS_OF_SNAPSHOT = Relation(
    "coins_of_snapshot",
    "One row per coin of the network in the snapshot, with its owner and amount.",
    f"""
    SELECT template, {member("coin_payload", "'$.owner'")} AS owner, {member("coin_payload", "'$.amount.initialAmount'")} AS text
    FROM (
        SELECT template, {COIN} AS coin_payload
        FROM (SELECT template, {KIND} AS kind, is_signed, {exact("create_arguments")} AS payload FROM older_contracts), network
        WHERE is_signed AND kind IN {COINS}
    )
    """,
    relations=(OLDER_CONTRACTS,),
)
