"""Damaged segments taken out of the store, and fetched again by their own loaders; what cannot be fetched again stays named."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow.parquet as pq

from ledgerframes.api.update_format import SHAPES, UpdateFormat
from ledgerframes.datasets.bulk.extent import ObjectSet
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.registry import BULK, BULK_ACS_BY_KEY, BULK_BY_KEY, DATASETS, EVENTS, EVENTS_BY_ID, LEDGER
from ledgerframes.errors import CoverageError, LedgerframesError
from ledgerframes.extents import IdSet, MigrationWindow, OffsetRange
from ledgerframes.frames import Frames
from ledgerframes.loaders import bulk_listing, by_id, by_offset, by_range
from ledgerframes.loaders.bulk import load_bulk
from ledgerframes.loaders.bulk_object import FILE
from ledgerframes.loaders.bulk_reading import BulkKind
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.store import catalog as records
from ledgerframes.store.compact import require_live
from ledgerframes.store.prune import QUARANTINE
from ledgerframes.store.verify import DamagedFile
from ledgerframes.windows import Window

__all__ = ["Repair", "repair"]

logger = logging.getLogger("ledgerframes")

FETCHED = "fetched again"
FORGOTTEN = "forgotten"
KEPT = "cannot be fetched again"
FAILED = "not fetched yet"
VERDICTS = "verdicts"  # the table that says how an id was found


@dataclass(frozen=True)
class Repair:
    """What became of one damaged segment.

    Attributes
    ----------
    segment : Segment
        As it was.
    outcome : str
        ``fetched again``; ``cannot be fetched again``, and left where it was; ``forgotten``, which was asked for; or
        ``not fetched yet``: its service did not answer. It is no longer covered, and the next load asks for it, unless the note
        says that it was left where it was.
    note : str
        Why, or what differs now; may be empty.
    """

    segment: Segment
    outcome: str
    note: str = ""

    @property
    def done(self) -> bool:
        """Whether nothing of it is damaged or missing any more."""
        return self.outcome == FETCHED


class _Lost(Exception):  # noqa: N818  (never leaves this module)
    """A segment cannot be fetched again; the text says why."""


Fetch = Callable[[], str]  # fetches, and gives a note
Way = Fetch | _Lost | LedgerframesError  # how to fetch a segment again, or why that cannot be said


def repair(
    net: Network, findings: Sequence[DamagedFile], *, forget: bool = False, update_formats: Sequence[UpdateFormat] = ()
) -> list[Repair]:
    """Take damaged segments out of the store, move their files to ``quarantine``, and fetch their ranges again.

    What cannot be fetched again stays in the catalog, so that a load that needs it fails instead of showing less: snapshots of
    votes and name rules, offsets that are pruned, offsets seen through a filter that is not known here, bulk objects read from
    files.

    Parameters
    ----------
    net : Network
    findings : sequence of DamagedFile
        From :func:`ledgerframes.store.verify.verify`.
    forget : bool
        Take also out what cannot be fetched again; its files go to ``quarantine``, too.
    update_formats : sequence of UpdateFormat
        Filters through which offsets were loaded, beside the default ones of both shapes.

    Returns
    -------
    list of Repair
        One for each damaged segment, in the order of the findings.

    Raises
    ------
    CoverageError
        If the network is offline.
    UsageError
        If the store is seen through a frozen snapshot.
    StoreError
        If the store cannot be written.

    Notes
    -----
    Source: design, The store.

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
        raise CoverageError(
            f"{net.name} is offline, so nothing can be fetched again, and nothing was moved. Run without offline."
        )
    damaged = {finding.segment.segment_id: finding.segment for finding in findings}
    tables = {segment_id: {f.table for f in findings if f.segment.segment_id == segment_id} for segment_id in damaged}
    ways: dict[str, Way] = {}
    for segment_id, segment in damaged.items():
        try:
            ways[segment_id] = _way(net, segment, tables[segment_id], update_formats)
        except (_Lost, LedgerframesError) as reason:
            ways[segment_id] = reason
    leaving = [segment for segment in damaged.values() if _leaves(ways[segment.segment_id], forget)]
    folders = _whole_folders(net, leaving)
    _quarantine(net, leaving, folders)
    repairs = [_outcome(segment, ways[segment.segment_id], forget) for segment in damaged.values()]
    _restore(net, folders, repairs)
    return repairs


