"""Items of the history API turned into the nine history tables. Pure: structs in, Arrow tables out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ledgerframes.datasets._arrays import Indices, numbers_in_range
from ledgerframes.datasets._columns import Rows, moves
from ledgerframes.datasets._headers import Batch, Head, heads_of
from ledgerframes.datasets.events.build_updates import UpdateTableBuilder
from ledgerframes.datasets.events.build_verdicts import VerdictTableBuilder
from ledgerframes.datasets.events.wire import Event

__all__ = ["UPDATE_TABLES", "VERDICT_TABLES", "EventTableBuilder", "event_tables"]

UPDATE_TABLES = ("updates", "tree_events", "reassignments")
VERDICT_TABLES = ("verdicts", "views", "quorums", "traffic", "envelopes", "activity_records")
ALL = (*UPDATE_TABLES, *VERDICT_TABLES)


class EventTableBuilder:
    """Event items on their way into tables: put here block by block, made into tables together.

    Blocks of about two megabytes of JSON are best: what was decoded is mostly in the processor's cache when it becomes columns.
    Tables of many blocks are best: whatever is derived from columns costs little then.

    Parameters
    ----------
    id_source : str
        How the items were found: ``listing``, ``ledger``, ``bulk`` or ``user``.
    tables : collection of str, optional
        Names of the tables to build; all nine if left out.
    """

    def __init__(self, id_source: str, tables: Collection[str] = ALL) -> None:
        self._tables = [name for name in ALL if name in tables]
        self._heads = Rows(Head)
        self._sides: list[UpdateTableBuilder | VerdictTableBuilder] = []
        if not set(UPDATE_TABLES).isdisjoint(self._tables):
            self._sides.append(UpdateTableBuilder(self._heads))
        if not set(VERDICT_TABLES).isdisjoint(self._tables):
            self._sides.append(VerdictTableBuilder(self._heads, id_source))

    def __len__(self) -> int:
        return len(self._heads)

    @property
    def bytes(self) -> int:
        """Arrow bytes that the tables will have, about: each row carries the head of its item."""
        rows = sum(len(rows) for side in self._sides for rows in side.kinds)
        return self._heads.conversion.bytes + rows * self._heads.width

    @numbers_in_range()
    def add(self, items: Sequence[Any]) -> None:
        """Put a block of items to the others.

        Parameters
        ----------
        items : sequence of Event or EventWithoutUpdateBody
            In any order; `EventWithoutUpdateBody` for the tables of that side only.

        Raises
        ------
        DecodeError
            If an item has neither update nor verdict or contradicts itself.
        """
        rows = self._heads.add(heads_of(items), np.empty(0, dtype=np.int64))
        for side in self._sides:
            side.add(items, rows)
        self._heads.conversion.finish()

    @numbers_in_range()
    def tables(self) -> dict[str, pa.Table]:
        """The tables of all items, sorted as declared, also those without rows; asked for once.

        Raises
        ------
        DecodeError
            If a time cannot be read, a node has no number, or a tree is not one.
        """
        batch = Batch(self._heads)
        if batch.order is not None:
            moved: dict[Rows[Any], Indices] = {self._heads: moves(batch.order, len(self._heads))}
            for rows in [rows for side in self._sides for rows in side.kinds]:
                rows.follow(moved)
        builders = {name: build for side in self._sides for name, build in side.builders().items()}
        return {name: builders[name](batch) for name in self._tables}


def event_tables(events: Sequence[Event], id_source: str, tables: Collection[str] = ALL) -> dict[str, pa.Table]:
    """Build the history tables from event items.

    Parameters
    ----------
    events : sequence of Event
        In any order.
    id_source : str
        How the items were found: ``listing``, ``ledger``, ``bulk`` or ``user``.
    tables : collection of str, optional
        Names of the tables to build; all nine if left out.

    Returns
    -------
    dict of str to Table
        Every table asked for, sorted as declared, also when it has no rows.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself, a time cannot be read, or a tree is not one.
    """
    rows = EventTableBuilder(id_source, tables)
    rows.add(events)
    return rows.tables()
