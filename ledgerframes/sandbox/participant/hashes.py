"""Hashes of externally signed transactions, and their offsets."""

from __future__ import annotations

from threading import RLock

from ..builder import external_hash
from ..world import World
from .projection import offset_of, slice_of
from .slices import ParticipantSlices


class TransactionHashes:
    """Offsets by transaction hash.

    A hash follows from the update id, and an id from the position. So only the slice of a transaction that may have the
    hash is built, and none for an unknown hash.
    """

    def __init__(self, world: World, participant: str) -> None:
        self._world, self._slices = world, world.derived(ParticipantSlices, participant)
        self._lock = RLock()
        self._positions: dict[str, tuple[int, int]] = {}  # of all hashes that the updates of the history could have

    def offset(self, transaction_hash: str, through: int) -> int | None:
        """Return the offset of a transaction up to an offset, or None."""
        with self._lock:
            position = (self._positions or self._index()).get(transaction_hash)
        offset = offset_of(*position) if position else through + 1
        if offset > through:
            return None
        updates = self._slices.slice(slice_of(offset))
        signed = (update for update in updates if update.body.get("external_transaction_hash") == transaction_hash)
        return next((update.offset for update in signed if update.offset == offset), None)

    def _index(self) -> dict[str, tuple[int, int]]:
        world = self._world
        for number in range(world.timeline.count):
            for index in range(len(world.schedule.record_times(number))):
                self._positions[external_hash(world.identifiers.at(number, index))] = number, index
        return self._positions
