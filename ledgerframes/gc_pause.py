"""Pauses of the cyclic garbage collector, which finds nothing in fresh objects and costs a third of the time.

The collector is one for the whole process: whoever pauses it does so here, or two who know nothing of each other leave it off.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOOK_EVERY = 10.0  # seconds

_pauses = 0
_looked = 0.0
_was_on = True
_pauses_lock = threading.Lock()


@contextmanager
def pause_gc() -> Iterator[None]:
    """Without the collector. Threads may overlap; it comes back when the last of them is done."""
    global _pauses, _was_on
    with _pauses_lock:
        if not _pauses:
            _was_on = gc.isenabled()
        _pauses += 1
        gc.disable()
    try:
        yield
    finally:
        with _pauses_lock:
            _pauses -= 1
            if not _pauses and _was_on:
                gc.enable()


def collect_periodically() -> None:
    """What the collector does, by hand and seldom, for those who pause it for long."""
    global _looked
    if time.monotonic() - _looked > LOOK_EVERY:
        _looked = time.monotonic()
        gc.collect()
