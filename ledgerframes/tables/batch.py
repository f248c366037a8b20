"""A batch of event items in table order, with the head that every row of theirs carries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.tables.arrays import Indices, times
from ledgerframes.tables.spec import INTEGER, TEXT
from ledgerframes.wire.history import Event, head

logger = logging.getLogger("ledgerframes")

Columns = dict[str, pa.Array]
Positions = list[int]


@dataclass(frozen=True)
class Batch:
    """Event items in table order, and for each the columns that all its rows share."""

    events: list[Event]
    migration_id: pa.Array
    record_time: pa.Array
    update_id: pa.Array

    @classmethod
    def of(cls, events: Sequence[Event]) -> Batch:
        """Put event items, each once, in order of (migration, record time, id)."""
        once = _once(events)
        migration_ids, record_times, update_ids = zip(*once, strict=True) if once else ((), (), ())
        events = list(once.values())
        table = pa.table(
            {
                "migration_id": pa.array(migration_ids, INTEGER),
                "record_time": times(record_times, "record_time"),
                "update_id": pa.array(update_ids, TEXT),
            }
        )
        order = pc.sort_indices(table, [("migration_id", "ascending"), ("record_time", "ascending"), ("update_id", "ascending")])
        table = table.take(order).combine_chunks()
        columns = [column.combine_chunks() for column in table.columns]
        return cls([events[position] for position in order.to_pylist()], *columns)

    def head(self, owners: Indices | Positions) -> Columns:
        """The shared columns, for rows that belong to these items."""
        rows = pa.array(owners, pa.int64())
        return {
            "migration_id": self.migration_id.take(rows),
            "record_time": self.record_time.take(rows),
            "update_id": self.update_id.take(rows),
        }


def _once(events: Sequence[Event]) -> dict[tuple[int, str, str], Event]:
    """Each event once: a second verdict on the same request is dropped, as the network itself does (questions T4)."""
    once: dict[tuple[int, str], tuple[tuple[int, str, str], Event]] = {}
    for event in events:
        migration_id, record_time, update_id = place = head(event)
        first = once.setdefault((migration_id, update_id), (place, event))
        if record_time < first[0][1]:
            once[migration_id, update_id] = place, event
    if len(once) < len(events):
        logger.warning("%d events came more than once; the first of each is kept", len(events) - len(once))
    return dict(once.values())
