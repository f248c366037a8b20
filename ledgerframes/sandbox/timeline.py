"""Timeline of a world, in two migrations with slices that are generated independently.

Recurring events get their times from formulas. A slice is an hour, or a fraction of one if an hour of a busy world would
be too much to generate for one page. The number of events in a slice follows the rhythm of day and week by whole-number
arithmetic, so that the counts add up exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from . import randomness
from .times import DAY, HOUR, MINUTE, SECOND, micros

ACCEPTED, PRIVATE, CONTENTION, TIMEOUT = "accepted", "private", "contention", "timeout"
REJECTED = (CONTENTION, TIMEOUT)
END_OF_LAST_DAY = datetime(2026, 11, 9, tzinfo=UTC)
EXTRA_HOURS = 6
FIRST_MIGRATION, SECOND_MIGRATION = 3, 4
OVERLAP = 20 * MINUTE
EVENTS_PER_SLICE = 400
PARTS_OF_AN_HOUR = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60, 120, 180, 360, 720, 1800, 3600)
RHYTHM = (  # of the hours of a day
    42, 38, 35, 34, 36, 42, 52, 66, 80, 90, 95, 97, 100, 108, 118, 122, 120, 112, 98, 84, 72, 62, 54, 47,
)  # fmt: skip
WEEKDAY, WEEKEND = 10, 6
EPOCH_WEEKDAY = 3  # 1970 began on a Thursday


class Slice(NamedTuple):
    """A half-open window of one migration, in microseconds since 1970."""

    migration_id: int
    begin: int
    end: int


class Timeline:
    """Slices of a world in the order of the history, (migration_id, record_time)."""

    def __init__(self, events: int, days: int) -> None:
        hours = 24 * days + EXTRA_HOURS
        self.midnight = micros(END_OF_LAST_DAY)
        self.start = self.midnight - days * DAY
        self.now = self.midnight + EXTRA_HOURS * HOUR
        self.switch = self.start + hours * 2 // 5 * HOUR
        # Verdicts were not recorded at first: a tenth of the first migration has none.
        self.verdicts_since = self.start + (self.switch - self.start) // 10
        parts = next((part for part in PARTS_OF_AN_HOUR if events / hours / part <= EVENTS_PER_SLICE), 3600)
        self.step = HOUR // parts
        self.first_count = -(-(self.switch + OVERLAP - self.start) // self.step)
        self.count = self.first_count + (self.now - self.switch) // self.step

    def slice(self, number: int) -> Slice:
        """Return the slice with this number, 0 to `count` - 1."""
        if number < self.first_count:
            begin = self.start + number * self.step
            return Slice(FIRST_MIGRATION, begin, min(begin + self.step, self.switch + OVERLAP))
        begin = self.switch + (number - self.first_count) * self.step
        return Slice(SECOND_MIGRATION, begin, begin + self.step)

    def number_at(self, migration_id: int, time: int) -> int:
        """Return the first slice that can contain an event from a time on, or `count`."""
        if migration_id < FIRST_MIGRATION:
            return 0
        if migration_id == FIRST_MIGRATION:
            return min(max(0, (time - self.start) // self.step), self.first_count)
        if migration_id == SECOND_MIGRATION:
            return min(self.first_count + max(0, (time - self.switch) // self.step), self.count)
        return self.count

    def number_of(self, time: int) -> int:
        """Return the slice of a scheduled or planted event by its time."""
        return self.number_at(FIRST_MIGRATION if time < self.switch else SECOND_MIGRATION, time)

    def numbers_between(self, begin: int, end: int) -> list[int]:
        """Return the slices of both migrations that can contain events with begin <= time < end."""
        numbers = []
        for migration_id, last in ((FIRST_MIGRATION, self.first_count), (SECOND_MIGRATION, self.count)):
            number = self.number_at(migration_id, begin)
            while number < last and self.slice(number).begin < end:
                numbers.append(number)
                number += 1
        return numbers

    def busyness(self, number: int) -> int:
        """Return how busy the slice's hour is, from 340 at night to 1220 on an afternoon."""
        day, hour = divmod(self.slice(number).begin // HOUR, 24)
        return RHYTHM[hour] * (WEEKEND if (day + EPOCH_WEEKDAY) % 7 >= 5 else WEEKDAY)

    @cached_property
    def _weights(self) -> list[int]:
        weights = [0]
        for number in range(self.count):
            slice_ = self.slice(number)
            is_shared = self.switch <= slice_.begin < self.switch + OVERLAP
            seconds = (slice_.end - slice_.begin) // SECOND
            weights.append(self.busyness(number) * seconds // (2 if is_shared else 1))
        return list(accumulate(weights))

    def share(self, number: int, total: int) -> int:
        """Return the number of events in a slice, of `total` in all slices."""
        weights = self._weights
        return total * weights[number + 1] // weights[-1] - total * weights[number] // weights[-1]


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
        return scheduled + randomness.number(self.seed, self.kind, self.member, occurrence) % self.jitter

    def count_before(self, time: int) -> int:
        """Return how many occurrences happen before a time."""
        count = (time - self.first - 1) // self.period + 1
        if count <= 0:
            return 0
        latest = self.first + (count - 1) * self.period + self.jitter
        return count if latest <= time else count - (self.time(count - 1) >= time)

    def within(self, begin: int, end: int) -> Iterator[PlannedEvent]:
        """Iterate over the occurrences with begin <= time < end, all accepted."""
        earliest = max(0, (begin - self.first - self.jitter) // self.period)
        for occurrence in range(earliest, (end - self.first - 1) // self.period + 1):
            if begin <= (time := self.time(occurrence)) < end:
                yield PlannedEvent(time, self.kind, self.member, occurrence)
