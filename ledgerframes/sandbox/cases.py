"""Cases that are planted in a world, so that a test knows what an analysis must find.

Each case recurs once in a period, a week in a world that has one. Its time is a formula, and each of its
requests has its own draws. Any request can be made without the others.
"""

from __future__ import annotations

from datetime import datetime
from itertools import chain, repeat
from typing import NamedTuple

from .randomness import Draws, number
from .timeline import ACCEPTED, CONTENTION, TIMEOUT, PlannedEvent, RecurringEvent, Timeline
from .times import DAY, HOUR, MINUTE, SECOND

PLANTED_REQUEST = "planted request"  # the kind of transaction of all cases
SECOND_VERDICT, NEIGHBORS, UNSPECIFIED = "second verdict", "one microsecond apart", "unspecified verdict"
OTHER_TOTAL, NEGATIVE_COST = "total is not the sum of the envelopes", "negative cost"
EARLY_VERDICT, HEAD_OF_LINE = "verdict before its record time", "requests behind a timeout"
ONLY_IN_LEDGER, ONLY_IN_HISTORY = "only in the ledger", "only in the history"
WEEK = 7 * DAY
JITTER_SHARE = 50  # a case happens within a fiftieth of the period
RAISED_WEEKDAY = 5  # days before the end of the last day
RAISED_BY = 2.4  # of the rejections that are not scheduled, which doubles the waste
ADDED_TO_TOTAL, BELOW_ZERO, BEFORE_RECORD_TIME = 137, 500, SECOND // 4
SHORTEST_WAIT, LONGEST_WAIT = 30 * SECOND, 60 * SECOND


class Case(NamedTuple):
    """One or more requests that are planted together."""

    kind: str
    share: int  # of the period before it, in thousandths
    reason: str
    delays: tuple[int, ...] = (0,)  # of its requests, in microseconds
    outcomes: tuple[str, ...] = (ACCEPTED,)  # of its requests, the last for all others


class Planted(NamedTuple):
    """An entry of the key, with what was planted and what an analysis must say.

    Times are UTC. A case has the record times of its events, and the update ids of its requests, in their order.
    The subject is a party or a package id where the entry is about one.
    """

    kind: str
    times: tuple[datetime, ...]
    reason: str
    update_ids: tuple[str, ...] = ()
    subject: str = ""

    @property
    def time(self) -> datetime:
        """The first of its times."""
        return self.times[0]


_REPEATED = "the later verdict is dropped and counted, and its cost is not counted again"
CASES = (
    Case(NEIGHBORS, 320, "two events whose record times are one microsecond apart", (0, 1)),
    Case(UNSPECIFIED, 350, "the verdict is neither accepted nor rejected", outcomes=(CONTENTION,)),
    Case(OTHER_TOTAL, 380, f"the total is {ADDED_TO_TOTAL} bytes more than its envelopes"),
    Case(NEGATIVE_COST, 410, "the cost is below zero, and is counted as a problem rather than summed", outcomes=(CONTENTION,)),
    Case(EARLY_VERDICT, 440, "the finalization lies before the record time, and has no latency"),
    Case(ONLY_IN_LEDGER, 470, "the participant paid for an update that the history does not have"),
    Case(ONLY_IN_HISTORY, 500, "the history has a request of the participant that its ledger does not have"),
    Case(
        HEAD_OF_LINE,
        550,
        "the first request times out, and the others of its participant wait 30 to 60 seconds and are accepted",
        (0, 2 * SECOND, 7 * SECOND, 13 * SECOND, 24 * SECOND),
        (TIMEOUT, ACCEPTED),
    ),
    Case(SECOND_VERDICT, 610, _REPEATED, (0, 2 * SECOND), (ACCEPTED, CONTENTION)),
    Case(SECOND_VERDICT, 700, _REPEATED, (0, 45 * MINUTE), (ACCEPTED, CONTENTION)),
    Case(SECOND_VERDICT, 800, _REPEATED, (0, 3 * HOUR), (CONTENTION, CONTENTION)),
)


class Cases:
    """The cases of one world."""

    def __init__(self, seed: int, timeline: Timeline) -> None:
        midnight = timeline.midnight
        period = min(WEEK, midnight - timeline.start)
        count = max(1, (midnight - timeline.verdicts_since) // period)
        first, jitter = midnight - count * period, period // JITTER_SHARE
        self.occurrences: list[list[PlannedEvent]] = []  # the requests of each occurrence of each case
        for case_number, case in enumerate(CASES):
            recurring = RecurringEvent(seed, "case", case_number, first + period * case.share // 1000, period, jitter)
            self.occurrences += [_requests(case, case_number, recurring.time(n), n) for n in range(count)]
        self.upgraded_at = midnight - period * 2 // 5  # when the newer version of a package comes into use
        # Begin of the day with twice the waste, in a world that has a week.
        self.raised_day = midnight - RAISED_WEEKDAY * DAY if period == WEEK else None

    def rejection_factor(self, time: int) -> float:
        """Return the factor of the share of rejected requests at a time."""
        return RAISED_BY if self.raised_day is not None and self.raised_day <= time < self.raised_day + DAY else 1


def _requests(case: Case, case_number: int, time: int, occurrence: int) -> list[PlannedEvent]:
    outcomes = chain(case.outcomes, repeat(case.outcomes[-1]))
    return [
        PlannedEvent(time + delay, PLANTED_REQUEST, position, occurrence, outcome, case_number)
        for position, (delay, outcome) in enumerate(zip(case.delays, outcomes, strict=False))
    ]


def case_of(event: PlannedEvent) -> Case | None:
    """Return the case that a planned event is a request of, or None."""
    return None if event.case is None else CASES[event.case]


def is_in_history(event: PlannedEvent) -> bool:
    """Return whether the history shows a planned event."""
    case = case_of(event)
    return case is None or case.kind != ONLY_IN_LEDGER


def is_in_ledger(event: PlannedEvent) -> bool:
    """Return whether the ledger shows a planned event. It shows no second verdict."""
    case = case_of(event)
    return case is None or (case.kind != ONLY_IN_HISTORY and first_of(event) is event)


def first_of(event: PlannedEvent) -> PlannedEvent:
    """Return the request whose second verdict a planned event is, or the event itself."""
    case = case_of(event)
    if case is None or case.kind != SECOND_VERDICT or event.member == 0:
        return event
    return event._replace(time=event.time - case.delays[event.member], member=0, outcome=case.outcomes[0])


def draws_of(seed: int, event: PlannedEvent, purpose: str) -> Draws:
    """Return the draws of a planted request, which a second verdict shares."""
    return Draws(number(seed, "case", event.case, event.occurrence, first_of(event).member, purpose))
