"""Structs of one kind out of a batch, each with the item it belongs to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from ledgerframes.tables.arrays import Indices, lengths

Columns = dict[str, pa.Array]
Fields = dict[str, Sequence[Any]]
S = TypeVar("S", bound=msgspec.Struct)
Child = TypeVar("Child", bound=msgspec.Struct)


@dataclass(frozen=True)
class Part(Generic[S]):
    """Structs of one kind, and for each the number of the item in the batch that it belongs to."""

    structs: Sequence[S]
    owners: Indices

    @classmethod
    def of(cls, structs: Sequence[S | None]) -> Part[S]:
        """What there is of one struct an item."""
        owners = [i for i, struct in enumerate(structs) if struct is not None]
        return cls([struct for struct in structs if struct is not None], np.array(owners, dtype=np.int64))

    def children(self, lists: Sequence[Collection[Child] | None]) -> Part[Child]:
        """The structs in these lists, one list a struct."""
        return Part(list(chain.from_iterable(filter(None, lists))), np.repeat(self.owners, lengths(lists)))

    def order(self, keys: Indices) -> Indices:
        """The positions of the structs by owner, then by key."""
        return np.lexsort((keys, self.owners))

    def take(self, order: Indices) -> Part[S]:
        """The structs at these positions."""
        return Part(list(map(self.structs.__getitem__, order.tolist())), self.owners[order])

    def fields(self, kind: type[S]) -> Fields:
        """The fields of the structs, one sequence a field."""
        names = kind.__struct_fields__
        if not self.structs:
            return dict.fromkeys(names, ())
        return dict(zip(names, zip(*map(msgspec.structs.astuple, self.structs), strict=True), strict=True))
