"""Mining rounds by formula, and the state that activity weights are based on.

A new round is made every ten minutes, and three are open at once. Of round ``FIRST_ROUND + n``, the first three
are made at the start of the world; every later one is made by tick n - 3 of the schedule and opens one tick
duration after that; tick n archives it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from decimal import Decimal
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from .formulas import MARKERS, TRAFFIC_BASED, RoundTerms
from .identifiers import contract_id
from .parties import WorldParties
from .randomness import number
from .schedule import OPEN_AT_ONCE, Schedule
from .script import REQUEST, ROUND_PRICE, Right

FIRST_ROUND = 41_200
PRICE_STEPS = 36  # the price takes a new direction every six hours of ticks
FEATURED_STEP = 2  # which of the first transactions grants the first rights
DEFAULT_WEIGHT = "1"
ISSUED_PER_EVENT = 7000  # coins per year for each event of a day, so that worlds of all sizes are alike
TRAFFIC_PRICES = ("60.0", "60.0", "50.0")  # USD per MB, of each release
MAX_CACHED_ROUNDS = 2000
INCOMPLETE_ROUNDS = 2  # the newest rounds, for which no records are served yet


class RoundState(NamedTuple):
    """A round and the state of the network as of its opening."""

    number: int
    featured: dict[str, str]  # activity weight by provider's party id
    sv_participants: frozenset[str]
    is_complete: bool


class Rounds:
    """Rounds of one world with their state (docs/facts.md#activity-weights, steps 2 to 4)."""

    def __init__(self, seed: int, schedule: Schedule, parties: WorldParties) -> None:
        self.schedule, self._seed, self._parties = schedule, seed, parties
        self.start = schedule.genesis.time(0)
        self._granted_at = {"start": schedule.genesis.time(FEATURED_STEP), "later": schedule.late_feature.time(0)}
        self._svs = frozenset(sv.participant for sv in parties.svs)
        self._member, self._memberships = parties.member.participant, schedule.script.memberships()
        self._rights = sorted(schedule.script.rights(), key=lambda right: (right.since, self.right_id(right)))
        self._own_prices = schedule.script.prices()
        self._starts = schedule.first_positions()
        every = schedule.settle_every
        self.close_lag, self.archive_lag = max(2, -(-3 // every)), max(1, -(-6 // every))  # settlements
        self._state_of = cache(self._state)
        self.price = lru_cache(MAX_CACHED_ROUNDS)(self._price)  # a dozen transactions need that of the same round
        self.terms = lru_cache(MAX_CACHED_ROUNDS)(self._terms)
        self._first_incomplete = self.first_incomplete(schedule.timeline.now)

    @cached_property
    def scripted(self) -> frozenset[int]:
        """Rounds with requests of the script."""
        requests = (event for event in self.schedule.script.planned if event.kind == REQUEST)
        return frozenset(number for event in requests if (number := self.lowest_open(event.time)))

    def right_id(self, right: Right) -> str:
        """Return the contract id of a right of the script."""
        return contract_id(self._seed, "right", right.party, right.cycle, right.slot)

    def opens_at(self, round_number: int) -> int:
        """Return the round's opensAt, in microseconds since 1970."""
        return self.schedule.opens_at(round_number - FIRST_ROUND)

    def lowest_open(self, time: int) -> int | None:
        """Return the lowest round that is active and open at a record time, or None."""
        lowest = FIRST_ROUND + self.schedule.ticks.count_before(time + 1)
        for candidate in range(lowest, lowest + OPEN_AT_ONCE):
            if self._created_at(candidate) <= time and self.opens_at(candidate) <= time:
                return candidate
        return None

    def _created_at(self, round_number: int) -> int:
        position = round_number - FIRST_ROUND
        return self.start if position < OPEN_AT_ONCE else self.schedule.ticks.time(position - OPEN_AT_ONCE)

    def _price(self, round_number: int) -> str:
        """Return the coin price of a round in USD, as the short decimal of the wire."""
        if round_number - FIRST_ROUND in self._own_prices:
            return ROUND_PRICE
        leg, step = divmod(round_number - FIRST_ROUND, PRICE_STEPS)
        before, after = (120_000 + number(self._seed, "price", leg + side) % 60_000 for side in (0, 1))
        millionths = before + (after - before) * step // PRICE_STEPS
        return f"0.{millionths:06d}".rstrip("0")

    def _terms(self, round_number: int) -> RoundTerms:
        """Return what a round says about rewards."""
        release = bisect_right(self._starts, round_number - FIRST_ROUND) - 1
        return self.terms_of_release(release, Decimal(self.price(round_number)))

    def rules_version(self, time: int) -> int:
        """Return the version of the coin rules, and so the release, at a time."""
        return bisect_left(self.schedule.config_changes, time)

    def terms_of_release(self, release: int, price: Decimal = Decimal(0)) -> RoundTerms:
        """Return what a release says about rewards."""
        per_year = Decimal(ISSUED_PER_EVENT * self.schedule.events_per_day)
        return RoundTerms(price, per_year, Decimal(TRAFFIC_PRICES[release]), (None, MARKERS, TRAFFIC_BASED)[release])

    def settled_by(self, settlement: int) -> range:
        """Return the rounds that a settlement, by its occurrence, begins to issue."""
        every = self.schedule.settle_every
        first, end = (max(0, occurrence * every - 1) for occurrence in (settlement, settlement + 1))
        return range(FIRST_ROUND + first, FIRST_ROUND + end)

    def issuing_at(self, time: int) -> range:
        """Return the rounds that are issuing at a record time."""
        count = self.schedule.settlements.count_before(time)
        closed = self.settled_by(count - self.close_lag - 1).stop if count > self.close_lag else FIRST_ROUND
        return range(closed, self.settled_by(count - 1).stop if count else FIRST_ROUND)

    def window(self, round_number: int) -> tuple[int, int]:
        """Return bounds of the time in which a round is the lowest open one."""
        position = round_number - FIRST_ROUND
        begin = self.schedule.ticks.time(position - 1) if position else self.start
        return begin, self.schedule.ticks.time(position)

    def first_incomplete(self, now: int) -> int:
        """Return the first round whose activity records are not served yet at a time."""
        newest = self.lowest_open(now)
        return newest - INCOMPLETE_ROUNDS + 1 if newest else 0

    def state_at(self, time: int) -> RoundState | None:
        """Return the lowest open round at a record time with its state, or None."""
        round_number = self.lowest_open(time)
        return None if round_number is None else self._state_of(round_number)

    def _state(self, round_number: int) -> RoundState:
        opens_at = self.opens_at(round_number)
        svs = self._svs
        if any(since <= opens_at < until for since, until in self._memberships):
            svs |= {self._member}
        featured = {
            provider.identifier: provider.weight or DEFAULT_WEIGHT
            for provider in self._parties.providers
            if provider.featured and self._granted_at[provider.featured] <= opens_at
        }
        for right in self._rights:
            if right.since <= opens_at < right.until:
                featured[self._parties.planted[right.party].identifier] = right.weight or DEFAULT_WEIGHT
        return RoundState(round_number, featured, svs, round_number < self._first_incomplete)
