"""A clock for tests of waits, which take no time."""

from __future__ import annotations

import threading

from ledgerframes.api import host_rates


class VirtualClock(host_rates.Clock):
    """A clock that stands still but for waits."""

    def __init__(self) -> None:
        self.time = 1000.0
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.time

    def sleep_until(self, until: float) -> None:
        with self._lock:
            self.time = max(self.time, until)
