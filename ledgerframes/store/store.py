"""The store of one network."""

from __future__ import annotations

import logging
import sqlite3
import sys
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.datasets.dataset import Dataset
from ledgerframes.errors import StoreError
from ledgerframes.installation import installed_version
from ledgerframes.store import catalog as records
from ledgerframes.store import private_copies
from ledgerframes.store.catalog import CATALOG, FROZEN_DAMAGE_STEP, Catalog, Segment
from ledgerframes.store.location import FileInfo, Location
from ledgerframes.store.older_schemas import (
    Schemas,
    UnreadableSegment,
    all_fingerprints,
    find_schemas,
    find_segments,
    with_schemas,
)
from ledgerframes.store.remote import RemoteCatalog
from ledgerframes.store.scan import damage_as_store_error
from ledgerframes.store.second_verdicts import (
    UNREADABLE,
    compare_older_segments,
    find_second_verdicts,
    second_verdicts,
    uncompared_segments,
)
from ledgerframes.store.segments import SegmentWriter, file_name
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.store.sources import START_OF_TIME
from ledgerframes.store.sqlite import is_read_only_error
from ledgerframes.values.extents import Extent, ExtentRange, Migration, MigrationWindow, plan_missing
from ledgerframes.values.windows import Window

logger = logging.getLogger("ledgerframes")

PARTICIPANT = "participant_id"

E = TypeVar("E", bound=Extent)


