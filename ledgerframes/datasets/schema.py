"""Declarations of tables and columns, and everything that follows from them."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.values import decimals, extents
from ledgerframes.values.windows import Window

TEXT = pa.string()
INTEGER = pa.int64()
SMALL = pa.int32()
FLAG = pa.bool_()
TIME = extents.TIME
AMOUNT = decimals.AMOUNT
CHOICE = pa.dictionary(pa.int32(), pa.string())
TEXTS = pa.list_(pa.string())
SMALLS = pa.list_(pa.int32())
JSON = pa.string()

SCALARS = (str, int, datetime)


@dataclass(frozen=True)
class Derivation:
    """Computation of a column from others, for rows of a version that did not have it.

    Attributes
    ----------
    columns : tuple of str
    function : callable
        From the values of these columns to those of the derived one.
    """

    columns: tuple[str, ...]
    function: Callable[..., pa.Array | pa.ChunkedArray]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    type : DataType
        Arrow type.
    meaning : str
        Noun phrase, and sentences about its values.
    reference : str, optional
        Link to the fact that the column rests on (default: that of its table).
    missing : str, optional
        When a value is missing, such as ``if it is not sent`` (default: never).
    unit : str, optional
        Unit of numbers, or ``JSON`` for text that is JSON. Times have theirs by default.
    values : tuple of str, optional
        Closed set of values, if the column has one.
    from_field : str, optional
        Field of the wire struct that the column copies, if that has another name.
    former_names : tuple of str, optional
        Names of the column in earlier versions, by which their rows are read. Scans filter files before they rename columns, so
        a column by which the store filters rows cannot have any.
    derivation : Derivation, optional
        How rows of a version without the column get its values (default: they are missing).
    """

    name: str
    type: pa.DataType
    meaning: str
    reference: str = ""
    missing: str = ""
    unit: str = ""
    values: tuple[str, ...] = ()
    from_field: str = ""
    former_names: tuple[str, ...] = ()
    derivation: Derivation | None = None

    def __post_init__(self) -> None:
        if self.type == TIME and not self.unit:
            object.__setattr__(self, "unit", "UTC, microseconds")

    @property
    def nullable(self) -> bool:
        """Whether a value may be missing."""
        return bool(self.missing)

    @property
    def description(self) -> str:
        """Meaning of the values, and when one is missing."""
        return f"{self.meaning} Missing {self.missing}." if self.missing else self.meaning

    @property
    def is_json(self) -> bool:
        """Whether the text of the column is JSON."""
        return self.unit == "JSON"

    @property
    def arrow_field(self) -> pa.Field:
        """Arrow field of the column."""
        return pa.field(self.name, self.type, nullable=self.nullable)

    @property
    def value_type(self) -> pa.DataType:
        """Arrow type of the values, before those of a closed set are encoded."""
        return self.type.value_type if pa.types.is_dictionary(self.type) else self.type

    def to_array(self, values: Any, count: int) -> pa.Array | pa.ChunkedArray:
        """Return the values of rows, or the one value of all, as an array of this type."""
        if isinstance(values, SCALARS):
            values = pa.repeat(pa.scalar(values, self.value_type), count)
        elif not isinstance(values, pa.Array | pa.ChunkedArray):
            values = pa.array(values, self.value_type)
        if values.type == self.type:
            return values
        return values.dictionary_encode() if pa.types.is_dictionary(self.type) else values.cast(self.type)

    @property
    def pandas_dtype(self) -> str:
        """Name of the dtype that the column has in a DataFrame."""
        return str(_to_series(pa.chunked_array([], type=self.type), self).dtype)


