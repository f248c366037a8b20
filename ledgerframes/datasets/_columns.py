"""Decoded structs as Arrow columns, converted batch by batch."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._extensions import REST, member_prefix
from ledgerframes.datasets.arrays import (
    Indices,
    Values,
    encode_json,
    fill_lists,
    join_members,
    list_lengths,
    parse_amounts,
    parse_timestamps,
)
from ledgerframes.datasets.decode import without_none
from ledgerframes.datasets.schema import AMOUNT, FLAG, INTEGER, SMALLS, TEXT, TEXTS, TIME, Column, Table
from ledgerframes.datasets.structs import Wire

S = TypeVar("S", bound=msgspec.Struct)
Child = TypeVar("Child", bound=msgspec.Struct)
Columns = dict[str, Values]
Chunks = list[pa.Array]

NO_ROWS: Indices = np.empty(0, dtype=np.int64)


class ArrayConverter:
    """Values of many columns, converted together by type.

    One call of Arrow takes as long as converting many values.
    """

    def __init__(self) -> None:
        self._values: defaultdict[Any, list[Any]] = defaultdict(list)
        self._columns: defaultdict[Any, list[tuple[Chunks, int]]] = defaultdict(list)
        self.bytes = 0  # of the arrays converted so far

    def add(self, name: str, kind: Any, values: Sequence[Any], chunks: Chunks) -> None:
        """Add values of a field, to be converted into the next chunk of its column."""
        if kind is msgspec.Raw:
            self.add_array(encode_json(values, name), chunks)
            return
        self._values[kind] += values
        self._columns[kind].append((chunks, len(values)))

    def add_array(self, array: pa.Array, chunks: Chunks) -> None:
        """Add the next chunk of a column."""
        self.bytes += array.get_total_buffer_size()
        chunks.append(array)

    def flush(self) -> None:
        """Convert all values that were added."""
        for kind, columns in self._columns.items():
            array = CONVERTERS[kind](self._values[kind])
            self.bytes += array.get_total_buffer_size()
            stop = 0
            for chunks, count in columns:
                chunks.append(array.slice(stop, count))
                stop += count
        self._values.clear()
        self._columns.clear()


class StructColumns(Generic[S]):
    """Structs of one kind as rows, with an Arrow column for each field.

    One column more, ``extra``, has their unknown members. Fields that contain structs have no column: those structs are rows of
    another kind, whose parent these are. Both share a converter, which is flushed after each batch.
    """

    def __init__(self, kind: type[S], parent: StructColumns[Any] | None = None) -> None:
        self._kind = kind
        self._parent = parent
        self._item_fields: frozenset[str] = frozenset() if parent is None else parent._item_fields
        self._fields = {name: of for name, of in _fields(kind).items() if name not in self._item_fields}
        if parent is None:
            self._item_fields = frozenset(self._fields) - {"extra"}  # columns that the parts of an item do not need, too
        self._chunks: dict[str, Chunks] = {name: [] for name in self._fields}
        self._parents = [NO_ROWS]
        self._count = 0
        self.converter: ArrayConverter = ArrayConverter() if parent is None else parent.converter

    @classmethod
    def from_structs(cls, kind: type[S], structs: Sequence[S]) -> StructColumns[S]:
        """Convert structs that are complete in one batch."""
        columns = cls(kind)
        columns.add(structs, NO_ROWS)
        columns.converter.flush()
        return columns

    def __len__(self) -> int:
        return self._count

    def add(self, structs: Sequence[S], parents: Indices) -> Indices:
        """Add a batch of structs, each with its parent's row, and return their rows."""
        start, self._count = self._count, self._count + len(structs)
        self._parents.append(parents)
        kinds = set(map(type, structs))
        # Structs from before and after a member was learned have different types.
        runs = [structs] if len(kinds) < 2 else [list(run) for _, run in groupby(structs, type)]
        for run in runs:
            if run:
                self._add_run(type(run[0]), run)
        return np.arange(start, self._count)

    def _add_run(self, kind: type[S], structs: Sequence[S]) -> None:
        values = zip(*map(msgspec.structs.astuple, structs), strict=True)
        fields = dict(zip(kind.__struct_fields__, values, strict=True))
        for name, of in self._fields.items():
            if name in fields:
                self.converter.add(name, of, fields[name], self._chunks[name])
        if issubclass(kind, Wire):
            members = {name: fields[field] for field, name in kind.extra_members.items()}
            self.converter.add_array(_encode_members(members, len(structs)), self._chunks["extra"])

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """Return the column of a field, in chunks as converted."""
        return pa.chunked_array(self._chunks[name] or [CONVERTERS[self._fields[name]](())])

    def to_array(self, name: str) -> pa.Array:
        """Return the column of a field as one array with its own memory."""
        chunks = self[name].chunks
        return pa.concat_arrays([chunks[0][:0], *chunks])  # one chunk alone may be a slice, which is not copied

    @property
    def row_bytes(self) -> int:
        """Approximate size of a row in Arrow."""
        last = [chunks[-1] for chunks in self._chunks.values() if chunks]
        return sum(chunk.nbytes for chunk in last) // len(last[0]) if last else 0

    def copy_to(self, table: Table, rows: pa.Array | None = None, skip: Container[str] = ()) -> Columns:
        """Return the columns of a table that are straight copies, without those to skip.

        A row that is null has missing values. By default, all rows are copied.
        """
        members = _members(self._kind)
        return {
            column.name: _parse(self[field] if rows is None else self.to_array(field).take(rows), column, members[field])
            for column in table.columns
            if (field := column.from_field or column.name) in self._fields and column.name not in skip
        }

    def copy_part(self, table: Table, kind: type[Child], parts: Sequence[Child | None]) -> Columns:
        """Return the columns of a table that copy a field of a part, which not every row has."""
        columns = StructColumns(kind, self)
        columns.add(*drop_absent(parts, np.arange(len(self))))
        columns.converter.flush()
        return columns.copy_to(table, columns.child_rows, skip=("extra",))

    def to_table(self, table: Table, computed: Mapping[str, Any]) -> pa.Table:
        """Return a table of computed columns and straight copies."""
        return table.from_arrays({**self.copy_to(table, skip=computed), **computed})

    # -- rows and their parents -------------------------------------------------------------------------------------

    @property
    def parents(self) -> Indices:
        """The parent's row that each row belongs to."""
        if len(self._parents) > 1:
            self._parents = [np.concatenate(self._parents)]
        return self._parents[0]

    @property
    def item_rows(self) -> Indices:
        """Row of the item that each row belongs to."""
        return np.arange(len(self)) if self._parent is None else self._parent.item_rows[self.parents]

    @property
    def child_counts(self) -> Indices:
        """The number of these rows in each row of the parent."""
        assert self._parent is not None
        return np.bincount(self.parents, minlength=len(self._parent))

    @property
    def child_rows(self) -> pa.Array:
        """The row that belongs to each row of the parent, which has one at most."""
        assert self._parent is not None
        rows = np.full(len(self._parent), -1)
        rows[self.parents] = np.arange(len(self))
        return pa.array(rows, mask=rows < 0)

    def reindex(self, inverses: dict[StructColumns[Any], Indices]) -> None:
        """Reorder the rows as those of the parent were reordered.

        `inverses` has the new row of each old row of the parent, -1 if it was dropped. Those of these rows are added.
        """
        assert self._parent is not None
        self._parents = [inverses[self._parent][self.parents]]
        order = np.argsort(self.parents, kind="stable")
        order = order[self.parents[order] >= 0]
        inverses[self] = inverse_index(order, len(self))
        self.take(order)

    def take(self, rows: Indices) -> None:
        """Keep only these rows, in this order."""
        for name, chunks in self._chunks.items():
            chunks[:] = [self.to_array(name).take(pa.array(rows))]
        self._parents, self._count = [self.parents[rows]], len(rows)


