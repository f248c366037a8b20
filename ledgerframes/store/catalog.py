"""The SQLite catalog of segments, what they cover, and whether they are final.

A segment becomes visible in one transaction, so a reader sees all tables of an extent or none.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.datasets.dataset import Dataset
from ledgerframes.errors import StoreError
from ledgerframes.store import private_copies
from ledgerframes.store.catalog_schema import SCHEMA
from ledgerframes.store.segments import SegmentFile
from ledgerframes.store.sqlite import Database, errors_of_target, integrity_problems, is_in_memory
from ledgerframes.values.extents import Extent, ExtentRange, Migration, microseconds
from ledgerframes.values.windows import Window

CATALOG = "catalog.sqlite"
DAMAGE_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError, TypeError, ValueError)  # of damaged values
DAMAGE_STEP, FROZEN_DAMAGE_STEP = "Run `ledgerframes store rebuild`.", "Freeze the store again."
MIN_AGE = 1.0  # seconds: a file that has just changed can change again within the same timestamp
MAX_RESULTS = 8  # some have every segment of a store
State = tuple[int, ...]
ListFiles = Callable[[], Sequence[object]]
Fingerprints = tuple[str, ...]  # of schemas
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Segment:
    """One committed segment of a dataset.

    Attributes
    ----------
    segment_id : str
    dataset : str
    extent : Extent
        What the segment covers, whether or not there were rows.
    status : str
        ``final``, ``provisional`` for rows that are fetched again, or ``gap`` for an offset range pruned before it was fetched.
    source : str
        Host that the rows came from.
    fetched_at : int
        Microseconds since 1970.
    written_by : str
        Version of this library.
    files : dict of str to SegmentFile
        Files by table. A table without rows has none.
    fingerprint : str
        Fingerprint of the schemas of its tables.
    """

    segment_id: str
    dataset: str
    extent: Extent
    status: str
    source: str
    fetched_at: int
    written_by: str
    files: dict[str, SegmentFile]
    fingerprint: str

    @property
    def final(self) -> bool:
        """Whether the segment is never fetched again."""
        return self.status != "provisional"

    @property
    def row_files(self) -> dict[str, SegmentFile]:
        """The files of rows, by table, without files derived from them."""
        return {table: file for table, file in self.files.items() if table != EVENT_POSITIONS.name}

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(file.rows for file in self.row_files.values())

    @property
    def bytes(self) -> int:
        """Size of all files together."""
        return sum(file.bytes for file in self.files.values())


_CHECKED: set[Path] = set()  # catalogs whose integrity this process has checked
_THREAD = threading.local()


def _connections() -> dict[Path, sqlite3.Connection]:
    """Return the connections of blocks in which this thread sees one state, by catalog."""
    connections: dict[Path, sqlite3.Connection] = _THREAD.__dict__.setdefault("connections", {})
    return connections


class Catalog:
    """One catalog file, which threads and processes can share.

    Files of segments are written only after the catalog. Those that `list_files` finds without one are a StoreError.
    """

    def __init__(self, path: Path, display_name: str = "", list_files: ListFiles = tuple, damage_step: str = DAMAGE_STEP) -> None:
        self.path = path
        self.database = Database(
            path, SCHEMA, "catalog", damage_step, display_name, root=path.parent.parent, refuse_loss=self.require_complete_store
        )
        self._list_files = list_files
        # A state of the file, and the results of queries in it.
        self._remembered: tuple[State | None, dict[object, object]] = (None, {})

    def read(
        self,
        query: Callable[Concatenate[sqlite3.Connection, Arguments], Result],
        *arguments: Arguments.args,
        **options: Arguments.kwargs,
    ) -> Result:
        """Return the result of a query, which is read only once for each change of the file.

        Callers must not modify the result.
        """
        if connection := _connections().get(self.path):
            return query(connection, *arguments, **options)
        state, key = self._state(), (query, arguments, *options.items())
        remembered = self._remembered
        if state is None or state != remembered[0]:
            remembered = self._remembered = (state, {})
        results = remembered[1]
        if key in results:
            return cast(Result, results[key])
        with self.read_transaction() as connection:
            result = results[key] = query(connection, *arguments, **options)
        if len(results) > MAX_RESULTS:
            self._remembered = (None, {})
        return result

    @property
    def is_in_one_state(self) -> bool:
        """Whether this thread is in a block of :meth:`one_state`."""
        return self.path in _connections()

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Let all queries of this thread in the block see the same state."""
        with self.read_transaction() as connection:
            _connections()[self.path] = connection
            try:
                yield
            finally:
                del _connections()[self.path]

    def _state(self) -> State | None:
        """Return what changes with the file, or None if a change might not show."""
        try:
            # The file is not opened, because closing it would drop the locks that SQLite holds on it in this process.
            state = private_copies.current(self.database).path.stat()
        except OSError:
            return None
        changed_at = max(state.st_mtime_ns, state.st_ctime_ns)
        if time.time_ns() - changed_at <= MIN_AGE * 1e9:
            return None
        return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns

    @contextmanager
    def read_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that only reads, on empty tables if nothing was ever written.

        The seal is checked at each use. The integrity of the file takes longer, so it is checked only at the first use in a
        process.
        """
        with private_copies.read_transaction(self.database) as connection:
            if self.path not in _CHECKED and not is_in_memory(connection):
                if problems := integrity_problems(connection):
                    raise self.database.damage_error("; ".join(problems))
                _CHECKED.add(self.path)
            yield connection

    def exists(self) -> bool:
        """Return whether there is a catalog."""
        return self.database.has_tables()

    def require_complete_store(self) -> None:
        """Refuse files without a catalog."""
        name = self.database.name
        # Checked again, because another process may be creating the catalog now, and files after it.
        if self._list_files() and not self.exists():
            raise StoreError(f"The catalog {name} is lost, but files of its segments exist. {DAMAGE_STEP}", path=name)

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a connection inside one transaction, which is rolled back on an error."""
        if not self.exists():
            self.require_complete_store()
        with self.database.write_transaction() as connection:
            yield connection

    def problems(self) -> list[str]:
        """Return what a check of the file reports, empty if it is intact."""
        with self.read_transaction() as connection:
            self.forget_check()
            return integrity_problems(connection)

    def forget_check(self) -> None:
        """Check the file again at its next use."""
        _CHECKED.discard(self.path)

    def copy(self, target: Path) -> None:
        """Copy the catalog to a file, or raise OSError."""
        with self.read_transaction() as connection, errors_of_target(target), closing(sqlite3.connect(target)) as copy:
            connection.execute("COMMIT")
            connection.backup(copy)


