"""Topology transactions: parties allocated on the participant at the start, and changes now and then."""

from __future__ import annotations

from typing import Any

from ..identifiers import PREFIX
from ..parties import Party
from ..randomness import digest, number
from .offsets import before_event
from .projection import Update

EVERY = 5  # one slice of so many has a change
GUESTS = ("walnut", "sorrel", "teasel", "fennel", "yucca", "mallow")
SUBMISSION, CONFIRMATION, OBSERVATION = (
    f"PARTICIPANT_PERMISSION_{name}" for name in ("SUBMISSION", "CONFIRMATION", "OBSERVATION")
)
LIFE = (  # what happens to a guest, one step per change
    ("ParticipantAuthorizationOnboarding", CONFIRMATION),
    ("ParticipantAuthorizationAdded", CONFIRMATION),
    ("ParticipantAuthorizationChanged", OBSERVATION),
    ("ParticipantAuthorizationRevoked", None),
)


class Topology:
    """The topology transactions that a participant sees.

    Parameters
    ----------
    seed
        Seed of the world.
    participant
        Id of the participant.
    hosted
        The parties it hosts from the start.
    synchronizer
        Id of the synchronizer.
    """

    def __init__(self, seed: int, participant: str, hosted: list[Party], synchronizer: str) -> None:
        self._seed = seed
        self._participant = participant
        self._hosted = hosted
        self._synchronizer = synchronizer

    def guest(self, change: int) -> str:
        """Return the party that a change (0, 1, …) is about; each has four of them in a row."""
        place = change // len(LIFE)
        name = f"{GUESTS[place % len(GUESTS)]}-guest-{place + 1}"
        return f"{name}::{PREFIX}{digest(self._seed, 'guest', place)}"

    def of_slice(self, slice_number: int, times: list[int], start: int) -> list[Update]:
        """Return the topology transactions of a slice.

        Parameters
        ----------
        slice_number
            Number of the slice.
        times
            Record times of its events, microseconds since 1970.
        start
            Time at which the slice begins.
        """
        if slice_number == 0:
            first = times[0] if times else start + 1
            events = [self._event("ParticipantAuthorizationAdded", p.identifier, SUBMISSION) for p in self._hosted]
            return [self._update(0, 0, (start + first) // 2, events)]
        if slice_number % EVERY or len(times) < 2:
            return []
        index = 1 + number(self._seed, "topology", slice_number) % (len(times) - 1)
        change = slice_number // EVERY - 1
        kind, permission = LIFE[change % len(LIFE)]
        event = self._event(kind, self.guest(change), permission)
        return [self._update(slice_number, index, (times[index - 1] + times[index]) // 2, [event])]

    def _event(self, kind: str, party: str, permission: str | None) -> dict[str, Any]:
        value = {"partyId": party, "participantId": self._participant}
        if permission:
            value["participantPermission"] = permission
        return {"event": {kind: {"value": value}}}

    def _update(self, slice_number: int, index: int, time: int, events: list[dict[str, Any]]) -> Update:
        update_id = PREFIX + digest(self._seed, "topology", slice_number, index)
        body = {"events": events, "synchronizer_id": self._synchronizer}
        return Update(before_event(slice_number, index), update_id, time, "topology", body)
