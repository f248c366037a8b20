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


def open_database(settings: EngineSettings, directory: str, readable: Iterable[str] = ()) -> DuckDBPyConnection:
    """Open a locked-down database in memory, which spills to a directory and reads others."""
    import duckdb  # late: most commands run no query

    limits: dict[str, Option | None] = {"threads": settings.threads, "memory_limit": settings.memory_limit}
    config = {name: value for name, value in limits.items() if value is not None}
    connection = duckdb.connect(":memory:", config={**LOCKED_DOWN_OPTIONS, **config, "temp_directory": directory})
    connection.execute(f"SET GLOBAL allowed_directories = {array_of(f'{each}/' for each in readable)}")
    connection.execute("SET GLOBAL enable_external_access = false")  # which ends changes of the directories
    return connection


def temporary_dir(settings: EngineSettings) -> TemporaryDirectory[str]:
    """Return a new temporary directory for data that exceed the memory.

    Raises
    ------
    UsageError
        If it cannot be created.
    """
    try:
        if settings.spill_dir:
            settings.spill_dir.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(prefix="ledgerframes-", dir=settings.spill_dir, ignore_cleanup_errors=True)
    except OSError as error:
        raise directory_error(settings, error) from error


def directory_error(settings: EngineSettings, error: OSError) -> UsageError:
    """Return the error for a temporary directory that cannot be written."""
    parent = f"spill_dir={str(settings.spill_dir)!r}" if settings.spill_dir else "the directory of temporary files"
    return UsageError(f"Cannot write to {parent}: {error.strerror}. Set spill_dir= to another directory.")


@contextmanager
def connected(settings: EngineSettings, directories: frozenset[str] = frozenset()) -> Iterator[DuckDBPyConnection]:
    """Open a connection in UTC to the files in some directories and to registered tables."""
    with closing(_database(settings, directories).connection.cursor()) as connection:
        for setting in OF_CURSOR:
            connection.execute(f"SET {setting}")
        yield connection


@dataclass(frozen=True)
class _Database:
    """An empty database in memory, and the directory to which its queries spill."""

    connection: DuckDBPyConnection
    directory: TemporaryDirectory[str]

    def close(self) -> None:
        """Close the database before Python exits and complains, and remove the directory."""
        self.connection.close()
        self.directory.cleanup()
        _database.cache_clear()


@cache
def _database(settings: EngineSettings, directories: frozenset[str]) -> _Database:
    """Open a database once per process, because opening takes longer than a small query."""
    with ExitStack() as opened:  # Ctrl-C leaves nothing open
        directory = temporary_dir(settings)
        opened.callback(directory.cleanup)
        connection = opened.enter_context(closing(open_database(settings, directory.name, directories)))
        for setting in OF_DATABASE:
            connection.execute(f"SET GLOBAL {setting}")
        opened.pop_all()
    database = _Database(connection, directory)
    atexit.register(database.close)
    return database
