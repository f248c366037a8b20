"""The first and the last event of a network, for windows without events."""

from __future__ import annotations

from datetime import datetime

from ledgerframes.api.history import Cursor, History
from ledgerframes.errors import CoverageError
from ledgerframes.loaders.event_pages import first_position
from ledgerframes.network import Network
from ledgerframes.values.extents import Migration, from_microseconds, microseconds
from ledgerframes.values.windows import Window, iso

SECOND = 1_000_000  # microseconds


def require_overlap(net: Network, window: Window) -> None:
    """Refuse a window that is before or after all events.

    Offline, the store knows where the history begins, but not where it ends.
    """
    if net.offline:
        _require_end_after_start(net, window)
        return
    first, last = history_bounds(net)
    if window.until <= first or window.since > last:
        raise CoverageError(
            f"{net.name} has no events in {window}: its events begin at {iso(first)} and end at {iso(last)}. "
            "Choose a window between them.",
            missing=(str(window),),
        )


def _require_end_after_start(net: Network, window: Window) -> None:
    """Refuse a window that ends before the history begins, if the store knows that time."""
    first = history_start(net)
    if first and window.until <= first:
        raise CoverageError(
            f"{net.name} has no events in {window}: its history begins at {iso(first)}. Choose a later window.",
            missing=(str(window),),
        )


def history_start(net: Network) -> datetime | None:
    """Return the first record time, or None if the store does not know it."""
    migrations = net.store.migrations()
    return from_microseconds(migrations[0].first) if migrations else None


def history_bounds(net: Network) -> tuple[datetime, datetime]:
    """Look up the first record time, and a time within a second of the last one.

    This takes a few dozen small HTTP requests.
    """
    migrations = net.store.migrations()
    if not migrations:
        raise CoverageError(f"{net.name} has no events yet. Load again later.")
    last = _last_record_time(net.history, migrations[-1], microseconds(net.now()))
    return from_microseconds(migrations[0].first), from_microseconds(last)


def _last_record_time(history: History, migration: Migration, now: int) -> int:
    """Return the record time of an event after which a second passes without another."""
    last, stop = migration.first, max(now, migration.first)
    while stop - last > SECOND:
        middle = (last + stop) // 2
        later = first_position(history, Cursor(migration.migration_id, from_microseconds(middle)))
        if later:
            last = later[1]
            stop = max(stop, last)
        else:
            stop = middle
    return last