def _quarantine(net: Network, segments: Sequence[Segment], folders: Sequence[Segment]) -> None:
    """Take segments out of the catalog at once, then their files out of sight."""
    if not segments:
        return
    with net.store.catalog.write_transaction() as connection:
        for segment in (*segments, *folders):
            records.remove_segment(connection, segment.segment_id)
    for segment in segments:
        for file in segment.files.values():
            if net.store.location.exists(file.path):
                net.store.location.move(file.path, f"{QUARANTINE}/{file.path}")


def _folders(segment: Segment) -> frozenset[str]:
    return segment.extent.folders if isinstance(segment.extent, ObjectSet) else frozenset()


def _whole_folders(net: Network, leaving: Sequence[Segment]) -> list[Segment]:
    """What says that everything of a folder of bulk objects is known, where it will not be."""
    concerned = {(segment.dataset, folder) for segment in leaving for folder in _folders(segment)}
    stored = [segment for name in {dataset for dataset, _ in concerned} for segment in net.store.segments(DATASETS[name])]
    return [
        segment
        for segment in stored
        if isinstance(segment.extent, ObjectSet)
        and segment.extent.is_folder
        and any((segment.dataset, folder) in concerned for folder in segment.extent.folders)
    ]


def _restore(net: Network, folders: Sequence[Segment], repairs: Sequence[Repair]) -> None:
    """Say again that everything of a folder is known, where it is."""
    lacking = {(each.segment.dataset, folder) for each in repairs if not each.done for folder in _folders(each.segment)}
    for segment in folders:
        if not any((segment.dataset, folder) in lacking for folder in _folders(segment)):
            net.store.add_segment(DATASETS[segment.dataset], segment)


def _leaves(way: Way, forget: bool) -> bool:
    """Whether a segment is taken out: not if it cannot be fetched again, or its service could not be asked about it."""
    return forget if isinstance(way, _Lost) else not isinstance(way, LedgerframesError)


def _outcome(segment: Segment, way: Way, forget: bool) -> Repair:
    if isinstance(way, _Lost):
        return Repair(segment, FORGOTTEN if forget else KEPT, str(way))
    if isinstance(way, LedgerframesError):
        logger.warning("%s of %s was left where it was: %s", segment.extent, segment.dataset, way)
        return Repair(segment, FAILED, f"left where it was: {way}")
    try:
        note = way()
    except LedgerframesError as error:
        # The others are still worth a try; this one is no longer covered, so the next load asks for it.
        logger.warning("%s of %s could not be fetched again: %s", segment.extent, segment.dataset, error)
        return Repair(segment, FAILED, str(error))
    return Repair(segment, FETCHED, note)


# -- how each dataset is fetched again -------------------------------------------------------------------------------


def _way(net: Network, segment: Segment, damaged: set[str], update_formats: Sequence[UpdateFormat]) -> Fetch:
    """How to fetch a segment again; everything that must be known before it goes is read here."""
    extent = segment.extent
    if isinstance(extent, MigrationWindow) and segment.dataset == EVENTS.name:
        return lambda: _fetch_range(net, segment, extent)
    if isinstance(extent, IdSet) and segment.dataset == EVENTS_BY_ID.name:
        return _ids_again(net, segment, extent, damaged)
    if isinstance(extent, OffsetRange) and segment.dataset == LEDGER.name:
        return _offsets_again(net, segment, extent, update_formats)
    if isinstance(extent, ObjectSet):
        return _objects_again(net, segment, extent)
    raise _Lost("only the latest state is served")


def _fetch_range(net: Network, segment: Segment, span: MigrationWindow) -> str:
    by_range.sync(net, span.window, progress=False)
    return _compared(segment, _rows_now(net, segment))


