"""Event items in the history's order, with the header that every row of theirs has."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import Indices, parse_timestamps
from ledgerframes.datasets._columns import Columns, StructColumns
from ledgerframes.datasets._schema import INTEGER
from ledgerframes.datasets.events.wire import Event, EventWithoutUpdateBody, header_of

logger = logging.getLogger("ledgerframes")

HEADER_FIELDS = ("migration_id", "record_time", "update_id")


class EventHeader(msgspec.Struct, gc=False):
    """Position of an item in the history, and what the item itself has."""

    migration_id: int
    record_time: str
    update_id: str
    has_update: bool
    extra: msgspec.Raw


def headers_of(items: Sequence[Event | EventWithoutUpdateBody]) -> list[EventHeader]:
    """Return the headers of items.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself.
    """
    return [EventHeader(*header_of(item), item.update is not None, item.extra) for item in items]


class EventHeaders:
    """The headers of items as columns, in table order, each item once.

    Parameters
    ----------
    headers : StructColumns of EventHeader

    Attributes
    ----------
    order : array of int or None
        The rows of `headers` that these are, or None if these are all of them in their order.
    """

    def __init__(self, headers: StructColumns[EventHeader]) -> None:
        position = {name: headers.to_array(name) for name in HEADER_FIELDS}
        position["record_time"] = parse_timestamps(position["record_time"], "record_time")
        self.order = _order(position)
        columns = position | {name: headers.to_array(name) for name in ("has_update", "extra")}
        self._columns: Columns = columns if self.order is None else _take(columns, self.order)

    def columns(self, item_rows: Indices) -> Columns:
        """Return the header columns for rows of these items."""
        return _take({name: self._columns[name] for name in HEADER_FIELDS}, item_rows)

    def has_update(self, item_rows: Indices) -> pa.Array:
        """Return whether these items have an update."""
        return self._columns["has_update"].take(pa.array(item_rows))

    def extras(self, item_rows: Indices) -> pa.Array:
        """Return the unknown members of these items."""
        return self._columns["extra"].take(pa.array(item_rows))


def _take(columns: Columns, rows: Indices) -> Columns:
    batch = pa.RecordBatch.from_pydict(columns).take(pa.array(rows))
    return dict(zip(columns, batch.columns, strict=True))


def _order(position: Columns) -> Indices | None:
    """Return the rows in table order, each item once, or None if they are in that order."""
    migration_ids, record_times = position["migration_id"].to_numpy(), position["record_time"].cast(INTEGER).to_numpy()
    if _is_ascending(migration_ids, record_times) and pc.count_distinct(position["update_id"]).as_py() == len(record_times):
        return None
    order = pc.sort_indices(pa.table(position), [(name, "ascending") for name in HEADER_FIELDS]).to_numpy().astype(np.int64)
    return _first_rows(order, migration_ids[order].tolist(), position["update_id"].take(pa.array(order)).to_pylist())


def _is_ascending(migration_ids: Indices, record_times: Indices) -> bool:
    """Return whether the items are in table order, as most are, without two at one time."""
    later = record_times[1:] > record_times[:-1]
    later[migration_ids[1:] != migration_ids[:-1]] = True
    return bool(later.all() and (migration_ids[1:] >= migration_ids[:-1]).all())


def _first_rows(order: Indices, migration_ids: list[int], update_ids: list[str]) -> Indices:
    """Return the first row of each item, without second verdicts, as the network does.

    See docs/facts.md#second-verdicts.
    """
    first: dict[tuple[int, str], int] = {}
    for row, item in zip(order.tolist(), zip(migration_ids, update_ids, strict=True), strict=True):
        first.setdefault(item, row)
    if len(first) < len(order):
        logger.warning("duplicate_events_dropped events=%d", len(order) - len(first))
    return np.array([*first.values()], dtype=np.int64)
