"""Damaged segments moved to quarantine, and fetched again by their loaders."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow.parquet as pq

from ledgerframes.api.update_format import SHAPES, UpdateFormat
from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.datasets.bulk.extent import ObjectSet
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.registry import DATASETS, EVENTS, EVENTS_BY_ID, LEDGER
from ledgerframes.errors import CoverageError, LedgerframesError
from ledgerframes.loaders.bulk_loader import BulkKeyLoader, BulkLoader, BulkSnapshotLoader, BulkWindowLoader, FolderLoader
from ledgerframes.loaders.bulk_object import FILE, OBJECT_DATASETS, ObjectOptions
from ledgerframes.loaders.event_ids import EventIdLoader
from ledgerframes.loaders.event_windows import EventLoader
from ledgerframes.loaders.ledger import LedgerLoader
from ledgerframes.loaders.ledger_filter import LedgerFilter, open_ledger, pruned_through
from ledgerframes.loaders.sync import Loader, sync
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.store import catalog as records
from ledgerframes.store.compact import Merge, merge_segments, require_live
from ledgerframes.store.older_schemas import all_fingerprints
from ledgerframes.store.prune import QUARANTINE
from ledgerframes.store.verify import DamagedFile
from ledgerframes.values.extents import IdSet, MigrationWindow, OffsetRange
from ledgerframes.values.windows import Window

__all__ = ["Repair", "repair"]

logger = logging.getLogger("ledgerframes")

FETCHED = "fetched again"
WRITTEN = "written again"
DROPPED = "dropped"
UNRECOVERABLE = "cannot be fetched again"
FAILED = "not fetched yet"
VERDICTS = "verdicts"  # the table with the origin of ids


@dataclass(frozen=True)
class Repair:
    """The outcome for one damaged segment.

    Attributes
    ----------
    segment : Segment
        As it was.
    outcome : str
        ``fetched again``; ``written again`` from its rows, if none of them was damaged; ``cannot be fetched again``, so it
        stays in the catalog; ``dropped`` with ``drop_unrecoverable=True``; or ``not fetched yet`` because the service failed.
        In the last case, the next load fetches it, unless the note says that it stays.
    note : str
        The reason, or what differs now. Can be empty.
    """

    segment: Segment
    outcome: str
    note: str = ""


class UnrecoverableError(Exception):
    """A segment cannot be fetched again, for the reason in the text."""


def repair(
    net: Network,
    damage: Sequence[DamagedFile],
    *,
    drop_unrecoverable: bool = False,
    update_formats: Sequence[UpdateFormat] = (),
) -> list[Repair]:
    """Move damaged segments to quarantine, and fetch them again.

    Segments that cannot be fetched again stay in the catalog, so that a load that needs them fails instead of returning fewer
    rows: observations of votes and name rules, pruned offsets, offsets loaded through a filter that is unknown here, and bulk
    objects from files.

    Parameters
    ----------
    net : Network
    damage : sequence of DamagedFile
        From :func:`ledgerframes.store.verify.verify`.
    drop_unrecoverable : bool
        Also move segments that cannot be fetched again to quarantine.
    update_formats : sequence of UpdateFormat
        Filters of stored offsets, in addition to the default ones of both shapes.

    Returns
    -------
    list of Repair
        One per damaged segment, in the order of the files.

    Raises
    ------
    CoverageError
        If the network is offline.
    UsageError
        If the store is a frozen snapshot.
    StoreError
        If the store cannot be written.

    Notes
    -----
    Source: docs/architecture.md#the-store.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.loaders.repair import repair
    >>> from ledgerframes.store.verify import verify
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> repair(net, verify(net.store))
    []
    """
    require_live(net.store)
    if net.offline:
        raise CoverageError(f"{net.name} is offline, so nothing was moved or repaired. Reconnect without {net.offline_setting}.")
    segments = {file.segment.segment_id: file.segment for file in damage}
    tables = {segment_id: {file.table for file in damage if file.segment.segment_id == segment_id} for segment_id in segments}
    plans = {
        segment_id: _plan(net, segment, tables[segment_id], drop_unrecoverable, update_formats)
        for segment_id, segment in segments.items()
    }
    _quarantine(net, [segments[key] for key, plan in plans.items() if not isinstance(plan, Repair) or plan.outcome == DROPPED])
    return [
        plan if isinstance(plan, Repair) else _recover(net, segments[segment_id], plan, tables[segment_id])
        for segment_id, plan in plans.items()
    ]


def _plan(
    net: Network, segment: Segment, damaged_tables: set[str], drop_unrecoverable: bool, update_formats: Sequence[UpdateFormat]
) -> list[Loader[Any]] | Repair:
    """Return the loaders that fetch a segment again, or the outcome without them."""
    try:
        if damaged_tables == {EVENT_POSITIONS.name} and segment.final:
            merge_segments(net.store, DATASETS[segment.dataset], Merge.of([segment]))  # which computes the positions again
            return Repair(segment, WRITTEN)
        return recovery_loaders(net, segment, damaged_tables, update_formats)
    except UnrecoverableError as reason:
        return Repair(segment, DROPPED if drop_unrecoverable else UNRECOVERABLE, str(reason))
    except LedgerframesError as error:
        logger.warning("repair_skipped dataset=%s extent=%s error=%s", segment.dataset, segment.extent, error)
        return Repair(segment, FAILED, f"left where it was: {error}")


def _quarantine(net: Network, segments: Sequence[Segment]) -> None:
    """Remove segments and the marks of their folders in one transaction, and move their files."""
    if not segments:
        return
    with net.store.catalog.write_transaction() as connection:
        marks = [mark for segment in segments for mark in _folder_marks(connection, segment)]
        for segment_id in {each.segment_id for each in (*segments, *marks)}:
            records.remove_segment(connection, segment_id)
    for segment in segments:
        for file in segment.files.values():
            if net.store.location.exists(file.path):
                net.store.location.move(file.path, f"{QUARANTINE}/{file.path}")


def _folder_marks(connection: sqlite3.Connection, segment: Segment) -> Sequence[Segment]:
    """Return the segments that mark the folders of a segment as complete.

    The load of a whole folder commits them again.
    """
    if not isinstance(segment.extent, ObjectSet):
        return []
    dataset = DATASETS[segment.dataset]
    folders = replace(segment.extent, keys=segment.extent.folders)
    return records.segments(connection, dataset, all_fingerprints(connection, dataset), folders)


def _recover(net: Network, segment: Segment, loaders: Sequence[Loader[Any]], damaged_tables: set[str]) -> Repair:
    try:
        for loader in loaders:
            sync(loader, progress=False)
            loader.frames()  # raises the error of a bulk object
    except LedgerframesError as error:
        # The other segments can still be repaired. This one is no longer covered, so the next load fetches it.
        logger.warning("repair_failed dataset=%s extent=%s error=%s", segment.dataset, segment.extent, error)
        return Repair(segment, FAILED, str(error))
    rows, notes = _count_rows(net, segment), []
    if rows != segment.rows:
        notes.append(f"{segment.rows:,} rows before, {rows:,} now")
    if segment.dataset == EVENTS_BY_ID.name and VERDICTS in damaged_tables:
        notes.append("the origin of the ids is lost: id_source is user now")
    return Repair(segment, FETCHED, "; ".join(notes))


# -- how each dataset is fetched again -------------------------------------------------------------------------------


def recovery_loaders(
    net: Network, segment: Segment, damaged_tables: set[str], update_formats: Sequence[UpdateFormat]
) -> list[Loader[Any]]:
    """Return the loaders that fetch a segment again, after reading what they need from it."""
    extent = segment.extent
    if isinstance(extent, MigrationWindow) and segment.dataset == EVENTS.name:
        return [EventLoader(net, extent.window)]
    if isinstance(extent, IdSet) and segment.dataset == EVENTS_BY_ID.name:
        return _id_loaders(net, segment, extent, damaged_tables)
    if isinstance(extent, OffsetRange) and segment.dataset == LEDGER.name:
        return [_offset_loader(net, extent, update_formats)]
    if isinstance(extent, ObjectSet):
        return [_object_loader(net, segment, extent)]
    raise UnrecoverableError("only the latest state is served")


def _id_loaders(net: Network, segment: Segment, ids: IdSet, damaged_tables: set[str]) -> list[Loader[Any]]:
    sources = {} if VERDICTS in damaged_tables else _id_sources(net, segment)
    by_source: dict[str, list[str]] = {}
    for update_id in sorted(ids.keys):
        by_source.setdefault(sources.get(update_id, "user"), []).append(update_id)
    return [EventIdLoader(net, update_ids, source) for source, update_ids in sorted(by_source.items())]


def _id_sources(net: Network, segment: Segment) -> dict[str, str]:
    """Return the origin of each id, from the segment's verdicts."""
    if VERDICTS not in segment.files:
        return {}
    with net.store.location.read(segment.files[VERDICTS].path) as file:
        rows = pq.read_table(file, columns=["update_id", "id_source"])
    return dict(zip(rows["update_id"].to_pylist(), rows["id_source"].to_pylist(), strict=True))


