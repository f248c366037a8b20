"""What happens by the clock: rounds, price votes, status and liveness reports, subscription payments.

Each of these replaces a contract that the occurrence before it created. Because the time of every occurrence
is a formula, the contract that stands at any moment is known without looking at the history.
"""

from __future__ import annotations

from typing import NamedTuple

from .parties import SV_NAMES, VALIDATOR_NAMES
from .randomness import number
from .timeline import Timeline
from .times import HOUR, MINUTE, SECOND

TICK = 10 * MINUTE
RACE_EVERY = 4  # every fourth round a second SV tries the same and loses
SUBSCRIBERS = 12
LIVENESS_SHARE, SUBSCRIPTION_SHARE, STATUS_SHARE, RACE_SHARE = 12, 60, 60, 60  # at most one event in so many
GENESIS_STEPS = 9
FEATURED_LATER_PERCENT = 55


class Chain(NamedTuple):
    """One thing that recurs: occurrence n happens at first + n * period, plus less than `jitter`.

    Times are microseconds since 1970; the jitter is shorter than the period, so that order is kept.
    """

    seed: int
    kind: str
    member: int
    first: int
    period: int
    jitter: int

    def time(self, occurrence: int) -> int:
        """Return when an occurrence (0, 1, …) happens."""
        scheduled = self.first + occurrence * self.period
        return scheduled + number(self.seed, self.kind, self.member, occurrence) % self.jitter

    def count_before(self, time: int) -> int:
        """Return how many occurrences happen before a time."""
        count = (time - self.first - 1) // self.period + 1
        if count <= 0:
            return 0
        latest = self.first + (count - 1) * self.period + self.jitter
        return count if latest <= time else count - (self.time(count - 1) >= time)

    def between(self, begin: int, end: int) -> range:
        """Return the occurrences of a half-open range of time."""
        return range(self.count_before(begin), self.count_before(end))


class Occurrence(NamedTuple):
    """One scheduled event."""

    time: int
    kind: str
    member: int
    occurrence: int


class Schedule:
    """All scheduled events of a world.

    Parameters
    ----------
    seed
        Seed of the world.
    timeline
        The world's time.
    events
        Number of events asked for; a small world reports less often.
    """

    def __init__(self, seed: int, timeline: Timeline, events: int) -> None:
        start, length = timeline.start, timeline.now - timeline.start
        self._timeline = timeline
        self.ticks = Chain(seed, "round tick", 0, start + TICK, TICK, SECOND)
        race = max(RACE_EVERY, RACE_SHARE * length // TICK // events) * TICK
        self.races = Chain(seed, "round race", 0, start + race + SECOND, race, SECOND)
        svs, validators = len(SV_NAMES), len(SV_NAMES) + len(VALIDATOR_NAMES)
        status = max(4 * HOUR, svs * length * STATUS_SHARE // events)
        liveness = max(TICK, validators * length * LIVENESS_SHARE // events)
        payment = max(TICK, SUBSCRIBERS * length * SUBSCRIPTION_SHARE // events)
        self.votes = _members(seed, "price vote", start + HOUR, 6 * HOUR, svs)
        self.status = _members(seed, "status report", start + HOUR, status, svs)
        self.liveness = _members(seed, "liveness", start + 5 * MINUTE, liveness, validators)
        self.payments = _members(seed, "subscription", start + 5 * MINUTE, payment, SUBSCRIBERS)
        featured = start + length * FEATURED_LATER_PERCENT // 100
        self.late_feature = Chain(seed, "feature", 0, featured, 2 * length, HOUR)
        self.genesis = Chain(seed, "genesis", 0, start + SECOND // 4, SECOND // 4, SECOND // 8)
        self._chains = [self.ticks, self.races, *self.votes, *self.status, *self.liveness, *self.payments]
        self._chains.append(self.late_feature)

    def within(self, begin: int, end: int) -> list[Occurrence]:
        """Return the scheduled events of a half-open range of time, in order."""
        found = [
            Occurrence(chain.time(occurrence), chain.kind, chain.member, occurrence)
            for chain in self._chains
            for occurrence in chain.between(begin, end)
        ]
        if begin <= self._timeline.start:
            found += [Occurrence(self.genesis.time(n), "genesis", 0, n) for n in range(GENESIS_STEPS)]
        return sorted(found)

    def total(self) -> int:
        """Return how many scheduled events the world holds."""
        return GENESIS_STEPS + sum(chain.count_before(self._timeline.now) for chain in self._chains)


def _members(seed: int, kind: str, first: int, period: int, count: int) -> list[Chain]:
    # Members take turns over the period, so that they do not all report in the same minute.
    return [Chain(seed, kind, member, first + period * member // count, period, period // 8) for member in range(count)]
