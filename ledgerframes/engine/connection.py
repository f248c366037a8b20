"""Connections to DuckDB, and their settings."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A query can read what is registered only: no file, no network, no variable of the caller.
LOCKED_DOWN_OPTIONS = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}


@dataclass(frozen=True)
class EngineSettings:
    """Limits of a query.

    Attributes
    ----------
    threads : int, optional
        Threads of one query (default: one per core).
    memory_limit : str, optional
        Memory of one query, such as ``"4GB"``, beyond which it writes to a disk (default: four fifths of the machine's).
    spill_folder : Path, optional
        Folder to write to (default: a temporary one).
    """

    threads: int | None = None
    memory_limit: str | None = None
    spill_folder: Path | None = None

    @property
    def options(self) -> dict[str, str | int]:
        """The settings that are set, as DuckDB names them."""
        values = {"threads": self.threads, "memory_limit": self.memory_limit}
        return {name: value for name, value in values.items() if value is not None}


DEFAULT_SETTINGS = EngineSettings()


@contextmanager
def connected(settings: EngineSettings) -> Iterator[DuckDBPyConnection]:
    """Open a connection in UTC that can read what is registered with it only."""
    with closing(_database(settings).connection.cursor()) as connection:
        # No relation has an order, so that the engine need not keep one.
        connection.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false; SET preserve_insertion_order = false")
        yield connection


@dataclass(frozen=True)
class _Database:
    """An empty database in memory, and the folder to which its queries spill."""

    connection: DuckDBPyConnection
    folder: TemporaryDirectory[str]

    def close(self) -> None:
        """End the database before Python ends, which would complain, and remove the folder."""
        self.connection.close()
        self.folder.cleanup()
        _database.cache_clear()


@cache
def _database(settings: EngineSettings) -> _Database:
    """Open a database once in a process, because that takes longer than a small query."""
    import duckdb  # late: most commands run no query

    folder = TemporaryDirectory(prefix="ledgerframes-", dir=settings.spill_folder, ignore_cleanup_errors=True)
    config: dict[str, str | bool | int | float | list[str]] = {**LOCKED_DOWN_OPTIONS, **settings.options}
    database = _Database(duckdb.connect(":memory:", config={**config, "temp_directory": folder.name}), folder)
    atexit.register(database.close)
    return database
