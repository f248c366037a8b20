"""The ledger of one participant, its updates ordered by offset with random access."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from ..builder import Event
from ..timeline import OVERLAP, SECOND_MIGRATION
from ..times import Clock
from ..world import World
from .filters import Registry
from .projection import Update, cost_of, offset_of, slice_of
from .slices import ParticipantSlices, by_offset


class PlantedMismatch(NamedTuple):
    """A submission whose traffic cost differs between the ledger and the history."""

    update_id: str
    offset: int
    paid_traffic_cost: int
    total_traffic_cost: int


class ParticipantLedger:
    """Updates that one participant sees of a world.

    By default it is the participant with the most parties.
    """

    def __init__(self, world: World, clock: Clock, participant: str | None = None) -> None:
        parties, self.world = world.parties, world
        self.participant = parties.largest if participant is None else participant
        if self.participant not in parties.by_participant:
            raise ValueError(f"Unknown participant {participant!r}. Choose from {sorted(parties.by_participant)}.")
        self._slices = world.derived(ParticipantSlices, self.participant)
        self.slice, self.party_names = self._slices.slice, self._slices.party_names
        self.parties = frozenset(self.party_names)
        self.registry = Registry(world.constants().templates)
        self.clock, self.pruned_through = clock, 0

    def end(self) -> int:
        """Return the ledger end, which is the offset of the world's newest event."""
        return self.offset_at(self.clock.now())

    def offset_at(self, time: int) -> int:
        """Return the highest offset at a time, in microseconds since 1970."""
        timeline = self.world.timeline
        if time < timeline.start:
            return 0
        # The participant leaves the first migration when it has seen all of it.
        second = time >= timeline.switch + OVERLAP
        newest = timeline.number_at(SECOND_MIGRATION if second else SECOND_MIGRATION - 1, time)
        newest = min(newest, timeline.count - 1 if second else timeline.first_count - 1)
        for slice_number in range(newest, -1, -1):
            count = bisect_right(self.world.schedule.record_times(slice_number), time)
            if count:
                return offset_of(slice_number, count - 1)
        return offset_of(0, 0) - 1

    def prune(self, through: int | float) -> int:
        """Prune the ledger through an offset, or a share of it if below 1, and return the offset."""
        end = self.end()
        offset = int(through * end) if isinstance(through, float) and through < 1 else int(through)
        if through >= 1 and offset != through:
            raise ValueError(f"Cannot prune through {through}: an offset is a whole number, and a share of them is below 1.")
        if not 0 <= offset <= end:
            raise ValueError(f"Cannot prune through {through}: the ledger ends at {end}.")
        self.pruned_through = max(self.pruned_through, offset)
        return self.pruned_through

    def updates(self, after: int, through: int, descending: bool = False) -> Iterator[Update]:
        """Iterate over the updates with after < offset <= through."""
        numbers = range(slice_of(after), min(slice_of(through), self.world.timeline.count - 1) + 1)
        for slice_number in reversed(numbers) if descending else numbers:
            updates = self.slice(slice_number)
            first, last = (bisect_right(updates, offset, key=by_offset) for offset in (after, through))
            yield from reversed(updates[first:last]) if descending else updates[first:last]

    def at(self, offset: int) -> Update | None:
        """Return the update at an offset, or None."""
        return next(self.updates(offset - 1, offset), None)

    def find(self, update_id: str) -> Update | None:
        """Return the update with an id, or None."""
        position = self.world.identifiers.position(update_id)
        if position and position[0] < self.world.timeline.count:
            return self.at(offset_of(*position))
        slices = map(self._slices.topology_updates, range(self.world.timeline.count))
        return next((update for updates in slices for update in updates if update.update_id == update_id), None)

    def submissions(self, after: int, through: int) -> Iterator[tuple[int, Event]]:
        """Iterate over offset and event of requests that mention the participant."""
        mark = self.participant.encode()
        last = min(slice_of(through), self.world.timeline.count - 1)
        for slice_number in range(slice_of(after), last + 1):
            for index, event in enumerate(self.world.slice(slice_number, "ledger_json")):
                offset = offset_of(slice_number, index)
                if after < offset <= through and mark in event.verdict and event.is_shown:
                    yield offset, event

    def planted(self) -> list[PlantedMismatch]:
        """Return the submissions with a planted cost, for which the whole world is generated."""
        return [
            PlantedMismatch(update.update_id, update.offset, update.paid, cost)
            for update in self.updates(0, offset_of(self.world.timeline.count, 0))
            if update.paid is not None and (event := self.world.find(update.update_id, "ledger_json"))
            if (cost := cost_of(event)) is not None and cost != update.paid
        ]

    def guests(self) -> list[str]:
        """Return the guests that it hosts at the start of the present slice."""
        return self._slices.guests_before(slice_of(self.end()))
