"""Deletion of orphan files and of old segments."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from ledgerframes.datasets.dataset import Dataset
from ledgerframes.errors import UsageError
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Segment
from ledgerframes.store.compact import choose_datasets, require_live
from ledgerframes.store.location import FileInfo, not_writable_error
from ledgerframes.store.older_schemas import all_fingerprints
from ledgerframes.store.store import Store
from ledgerframes.values.extents import microseconds
from ledgerframes.values.windows import Time, instant, iso

__all__ = ["PruneResult", "prune"]

logger = logging.getLogger("ledgerframes")

MIN_AGE = timedelta(hours=1)
QUARANTINE = "quarantine"


@dataclass(frozen=True)
class PruneResult:
    """Segments and files that were deleted, or that a dry run would delete.

    Attributes
    ----------
    dropped_segments : tuple of Segment
        Segments that ended before the time; the store no longer covers them.
    deleted_files : tuple of FileInfo
    retained_files : tuple of FileInfo
        Orphan files younger than the minimum age.
    """

    dropped_segments: tuple[Segment, ...]
    deleted_files: tuple[FileInfo, ...]
    retained_files: tuple[FileInfo, ...]


def prune(
    store: Store,
    *,
    before: Time | None = None,
    datasets: Sequence[str] | None = None,
    min_age: timedelta = MIN_AGE,
    include_quarantine: bool = False,
    dry_run: bool = False,
) -> PruneResult:
    """Delete files that no catalog names, and drop segments that end before a time.

    Readers with an older snapshot, and frozen snapshots, may still need these files. They then raise a ``StoreError`` that
    names the file.

    Parameters
    ----------
    store : Store
    before : str, date or datetime, optional
        Drop whole segments that end at this time or earlier. They are fetched again when a load needs them.
    datasets : sequence of str, optional
        Datasets that `before` applies to: by default ``events`` and those of bulk objects. Price votes and name rules must be
        named, because they can never be fetched again. Offsets and ids have no time.
    min_age : timedelta, default 1 hour
        Retain younger files, because another process may be about to commit them.
    include_quarantine : bool, default False
        Also delete the files in quarantine: damaged files, old catalogs, and items of ``on_bad_item="quarantine"``. The items
        of a store in an object store are on this machine, and stay.
    dry_run : bool, default False
        Delete nothing and return what would be deleted.

    Raises
    ------
    UsageError
        If a dataset is unknown or has no times, `min_age` is negative, or the store is a frozen snapshot.
    StoreError
        If the store cannot be read or written.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.store.prune import prune
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> prune(net.store, dry_run=True).deleted_files
    ()
    """
    require_live(store)
    if min_age < timedelta(0):
        raise UsageError(f"min_age= must not be negative, got {min_age!r}.")
    dropped: tuple[Segment, ...] = ()
    if before is not None:
        end = instant(before, "before")
        dropped = _drop_segments(store, _datasets_with_times(store, datasets), microseconds(end), dry_run)
        if not dry_run:
            logger.info("segments_dropped network=%s before=%s count=%d", store.network, iso(end), len(dropped))
    elif datasets is not None:
        raise UsageError("datasets= needs before=. Pass before=, or leave datasets= out.")
    files = orphan_files(store, without=dropped)
    if include_quarantine:
        files += store.location.iter_files(QUARANTINE)
    latest = time.time() - min_age.total_seconds()
    deleted = tuple(file for file in files if file.modified_at <= latest)
    retained = tuple(file for file in files if file.modified_at > latest)
    if not dry_run:
        _delete(store, deleted)
    return PruneResult(dropped, deleted, retained)


def orphan_files(store: Store, without: Sequence[Segment] = ()) -> list[FileInfo]:
    """Return the files of tables that the catalog names for no segment except these."""
    files = store.table_files()  # before reading the catalog, so that files of a concurrent commit are not deleted
    with store.catalog.read_transaction() as connection:
        committed = records.file_paths(connection)
    committed -= {file.path for segment in without for file in segment.files.values()}
    return [file for file in files if file.path not in committed]


def _datasets_with_times(store: Store, names: Sequence[str] | None) -> list[Dataset]:
    datasets = choose_datasets(store, names)
    if names is None:
        return [dataset for dataset in datasets if dataset.extent_type.has_times and dataset.extent_type.refetchable]
    for dataset in datasets:
        if not dataset.extent_type.has_times:
            raise UsageError(f"before= does not apply to {dataset.name}, which is stored by id or offset. Leave it out.")
    return datasets


def _drop_segments(store: Store, datasets: Sequence[Dataset], end: int, dry_run: bool) -> tuple[Segment, ...]:
    """Remove the segments that end before a time from the catalog."""
    only_reads = dry_run or not store.exists()
    dropped: list[Segment] = []
    with store.catalog.read_transaction() if only_reads else store.catalog.write_transaction() as connection:
        for dataset in datasets:
            segments = records.segments(connection, dataset, all_fingerprints(connection, dataset))
            ends = dataset.extent_type.end_times([segment.extent for segment in segments])
            dropped += [segment for segment, stop in zip(segments, ends, strict=True) if stop is not None and stop <= end]
        for segment in () if only_reads else dropped:
            records.remove_segment(connection, segment.segment_id)
    return tuple(dropped)


def _delete(store: Store, files: Sequence[FileInfo]) -> None:
    try:
        for file in files:
            store.location.remove(file.path)
    except OSError as error:
        raise not_writable_error(store.location, error) from error
