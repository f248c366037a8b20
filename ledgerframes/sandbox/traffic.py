"""Traffic of members, bought and used beyond the free base rate.

See docs/facts.md#free-base-rate.
"""

from __future__ import annotations

from itertools import takewhile
from threading import RLock

from ledgerframes.gc_pause import pause_gc

from .times import MINUTE
from .transactions.purchases import purchases_of
from .world import World

BASE_BYTES, BASE_WINDOW = 400_000, 20 * MINUTE  # burstAmount and burstWindow of the coin rules
LIMIT_DELAY = MINUTE  # until a purchase is part of the limit


class Traffic:
    """Traffic of a world's participants. Each belongs to a validator."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._lock = RLock()
        self._validators = {validator.participant: n for n, validator in enumerate(world.parties.validators)}
        self._requests: dict[str, list[tuple[int, int]]] = {}  # record time and cost by participant, by time

    def purchased(self, participant: str, until: int) -> int:
        """Return the bytes that were bought for a participant before a time."""
        validator = self._validators[participant]
        purchases = purchases_of(self._world.schedule, self._world.seed, validator)
        return sum(byte_count for time, byte_count in purchases if time < until)

    def is_member(self, participant: str) -> bool:
        """Return whether a participant is a member of the synchronizer."""
        return participant in self._validators

    def consumed(self, participant: str, until: int) -> int:
        """Return the bytes that a participant's requests before a time used of what was bought.

        The base rate refills steadily up to its burst amount, and is used first. The first call goes through all
        transactions, none of which is written.
        """
        free, since, consumed = BASE_BYTES, self._world.timeline.start, 0
        for time, cost in takewhile(lambda each: each[0] < until, self._requests_of(participant)):
            free = min(BASE_BYTES, free + (time - since) * BASE_BYTES // BASE_WINDOW)
            since = time
            consumed += max(0, cost - free)
            free = max(0, free - cost)
        return consumed

    def _requests_of(self, participant: str) -> list[tuple[int, int]]:
        with self._lock:
            if not self._requests:
                with pause_gc():
                    for time, name, cost in self._world.requests():
                        self._requests.setdefault(name, []).append((time, cost))
                for requests in self._requests.values():
                    requests.sort()
            return self._requests.get(participant, [])
