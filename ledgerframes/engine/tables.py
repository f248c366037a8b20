"""Stored tables that queries read.

DuckDB reads the files of a large table by itself, unless they are in an object store or of another schema: then Arrow reads them.
A query reads a table as often as its relations name it, and opens all row groups each time. For a small table, this takes most of
the time of the query, so Arrow reads its columns once, and they are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Protocol
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.engine.file_scan import FileScan
from ledgerframes.settings import EngineSettings

MAX_ROWS = 100_000
MAX_COLUMN_BYTES = 8_000_000  # of a column that is kept; payloads can be larger


class Tables(Protocol):
    """Stored tables that queries read, such as those of frames."""

    engine: EngineSettings

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        """Return the rows of one table. Texts can stay in the dictionaries of its files."""

    def count_rows(self, table: str, *, at_most: bool = False) -> int:
        """Count the rows of one table, or return a number that they do not exceed. None is read."""

    def _file_scan(self, table: str) -> FileScan | None:
        """Return the scan of one table by DuckDB, or None if it must be read through Arrow."""


class SmallTable(ds.UnionDataset):  # type: ignore[misc]
    """Rows of a dataset whose scans keep the columns that they read."""

    def __init__(self, rows: ds.Dataset) -> None:
        super().__init__(rows.schema, [rows])
        self.rows = rows
        self._columns: dict[str, pa.ChunkedArray] = {}
        self._lock = Lock()

    def scanner(self, *, columns: Sequence[str] | None = None, filter: pc.Expression | None = None) -> ds.Scanner:  # noqa: A002
        """Return a scan of columns of the rows that match an expression."""
        if not columns:
            return self.rows.scanner(columns=columns, filter=filter)
        # An expression does not list its columns, but its text contains their names. A name too many does no harm.
        text = "" if filter is None else str(filter)
        names = [name for name in self.schema.names if name in columns or name in text]
        return ds.dataset(self._read(names)).scanner(columns=list(columns), filter=filter)

    def _read(self, names: Sequence[str]) -> pa.Table:
        """Return columns as a table, from memory if they were read before."""
        with self._lock:
            absent = [name for name in names if name not in self._columns]
            read = self.rows.to_table(columns=absent) if absent else None
            columns = {name: self._columns[name] if read is None or name not in absent else read[name] for name in names}
            self._columns |= {name: column for name, column in columns.items() if column.nbytes <= MAX_COLUMN_BYTES}
        return pa.table(columns)


_limits: WeakKeyDictionary[Tables, dict[str, int]] = WeakKeyDictionary()
_small: WeakKeyDictionary[Tables, dict[str, SmallTable]] = WeakKeyDictionary()


def max_rows_of(tables: Tables, name: str) -> int:
    """Return a number that the rows of a table do not exceed, computed once."""
    limits = _limits.setdefault(tables, {})
    if name not in limits:
        limits[name] = tables.count_rows(name, at_most=True)
    return limits[name]


def table_rows(tables: Tables, name: str) -> FileScan | ds.Dataset:
    """Return the rows of a table for queries.

    Columns of a small table are kept as long as the tables live.
    """
    if max_rows_of(tables, name) > MAX_ROWS:
        return tables._file_scan(name) or tables.scan(name, with_dictionaries=True)
    small = _small.setdefault(tables, {})
    if name not in small:
        small[name] = SmallTable(tables.scan(name, with_dictionaries=True))
    return small[name]
