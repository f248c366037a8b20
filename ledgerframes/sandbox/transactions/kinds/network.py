"""Kinds of transactions of the DSO, from rounds to the rules."""

from __future__ import annotations

from ...schedule import Scheduled
from ...script import STATE_CHANGE
from ..choices.governance import DSO_RULES_SUBMIT_STATUS_REPORT, DSO_RULES_UPDATE_COIN_PRICE_VOTE
from ..choices.rewards import VALIDATOR_LICENSE_RECORD_VALIDATOR_LIVENESS_ACTIVITY
from ..draft import DraftTransaction, Kind, View
from ..governance import change_state, confirmation, genesis, grant_rights, occurrence, recurring, round_tick
from ..rewards import collect_sv_reward, liveness_record, receive_sv_reward
from ..roles import first_sv, recurring_sv, second_quorum, sv
from ..settlements import settle_rounds
from ..specs import archive, create, exercise
from ..templates.coin import VALIDATOR_LICENSE
from ..templates.governance import PRICE_VOTE, STATUS_REPORT

BY_SV_AND_DSO = [View(["dso", "sv"], quorum=["dso"])]

# Rounds

ROUND_TICK = Kind(
    Scheduled.ROUND_TICK,
    submitter="sv",
    roles={"sv": sv},
    views=BY_SV_AND_DSO,
    nodes=round_tick,
    bytes_per_view=4200,
    is_internal=True,
)


def lose_race(draft: DraftTransaction) -> Kind:
    """Lose a race for a round, or confirm an action before verdicts were recorded."""
    return ROUND_RACE if draft.is_rejected else CONFIRMATION


ROUND_RACE = Kind(
    Scheduled.ROUND_RACE,
    submitter="sv",
    roles={"sv": sv},
    views=BY_SV_AND_DSO,
    bytes_per_view=4200,
    stands_for=lose_race,
)
ROUND_SETTLEMENT = Kind(
    Scheduled.ROUND_SETTLEMENT,
    submitter="sv",
    roles={"sv": first_sv},
    views=BY_SV_AND_DSO,
    nodes=settle_rounds,
    bytes_per_view=3800,
)
SV_REWARD = Kind(
    Scheduled.SV_REWARD,
    submitter="sv",
    roles={"sv": recurring_sv},
    views=[View(["dso", "sv"])],
    nodes=receive_sv_reward,
    is_internal=True,
)
SV_COLLECTION = Kind(
    Scheduled.SV_COLLECTION,
    submitter="sv",
    roles={"sv": recurring_sv},
    views=[View(["dso", "sv"])],
    nodes=collect_sv_reward,
)

# Reports and votes, each of which replaces the one before

LIVENESS = Kind(
    Scheduled.LIVENESS,
    submitter="validator",
    roles={"validator": lambda draft: recurring(draft, VALIDATOR_LICENSE)},
    views=[View(["dso", "validator"])],
    content={
        "old": lambda draft: occurrence(draft, VALIDATOR_LICENSE, ahead=-1),
        "new": lambda draft: occurrence(draft, VALIDATOR_LICENSE),
        "record": liveness_record,
    },
    tree=[exercise(VALIDATOR_LICENSE_RECORD_VALIDATOR_LIVENESS_ACTIVITY, create("new"), create("record"))],
    bytes_per_view=2000,
)
PRICE_VOTE_UPDATE = Kind(
    Scheduled.PRICE_VOTE,
    submitter="sv",
    roles={"sv": lambda draft: recurring(draft, PRICE_VOTE)},
    views=[View(["dso", "sv"])],
    content={
        "old": lambda draft: occurrence(draft, PRICE_VOTE, ahead=-1),
        "new": lambda draft: occurrence(draft, PRICE_VOTE),
    },
    tree=[exercise(DSO_RULES_UPDATE_COIN_PRICE_VOTE, archive("old"), create("new"))],
    is_internal=True,
)
STATUS_REPORT_UPDATE = Kind(
    Scheduled.STATUS_REPORT,
    submitter="sv",
    roles={"sv": lambda draft: recurring(draft, STATUS_REPORT)},
    views=BY_SV_AND_DSO,
    content={
        "old": lambda draft: occurrence(draft, STATUS_REPORT, ahead=-1),
        "new": lambda draft: occurrence(draft, STATUS_REPORT),
    },
    tree=[exercise(DSO_RULES_SUBMIT_STATUS_REPORT, archive("old"), create("new"))],
    is_internal=True,
)

# Confirmations, rights and rules

CONFIRMATION = Kind(
    "confirmation",
    submitter="sv",
    roles={"sv": sv, "second": second_quorum},
    views=[View(["dso", "sv"], quorum=["second"])],
    nodes=confirmation,
    bytes_per_view=2200,
)
GENESIS = Kind(
    Scheduled.GENESIS,
    submitter="sv",
    roles={"sv": first_sv},
    views=[View(["dso", "sv"])],
    nodes=genesis,
)
FEATURE = Kind(
    Scheduled.FEATURE,
    submitter="sv",
    roles={"sv": first_sv},
    views=BY_SV_AND_DSO,
    nodes=lambda draft: grant_rights(draft, since="later"),
)
CHANGE = Kind(
    STATE_CHANGE,
    submitter="sv",
    roles={"sv": first_sv},
    views=BY_SV_AND_DSO,
    nodes=change_state,
)
