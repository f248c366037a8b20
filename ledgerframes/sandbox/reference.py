"""The state of the network that activity weights are computed against, as of any time."""

from __future__ import annotations

from typing import NamedTuple

from .parties import Population
from .rounds import Rounds
from .schedule import Schedule

FEATURED_STEP = 2  # which of the first transactions grants the first rights
DEFAULT_WEIGHT = "1"
INCOMPLETE_ROUNDS = 2  # the newest rounds, for which no records are served yet


class RoundState(NamedTuple):
    """A round and the state read as of its opening."""

    number: int
    featured: dict[str, str]  # activity weight by provider's party id
    sv_participants: frozenset[str]
    complete: bool


class Reference:
    """Reads rounds, featured providers and SVs as of a time (docs/facts.md#activity-weights, steps 2 to 4).

    Parameters
    ----------
    people
        Everybody.
    rounds
        The mining rounds.
    schedule
        The scheduled events, with the grant of the late right among them.
    now
        End of the world, microseconds since 1970.
    """

    def __init__(self, people: Population, rounds: Rounds, schedule: Schedule, now: int) -> None:
        self._people = people
        self._rounds = rounds
        self._granted = {
            "start": schedule.genesis.time(FEATURED_STEP),
            "later": schedule.late_feature.time(0),
        }
        self._founded = schedule.genesis.time(0)
        self._svs = frozenset(sv.participant for sv in people.svs)
        newest = rounds.lowest_open(now)
        self._first_incomplete = newest - INCOMPLETE_ROUNDS + 1 if newest else 0
        self._states: dict[int, RoundState] = {}

    def featured_at(self, time: int) -> dict[str, str]:
        """Return the activity weight of each provider that is featured at a time."""
        return {
            provider.party.identifier: provider.weight or DEFAULT_WEIGHT
            for provider in self._people.providers
            if provider.featured and self._granted[provider.featured] <= time
        }

    def round_at(self, time: int) -> RoundState | None:
        """Return the lowest open round at a record time, with the state as of its opening, if any is open."""
        round_number = self._rounds.lowest_open(time)
        if round_number is None:
            return None
        if round_number not in self._states:
            self._states[round_number] = self._state(round_number)
        return self._states[round_number]

    def _state(self, round_number: int) -> RoundState:
        opens_at = self._rounds.opens_at(round_number)
        svs = self._svs if self._founded <= opens_at else frozenset()
        complete = bool(svs) and round_number < self._first_incomplete
        return RoundState(round_number, self.featured_at(opens_at), svs, complete)
