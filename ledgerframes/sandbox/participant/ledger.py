"""The ledger of one participant, its updates ordered by offset with random access."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from threading import RLock
from typing import NamedTuple

from ledgerframes.gc_pause import pause_gc

from ..builder import NULL, Event
from ..identifiers import PREFIX
from ..randomness import digest, number
from ..responses import Json
from ..timeline import OVERLAP, SECOND_MIGRATION
from ..times import Clock
from ..world import World
from .filters import Registry
from .projection import Update, cost_of, offset_of, project, slice_of

CACHED_SLICES = 8
PLANTED_PER_10000 = 3
PLANTED_SLICES = (5, 25)  # counted from the second migration, each with at least one planted cost
CHANGE_EVERY = 5  # one slice of so many has a change of a guest
GUESTS = ("walnut", "sorrel", "teasel", "fennel", "yucca", "mallow")
SUBMISSION, CONFIRMATION, OBSERVATION = (
    f"PARTICIPANT_PERMISSION_{name}" for name in ("SUBMISSION", "CONFIRMATION", "OBSERVATION")
)
GUEST_STEPS = (  # one step per change
    ("ParticipantAuthorizationOnboarding", CONFIRMATION),
    ("ParticipantAuthorizationAdded", CONFIRMATION),
    ("ParticipantAuthorizationChanged", OBSERVATION),
    ("ParticipantAuthorizationRevoked", None),
)
by_offset = attrgetter("offset")


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
        people, self.world = world.people, world
        self.participant = people.largest if participant is None else participant
        if self.participant not in people.by_participant:
            raise ValueError(f"Unknown participant {participant!r}. Choose from {sorted(people.by_participant)}.")
        self._hosted = [party.identifier for party in people.by_participant[self.participant]]
        is_sv = any(sv.participant == self.participant for sv in people.svs)
        self.party_names = self._hosted + [people.dso] * is_sv  # all SVs host it
        self.parties = frozenset(self.party_names)
        self.registry = Registry(world.constants().templates)
        self.clock, self.pruned_through = clock, 0
        # An update without any of these fingerprints does not concern the participant.
        self._marks = tuple({name.partition("::")[2].encode() for name in self.party_names})
        self._slice = lru_cache(CACHED_SLICES)(self._build)
        self._lock = RLock()

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
            count = bisect_right(self.record_times(slice_number), time)
            if count:
                return offset_of(slice_number, count - 1)
        return offset_of(0, 0) - 1

    def prune(self, through: int | float) -> int:
        """Prune the ledger through an offset, or a share of it if below 1, and return the offset."""
        end = self.end()
        offset = int(through * end) if isinstance(through, float) and through < 1 else int(through)
        if not 0 <= offset <= end:
            raise ValueError(f"Cannot prune through {through}: the ledger ends at {end}.")
        self.pruned_through = max(self.pruned_through, offset)
        return self.pruned_through

    def slice(self, slice_number: int) -> list[Update]:
        """Return the updates of one slice by offset, from the cache if recent."""
        with self._lock:
            return self._slice(slice_number)

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
        slices = map(self.topology_updates, range(self.world.timeline.count))
        return next((update for updates in slices for update in updates if update.update_id == update_id), None)

    def submissions(self, after: int, through: int) -> Iterator[tuple[int, Event]]:
        """Iterate over offset and event of requests that mention the participant."""
        mark = self.participant.encode()
        last = min(slice_of(through), self.world.timeline.count - 1)
        for slice_number in range(slice_of(after), last + 1):
            for index, event in enumerate(self.world.slice(slice_number, "ledger_json")):
                offset = offset_of(slice_number, index)
                if after < offset <= through and mark in event.verdict and event.is_in("ledger_json"):
                    yield offset, event

    def planted(self) -> list[PlantedMismatch]:
        """Return the submissions with a planted cost, for which the whole world is generated."""
        return [
            PlantedMismatch(update.update_id, update.offset, update.paid, cost)
            for update in self.updates(0, offset_of(self.world.timeline.count, 0))
            if update.paid is not None and (event := self.world.find(update.update_id, "ledger_json"))
            if (cost := cost_of(event)) is not None and cost != update.paid
        ]

    def _build(self, slice_number: int) -> list[Update]:
        updates = self.topology_updates(slice_number)
        with pause_gc():  # no longer than the build, because transactions leave cycles
            for index, event in enumerate(self.world.slice(slice_number, "ledger_json")):
                text = event.verdict if event.update == NULL else event.update
                if event.is_in("ledger_json") and any(mark in text for mark in self._marks):
                    update = project(self.world, self.participant, self.parties, event, offset_of(slice_number, index))
                    updates += [update] if update else []
        updates.sort(key=by_offset)
        self._plant(slice_number, updates)
        return updates

    def _plant(self, slice_number: int, updates: list[Update]) -> None:
        """Change the cost of a few submissions, so that reconciliations report differences."""
        due = slice_number - self.world.timeline.first_count in PLANTED_SLICES
        for update in updates:
            if update.paid is not None:
                draw = number(self.world.seed, "planted cost", update.update_id)
                if due or draw % 10_000 < PLANTED_PER_10000:
                    update.paid += 1 + draw % 800
                    due = False

    def record_times(self, slice_number: int) -> list[int]:
        """Return the record times of a slice's events, in microseconds since 1970."""
        return [event.time for event in self.world.schedule.plan(slice_number)]

    def guests(self) -> list[str]:
        """Return the guests that it hosts at the start of the present slice."""
        changes = max(0, slice_of(self.end()) - 1) // CHANGE_EVERY
        steps = {self._guest(change): change % len(GUEST_STEPS) for change in range(changes)}
        return [guest for guest, step in steps.items() if step not in (0, len(GUEST_STEPS) - 1)]

    def topology_updates(self, slice_number: int) -> list[Update]:
        """Return the topology transactions of a slice, for its parties and for guests."""
        times = self.record_times(slice_number)
        if slice_number == 0:
            start = self.world.timeline.slice(0).begin
            events = [self._event("ParticipantAuthorizationAdded", party, SUBMISSION) for party in self._hosted]
            return [self._update(0, 0, (start + (times[0] if times else start + 1)) // 2, events)]
        if slice_number % CHANGE_EVERY or len(times) < 2:
            return []
        index = 1 + number(self.world.seed, "topology", slice_number) % (len(times) - 1)
        change = slice_number // CHANGE_EVERY - 1
        kind, permission = GUEST_STEPS[change % len(GUEST_STEPS)]
        event = self._event(kind, self._guest(change), permission)
        return [self._update(slice_number, index, (times[index - 1] + times[index]) // 2, [event])]

    def _guest(self, change: int) -> str:
        index = change // len(GUEST_STEPS)
        name = f"{GUESTS[index % len(GUESTS)]}-guest-{index + 1}"
        return f"{name}::{PREFIX}{digest(self.world.seed, 'guest', index)}"

    def _event(self, kind: str, party: str, permission: str | None) -> Json:
        value = {"partyId": party, "participantId": self.participant}
        return {"event": {kind: {"value": value | ({"participantPermission": permission} if permission else {})}}}

    def _update(self, slice_number: int, index: int, time: int, events: list[Json]) -> Update:
        update_id = PREFIX + digest(self.world.seed, "topology", slice_number, index)
        body = {"events": events, "synchronizer_id": self.world.people.synchronizer}
        return Update(offset_of(slice_number, index) - 1, update_id, time, "topology", body)
