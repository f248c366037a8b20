"""Members and kinds in responses that this release does not know, logged once per load.

The values of such members are in the column ``extra`` of their tables (docs/architecture.md#tables). A new value of a closed
set is in its column. A one-of of a new kind has no row (docs/facts.md#unknown-kinds).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
import pyarrow as pa

from ledgerframes.datasets import TABLES
from ledgerframes.datasets import table as table_spec
from ledgerframes.errors import DecodeError
from ledgerframes.frames import Frames
from ledgerframes.texts.control_characters import escape_control

EXTRA = "extra"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])

logger = logging.getLogger("ledgerframes")


@dataclass
class Additions:
    """Names that services send and this release does not know."""

    members: set[str] = field(default_factory=set)  # as ``table.member``
    kinds: set[str] = field(default_factory=set)  # values of closed sets as ``table.column=value``, and kinds of one-ofs
    _logged: set[str] = field(default_factory=set)

    def note(self, tables: Mapping[str, pa.Table]) -> None:
        """Add the additions in Arrow tables."""
        for name, table in tables.items():
            if EXTRA in table.column_names:
                for text in table[EXTRA].drop_null().to_pylist():
                    self.members |= {f"{name}.{member}" for member in _OBJECT.decode(text)}
            for column, values in _closed_sets(name).items():
                if column in table.column_names:
                    self.kinds |= {f"{name}.{column}={value}" for value in _distinct(table[column]) - values}

    def note_error(self, error: DecodeError) -> None:
        """Add the kind of a one-of that cannot be decoded."""
        if error.kind:
            self.kinds.add(error.kind)

    def add(self, others: Additions) -> None:
        """Add the additions of other objects."""
        self.members |= others.members
        self.kinds |= others.kinds

    def log(self, network: str) -> None:
        """Log the names that were not logged yet, in one line each for members and kinds."""
        if members := self.members - self._logged:
            logger.warning("service_sends_new_members network=%s members=%s", network, _text(members))
        if kinds := self.kinds - self._logged:
            logger.warning("service_sends_new_kinds network=%s kinds=%s", network, _text(kinds))
        self._logged |= self.members | self.kinds


def additions_of(frames: Frames) -> Additions:
    """Return the additions in the rows of frames."""
    additions = Additions()
    for name in frames.tables:
        columns = [column for column in table_spec(name).column_names if column == EXTRA or column in _closed_sets(name)]
        for batch in frames.iter_batches(name, columns):
            additions.note({name: pa.Table.from_batches([batch])})
    return additions


def _text(names: Iterable[str]) -> str:
    return escape_control(",".join(sorted(names)))


def _closed_sets(table: str) -> dict[str, set[str]]:
    """Return the declared values of the columns of a table that have closed sets."""
    return {column.name: set(column.values) for column in TABLES[table].columns if column.values} if table in TABLES else {}


def _distinct(values: pa.ChunkedArray) -> set[str]:
    """Return the values of a dictionary column, whose chunks can have different dictionaries."""
    return {value for chunk in values.chunks for value in chunk.unique().to_pylist()} - {None}
