"""The present that the sandbox serves, which stands still, is set by hand, or runs."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from threading import Lock

from .times import SECOND, micros, to_datetime


class Clock:
    """The present of a sandbox, in microseconds since 1970.

    A running clock stops at its end, beyond which it can be set by hand. Its speed is in seconds of the world per second.
    """

    def __init__(self, position: int, end: int, speed: float = 0) -> None:
        self._position, self._end, self._speed = position, end, speed
        self._since = time.monotonic()
        self._lock = Lock()

    def now(self) -> int:
        """Return the present in microseconds since 1970."""
        if not self._speed:
            return self._position
        passed = int((time.monotonic() - self._since) * self._speed * SECOND)
        return max(self._position, min(self._end, self._position + passed))

    @property
    def time(self) -> datetime:
        """The present, UTC."""
        return to_datetime(self.now())

    def set(self, to: datetime) -> None:
        """Set the present to a time with a time zone."""
        with self._lock:
            self._position, self._since = micros(to), time.monotonic()

    def advance(self, by: timedelta) -> None:
        """Advance the present."""
        self.set(to_datetime(self.now()) + by)
