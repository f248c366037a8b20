"""Tables about the store, for the coverage of frames and the plan of a load."""

from __future__ import annotations

from ledgerframes.datasets._schema import CHOICE, INTEGER, TEXT, TIME, Column, Table
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.datasets.events.schema import MIGRATION_ID

STORE = "docs/architecture.md#the-store"

SINCE = Column(
    "since",
    TIME,
    "Start of the window, inclusive. Missing if the segment was fetched by id.",
    STORE,
    nullable=True,
    unit="UTC, microseconds",
)
UNTIL = Column(
    "until",
    TIME,
    "End of the window, exclusive. Missing if the segment was fetched by id.",
    STORE,
    nullable=True,
    unit="UTC, microseconds",
)
MIGRATION = Column("migration_id", INTEGER, MIGRATION_ID.description, MIGRATION_ID.reference, nullable=True)

COVERAGE = Table(
    name="coverage",
    row_description="segment of the store that the frames read",
    family="bookkeeping",
    key=(),
    sort=("migration_id", "since", "after"),
    columns=(
        MIGRATION,
        SINCE,
        UNTIL,
        Column(
            "after",
            INTEGER,
            "Offset before the first, exclusive. Missing if the segment is not of a participant's ledger.",
            STORE,
            nullable=True,
        ),
        Column(
            "through",
            INTEGER,
            "Last offset, inclusive. Missing if the segment is not of a participant's ledger.",
            STORE,
            nullable=True,
        ),
        Column(
            "status",
            CHOICE,
            "final: cannot change. provisional: may change and is fetched again. gap: pruned before it was fetched.",
            STORE,
            values=("final", "provisional", "gap"),
        ),
        Column("rows", INTEGER, "Number of rows in all tables together.", STORE, unit="rows"),
        Column("source", TEXT, "Host that the rows came from, or `file`.", STORE),
        Column("fetched_at", TIME, "Time at which the segment was written.", STORE, unit="UTC, microseconds"),
    ),
)

PLAN = Table(
    name="plan",
    row_description="window that would be fetched",
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
