"""Choices that move mining rounds on."""

from __future__ import annotations

from ...payloads import NO_AMOUNT, UNIT, Optional, Variant, amount, contract, integer, numeric, party
from ..parts import ADVANCE, NEW_ROUNDS
from ..specs import ChoiceSpec

COIN_RULES_MINING_ROUND_START_ISSUING = ChoiceSpec(
    "$CoinRules_MiningRound_StartIssuing",
    contract="coin_rules",
    actors=("dso",),
    argument={
        "miningRoundCid": contract("old"),
        "summary": {
            "totalValidatorRewardCoupons": NO_AMOUNT,
            "totalFeaturedAppRewardCoupons": amount("featured_coupons"),
            "totalUnfeaturedAppRewardCoupons": NO_AMOUNT,
            "totalSvRewardWeight": integer("sv_weight"),
            "optTotalValidatorFaucetCoupons": Optional(integer("faucet_coupons")),
        },
    },
    result={"issuingRoundCid": contract("new")},
)
COIN_RULES_MINING_ROUND_ARCHIVE = ChoiceSpec(
    "$CoinRules_MiningRound_Archive",
    contract="coin_rules",
    actors=("dso",),
    argument={"closedRoundCid": contract("old")},
    result=UNIT,
)
COIN_RULES_BOOTSTRAP_ROUNDS = ChoiceSpec(
    "$CoinRules_Bootstrap_Rounds",
    contract="coin_rules",
    actors=("dso",),
    argument={"$coinPrice": numeric("price")},
    result=contract("first_round"),
)
COIN_RULES_ADVANCE_OPEN_MINING_ROUNDS = ChoiceSpec(
    "$CoinRules_AdvanceOpenMiningRounds", contract="coin_rules", actors=("dso",), argument=ADVANCE, result=NEW_ROUNDS
)
DSO_RULES_EXECUTE_CONFIRMED_ACTION = ChoiceSpec(
    "DsoRules_ExecuteConfirmedAction",
    contract="dso_rules",
    actors=("sv",),
    argument={
        "action": Variant(
            "ARC_$CoinRules", {"$coinRulesAction": Variant("CRARC_MiningRound_StartIssuing", {"miningRoundCid": contract("old")})}
        ),
        "$coinRulesCid": contract("coin_rules"),
        "sv": party(),
    },
    result=UNIT,
)
DSO_RULES_ADVANCE_OPEN_MINING_ROUNDS = ChoiceSpec(
    "DsoRules_AdvanceOpenMiningRounds",
    contract="dso_rules",
    actors=("sv",),
    argument={"$coinRulesCid": contract("coin_rules"), "sv": party(), "choiceArg": ADVANCE},
    result=NEW_ROUNDS,
)
DSO_RULES_MINING_ROUND_CLOSE = ChoiceSpec(
    "DsoRules_MiningRound_Close",
    contract="dso_rules",
    actors=("sv",),
    argument={"miningRoundCid": contract("old"), "sv": Optional(party())},
    result={"newRoundCid": contract("new")},
)