def _offset_loader(net: Network, offsets: OffsetRange, update_formats: Sequence[UpdateFormat]) -> LedgerLoader:
    known = [*update_formats, *(UpdateFormat(shape=shape) for shape in SHAPES)]  # type: ignore[arg-type]
    participant_id = net.store.participant() or ""
    matches = [each for each in known if LedgerFilter(participant_id, each).partition == offsets.partition]
    if not matches:
        raise UnrecoverableError("it was loaded through a filter that is unknown here: drop it, and load it again")
    ledger_filter = open_ledger(net, matches[0], bind=True)
    pruned = pruned_through(net)
    if offsets.start < pruned:
        raise UnrecoverableError(f"the ledger is pruned through offset {pruned}")
    return LedgerLoader(net, ledger_filter, offsets, explicit=True)


def _object_loader(net: Network, segment: Segment, objects: ObjectSet) -> BulkLoader:
    """Return a loader of the objects, or of the one folder that contains them."""
    if segment.source == FILE:
        raise UnrecoverableError("it was read from a file: drop it, and load the file again")
    options = object_options(segment)
    if options.by_key:
        return BulkKeyLoader(net, options, objects.keys)
    key = ObjectKey.parse(min(objects.keys))
    loader: FolderLoader = (
        BulkWindowLoader(net, options, Window(key.since, key.until))
        if options.kind == "updates"
        else BulkSnapshotLoader(net, options, key.since)
    )
    loader.folders = loader.list_folders()  # now, because the store still covers them
    unlisted = objects.keys - {task.object_key for task in loader.tasks()}
    if unlisted:
        raise UnrecoverableError(f"{min(unlisted)} is not listed any more")
    return loader


def object_options(segment: Segment) -> ObjectOptions:
    """Return the options with which the objects of a segment are loaded."""
    [(kind, by_key)] = [key for key, dataset in OBJECT_DATASETS.items() if dataset.name == segment.dataset]
    return ObjectOptions(kind, by_key)


def _count_rows(net: Network, segment: Segment) -> int:
    """Return the rows of all tables that the store has now for the extent of a segment."""
    dataset, extent = DATASETS[segment.dataset], segment.extent
    snapshot = net.store.snapshot(dataset, extent)
    if isinstance(extent, ObjectSet):
        return sum(each.rows for each in snapshot.segments)
    count = 0
    for table in dataset.all_tables:
        count += snapshot.read(table.name, table.column_names[:2], extent.filter()).num_rows
    return count
