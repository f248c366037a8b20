"""The nine history tables from items of the history API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import Indices, encode_categories, repeat
from ledgerframes.datasets._boundary import decode_boundary
from ledgerframes.datasets._columns import NO_ROWS, StructColumns, inverse_index
from ledgerframes.datasets._headers import EventHeader, EventHeaders, headers_of
from ledgerframes.datasets.bookkeeping import DROPPED_ROWS, SECOND_VERDICT
from ledgerframes.datasets.events.build_updates import UpdateTableBuilder
from ledgerframes.datasets.events.build_verdicts import VerdictTableBuilder
from ledgerframes.datasets.events.wire import Event

__all__ = ["UPDATE_TABLES", "VERDICT_TABLES", "EventTableBuilder", "event_tables"]

UPDATE_TABLES = ("updates", "tree_events", "reassignments")
VERDICT_TABLES = ("verdicts", "views", "quorums", "traffic", "envelopes", "activity_records")
ALL = (*UPDATE_TABLES, *VERDICT_TABLES)


class EventTableBuilder:
    """Builder of tables from batches of event items.

    Batches of about two megabytes of JSON are fastest, because decoded structs are then still in the processor's cache when
    they are converted. Derived columns are computed once for all batches.

    Parameters
    ----------
    id_source : str
        Source of the update ids: ``listing``, ``ledger``, ``bulk`` or ``user``.
    tables : collection of str, optional
        Names of the tables to build. All nine by default.
    """

    def __init__(self, id_source: str, tables: Collection[str] = ALL) -> None:
        self._tables = [name for name in ALL if name in tables]
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
        """Add a batch of items.

        Parameters
        ----------
        items : sequence of Event or EventWithoutUpdateBody
            In any order. `EventWithoutUpdateBody` is enough for `VERDICT_TABLES`.

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
        """Return the tables of all items, which may be called once.

        Returns
        -------
        dict of str to Table
            Sorted as declared, also those without rows. With ``dropped_rows`` only if an event was dropped, because another with
            its id and record time counts.

        Raises
        ------
        DecodeError
            If a time cannot be read, a node has no number, or a tree is not one.
        """
        headers = EventHeaders(self._headers)
        dropped = self._dropped_rows(headers)
        if headers.order is not None:
            inverses: dict[StructColumns[Any], Indices] = {self._headers: inverse_index(headers.order, len(self._headers))}
            for columns in [columns for builder in self._builders for columns in builder.columns]:
                columns.reindex(inverses)
        functions = {name: build for builder in self._builders for name, build in builder.table_functions().items()}
        return {name: functions[name](headers) for name in self._tables} | dropped

    def _dropped_rows(self, headers: EventHeaders) -> dict[str, pa.Table]:
        """Return the table of the rows of dropped events, or nothing if none are dropped."""
        parts = []
        for table, columns in [each for builder in self._builders for each in builder.rows_by_table().items()]:
            counts = np.bincount(columns.item_rows, minlength=len(self))[headers.dropped]
            if table in self._tables and counts.any():
                constants = {
                    "problem": encode_categories(repeat(SECOND_VERDICT, len(counts))),
                    "table": repeat(table, len(counts)),
                }
                rows = DROPPED_ROWS.from_arrays({**headers.dropped_columns, **constants, "rows": pa.array(counts)})
                parts.append(rows.filter(pc.field("rows") > 0))
        return {DROPPED_ROWS.name: DROPPED_ROWS.sorted(pa.concat_tables(parts))} if parts else {}


def event_tables(events: Sequence[Event], id_source: str, tables: Collection[str] = ALL) -> dict[str, pa.Table]:
    """Build the history tables from event items.

    Parameters
    ----------
    events : sequence of Event
        In any order.
    id_source : str
        Source of the update ids: ``listing``, ``ledger``, ``bulk`` or ``user``.
    tables : collection of str, optional
        Names of the tables to build. All nine by default.

    Returns
    -------
    dict of str to Table
        Sorted as declared, also those without rows.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself, a time cannot be read, or a tree is not one.
    """
    builder = EventTableBuilder(id_source, tables)
    builder.add(events)
    return builder.tables()
