"""Structs turned into Arrow columns block by block while they are in the processor's cache, and worked on together later."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from ledgerframes.tables.arrays import Indices, json_text, lengths
from ledgerframes.tables.spec import FLAG, INTEGER, SMALLS, TEXT, TEXTS
from ledgerframes.wire.decode import without_none

S = TypeVar("S", bound=msgspec.Struct)
Child = TypeVar("Child", bound=msgspec.Struct)
Converter = Callable[[Sequence[Any]], pa.Array]

TYPES: dict[Any, pa.DataType] = {str: TEXT, int: INTEGER, bool: FLAG, list[str]: TEXTS, list[int]: SMALLS}
PLACE = ("migration_id", "record_time", "update_id")  # has its columns once, in the head of the item


class Rows(Generic[S]):
    """Structs of one kind, a row each, with an Arrow column for each of their fields.

    Fields that hold structs have no column: those structs are rows of another kind, which belong to these.

    Parameters
    ----------
    kind : type
        The struct.
    parent : Rows, optional
        What each row belongs to one of.

    Attributes
    ----------
    bytes : int
        Of all columns.
    """

    def __init__(self, kind: type[S], parent: Rows[Any] | None = None) -> None:
        self._kind = kind
        self._parent = parent
        self._converters = {
            name: converter for name, converter in _converters(kind).items() if parent is None or name not in PLACE
        }
        self._blocks: dict[str, list[pa.Array]] = {name: [] for name in self._converters}
        self._parents = [np.empty(0, dtype=np.int64)]
        self._count = 0
        self.bytes = 0

    def __len__(self) -> int:
        return self._count

    def add(self, structs: Sequence[S], parents: Indices) -> Indices:
        """Put a block of structs to the others, and give the numbers of their rows.

        Parameters
        ----------
        structs : sequence of struct
        parents : array of int
            For each struct the row that it belongs to.
        """
        first, self._count = self._count, self._count + len(structs)
        self._parents.append(parents)
        if structs:
            values = zip(*map(msgspec.structs.astuple, structs), strict=True)
            fields = dict(zip(self._kind.__struct_fields__, values, strict=True))
            for name, converter in self._converters.items():
                block = converter(fields[name])
                self._blocks[name].append(block)
                self.bytes += block.get_total_buffer_size()
        return np.arange(first, self._count)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """The column of a field, block by block as it came."""
        return pa.chunked_array(self._blocks[name] or [self._converters[name](())])

    def whole(self, name: str) -> pa.Array:
        """The column of a field, in one piece."""
        blocks = self._blocks[name]
        if len(blocks) != 1:
            blocks[:] = [self[name].combine_chunks()]
        return blocks[0]

    # -- what belongs to what ---------------------------------------------------------------------------------------

    @property
    def parents(self) -> Indices:
        """The row of the parent that each row belongs to."""
        if len(self._parents) > 1:
            self._parents = [np.concatenate(self._parents)]
        return self._parents[0]

    @property
    def owners(self) -> Indices:
        """The item that each row belongs to: the parent's parent, up to the first."""
        return np.arange(len(self)) if self._parent is None else self._parent.owners[self.parents]

    @property
    def counts(self) -> Indices:
        """How many of these rows belong to each row of the parent."""
        assert self._parent is not None
        return np.bincount(self.parents, minlength=len(self._parent))

    @property
    def places(self) -> pa.Array:
        """For each row of the parent the row that belongs to it; there is one at most."""
        assert self._parent is not None
        places = np.full(len(self._parent), -1)
        places[self.parents] = np.arange(len(self))
        return pa.array(places, mask=places < 0)

    def follow(self, moved: dict[Rows[Any], Indices]) -> None:
        """Follow the rows of the parent to where they have moved, and note here where these have; -1 is nowhere."""
        assert self._parent is not None
        self._parents = [moved[self._parent][self.parents]]
        order = np.argsort(self.parents, kind="stable")
        kept = order[self.parents[order] >= 0]
        moved[self] = moves(kept, len(self))
        self.keep(kept)

    def keep(self, rows: Indices) -> None:
        """Keep only these rows, in this order."""
        for name, blocks in self._blocks.items():
            blocks[:] = [self.whole(name).take(pa.array(rows))]
        self._parents, self._count = [self.parents[rows]], len(rows)


def moves(kept: Indices, count: int) -> Indices:
    """Where each of so many rows is, when only these are kept, in this order; -1 is nowhere."""
    moved = np.full(count, -1)
    moved[kept] = np.arange(len(kept))
    return moved


def present(structs: Sequence[S | None], rows: Indices) -> tuple[list[S], Indices]:
    """What there is of one struct a row, and the row of each."""
    mask = np.fromiter([struct is not None for struct in structs], dtype=bool, count=len(structs))
    return [struct for struct in structs if struct is not None], rows[mask]


def children(lists: Sequence[Collection[Child] | None], rows: Indices) -> tuple[list[Child], Indices]:
    """The structs in these lists, one list a row, and the row of each."""
    return list(chain.from_iterable(filter(None, lists))), np.repeat(rows, lengths(lists))


@functools.cache
def _converters(kind: type[msgspec.Struct]) -> dict[str, Converter]:
    """How the fields of a struct become columns."""
    found = {field.name: _converter(field) for field in msgspec.structs.fields(kind)}
    return {name: converter for name, converter in found.items() if converter}


def _converter(field: msgspec.structs.FieldInfo) -> Converter | None:
    kind = without_none(field.type)
    if kind == str | int:
        return _as_text
    if kind is msgspec.Raw:
        return functools.partial(json_text, member=field.name)
    return functools.partial(pa.array, type=TYPES[kind]) if kind in TYPES else None


def _as_text(values: Sequence[str | int | None]) -> pa.Array:
    return pa.array([None if value is None else str(value) for value in values], TEXT)