# -- segments -------------------------------------------------------------------------------------------------------

SEGMENT_COLUMNS = "segment_id, dataset, partition, start, stop, status, source, fetched_at, written_by"
RECORD_COLUMNS = f"{SEGMENT_COLUMNS}, fingerprint, checksum"
FILE_COLUMNS = "table_name, path, rows, bytes, sha256, footer"
ACCEPTED = "(status != 'provisional' OR ?)"  # for whether provisional segments count, too
OF_DATASET = "dataset = ? AND fingerprint IN (SELECT value FROM json_each(?))"
IN_WINDOW = f"{OF_DATASET} AND start < ? AND stop > ?"


def segments(
    connection: sqlite3.Connection, dataset: Dataset, schemas: Fingerprints, overlapping: Extent | Window | None = None
) -> tuple[Segment, ...]:
    """Return the segments of a dataset with one of these schemas, by partition and start."""
    values: list[Any] = [dataset.name, json.dumps(schemas)]
    where = OF_DATASET
    if isinstance(overlapping, ExtentRange):
        where += " AND partition = ? AND start < ? AND stop > ?"
        values += [overlapping.partition, overlapping.stop, overlapping.start]
    elif isinstance(overlapping, Window):
        where, values = IN_WINDOW, _window_values(dataset, schemas, overlapping)
    elif overlapping is not None:
        where += " AND segment_id IN (SELECT segment_id FROM ids WHERE update_id IN (SELECT value FROM json_each(?)))"
        values.append(json.dumps(sorted(overlapping.keys)))
    # Three queries in all, instead of two for each segment.
    inside = f"WHERE segment_id IN (SELECT segment_id FROM segments WHERE {where})"  # noqa: S608  (constant text)
    files, keys = defaultdict[str, dict[str, SegmentFile]](dict), defaultdict[str, set[str]](set)
    for segment_id, *file in connection.execute(f"SELECT segment_id, {FILE_COLUMNS} FROM files {inside}", values):  # noqa: S608
        files[segment_id][file[0]] = SegmentFile(*file)
    for segment_id, key in connection.execute(f"SELECT segment_id, update_id FROM ids {inside}", values):  # noqa: S608
        keys[segment_id].add(key)
    query = f"SELECT {RECORD_COLUMNS} FROM segments WHERE {where} ORDER BY partition, start, segment_id"  # noqa: S608
    rows = connection.execute(query, values)
    return tuple(_segment(dataset, tuple(row), frozenset(keys[row[0]]), files[row[0]]) for row in rows)


