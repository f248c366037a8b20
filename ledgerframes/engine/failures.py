"""Failures of DuckDB that are not the fault of a query."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ledgerframes.errors import StoreError, UsageError
from ledgerframes.settings import EngineSettings
from ledgerframes.store.scan import LOST_FILE_STEP, damaged_file_error

# DuckDB names the source if one scan reads it, the stream if several do, and its object if not even the first rows can be read.
SOURCE_FAILURE = re.compile(
    r"(?:reading the (?:Arrow source|stream registered as '\w+')|exporting a stream from the object registered as '\w+')"
    r" failed: (.*)",
    re.DOTALL,
)
DETAIL = " Detail: Python exception:"  # a traceback follows


def failure_of(error: Exception, tables: Iterable[str], settings: EngineSettings) -> StoreError | UsageError | None:
    """Return our error for a damaged file or too little memory, or None for other failures."""
    import duckdb

    if isinstance(error, duckdb.OutOfMemoryException):
        return _memory_error(error, settings)
    # The files are whole when a query begins, so it can only miss one that was deleted since, or that the disk cannot read.
    if isinstance(error, duckdb.IOException) and ".parquet" in str(error):
        return StoreError(f"A file of table {' or '.join(tables)} was pruned or lost: {_first_line(error)}. {LOST_FILE_STEP}")
    damage = SOURCE_FAILURE.search(str(error))
    return damaged_file_error(" or ".join(tables), damage[1].partition(DETAIL)[0]) if damage else None


def _first_line(error: Exception) -> str:
    return " ".join(str(error).partition("\n\n")[0].split())


def _memory_error(error: Exception, settings: EngineSettings) -> UsageError:
    limit = settings.memory_limit or "the default"
    more_space = "" if settings.spill_dir else "set spill_dir= to a directory with more space, "
    return UsageError(
        f"The query needs more memory than memory_limit={limit} allows: {_first_line(error)}. Set memory_limit= higher, "
        f"{more_space}or choose a shorter window or fewer columns, because the result must fit, too."
    )
