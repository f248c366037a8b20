"""The parts of a window that a store does not have."""

from __future__ import annotations

from ledgerframes.datasets.bulk.extent import missing_windows
from ledgerframes.datasets.registry import BULK, EVENTS
from ledgerframes.store import Store, StoreSnapshot
from ledgerframes.store.table_source import ResolvedTable
from ledgerframes.values.extents import MigrationWindow, plan_missing
from ledgerframes.values.windows import Window


def missing_times(
    store: Store, snapshot: StoreSnapshot, dataset: str, window: Window
) -> tuple[MigrationWindow | Window, ...] | None:
    """Return the parts of a window that are not in a snapshot.

    They are None for a dataset that does not record them.
    """
    extents = [segment.extent for segment in snapshot.segments]
    if dataset == EVENTS.name:
        migrations = store.migrations()
        return tuple(plan_missing(window, migrations, extents)) if migrations else (window,)
    if dataset == BULK.name:
        return tuple(missing_windows(window, extents))
    return None


def missing_note(resolved: ResolvedTable, window: Window, missing: tuple[MigrationWindow | Window, ...] | None) -> str | None:
    """Return a sentence on time that is not in the store, or may not be.

    `missing` is what :func:`missing_times` returns. The sentence is None if all of the window is there.
    """
    if missing is None:
        return f"{unrecorded_time(resolved, window)}."
    return f"{absent_time(missing)}. Fetch it with `ledgerframes sync {resolved.dataset.name}`." if missing else None


def unrecorded_time(resolved: ResolvedTable, window: Window) -> str:
    """Return that nobody knows whether all of a window is stored."""
    return f"Table {resolved.name} was read from {resolved.dataset.name}, which does not record whether {window} is complete"


def absent_time(missing: tuple[MigrationWindow | Window, ...]) -> str:
    """Return which time is not stored."""
    return f"Not in the store: {'; '.join(map(str, missing))}"
