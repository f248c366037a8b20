"""Tables about the store itself, the coverage of frames and the plan of a load."""

from __future__ import annotations

from dataclasses import replace

from ledgerframes.datasets.header import HEADER, MIGRATION_ID
from ledgerframes.datasets.schema import CHOICE, INTEGER, TEXT, TIME, Column, Table

STORE = "docs/architecture.md#the-store"
SECOND_VERDICT = "second verdict"

EXTENT_COLUMNS = (
    replace(MIGRATION_ID, missing="if the extent has none or several"),
    Column("since", TIME, "Start of the window, inclusive.", missing="for ids and offsets"),
    Column("until", TIME, "End of the window, exclusive.", missing="for ids and offsets"),
    Column("after", INTEGER, "Start of the offset range, exclusive.", missing="for windows and ids"),
    Column("through", INTEGER, "End of the offset range, inclusive.", missing="for windows and ids"),
)

COVERAGE = Table(
    name="coverage",
    row_description="segment of the store that the frames read",
    reference=STORE,
    family="bookkeeping",
    key=(),
    sort=("migration_id", "since", "after"),
    columns=(
        *EXTENT_COLUMNS,
        Column(
            "status",
            CHOICE,
            "final: cannot change. provisional: may change and is fetched again. gap: pruned before it was fetched.",
            values=("final", "provisional", "gap"),
        ),
        Column("rows", INTEGER, "Rows of all tables of the segment together, including those outside the window.", unit="rows"),
        Column("source", TEXT, "Host that returned the rows, or file."),
        Column("fetched_at", TIME, "Time when the segment was written."),
    ),
)


def _estimate(name: str, description: str, unit: str) -> Column:
    text = f"{description} from the density of what is stored."
    return Column(name, INTEGER, text, missing="for ids and objects, or if nothing is stored", unit=unit)


PLAN = Table(
    name="plan",
    row_description="extent that a load would fetch",
    reference=STORE,
    family="bookkeeping",
    key=(),
    sort=("dataset", "migration_id", "since", "after"),
    columns=(
        Column("dataset", TEXT, "Dataset of the store, or table of a state that is not stored."),
        *EXTENT_COLUMNS,
        Column("update_id", TEXT, "Id to look up.", missing="unless ids are loaded"),
        Column("object_key", TEXT, "Key of a bulk object.", missing="unless bulk objects are loaded"),
        _estimate("requests", "HTTP requests to fetch it, estimated", "requests"),
        _estimate("rows", "Rows of all tables together, estimated", "rows"),
        _estimate("bytes", "Size in the store, estimated", "bytes"),
        Column(
            "minutes",
            INTEGER,
            "Minutes to fetch it, from the requests and their rate.",
            missing="without estimates, or without a rate",
            unit="minutes",
        ),
        Column(
            "request_rate",
            TEXT,
            "What the minutes rest on: the requests per second that the host has kept so far, or the maximum that is set.",
            missing="without minutes",
        ),
    ),
)

PROBLEM = Column(
    "problem",
    CHOICE,
    "Reason for excluding the rows. second verdict: an earlier event of the request counts.",
    "docs/facts.md#second-verdicts",
    values=(SECOND_VERDICT,),
)
TABLE = Column("table", TEXT, "Table that the rows belong to.", "docs/architecture.md#one-row-for-each-request")
ROWS = Column("rows", INTEGER, "Number of excluded rows.", "docs/architecture.md#one-row-for-each-request", unit="rows")

# Events that a segment excludes. They share id and record time with an event that counts, so no filter could tell them apart.
DROPPED_ROWS = Table(
    name="dropped_rows",
    row_description="table and event that was dropped when its segment was written",
    family="bookkeeping",
    key=(),
    sort=("migration_id", "record_time", "update_id", "table"),
    columns=(*HEADER, PROBLEM, TABLE, ROWS),
)

# Positions of the events of a segment, by which a commit finds the second verdicts among all that the store holds.
EVENT_POSITIONS = Table(
    name="event_positions",
    row_description="event of a segment",
    reference="docs/architecture.md#one-row-for-each-request",
    family="bookkeeping",
    key=(),
    sort=("update_hash", "migration_id", "record_time"),
    columns=(Column("update_hash", INTEGER, "Hash of the update id."), *HEADER[:2]),
)

PROBLEMS = Table(
    name="problems",
    row_description="problem and table with excluded rows",
    family="bookkeeping",
    key=(),
    columns=(PROBLEM, TABLE, ROWS, replace(HEADER[2], meaning="Id of one of the updates.")),
)

RECHECK = "docs/store.md#recheck"
REMOVED, ADDED, CHANGED = "rows removed", "rows added", "values changed"

UPSTREAM_CHANGES = Table(
    name="upstream_changes",
    row_description="stored extent, table, change and column that the service returns differently now",
    reference=RECHECK,
    family="bookkeeping",
    key=("dataset", "extent", "table", "change", "column"),
    columns=(
        Column("dataset", TEXT, "Dataset of the store."),
        Column("extent", TEXT, "The part of a segment that was fetched again."),
        Column("table", TEXT, "Table of the dataset."),
        Column(
            "change", CHOICE, "What differs, where rows are matched by the key of the table.", values=(REMOVED, ADDED, CHANGED)
        ),
        Column("column", TEXT, "Column whose values differ.", missing="for whole rows"),
        Column("rows", INTEGER, "Number of rows that differ.", unit="rows"),
    ),
)
