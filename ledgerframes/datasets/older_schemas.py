"""Rows that another version wrote, as rows of a table of this version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

from ledgerframes.datasets.schema import Column, Table

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


class UnmappableError(Exception):
    """Rows of another schema that cannot become rows of the table, for the reason in the text."""


@dataclass(frozen=True)
class SchemaMapping:
    """Origin of the columns of a table in the columns of a file.

    Attributes
    ----------
    table : Table
    schema : Schema
        That of the file.
    sources : dict of str to str
        Column of the file by the column of the table that has its values.
    """

    table: Table
    schema: pa.Schema
    sources: Mapping[str, str]

    @classmethod
    def of(cls, table: Table, schema: pa.Schema) -> SchemaMapping:
        """Return the mapping from the schema of a file.

        A column that the file does not have is derived or missing.

        Raises
        ------
        UnmappableError
            If a column cannot be missing and cannot be derived, has a type that does not become that of the table without a
            loss, or is unknown. An unknown column could be one that was renamed.
        """
        sources = {column.name: name for column in table.columns if (name := _source(column, schema))}
        mapping = cls(table, schema, sources)
        if unknown := [name for name in schema.names if name not in sources.values()]:
            raise UnmappableError(f"column {unknown[0]} of table {table.name} is unknown to this version")
        for column in table.columns:
            mapping._require_mappable(column)
        return mapping

    def _require_mappable(self, column: Column) -> None:
        source = self.sources.get(column.name)
        name = f"column {column.name} of table {self.table.name}"
        if source is None:
            if not column.nullable and not self._is_derived(column):
                raise UnmappableError(f"{name} did not exist and cannot be missing")
        elif not _is_exact(self.schema.field(source).type, column.type):
            raise UnmappableError(f"{name} had type {self.schema.field(source).type}")
        elif self.schema.field(source).nullable and not column.nullable:
            raise UnmappableError(f"{name} could be missing")

    def _is_derived(self, column: Column) -> bool:
        """Return whether the file has what a column without a source is derived from."""
        has_source = column.name in self.sources
        return not has_source and column.derivation is not None and self.sources.keys() >= set(column.derivation.columns)

    @property
    def is_native(self) -> bool:
        """Whether Arrow reads the rows by itself, which fills absent columns with nulls."""
        return all(
            self.sources[column.name] == column.name and self.schema.field(column.name).type == column.type
            if column.name in self.sources
            else not self._is_derived(column)
            for column in self.table.columns
        )

    @property
    def absent_columns(self) -> frozenset[str]:
        """The columns of the table that the file says nothing about."""
        names = {column.name for column in self.table.columns if not self._is_derived(column)}
        return frozenset(names - self.sources.keys())

    def stored_columns(self, columns: Sequence[str]) -> list[str]:
        """Return the columns of the file from which these of the table follow, at least one."""
        needed = [name for column in columns for name in self._needed(self.table[column])]
        return list(dict.fromkeys(needed)) or self.schema.names[:1]

    def _needed(self, column: Column) -> list[str]:
        if self._is_derived(column):
            assert column.derivation is not None
            return [self.sources[name] for name in column.derivation.columns]
        return [self.sources[column.name]] if column.name in self.sources else []

    def apply(self, rows: Rows, columns: Sequence[str]) -> Rows:
        """Return columns of the table from rows of the file."""
        schema = pa.schema([self.table.schema.field(name) for name in columns], self.table.schema.metadata)
        return type(rows).from_arrays([self._values(rows, self.table[name]) for name in columns], schema=schema)

    def _values(self, rows: pa.Table | pa.RecordBatch, column: Column) -> pa.Array | pa.ChunkedArray:
        inputs = [rows[name] for name in self._needed(column)]
        if not inputs:
            return pa.nulls(rows.num_rows, column.type)
        values = column.derivation.function(*inputs) if column.derivation and self._is_derived(column) else inputs[0]
        return column.to_array(values, rows.num_rows)


def _source(column: Column, schema: pa.Schema) -> str | None:
    """Return the column of a file that has the values of a column, or None."""
    return next((name for name in (column.name, *column.former_names) if name in schema.names), None)


def _is_exact(old: pa.DataType, new: pa.DataType) -> bool:
    """Return whether every value of a type is also a value of another type."""
    if old == new or (_is_text(old) and _is_text(new)):
        return True
    if pa.types.is_signed_integer(old) and pa.types.is_signed_integer(new):
        return bool(old.bit_width <= new.bit_width)
    if pa.types.is_decimal(old) and pa.types.is_decimal(new):
        return bool(old.scale <= new.scale and old.precision - old.scale <= new.precision - new.scale)
    if pa.types.is_list(old) and pa.types.is_list(new):
        return _is_exact(old.value_type, new.value_type)
    return False


def _is_text(kind: pa.DataType) -> bool:
    """Return whether values are text, as they are or as those of a closed set."""
    return bool(pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind))
