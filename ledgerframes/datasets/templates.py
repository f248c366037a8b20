"""Templates of the network's contracts. ``Coin`` stands for the network's own word."""

from __future__ import annotations

COIN = "Splice.Coin:Coin"
LOCKED_COIN = "Splice.Coin:LockedCoin"
FEATURED_APP_RIGHT = "Splice.Coin:FeaturedAppRight"
REWARD_COUPON = "Splice.Coin:RewardCouponV2"
APP_REWARD_COUPON = "Splice.Coin:AppRewardCoupon"
VALIDATOR_REWARD_COUPON = "Splice.Coin:ValidatorRewardCoupon"
SV_REWARD_COUPON = "Splice.Coin:SvRewardCoupon"
VALIDATOR_LIVENESS = "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
CALCULATE_REWARDS = "Splice.Coin.RewardAccountingV2:CalculateRewardsV2"
PROCESS_REWARDS = "Splice.Coin.RewardAccountingV2:ProcessRewardsV2"
COIN_RULES = "Splice.CoinRules:CoinRules"
TRANSFER_PREAPPROVAL = "Splice.CoinRules:TransferPreapproval"
MEMBER_TRAFFIC = "Splice.DecentralizedSynchronizer:MemberTraffic"
DSO_RULES = "Splice.DsoRules:DsoRules"
CONFIRMATION = "Splice.DsoRules:Confirmation"
OPEN_ROUND = "Splice.Round:OpenMiningRound"
ISSUING_ROUND = "Splice.Round:IssuingMiningRound"
SUMMARIZING_ROUND = "Splice.Round:SummarizingMiningRound"
CLOSED_ROUND = "Splice.Round:ClosedMiningRound"
NAME_ENTRY = "Splice.Ans:AnsEntry"
NAME_RULES = "Splice.Ans:AnsRules"

# The templates that hold the state of the network, as a regular expression over any word for the coin.
OF_STATE = r"Splice\.(DsoRules:DsoRules|Round:OpenMiningRound|\w+:FeaturedAppRight|\w+Rules:\w+Rules)"
