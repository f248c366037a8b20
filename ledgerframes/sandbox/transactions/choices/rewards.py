"""Choices of featured apps and of rewards."""

from __future__ import annotations

from decimal import Decimal

from ...payloads import UNIT, Each, Optional, TextMap, Variant, amount, contract, integer, numeric, party
from ..parts import BATCH_HASH, START_PROCESSING, START_REWARDS
from ..specs import ChoiceSpec, Keyed
from ..templates.apps import REWARD_INTERFACE
from ..templates.coin import FEATURED_RIGHT

COIN_RULES_CLAIM_EXPIRED_REWARDS = ChoiceSpec(
    "$CoinRules_ClaimExpiredRewards",
    contract="coin_rules",
    actors=("dso",),
    argument={
        "closedRoundCid": contract("closed"),
        "appRewardCouponCids": [Each("app_coupons", contract())],
        "svRewardCouponCids": [Each("sv_coupons", contract())],
    },
    result={"unclaimedRewardCid": None},
)
VALIDATOR_LICENSE_RECORD_VALIDATOR_LIVENESS_ACTIVITY = ChoiceSpec(
    "ValidatorLicense_RecordValidatorLivenessActivity",
    contract="old",
    actors=("validator",),
    argument={"openRoundCid": contract("open_round")},
    result={"licenseCid": contract("new"), "couponCid": contract("record")},
    is_consuming=True,
)
FEATURED_APP_RIGHT_CREATE_ACTIVITY_MARKER = ChoiceSpec(
    "FeaturedAppRight_CreateActivityMarker",
    contract=Keyed(FEATURED_RIGHT, "provider"),
    actors=("provider",),
    argument={"beneficiaries": [Each("shares", {"beneficiary": party("owner"), "weight": Decimal("1.0")})]},
    result={"activityMarkerCids": [Each("markers", contract())]},
)
DSO_RULES_CONVERT_FEATURED_APP_ACTIVITY_MARKERS = ChoiceSpec(
    "DsoRules_ConvertFeaturedAppActivityMarkers",
    contract="dso_rules",
    actors=("sv",),
    argument={"markerCids": [Each("markers", contract())], "openRound": contract("open_round"), "sv": party()},
    result={"couponCids": [Each("coupons", contract())]},
)
DSO_RULES_GRANT_FEATURED_APP_RIGHT = ChoiceSpec(
    "DsoRules_GrantFeaturedAppRight",
    contract="dso_rules",
    actors=("dso",),
    argument={"provider": party(), "activityWeight": Optional(numeric(), source="weight")},
    result={"featuredAppRight": contract("right")},
)
DSO_RULES_REVOKE_FEATURED_APP_RIGHT = ChoiceSpec(
    "DsoRules_RevokeFeaturedAppRight",
    contract="dso_rules",
    actors=("dso",),
    argument={"rightCid": contract("right"), "provider": party()},
    result=UNIT,
)
FEATURED_APP_RIGHT_WITHDRAW = ChoiceSpec(
    "FeaturedAppRight_Withdraw",
    contract="right",
    actors=("dso",),
    argument={"reason": "revoked by vote"},
    result=UNIT,
    is_consuming=True,
)
FEATURED_APP_RIGHT_CANCEL = ChoiceSpec(
    "FeaturedAppRight_Cancel", contract="right", actors=("provider",), argument=UNIT, result=UNIT, is_consuming=True
)
DSO_RULES_UPDATE_FEATURED_APP_RIGHT = ChoiceSpec(
    "DsoRules_UpdateFeaturedAppRight",
    contract="dso_rules",
    actors=("dso",),
    argument={"rightCid": contract("right"), "provider": party(), "newActivityWeight": Optional(numeric(), source="weight")},
    result={"featuredAppRight": contract("renewed")},
)
FEATURED_APP_RIGHT_UPDATE = ChoiceSpec(
    "FeaturedAppRight_Update",
    contract="right",
    actors=("dso",),
    argument={"newActivityWeight": Optional(numeric(), source="weight")},
    result={"featuredAppRight": contract("renewed")},
    is_consuming=True,
)
DSO_RULES_RECEIVE_SV_REWARD_COUPON = ChoiceSpec(
    "DsoRules_ReceiveSvRewardCoupon",
    contract="dso_rules",
    actors=("sv",),
    argument={
        "sv": party(),
        "openRoundCid": contract("open_round"),
        "beneficiaries": [Each("shares", {"_1": party("beneficiary"), "_2": integer("weight")})],
    },
    result={"svRewardCoupons": [Each("coupons", contract())]},
)
DSO_RULES_CLAIM_EXPIRED_REWARDS = ChoiceSpec(
    "DsoRules_ClaimExpiredRewards",
    contract="dso_rules",
    actors=("sv",),
    argument={"$coinRulesCid": contract("coin_rules"), "sv": party()},
    result={"unclaimedRewardCid": None},
)
DSO_RULES_EXECUTE_CONFIRMED_ACTION_REWARDS = ChoiceSpec(
    "DsoRules_ExecuteConfirmedAction",
    contract="dso_rules",
    actors=("sv",),
    argument={
        "action": START_REWARDS,
        "$coinRulesCid": contract("coin_rules"),
        "confirmations": [Each("confirmations", contract())],
        "sv": party(),
    },
    result=UNIT,
)
DSO_RULES_CONFIRM_ACTION_REWARDS = ChoiceSpec(
    "DsoRules_ConfirmAction",
    contract="dso_rules",
    actors=("sv",),
    argument={"action": START_REWARDS, "confirmer": party("sv")},
    result={"confirmation": contract()},
)
COIN_RULES_START_PROCESSING_REWARDS_V2 = ChoiceSpec(
    "$CoinRules_StartProcessingRewardsV2",
    contract="coin_rules",
    actors=("dso",),
    argument=START_PROCESSING,
    result={"processRewardsCid": contract("process")},
)
PROCESS_REWARDS_V2_PROCESS_BATCH = ChoiceSpec(
    "ProcessRewardsV2_ProcessBatch",
    contract="process",
    actors=("dso",),
    argument={
        "batch": Variant("BatchOfMintingAllowances", [Each("awards", {"provider": party(), "amount": amount("units")})]),
        "providersWithWrongVettingState": [],
    },
    result={"couponCids": [Each("coupons", contract())]},
    is_consuming=True,
)
PROCESS_REWARDS_V2_PROCESS_BATCH_BATCHES = ChoiceSpec(
    "ProcessRewardsV2_ProcessBatch",
    contract="process",
    actors=("dso",),
    argument={"batch": Variant("BatchOfBatches", [Each("hashes", BATCH_HASH)]), "providersWithWrongVettingState": []},
    result={"processCids": [Each("children", contract())]},
    is_consuming=True,
)
DSO_RULES_CLAIM_EXPIRED_REWARDS_COUPONS = ChoiceSpec(
    "DsoRules_ClaimExpiredRewards",
    contract="dso_rules",
    actors=("sv",),
    argument={"$coinRulesCid": contract("coin_rules"), "sv": party()},
    result={"unclaimedRewardCid": Optional(contract("unclaimed"))},
)
COIN_RULES_CLAIM_EXPIRED_REWARDS_V2 = ChoiceSpec(
    "$CoinRules_ClaimExpiredRewardsV2",
    contract="coin_rules",
    actors=("dso",),
    argument={"couponCids": [Each("expired", contract())]},
    result={"unclaimedRewardCid": Optional(contract("unclaimed"))},
)
DSO_RULES_MERGE_UNCLAIMED_REWARDS = ChoiceSpec(
    "DsoRules_MergeUnclaimedRewards",
    contract="dso_rules",
    actors=("sv",),
    argument={"$coinRulesCid": contract("coin_rules"), "unclaimedRewardCids": [Each("parts", contract())], "sv": party()},
    result={"unclaimedReward": contract("merged")},
)
COIN_RULES_MERGE_UNCLAIMED_REWARDS = ChoiceSpec(
    "$CoinRules_MergeUnclaimedRewards",
    contract="coin_rules",
    actors=("dso",),
    argument={"unclaimedRewardCids": [Each("parts", contract())]},
    result={"unclaimedRewardCid": contract("merged")},
)
REWARD_COUPON_ASSIGN_BENEFICIARIES = ChoiceSpec(
    "RewardCoupon_AssignBeneficiaries",
    contract="coupon",
    actors=("provider",),
    argument={
        "newBeneficiaries": [Each("shares", {"beneficiary": party(), "percentage": numeric()})],
        "additionalCoupons": [Each("others", contract())],
        "extraArgs": TextMap({}),
    },
    result={"rewardCouponCids": [Each("assigned", contract())]},
    is_consuming=True,
    interface=REWARD_INTERFACE,
)
