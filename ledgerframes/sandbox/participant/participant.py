"""A participant of a world, with the parties that it hosts."""

from __future__ import annotations

from ..parties import Party
from ..world import World


class Participant:
    """A participant of a world.

    Parameters
    ----------
    world
        The world.
    identifier
        Id of the participant; None selects the one with the most parties.
    """

    def __init__(self, world: World, identifier: str | None = None) -> None:
        self.world = world
        people = world.people
        self.hosted = _hosted_parties(world, identifier)
        self.identifier = self.hosted[0].participant
        self.party_names = [party.identifier for party in self.hosted]
        if any(sv.participant == self.identifier for sv in people.svs):
            self.party_names.append(people.dso)  # all SVs host it
        self.parties = frozenset(self.party_names)

    def record_times(self, slice_number: int) -> list[int]:
        """Return the record times of a slice's events, in microseconds since 1970."""
        return [entry.time for entry in self.world.planner.plan(slice_number)]


def _hosted_parties(world: World, participant: str | None) -> list[Party]:
    by_participant = world.people.by_participant
    if participant is None:
        participant = world.people.largest
    if participant not in by_participant:
        raise ValueError(f"Unknown participant {participant!r}. Choose from {sorted(by_participant)}.")
    return by_participant[participant]
