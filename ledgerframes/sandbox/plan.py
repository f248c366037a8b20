"""What a slice will hold, decided before anything is built: when, what kind, and how it ends.

The plan of a slice is cheap. The slice after it reads it to know which contracts were left for it.
"""

from __future__ import annotations

from typing import NamedTuple

from .randomness import Draws, lookup_table, number
from .schedule import Schedule
from .timeline import FIRST_MIGRATION, Timeline

ACCEPTED, PRIVATE, CONTENTION, TIMEOUT = "accepted", "private", "contention", "timeout"
REJECTED = (CONTENTION, TIMEOUT)
QUIET_REJECTS, BUSY_REJECTS, BUSIEST = 0.085, 0.07, 1220  # share rejected at night, and what a busy hour adds
TIMED_OUT = 0.08  # of those rejected
PRIVATE_ABOVE = 0.98  # the luckiest draws are the requests that the history shows no update of
# Microseconds kept free at the end of a slice, so that telling equal times apart never leaves it.
CLOCK_MARGIN = 1000
PLANS_KEPT = 4

KINDS = {  # kind of transaction: its weight among the events that are not scheduled
    "coin transfer": 235,
    "settlement": 200,
    "token transfer": 110,
    "activity marker": 75,
    "allocation": 85,
    "reward collection": 70,
    "transfer offer": 40,
    "offer step": 62,
    "token mint": 40,
    "token burn": 25,
    "token lock": 28,
    "app batch": 34,
    "name entry": 16,
    "confirmation": 50,
    "reassignment": 16,
}
PRIVATE_KIND = "private exchange"
KIND_TABLE = lookup_table(list(KINDS), list(KINDS.values()))


class Entry(NamedTuple):
    """One planned event."""

    time: int  # record time, microseconds since 1970
    kind: str
    outcome: str
    member: int = 0  # which member of the schedule's chain it is
    occurrence: int = 0  # the number of the occurrence in its chain


class Planner:
    """Plans any slice of a world.

    Parameters
    ----------
    seed
        Seed of the world.
    timeline
        The world's time.
    schedule
        Its scheduled events.
    events
        Number of event items the world shall hold.
    """

    def __init__(self, seed: int, timeline: Timeline, schedule: Schedule, events: int) -> None:
        self._seed = seed
        self._timeline = timeline
        self._schedule = schedule
        self._unscheduled = events - schedule.total()
        self._kept: tuple[tuple[int, list[Entry]], ...] = ()
        # Verdicts were not kept in the network's youth: the first tenth of the first migration has none.
        self.verdicts_since = timeline.start + (timeline.switch - timeline.start) // 10
        if self._unscheduled < 0:
            raise ValueError(
                f"events={events} is too few: rounds, votes and reports alone make "
                f"{schedule.total()} in a world of this many days; ask for more events or fewer days"
            )

    def plan(self, slice_number: int) -> list[Entry]:
        """Return the planned events of a slice, record times strictly increasing; the newest plans are kept."""
        for kept_number, entries in self._kept:
            if kept_number == slice_number:
                return entries
        made = self._made(slice_number)
        self._kept = (*self._kept[1 - PLANS_KEPT :], (slice_number, made))
        return made

    def _made(self, slice_number: int) -> list[Entry]:
        piece = self._timeline.slice(slice_number)
        draws = Draws(number(self._seed, "plan", slice_number))
        count = self._timeline.share(slice_number, self._unscheduled)
        space = piece.end - piece.begin - count - CLOCK_MARGIN
        times = sorted(draws.below(space) for _ in range(count))
        reject = QUIET_REJECTS + BUSY_REJECTS * self._timeline.busyness(slice_number) / BUSIEST
        entries = [
            Entry(piece.begin + time + position, *self._what(draws, reject, piece.begin + time + position))
            for position, time in enumerate(times)
        ]
        return _merge(entries, self._scheduled(slice_number))

    def _what(self, draws: Draws, reject: float, time: int) -> tuple[str, str]:
        kind = draws.pick(KIND_TABLE)
        fate = draws.random()
        if time < self.verdicts_since:
            return kind, ACCEPTED
        if fate < reject:
            return kind, TIMEOUT if fate < reject * TIMED_OUT else CONTENTION
        return (PRIVATE_KIND, PRIVATE) if fate > PRIVATE_ABOVE else (kind, ACCEPTED)

    def _scheduled(self, slice_number: int) -> list[Entry]:
        piece = self._timeline.slice(slice_number)
        # While the migrations overlap, the clockwork already runs in the second one.
        end = min(piece.end, self._timeline.switch) if piece.migration_id == FIRST_MIGRATION else piece.end
        return [
            Entry(
                found.time,
                found.kind,
                self._scheduled_outcome(found.kind, found.time),
                found.member,
                found.occurrence,
            )
            for found in self._schedule.within(piece.begin, end)
        ]

    def _scheduled_outcome(self, kind: str, time: int) -> str:
        return CONTENTION if kind == "round race" and time >= self.verdicts_since else ACCEPTED


def _merge(entries: list[Entry], scheduled: list[Entry]) -> list[Entry]:
    """Put both into one order; of two at the same microsecond the unscheduled one gives way."""
    merged: list[Entry] = []
    for entry in sorted(scheduled + entries, key=lambda entry: entry.time):
        if merged and entry.time <= merged[-1].time:
            entry = entry._replace(time=merged[-1].time + 1)
        merged.append(entry)
    return merged
