"""Times as whole microseconds since 1970, and the three ways in which the wire writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(moment: datetime) -> int:
    """Return the microseconds from 1970 to a moment that has a time zone."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def moment(time: int) -> datetime:
    """Return the moment, in UTC, of a time in microseconds."""
    return EPOCH + timedelta(microseconds=time)


@lru_cache(maxsize=50_000)
def _seconds(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")


def six_digits(time: int) -> str:
    """Write a time as record times are: always six digits (docs/facts.md#timestamp-digits)."""
    return f"{_seconds(time // SECOND)}.{time % SECOND:06d}Z"


def instant(time: int) -> str:
    """Write a time as effective times are: none, three or six digits (docs/facts.md#timestamp-digits)."""
    fraction = time % SECOND
    if not fraction:
        return _seconds(time // SECOND) + "Z"
    if fraction % 1000:
        return f"{_seconds(time // SECOND)}.{fraction:06d}Z"
    return f"{_seconds(time // SECOND)}.{fraction // 1000:03d}Z"


def trimmed(time: int) -> str:
    """Write a time as created_at is: without trailing zeros (docs/facts.md#timestamp-digits)."""
    fraction = time % SECOND
    if not fraction:
        return _seconds(time // SECOND) + "Z"
    return f"{_seconds(time // SECOND)}.{f'{fraction:06d}'.rstrip('0')}Z"
