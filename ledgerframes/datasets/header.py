"""The columns that rows of updates and events start with."""

from __future__ import annotations

from ledgerframes.datasets.schema import INTEGER, TEXT, TIME, Column

UPDATE_ITEM = "docs/facts.md#update-items"

MIGRATION_ID = Column(
    "migration_id",
    INTEGER,
    "Migration of the synchronizer. Rows are sorted by it first, because record times of migrations overlap.",
    "docs/facts.md#record-times-per-migration",
)
RECORD_TIME = Column("record_time", TIME, "Time at which the synchronizer sequenced the request.", UPDATE_ITEM)
UPDATE_ID = Column("update_id", TEXT, "Id of the update, the same on every host.", UPDATE_ITEM)
HEADER = (MIGRATION_ID, RECORD_TIME, UPDATE_ID)