def iter_intact_segments(connection: sqlite3.Connection, dataset: Dataset) -> Iterator[Segment]:
    """Yield the segments of a damaged catalog that have an intact record."""
    query = f"SELECT {RECORD_COLUMNS} FROM segments NOT INDEXED WHERE dataset = ?"  # noqa: S608
    with suppress(*DAMAGE_ERRORS):
        for row in connection.execute(query, [dataset.name]):
            with suppress(*DAMAGE_ERRORS, StoreError):
                rows = connection.execute(f"SELECT {FILE_COLUMNS} FROM files WHERE segment_id = ?", [row[0]])  # noqa: S608
                keys = connection.execute("SELECT update_id FROM ids WHERE segment_id = ?", [row[0]])
                files = {file[0]: SegmentFile(*file) for file in rows}
                if row[-1] is not None:
                    yield _segment(dataset, tuple(row), frozenset(key for (key,) in keys), files)


def covered(
    connection: sqlite3.Connection, dataset: Dataset, schemas: Fingerprints, window: Window, accept_provisional: bool
) -> tuple[list[Migration], list[Extent]]:
    """Return the known migrations, and the extents of final segments in a window or in total."""
    query = f"SELECT partition, start, stop FROM segments WHERE {ACCEPTED} AND {IN_WINDOW}"  # noqa: S608
    rows = connection.execute(query, [accept_provisional, *_window_values(dataset, schemas, window)])
    return migrations(connection), [dataset.extent_type.from_catalog(row, frozenset()) for row in rows]


def end_of_rows(connection: sqlite3.Connection, dataset: Dataset, schemas: Fingerprints, window: Window) -> int | None:
    """Return the end of the last segment with rows in a window, or None if there is none."""
    has_rows = "EXISTS (SELECT 1 FROM files WHERE files.segment_id = segments.segment_id AND rows > 0)"
    query = f"SELECT stop FROM segments WHERE {IN_WINDOW} AND {has_rows} ORDER BY stop DESC LIMIT 1"  # noqa: S608
    row = connection.execute(query, _window_values(dataset, schemas, window)).fetchone()
    return row and int(row[0])


def _window_values(dataset: Dataset, schemas: Fingerprints, window: Window) -> list[Any]:
    return [dataset.name, json.dumps(schemas), microseconds(window.until), microseconds(window.since)]


def stored_keys(
    connection: sqlite3.Connection, dataset: Dataset, schemas: Fingerprints, accept_provisional: bool
) -> frozenset[str]:
    """Return the update ids or object keys of the final segments of a dataset, or of all."""
    query = f"SELECT update_id FROM ids JOIN segments USING (segment_id) WHERE {ACCEPTED} AND {OF_DATASET}"  # noqa: S608
    values = [accept_provisional, dataset.name, json.dumps(schemas)]
    return frozenset(key for (key,) in connection.execute(query, values))


def _segment(dataset: Dataset, row: Sequence[Any], keys: frozenset[str], files: dict[str, SegmentFile]) -> Segment:
    segment_id, _, partition, start, stop, status, source, fetched_at, written_by, fingerprint, checksum = row
    if checksum not in (None, _checksum(row[:-2], keys, files.values())):  # None if an earlier version has written the row
        raise StoreError(f"The record of segment {segment_id} in the catalog is damaged. {DAMAGE_STEP}")
    extent = dataset.extent_type.from_catalog(None if partition is None else (partition, start, stop), keys)
    return Segment(segment_id, dataset.name, extent, status, source, fetched_at, written_by, files, fingerprint)


