"""Tables about the store itself: what frames cover, and what a load would fetch."""

from __future__ import annotations

from ledgerframes.datasets._schema import CHOICE, INTEGER, TEXT, TIME, Column, Table
from ledgerframes.datasets.events.schema import MIGRATION_ID

STORE = "docs/architecture.md#the-store"

SINCE = Column("since", TIME, "Begin of the range, inside it; missing for ids.", STORE, nullable=True, unit="UTC, microseconds")
UNTIL = Column("until", TIME, "End of the range, outside it; missing for ids.", STORE, nullable=True, unit="UTC, microseconds")
MIGRATION = Column("migration_id", INTEGER, MIGRATION_ID.description, MIGRATION_ID.reference, nullable=True)
AFTER = Column("after", INTEGER, "Offset before the first of the range; missing for times and ids.", STORE, nullable=True)
THROUGH = Column("through", INTEGER, "Last offset of the range; missing for times and ids.", STORE, nullable=True)

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
        AFTER,
        THROUGH,
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
    row_description="extent that a load would fetch",
    family="bookkeeping",
    key=(),
    sort=("dataset", "migration_id", "since", "after"),
    columns=(
        Column("dataset", TEXT, "Dataset of the store, or table of a state that is not stored.", STORE),
        MIGRATION,
        SINCE,
        UNTIL,
        AFTER,
        THROUGH,
        Column("update_id", TEXT, "Id to look up. Missing unless ids are loaded.", STORE, nullable=True),
        Column("object_key", TEXT, "Key of a bulk object. Missing unless bulk objects are loaded.", STORE, nullable=True),
    ),
)
