"""Tables about the store itself: what frames cover, and what a load would fetch."""

from __future__ import annotations

from ledgerframes.datasets._schema import CHOICE, INTEGER, TEXT, TIME, Column, Table
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.datasets.events.schema import MIGRATION_ID

STORE = "docs/architecture.md#the-store"

SINCE = Column("since", TIME, "Begin of the range, inside it; missing for ids.", STORE, nullable=True, unit="UTC, microseconds")
UNTIL = Column("until", TIME, "End of the range, outside it; missing for ids.", STORE, nullable=True, unit="UTC, microseconds")
MIGRATION = Column("migration_id", INTEGER, MIGRATION_ID.description, MIGRATION_ID.reference, nullable=True)

COVERAGE = Table(
    name="coverage",
    row_description="segment of the store that frames read",
    family="bookkeeping",
    key=(),
    sort=("migration_id", "since", "after"),
    columns=(
        MIGRATION,
        SINCE,
        UNTIL,
        Column("after", INTEGER, "Offset before the first of the range; missing for times and ids.", STORE, nullable=True),
        Column("through", INTEGER, "Last offset of the range; missing for times and ids.", STORE, nullable=True),
        Column(
            "status",
            CHOICE,
            "Provisional rows may still change and are asked again; a gap can no longer be asked.",
            STORE,
            values=("final", "provisional", "gap"),
        ),
        Column("rows", INTEGER, "Rows of all tables together.", STORE, unit="rows"),
        Column("source", TEXT, "Host that answered.", STORE),
        Column("fetched_at", TIME, "When it was written.", STORE, unit="UTC, microseconds"),
    ),
)

PLAN = Table(
    name="plan",
    row_description="range that would be fetched",
    family="bookkeeping",
    key=(),
    sort=("migration_id", "since"),
    columns=(MIGRATION, SINCE, UNTIL),
)

BULK_PLAN = Table(
    name="bulk_plan",
    row_description="bulk object that would be read",
    family="bookkeeping",
    key=("object_key",),
    sort=("since", "object_key"),
    columns=(BULK_OBJECTS["object_key"], SINCE, UNTIL),
)
