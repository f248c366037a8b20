"""Mining rounds by formula, and the state that activity weights are based on.

A new round is made every ten minutes, and three are open at once. Of round ``FIRST_ROUND + n``, the first three
are made at the start of the world; every later one is made by tick n - 3 of the schedule and opens one tick
duration after that; tick n archives it.
"""

from __future__ import annotations

from typing import NamedTuple

from .parties import WorldParties
from .randomness import number
from .schedule import TICK, Schedule

FIRST_ROUND = 41_200
OPEN_AT_ONCE = 3
PRICE_STEPS = 36  # the price takes a new direction every six hours of ticks
FEATURED_STEP = 2  # which of the first transactions grants the first rights
DEFAULT_WEIGHT = "1"
INCOMPLETE_ROUNDS = 2  # the newest rounds, for which no records are served yet


class RoundState(NamedTuple):
    """A round and the state of the network as of its opening."""

    number: int
    featured: dict[str, str]  # activity weight by provider's party id
    sv_participants: frozenset[str]
    is_complete: bool


class Rounds:
    """Rounds of one world with their state (docs/facts.md#activity-weights, steps 2 to 4).

    Parameters
    ----------
    seed
        Seed of the world.
    schedule
        The scheduled events, with ticks and grants of featured rights among them.
    parties
        The parties of the world.
    now
        End of the world, microseconds since 1970.
    """

    def __init__(self, seed: int, schedule: Schedule, parties: WorldParties, now: int) -> None:
        self._seed, self._schedule, self._parties = seed, schedule, parties
        self.start = schedule.genesis.time(0)
        self._granted_at = {"start": schedule.genesis.time(FEATURED_STEP), "later": schedule.late_feature.time(0)}
        self._svs = frozenset(sv.participant for sv in parties.svs)
        self._states: dict[int, RoundState] = {}
        self._first_incomplete = self.first_incomplete(now)

    def effective_at_tick(self, tick: int) -> int:
        """Return the ledger effective time of a tick, 80 to 400 ms before its record time."""
        return self._schedule.ticks.time(tick) - 80_000 - number(self._seed, "tick delay", tick) % 320_000

    def opens_at(self, round_number: int) -> int:
        """Return the round's opensAt, in microseconds since 1970."""
        position = round_number - FIRST_ROUND
        if position < OPEN_AT_ONCE:
            return self.start + position * TICK
        return self.effective_at_tick(position - OPEN_AT_ONCE) + TICK

    def lowest_open(self, time: int) -> int | None:
        """Return the lowest round that is active and open at a record time, or None."""
        lowest = FIRST_ROUND + self._schedule.ticks.count_before(time + 1)
        for candidate in range(lowest, lowest + OPEN_AT_ONCE):
            if self._created_at(candidate) <= time and self.opens_at(candidate) <= time:
                return candidate
        return None

    def _created_at(self, round_number: int) -> int:
        position = round_number - FIRST_ROUND
        return self.start if position < OPEN_AT_ONCE else self._schedule.ticks.time(position - OPEN_AT_ONCE)

    def price(self, round_number: int) -> str:
        """Return the coin price of a round in USD, as the short decimal of the wire."""
        leg, step = divmod(round_number - FIRST_ROUND, PRICE_STEPS)
        before, after = (120_000 + number(self._seed, "price", leg + side) % 60_000 for side in (0, 1))
        millionths = before + (after - before) * step // PRICE_STEPS
        return f"0.{millionths:06d}".rstrip("0")

    def first_incomplete(self, now: int) -> int:
        """Return the first round whose activity records are not served yet at a time."""
        newest = self.lowest_open(now)
        return newest - INCOMPLETE_ROUNDS + 1 if newest else 0

    def state_at(self, time: int) -> RoundState | None:
        """Return the lowest open round at a record time with its state, or None."""
        round_number = self.lowest_open(time)
        if round_number is None:
            return None
        if round_number not in self._states:
            self._states[round_number] = self._state(round_number)
        return self._states[round_number]

    def _state(self, round_number: int) -> RoundState:
        opens_at = self.opens_at(round_number)
        svs = self._svs if self.start <= opens_at else frozenset()
        featured = {
            provider.party.identifier: provider.weight or DEFAULT_WEIGHT
            for provider in self._parties.providers
            if provider.featured and self._granted_at[provider.featured] <= opens_at
        }
        return RoundState(round_number, featured, svs, bool(svs) and round_number < self._first_incomplete)