def add_segment(connection: sqlite3.Connection, segment: Segment, *, is_compared: bool = True) -> None:
    """Add a segment with its files, and whether its events were compared with others."""
    row, keys = _row(segment), segment.extent.keys
    connection.execute(
        "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [*row, segment.fingerprint, _checksum(row, keys, segment.files.values()), is_compared],
    )
    connection.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", [(segment.segment_id, *file) for file in segment.files.values()]
    )
    connection.executemany("INSERT INTO ids VALUES (?, ?)", [(segment.segment_id, key) for key in sorted(keys)])


def _row(segment: Segment) -> tuple[Any, ...]:
    """Return the values of the columns of a segment."""
    catalog_range = segment.extent.catalog_range or (None, None, None)
    facts = (segment.status, segment.source, segment.fetched_at, segment.written_by)
    return (segment.segment_id, segment.dataset, *catalog_range, *facts)


def _checksum(row: Sequence[Any], keys: Collection[str], files: Iterable[SegmentFile]) -> int:
    """Return a checksum of everything that the catalog says about a segment."""
    return zlib.crc32(repr((tuple(row), sorted(keys), sorted(map(tuple, files)))).encode())


def identity(segment: Segment) -> dict[str, Any]:
    """Return what the catalog says about a segment, as JSON values for its files."""
    columns = [name.strip() for name in SEGMENT_COLUMNS.split(",")]
    values = dict(zip(columns, _row(segment), strict=True))
    return {
        **values,
        "fingerprint": segment.fingerprint,
        "keys": sorted(segment.extent.keys),
        "written_at": time.time_ns() // 1000,
    }


def remove_segment(connection: sqlite3.Connection, segment_id: str) -> None:
    """Remove a segment, but not its files, which readers of older snapshots may need."""
    connection.execute("DELETE FROM segments WHERE segment_id = ?", [segment_id])


def replace_segments(connection: sqlite3.Connection, old: Sequence[Segment], new: Segment) -> bool:
    """Replace several segments with one if all still exist, and return whether they do."""
    query = "SELECT compared FROM segments WHERE segment_id = ?"
    rows = [connection.execute(query, [segment.segment_id]).fetchone() for segment in old]
    if None in rows:
        return False
    for segment in old:
        remove_segment(connection, segment.segment_id)
    add_segment(connection, new, is_compared=all(compared for (compared,) in rows))
    return True


def file_paths(connection: sqlite3.Connection) -> set[str]:
    """Return the path of every committed file, of any schema."""
    return {path for (path,) in connection.execute("SELECT path FROM files")}


# -- migrations -----------------------------------------------------------------------------------------------------


def migrations(connection: sqlite3.Connection) -> list[Migration]:
    """Return the known migrations, in order."""
    return [
        Migration(*row) for row in connection.execute("SELECT migration_id, first, ended FROM migrations ORDER BY migration_id")
    ]


def save_migration(connection: sqlite3.Connection, migration: Migration) -> None:
    """Save the bounds of a migration, and retain the earliest times."""
    connection.execute(
        "INSERT INTO migrations VALUES (?, ?, ?) ON CONFLICT (migration_id) DO UPDATE SET first = min(first, excluded.first), "
        "ended = CASE WHEN ended IS NULL THEN excluded.ended ELSE min(ended, coalesce(excluded.ended, ended)) END",
        [migration.migration_id, migration.first, migration.ended],
    )


# -- values ---------------------------------------------------------------------------------------------------------


def get_value(connection: sqlite3.Connection, name: str) -> str | None:
    """Return a saved value of the network, such as the participant whose ledger is stored."""
    row = connection.execute("SELECT value FROM facts WHERE name = ?", [name]).fetchone()
    return None if row is None else str(row[0])


def set_value(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Save a value of the network, unless it has one."""
    connection.execute("INSERT INTO facts VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [name, value])
