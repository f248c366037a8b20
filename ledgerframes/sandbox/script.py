"""Weekly cases at known updates, and what they mean for activity and rewards.

A cycle is a script of state changes and requests around the rounds of one day. Only the script names its two parties,
so nothing else changes their rights or earns for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from .timeline import PlannedEvent
from .times import MINUTE, SECOND

FIRST_PARTY, SECOND_PARTY = "mulberry-notes", "nightshade-vault"
MIN_EVENTS = 1000  # a smaller world has no room for the script
TICKS_PER_WEEK = 7 * 24 * 6
BASE_PERCENT, SWITCH_PERCENT = 55, 45  # of a week: the start of a script, and of traffic-based rewards
STATE_CHANGE, REQUEST = "state change", "scripted request"
EARNS = "earns"
NOT_FEATURED, BY_SV = "party not featured", "submitted by a super validator"
MESSAGES = (1150, 150)  # bytes of the envelopes without views
USER, SV, MEMBER = "user", "sv", "member"  # who submits
FLOAT_TOTAL, FLOAT_FACTOR = 10_000, "0.5700000000"  # 10000 * 0.57 is 5699.999… as a float


@dataclass(frozen=True)
class Step:
    """A step of the script."""

    case: str
    tick: int  # ticks after the start of the cycle
    weight: int | None = None  # that the party of a request earns, in bytes
    kind: str = REQUEST
    delay: int = 5 * MINUTE  # after the tick, in microseconds
    after_opening: int | None = None  # instead of the delay: microseconds after the opening of the next round
    lead: int | None = None  # microseconds from ledger time to record time
    action: tuple[str, ...] = ()  # of a state change: what, and its arguments
    party: str = SECOND_PARTY  # confirmer of a request
    is_second: bool = False  # whether only a second quorum names it
    submitter: str = USER
    total: int = 6_000  # bytes of a request
    has_unknown_views: bool = False
    expected: str = EARNS


def _change(
    case: str, tick: int, *action: str, delay: int = 3 * MINUTE, after_opening: int | None = None, lead: int | None = None
) -> Step:
    return Step(case, tick, None, STATE_CHANGE, delay, after_opening, lead, action, expected="")


A, B = FIRST_PARTY, SECOND_PARTY
SCRIPT: tuple[Step, ...] = (
    _change("right granted with a factor", 0, "grant", A, "1", "1.7000000000"),
    Step("factor above 1", 3, 8_500, party=A, total=5_000),
    _change("factor of a right updated", 4, "update", A, "1", "2", FLOAT_FACTOR),
    Step("factor where floats fail", 7, 5_700, party=A, total=FLOAT_TOTAL),
    _change("second right of a party", 8, "grant", A, "3", "3.0000000000"),
    Step("two rights of one party", 11, 18_000, party=A),
    _change("right withdrawn", 12, "withdraw", A, "2"),
    _change("right canceled", 13, "cancel", A, "3"),
    Step("right ended between opening and use", 14, 18_000, party=A),
    Step("right ended before the opening", 16, None, party=A, expected=NOT_FEATURED),
    _change("right granted after the opening", 17, "grant", B, "1", "2.0000000000"),
    Step("right granted after the opening", 17, None, expected=NOT_FEATURED),
    _change("right that no opening sees", 17, "cancel", B, "1", delay=7 * MINUTE),
    Step("right created and archived between opening and use", 18, None, expected=NOT_FEATURED),
    _change("right granted at the opening", 22, "grant", B, "2", "", after_opening=0),
    Step("right granted at the opening", 22, 6_000),
    _change("right withdrawn around the opening", 24, "withdraw", B, "2", after_opening=SECOND // 5, lead=SECOND * 2 // 5),
    Step("boundary: withdrawn around the opening", 24, 6_000),
    _change("right granted around the opening", 26, "grant", B, "3", "", after_opening=SECOND // 5, lead=SECOND * 2 // 5),
    Step("boundary: granted around the opening", 26, None, expected="boundary"),
    Step("featured through the second quorum only", 28, 6_000, is_second=True),
    Step("unknown view ids", 29, 6_000, has_unknown_views=True),
    Step("super validator submits", 30, None, submitter=SV, expected=BY_SV),
    _change("super validator added", 31, "add"),
    Step("new super validator submits", 34, None, submitter=MEMBER, expected=BY_SV),
    _change("super validator offboarded", 35, "offboard"),
    Step("former super validator submits", 38, 6_000, submitter=MEMBER),
    Step("oversubscribed round", 40, 600_000, total=600_000),
    Step("threshold missed", 42, 4_999, total=4_999),
    Step("threshold met exactly", 43, 5_000, total=5_000),
    Step("threshold passed", 44, 5_001, total=5_001),
    _change("factor set to 0", 45, "update", B, "3", "4", "0.0000000000"),
    Step("factor 0", 48, 0),
    _change("right canceled at last", 49, "cancel", B, "4"),
    _change("look-alike of a right", 50, "imitate", A),
    Step("look-alike of a right", 53, None, party=A, expected=NOT_FEATURED),
)
LAST_TICK = max(step.tick for step in SCRIPT) + 1
ROUND_PRICE_TICKS = (42, 43, 44)  # rounds whose price makes the threshold a whole number of bytes
ROUND_PRICE = "0.16"


class PlantedCase(NamedTuple):
    """A planted update, with what is expected of it."""

    update_id: str
    case: str
    kind: str
    expected: str  # EARNS, or the reason why a request earns nothing
    party: str
    weight: int | None  # the party's published weight


class Right(NamedTuple):
    """A right of the script."""

    party: str  # name
    slot: str
    cycle: int
    weight: str | None
    since: int
    until: int


class Script:
    """Events of all cycles in a world of so many ticks and events.

    The times follow from the start of the world, the length of a tick, and the openings by position of a round.
    """

    def __init__(self, ticks: int, events: int, start: int, tick: int, opens_at: Callable[[int], int]) -> None:
        period = min(TICKS_PER_WEEK, ticks)
        base = period * BASE_PERCENT // 100
        self.switch = period * SWITCH_PERCENT // 100
        self._bases = range(base, max(base, ticks - LAST_TICK), period) if events >= MIN_EVENTS else range(0)
        self.planned: list[PlannedEvent] = []  # by time: the member is the step, the occurrence the cycle
        for cycle, base in enumerate(self._bases):
            for number, step in enumerate(SCRIPT):
                time = start + (base + step.tick) * tick + step.delay
                if step.after_opening is not None:
                    time = opens_at(base + step.tick) + step.after_opening
                self.planned.append(PlannedEvent(time, step.kind, number, cycle))
        self.planned.sort(key=attrgetter("time", "member"))
        self._member_changes = sorted(self._times("add") + self._times("offboard"))

    def prices(self) -> frozenset[int]:
        """Return the positions of the rounds whose price is set."""
        return frozenset(base + tick for base in self._bases for tick in ROUND_PRICE_TICKS)

    def rights(self) -> Iterator[Right]:
        """Iterate over the rights of all cycles."""
        alive: dict[tuple[str, str, int], tuple[str | None, int]] = {}
        for time, _, number, cycle, *_ in self.planned:
            what, *arguments = SCRIPT[number].action or ("",)
            if what in ("withdraw", "cancel", "update"):
                party, slot = arguments[:2]
                weight, since = alive.pop((party, slot, cycle))
                yield Right(party, slot, cycle, weight, since, time)
            if what in ("grant", "update"):
                party, slot, weight_text = arguments[0], arguments[-2], arguments[-1]
                alive[party, slot, cycle] = weight_text or None, time

    def memberships(self) -> list[tuple[int, int]]:
        """Return [since, until) of the times at which the member is a super validator."""
        return list(zip(self._times("add"), self._times("offboard"), strict=True))

    def dso_rules_version(self, time: int) -> int:
        """Return how often the DSO's rules were replaced before a time."""
        return bisect_left(self._member_changes, time)

    def _times(self, what: str) -> list[int]:
        return [event.time for event in self.planned if SCRIPT[event.member].action[:1] == (what,)]
