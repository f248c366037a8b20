"""Connections to DuckDB, and their settings."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ledgerframes.engine.literals import array_of
from ledgerframes.errors import UsageError
from ledgerframes.settings import EngineSettings

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Option = str | bool | int | float | list[str]  # as DuckDB takes them
# Together with `enable_external_access`, these let a query read no network and no variable of the caller.
LOCKED_DOWN_OPTIONS: dict[str, Option] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
}
# For all queries. They are set once, because setting them for each query would take as long as planning a small one.
OF_DATABASE = (
    "TimeZone = 'UTC'",
    "preserve_insertion_order = false",  # no relation has an order
    # A join keeps the rows of its right side in memory, as written. DuckDB would choose a side by the number of rows, which it
    # does not know for stored tables.
    "disabled_optimizers = 'build_side_probe_side'",
    "asof_loop_join_threshold = 0",  # otherwise it would compare all pairs of rows, for the same reason
    "arrow_large_buffer_size = true",  # pandas stores texts like this, so they need no copy
    "allocator_background_threads = true",  # returns memory while a result is read, on Linux
)
OF_CURSOR = ("enable_progress_bar = true", "enable_progress_bar_print = false")  # `waiting.py` shows the progress
DEFAULT_SETTINGS = EngineSettings()


def open_database(settings: EngineSettings, folder: str, readable: Iterable[str] = ()) -> DuckDBPyConnection:
    """Open a locked-down database in memory, with a folder to spill to and folders to read."""
    import duckdb  # late: most commands run no query

    limits: dict[str, Option | None] = {"threads": settings.threads, "memory_limit": settings.memory_limit}
    config = {name: value for name, value in limits.items() if value is not None}
    connection = duckdb.connect(":memory:", config={**LOCKED_DOWN_OPTIONS, **config, "temp_directory": folder})
    connection.execute(f"SET GLOBAL allowed_directories = {array_of(f'{each}/' for each in readable)}")
    connection.execute("SET GLOBAL enable_external_access = false")  # which ends changes of the folders
    return connection


def temporary_folder(settings: EngineSettings) -> TemporaryDirectory[str]:
    """Return a new temporary folder for data that exceed the memory.

    Raises
    ------
    UsageError
        If it cannot be created.
    """
    try:
        if settings.spill_folder:
            settings.spill_folder.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(prefix="ledgerframes-", dir=settings.spill_folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise folder_error(settings, error) from error


def folder_error(settings: EngineSettings, error: OSError) -> UsageError:
    """Return the error for a temporary folder that cannot be written."""
    parent = f"spill_folder={str(settings.spill_folder)!r}" if settings.spill_folder else "the folder of temporary files"
    return UsageError(f"Cannot write to {parent}: {error.strerror}. Set spill_folder= to another folder.")


@contextmanager
def connected(settings: EngineSettings, folders: frozenset[str] = frozenset()) -> Iterator[DuckDBPyConnection]:
    """Open a connection in UTC to the files in some folders and to registered tables."""
    with closing(_database(settings, folders).connection.cursor()) as connection:
        for setting in OF_CURSOR:
            connection.execute(f"SET {setting}")
        yield connection


@dataclass(frozen=True)
class _Database:
    """An empty database in memory, and the folder to which its queries spill."""

    connection: DuckDBPyConnection
    folder: TemporaryDirectory[str]

    def close(self) -> None:
        """Close the database before Python exits and complains, and remove the folder."""
        self.connection.close()
        self.folder.cleanup()
        _database.cache_clear()


@cache
def _database(settings: EngineSettings, folders: frozenset[str]) -> _Database:
    """Open a database once per process, because opening takes longer than a small query."""
    with ExitStack() as opened:  # Ctrl-C leaves nothing open
        folder = temporary_folder(settings)
        opened.callback(folder.cleanup)
        connection = opened.enter_context(closing(open_database(settings, folder.name, folders)))
        for setting in OF_DATABASE:
            connection.execute(f"SET GLOBAL {setting}")
        opened.pop_all()
    database = _Database(connection, folder)
    atexit.register(database.close)
    return database
