"""Parts that several payloads have in common."""

from __future__ import annotations

from decimal import Decimal

from ..payloads import (
    NO_AMOUNT,
    UNIT,
    Each,
    Optional,
    Pairs,
    Value,
    Variant,
    amount,
    constructor,
    contract,
    duration,
    enum,
    integer,
    numeric,
    party,
    text,
    time,
)
from ..times import HOUR

FREE: Value = {"fee": Decimal("0.0")}
ROUND: Value = {"number": integer("round")}
PRICE_PER_UNIT: Value = {"amount": amount("units"), "unit": constructor("$CoinUnit")}
TRANSFER_CONFIG: Value = {
    "createFee": FREE,
    "holdingFee": {"rate": Decimal("0.0000190259")},
    "transferFee": {"initialRate": Decimal("0.0"), "steps": []},
    "lockHolderFee": FREE,
    "extraFeaturedAppRewardAmount": Decimal("1.0"),
    "maxNumInputs": 100,
    "maxNumOutputs": 100,
    "maxNumLockHolders": 50,
}
ISSUANCE_CONFIG: Value = {
    "$coinToIssuePerYear": numeric("per_year"),
    "validatorRewardPercentage": Decimal("0.2"),
    "appRewardPercentage": Decimal("0.6"),
    "validatorRewardCap": Decimal("0.25"),
    "featuredAppRewardCap": Decimal("2.0"),
    "unfeaturedAppRewardCap": Decimal("0.5"),
    "optValidatorFaucetCap": Optional(Decimal("0.5")),
    "optDevelopmentFundPercentage": Optional(Decimal("0.05"), source="minting_version"),
}
REWARD_CONFIG: Value = {
    "mintingVersion": enum("minting_version"),
    "dryRunVersion": Optional(enum(), source="dry_run_version"),
    "batchSize": 2,
    "rewardCouponTimeToLive": duration(6 * HOUR),
    "appRewardCouponThreshold": Decimal("0.5"),
}
BATCH_HASH: Value = {"value": text("batch_hash")}
START_PROCESSING: Value = {"calculateRewardsCid": contract("calculate"), "batchHash": BATCH_HASH}
SET_CONFIG: Value = Variant("ARC_$CoinRules", {"$coinRulesAction": Variant("CRARC_SetConfig", UNIT)})
START_REWARDS: Value = Variant(
    "ARC_$CoinRules", {"$coinRulesAction": Variant("CRARC_StartProcessingRewardsV2", START_PROCESSING)}
)
STATUS: Value = {
    "createdAt": time("clock"),
    "mediatorSynchronizerTime": time("clock", after=-210_000),
    "participantSynchronizerTime": time("clock", after=-350_000),
    "latestOpenRound": {"number": integer("round_ahead")},
}
TRACKING: Value = {"trackingId": text("tracking_id"), "sender": party(), "receiver": party()}
BATCH_RESULT: Value = {"outcomes": [constructor("COO_Ok")], "senderChange": None}
TRANSFER_INPUTS: Value = [
    Each("inputs", Variant("Input$Coin", contract())),
    Each("app_coupons", Variant("InputAppRewardCoupon", contract())),
    Each("coupons_v2", Variant("InputRewardCouponV2", contract())),
    Each("sv_coupons", Variant("InputSvRewardCoupon", contract())),
    Each("records", Variant("InputValidatorLivenessActivityRecord", contract())),
]
TRANSFER_CONTEXT: Value = {
    "openMiningRound": contract("open_round"),
    "issuingMiningRounds": Pairs("issuing_rounds", {"number": integer()}, contract("issuing_round")),
    "validatorRights": Pairs(),
    "featuredAppRight": None,
}
TRANSFER_SUMMARY: Value = {
    "input$CoinAmount": amount("total"),
    "inputAppRewardAmount": amount("from_app"),
    "inputValidatorRewardAmount": amount("from_validator"),
    "inputSvRewardAmount": amount("from_sv"),
    "holdingFees": NO_AMOUNT,
    "senderChangeFee": NO_AMOUNT,
    "outputFees": [Each("parts", NO_AMOUNT)],
    "senderChangeAmount": amount("change_units"),
    "$coinPrice": numeric("price"),
    "inputValidatorFaucetAmount": Optional(amount("from_validator")),
    "inputUnclaimedActivityRecordAmount": Optional(NO_AMOUNT),
    "inputDevelopmentFundAmount": Optional(NO_AMOUNT),
}
ADVANCE: Value = {
    "$coinPrice": numeric("price"),
    "roundToArchiveCid": contract("lowest"),
    "middleRoundCid": contract("middle"),
    "latestRoundCid": contract("latest"),
}
NEW_ROUNDS: Value = {"summarizingRoundCid": contract("summarizing"), "openRoundCid": contract("fresh")}
TOKENS: Value = {"owner": party(), "holdings": [Each("tokens", contract())], "reason": None}
