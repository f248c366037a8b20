"""The nine history tables from items of the history API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._columns import NO_ROWS, StructColumns, inverse_index
from ledgerframes.datasets.arrays import Indices
from ledgerframes.datasets.bookkeeping import DROPPED_ROWS, SECOND_VERDICT
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.events.build_updates import UpdateTableBuilder
from ledgerframes.datasets.events.build_verdicts import VerdictTableBuilder
from ledgerframes.datasets.events.headers import EventHeader, EventHeaders, Part, headers_of
from ledgerframes.datasets.events.schema import EVENT_TABLES
from ledgerframes.datasets.events.wire import Event

TABLES = {table.name: table for table in EVENT_TABLES}
UPDATE_TABLES = ("updates", "tree_events", "reassignments")
VERDICT_TABLES = tuple(name for name in TABLES if name not in UPDATE_TABLES)
ALL = tuple(TABLES)


class EventTableBuilder:
    """Builder of tables from batches of event items.

    Batches of about two megabytes of JSON are fastest, because decoded structs are then still in the processor's cache when
    they are converted. Derived columns are computed once for all batches. `id_source` is that of the update ids: ``listing``,
    ``ledger``, ``bulk`` or ``user``.
    """

    def __init__(self, id_source: str, tables: Collection[str] = ALL) -> None:
        self._tables = frozenset(tables)
        self._headers = StructColumns(EventHeader)
        self._builders: list[UpdateTableBuilder | VerdictTableBuilder] = []
        if not set(UPDATE_TABLES).isdisjoint(self._tables):
            self._builders.append(UpdateTableBuilder(self._headers))
        if not set(VERDICT_TABLES).isdisjoint(self._tables):
            self._builders.append(VerdictTableBuilder(self._headers, id_source))

    def __len__(self) -> int:
        return len(self._headers)

    @property
    def bytes(self) -> int:
        """Approximate size of the tables in Arrow."""
        rows = sum(len(columns) for builder in self._builders for columns in builder.columns)
        return self._headers.converter.bytes + rows * self._headers.row_bytes

    @decode_boundary()
    def add(self, items: Sequence[Any]) -> None:
        """Add a batch of items in any order.

        Raises
        ------
        DecodeError
            If an item has neither update nor verdict or contradicts itself.
        """
        rows = self._headers.add(headers_of(items), NO_ROWS)
        for builder in self._builders:
            builder.add(items, rows)
        self._headers.converter.flush()

    @decode_boundary()
    def tables(self) -> dict[str, pa.Table]:
        """Return the tables of all items, sorted as declared, also those without rows.

        May be called once. There is a table ``dropped_rows`` only if an event was dropped, because another with its id and
        record time counts.

        Raises
        ------
        DecodeError
            If a time cannot be read, a node has no number, a tree is not one, or an item has two parts of one key.
        """
        headers, tables = EventHeaders(self._headers), {}
        dropped = self._dropped_rows(headers)
        if headers.order is not None:
            inverses: dict[StructColumns[Any], Indices] = {self._headers: inverse_index(headers.order, len(self._headers))}
            for columns in [columns for builder in self._builders for columns in builder.columns]:
                columns.reindex(inverses)
        for name, (columns, compute) in self._parts():
            computed = compute(headers)  # before the header, because it may sort the rows
            tables[name] = columns.to_table(TABLES[name], {**headers.columns(columns.item_rows), **computed})
            TABLES[name].require_distinct(tables[name])
        return tables | dropped

    def _parts(self) -> list[tuple[str, Part]]:
        parts = [part for builder in self._builders for part in builder.parts().items()]
        return [(name, part) for name, part in parts if name in self._tables]

    def _dropped_rows(self, headers: EventHeaders) -> dict[str, pa.Table]:
        """Return the table of the rows of dropped events, or nothing if none are dropped."""
        parts = []
        for table, (columns, _) in self._parts():
            counts = np.bincount(columns.item_rows, minlength=len(self))[headers.dropped]
            if counts.any():
                computed = {**headers.dropped_columns, "problem": SECOND_VERDICT, "table": table, "rows": counts}
                parts.append(DROPPED_ROWS.from_arrays(computed).filter(pc.field("rows") > 0))
        return {DROPPED_ROWS.name: DROPPED_ROWS.sorted(pa.concat_tables(parts))} if parts else {}


def event_tables(events: Sequence[Event], id_source: str, tables: Collection[str] = ALL) -> dict[str, pa.Table]:
    """Build the history tables from event items in any order, as `EventTableBuilder` does."""
    builder = EventTableBuilder(id_source, tables)
    builder.add(events)
    return builder.tables()
