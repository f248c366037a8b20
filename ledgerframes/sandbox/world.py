"""The world: a seeded ledger network that is generated where it is looked at, and nowhere else."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from threading import RLock

from .builder import Builder, Event
from .identifiers import UpdateIds
from .keeping import forget_oldest
from .parties import Population
from .plan import Planner
from .reference import Reference
from .rounds import Rounds
from .scene import Scenery
from .schedule import Schedule
from .timeline import Timeline
from .times import micros
from .values import ENCODINGS, LEDGER
from .words import Words

WORLDS_KEPT = 4
SLICES_KEPT = 12  # enough for four readers at different places
BYTES_KEPT = 16_000_000  # of JSON: up to this more slices are kept, so that a small world is made once


@lru_cache(maxsize=WORLDS_KEPT)
def world_of(seed: int, events: int, days: int, words: Words) -> World:
    """Return the world of these figures: the same one for everybody in the process, as a world never changes."""
    return World(seed, events, days, words)


class World:
    """All events of a network, in the order of its history, with random access.

    Parameters
    ----------
    seed
        Seed; two worlds with equal seed, events and days are equal to the byte.
    events
        Number of event items in all.
    days
        Whole days before the last six hours.
    words
        The vocabulary in which payloads are written.
    """

    def __init__(self, seed: int, events: int, days: int, words: Words) -> None:
        self.seed = seed
        self.timeline = Timeline(events, days)
        self.people = Population(seed)
        self.schedule = Schedule(seed, self.timeline, events)
        self.rounds = Rounds(seed, self.schedule)
        self.reference = Reference(self.people, self.rounds, self.schedule, self.timeline.now)
        self.identifiers = UpdateIds(seed)
        self.generated = 0  # how many slices were built so far; tests of laziness look at it
        self._planner = Planner(seed, self.timeline, self.schedule, events)
        self._builder = Builder(seed, self.timeline, self._planner, self.reference, self.identifiers)
        self._sceneries = {
            value.name: Scenery(seed, self.people, self.rounds, words, value) for value in (*ENCODINGS.values(), LEDGER)
        }
        self._kept: OrderedDict[tuple[int, str], list[Event]] = OrderedDict()
        self._lock = RLock()

    def slice(self, number: int, encoding: str = "compact_json") -> list[Event]:
        """Return the events of one slice of the timeline, built when asked for and kept for a while.

        Parameters
        ----------
        number
            Number of the slice.
        encoding
            Value encoding of the payloads, "compact_json" or "protobuf_json"; "ledger_json" also keeps
            what only the ledger API shows.
        """
        key = number, encoding
        with self._lock:
            if key not in self._kept:
                self._kept[key] = self._builder.build(number, self._sceneries[encoding])
                self.generated += 1
                forget_oldest(self._kept, _size, BYTES_KEPT, SLICES_KEPT)
            self._kept.move_to_end(key)
            return self._kept[key]

    def after(self, migration_id: int, record_time: int, until: int, encoding: str = "compact_json") -> Iterator[Event]:
        """Iterate over the events that follow a place in the history (docs/facts.md#history-paging).

        Parameters
        ----------
        migration_id, record_time
            The place: events of this migration with a later record time, and those of later migrations.
        until
            Only events with a record time before this one, in microseconds since 1970.
        encoding
            Value encoding of the payloads.
        """
        for number in range(self.timeline.number_at(migration_id, record_time), self.timeline.count):
            piece = self.timeline.slice(number)
            if piece.begin >= until:
                continue
            events = self.slice(number, encoding)
            first = 0
            if piece.migration_id == migration_id:
                first = bisect_right(events, record_time, key=_record_time)
            last = bisect_left(events, until, key=_record_time)
            yield from events[first:last]

    def events(
        self, since: datetime | None = None, until: datetime | None = None, encoding: str = "compact_json"
    ) -> Iterator[Event]:
        """Iterate over the events with since <= record time < until, migration after migration."""
        begin = micros(since) if since else self.timeline.start
        end = micros(until) if until else self.timeline.now
        for number in range(self.timeline.count):
            piece = self.timeline.slice(number)
            if piece.begin < end and begin < piece.end:
                yield from (event for event in self.slice(number, encoding) if begin <= event.record_time < end)

    @property
    def planner(self) -> Planner:
        """Plans of slices, which are cheap."""
        return self._planner

    def scenery(self, encoding: str = "compact_json") -> Scenery:
        """Return what all slices share, as told in an encoding."""
        return self._sceneries[encoding]

    def find(self, update_id: str, encoding: str = "compact_json") -> Event | None:
        """Return the event with an update id; None when this world has no such event."""
        place = self.identifiers.place(update_id)
        if place is None or place[0] >= self.timeline.count:
            return None
        events = self.slice(place[0], encoding)
        return events[place[1]] if place[1] < len(events) else None


def _size(events: list[Event]) -> int:
    return sum(event.size for event in events)


def _record_time(event: Event) -> int:
    return event.record_time
