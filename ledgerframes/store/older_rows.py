"""Rows of files of another schema, read as rows of a table of this version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets.older_schemas import SchemaMapping


@dataclass(frozen=True)
class OlderRows:
    """Rows of files of one other schema, with the methods of a dataset that reading needs.

    Filters are those of the store, whose columns have had the same names in all versions.
    """

    files: ds.Dataset  # with the columns of the files, and those that they do not have
    mapping: SchemaMapping

    @property
    def schema(self) -> pa.Schema:
        """The schema of the table."""
        return self.mapping.table.schema

    def to_table(self, columns: Sequence[str] | None = None, filter: pc.Expression | None = None) -> pa.Table:  # noqa: A002
        """Read columns of the rows that match a filter, in order."""
        names = self.schema.names if columns is None else list(columns)
        rows = self.files.to_table(columns=self.mapping.stored_columns(names), filter=filter)
        return self.mapping.apply(rows, names)

    def to_batches(self, columns: Sequence[str], filter: pc.Expression | None = None) -> Iterator[pa.RecordBatch]:  # noqa: A002
        """Iterate over columns of the rows that match a filter, in order."""
        for batch in self.files.to_batches(columns=self.mapping.stored_columns(columns), filter=filter):
            yield self.mapping.apply(batch, columns)

    def count_rows(self) -> int:
        """Count the rows."""
        return int(self.files.count_rows())


def wrap_rows(files: ds.Dataset, mapping: SchemaMapping) -> OlderRows:
    """Return the rows of files whose schema has this mapping."""
    absent = [mapping.table.schema.field(name) for name in mapping.table.column_names if name in mapping.absent_columns]
    return OlderRows(files.replace_schema(pa.schema([*mapping.schema, *absent])), mapping)


Rows: TypeAlias = ds.Dataset | OlderRows
