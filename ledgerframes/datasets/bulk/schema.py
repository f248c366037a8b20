"""Tables of bulk objects and of the active contracts in them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.schema import CHOICE, INTEGER, SMALL, TEXT, TIME, Column, Table
from ledgerframes.values.windows import Window

ACS_LINE = "docs/facts.md#contracts-at-snapshot"
OBJECT = "docs/facts.md#bulk-storage"

ACTIVE_CONTRACTS = Table(
    name="active_contracts",
    row_description="contract active on the network at a snapshot",
    family="active_contracts",
    key=("snapshot_time", "contract_id"),
    sort=("snapshot_time", "contract_id"),
    columns=(
        Column("snapshot_time", TIME, "Time at which the contract was active.", OBJECT),
        history.CONTRACT_ID,
        *history.TEMPLATE_COLUMNS,
        *history.CREATED_COLUMNS,
        Column(
            "created_in_update_id",
            TEXT,
            "Update that created the contract.",
            ACS_LINE,
            missing="if the contract was imported from an earlier migration",
        ),
        history.unknown_members("contract"),
    ),
)


def _overlaps_window(window: Window) -> pc.Expression:
    """Return the objects with lines in a window.

    Objects without lines, and those with lines of two migrations, count by their folder.
    """
    since, until = pa.scalar(window.since, TIME), pa.scalar(window.until, TIME)
    folder = pc.field("since").is_null() | ((pc.field("since") < until) & (pc.field("until") > since))
    unclear = pc.field("first_record_time").is_null() | (pc.field("first_migration_id") != pc.field("last_migration_id"))
    return folder & (unclear | ((pc.field("first_record_time") < until) & (pc.field("last_record_time") >= since)))


BULK_OBJECTS = Table(
    name="bulk_objects",
    row_description="bulk object that was read",
    reference=OBJECT,
    family="bulk_objects",
    key=("object_key",),
    sort=("since", "until", "kind", "object_index", "object_key"),
    is_presorted=False,  # segments have them in the order of their lines
    window_filter=_overlaps_window,
    columns=(
        Column("object_key", TEXT, "Key of the object: folder and file name. For a file without a key in its name, its digest."),
        Column("kind", CHOICE, "Kind of lines in the object: updates or active contracts.", values=("updates", "acs")),
        Column(
            "encoding",
            CHOICE,
            "Encoding of the payloads.",
            missing="if the key is of the old form without one",
            values=("compact_json", "protobuf_json"),
        ),
        Column(
            "since", TIME, "Start of the folder, which is in the year 1 for the first.", missing="if the file name is not a key"
        ),
        Column("until", TIME, "End of the folder.", missing="if the file name is not a key"),
        Column(
            "object_index",
            SMALL,
            "Index of the object in its folder, from 0.",
            "docs/facts.md#bulk-listing-order",
            missing="if the file name is not a key",
            former_names=("number",),
        ),
        Column("bytes", INTEGER, "Size of the compressed object.", unit="bytes"),
        Column(
            "uncompressed_bytes",
            INTEGER,
            "Size of the lines after decompression.",
            unit="bytes",
            former_names=("expanded_bytes",),
        ),
        Column("lines", INTEGER, "Number of updates or contracts in the object.", unit="lines"),
        Column("sha256", TEXT, "SHA-256 of the compressed bytes, in hexadecimal.", "docs/architecture.md#the-store"),
        Column(
            "digest_status",
            CHOICE,
            "Listed digest compared with the bytes: matched, empty_digest (of no bytes, a known fault) or unknown.",
            "docs/facts.md#digest-of-empty-bytes",
            values=("matched", "empty_digest", "unknown"),
            former_names=("digest_check",),
        ),
        Column("first_record_time", TIME, "Record time of the first update.", missing="if the object contains no updates"),
        Column("last_record_time", TIME, "Record time of the last update.", missing="if the object contains no updates"),
        Column("first_migration_id", INTEGER, "Migration of the first update.", missing="if the object contains no updates"),
        Column("last_migration_id", INTEGER, "Migration of the last update.", missing="if the object contains no updates"),
        Column("source", TEXT, "Host that served the object, or `file`.", "docs/architecture.md#the-store"),
        Column(
            "fetched_at",
            TIME,
            "Time at which the object was read.",
            "docs/architecture.md#the-store",
            former_names=("read_at",),
        ),
    ),
)

BULK_TABLES = (ACTIVE_CONTRACTS, BULK_OBJECTS)
