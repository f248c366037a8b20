"""Updates of a participant by slice, shared by the sandboxes of one world."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from threading import RLock

from ledgerframes.gc_pause import pause_gc

from ..builder import NULL
from ..identifiers import PREFIX
from ..randomness import digest, number
from ..responses import Json
from ..world import World
from .projection import Update, offset_of, project

CACHED_OF_LARGE_WORLD = 24  # slices, more than `Contracts` reads for one state
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


class ParticipantSlices:
    """Slices of the updates that the parties of a participant see."""

    def __init__(self, world: World, participant: str) -> None:
        parties = world.parties
        self._world, self._participant = world, participant
        self._hosted = [party.identifier for party in parties.by_participant[participant]]
        is_sv = any(sv.participant == participant for sv in parties.svs)
        self.party_names = self._hosted + [parties.dso] * is_sv  # all SVs host it
        self._parties = frozenset(self.party_names)
        # An update without any of these fingerprints does not concern the participant.
        self._marks = tuple({name.partition("::")[2].encode() for name in self.party_names})
        self._cached = lru_cache(world.timeline.count if world.is_small else CACHED_OF_LARGE_WORLD)(self._build)
        self._lock = RLock()

    def slice(self, slice_number: int) -> list[Update]:
        """Return the updates of one slice by offset, from the cache if recent."""
        with self._lock:
            return self._cached(slice_number)

    def _build(self, slice_number: int) -> list[Update]:
        updates = self.topology_updates(slice_number)
        with pause_gc():
            for index, event in enumerate(self._world.slice(slice_number, "ledger_json")):
                text = event.verdict if event.update == NULL else event.update
                if event.is_shown and any(mark in text for mark in self._marks):
                    update = project(self._world, self._participant, self._parties, event, offset_of(slice_number, index))
                    updates += [update] if update else []
        updates.sort(key=by_offset)
        self._plant(slice_number, updates)
        return updates

    def _plant(self, slice_number: int, updates: list[Update]) -> None:
        """Change the cost of a few submissions, so that reconciliations report differences."""
        due = slice_number - self._world.timeline.first_count in PLANTED_SLICES
        for update in updates:
            if update.paid is not None:
                draw = number(self._world.seed, "planted cost", update.update_id)
                if due or draw % 10_000 < PLANTED_PER_10000:
                    update.paid += 1 + draw % 800
                    due = False

    def topology_updates(self, slice_number: int) -> list[Update]:
        """Return the topology transactions of a slice, for its parties and for guests."""
        if slice_number % CHANGE_EVERY:
            return []
        times = self._world.schedule.record_times(slice_number)
        if slice_number == 0:
            start = self._world.timeline.slice(0).begin
            events = [self._event("ParticipantAuthorizationAdded", party, SUBMISSION) for party in self._hosted]
            return [self._update(0, 0, (start + (times[0] if times else start + 1)) // 2, events)]
        if len(times) < 2:
            return []
        index = 1 + number(self._world.seed, "topology", slice_number) % (len(times) - 1)
        change = slice_number // CHANGE_EVERY - 1
        kind, permission = GUEST_STEPS[change % len(GUEST_STEPS)]
        event = self._event(kind, self._guest(change), permission)
        return [self._update(slice_number, index, (times[index - 1] + times[index]) // 2, [event])]

    def guests_before(self, slice_number: int) -> list[str]:
        """Return the guests that it hosts at the start of a slice."""
        changes = max(0, slice_number - 1) // CHANGE_EVERY
        steps = {self._guest(change): change % len(GUEST_STEPS) for change in range(changes)}
        return [guest for guest, step in steps.items() if step not in (0, len(GUEST_STEPS) - 1)]

    def _guest(self, change: int) -> str:
        index = change // len(GUEST_STEPS)
        name = f"{GUESTS[index % len(GUESTS)]}-guest-{index + 1}"
        return f"{name}::{PREFIX}{digest(self._world.seed, 'guest', index)}"

    def _event(self, kind: str, party: str, permission: str | None) -> Json:
        value = {"partyId": party, "participantId": self._participant}
        return {"event": {kind: {"value": value | ({"participantPermission": permission} if permission else {})}}}

    def _update(self, slice_number: int, index: int, time: int, events: list[Json]) -> Update:
        update_id = PREFIX + digest(self._world.seed, "topology", slice_number, index)
        body = {"events": events, "synchronizer_id": self._world.parties.synchronizer}
        return Update(offset_of(slice_number, index) - 1, update_id, time, "topology", body)