def _ids_again(net: Network, segment: Segment, ids: IdSet, damaged: set[str]) -> Fetch:
    sources = {} if VERDICTS in damaged else _id_sources(net, segment)
    note = "how the ids were found is lost: id_source is user now" if VERDICTS in damaged else ""

    def fetch() -> str:
        unknown: list[str] = []
        for source in sorted(set(sources.values()) | {"user"}):
            found_so = sorted(update_id for update_id in ids.update_ids if sources.get(update_id, "user") == source)
            unknown += by_id.sync(net, found_so, source, progress=False)
        lost = f"{len(unknown)} ids are no longer known to the service" if unknown else ""
        return "; ".join(text for text in (lost, note) if text)

    return fetch


def _id_sources(net: Network, segment: Segment) -> dict[str, str]:
    """How each id was found, from what is left of the segment."""
    if VERDICTS not in segment.files:
        return {}
    with net.store.location.read(segment.files[VERDICTS].path) as opened:
        rows = pq.read_table(opened, columns=["update_id", "id_source"])
    return dict(zip(rows["update_id"].to_pylist(), rows["id_source"].to_pylist(), strict=True))


def _offsets_again(net: Network, segment: Segment, span: OffsetRange, update_formats: Sequence[UpdateFormat]) -> Fetch:
    known = [*update_formats, *(UpdateFormat(shape=shape) for shape in SHAPES)]  # type: ignore[arg-type]
    participant_id = net.store.participant() or ""
    wanted = [
        known_format for known_format in known if by_offset.LedgerView(participant_id, known_format).partition == span.partition
    ]
    if not wanted:
        raise _Lost("it was loaded through a filter that is not known here: forget it, and load it through the same filter")
    view = by_offset.open_view(net, wanted[0])
    pruned = net.ledger.latest_pruned_offsets().participant_pruned_up_to_inclusive
    if span.start < pruned:
        raise _Lost(f"the ledger is pruned through offset {pruned}")

    def fetch() -> str:
        page_size = net.settings.limits.page_size
        by_offset.sync(net, view, span, page_size, explicit=True, descending=False, progress=False)
        return _compared(segment, _rows_now(net, segment))

    return fetch


def _objects_again(net: Network, segment: Segment, objects: ObjectSet) -> Fetch:
    if segment.source == FILE:
        raise _Lost("it was read from a file: forget it, and load the file again")
    named = segment.dataset in (BULK_BY_KEY.name, BULK_ACS_BY_KEY.name)
    load = _named_again(net, segment.dataset, objects) if named else _folder_again(net, segment.dataset, objects)

    def fetch() -> str:
        load()
        return _compared(segment, _rows_now(net, segment))

    return fetch


def _named_again(net: Network, dataset: str, objects: ObjectSet) -> Callable[[], Frames]:
    kind: BulkKind = "updates" if dataset == BULK_BY_KEY.name else "acs"
    return lambda: load_bulk(net, object_keys=sorted(objects.object_keys), kind=kind, progress=False)


def _folder_again(net: Network, dataset: str, objects: ObjectSet) -> Callable[[], Frames]:
    """ObjectSet of a listing are read with the rest of their folder; one segment holds those of one folder only."""
    key = ObjectKey.parse(min(objects.object_keys))
    if dataset == BULK.name:
        folders = bulk_listing.folders_of_updates(net, Window(key.since, key.until), None)
    else:
        folders = [bulk_listing.snapshot_folder(net, key.since, None)]
    unlisted = objects.object_keys - {task.object_key for folder in folders for task in folder.tasks}
    if unlisted:
        raise _Lost(f"{min(unlisted)} is not listed any more")
    if dataset == BULK.name:
        return lambda: load_bulk(net, since=key.since, until=key.until, progress=False)
    return lambda: load_bulk(net, kind="acs", at=key.since, progress=False)


def _rows_now(net: Network, segment: Segment) -> int:
    """Rows of all tables in what the segment covered."""
    dataset, extent = DATASETS[segment.dataset], segment.extent
    snapshot = net.store.snapshot(dataset, extent)
    if isinstance(extent, ObjectSet):
        return sum(each.rows for each in snapshot.segments)
    return sum(int(snapshot.scan(table.name).filter(extent.filter()).count_rows()) for table in dataset.tables)


def _compared(segment: Segment, rows: int) -> str:
    """A note where the answer is another than it was."""
    return "" if rows == segment.rows else f"{segment.rows:,} rows before, {rows:,} now"
