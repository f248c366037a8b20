"""Hashes of externally signed transactions, and their offsets."""

from __future__ import annotations

from threading import RLock

from ..world import World
from .projection import slice_of
from .slices import ParticipantSlices


class TransactionHashes:
    """Offsets by transaction hash, read from the start of the ledger as far as needed."""

    def __init__(self, world: World, participant: str) -> None:
        self._slice, self._count = world.derived(ParticipantSlices, participant).slice, world.timeline.count
        self._lock = RLock()
        self._offsets: dict[str, int] = {}
        self._indexed = 0  # slices that `_offsets` covers

    def offset(self, transaction_hash: str, through: int) -> int | None:
        """Return the offset of a transaction up to an offset, or None."""
        with self._lock:
            last = min(slice_of(through), self._count - 1)
            while transaction_hash not in self._offsets and self._indexed <= last:
                for update in self._slice(self._indexed):
                    if signed := update.body.get("external_transaction_hash"):
                        self._offsets[signed] = update.offset
                self._indexed += 1
            offset = self._offsets.get(transaction_hash)
            return offset if offset and offset <= through else None
