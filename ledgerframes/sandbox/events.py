"""Events before they are built, and events that recur by formula."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .randomness import number

ACCEPTED, PRIVATE, CONTENTION, TIMEOUT = "accepted", "private", "contention", "timeout"
REJECTED = (CONTENTION, TIMEOUT)


class PlannedEvent(NamedTuple):
    """One planned event."""

    time: int  # record time, microseconds since 1970
    kind: str
    member: int = 0  # who of those that recur
    occurrence: int = 0
    outcome: str = ACCEPTED
    case: int | None = None  # of the planted cases, whose request this is


class RecurringEvent(NamedTuple):
    """An event that recurs at first + n * period, plus less than `jitter`.

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

    def within(self, begin: int, end: int) -> Iterator[PlannedEvent]:
        """Iterate over the occurrences with begin <= time < end, all accepted."""
        for occurrence in range(self.count_before(begin), self.count_before(end)):
            yield PlannedEvent(self.time(occurrence), self.kind, self.member, occurrence)
