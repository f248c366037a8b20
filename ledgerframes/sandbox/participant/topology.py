"""Topology transactions of a participant, for its parties and for guests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..endpoints import Json
from ..identifiers import PREFIX
from ..randomness import digest, number
from .projection import Update, offset_before

if TYPE_CHECKING:
    from .ledger import ParticipantLedger

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


def guests(ledger: ParticipantLedger, slice_number: int) -> list[str]:
    """Return the guests that a participant hosts at the start of a slice."""
    changes = max(0, slice_number - 1) // CHANGE_EVERY
    steps = {_guest(ledger, change): change % len(GUEST_STEPS) for change in range(changes)}
    return [guest for guest, step in steps.items() if step not in (0, len(GUEST_STEPS) - 1)]


def topology_updates(ledger: ParticipantLedger, slice_number: int) -> list[Update]:
    """Return the topology transactions of a slice."""
    times = ledger.record_times(slice_number)
    if slice_number == 0:
        start = ledger.world.timeline.slice(0).begin
        events = [_event(ledger, "ParticipantAuthorizationAdded", party.identifier, SUBMISSION) for party in ledger.hosted]
        return [_update(ledger, 0, 0, (start + (times[0] if times else start + 1)) // 2, events)]
    if slice_number % CHANGE_EVERY or len(times) < 2:
        return []
    index = 1 + number(ledger.world.seed, "topology", slice_number) % (len(times) - 1)
    change = slice_number // CHANGE_EVERY - 1
    kind, permission = GUEST_STEPS[change % len(GUEST_STEPS)]
    event = _event(ledger, kind, _guest(ledger, change), permission)
    return [_update(ledger, slice_number, index, (times[index - 1] + times[index]) // 2, [event])]


def _guest(ledger: ParticipantLedger, change: int) -> str:
    index = change // len(GUEST_STEPS)
    name = f"{GUESTS[index % len(GUESTS)]}-guest-{index + 1}"
    return f"{name}::{PREFIX}{digest(ledger.world.seed, 'guest', index)}"


def _event(ledger: ParticipantLedger, kind: str, party: str, permission: str | None) -> Json:
    value = {"partyId": party, "participantId": ledger.participant}
    return {"event": {kind: {"value": value | ({"participantPermission": permission} if permission else {})}}}


def _update(ledger: ParticipantLedger, slice_number: int, index: int, time: int, events: list[Json]) -> Update:
    update_id = PREFIX + digest(ledger.world.seed, "topology", slice_number, index)
    body = {"events": events, "synchronizer_id": ledger.world.people.synchronizer}
    return Update(offset_before(slice_number, index), update_id, time, "topology", body)
