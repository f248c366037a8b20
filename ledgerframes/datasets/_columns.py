"""Structs turned into Arrow columns block by block while they are in the processor's cache, and worked on together later."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from ledgerframes.datasets._arrays import Indices, json_text, lengths
from ledgerframes.datasets._decode import without_none
from ledgerframes.datasets._schema import FLAG, INTEGER, SMALLS, TEXT, TEXTS

S = TypeVar("S", bound=msgspec.Struct)
Child = TypeVar("Child", bound=msgspec.Struct)
Blocks = list[pa.Array]

PLACE = ("migration_id", "record_time", "update_id")  # has its columns once, in the head of the item


class Conversion:
    """Values of many columns on their way into Arrow, those of one type together: a call of Arrow's costs as much as many values.

    Attributes
    ----------
    bytes : int
        Of what has become Arrow.
    """

    def __init__(self) -> None:
        self._values: defaultdict[Any, list[Any]] = defaultdict(list)
        self._columns: defaultdict[Any, list[tuple[Blocks, int]]] = defaultdict(list)
        self.bytes = 0

    def put(self, name: str, kind: Any, values: Sequence[Any], blocks: Blocks) -> None:
        """Put down values of a field, for the blocks of its column."""
        if kind is msgspec.Raw:
            self._divide(json_text(values, name), [(blocks, len(values))])
            return
        self._values[kind] += values
        self._columns[kind].append((blocks, len(values)))

    def finish(self) -> None:
        """Turn what was put down into one more block of each column."""
        for kind, columns in self._columns.items():
            self._divide(CONVERTERS[kind](self._values[kind]), columns)
        self._values.clear()
        self._columns.clear()

    def _divide(self, together: pa.Array, columns: list[tuple[Blocks, int]]) -> None:
        self.bytes += together.get_total_buffer_size()
        end = 0
        for blocks, count in columns:
            blocks.append(together.slice(end, count))
            end += count


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
    conversion : Conversion
        Shared with the parent, and to be finished after each block.
    """

    def __init__(self, kind: type[S], parent: Rows[Any] | None = None) -> None:
        self._kind = kind
        self._parent = parent
        self._fields = {name: of for name, of in _fields(kind).items() if parent is None or name not in PLACE}
        self._blocks: dict[str, Blocks] = {name: [] for name in self._fields}
        self._parents = [np.empty(0, dtype=np.int64)]
        self._count = 0
        self.conversion: Conversion = Conversion() if parent is None else parent.conversion

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
            for name, of in self._fields.items():
                self.conversion.put(name, of, fields[name], self._blocks[name])
        return np.arange(first, self._count)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """The column of a field, block by block as it came."""
        return pa.chunked_array(self._blocks[name] or [CONVERTERS[self._fields[name]](())])

    def whole(self, name: str) -> pa.Array:
        """The column of a field, in one piece of its own: a block alone is part of a larger one."""
        chunks = self[name].chunks
        return pa.concat_arrays([chunks[0][:0], *chunks])

    @property
    def width(self) -> int:
        """Arrow bytes of a row, about."""
        blocks = [blocks[-1] for blocks in self._blocks.values() if blocks]
        return sum(block.nbytes for block in blocks) // len(blocks[0]) if blocks else 0

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
    found = [struct for struct in structs if struct is not None]
    if len(found) == len(structs):
        return found, rows
    return found, rows[np.fromiter([struct is not None for struct in structs], dtype=bool, count=len(structs))]


def children(lists: Sequence[Collection[Child] | None], rows: Indices) -> tuple[list[Child], Indices]:
    """The structs in these lists, one list a row, and the row of each."""
    return list(chain.from_iterable(filter(None, lists))), np.repeat(rows, lengths(lists))


def _as_text(values: Sequence[str | int | None]) -> pa.Array:
    return pa.array([None if value is None else str(value) for value in values], TEXT)


CONVERTERS: dict[Any, Callable[[Sequence[Any]], pa.Array]] = {
    str: functools.partial(pa.array, type=TEXT),
    int: functools.partial(pa.array, type=INTEGER),
    bool: functools.partial(pa.array, type=FLAG),
    list[str]: functools.partial(pa.array, type=TEXTS),
    list[int]: functools.partial(pa.array, type=SMALLS),
    str | int: _as_text,
    msgspec.Raw: functools.partial(json_text, member=""),
}


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a struct that become columns, with their types."""
    types = {field.name: without_none(field.type) for field in msgspec.structs.fields(kind)}
    return {name: of for name, of in types.items() if of in CONVERTERS}
