"""Pauses of the cyclic garbage collector, and its rate in the processes of this package.

It finds nothing in fresh objects, but takes a third of the time. A process has only one collector, so all code must pause it
here: two independent pauses could leave it off.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_SECONDS = 10.0
YOUNG_OBJECTS = 200_000  # modules and plots are many objects that live as long as the process

_pauses = 0
_last_collection = time.monotonic()
_was_enabled = True
_pauses_lock = threading.Lock()


@contextmanager
def pause_gc() -> Iterator[None]:
    """Pause the collector for a ``with`` block, or until the last of overlapping blocks ends."""
    global _pauses, _was_enabled
    with _pauses_lock:
        if not _pauses:
            _was_enabled = gc.isenabled()
        _pauses += 1
        gc.disable()
    try:
        yield
    finally:
        with _pauses_lock:
            _pauses -= 1
            if not _pauses and _was_enabled:
                gc.enable()


def collect_rarely() -> None:
    """Let the collector wait for many new objects, in a process that is not the caller's."""
    gc.set_threshold(YOUNG_OBJECTS)


def collect_periodically() -> None:
    """Collect every few seconds, for code that pauses the collector for long."""
    global _last_collection
    if time.monotonic() - _last_collection > COLLECT_SECONDS:
        _last_collection = time.monotonic()
        gc.collect()
