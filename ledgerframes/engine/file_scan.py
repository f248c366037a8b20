"""Scans of Parquet files by DuckDB itself, which are faster than scans through Arrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from ledgerframes.engine.literals import quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class FileScan:
    """The files of one table, and which of their rows count.

    Attributes
    ----------
    directory : str
        Directory of all files of the same store.
    paths : sequence of str
        Absolute paths of the files.
    conditions : sequence of str
        Conditions in SQL that a row meets.
    update_ids : Table or None
        The only ids that count, or None for all.
    left_out : Table or None
        Keys of the rows that do not count, or None if all count.
    """

    directory: str
    paths: Sequence[str]
    conditions: Sequence[str] = ()
    update_ids: pa.Table | None = None
    left_out: pa.Table | None = None

    def select(self, update_ids: str = "update_ids", left_out: str = "left_out") -> str:
        """Return the ``SELECT`` of the rows, with these names for the two small tables."""
        files = ",\n    ".join(map(quoted, self.paths))
        conditions = " AND\n    ".join(self._conditions(update_ids, left_out))
        where = f"\nWHERE\n    {conditions}" if conditions else ""
        return f"FROM read_parquet([\n    {files}\n], hive_partitioning = false){where}"

    def _conditions(self, update_ids: str, left_out: str) -> Iterator[str]:
        yield from self.conditions
        if self.update_ids is not None:
            yield f"update_id IN (FROM {update_ids})"
        if self.left_out is not None:
            yield f"({', '.join(self.left_out.column_names)}) NOT IN (FROM {left_out})"

    def create_view(self, connection: DuckDBPyConnection, name: str) -> None:
        """Make the rows a view of a connection."""
        small = {f"{name}_update_ids": self.update_ids, f"{name}_left_out": self.left_out}
        for small_name, rows in small.items():
            if rows is not None:
                connection.register(small_name, rows)
        connection.execute(f"CREATE TEMP VIEW {name} AS {self.select(*small)}")
