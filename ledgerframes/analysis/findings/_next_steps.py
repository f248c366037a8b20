"""The next step that each finding suggests to a reader."""

from __future__ import annotations

import math
from typing import Any

from ledgerframes.analysis.cost.runway_sentences import BUY_NOW
from ledgerframes.analysis.cost.traffic_balance import describe_purchase
from ledgerframes.analysis.finding_names import (
    BALANCE,
    COST,
    EARLY,
    LATENCY,
    NEGATIVE,
    NOT_FINAL,
    NOT_IN_STORE,
    ONE_COST,
    RECORDS,
    REJECTIONS,
    REQUESTS,
    REWARDS,
    UNKNOWN,
    WASTE,
    WEIGHT,
)
from ledgerframes.analysis.findings._rejections import Rejections, most_excess
from ledgerframes.frames import Frames
from ledgerframes.texts.control_characters import escape_control
from ledgerframes.texts.representation import capitalize, pluralize

OF_DATA = {
    NOT_IN_STORE: "Load these hours with ledgerframes sync events, and look again.",
    NOT_FINAL: "Look again when these hours are final.",
    NEGATIVE: "Compare these costs with those of another host.",
    EARLY: "Compare these verdicts with those of another host.",
    REWARDS: "Compare this round with the events of another host, and contact the super validators.",
    UNKNOWN: "Load these events from a host that has their traffic summaries.",
}
OF_TIMES = {
    REQUESTS: "See which participants sent more or fewer requests than usual.",
    COST: "See which kinds of requests changed.",
    LATENCY: "See which confirming parties these requests waited for.",
}
WHOM = {
    "participant": "its operator",
    "party": "whoever acts as this party",
    "kind": "the developers of its package",
    "app provider": "this app provider",
}
WHY = {
    REQUESTS: ("there are more", "there are fewer"),
    COST: ("its requests cost more", "its requests cost less"),
    WEIGHT: ("the weight is higher", "the weight is lower"),
    RECORDS: ("there are more", "there are fewer"),
}
NO_ACTION = "None, if this change was planned."


def next_step_of(row: Any, frames: Frames) -> str:
    """Return what a reader can do about a finding of frames.

    Findings say what is unusual, not why: most steps name who can know the reason.
    """
    if row.what in OF_DATA:
        return OF_DATA[row.what]
    if row.what == BALANCE:
        return f"{capitalize(describe_purchase(row.until))}." if row.value else BUY_NOW
    if row.what == ONE_COST:
        payer = f"participant {escape_control(row.payer)}" if isinstance(row.payer, str) else "its participant"
        return f"Ask {payer} what it was for."
    if row.what == COST and row.value < row.before:
        return NO_ACTION
    if row.subject in ("day", "hour"):
        return _step_of_time(row, frames)
    if row.subject == "confirming party":
        return "See how often requests waited for this party, and ask its participants."
    return f"Ask {WHOM[row.subject]} {_inquiry(row)}."


def _step_of_time(row: Any, frames: Frames) -> str:
    if row.what == REQUESTS and row.value == 0:
        return "Check whether the network or the host stood still."
    if row.what not in (WASTE, REJECTIONS):
        return OF_TIMES[row.what]
    most = most_excess(frames, row.since, row.until)
    verb = "was" if most.rejected == 1 else "were"
    rejected = f"{most.rejected:,} of its {pluralize(most.decided, 'decided request')} {verb} rejected"
    inquiry = f"Ask participant {escape_control(most.participant)} why {rejected}"
    if math.isnan(most.excess) or (expected := round(most.rejected - most.excess)) >= most.rejected:
        return f"{inquiry}."
    usual = f"{inquiry}, instead of {expected:,} at its rate in the rest of the window."
    return usual if 2 * most.excess > most.excess_of_all else f"{usual} {_common_cause(most)}"


def _common_cause(most: Rejections) -> str:
    """Return that a participant is not the only one with more rejections than usual."""
    additional = f"{round(most.excess):,} of about {round(most.excess_of_all):,} additional rejections"
    return f"It has {additional}, so look for what the others have in common with it, too."


def _inquiry(row: Any) -> str:
    """Return the question that the change of a name raises."""
    if row.what in (WASTE, REJECTIONS):
        return "why its requests are rejected"
    if row.what == LATENCY:
        return "why its requests take longer"
    if row.what == REQUESTS and row.before == 0:
        return "what these requests are for"
    if row.what == REQUESTS and row.value == 0:
        return "whether this was meant to end"
    more, less = WHY[row.what]
    return f"why {more if row.value > row.before else less}"
