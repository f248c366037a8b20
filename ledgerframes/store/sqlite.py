"""The one way to open and seal the SQLite files of catalog and journal.

A killed writer leaves a hot rollback journal next to its file. The next connection has to roll it back, which a read-only
connection cannot do. So every connection may write, and readers are limited by ``PRAGMA query_only``.
"""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from ledgerframes.errors import StoreError
from ledgerframes.long_waits import MIN_SECONDS, tell
from ledgerframes.store.location import inaccessible_error, not_writable_error
from ledgerframes.store.private_files import make_durable_dir, restrict

BUSY_SECONDS = 120.0
# Primary error codes that say nothing about the content: PERM, BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN.
ACCESS_CODES = frozenset({3, 5, 6, 8, 10, 13, 14})
LOCK_CODES = frozenset({5, 6})
READ_ONLY_CODES = frozenset({3, 8, 13, 14})  # PERM, READONLY, FULL, CANTOPEN
MAX_PROBLEMS = 3
SEAL_TABLE = "CREATE TABLE seal (digest TEXT NOT NULL)"
UNSEALED = "unsealed"
NO_SEAL_YET = f"INSERT INTO seal VALUES ('{UNSEALED}')"  # noqa: S608 - of rows that an earlier version wrote
DECLARED_TABLES = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
BROKEN_SEAL = "its rows differ from those that were written"


@dataclass(frozen=True)
class Schema:
    """The tables of a file, and what its seal covers."""

    version: int  # as ``PRAGMA user_version``
    tables: str  # statements that create them
    upgrades: Mapping[int, str]  # statements that bring tables of a version to the next one
    # By version, queries that return no rows before anything is written. A file without them has no seal.
    sealed: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def script(self, version: int) -> list[str]:
        """Return the statements for a file of this version, 0 if it has no tables."""
        scripts = [self.upgrades[each] for each in range(version, self.version)] if version else [self.tables]
        return [statement.strip() for script in scripts for statement in script.split(";") if statement.strip()]

    def has_intact_seal(self, connection: sqlite3.Connection, version: int | None = None) -> bool:
        """Return whether the rows of a file of this version are those of the last write."""
        queries = self._sealed_queries(version)
        if not queries:
            return True
        # A file of an earlier version without a seal is trusted until its first write.
        seals = [digest for (digest,) in connection.execute("SELECT digest FROM seal")]
        if not seals:
            return all(connection.execute(query).fetchone() is None for query in queries)
        return seals in ([_digest(connection, queries)], [UNSEALED])

    def seal(self, connection: sqlite3.Connection) -> None:
        """Seal the rows as they are now."""
        if queries := self._sealed_queries():
            digest = _digest(connection, queries)
            connection.execute("DELETE FROM seal")
            connection.execute("INSERT INTO seal VALUES (?)", [digest])

    def reseal(self, connection: sqlite3.Connection) -> None:
        """Seal the rows after an upgrade, if they were sealed before it."""
        seals = [digest for (digest,) in connection.execute("SELECT digest FROM seal")] if self._sealed_queries() else []
        if seals not in ([], [UNSEALED]):
            self.seal(connection)

    def _sealed_queries(self, version: int | None = None) -> tuple[str, ...]:
        return self.sealed.get(self.version if version is None else version, ())


def _digest(connection: sqlite3.Connection, queries: Sequence[str]) -> str:
    """Return a digest of the declared tables and of the rows of these queries."""
    digest = hashlib.blake2b(digest_size=16)
    for query in (DECLARED_TABLES, *queries):
        for row in connection.execute(query):
            digest.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@dataclass(frozen=True)
