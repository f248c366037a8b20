"""Topology transactions of a participant, for its parties and for guests."""

from __future__ import annotations

from ..identifiers import PREFIX
from ..randomness import digest, number
from ..responses import Json
from .participant import Participant
from .projection import Update, offset_before

CHANGE_EVERY = 5  # one slice of so many has a change
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


def guests(participant: Participant, slice_number: int) -> list[str]:
    """Return the guests that a participant hosts at the start of a slice."""
    changes = max(0, slice_number - 1) // CHANGE_EVERY
    steps = {_guest(participant, change): change % len(GUEST_STEPS) for change in range(changes)}
    return [guest for guest, step in steps.items() if step not in (0, len(GUEST_STEPS) - 1)]


def topology_updates(participant: Participant, slice_number: int) -> list[Update]:
    """Return the topology transactions of a slice."""
    times = participant.record_times(slice_number)
    if slice_number == 0:
        start = participant.world.timeline.slice(0).begin
        events = [
            _event(participant, "ParticipantAuthorizationAdded", party.identifier, SUBMISSION) for party in participant.hosted
        ]
        return [_update(participant, 0, 0, (start + (times[0] if times else start + 1)) // 2, events)]
    if slice_number % CHANGE_EVERY or len(times) < 2:
        return []
    index = 1 + number(participant.world.seed, "topology", slice_number) % (len(times) - 1)
    change = slice_number // CHANGE_EVERY - 1
    kind, permission = GUEST_STEPS[change % len(GUEST_STEPS)]
    event = _event(participant, kind, _guest(participant, change), permission)
    return [_update(participant, slice_number, index, (times[index - 1] + times[index]) // 2, [event])]


def _guest(participant: Participant, change: int) -> str:
    index = change // len(GUEST_STEPS)
    name = f"{GUESTS[index % len(GUESTS)]}-guest-{index + 1}"
    return f"{name}::{PREFIX}{digest(participant.world.seed, 'guest', index)}"


def _event(participant: Participant, kind: str, party: str, permission: str | None) -> Json:
    value = {"partyId": party, "participantId": participant.identifier}
    return {"event": {kind: {"value": value | ({"participantPermission": permission} if permission else {})}}}


def _update(participant: Participant, slice_number: int, index: int, time: int, events: list[Json]) -> Update:
    update_id = PREFIX + digest(participant.world.seed, "topology", slice_number, index)
    body = {"events": events, "synchronizer_id": participant.world.people.synchronizer}
    return Update(offset_before(slice_number, index), update_id, time, "topology", body)
