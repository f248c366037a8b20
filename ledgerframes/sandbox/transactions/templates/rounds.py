"""Templates of mining rounds and of the rewards that they calculate."""

from __future__ import annotations

from decimal import Decimal

from ...payloads import Optional, amount, boolean, constructor, duration, integer, numeric, party, time
from ...times import HOUR, MINUTE
from ..parts import BATCH_HASH, ISSUANCE_CONFIG, REWARD_CONFIG, ROUND, TRANSFER_CONFIG
from ..specs import TemplateSpec
from .coin import COIN_PACKAGE

OPEN_ROUND = TemplateSpec(
    COIN_PACKAGE,
    "Splice.Round:OpenMiningRound",
    {
        "dso": party(),
        "round": ROUND,
        "$coinPrice": numeric("price"),
        "opensAt": time("opens"),
        "targetClosesAt": time("opens", after=20 * MINUTE),
        "issuingFor": duration(integer("issuing_for")),
        "transferConfigUsd": TRANSFER_CONFIG,
        "issuanceConfig": ISSUANCE_CONFIG,
        "tickDuration": duration(10 * MINUTE),
        "trafficPrice": Optional(numeric("traffic_price"), source="minting_version"),
        "rewardConfig": Optional(REWARD_CONFIG, source="minting_version"),
    },
    key_word="open round",
)
SUMMARIZING_ROUND = TemplateSpec(
    COIN_PACKAGE, "Splice.Round:SummarizingMiningRound", {"dso": party(), "round": ROUND}, key_word="summarizing round"
)
ISSUING_ROUND = TemplateSpec(
    COIN_PACKAGE,
    "Splice.Round:IssuingMiningRound",
    {
        "dso": party(),
        "round": ROUND,
        "issuancePerValidatorRewardCoupon": Decimal("0.25"),
        "issuancePerFeaturedAppRewardCoupon": amount("per_featured"),
        "issuancePerUnfeaturedAppRewardCoupon": Decimal("0.5"),
        "issuancePerSvRewardCoupon": amount("per_sv_weight"),
        "opensAt": time("opens", after=30 * MINUTE),
        "targetClosesAt": time("opens", after=50 * MINUTE),
        "optIssuancePerValidatorFaucetCoupon": Optional(amount("per_faucet")),
    },
    key_word="issuing round",
)
CLOSED_ROUND = TemplateSpec(
    COIN_PACKAGE, "Splice.Round:ClosedMiningRound", {"dso": party(), "round": ROUND}, key_word="closed round"
)
CALCULATE_REWARDS = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin.RewardAccountingV2:CalculateRewardsV2",
    {
        "dso": party(),
        "round": ROUND,
        "roundClosedAt": time("closed_at"),
        "rewardCouponTimeToLive": duration(6 * HOUR),
        "dryRun": boolean("dry_run"),
        "kind": Optional(constructor("RewardKind_App")),
    },
    key_word="calculate rewards",
)
PROCESS_REWARDS = TemplateSpec(
    COIN_PACKAGE,
    "Splice.$Coin.RewardAccountingV2:ProcessRewardsV2",
    {
        "dso": party(),
        "round": ROUND,
        "roundClosedAt": time("closed_at"),
        "dryRun": boolean("dry_run"),
        "rewardCouponTimeToLive": duration(6 * HOUR),
        "batchHash": BATCH_HASH,
        "kind": Optional(constructor("RewardKind_App")),
    },
    key_word="process rewards",
)
