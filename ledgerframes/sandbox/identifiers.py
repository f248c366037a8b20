"""Ids of updates, which encode their position, and ids and opaque bytes of contracts."""

from __future__ import annotations

import base64
from functools import lru_cache

from .randomness import digest, number

PREFIX = "1220"  # the multihash mark of SHA-256, with which the network's own ids start
MASK = (1 << 64) - 1
INDEX_BITS = 24
MAX_CACHED_IDS = 10_000
SHUFFLE = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)  # odd, hence invertible modulo 2**64
UNSHUFFLE = tuple(pow(factor, -1, 1 << 64) for factor in SHUFFLE)


class UpdateIds:
    """Update ids of one world, resolvable to their position without a table of all ids.

    The first sixteen digits are the position (slice, index), shuffled by a bijection and a key; the other
    forty-eight are a hash that tells a real id from an invented one.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._key = number(seed, "update ids")

    def at(self, slice_number: int, index: int) -> str:
        """Return the id of the update with this index in this slice."""
        mixed = (slice_number << INDEX_BITS | index) ^ self._key
        for factor in SHUFFLE:
            mixed = mixed * factor & MASK
            mixed ^= mixed >> 32
        return f"{PREFIX}{mixed:016x}{digest(self._seed, slice_number, index, size=24)}"

    def position(self, update_id: str) -> tuple[int, int] | None:
        """Return (slice, index) of an id, or None if this world has no such id.

        The slice may contain fewer updates than the index, which the caller must check.
        """
        try:
            mixed = int(update_id[4:20], 16)
        except ValueError:
            return None
        for factor in reversed(UNSHUFFLE):
            mixed ^= mixed >> 32
            mixed = mixed * factor & MASK
        slice_number, index = divmod(mixed ^ self._key, 1 << INDEX_BITS)
        return (slice_number, index) if self.at(slice_number, index) == update_id else None

    def order(self, update_id: str) -> int:
        """Return a number that increases along the history, of an id of this world."""
        position = self.position(update_id)
        if position is None:
            raise ValueError(f"This world has no update {update_id!r}.")
        return (position[0] << INDEX_BITS) + position[1] + 1


@lru_cache(MAX_CACHED_IDS, typed=True)  # a contract that is known by a key is made wherever it is named
def contract_id(*parts: object) -> str:
    """Return a contract id with version, discriminator and a salted suffix."""
    raw = digest(*parts, size=64)
    return f"00{raw[:64]}ca121220{raw[64:]}"


def blob_of(identifier: str) -> str:
    """Return the opaque bytes of a contract in base64, invented but stable."""
    return base64.b64encode(b"".join(bytes.fromhex(digest("blob", identifier, part, size=64)) for part in range(4))).decode()


def fingerprint(*parts: object) -> str:
    """Return a key fingerprint, the part of a party id after the double colon."""
    return PREFIX + digest("fingerprint", *parts)
