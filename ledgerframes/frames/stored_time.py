"""The parts of a window that a store does not have."""

from __future__ import annotations

from ledgerframes.datasets.bulk.extent import missing_windows
from ledgerframes.datasets.registry import BULK, EVENTS
from ledgerframes.store import Store, StoreSnapshot
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
