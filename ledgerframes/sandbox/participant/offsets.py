"""Offsets: where an update stands in the world, told by arithmetic, so that any can be found at once."""

from __future__ import annotations

STRIDE = 20_000  # offsets per slice, more than twice the events that any slice holds
FIRST = 1


def offset_of(slice_number: int, index: int) -> int:
    """Return the offset of the event with this index in a slice; the one before it is left free."""
    return FIRST + slice_number * STRIDE + 2 * index + 1


def before_event(slice_number: int, index: int) -> int:
    """Return the free offset before an event, where topology transactions stand."""
    return offset_of(slice_number, index) - 1


def slice_of(offset: int) -> int:
    """Return the slice in which an offset lies."""
    return max(0, offset - FIRST) // STRIDE


def index_of(offset: int) -> int | None:
    """Return the index of the event that stands at an offset; None for the free ones."""
    index, odd = divmod((offset - FIRST) % STRIDE, 2)
    return index if odd else None
