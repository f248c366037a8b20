"""A participant of a world, with the parties and guests that it hosts."""

from __future__ import annotations

from ..identifiers import PREFIX
from ..randomness import digest, number
from ..responses import Json
from ..world import World
from .projection import Update, offset_before

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


class Participant:
    """A participant of a world, by default the one with the most parties."""

    def __init__(self, world: World, participant: str | None = None) -> None:
        people, self.world = world.people, world
        self.participant = people.largest if participant is None else participant
        if self.participant not in people.by_participant:
            raise ValueError(f"Unknown participant {participant!r}. Choose from {sorted(people.by_participant)}.")
        self._hosted = [party.identifier for party in people.by_participant[self.participant]]
        is_sv = any(sv.participant == self.participant for sv in people.svs)
        self.party_names = self._hosted + [people.dso] * is_sv  # all SVs host it
        self.parties = frozenset(self.party_names)

    def record_times(self, slice_number: int) -> list[int]:
        """Return the record times of a slice's events, in microseconds since 1970."""
        return [event.time for event in self.world.planner.plan(slice_number)]

    def guests_at(self, slice_number: int) -> list[str]:
        """Return the guests that it hosts at the start of a slice."""
        changes = max(0, slice_number - 1) // CHANGE_EVERY
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
        return Update(offset_before(slice_number, index), update_id, time, "topology", body)