class Database:
    """One SQLite file, to which each use opens its own connection."""

    path: Path
    schema: Schema
    noun: str  # in messages
    damage_step: str  # the next step if the file is damaged
    display_name: str = ""  # in messages, the path by default
    synchronous: str = "FULL"  # EXTRA also syncs the directory, so that a power cut cannot bring an older state back
    root: Path | None = None  # of the store, whose permissions hold below it; without one the file is private
    refuse_loss: Callable[[], None] = lambda: None  # raises an error if a file without tables has been lost

    @contextmanager
    def read_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that only reads, on empty tables if nothing was ever written."""
        with self._unchecked_read_transaction() as connection:
            self._require_intact_seal(connection)
            yield connection

    @contextmanager
    def _unchecked_read_transaction(self) -> Iterator[sqlite3.Connection]:
        with self._store_errors(), ExitStack() as stack:
            connection = self._open_file_or_memory(stack)
            if self._version(connection) < self.schema.version:
                self._run_when_free(connection, "BEGIN IMMEDIATE")
                self._upgrade(connection)
                connection.execute("COMMIT")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection

    def _open_file_or_memory(self, stack: ExitStack) -> sqlite3.Connection:
        """Open the file, or an empty one in memory if it has no tables."""
        if self._exists():
            connection = stack.enter_context(closing(self._connect("rw")))
            if self._version(connection):
                return connection
        self.refuse_loss()
        return stack.enter_context(closing(self._connect("memory")))

    @contextmanager
    def write_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a connection inside one transaction, which is on the disk when the block ends."""
        try:
            make_durable_dir(self.path.parent, self.root or self.path.parent)
            is_new = not self.path.exists()
        except OSError as error:
            raise not_writable_error(self.path.parent, error) from error
        with self._store_errors(), closing(self._connect("rwc")) as connection:
            self._run_when_free(connection, "BEGIN IMMEDIATE")
            if is_new:
                restrict(self.path, is_private=self.root is None)
            self._upgrade(connection)
            self._require_intact_seal(connection)  # so that no damage is sealed
            yield connection
            self.schema.seal(connection)
            connection.execute("COMMIT")

    def _run_when_free(self, connection: sqlite3.Connection, statement: str) -> sqlite3.Cursor:
        """Run a statement once no other process prevents it, and tell of a long wait."""
        left = BUSY_SECONDS - MIN_SECONDS
        connection.execute(f"PRAGMA busy_timeout = {min(BUSY_SECONDS, MIN_SECONDS) * 1000:.0f}")
        try:
            return connection.execute(statement)
        except sqlite3.OperationalError as error:
            if _primary_code(error) not in LOCK_CODES or left <= 0:
                raise
            tell(left, f"another process uses the {self.noun} {self.name}, perhaps for less")
            connection.execute(f"PRAGMA busy_timeout = {left * 1000:.0f}")
            return connection.execute(statement)

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Create the tables, or bring them to the version of the schema."""
        version = self._version(connection)
        if version < self.schema.version:
            if not self.schema.has_intact_seal(connection, version):  # so that no damage is sealed
                raise self.damage_error(BROKEN_SEAL)
            for statement in self.schema.script(version):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {self.schema.version}")
            self.schema.reseal(connection)

    def _require_intact_seal(self, connection: sqlite3.Connection) -> None:
        if not self.schema.has_intact_seal(connection):
            raise self.damage_error(BROKEN_SEAL)

    @contextmanager
    def connection(self) -> Iterator[sqlite3.Connection]:
        """Open a connection to the file as it is, of any version."""
        with self._store_errors(), closing(self._connect("rw")) as connection:
            yield connection

    def problems(self) -> list[str]:
        """Return what a check of the file and of its seal reports, empty if it is intact."""
        with self._unchecked_read_transaction() as connection:
            return integrity_problems(connection) or ([] if self.schema.has_intact_seal(connection) else [BROKEN_SEAL])

    def has_tables(self) -> bool:
        """Return whether the file exists and has tables."""
        if not self._exists():
            return False
        with self._store_errors(), closing(self._connect("rw")) as connection:
            return self._version(connection) > 0

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:  # a directory that this user may not enter, or a name that is too long
            raise inaccessible_error(self.path.parent, error) from error

    def is_known_version(self) -> bool:
        """Return whether the file is not newer than this version, as far as it can be read."""
        with suppress(sqlite3.DatabaseError), closing(self._connect("rw")) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0]) <= self.schema.version
        return True

    def damage_error(self, reason: object) -> StoreError:
        """Return the error for a damaged file."""
        return StoreError(f"Cannot read the {self.noun} {self.name}: {reason}. {self.damage_step}", path=self.name)

    def _lock_error(self, reason: object) -> StoreError:
        return StoreError(
            f"Another process has used the {self.noun} {self.name} for more than {BUSY_SECONDS:.0f} s ({reason}). "
            "Wait until it ends, then run again.",
            path=self.name,
        )

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.display_name or str(self.path)

    def _connect(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            self._run_when_free(connection, f"PRAGMA synchronous = {self.synchronous}")  # the first that reads the file
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: sqlite3.Connection) -> int:
        """Return the version of the tables, or 0 without tables, and refuse a newer one."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > self.schema.version:
            raise StoreError(
                f"The {self.noun} {self.name} has schema {version}, newer than {self.schema.version}. Upgrade ledgerframes.",
                path=self.name,
            )
        return version

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _primary_code(error) in LOCK_CODES:
                raise self._lock_error(error) from error
            if is_access_error(error):
                raise not_writable_error(self.path.parent, error) from error
            raise self.damage_error(error) from error
        except UnicodeDecodeError as error:  # of damaged text, or of a message that quotes it
            raise self.damage_error("its text is not UTF-8") from error


def is_access_error(error: BaseException | None) -> bool:
    """Return whether an error says nothing about the content of the file."""
    return isinstance(error, OSError) or _primary_code(error) in ACCESS_CODES


def is_read_only_error(error: StoreError) -> bool:
    """Return whether a store cannot be written, other than because another process uses it."""
    return isinstance(error.__cause__, OSError) or _primary_code(error.__cause__) in READ_ONLY_CODES


@contextmanager
def errors_of_target(path: Path) -> Iterator[None]:
    """Raise errors of a copy as OSError, because they are no fault of the store."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = _primary_code(error)
        if code == sqlite3.SQLITE_NOTADB:
            raise FileExistsError(errno.EEXIST, "The file exists and is not a catalog", str(path)) from error
        if code not in READ_ONLY_CODES:
            raise
        if not path.parent.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent)) from error
        number = errno.ENOSPC if code == sqlite3.SQLITE_FULL else errno.EACCES
        raise OSError(number, os.strerror(number), str(path)) from error


def _primary_code(error: BaseException | None) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_in_memory(connection: sqlite3.Connection) -> bool:
    """Return whether a connection has no file."""
    return not connection.execute("PRAGMA database_list").fetchone()["file"]


def integrity_problems(connection: sqlite3.Connection) -> list[str]:
    """Return what an integrity check reports, at most three findings."""
    rows = connection.execute(f"PRAGMA integrity_check({MAX_PROBLEMS})").fetchall()
    if [tuple(row) for row in rows] == [("ok",)]:
        rows = connection.execute("PRAGMA foreign_key_check").fetchmany(MAX_PROBLEMS)
    return [" ".join(map(str, row)) for row in rows]
