"""Templates of the coin, its rules, rights and rewards."""

from __future__ import annotations

from decimal import Decimal

from ...payloads import Optional, amount, boolean, constructor, duration, integer, numeric, party, text, time
from ...times import HOUR, MINUTE
from ..parts import ISSUANCE_CONFIG, REWARD_CONFIG, ROUND, TRANSFER_CONFIG
from ..specs import TemplateSpec

COIN_PACKAGE = "splice-$coin"

COIN = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:$Coin",
    {
        "dso": party(),
        "owner": party(),
        "amount": {"initialAmount": amount("units"), "createdAt": ROUND, "ratePerRound": {"rate": Decimal("0.0000190259")}},
    },
    signatories=("dso", "owner"),
)
LOCKED_COIN = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:Locked$Coin",
    {
        "$coin": {
            "dso": party(),
            "owner": party(),
            "amount": {"initialAmount": amount("units"), "createdAt": ROUND, "ratePerRound": {"rate": Decimal("0.0000190259")}},
        },
        "lock": {"holders": [party("dso")], "expiresAt": time("now", after=HOUR), "optContext": None},
    },
    signatories=("dso", "owner"),
)
COIN_RULES = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$CoinRules:$CoinRules",
    {
        "dso": party(),
        "configSchedule": {
            "initialValue": {
                "transferConfig": TRANSFER_CONFIG,
                "issuanceCurve": {"initialValue": ISSUANCE_CONFIG, "futureValues": []},
                "decentralizedSynchronizer": {
                    "activeSynchronizer": text("synchronizer"),
                    "fees": {
                        "baseRateTrafficLimits": {"burstAmount": 400_000, "burstWindow": duration(20 * MINUTE)},
                        "extraTrafficPrice": numeric("traffic_price"),
                        "readVsWriteScalingFactor": 4,
                        "minTopupAmount": 200_000,
                    },
                },
                "tickDuration": duration(10 * MINUTE),
                "rewardConfig": Optional(REWARD_CONFIG, source="minting_version"),
            },
            "futureValues": [],
        },
        "isDevNet": True,
    },
    key_word="coin rules",
)
UNCLAIMED_REWARD = TemplateSpec(
    COIN_PACKAGE, "Splice.$Coin:UnclaimedReward", {"dso": party(), "amount": amount("units")}, key_word="unclaimed reward"
)
MEMBER_TRAFFIC = TemplateSpec(
    COIN_PACKAGE,
    "Splice.DecentralizedSynchronizer:MemberTraffic",
    {
        "dso": party(),
        "memberId": text("member_id"),
        "synchronizerId": text("synchronizer"),
        "migrationId": integer("migration"),
        "totalPurchased": integer("bytes"),
        "numPurchases": integer("purchases"),
        "$coinSpent": amount("spent"),
        "usdSpent": amount("usd"),
    },
    key_word="member traffic",
)
FEATURED_RIGHT = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:FeaturedAppRight",
    {"dso": party(), "provider": party(), "activityWeight": Optional(numeric(), source="weight")},
    observers=("provider",),
    key_word="featured",
)
ACTIVITY_MARKER = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:FeaturedAppActivityMarker",
    {"dso": party(), "provider": party(), "beneficiary": party("provider"), "weight": numeric()},
    observers=("provider",),
    owner="provider",
)
REWARD_COUPON = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:AppRewardCoupon",
    {
        "dso": party(),
        "provider": party(),
        "featured": boolean(),
        "amount": numeric("weight"),
        "round": ROUND,
        "beneficiary": None,
    },
    observers=("provider",),
    owner="provider",
)
REWARD_COUPON_V2 = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:RewardCouponV2",
    {
        "dso": party(),
        "round": ROUND,
        "provider": party(),
        "amount": amount("units"),
        "expiresAt": time("now", after=6 * HOUR),
        "providerIsObserver": True,
        "beneficiary": Optional(party(), source="beneficiary"),
        "kind": Optional(constructor("RewardKind_App")),
    },
    observers=("provider",),
    owner="holder",
)
SV_COUPON = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:SvRewardCoupon",
    {"dso": party(), "sv": party(), "beneficiary": party(), "round": ROUND, "weight": integer()},
    observers=("sv",),
    owner="beneficiary",
    key_word="sv coupon",
)
LIVENESS_RECORD = TemplateSpec(
    COIN_PACKAGE,
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord",
    {"dso": party(), "validator": party(), "round": ROUND},
    observers=("validator",),
    owner="validator",
)
VALIDATOR_LICENSE = TemplateSpec(
    COIN_PACKAGE,
    "Splice.ValidatorLicense:ValidatorLicense",
    {
        "validator": party(),
        "sponsor": party(),
        "dso": party(),
        "faucetState": Optional(
            {
                "firstReceivedFor": {"number": integer("first_round")},
                "lastReceivedFor": ROUND,
                "numCouponsMissed": integer("missed"),
            }
        ),
        "metadata": Optional({"lastUpdatedAt": time("start"), "version": "0.7.4", "contactPoint": text("contact")}),
        "lastActiveAt": Optional(time("now")),
    },
    observers=("validator",),
    key_word="licence",
)
FAKE_RIGHT = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin:FeaturedAppRight",
    {"dso": party(), "provider": party(), "activityWeight": Optional(Decimal("9.0"))},
    signatories=("impostor",),
    observers=("provider",),
    uploader="fenwick-tools",
)
