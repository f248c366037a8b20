"""Event items in the history's order, with the head that every row of theirs carries."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import Indices, times
from ledgerframes.datasets._columns import PLACE, Rows
from ledgerframes.datasets._schema import INTEGER
from ledgerframes.datasets.events.wire import Event, EventWithoutUpdateBody, head

logger = logging.getLogger("ledgerframes")

Columns = dict[str, pa.Array]


class Head(msgspec.Struct, gc=False):
    """What places an item, and what it has itself."""

    migration_id: int
    record_time: str
    update_id: str
    has_update: bool
    extra: msgspec.Raw


def heads_of(items: Sequence[Event | EventWithoutUpdateBody]) -> list[Head]:
    """The heads of items.

    Raises
    ------
    DecodeError
        If an item has neither update nor verdict or contradicts itself.
    """
    return [Head(*head(item), item.update is not None, item.extra) for item in items]


class Batch:
    """The heads of items as columns, in table order, each item once.

    Parameters
    ----------
    heads : Rows of Head

    Attributes
    ----------
    order : array of int or None
        Which rows of `heads` these are; all of them as they came if missing.
    """

    def __init__(self, heads: Rows[Head]) -> None:
        place = {name: heads.whole(name) for name in PLACE}
        place["record_time"] = times(place["record_time"], "record_time")
        self.order = _order(place)
        columns = place | {name: heads.whole(name) for name in ("has_update", "extra")}
        self._columns = columns if self.order is None else _taken(columns, self.order)

    def head(self, owners: Indices) -> Columns:
        """The columns that place rows, for rows of these items."""
        return _taken({name: self._columns[name] for name in PLACE}, owners)

    def has_update(self, owners: Indices) -> pa.Array:
        """Whether these items have an update."""
        return self._columns["has_update"].take(pa.array(owners))

    def unknown(self, owners: Indices) -> pa.Array:
        """What is not known of these items."""
        return self._columns["extra"].take(pa.array(owners))


def _taken(columns: Columns, rows: Indices) -> Columns:
    taken = pa.RecordBatch.from_pydict(columns).take(pa.array(rows))
    return dict(zip(columns, taken.columns, strict=True))


def _order(place: Columns) -> Indices | None:
    """The rows in order of (migration, record time, id), each item once; missing where they came so."""
    migration_ids, record_times = place["migration_id"].to_numpy(), place["record_time"].cast(INTEGER).to_numpy()
    if _ascending(migration_ids, record_times) and pc.count_distinct(place["update_id"]).as_py() == len(record_times):
        return None
    order = pc.sort_indices(pa.table(place), [(name, "ascending") for name in PLACE]).to_numpy().astype(np.int64)
    return _each_once(order, migration_ids[order].tolist(), place["update_id"].take(pa.array(order)).to_pylist())


def _ascending(migration_ids: Indices, record_times: Indices) -> bool:
    """Whether the items came in table order, as they mostly do, and no two of them at one time."""
    later = record_times[1:] > record_times[:-1]
    later[migration_ids[1:] != migration_ids[:-1]] = True
    return bool(later.all() and (migration_ids[1:] >= migration_ids[:-1]).all())


def _each_once(order: Indices, migration_ids: list[int], update_ids: list[str]) -> Indices:
    """The first row of each item: a second verdict on the same request is dropped, as the network itself does.

    See docs/facts.md#second-verdicts.
    """
    first: dict[tuple[int, str], int] = {}
    for row, item in zip(order.tolist(), zip(migration_ids, update_ids, strict=True), strict=True):
        first.setdefault(item, row)
    if len(first) < len(order):
        logger.warning("%d events came more than once; the first of each is kept", len(order) - len(first))
    return np.array([*first.values()], dtype=np.int64)
