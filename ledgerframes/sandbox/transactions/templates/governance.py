"""Templates of the DSO."""

from __future__ import annotations

from ...payloads import Optional, Pairs, integer, numeric, party, text, time
from ...times import HOUR
from ..parts import SET_CONFIG, START_REWARDS, STATUS
from ..specs import TemplateSpec

GOVERNANCE_PACKAGE = "splice-dso-governance"

DSO_RULES = TemplateSpec(
    GOVERNANCE_PACKAGE,
    "Splice.DsoRules:DsoRules",
    {
        "dso": party(),
        "epoch": 0,
        "svs": Pairs(
            "svs",
            party("sv"),
            {"name": text(), "joinedAsOfRound": {"number": 0}, "svRewardWeight": integer("weight"), "participantId": text()},
        ),
        "offboardedSvs": Pairs(),
        "isDevNet": True,
    },
    key_word="dso rules",
)
CONFIRMATION = TemplateSpec(
    GOVERNANCE_PACKAGE,
    "Splice.DsoRules:Confirmation",
    {"dso": party(), "action": SET_CONFIG, "confirmer": party("sv"), "expiresAt": time("now", after=HOUR)},
    owner="sv",
)
REWARD_CONFIRMATION = TemplateSpec(
    GOVERNANCE_PACKAGE,
    "Splice.DsoRules:Confirmation",
    {"dso": party(), "action": START_REWARDS, "confirmer": party("sv"), "expiresAt": time("now", after=HOUR)},
    owner="sv",
    key_word="reward confirmation",
)
PRICE_VOTE = TemplateSpec(
    GOVERNANCE_PACKAGE,
    "Splice.DSO.$CoinPrice:$CoinPriceVote",
    {"dso": party(), "sv": party(), "$coinPrice": Optional(numeric(), source="price"), "lastUpdatedAt": time("now")},
    observers=("sv",),
    key_word="price vote",
)
STATUS_REPORT = TemplateSpec(
    GOVERNANCE_PACKAGE,
    "Splice.DSO.SvState:SvStatusReport",
    {"dso": party(), "sv": party(), "svName": text("sv_name"), "number": integer(), "status": Optional(STATUS, source="reports")},
    observers=("sv",),
    key_word="status",
)
