"""Mining rounds: a new one every ten minutes, three open at once, all by formula.

Round ``FIRST_ROUND + n``: the first three are made at the start of the world; every later one is made by tick
n - 3 of the schedule and opens one tick duration after that; tick n archives it.
"""

from __future__ import annotations

from .randomness import number
from .schedule import TICK, Schedule

FIRST_ROUND = 41_200
OPEN_AT_ONCE = 3
PRICE_STEPS = 36  # the price moves on a new way every six hours of ticks


class Rounds:
    """The rounds of one world.

    Parameters
    ----------
    seed
        Seed of the world.
    schedule
        The scheduled events, with the ticks among them.
    """

    def __init__(self, seed: int, schedule: Schedule) -> None:
        self._seed = seed
        self._schedule = schedule
        self.start = schedule.genesis.time(0)

    def effective_at_tick(self, tick: int) -> int:
        """Return the ledger effective time of a tick: 80 to 400 ms before its record time."""
        return self._schedule.ticks.time(tick) - 80_000 - number(self._seed, "tick delay", tick) % 320_000

    def created(self, round_number: int) -> int:
        """Return the record time at which the round's contract is created, in microseconds since 1970."""
        position = round_number - FIRST_ROUND
        return self.start if position < OPEN_AT_ONCE else self._schedule.ticks.time(position - OPEN_AT_ONCE)

    def opens_at(self, round_number: int) -> int:
        """Return the round's opensAt, in microseconds since 1970."""
        position = round_number - FIRST_ROUND
        if position < OPEN_AT_ONCE:
            return self.start + position * TICK
        return self.effective_at_tick(position - OPEN_AT_ONCE) + TICK

    def archived(self, round_number: int) -> int:
        """Return the record time at which the round's contract is archived, in microseconds since 1970."""
        return self._schedule.ticks.time(round_number - FIRST_ROUND)

    def lowest_open(self, time: int) -> int | None:
        """Return the lowest round whose contract is active and open at a record time, if any."""
        lowest = FIRST_ROUND + self._schedule.ticks.count_before(time + 1)
        for candidate in range(lowest, lowest + OPEN_AT_ONCE):
            if self.created(candidate) <= time and self.opens_at(candidate) <= time:
                return candidate
        return None

    def price(self, round_number: int) -> str:
        """Return the coin price of a round in USD, as the short decimal that the wire shows."""
        leg, step = divmod(round_number - FIRST_ROUND, PRICE_STEPS)
        before, after = (120_000 + number(self._seed, "price", leg + side) % 60_000 for side in (0, 1))
        millionths = before + (after - before) * step // PRICE_STEPS
        return f"0.{millionths:06d}".rstrip("0")