def inverse_index(rows: Indices, count: int) -> Indices:
    """Return the position of each of `count` rows among these rows, or -1."""
    inverse = np.full(count, -1)
    inverse[rows] = np.arange(len(rows))
    return inverse


def drop_absent(structs: Sequence[S | None], rows: Indices) -> tuple[list[S], Indices]:
    """Return the structs that are present, and the row of each."""
    present = [struct for struct in structs if struct is not None]
    if len(present) == len(structs):
        return present, rows
    return present, rows[np.fromiter([struct is not None for struct in structs], dtype=bool, count=len(structs))]


def flatten(lists: Sequence[Collection[Child] | None], rows: Indices) -> tuple[list[Child], Indices]:
    """Return the structs in lists, of which each row has one, and the row of each struct."""
    return list(chain.from_iterable(filter(None, lists))), np.repeat(rows, list_lengths(lists))


# -- fields to arrays, arrays to columns ----------------------------------------------------------------------------


CONVERTERS: dict[Any, Callable[[Sequence[Any]], pa.Array]] = {
    str: functools.partial(pa.array, type=TEXT),
    int: functools.partial(pa.array, type=INTEGER),
    bool: functools.partial(pa.array, type=FLAG),
    list[str]: functools.partial(pa.array, type=TEXTS),
    list[int]: functools.partial(pa.array, type=SMALLS),
    str | int: lambda values: pa.array([None if value is None else str(value) for value in values], TEXT),
    msgspec.Raw: functools.partial(encode_json, member=""),
}


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fields of a struct that become columns, with their types."""
    types = {field.name: without_none(field.type) for field in msgspec.structs.fields(kind)}
    fields = {name: of for name, of in types.items() if of in CONVERTERS}
    return {**fields, "extra": msgspec.Raw} if issubclass(kind, Wire) else fields


@functools.cache
def _members(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Return the fields of a struct with their names on the wire, for errors."""
    return {field.name: field.encode_name for field in msgspec.structs.fields(kind)} | {"extra": "extra"}


def _parse(values: Values, column: Column, member: str) -> Values:
    """Return the values of a field, with texts of times and amounts parsed."""
    if column.type == TIME:
        return parse_timestamps(values, member)
    if column.type == AMOUNT:
        return parse_amounts(values, member)
    return fill_lists(values) if pa.types.is_list(column.type) and not column.nullable else values


def _encode_members(members: Mapping[str, Sequence[msgspec.Raw]], count: int) -> pa.Array:
    """Return the unknown members of each struct as one JSON object."""
    parts = []
    for name, payloads in members.items():
        values = encode_json(payloads, name, null_is_missing=False)
        if values.null_count < count:
            inner = pc.utf8_slice_codeunits(values, 1, -1) if name == REST else values
            parts.append(pc.binary_join_element_wise(member_prefix(name), inner, ""))
    return join_members(parts) if parts else pa.nulls(count, TEXT)
