"""Linked tables of one load, which are filtered together, saved and opened."""

from ledgerframes.frames.frames import Frames
from ledgerframes.store.sources import MemoryFrameSource

__all__ = ["Frames", "MemoryFrameSource"]
