"""The ledger of one participant: its updates in the order of their offsets, with random access."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from threading import RLock
from typing import NamedTuple

from ledgerframes.collector import collector_paused

from ..builder import NULL, Event
from ..clock import Clock
from ..parties import Party
from ..randomness import number
from ..timeline import OVERLAP, SECOND_MIGRATION
from ..world import World
from .offsets import before_event, index_of, offset_of, slice_of
from .projection import Update, project, read_traffic, read_verdict
from .topology import EVERY, LIFE, Topology

SLICES_KEPT = 8
PLANTED_PER_10000 = 3
PLANTED_SLICES = (5, 25)  # counted from the second migration: the first own submission of these has one too


class PlantedMismatch(NamedTuple):
    """An own submission for which the ledger tells another cost than the history."""

    update_id: str
    offset: int
    paid_traffic_cost: int
    total_traffic_cost: int


class ParticipantLedger:
    """The updates that one participant sees of a world.

    Parameters
    ----------
    world
        The world.
    clock
        The present; what comes after it is not there yet.
    participant
        Id of the participant; None takes the one that hosts most parties.
    """

    def __init__(self, world: World, clock: Clock, participant: str | None = None) -> None:
        self.world, self.clock = world, clock
        self.hosted = _hosted(world, participant)
        self.participant = self.hosted[0].participant
        names = [party.identifier for party in self.hosted]
        people = world.people
        if any(sv.participant == self.participant for sv in people.svs):
            names.append(people.dso)  # the SVs share it
        self.parties = frozenset(names)
        self.party_names = names
        self.topology = Topology(world.seed, self.participant, self.hosted, people.synchronizer)
        self.pruned_through = 0
        self._marks = tuple(
            {name.partition("::")[2].encode() for name in names}
        )  # no update without one of these concerns the participant
        self._kept: OrderedDict[int, list[Update]] = OrderedDict()
        self._lock = RLock()

    # Where the ledger ends and begins

    def end(self) -> int:
        """Return the ledger end: the offset of the newest event of the world, seen here or not."""
        return self.offset_at(self.clock.now())

    def offset_at(self, time: int) -> int:
        """Return the highest offset whose record time is at most `time`, in microseconds since 1970."""
        timeline = self.world.timeline
        if time < timeline.start:
            return 0
        # The participant leaves the old migration when it has seen all of it.
        second = time >= timeline.switch + OVERLAP
        number_now = timeline.number_at(SECOND_MIGRATION if second else SECOND_MIGRATION - 1, time)
        number_now = min(number_now, timeline.count - 1 if second else timeline.first_count - 1)
        for slice_number in range(number_now, -1, -1):
            times = [entry.time for entry in self.world.planner.plan(slice_number)]
            passed = bisect_right(times, time)
            if passed:
                return offset_of(slice_number, passed - 1)
        return before_event(0, 0)

    def prune(self, through: int | float) -> int:
        """Prune the ledger through an offset, or through a share (below 1) of it; return the offset."""
        end = self.end()
        offset = int(through * end) if isinstance(through, float) and through < 1 else int(through)
        if not 0 <= offset <= end:
            raise ValueError(f"cannot prune through {through}: the ledger ends at {end}")
        self.pruned_through = max(self.pruned_through, offset)
        return self.pruned_through

    # Its updates

    def slice(self, number_: int) -> list[Update]:
        """Return the updates of one slice, by offset; built when asked for and kept for a while."""
        with self._lock:
            if number_ not in self._kept:
                with collector_paused():  # not longer: what builds a transaction leaves cycles behind
                    self._kept[number_] = self._build(number_)
                while len(self._kept) > SLICES_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(number_)
            return self._kept[number_]

    def updates(self, after: int, through: int, descending: bool = False) -> Iterator[Update]:
        """Iterate over the updates with after < offset <= through."""
        first, last = slice_of(after), min(slice_of(through), self.world.timeline.count - 1)
        numbers = range(last, first - 1, -1) if descending else range(first, last + 1)
        for slice_number in numbers:
            updates = self.slice(slice_number)
            begin = bisect_right(updates, after, key=_offset)
            end = bisect_right(updates, through, key=_offset)
            yield from reversed(updates[begin:end]) if descending else updates[begin:end]

    def at(self, offset: int) -> Update | None:
        """Return the update at an offset; None when there is none."""
        if slice_of(offset) >= self.world.timeline.count:
            return None
        updates = self.slice(slice_of(offset))
        position = bisect_left(updates, offset, key=_offset)
        found = position < len(updates) and updates[position].offset == offset
        return updates[position] if found else None

    def find(self, update_id: str) -> Update | None:
        """Return the update with an id; None when there is none here."""
        place = self.world.identifiers.position(update_id)
        if place and place[0] < self.world.timeline.count:
            return self.at(offset_of(*place))
        topology = (
            update
            for number_ in range(0, self.world.timeline.count, 1)
            for update in self._topology(number_)
            if update.update_id == update_id
        )
        return next(topology, None)

    def event_at(self, offset: int) -> Event | None:
        """Return the event of the world behind an offset, rejected ones too."""
        index = index_of(offset)
        events = self.world.slice(slice_of(offset), "ledger_json")
        return events[index] if index is not None and index < len(events) else None

    def submissions(self, after: int, through: int) -> Iterator[tuple[int, Event]]:
        """Iterate over the requests of this participant, rejected ones too, as (offset, event)."""
        mark = self.participant.encode()
        last = min(slice_of(through), self.world.timeline.count - 1)
        for slice_number in range(slice_of(after), last + 1):
            for index, event in enumerate(self.world.slice(slice_number, "ledger_json")):
                offset = offset_of(slice_number, index)
                if after < offset <= through and mark in event.verdict:
                    yield offset, event

    def guests(self) -> list[str]:
        """Return the parties that topology transactions have allocated here up to now, without the revoked."""
        changes = max(0, slice_of(self.end()) - 1) // EVERY
        state = {self.topology.guest(change): change % len(LIFE) for change in range(changes)}
        return [guest for guest, step in state.items() if step not in (0, len(LIFE) - 1)]

    def planted(self) -> list[PlantedMismatch]:
        """Return every own submission whose cost is told wrongly; looks at the whole world."""
        found = []
        for update in self.updates(0, offset_of(self.world.timeline.count, 0)):
            if update.paid is not None:
                event = self.event_at(update.offset)
                true = read_traffic(event.traffic_summary).total_traffic_cost if event else update.paid
                if true != update.paid:
                    found.append(PlantedMismatch(update.update_id, update.offset, update.paid, true))
        return found

    def _topology(self, slice_number: int) -> list[Update]:
        times = [entry.time for entry in self.world.planner.plan(slice_number)]
        start = self.world.timeline.slice(slice_number).begin
        return self.topology.of_slice(slice_number, times, start)

    def _build(self, slice_number: int) -> list[Update]:
        found = self._topology(slice_number)
        synchronizer, seed = self.world.people.synchronizer, self.world.seed
        for index, event in enumerate(self.world.slice(slice_number, "ledger_json")):
            text = event.verdict if event.update == NULL else event.update
            if any(mark in text for mark in self._marks):
                offset = offset_of(slice_number, index)
                update = project(event, offset, self.parties, self.participant, synchronizer, seed)
                if update:
                    found.append(update)
        found.sort(key=_offset)
        self._plant(slice_number, found)
        return found

    def _plant(self, slice_number: int, updates: list[Update]) -> None:
        """Tell a wrong cost for a few own submissions, so that a reconciliation finds something."""
        due = slice_number - self.world.timeline.first_count in PLANTED_SLICES
        for update in updates:
            if update.paid is None:
                continue
            drawn = number(self.world.seed, "planted cost", update.update_id)
            if due or drawn % 10_000 < PLANTED_PER_10000:
                update.paid += 1 + drawn % 800
                due = False


def is_rejected(event: Event) -> bool:
    """Tell whether a request was turned down."""
    return read_verdict(event.verdict).verdict_result.endswith("REJECTED")


def _hosted(world: World, participant: str | None) -> list[Party]:
    by_participant: dict[str, list[Party]] = {}
    for party in world.people.by_identifier.values():
        by_participant.setdefault(party.participant, []).append(party)
    if participant is None:
        participant = max(by_participant, key=lambda name: len(by_participant[name]))
    if participant not in by_participant:
        raise ValueError(f"no participant {participant!r} in this world: use one of {sorted(by_participant)}")
    return by_participant[participant]


def _offset(update: Update) -> int:
    return update.offset
