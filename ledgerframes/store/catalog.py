"""The SQLite catalog: which segments exist, what they cover, and whether that is final.

Everything that makes a segment visible happens in one transaction, so a reader sees all tables of a range or none.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledgerframes.datasets._dataset import Dataset
from ledgerframes.errors import StoreError
from ledgerframes.extents import Extent, ExtentRange, Migration, microseconds
from ledgerframes.store.location import unwritable
from ledgerframes.store.segments import SegmentFile
from ledgerframes.windows import Window

SCHEMA_VERSION = 2
BUSY_SECONDS = 120.0

SCHEMA = """
CREATE TABLE segments (
    segment_id TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    partition TEXT,
    start INTEGER,
    stop INTEGER,
    status TEXT NOT NULL CHECK (status IN ('final', 'provisional', 'gap')),
    source TEXT NOT NULL,
    fetched_at INTEGER NOT NULL,
    written_by TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
CREATE INDEX segments_by_place ON segments (dataset, partition, start);
CREATE TABLE files (
    segment_id TEXT NOT NULL REFERENCES segments ON DELETE CASCADE,
    table_name TEXT NOT NULL,
    path TEXT NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (segment_id, table_name)
);
CREATE TABLE ids (
    segment_id TEXT NOT NULL REFERENCES segments ON DELETE CASCADE,
    update_id TEXT NOT NULL,
    PRIMARY KEY (segment_id, update_id)
);
CREATE INDEX ids_by_update ON ids (update_id);
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE migrations (
    migration_id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    ended INTEGER
);
"""


@dataclass(frozen=True)
class Segment:
    """One committed piece of a dataset.

    Attributes
    ----------
    segment_id : str
    dataset : str
    extent : MigrationWindow, OffsetRange, Observation, IdSet or ObjectSet
        What it covers, whether or not there were rows.
    status : str
        ``final``; ``provisional`` for the tail that is asked again next time; ``gap`` for what can no longer be asked.
    source : str
        Host that answered.
    fetched_at : int
        Microseconds since 1970.
    written_by : str
        Version of this library.
    files : dict of str to SegmentFile
        By table; a table without rows has none.
    """

    segment_id: str
    dataset: str
    extent: Extent
    status: str
    source: str
    fetched_at: int
    written_by: str
    files: dict[str, SegmentFile]

    @property
    def final(self) -> bool:
        """Whether it is never asked again."""
        return self.status != "provisional"

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(file.rows for file in self.files.values())

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(file.bytes for file in self.files.values())


class Catalog:
    """One catalog file; a connection is opened for each use, so that threads and processes can share it.

    Parameters
    ----------
    path : Path
    named : str, optional
        What messages call it; its path by default.
    """

    def __init__(self, path: Path, named: str = "") -> None:
        self.path = path
        self.named = named or str(path)

    # -- connections ------------------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A read-only connection inside one transaction, or None while there is no catalog."""
        if not self.path.exists():
            yield None
            return
        # Not read-only: what a killed writer left half done is rolled back by the next connection, whichever it is.
        with closing(self._connect("rw")) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            with self._malformed_named():
                yield connection if self._checked_version(connection) else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one write transaction: committed at the end, rolled back on an error."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connect("rwc")
        except OSError as error:
            raise unwritable(self.path.parent, error) from error
        with closing(connection):
            try:
                connection.execute("BEGIN IMMEDIATE")
                if not self._checked_version(connection):
                    _create(connection)
                yield connection
                connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                raise unwritable(self.path.parent, error) from error
            except sqlite3.DatabaseError as error:
                raise self._malformed(error) from error

    @contextmanager
    def _malformed_named(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._malformed(error) from error

    def _malformed(self, error: Exception) -> StoreError:
        message = f"{self.named} is not a catalog that can be read ({error}). Move the folder away to begin a new store."
        return StoreError(message, path=self.named)

    def copy(self, target: Path) -> None:
        """Copy the catalog as it is now: together with the immutable segments, a snapshot."""
        with self.reading() as connection, closing(sqlite3.connect(target)) as copy:
            if connection is not None:
                connection.execute("COMMIT")
                connection.backup(copy)

    def _connect(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        try:
            connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.OperationalError as error:
            raise unwritable(self.path.parent, error) from error
        return connection

    def _checked_version(self, connection: sqlite3.Connection) -> bool:
        """Whether the catalog has its tables yet; a newer one is an error."""
        try:
            (found,) = connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError as error:
            raise unwritable(self.path.parent, error) from error
        except sqlite3.DatabaseError as error:
            raise self._malformed(error) from error
        if found > SCHEMA_VERSION:
            raise StoreError(
                f"The store at {self.named.rpartition('/')[0]} has schema {found}, newer than this version's {SCHEMA_VERSION}. "
                "Upgrade ledgerframes, or set LEDGERFRAMES_STORE to another folder.",
                path=self.named,
            )
        return bool(found)


def _create(connection: sqlite3.Connection) -> None:
    for statement in SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


# -- segments -------------------------------------------------------------------------------------------------------

SEGMENT_COLUMNS = "segment_id, dataset, partition, start, stop, status, source, fetched_at, written_by"
FILE_COLUMNS = "table_name, path, rows, bytes, sha256"


def segments(
    connection: sqlite3.Connection | None, dataset: Dataset, overlapping: Extent | Window | None = None
) -> list[Segment]:
    """The segments of a dataset in order of (migration, time), of the shape that this version writes.

    Parameters
    ----------
    connection : Connection or None
        From :meth:`Catalog.reading` or :meth:`Catalog.writing`.
    dataset : Dataset
    overlapping : MigrationWindow, OffsetRange, Observation, IdSet, ObjectSet or Window, optional
        Only segments that cover a part of this; a window in any migration.
    """
    if connection is None:
        return []
    values: list[object] = [dataset.name, dataset.schema_fingerprint]
    where = "dataset = ? AND fingerprint = ?"
    if isinstance(overlapping, ExtentRange):
        where += " AND partition = ? AND start < ? AND stop > ?"
        values += [overlapping.partition, overlapping.stop, overlapping.start]
    elif isinstance(overlapping, Window):
        where += " AND start < ? AND stop > ?"
        values += [microseconds(overlapping.until), microseconds(overlapping.since)]
    elif overlapping is not None:
        where += " AND segment_id IN (SELECT segment_id FROM ids WHERE update_id IN (SELECT value FROM json_each(?)))"
        values.append(json.dumps(sorted(overlapping.keys)))
    # Three queries for all of them, rather than two for each.
    inside = f"WHERE segment_id IN (SELECT segment_id FROM segments WHERE {where})"  # noqa: S608  (constant text)
    files, names = defaultdict[str, dict[str, SegmentFile]](dict), defaultdict[str, set[str]](set)
    for segment_id, *file in connection.execute(f"SELECT segment_id, {FILE_COLUMNS} FROM files {inside}", values):  # noqa: S608
        files[segment_id][file[0]] = SegmentFile(*file)
    for segment_id, name in connection.execute(f"SELECT segment_id, update_id FROM ids {inside}", values):  # noqa: S608
        names[segment_id].add(name)
    query = f"SELECT {SEGMENT_COLUMNS} FROM segments WHERE {where} ORDER BY partition, start, segment_id"  # noqa: S608
    rows = connection.execute(query, values)
    return [_segment(dataset, row, frozenset(names[row[0]]), files[row[0]]) for row in rows]


def covered(connection: sqlite3.Connection | None, dataset: Dataset, window: Window) -> list[Extent]:
    """What the final segments of a dataset cover around a window: quicker than the segments, which have files."""
    if connection is None:
        return []
    query = (
        "SELECT partition, start, stop FROM segments "
        "WHERE dataset = ? AND fingerprint = ? AND status != 'provisional' AND start < ? AND stop > ?"
    )
    values = [dataset.name, dataset.schema_fingerprint, microseconds(window.until), microseconds(window.since)]
    return [dataset.extent_type.from_catalog(position, frozenset()) for position in connection.execute(query, values)]


def held_names(connection: sqlite3.Connection | None, dataset: Dataset) -> frozenset[str]:
    """Every update id or object key that the final segments of a dataset hold."""
    if connection is None:
        return frozenset()
    query = (
        "SELECT update_id FROM ids JOIN segments USING (segment_id) "
        "WHERE dataset = ? AND fingerprint = ? AND status != 'provisional'"
    )
    return frozenset(name for (name,) in connection.execute(query, [dataset.name, dataset.schema_fingerprint]))


def _segment(dataset: Dataset, row: Sequence[Any], names: frozenset[str], files: dict[str, SegmentFile]) -> Segment:
    segment_id, _, partition, start, stop, status, source, fetched_at, written_by = row
    extent = dataset.extent_type.from_catalog(None if partition is None else (partition, start, stop), names)
    return Segment(segment_id, dataset.name, extent, status, source, fetched_at, written_by, files)


def add_segment(connection: sqlite3.Connection, segment: Segment, fingerprint: str) -> None:
    """Record a segment with its files."""
    extent = segment.extent
    connection.execute(
        "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            segment.segment_id,
            segment.dataset,
            *(extent.position or (None, None, None)),
            segment.status,
            segment.source,
            segment.fetched_at,
            segment.written_by,
            fingerprint,
        ],
    )
    connection.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
        [(segment.segment_id, file.table, file.path, file.rows, file.bytes, file.sha256) for file in segment.files.values()],
    )
    connection.executemany("INSERT INTO ids VALUES (?, ?)", [(segment.segment_id, name) for name in sorted(extent.keys)])


def remove_segment(connection: sqlite3.Connection, segment_id: str) -> None:
    """Forget a segment; its files stay for readers of older snapshots."""
    connection.execute("DELETE FROM segments WHERE segment_id = ?", [segment_id])


def replace_segments(connection: sqlite3.Connection, old: Sequence[Segment], new: Segment, fingerprint: str) -> bool:
    """Put one segment in the place of several; False, and nothing changed, if one of them is no longer there."""
    for segment in old:
        if connection.execute("SELECT 1 FROM segments WHERE segment_id = ?", [segment.segment_id]).fetchone() is None:
            return False
    for segment in old:
        remove_segment(connection, segment.segment_id)
    add_segment(connection, new, fingerprint)
    return True


def named_files(connection: sqlite3.Connection) -> set[str]:
    """The path of every file that counts, also those of another shape than this version's."""
    return {path for (path,) in connection.execute("SELECT path FROM files")}


# -- migrations -----------------------------------------------------------------------------------------------------


def migrations(connection: sqlite3.Connection | None) -> list[Migration]:
    """The migrations known so far, in order."""
    if connection is None:
        return []
    return [
        Migration(*row) for row in connection.execute("SELECT migration_id, first, ended FROM migrations ORDER BY migration_id")
    ]


def put_migration(connection: sqlite3.Connection, migration: Migration) -> None:
    """Remember what is known of a migration; an end once seen is never forgotten."""
    connection.execute(
        "INSERT INTO migrations VALUES (?, ?, ?) ON CONFLICT (migration_id) DO UPDATE SET first = min(first, excluded.first), "
        "ended = CASE WHEN ended IS NULL THEN excluded.ended ELSE min(ended, coalesce(excluded.ended, ended)) END",
        [migration.migration_id, migration.first, migration.ended],
    )


# -- facts ----------------------------------------------------------------------------------------------------------


def fact(connection: sqlite3.Connection | None, name: str) -> str | None:
    """Something remembered of the network, such as the participant whose ledger is stored."""
    if connection is None:
        return None
    found = connection.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
    return None if found is None else str(found[0])


def put_fact(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Remember something of the network; what is known already stays."""
    connection.execute("INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [name, value])
