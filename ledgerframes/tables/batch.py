"""A batch of event items in table order, with the head that every row of theirs carries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.tables.arrays import Indices, times
from ledgerframes.tables.parts import Columns, Part
from ledgerframes.tables.spec import INTEGER, TEXT
from ledgerframes.wire.history import Event, TrafficSummary, Verdict, VerdictSide, View, head

logger = logging.getLogger("ledgerframes")

Item = TypeVar("Item", Event, VerdictSide)
Place = tuple[int, str, str]


@dataclass(frozen=True)
class Batch(Generic[Item]):
    """Event items in table order, and for each the columns that all its rows share."""

    items: Sequence[Item]
    columns: Columns
    id_source: str

    @classmethod
    def of(cls, items: Sequence[Item], id_source: str) -> Batch[Item]:
        """Put event items, each once, in order of (migration, record time, id)."""
        places, items = _once([head(item) for item in items], items)
        migration_ids, record_times, update_ids = zip(*places, strict=True) if places else ((), (), ())
        columns = {
            "migration_id": pa.array(migration_ids, INTEGER),
            "record_time": times(record_times, "record_time"),
            "update_id": pa.array(update_ids, TEXT),
        }
        if _ascending(columns["migration_id"].to_numpy(), columns["record_time"].cast(INTEGER).to_numpy()):
            return cls(items, columns, id_source)
        order = pc.sort_indices(pa.table(columns), [(name, "ascending") for name in columns])
        columns = {name: values.take(order) for name, values in columns.items()}
        return cls([items[position] for position in order.to_pylist()], columns, id_source)

    def head(self, owners: Indices) -> Columns:
        """The shared columns, for rows that belong to these items."""
        if np.array_equal(owners, np.arange(len(self.items))):
            return self.columns
        rows = self._head.take(pa.array(owners))
        return dict(zip(self.columns, rows.columns, strict=True))

    @cached_property
    def _head(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([*self.columns.values()], [*self.columns])

    # -- parts that several tables are built from ---------------------------------------------------------------------

    @cached_property
    def verdicts(self) -> Part[Verdict]:
        """The verdicts of the items."""
        return Part.of([item.verdict for item in self.items])

    @cached_property
    def views(self) -> Part[View]:
        """The views of the verdicts, in order of their ids."""
        views = [verdict.transaction_views for verdict in self.verdicts.structs]
        part = self.verdicts.children([one.views if one else None for one in views])
        return part.take(part.order(np.array([view.view_id for view in part.structs], dtype=np.int64)))

    @cached_property
    def traffic_summaries(self) -> Part[TrafficSummary]:
        """The traffic summaries of the items."""
        return Part.of([item.traffic_summary for item in self.items])


def _once(places: list[Place], items: Sequence[Item]) -> tuple[list[Place], Sequence[Item]]:
    """Each item once: a second verdict on the same request is dropped, as the network itself does (questions T4)."""
    if len({update_id for _, _, update_id in places}) == len(places):
        return places, items
    once: dict[tuple[int, str], tuple[Place, Item]] = {}
    for place, item in zip(places, items, strict=True):
        migration_id, record_time, update_id = place
        first, _ = once.setdefault((migration_id, update_id), (place, item))
        if record_time < first[1]:
            once[migration_id, update_id] = place, item
    if len(once) < len(items):
        logger.warning("%d events came more than once; the first of each is kept", len(items) - len(once))
    return [place for place, _ in once.values()], [item for _, item in once.values()]


def _ascending(migration_ids: Indices, record_times: Indices) -> bool:
    """Whether the items came in table order, as they mostly do, and no two of them at one time."""
    later = record_times[1:] > record_times[:-1]
    later[migration_ids[1:] != migration_ids[:-1]] = True
    return bool(later.all() and (migration_ids[1:] >= migration_ids[:-1]).all())
