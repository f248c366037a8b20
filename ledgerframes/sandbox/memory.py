"""A pause for the garbage collector while a slice is made, which would take a third of the time for nothing.

Not longer than that: what builds a transaction does leave cycles behind.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector; within a pause of somebody else nothing changes."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
