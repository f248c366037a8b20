"""Choices of the DSO."""

from __future__ import annotations

from ...payloads import UNIT, constructor, contract, numeric, party, text
from ..parts import ROUND, SET_CONFIG, STATUS
from ..specs import ChoiceSpec

COIN_RULES_SET_CONFIG = ChoiceSpec(
    "$CoinRules_SetConfig",
    contract="coin_rules",
    actors=("dso",),
    argument={"newTrafficPrice": numeric("traffic_price")},
    result={"newCoinRules": contract("new_rules")},
    is_consuming=True,
)
DSO_RULES_UPDATE_COIN_PRICE_VOTE = ChoiceSpec(
    "DsoRules_Update$CoinPriceVote",
    contract="dso_rules",
    actors=("sv",),
    argument={"sv": party(), "voteCid": contract("old"), "$coinPrice": numeric("price")},
    result={"$coinPriceVote": contract("new")},
)
DSO_RULES_SUBMIT_STATUS_REPORT = ChoiceSpec(
    "DsoRules_SubmitStatusReport",
    contract="dso_rules",
    actors=("sv",),
    argument={"sv": party(), "previousReportCid": contract("old"), "status": STATUS},
    result={"newReport": contract("new")},
)
DSO_RULES_CONFIRM_ACTION = ChoiceSpec(
    "DsoRules_ConfirmAction",
    contract="dso_rules",
    actors=("sv",),
    argument={"action": SET_CONFIG, "confirmer": party("sv")},
    result={"confirmation": contract()},
)
DSO_RULES_EXPIRE_STALE_CONFIRMATION = ChoiceSpec(
    "DsoRules_ExpireStaleConfirmation",
    contract="dso_rules",
    actors=("sv",),
    argument={"staleConfirmationCid": contract("confirmation"), "sv": party()},
    result=constructor("DsoRules_ExpireStaleConfirmationResult"),
)
CONFIRMATION_EXPIRE = ChoiceSpec(
    "Confirmation_Expire",
    contract="confirmation",
    actors=("dso",),
    argument=UNIT,
    result=constructor("Confirmation_ExpireResult"),
    is_consuming=True,
)
DSO_RULES_ADD_SV = ChoiceSpec(
    "DsoRules_AddSv",
    contract="dso_rules",
    actors=("dso",),
    argument={
        "newSvParty": party("member"),
        "newSvName": text("member_name"),
        "newSvRewardWeight": 10_000,
        "newSvParticipantId": text("member_id"),
        "joinedAsOfRound": ROUND,
    },
    result={"newDsoRules": contract("new_rules")},
    is_consuming=True,
)
DSO_RULES_OFFBOARD_SV = ChoiceSpec(
    "DsoRules_OffboardSv",
    contract="dso_rules",
    actors=("dso",),
    argument={"sv": party("member")},
    result={"newDsoRules": contract("new_rules")},
    is_consuming=True,
)
DSO_RULES_EXECUTE_CONFIRMED_ACTION_CONFIG = ChoiceSpec(
    "DsoRules_ExecuteConfirmedAction",
    contract="dso_rules",
    actors=("sv",),
    argument={"action": SET_CONFIG, "$coinRulesCid": contract("coin_rules"), "sv": party()},
    result=UNIT,
)
