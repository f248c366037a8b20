"""Items of the history API turned into the nine history tables. Pure: structs in, Arrow tables out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pyarrow as pa

from ledgerframes.tables import update_side, verdict_side
from ledgerframes.tables.arrays import numbers_in_range
from ledgerframes.tables.batch import Batch
from ledgerframes.wire.history import Event, Update, VerdictSide

__all__ = ["UPDATE_SIDE", "VERDICT_SIDE", "event_tables", "update_tables", "verdict_side_tables"]

Builders = dict[str, Callable[[Batch[Any]], pa.Table]]

_UPDATE_SIDE: Builders = {
    "updates": update_side.updates,
    "tree_events": update_side.tree_events,
    "reassignments": update_side.reassignments,
}
_VERDICT_SIDE: Builders = {
    "verdicts": verdict_side.verdicts,
    "views": verdict_side.views,
    "quorums": verdict_side.quorums,
    "traffic": verdict_side.traffic,
    "envelopes": verdict_side.envelopes,
    "activity_records": verdict_side.activity_records,
}
UPDATE_SIDE = tuple(_UPDATE_SIDE)
VERDICT_SIDE = tuple(_VERDICT_SIDE)


def event_tables(events: Sequence[Event], id_source: str, tables: Collection[str] | None = None) -> dict[str, pa.Table]:
    """Build the history tables from a batch of event items.

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
    return _built({**_UPDATE_SIDE, **_VERDICT_SIDE}, events, id_source, tables)


def verdict_side_tables(
    items: Sequence[VerdictSide], id_source: str, tables: Collection[str] | None = None
) -> dict[str, pa.Table]:
    """Build the tables of verdicts, traffic and activity from event items decoded without their trees.

    Parameters
    ----------
    items : sequence of VerdictSide
        In any order.
    id_source : str
        How the items were found: ``listing``, ``ledger``, ``bulk`` or ``user``.
    tables : collection of str, optional
        Names of the tables to build; all of `VERDICT_SIDE` if left out.

    Returns
    -------
    dict of str to Table
        Every table asked for, the same as `event_tables` builds.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself, or a time cannot be read.
    """
    return _built(_VERDICT_SIDE, items, id_source, tables)


def update_tables(updates: Sequence[Update]) -> dict[str, pa.Table]:
    """Build the tables of updates, their nodes and reassignments from update items, such as the lines of bulk objects.

    Parameters
    ----------
    updates : sequence of Update
        In any order.

    Returns
    -------
    dict of str to Table
        The tables of `UPDATE_SIDE`, the same as `event_tables` builds.

    Raises
    ------
    DecodeError
        If an item is neither transaction nor reassignment, a time cannot be read, or a tree is not one.
    """
    return _built(_UPDATE_SIDE, [Event(update=update) for update in updates], "")


@numbers_in_range()
def _built(
    builders: Builders, items: Sequence[Any], id_source: str, tables: Collection[str] | None = None
) -> dict[str, pa.Table]:
    batch: Batch[Any] = Batch.of(items, id_source)
    return {name: build(batch) for name, build in builders.items() if tables is None or name in tables}
