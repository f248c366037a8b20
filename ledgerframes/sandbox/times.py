"""Times as whole microseconds since 1970, the three forms of their texts, and the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from time import monotonic

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(time: datetime) -> int:
    """Return the microseconds since 1970 of a time with a time zone."""
    return (time - EPOCH) // timedelta(microseconds=1)


def to_datetime(time: int) -> datetime:
    """Return the UTC time of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=time)


@lru_cache(maxsize=50_000)
def _seconds(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).isoformat()[:19]


def six_digits(time: int) -> str:
    """Return the text of a record time, with six digits (docs/facts.md#timestamp-digits)."""
    return f"{_seconds(time // SECOND)}.{time % SECOND:06d}Z"


def instant(time: int) -> str:
    """Return the text of an effective time (docs/facts.md#timestamp-digits).

    It has zero, three or six digits.
    """
    second, fraction = divmod(time, SECOND)
    if not fraction:
        return f"{_seconds(second)}Z"
    return f"{_seconds(second)}.{fraction:06d}Z" if fraction % 1000 else f"{_seconds(second)}.{fraction // 1000:03d}Z"


def trimmed(time: int) -> str:
    """Return the text of a created_at without trailing zeros (docs/facts.md#timestamp-digits)."""
    return six_digits(time)[:-1].rstrip("0").rstrip(".") + "Z"


class Clock:
    """The present of a sandbox, in microseconds since 1970.

    A running clock stops at its end, beyond which it can be set by hand. Its speed is in seconds of the world per second.
    """

    def __init__(self, position: int, end: int, speed: float = 0) -> None:
        self._end, self._speed = end, speed
        # One tuple, so that no reader sees the position of one call of set() with the time of another.
        self._set = position, monotonic()

    def now(self) -> int:
        """Return the present in microseconds since 1970."""
        position, since = self._set
        if not self._speed:
            return position
        passed = int((monotonic() - since) * self._speed * SECOND)
        return max(position, min(self._end, position + passed))

    @property
    def time(self) -> datetime:
        """The present, UTC."""
        return to_datetime(self.now())

    def set(self, to: datetime) -> None:
        """Set the present to a time with a time zone."""
        self._set = micros(to), monotonic()

    def advance(self, by: timedelta) -> None:
        """Advance the present."""
        self.set(to_datetime(self.now()) + by)
