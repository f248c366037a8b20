"""Update ids that sources of committed updates have."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets.registry import BULK, BULK_BY_KEY, EVENTS_BY_ID, LEDGER
from ledgerframes.store.store import Store

# Tables with a row for every committed update, and verdicts whose ids a caller named so.
SOURCES = (
    (LEDGER, "ledger_updates", None),
    (BULK, "updates", None),
    (BULK_BY_KEY, "updates", None),
    (EVENTS_BY_ID, "verdicts", pc.field("id_source").cast(pa.string()).isin(["ledger", "bulk"])),
)


def committed_ids(store: Store, update_ids: pa.Array) -> frozenset[str]:
    """Return the ids that ledger updates or bulk objects in the store have, as of now.

    Raises
    ------
    StoreError
        If a file of these tables is damaged.
    """
    known: set[str] = set()
    for dataset, table, condition in SOURCES:
        has_id = pc.field("update_id").isin(update_ids)
        rows = store.snapshot(dataset).read(table, ["update_id"], has_id if condition is None else has_id & condition)
        known.update(rows["update_id"].to_pylist())
    return frozenset(known)
