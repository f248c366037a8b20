"""The store of one network: committing segments, planning against them, taking snapshots."""

from __future__ import annotations

import logging
import sqlite3
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Catalog, Segment
from ledgerframes.store.extent import STREAMS, Extent, Ids, Migration, OffsetSpan, Range, Span, Stream, missing_spans
from ledgerframes.store.place import Place
from ledgerframes.store.remote import RemoteCatalog
from ledgerframes.store.segments import SegmentFile, write_files
from ledgerframes.store.snapshot import Snapshot
from ledgerframes.times import Window
from ledgerframes.version import installed_version

logger = logging.getLogger("ledgerframes")

CATALOG = "catalog.sqlite"
PARTICIPANT = "participant_id"


class Store:
    """The Parquet cache of one network.

    Nothing is created before the first write.

    Parameters
    ----------
    root : str or Path
        Folder of all networks' stores, or ``s3://bucket/prefix``.
    network : str
        Name of this network's folder.
    catalog : Path, optional
        A copied catalog to read instead of the live one: a frozen snapshot.
    """

    def __init__(self, root: str | Path, network: str, catalog: Path | None = None) -> None:
        self.root = Place.at(root)
        self.place = self.root.below(network)
        self.network = network
        self.frozen = catalog is not None
        self.catalog = open_catalog(self.place, catalog)

    def exists(self) -> bool:
        """Whether anything was ever written here."""
        return self.place.exists(CATALOG)

    def other_networks(self) -> list[str]:
        """Other networks kept in the same root."""
        others = [name for name in self.root.folders() if name != self.network]
        return [name for name in others if self.root.below(name).exists(CATALOG)]

    # -- planning ---------------------------------------------------------------------------------------------------

    def migrations(self) -> list[Migration]:
        """The migrations known so far, in order."""
        with self.catalog.reading() as connection:
            return records.migrations(connection)

    def remember(self, migrations: Sequence[Migration]) -> None:
        """Add what has been learnt of migrations."""
        if set(migrations) <= set(self.migrations()):
            return
        with self.catalog.writing() as connection:
            for migration in migrations:
                records.put_migration(connection, migration)

    def missing(self, stream: Stream, window: Window) -> list[Span]:
        """What has to be fetched before a window is final, in the migrations known so far."""
        with self.catalog.reading() as connection:
            return missing_spans(window, records.migrations(connection), records.covered(connection, stream, window))

    def missing_ids(self, stream: Stream, update_ids: Sequence[str], *, provisional: bool = False) -> list[str]:
        """The ids that have to be looked up, in the order given; provisional rows count only if told so."""
        asked = Ids(frozenset(update_ids))
        held = [segment.extent for segment in self.segments(stream, asked) if segment.final or provisional]
        rest = {update_id for part in asked.minus(held) for update_id in part.update_ids}
        return [update_id for update_id in dict.fromkeys(update_ids) if update_id in rest]

    def participant(self) -> str | None:
        """The participant whose ledger is stored here, if any."""
        with self.catalog.reading() as connection:
            return records.fact(connection, PARTICIPANT)

    def belongs_to(self, participant_id: str) -> str:
        """The participant whose ledger is stored here: the one given, if there is none yet."""
        if self.participant() is None:
            with self.catalog.writing() as connection:
                records.put_fact(connection, PARTICIPANT, participant_id)
        return self.participant() or participant_id

    def missing_offsets(self, stream: Stream, asked: OffsetSpan) -> list[OffsetSpan]:
        """What has to be fetched of a participant's ledger, seen through one filter."""
        return asked.minus(segment.extent for segment in self.segments(stream, asked) if segment.final)

    def highest(self, stream: Stream, lane: str | None = None) -> int:
        """The highest position that a lane of a stream has reached, or any of them; 0 if it has none."""
        extents = [segment.extent for segment in self.segments(stream)]
        return max((e.high for e in extents if isinstance(e, Range) and lane in (None, e.lane)), default=0)

    # -- committing -------------------------------------------------------------------------------------------------

    def commit(
        self, stream: Stream, extent: Extent, tables: Mapping[str, pa.Table], *, final: bool, source: str, gap: bool = False
    ) -> None:
        """Make all tables of an extent visible at once.

        What another process has committed as final in the meantime is left as it is, and dropped from these tables; the
        provisional rows that these replace disappear in the same transaction.

        Parameters
        ----------
        stream : Stream
        extent : Span, OffsetSpan, Moment, Ids or Objects
        tables : mapping of str to Table
            A table that is not named has no rows.
        final : bool
            False for what is to be asked again next time.
        source : str
            Host that answered.
        gap : bool
            That this can no longer be asked, and has no rows for this reason.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        self.add(stream, self.written(stream, extent, tables, final=final, source=source, gap=gap))

    def written(
        self, stream: Stream, extent: Extent, tables: Mapping[str, pa.Table], *, final: bool, source: str, gap: bool = False
    ) -> Segment:
        """Write the files of a segment, which counts for nothing until it is added; as :meth:`commit`, and also in a worker."""
        if not isinstance(extent, Ids) and extent.low >= extent.high:
            raise ValueError(f"an empty range cannot be committed: {extent.low} to {extent.high}")
        return self._written(stream, extent, tables, "gap" if gap else "final" if final else "provisional", source)

    def add(self, stream: Stream, segment: Segment) -> None:
        """Make a segment visible whose files are written already, here or by a worker; see :meth:`commit`."""
        extent = segment.extent
        with self.catalog.writing() as connection:
            present = records.segments(connection, stream, extent)
            settled = [other.extent for other in present if other.final]
            if settled:
                logger.info("another process has committed a part of %s already", extent)
                parts = [self._cut(stream, segment, part) for part in extent.minus(settled)]
            else:
                parts = [segment]
            for part in parts:
                self._replace_provisional(connection, stream, part, [other for other in present if not other.final])
                records.add_segment(connection, part, stream.fingerprint)

    def holds(self, stream: Stream) -> frozenset[str]:
        """Every update id or object key that a stream holds as final."""
        with self.catalog.reading() as connection:
            return records.held_names(connection, stream)

    def _written(self, stream: Stream, extent: Extent, tables: Mapping[str, pa.Table], status: str, source: str) -> Segment:
        segment_id = new_segment_id()
        files = write_files(self.place, segment_id, extent, tables)
        return described(segment_id, stream, extent, files, status=status, source=source)

    def _cut(self, stream: Stream, segment: Segment, part: Extent) -> Segment:
        """The part of a segment as a segment of its own; segments never change."""
        place, rows = self.place, part.filter()
        tables = {
            name: pq.read_table(place.full(file.path), filesystem=place.filesystem, filters=rows)
            for name, file in segment.files.items()
        }
        cut = self._written(stream, part, tables, segment.status, segment.source)
        return replace(cut, fetched_at=segment.fetched_at, written_by=segment.written_by)

    def _replace_provisional(
        self, connection: sqlite3.Connection, stream: Stream, new: Segment, provisional: list[Segment]
    ) -> None:
        """Take away the provisional rows that the new segment covers, and keep the rest of theirs."""
        for old in provisional:
            if new.extent.overlaps(old.extent):
                for part in old.extent.minus([new.extent]):
                    records.add_segment(connection, self._cut(stream, old, part), stream.fingerprint)
                records.remove_segment(connection, old.segment_id)

    # -- reading ----------------------------------------------------------------------------------------------------

    def segments(self, stream: Stream, asked: Window | Extent | None = None) -> list[Segment]:
        """The committed segments, in order; those that matter for a window or an extent, or all."""
        with self.catalog.reading() as connection:
            return records.segments(connection, stream, asked)

    def every_segment(self) -> list[Segment]:
        """The committed segments of all streams, in order."""
        return [segment for stream in STREAMS.values() for segment in self.segments(stream)]

    def snapshot(self, stream: Stream, asked: Window | Extent | None = None) -> Snapshot:
        """What is committed now for a window or an extent, or all of it; later commits do not change it."""
        return self.snapshot_of(self.segments(stream, asked))

    def snapshot_of(self, segments: Sequence[Segment]) -> Snapshot:
        """These segments, and no others."""
        return Snapshot(self.network, self.place, tuple(segments))

    def freeze(self, target: Path) -> None:
        """Copy the catalog to a file: a snapshot of the whole store, for as long as its segments are kept."""
        self.catalog.copy(target)


def open_catalog(place: Place, frozen: Path | None) -> Catalog:
    """The catalog of a place, or a copied one."""
    if frozen is not None:
        return Catalog(frozen)
    return Catalog(place.local / CATALOG) if place.local else RemoteCatalog(place, CATALOG)


def new_segment_id() -> str:
    """A name that no other segment has."""
    return uuid.uuid4().hex


def described(
    segment_id: str, stream: Stream, extent: Extent, files: dict[str, SegmentFile], *, status: str, source: str
) -> Segment:
    """A segment written just now, by this version."""
    now = time.time_ns() // 1000
    return Segment(segment_id, stream.name, extent, status, source, now, installed_version(), files)
