"""Choices of the coin rules for coins and traffic."""

from __future__ import annotations

from decimal import Decimal

from ...payloads import Each, Optional, Variant, amount, contract, integer, party, text
from ..parts import ROUND, TRANSFER_CONTEXT, TRANSFER_INPUTS, TRANSFER_SUMMARY
from ..specs import ChoiceSpec

COIN_RULES_MINT = ChoiceSpec(
    "$CoinRules_Mint",
    contract="coin_rules",
    actors=("owner",),
    argument={"receiver": party("owner"), "amount": amount("units"), "openRound": contract("open_round")},
    result={"$coinSum": {"$coin": contract("coin")}},
)
COIN_RULES_DEV_NET_TAP = ChoiceSpec(
    "$CoinRules_DevNet_Tap",
    contract="coin_rules",
    actors=("owner",),
    argument={"receiver": party("owner"), "amount": amount("units"), "openRound": contract("open_round")},
    result={"$coinSum": {"$coin": contract("coin")}, "meta": None},
)
COIN_RULES_TRANSFER = ChoiceSpec(
    "$CoinRules_Transfer",
    contract="coin_rules",
    actors=("actors",),
    argument={
        "transfer": {
            "sender": party(),
            "provider": party(),
            "inputs": TRANSFER_INPUTS,
            "outputs": [
                Each("parts", {"receiver": party(), "receiverFeeRatio": Decimal("0.0"), "amount": amount("units"), "lock": None})
            ],
            "beneficiaries": None,
        },
        "context": TRANSFER_CONTEXT,
        "expectedDso": Optional(party("dso")),
    },
    result={
        "round": ROUND,
        "summary": TRANSFER_SUMMARY,
        "created$Coins": [Each("outputs", Variant("TransferResult$Coin", contract()))],
        "senderChange$Coin": Optional(contract(), source="change"),
        "meta": None,
    },
)
COIN_RULES_BUY_MEMBER_TRAFFIC = ChoiceSpec(
    "$CoinRules_BuyMemberTraffic",
    contract="coin_rules",
    actors=("buyer",),
    argument={
        "inputs": TRANSFER_INPUTS,
        "context": TRANSFER_CONTEXT,
        "provider": party("buyer"),
        "memberId": text("member_id"),
        "synchronizerId": text("synchronizer"),
        "migrationId": integer("migration"),
        "trafficAmount": integer("bytes"),
        "expectedDso": Optional(party("dso")),
    },
    result={
        "round": ROUND,
        "summary": TRANSFER_SUMMARY,
        "$coinPaid": amount("spent"),
        "purchasedTraffic": contract("traffic"),
        "senderChange$Coin": Optional(contract(), source="change"),
        "meta": None,
    },
)
COIN_RULES_MERGE_MEMBER_TRAFFIC_CONTRACTS = ChoiceSpec(
    "$CoinRules_MergeMemberTrafficContracts",
    contract="coin_rules",
    actors=("dso",),
    argument={"trafficCids": [Each("merged", contract())]},
    result={"mergedTraffic": contract("traffic")},
)
COIN_EXPIRE_V2 = ChoiceSpec(
    "$Coin_ExpireV2",
    contract="dust",
    actors=("dso",),
    argument={"roundCid": contract("open_round")},
    result={"expireSum": {"owner": party(), "amount": amount("units")}, "meta": None},
    is_consuming=True,
)
LOCKED_COIN_EXPIRE_COIN_V2 = ChoiceSpec(
    "Locked$Coin_Expire$CoinV2",
    contract="dust",
    actors=("dso",),
    argument={"roundCid": contract("open_round")},
    result={"expireSum": {"owner": party(), "amount": amount("units")}, "meta": None},
    is_consuming=True,
)
