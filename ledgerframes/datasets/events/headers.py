"""Event items in the history's order, with the header that all their rows have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._columns import NO_ROWS, Columns, StructColumns
from ledgerframes.datasets.arrays import Indices, parse_timestamps
from ledgerframes.datasets.events.wire import Event, Verdict, header_of
from ledgerframes.datasets.schema import INTEGER

Part = tuple[StructColumns[Any], Callable[["EventHeaders"], dict[str, Any]]]  # rows of a table, and what makes its other columns
HEADER_FIELDS = ("migration_id", "record_time", "update_id")


class EventHeader(msgspec.Struct, gc=False):
    """Position of an item in the history, and what the item itself has."""

    migration_id: int
    record_time: str
    update_id: str
    has_update: bool
    has_traffic: bool
    decided_at: str | None
    decision: str | None
    extra: msgspec.Raw


def headers_of(items: Sequence[Event]) -> list[EventHeader]:
    """Return the headers of items.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself.
    """
    return [
        EventHeader(
            *header_of(item),
            item.update is not None,
            item.traffic_summary is not None,
            *_decision(item.verdict),
            _extra_of(item),
        )
        for item in items
    ]


def _decision(verdict: Verdict | None) -> tuple[str | None, str | None]:
    return (verdict.finalization_time, verdict.verdict_result) if verdict else (None, None)


def _extra_of(item: Event) -> msgspec.Raw:
    """Return the unknown members of an item.

    Those of a list of activity records are among them if it is empty, because it has no row then.
    """
    records = item.app_activity_records
    if not item.is_extended or records is None or records.records or not records.extra:
        return item.extra
    own = bytes(item.extra)[1:-1]
    return msgspec.Raw(b"{%s}" % b",".join(filter(None, [own, b'"app_activity_records":' + bytes(records.extra)])))


class EventHeaders:
    """The headers of items as columns, in table order, each position once.

    `order` are the rows of `headers` that these are, or None if these are all of them in their order, and `dropped` the others.
    """

    def __init__(self, headers: StructColumns[EventHeader]) -> None:
        position = {name: headers.to_array(name) for name in HEADER_FIELDS}
        position["record_time"] = parse_timestamps(position["record_time"], "record_time")
        self.order = _order(position, headers)
        self.dropped = NO_ROWS if self.order is None else np.setdiff1d(np.arange(len(headers)), self.order)
        self.dropped_columns = _take(position, self.dropped)
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


def _order(position: Columns, headers: StructColumns[EventHeader]) -> Indices | None:
    """Return the rows in table order, each position once, or None if they are in that order.

    Of events with one id and one record time, the first that was decided counts (docs/facts.md#second-verdicts). Of copies of
    one event, that with an update counts, and then that with traffic.
    """
    migration_ids, record_times = position["migration_id"].to_numpy(), position["record_time"].cast(INTEGER).to_numpy()
    if _is_ascending(migration_ids, record_times):
        return None
    decided_at = parse_timestamps(headers.to_array("decided_at"), "finalization_time")
    keys = {**position, "decided_at": decided_at, "decision": headers.to_array("decision")}
    parts = {name: headers.to_array(name) for name in ("has_update", "has_traffic")}
    by = [*((name, "ascending") for name in keys), *((name, "descending") for name in parts)]
    order = pc.sort_indices(pa.table(keys | parts), by).to_numpy().astype(np.int64)
    ids = position["update_id"].take(pa.array(order))
    repeats = (np.diff(migration_ids[order]) == 0) & (np.diff(record_times[order]) == 0)
    repeats &= pc.equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    first_of_each: Indices = order[np.concatenate([[True], ~repeats])]
    return first_of_each


def _is_ascending(migration_ids: Indices, record_times: Indices) -> bool:
    """Return whether the items are in table order, as most are, without two at one time."""
    later = record_times[1:] > record_times[:-1]
    later[migration_ids[1:] != migration_ids[:-1]] = True
    return bool(later.all() and (migration_ids[1:] >= migration_ids[:-1]).all())
