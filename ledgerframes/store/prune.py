"""Files that no longer count are deleted, and old ranges dropped: the only two ways in which a store gets smaller."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from ledgerframes.datasets._dataset import Dataset
from ledgerframes.errors import UsageError
from ledgerframes.extents import microseconds
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Segment
from ledgerframes.store.compact import choose_datasets, require_live
from ledgerframes.store.location import Stored, unwritable
from ledgerframes.store.store import Store
from ledgerframes.windows import Time, instant, iso

__all__ = ["Pruned", "prune"]

logger = logging.getLogger("ledgerframes")

GRACE = timedelta(hours=1)
QUARANTINE = "quarantine"


@dataclass(frozen=True)
class Pruned:
    """What pruning has taken away, or would take away.

    Attributes
    ----------
    dropped : tuple of Segment
        Ranges that are not covered any more.
    removed : tuple of Stored
        Files that are gone.
    kept : tuple of Stored
        Files that do not count but are younger than the grace time.
    """

    dropped: tuple[Segment, ...]
    removed: tuple[Stored, ...]
    kept: tuple[Stored, ...]


def prune(
    store: Store,
    *,
    before: Time | None = None,
    datasets: Sequence[str] | None = None,
    grace: timedelta = GRACE,
    quarantine: bool = False,
    dry_run: bool = False,
) -> Pruned:
    """Delete files that no catalog names, and drop ranges that end before a time.

    Readers that hold an older snapshot, and frozen snapshots, may still need those files: they get a ``StoreError`` that names
    the file.

    Parameters
    ----------
    store : Store
    before : str, date or datetime, optional
        Whole segments that end at this time or earlier are dropped, and will be fetched again when asked for.
    datasets : sequence of str, optional
        Which datasets `before` is about: ``events``, ``bulk``, ``bulk_acs`` and the last two ``_by_key`` by default. Snapshots of
        votes and name rules are dropped only if named, because they can never be fetched again. Offsets and ids have no time.
    grace : timedelta
        Files written within this time stay: another process may be about to commit them.
    quarantine : bool
        Delete also what a repair has put into quarantine.
    dry_run : bool
        Delete nothing; say what would go.

    Returns
    -------
    Pruned

    Raises
    ------
    UsageError
        If a dataset is unknown or has no times, the grace time is negative, or the store is a frozen snapshot.
    StoreError
        If the store cannot be read or written.

    Notes
    -----
    Source: design, The store.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.store.prune import prune
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> prune(net.store, dry_run=True).removed
    ()
    """
    require_live(store)
    if grace < timedelta(0):
        raise UsageError(f"grace={grace} must not be negative.")
    dropped: tuple[Segment, ...] = ()
    if before is not None:
        edge = microseconds(instant(before, "before"))
        dropped = _dropped(store, _datasets_with_times(store, datasets), edge, dry_run)
        logger.info("dropped %d segments that end before %s", len(dropped), iso(instant(before, "before")))
    elif datasets is not None:
        raise UsageError("datasets says what to drop before a time: give before, too.")
    loose = left_over(store, besides=dropped)
    if quarantine:
        loose += store.location.files(QUARANTINE)
    oldest = time.time() - grace.total_seconds()
    removed = tuple(stored for stored in loose if stored.written <= oldest)
    kept = tuple(stored for stored in loose if stored.written > oldest)
    if not dry_run:
        _remove(store, removed)
    return Pruned(dropped, removed, kept)


def left_over(store: Store, besides: Sequence[Segment] = ()) -> list[Stored]:
    """The files of tables that do not count: no catalog names them, or only for these segments.

    Without a catalog nothing is left over: it may have been moved, and nothing says what counts.
    """
    tables = dict.fromkeys(table.name for dataset in store.datasets.values() for table in dataset.tables)
    # The files first: what is committed in between is named by then.
    found = [stored for table in tables for stored in store.location.files(table) if stored.path.endswith(".parquet")]
    with store.catalog.reading() as connection:
        if connection is None:
            return []
        named = records.named_files(connection)
    named -= {file.path for segment in besides for file in segment.files.values()}
    return [stored for stored in found if stored.path not in named]


def _datasets_with_times(store: Store, names: Sequence[str] | None) -> list[Dataset]:
    chosen = choose_datasets(store, names)
    if names is None:
        return [dataset for dataset in chosen if dataset.extent_type.has_times and dataset.extent_type.refetchable]
    for dataset in chosen:
        if not dataset.extent_type.has_times:
            raise UsageError(f"Dataset {dataset.name} is stored by id or offset, so before= does not apply. Leave it out.")
    return chosen


def _dropped(store: Store, datasets: Sequence[Dataset], edge: int, dry_run: bool) -> tuple[Segment, ...]:
    """Take the segments that end before a time out of the catalog."""
    if dry_run or not store.exists():
        with store.catalog.reading() as connection:
            return _old(connection, datasets, edge)
    with store.catalog.writing() as connection:
        old = _old(connection, datasets, edge)
        for segment in old:
            records.remove_segment(connection, segment.segment_id)
        return old


def _old(connection: sqlite3.Connection | None, datasets: Sequence[Dataset], edge: int) -> tuple[Segment, ...]:
    old: list[Segment] = []
    for dataset in datasets:
        segments = records.segments(connection, dataset)
        ends = dataset.extent_type.end_times([segment.extent for segment in segments])
        old += [segment for segment, end in zip(segments, ends, strict=True) if end is not None and end <= edge]
    return tuple(old)


def _remove(store: Store, files: Sequence[Stored]) -> None:
    try:
        for stored in files:
            store.location.remove(stored.path)
    except OSError as error:
        raise unwritable(store.location, error) from error
