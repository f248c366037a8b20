"""What a table is: columns with types, meanings and sources, declared once; everything else is derived here."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.extents import record_time_filter
from ledgerframes.windows import Window

TEXT = pa.string()
INTEGER = pa.int64()
SMALL = pa.int32()
FLAG = pa.bool_()
TIME = pa.timestamp("us", tz="UTC")
AMOUNT = pa.decimal128(38, 10)
CHOICE = pa.dictionary(pa.int32(), pa.string())
TEXTS = pa.list_(pa.string())
SMALLS = pa.list_(pa.int32())
JSON = pa.string()


@dataclass(frozen=True)
class Column:
    """One column: its Arrow type, whether a value may be missing, its unit, its description and where the fact comes from."""

    name: str
    type: pa.DataType
    description: str
    reference: str
    nullable: bool = False
    unit: str = ""
    values: tuple[str, ...] = ()

    @property
    def arrow_field(self) -> pa.Field:
        """The column as an Arrow field."""
        return pa.field(self.name, self.type, nullable=self.nullable)

    @property
    def pandas_dtype(self) -> str:
        """The dtype this column has in a DataFrame, as text."""
        return str(_to_series(pa.chunked_array([], type=self.type), self).dtype)


@dataclass(frozen=True)
class Table:
    """One table, declared once.

    Attributes
    ----------
    name : str
        Plural noun.
    row_description : str
        What one row is, completing "one row per …".
    family : str
        The loader family that fills it.
    columns : tuple of Column
    key : tuple of str
        Columns that together name a row.
    sort : tuple of str
        Columns by which rows are sorted.
    is_presorted : bool
        Whether segments in order have their rows in the declared order.
    window_filter : callable or None
        Makes the Arrow expression for the rows of a window. By default, rows with a record time in it, or all rows of a table
        without record times.
    """

    name: str
    row_description: str
    family: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    sort: tuple[str, ...]
    is_presorted: bool = True
    window_filter: Callable[[Window], pc.Expression] | None = field(default=None, repr=False, compare=False)
    _by_name: dict[str, Column] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {column.name: column for column in self.columns})

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._by_name)

    def select(self, columns: Sequence[str] | None) -> list[str]:
        """The columns that were asked for, all of them by default.

        Raises
        ------
        UsageError
            If there is no such column, or one is named twice.
        """
        chosen = list(self.column_names if columns is None else columns)
        unknown = [name for name in chosen if name not in self._by_name]
        if unknown:
            raise UsageError(f"Table {self.name} has no column {unknown[0]!r}. Columns: {', '.join(self.column_names)}.")
        twice = [name for name in chosen if chosen.count(name) > 1]
        if twice:
            raise UsageError(f"Column {twice[0]} is asked for twice. Name each column once.")
        return chosen

    def filter_window(self, window: Window) -> pc.Expression | None:
        """Return an Arrow expression for the rows of a window, or None if every row passes."""
        if self.window_filter:
            return self.window_filter(window)
        return record_time_filter(window.since, window.until) if "record_time" in self._by_name else None

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with the table's name and fingerprint as metadata."""
        fields = [column.arrow_field for column in self.columns]
        return pa.schema(fields, metadata={"ledgerframes.table": self.name, "ledgerframes.fingerprint": self.fingerprint})

    @functools.cached_property
    def fingerprint(self) -> str:
        """A short digest of names and types; a file with another fingerprint was written by another version."""
        text = ";".join(f"{c.name}:{c.type}:{c.nullable}" for c in self.columns)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def empty_arrow(self) -> pa.Table:
        """The table without rows, in Arrow."""
        return self.schema.empty_table()

    def empty(self) -> pd.DataFrame:
        """The table without rows, with every column and dtype it always has."""
        return self.to_pandas(self.empty_arrow())

    def from_arrays(self, columns: dict[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
        """Put finished columns together; a missing value where none may be is a DecodeError."""
        for name in self._never_missing:
            if columns[name].null_count:
                raise DecodeError(f"Table {self.name}: column {name} has a missing value where the API promises one.")
        return pa.Table.from_arrays([columns[name] for name in self._by_name], schema=self.schema)

    @cached_property
    def _never_missing(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if not column.nullable)

    def sorted(self, rows: pa.Table) -> pa.Table:
        """Rows in the declared order; Arrow cannot sort by dictionaries, so those are compared as text."""
        keys = {name: _sortable(rows[name]) for name in self.sort}
        return rows.take(pc.sort_indices(pa.table(keys), [(name, "ascending") for name in self.sort]))

    def from_rows(self, rows: Sequence[Sequence[object]]) -> pd.DataFrame:
        """A DataFrame of a few rows given as Python values, in the order of the columns."""
        columns = list(zip(*rows, strict=True)) or [()] * len(self.columns)
        return self.to_pandas(
            pa.table([pa.array(values, c.type) for values, c in zip(columns, self.columns, strict=True)], self.schema)
        )

    def to_pandas(self, table: pa.Table) -> pd.DataFrame:
        """Turn Arrow columns into a plain DataFrame through the one mapping of this library.

        Integers that may be missing become ``Int64``, booleans ``boolean``, text ``str``, closed sets ``category``, times
        ``datetime64[us, UTC]``, lists and amounts ArrowDtype: no column is ``object``, no integer becomes a float.
        """
        series = {name: _to_series(table.column(name), self[name]) for name in table.column_names}
        return pd.DataFrame(series, index=pd.RangeIndex(table.num_rows), copy=False)


def _sortable(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(TEXT) if pa.types.is_dictionary(values.type) else values


def _to_series(values: pa.ChunkedArray, column: Column) -> pd.Series:
    return pd.Series(_to_extension(values, column), name=column.name, copy=False)


def _to_extension(values: pa.ChunkedArray, column: Column) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _to_categorical(values, column)
    if pa.types.is_boolean(kind):
        return _from_arrow(pd.BooleanDtype(), values)
    if pa.types.is_integer(kind):
        if not column.nullable:
            return _writeable(values.to_numpy())
        return _from_arrow(pd.Int32Dtype() if kind.bit_width == 32 else pd.Int64Dtype(), values)
    if pa.types.is_timestamp(kind):
        return _from_arrow(pd.DatetimeTZDtype("us", "UTC"), values)
    if pa.types.is_string(kind):
        return _from_arrow(pd.StringDtype(na_value=np.nan), values)
    return pd.arrays.ArrowExtensionArray(values.cast(kind))  # files name the items of lists otherwise


def _writeable(values: Any) -> Any:
    """A column that its reader may change: Arrow's own memory must not be."""
    return values if values.flags.writeable else values.copy()


def _from_arrow(dtype: Any, values: pa.ChunkedArray) -> Any:
    """Arrow to pandas without a Python object per cell, by the dtype's own method, which the stubs do not know."""
    return dtype.__from_arrow__(values)


def _to_categorical(values: pa.ChunkedArray, column: Column) -> Any:
    """Categories are the declared closed set first, so that two frames of one table always have the same dtype."""
    texts = values.cast(pa.string()).combine_chunks()
    found = [text for text in texts.unique().to_pylist() if text is not None and text not in column.values]
    categories: Any = pd.Index([*column.values, *sorted(found)], dtype="str")
    codes = texts.dictionary_encode()
    position = {text: index for index, text in enumerate(categories)}
    lookup = np.array([position[text] for text in codes.dictionary.to_pylist()] + [-1], dtype=np.int32)
    indices = codes.indices.fill_null(len(lookup) - 1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(lookup[indices], categories=categories)