class Store:
    """The Parquet store of one network.

    Nothing is created before the first write.

    Parameters
    ----------
    root : str or Path
        Directory of the stores of all networks, or ``s3://bucket/prefix``.
    network : str
        Name of this network's directory.
    datasets : mapping of str to Dataset
        The datasets that it serves, by name, in order of precedence.
    catalog : Path, optional
        A copied catalog to read instead of the live one: a frozen snapshot.
    """

    def __init__(self, root: str | Path, network: str, datasets: Mapping[str, Dataset], catalog: Path | None = None) -> None:
        self.root = Location.parse(root)
        self.location = self.root.child(network)
        self.network = network
        self.datasets = datasets
        self.is_frozen = catalog is not None
        self.catalog = Catalog(catalog, damage_step=FROZEN_DAMAGE_STEP) if catalog else self._live_catalog()

    def _live_catalog(self) -> Catalog:
        path = self.location.local_path
        return Catalog(path / CATALOG, list_files=self.table_files) if path else RemoteCatalog(self.location, self.table_files)

    def exists(self) -> bool:
        """Return whether anything was ever written."""
        return self.location.exists(CATALOG)

    def create(self) -> None:
        """Create the catalog, unless there is one. Files of segments are written only after it.

        Raises
        ------
        StoreError
            If the catalog is lost or damaged, or cannot be written.
        """
        if not self.catalog.exists():
            with self.catalog.write_transaction():
                pass

    def table_files(self) -> list[FileInfo]:
        """Return the files of tables, whether or not the catalog names them."""
        tables = {table.name for dataset in self.datasets.values() for table in dataset.file_tables}
        files = self.location.iter_files()
        return [file for file in files if file.path.endswith(".parquet") and file.path.partition("/")[0] in tables]

    def other_networks(self) -> list[str]:
        """Return the other networks with a store in the same root."""
        others = [name for name in self.root.list_directories() if name != self.network]
        return [name for name in others if self.root.child(name).exists(CATALOG)]

    # -- planning ---------------------------------------------------------------------------------------------------

    def migrations(self) -> list[Migration]:
        """Return the known migrations, in order."""
        return list(self.catalog.read(records.migrations))

    def save_migrations(self, migrations: Sequence[Migration]) -> None:
        """Save the bounds of migrations."""
        if set(migrations) <= set(self.migrations()):
            return
        with self.catalog.write_transaction() as connection:
            for migration in migrations:
                records.save_migration(connection, migration)
            for migration in records.migrations(connection):
                if migration.ended is not None:
                    self._remove_provisional(connection, MigrationWindow(migration.migration_id, migration.ended, sys.maxsize))

    def _remove_provisional(self, connection: sqlite3.Connection, after: MigrationWindow) -> None:
        """Remove provisional rows after a migration has ended, because they are not fetched again."""
        for dataset in (each for each in self.datasets.values() if each.extent_type is MigrationWindow):
            present, _ = find_segments(connection, self.location, dataset, after)
            provisional = [segment for segment in present if not segment.final]
            if retained := self._replace_provisional(connection, dataset, after, provisional):
                self._find_second_verdicts(connection, dataset, retained)

    def missing(self, dataset: Dataset, window: Window, *, accept_provisional: bool = False) -> list[MigrationWindow]:
        """Return what to fetch before a window is final in the known migrations."""
        return plan_missing(window, *self._covered(dataset, window, accept_provisional))

    def is_complete(self, dataset: Dataset, window: Window) -> bool:
        """Return whether a window is final in the known migrations, and any is known."""
        migrations, covered = self._covered(dataset, window, False)
        return bool(migrations) and not plan_missing(window, migrations, covered)

    def _covered(self, dataset: Dataset, window: Window, accept_provisional: bool) -> tuple[list[Migration], list[Extent]]:
        return self.catalog.read(with_schemas, self.location, dataset, records.covered, window, accept_provisional)

    def missing_parts(self, dataset: Dataset, extent: E, *, accept_provisional: bool = False) -> list[E]:
        """Return what to fetch of an extent, with provisional parts unless they are accepted."""
        segments = self.segments(dataset, extent)
        return extent.difference(segment.extent for segment in segments if segment.final or accept_provisional)

    def participant(self) -> str | None:
        """Return the participant whose ledger is stored, or None."""
        return self.catalog.read(records.get_value, PARTICIPANT)

    def bind_participant(self, participant_id: str) -> str:
        """Return the participant whose ledger is stored, which is this one if there is none yet."""
        if self.participant() is None:
            with self.catalog.write_transaction() as connection:
                records.set_value(connection, PARTICIPANT, participant_id)
        return self.participant() or participant_id

    def max_position(self, dataset: Dataset, partition: str | None = None) -> int:
        """Return the highest position in one partition of a dataset, or in any, or 0."""
        extents = [segment.extent for segment in self.segments(dataset)]
        return max((e.stop for e in extents if isinstance(e, ExtentRange) and partition in (None, e.partition)), default=0)

    # -- committing -------------------------------------------------------------------------------------------------

    def commit(
        self, dataset: Dataset, extent: Extent, tables: Mapping[str, pa.Table], *, final: bool, source: str, gap: bool = False
    ) -> None:
        """Make all tables of an extent visible at once.

        Rows that another process has committed as final stay, and are dropped from these tables. The same transaction removes
        the provisional rows that these tables replace.

        Parameters
        ----------
        dataset : Dataset
        extent : Extent
        tables : mapping of str to Table
            Tables without rows are optional.
        final : bool
            False for rows that the next sync fetches again.
        source : str
            Host of the rows.
        gap : bool
            Whether the extent was pruned before it could be fetched.

        Raises
        ------
        StoreError
            If the store cannot be written.
        """
        self.create()
        self.add_segment(dataset, self.write_segment(dataset, extent, tables, final=final, source=source, gap=gap))

    def write_segment(
        self, dataset: Dataset, extent: Extent, tables: Mapping[str, pa.Table], *, final: bool, source: str, gap: bool = False
    ) -> Segment:
        """Write the files of a segment in any process, before :meth:`add_segment` shows it."""
        if extent.catalog_range and extent.catalog_range[1] >= extent.catalog_range[2]:
            raise ValueError(f"an empty extent cannot be committed: {extent.catalog_range[1:]}")
        status = "gap" if gap else "final" if final else "provisional"
        return write_segment_files(self.location, dataset, new_segment(dataset, extent, status=status, source=source), [tables])

    def add_segment(self, dataset: Dataset, segment: Segment) -> None:
        """Make a segment visible whose files are written, as :meth:`commit` does."""
        with self.catalog.write_transaction() as connection:
            parts = self._add_segment(connection, dataset, segment)
        self._log_commit(dataset, parts)

    def commit_mark(self, dataset: Dataset, extent: Extent, keys: Set[str], *, final: bool, source: str) -> None:
        """Mark an extent as complete, unless another process has dropped one of its objects."""
        parts: list[Segment] = []
        with self.catalog.write_transaction() as connection:
            schemas = find_schemas(connection, self.location, dataset)
            if keys <= records.stored_keys(connection, dataset, schemas.readable, not final):
                mark = self.write_segment(dataset, extent, {}, final=final, source=source)
                parts = self._add_segment(connection, dataset, mark)
        self._log_commit(dataset, parts)

    def _log_commit(self, dataset: Dataset, segments: Sequence[Segment]) -> None:
        for each in segments:
            facts = (self.network, dataset.name, each.extent, each.status, each.rows)
            logger.info("segment_committed network=%s dataset=%s extent=%s status=%s rows=%d", *facts)

    def _add_segment(self, connection: sqlite3.Connection, dataset: Dataset, segment: Segment) -> list[Segment]:
        """Add a segment in a transaction, and return the parts of it that no other has covered."""
        extent = segment.extent
        schemas = find_schemas(connection, self.location, dataset)
        present = records.segments(connection, dataset, schemas.readable, extent)
        final = [other.extent for other in present if other.final]
        if final:
            logger.info("segment_already_committed dataset=%s extent=%s", dataset.name, extent)
            parts = [self._cut(dataset, segment, part) for part in extent.difference(final)]
        else:
            parts = [segment]
        for part in parts:
            retained = self._replace_provisional(
                connection, dataset, part.extent, [other for other in present if not other.final]
            )
            records.add_segment(connection, part)
            self._find_second_verdicts(connection, dataset, [part, *retained])
        if segment.status == "final":
            self._remove_replaced(connection, dataset, schemas, extent)
        return parts

    def committed_keys(self, dataset: Dataset, *, accept_provisional: bool = False) -> frozenset[str]:
        """Return the update ids or object keys of final segments, or also of provisional ones."""
        return self.catalog.read(with_schemas, self.location, dataset, records.stored_keys, accept_provisional)

    def _cut(self, dataset: Dataset, segment: Segment, part: Extent) -> Segment:
        """Write a part of a segment as a new segment, because segments never change."""
        filesystem, rows = self.location.filesystem, part.filter()
        tables = {}
        for name, file in segment.row_files.items():
            with damage_as_store_error(name, self.location):
                tables[name] = pq.read_table(file.path, filesystem=filesystem, filters=rows, page_checksum_verification=True)
        cut = replace(segment, segment_id=new_segment_id(), extent=part, files={})
        return write_segment_files(self.location, dataset, cut, [tables])

    def _replace_provisional(
        self, connection: sqlite3.Connection, dataset: Dataset, new: Extent, provisional: list[Segment]
    ) -> list[Segment]:
        """Remove provisional rows of an extent, and return segments of the others."""
        replaced = [old for old in provisional if new.overlaps(old.extent)]
        retained = [self._cut(dataset, old, part) for old in replaced for part in old.extent.difference([new])]
        for part in retained:
            records.add_segment(connection, part)
        for old in replaced:
            records.remove_segment(connection, old.segment_id)
        return retained

    def _remove_replaced(self, connection: sqlite3.Connection, dataset: Dataset, schemas: Schemas, extent: Extent) -> None:
        """Remove the segments that this version cannot read and that others now cover."""
        for old in records.segments(connection, dataset, tuple(schemas.unreadable), extent) if schemas.unreadable else ():
            present = records.segments(connection, dataset, schemas.readable, old.extent)
            if not old.extent.difference(other.extent for other in present if other.status == "final"):
                records.remove_segment(connection, old.segment_id)

    # -- second verdicts --------------------------------------------------------------------------------------------

    def _find_second_verdicts(self, connection: sqlite3.Connection, dataset: Dataset, new: Sequence[Segment]) -> None:
        """Compare the events of segments that a transaction has added with all others."""
        if dataset.event_tables:
            ids, extents = [segment.segment_id for segment in new], [segment.extent for segment in new]
            find_second_verdicts(connection, self.location, self._family(dataset), ids, extents)

    def _family(self, dataset: Dataset) -> list[Dataset]:
        """Return the datasets with the same events."""
        return [each for each in self.datasets.values() if each.family == dataset.family]

    def compare_segments(self) -> None:
        """Find the second verdicts in segments of earlier versions that were never compared."""
        datasets = [dataset for dataset in self.datasets.values() if dataset.event_tables]
        names = tuple(dataset.name for dataset in datasets)
        # Those of one state were compared before it.
        if self.catalog.is_in_one_state or UNREADABLE.issuperset(self.catalog.read(uncompared_segments, names)):
            return
        try:
            with self.catalog.write_transaction() as connection:
                compare_older_segments(connection, self.location, datasets)
        except StoreError as error:
            if not is_read_only_error(error):
                raise
            logger.warning("comparison_not_saved network=%s error=%s", self.network, error)
            with private_copies.write_transaction(self.catalog.database) as connection:
                compare_older_segments(connection, self.location, datasets)

    # -- reading ----------------------------------------------------------------------------------------------------

    def one_state(self) -> AbstractContextManager[None]:
        """Let this thread read one state of the store in the block."""
        self.compare_segments()
        return self.catalog.one_state()

    def segments(self, dataset: Dataset, overlapping: Window | Extent | None = None) -> list[Segment]:
        """Return the committed segments that overlap a window or an extent, or all, in order."""
        return list(self.catalog.read(find_segments, self.location, dataset, overlapping)[0])

    def end_of_rows(self, dataset: Dataset, window: Window) -> int | None:
        """Return the end of the last segment with rows in a window, or None if there is none."""
        return self.catalog.read(with_schemas, self.location, dataset, records.end_of_rows, window)

    def all_segments(self) -> list[Segment]:
        """Return the segments of all datasets and schemas that are committed now, in order."""
        with self.catalog.read_transaction() as connection:
            return [
                segment
                for dataset in self.datasets.values()
                for segment in records.segments(connection, dataset, all_fingerprints(connection, dataset))
            ]

    def unreadable(self, dataset: Dataset, overlapping: Window | Extent | None = None) -> list[UnreadableSegment]:
        """Return the segments of a dataset whose schema this version cannot read, in order."""
        return list(self.catalog.read(find_segments, self.location, dataset, overlapping)[1])

    def snapshot(self, dataset: Dataset, overlapping: Window | Extent | None = None) -> StoreSnapshot:
        """Return a snapshot of what is committed now for a window or an extent, or of all."""
        self.compare_segments()
        return StoreSnapshot(self.network, self.location, *self.catalog.read(_snapshot, self.location, dataset, overlapping))

    def snapshot_of(self, segments: Sequence[Segment]) -> StoreSnapshot:
        """Return a snapshot of these segments of one dataset only."""
        dataset = self.datasets[segments[0].dataset]
        self.compare_segments()
        return StoreSnapshot(self.network, self.location, tuple(segments), self.catalog.read(second_verdicts, dataset))

    def freeze(self, target: Path) -> Store:
        """Copy the catalog, and return a store that can be read until its files are pruned."""
        self.compare_segments()
        self.catalog.copy(target)
        return Store(self.root.uri, self.network, self.datasets, target)