@dataclass(frozen=True)
class Table:
    """One table, declared once.

    Attributes
    ----------
    name : str
        Plural noun.
    row_description : str
        Noun phrase that completes "one row per …".
    family : str
        Family of loaders that fill the table.
    columns : tuple of Column
    key : tuple of str
        Columns that identify a row together.
    sort : tuple of str, optional
        Columns by which rows are sorted (default: the key).
    is_presorted : bool
        Whether segments in order have their rows in the declared order.
    window_filter : callable or None
        Makes the Arrow expression for the rows of a window. By default, rows with a record time in it, or all rows of a table
        without record times.
    reference : str, optional
        Link to the fact that columns rest on, unless they name another.
    """

    name: str
    row_description: str
    family: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    sort: tuple[str, ...] = ()
    is_presorted: bool = True
    window_filter: Callable[[Window], pc.Expression] | None = field(default=None, repr=False, compare=False)
    reference: str = ""
    _by_name: dict[str, Column] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        columns = tuple(each if each.reference else replace(each, reference=self.reference) for each in self.columns)
        by_name = {column.name: column for column in columns}
        for name, value in {"columns": columns, "sort": self.sort or self.key, "_by_name": by_name}.items():
            object.__setattr__(self, name, value)

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._by_name)

    def select(self, columns: Sequence[str] | None) -> list[str]:
        """Return the names of the columns to read, by default all of them.

        Raises
        ------
        UsageError
            If a column is unknown or named twice.
        """
        selected = list(self.column_names if columns is None else columns)
        self._require_known(selected)
        repeated = [name for name in selected if selected.count(name) > 1]
        if repeated:
            raise UsageError(f"columns= contains {repeated[0]!r} twice. Name each column once.")
        return selected

    def _require_known(self, names: Iterable[str]) -> None:
        unknown = [name for name in names if name not in self._by_name]
        if unknown:
            raise UsageError(f"Unknown column {unknown[0]!r} of table {self.name}. Choose from {', '.join(self.column_names)}.")

    def filter_window(self, window: Window) -> pc.Expression | None:
        """Return an Arrow expression for the rows of a window, or None if every row passes."""
        if self.window_filter:
            return self.window_filter(window)
        return extents.record_time_filter(window.since, window.until) if "record_time" in self._by_name else None

    @cached_property
    def schema(self) -> pa.Schema:
        """Arrow schema, with the table's name and fingerprint as metadata."""
        fields = [column.arrow_field for column in self.columns]
        return pa.schema(fields, metadata={"ledgerframes.table": self.name, "ledgerframes.fingerprint": self.fingerprint})

    @functools.cached_property
    def fingerprint(self) -> str:
        """Short digest of names and types, by which files of another version are recognized."""
        return fingerprint([column.arrow_field for column in self.columns])

    def empty_arrow(self) -> pa.Table:
        """Return the table without rows, in Arrow."""
        return self.schema.empty_table()

    def empty(self) -> pd.DataFrame:
        """Return the table without rows, with every column and dtype."""
        return self.to_pandas(self.empty_arrow())

    def from_arrays(self, columns: Mapping[str, Any]) -> pa.Table:
        """Return a table of columns, with nulls for the nullable columns that are not passed.

        Parameters
        ----------
        columns : mapping
            Arrow arrays, values of the rows, or one value for all rows, by column.

        Raises
        ------
        UsageError
            If a column is unknown, or a column that cannot be missing is not passed.
        DecodeError
            If a value is missing that the API promises.
        """
        self._require_known(columns)
        count = max((len(values) for values in columns.values() if not isinstance(values, SCALARS)), default=0)
        arrays = []
        for column in self.columns:
            if column.name not in columns and not column.nullable:
                raise UsageError(f"Table {self.name} needs the column {column.name}. Pass its values.")
            array = column.to_array(columns[column.name], count) if column.name in columns else pa.nulls(count, column.type)
            if array.null_count and not column.nullable:
                message = f"Table {self.name}: column {column.name} has a missing value where the API promises one."
                raise DecodeError(message, json_path="$", column=column.name)
            arrays.append(array)
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def sorted(self, rows: pa.Table) -> pa.Table:
        """Return rows in the declared order, with closed sets ordered as text."""
        columns = {name: rows[name] for name in self.sort}
        keys = {name: each.cast(TEXT) if pa.types.is_dictionary(each.type) else each for name, each in columns.items()}
        return rows.take(pc.sort_indices(pa.table(keys), [(name, "ascending") for name in self.sort]))

    def require_distinct(self, rows: pa.Table) -> None:
        """Refuse two rows of one key, in rows that are in the declared order.

        Rows at different record times may share their update id (docs/facts.md#second-verdicts).

        Raises
        ------
        DecodeError
            If a key occurs twice, with its values.
        """
        names = dict.fromkeys([*self.sort, *self.key])
        # Numbers first, because they compare fast, and mostly tell all rows apart.
        columns = sorted((rows[name] for name in names), key=lambda column: not pa.types.is_primitive(column.type))
        is_repeated = np.ones(max(len(rows) - 1, 0), dtype=bool)
        for column in columns:
            if not is_repeated.any():
                return
            is_repeated &= _equals_previous(column)
        if is_repeated.any():
            [row] = rows.slice(int(is_repeated.argmax()), 1).select(self.key).to_pylist()
            key = ", ".join(f"{name} {value}" for name, value in row.items())
            message = f"Table {self.name}: two rows have the key {key}, where the API promises one."
            raise DecodeError(message, json_path="$", column=self.key[-1])

    def from_rows(self, rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
        """Return a DataFrame of a few rows of values by column, where omitted ones are null."""
        self._require_known(dict.fromkeys(name for row in rows for name in row))
        return self.to_pandas(pa.Table.from_pylist(rows, self.schema))

    def to_pandas(self, table: pa.Table) -> pd.DataFrame:
        """Return Arrow columns as a plain DataFrame, with the dtypes of this library.

        Integers that may be missing become ``Int64``, booleans ``boolean``, text ``str``, closed sets ``category``, times
        ``datetime64[us, UTC]``, lists and amounts ArrowDtype. No column is ``object``, and no integer becomes a float.
        """
        series = {name: _to_series(table.column(name), self[name]) for name in table.column_names}
        return pd.DataFrame(series, index=pd.RangeIndex(table.num_rows), copy=False)


def _equals_previous(column: pa.ChunkedArray) -> Any:
    """Return whether each value but the first equals the one before it, or both are missing."""
    values = column.cast(TEXT) if pa.types.is_dictionary(column.type) else column
    later, earlier = values[1:], values[:-1]
    return pc.coalesce(pc.equal(later, earlier), pc.equal(later.is_null(), earlier.is_null())).to_numpy()


def fingerprint(fields: Iterable[pa.Field]) -> str:
    """Return a short digest of the names and types of columns."""
    text = ";".join(f"{field.name}:{field.type}:{field.nullable}" for field in fields)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


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
            integers = values.to_numpy()
            return integers if integers.flags.writeable else integers.copy()  # a user may change them, but not Arrow's own memory
        return _from_arrow(pd.Int32Dtype() if kind.bit_width == 32 else pd.Int64Dtype(), values)
    if pa.types.is_timestamp(kind) and kind.tz is None:  # a local time of SQL, which no table has
        return values.to_numpy().copy()
    if pa.types.is_timestamp(kind):
        return _from_arrow(pd.DatetimeTZDtype("us", "UTC"), values)
    if pa.types.is_string(kind):
        return _from_arrow(pd.StringDtype(na_value=np.nan), values)
    return pd.arrays.ArrowExtensionArray(values.cast(kind))  # Parquet files name the items of lists differently


def _from_arrow(dtype: Any, values: pa.ChunkedArray) -> Any:
    """Convert without a Python object for each cell, by a method that the stubs omit."""
    return dtype.__from_arrow__(values)


def _to_categorical(values: pa.ChunkedArray, column: Column) -> Any:
    """Return a categorical with the declared values first, so that frames have equal dtypes."""
    texts = values.cast(pa.string()).combine_chunks()
    undeclared = [text for text in texts.unique().to_pylist() if text is not None and text not in column.values]
    categories: Any = pd.Index([*column.values, *sorted(undeclared)], dtype="str")
    codes = texts.dictionary_encode()
    position = {text: index for index, text in enumerate(categories)}
    lookup = np.array([position[text] for text in codes.dictionary.to_pylist()] + [-1], dtype=np.int32)
    indices = codes.indices.fill_null(len(lookup) - 1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(lookup[indices], categories=categories)
