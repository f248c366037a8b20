"""Relations of the contracts that take part in moves of coin.

Payloads make up most of the bytes, so one relation reads those of contracts once and keeps the few members that others need.
"""

from __future__ import annotations

from ledgerframes.datasets import templates
from ledgerframes.engine.amounts import amount_of, columns_of, exact, member, members, whole
from ledgerframes.engine.keys import key_of
from ledgerframes.engine.literals import one_of, quoted
from ledgerframes.engine.nodes import CONTRACTS, NETWORK, OLDER_CONTRACTS
from ledgerframes.engine.relation import Relation

COINS = one_of(["coin", "locked coin"])
COUPONS = one_of(["reward", "app", "validator", "sv", "liveness"])
# Short texts need little memory.
KINDS = {
    templates.COIN: "coin",
    templates.LOCKED_COIN: "locked coin",
    templates.REWARD_COUPON: "reward",
    templates.APP_REWARD_COUPON: "app",
    templates.VALIDATOR_REWARD_COUPON: "validator",
    templates.SV_REWARD_COUPON: "sv",
    templates.VALIDATOR_LIVENESS: "liveness",
    templates.MEMBER_TRAFFIC: "traffic",
    templates.PROCESS_REWARDS: "process",
}
KIND = "\n".join(
    [
        "CASE template",
        *(f"            WHEN {quoted(template)} THEN {quoted(kind)}" for template, kind in KINDS.items()),
        "        END",
    ]
)
# A locked coin contains its coin in a member that is named after the network's word for the coin.
COIN = f"""CASE
            WHEN kind = 'locked coin' THEN {member("payload", "'$.' || coin")}
            ELSE payload
        END"""

OF_CONTRACTS = {
    "owner": "$.owner",
    "initial_amount": "$.amount.initialAmount",
    "round_of_coupon": "$.round.number",
    "provider": "$.provider",
    "validator_user": "$.user",
    "validator": "$.validator",
    "super_validator": "$.sv",
    "weight": "$.weight",
    "amount_of_coupon": "$.amount",
    "reward_kind": "$.kind",
    "featured": "$.featured",
    "dry_run": "$.dryRun",
    "total_purchased": "$.totalPurchased",
}
COIN_CONTRACTS = Relation(
    "coin_contracts",
    "One row per contract that takes part in moves of coin, and per contract that the network's party does not sign.",
    f"""
    SELECT
        record_time,
        update_key,
        node_index,
        depth,
        contract_key,
        kind,
        is_signed,
        kind IN {COINS} AND owner = dso AS is_of_dso,
        {amount_of("amount_text")} AS amount,
        CASE WHEN kind = 'traffic' THEN {whole("total_purchased")} END AS bytes_bought,
        CASE WHEN kind IN {COUPONS} THEN {whole("round_of_coupon")} END AS round_number,
        CASE
            WHEN kind IN {COUPONS}
            THEN coalesce(nullif(provider, ''), nullif(validator_user, ''), nullif(validator, ''), nullif(super_validator, ''))
        END AS party,
        coalesce(reward_kind = 'RewardKind_Validator', false) AS is_for_validator,
        coalesce(featured = 'true', false) AS is_featured,
        coalesce(dry_run = 'true', false) AS is_dry_run
    FROM (
        SELECT
            *,
            CASE
                WHEN kind IN {COINS} THEN initial_amount
                WHEN kind = 'liveness' THEN '1'
                WHEN kind = 'sv' THEN weight
                WHEN kind = 'traffic' THEN {member("payload", "'$.' || coin || 'Spent'")}
                ELSE amount_of_coupon
            END AS amount_text
        FROM (
            SELECT *, {columns_of("members", OF_CONTRACTS)}
            FROM (
                SELECT *, {members(COIN, OF_CONTRACTS)} AS members
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
    )
    """,
    relations=(CONTRACTS,),
    parameters=(NETWORK,),
    is_materialized=True,
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
    parameters=(NETWORK,),
)