def _snapshot(
    connection: sqlite3.Connection, location: Location, dataset: Dataset, overlapping: Window | Extent | None
) -> tuple[tuple[Segment, ...], pa.Table, tuple[MigrationWindow, ...], dict[str, str]]:
    """Return segments, second verdicts, what is missing before, and what is unreadable."""
    missing: list[MigrationWindow] = []
    if isinstance(overlapping, Window) and dataset.extent_type is MigrationWindow and overlapping.since > START_OF_TIME:
        before = Window(START_OF_TIME, overlapping.since)
        missing = plan_missing(before, *with_schemas(connection, location, dataset, records.covered, before, True))
    segments, unreadable = find_segments(connection, location, dataset, overlapping)
    return segments, second_verdicts(connection, dataset), tuple(missing), {each.name: each.reason for each in unreadable}


def new_segment_id() -> str:
    """Return a unique id."""
    return uuid.uuid4().hex


def new_segment(dataset: Dataset, extent: Extent, *, status: str, source: str, segment_id: str = "") -> Segment:
    """Return a segment of this version and moment, without files yet."""
    now = time.time_ns() // 1000
    segment_id = segment_id or new_segment_id()
    return Segment(segment_id, dataset.name, extent, status, source, now, installed_version(), {}, dataset.schema_fingerprint)


def write_segment_files(
    location: Location, dataset: Dataset, segment: Segment, parts: Iterable[Mapping[str, pa.Table]]
) -> Segment:
    """Write the files of a segment, part by part, and return the segment with them."""
    with SegmentWriter(location, file_name(segment.extent, segment.segment_id), dataset.event_tables) as writer:
        for tables in parts:
            writer.write(tables)
        return finish_segment(writer, segment)


def finish_segment(writer: SegmentWriter, segment: Segment) -> Segment:
    """Finish the files of a segment, and return the segment with them."""
    return replace(segment, files=writer.close(records.identity(segment)))
