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

from ledgerframes.datasets._dataset import Dataset
from ledgerframes.extents import Extent, ExtentRange, IdSet, Migration, MigrationWindow, OffsetRange, plan_missing
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Catalog, Segment
from ledgerframes.store.location import Location
from ledgerframes.store.remote import RemoteCatalog
from ledgerframes.store.segments import SegmentFile, write_files
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.version import installed_version
from ledgerframes.windows import Window

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
    datasets : mapping of str to Dataset
        The datasets that it serves, by name, in order of precedence.
    catalog : Path, optional
        A copied catalog to read instead of the live one: a frozen snapshot.
    """

    def __init__(self, root: str | Path, network: str, datasets: Mapping[str, Dataset], catalog: Path | None = None) -> None:
        self.root = Location.at(root)
        self.location = self.root.below(network)
        self.network = network
        self.datasets = datasets
        self.frozen = catalog is not None
        self.catalog = open_catalog(self.location, catalog)

    def exists(self) -> bool:
        """Whether anything was ever written here."""
        return self.location.exists(CATALOG)

    def other_networks(self) -> list[str]:
        """Other networks kept in the same root."""
        others = [name for name in self.root.folders() if name != self.network]
        return [name for name in others if self.root.below(name).exists(CATALOG)]

    # -- planning ---------------------------------------------------------------------------------------------------

    def migrations(self) -> list[Migration]:
        """The migrations known so far, in order."""
        with self.catalog.reading() as connection:
            return records.migrations(connection)

    def save_migrations(self, migrations: Sequence[Migration]) -> None:
        """Add what has been learnt of migrations."""
        if set(migrations) <= set(self.migrations()):
            return
        with self.catalog.writing() as connection:
            for migration in migrations:
                records.put_migration(connection, migration)

    def missing(self, dataset: Dataset, window: Window) -> list[MigrationWindow]:
        """What has to be fetched before a window is final, in the migrations known so far."""
        with self.catalog.reading() as connection:
            return plan_missing(window, records.migrations(connection), records.covered(connection, dataset, window))

    def missing_ids(self, dataset: Dataset, update_ids: Sequence[str], *, provisional: bool = False) -> list[str]:
        """The ids that have to be looked up, in the order given; provisional rows count only if told so."""
        asked = IdSet(frozenset(update_ids))
        held = [segment.extent for segment in self.segments(dataset, asked) if segment.final or provisional]
        rest = {update_id for part in asked.difference(held) for update_id in part.update_ids}
        return [update_id for update_id in dict.fromkeys(update_ids) if update_id in rest]

    def participant(self) -> str | None:
        """The participant whose ledger is stored here, if any."""
        with self.catalog.reading() as connection:
            return records.fact(connection, PARTICIPANT)

    def bind_participant(self, participant_id: str) -> str:
        """The participant whose ledger is stored here: the one given, if there is none yet."""
        if self.participant() is None:
            with self.catalog.writing() as connection:
                records.put_fact(connection, PARTICIPANT, participant_id)
        return self.participant() or participant_id

    def missing_offsets(self, dataset: Dataset, asked: OffsetRange) -> list[OffsetRange]:
        """What has to be fetched of a participant's ledger, seen through one filter."""
        return asked.difference(segment.extent for segment in self.segments(dataset, asked) if segment.final)

    def max_position(self, dataset: Dataset, partition: str | None = None) -> int:
        """The highest position that a partition of a dataset has reached, or any of them; 0 if it has none."""
        extents = [segment.extent for segment in self.segments(dataset)]
        return max((e.stop for e in extents if isinstance(e, ExtentRange) and partition in (None, e.partition)), default=0)

    # -- committing -------------------------------------------------------------------------------------------------

    def commit(
        self, dataset: Dataset, extent: Extent, tables: Mapping[str, pa.Table], *, final: bool, source: str, gap: bool = False
    ) -> None:
        """Make all tables of an extent visible at once.

        What another process has committed as final in the meantime is left as it is, and dropped from these tables; the
        provisional rows that these replace disappear in the same transaction.

        Parameters
        ----------
        dataset : Dataset
        extent : MigrationWindow, OffsetRange, Observation, IdSet or ObjectSet
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
        self.add_segment(dataset, self.write_segment(dataset, extent, tables, final=final, source=source, gap=gap))

    def write_segment(
        self, dataset: Dataset, extent: Extent, tables: Mapping[str, pa.Table], *, final: bool, source: str, gap: bool = False
    ) -> Segment:
        """Write the files of a segment, which counts for nothing until it is added; as :meth:`commit`, and also in a worker."""
        if extent.position and extent.position[1] >= extent.position[2]:
            raise ValueError(f"an empty extent cannot be committed: {extent.position[1:]}")
        return self._written(dataset, extent, tables, "gap" if gap else "final" if final else "provisional", source)

    def add_segment(self, dataset: Dataset, segment: Segment) -> None:
        """Make a segment visible whose files are written already, here or by a worker; see :meth:`commit`."""
        extent = segment.extent
        with self.catalog.writing() as connection:
            present = records.segments(connection, dataset, extent)
            settled = [other.extent for other in present if other.final]
            if settled:
                logger.info("another process has committed a part of %s already", extent)
                parts = [self._cut(dataset, segment, part) for part in extent.difference(settled)]
            else:
                parts = [segment]
            for part in parts:
                self._replace_provisional(connection, dataset, part, [other for other in present if not other.final])
                records.add_segment(connection, part, dataset.schema_fingerprint)

    def committed_keys(self, dataset: Dataset) -> frozenset[str]:
        """Every update id or object key that a dataset holds as final."""
        with self.catalog.reading() as connection:
            return records.held_names(connection, dataset)

    def _written(self, dataset: Dataset, extent: Extent, tables: Mapping[str, pa.Table], status: str, source: str) -> Segment:
        segment_id = new_segment_id()
        files = write_files(self.location, segment_id, extent, tables)
        return described(segment_id, dataset, extent, files, status=status, source=source)

    def _cut(self, dataset: Dataset, segment: Segment, part: Extent) -> Segment:
        """The part of a segment as a segment of its own; segments never change."""
        location, rows = self.location, part.filter()
        tables = {
            name: pq.read_table(location.full(file.path), filesystem=location.filesystem, filters=rows)
            for name, file in segment.files.items()
        }
        cut = self._written(dataset, part, tables, segment.status, segment.source)
        return replace(cut, fetched_at=segment.fetched_at, written_by=segment.written_by)

    def _replace_provisional(
        self, connection: sqlite3.Connection, dataset: Dataset, new: Segment, provisional: list[Segment]
    ) -> None:
        """Take away the provisional rows that the new segment covers, and keep the rest of theirs."""
        for old in provisional:
            if new.extent.overlaps(old.extent):
                for part in old.extent.difference([new.extent]):
                    records.add_segment(connection, self._cut(dataset, old, part), dataset.schema_fingerprint)
                records.remove_segment(connection, old.segment_id)

    # -- reading ----------------------------------------------------------------------------------------------------

    def segments(self, dataset: Dataset, asked: Window | Extent | None = None) -> list[Segment]:
        """The committed segments, in order; those that matter for a window or an extent, or all."""
        with self.catalog.reading() as connection:
            return records.segments(connection, dataset, asked)

    def every_segment(self) -> list[Segment]:
        """The committed segments of all datasets, in order."""
        return [segment for dataset in self.datasets.values() for segment in self.segments(dataset)]

    def snapshot(self, dataset: Dataset, asked: Window | Extent | None = None) -> StoreSnapshot:
        """What is committed now for a window or an extent, or all of it; later commits do not change it."""
        return self.snapshot_of(self.segments(dataset, asked))

    def snapshot_of(self, segments: Sequence[Segment]) -> StoreSnapshot:
        """These segments, and no others."""
        return StoreSnapshot(self.network, self.location, tuple(segments))

    def freeze(self, target: Path) -> None:
        """Copy the catalog to a file: a snapshot of the whole store, for as long as its segments are kept."""
        self.catalog.copy(target)


def open_catalog(location: Location, frozen: Path | None) -> Catalog:
    """The catalog of a location, or a copied one."""
    if frozen is not None:
        return Catalog(frozen)
    return Catalog(location.local / CATALOG) if location.local else RemoteCatalog(location, CATALOG)


def new_segment_id() -> str:
    """A name that no other segment has."""
    return uuid.uuid4().hex


def described(
    segment_id: str, dataset: Dataset, extent: Extent, files: dict[str, SegmentFile], *, status: str, source: str
) -> Segment:
    """A segment written just now, by this version."""
    now = time.time_ns() // 1000
    return Segment(segment_id, dataset.name, extent, status, source, now, installed_version(), files)
