"""Tables of the bulk objects: the network's active contracts at a snapshot, and what is known of each object read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets._arrays import json_text, split_template_ids, times
from ledgerframes.datasets._schema import CHOICE, INTEGER, SMALL, TEXT, TEXTS, TIME, Column, Table
from ledgerframes.datasets.bulk.wire import ActiveContract
from ledgerframes.datasets.events import schema as history
from ledgerframes.windows import Window

ACS_LINE = "docs/facts.md#contracts-at-snapshot"
OBJECT = "docs/facts.md#bulk-storage"
MICROSECONDS = "UTC, microseconds"

ACTIVE_CONTRACTS = Table(
    name="active_contracts",
    row_description="contract active on the network at a snapshot",
    family="active_contracts",
    key=("snapshot_time", "contract_id"),
    sort=("snapshot_time", "contract_id"),
    columns=(
        Column("snapshot_time", TIME, "When the contract was active.", OBJECT, unit=MICROSECONDS),
        history.CONTRACT_ID,
        history.TEMPLATE_ID,
        history.PACKAGE_ID,
        history.TEMPLATE_NAME,
        history.PACKAGE_NAME,
        history.CREATED_AT,
        history.SIGNATORIES,
        history.OBSERVERS,
        history.CREATE_ARGUMENTS,
        Column(
            "created_in_update_id",
            TEXT,
            "Update that created it; missing for a contract imported from an earlier migration.",
            ACS_LINE,
            nullable=True,
        ),
        history.unknown_members("contract"),
    ),
)


def _overlaps_window(window: Window) -> pc.Expression:
    """Return the objects with lines in a window; those without lines or with lines of two migrations count by their folder."""
    since, until = pa.scalar(window.since, TIME), pa.scalar(window.until, TIME)
    folder = pc.field("since").is_null() | ((pc.field("since") < until) & (pc.field("until") > since))
    unclear = pc.field("first_record_time").is_null() | (pc.field("first_migration_id") != pc.field("last_migration_id"))
    return folder & (unclear | ((pc.field("first_record_time") < until) & (pc.field("last_record_time") >= since)))


BULK_OBJECTS = Table(
    name="bulk_objects",
    row_description="bulk object read",
    family="bulk_objects",
    key=("object_key",),
    sort=("since", "until", "kind", "object_index", "object_key"),
    is_presorted=False,  # segments have them in the order of their lines
    window_filter=_overlaps_window,
    columns=(
        Column(
            "object_key",
            TEXT,
            "Name of the object, verbatim: folder and file; the digest of a file that is not named by a key.",
            OBJECT,
        ),
        Column("kind", CHOICE, "Whether its lines are updates or active contracts.", OBJECT, values=("updates", "acs")),
        Column(
            "encoding",
            CHOICE,
            "Encoding of the payloads, by the key; missing where an old key does not say.",
            OBJECT,
            nullable=True,
            values=("compact_json", "protobuf_json"),
        ),
        Column(
            "since",
            TIME,
            "Begin of its folder, by the key; the first one begins in the year 1. Missing for a file that is not named by a key.",
            OBJECT,
            nullable=True,
            unit=MICROSECONDS,
        ),
        Column(
            "until",
            TIME,
            "End of its folder, by the key; active contracts are those at the begin.",
            OBJECT,
            nullable=True,
            unit=MICROSECONDS,
        ),
        Column(
            "object_index",
            SMALL,
            "Place among the objects of its folder, from 0; the listing's order is another.",
            "docs/facts.md#bulk-listing-order",
            nullable=True,
        ),
        Column("bytes", INTEGER, "Size as stored, compressed.", OBJECT, unit="bytes"),
        Column("uncompressed_bytes", INTEGER, "Size of its lines, expanded.", OBJECT, unit="bytes"),
        Column("lines", INTEGER, "Updates or contracts in it.", OBJECT, unit="lines"),
        Column(
            "sha256", TEXT, "SHA-256 of the stored bytes, made while reading, in hexadecimal.", "docs/architecture.md#the-store"
        ),
        Column(
            "digest_status",
            CHOICE,
            "Whether the listed digest is that of the bytes, that of nothing (a known fault), or was not listed.",
            "docs/facts.md#digest-of-empty-bytes",
            values=("matched", "empty_digest", "unknown"),
        ),
        Column(
            "first_record_time",
            TIME,
            "Record time of the first update; missing for active contracts.",
            OBJECT,
            nullable=True,
            unit=MICROSECONDS,
        ),
        Column(
            "last_record_time",
            TIME,
            "Record time of the last update; missing for active contracts.",
            OBJECT,
            nullable=True,
            unit=MICROSECONDS,
        ),
        Column(
            "first_migration_id", INTEGER, "Migration of the first update; missing for active contracts.", OBJECT, nullable=True
        ),
        Column(
            "last_migration_id", INTEGER, "Migration of the last update; missing for active contracts.", OBJECT, nullable=True
        ),
        Column("source", TEXT, "Host that gave it, or `file`.", "docs/architecture.md#the-store"),
        Column("fetched_at", TIME, "When it was read.", "docs/architecture.md#the-store", unit=MICROSECONDS),
    ),
)

BULK_TABLES = (ACTIVE_CONTRACTS, BULK_OBJECTS)


class ActiveContractTableBuilder:
    """Contracts that are active at a snapshot, on their way into a table: put here block by block.

    Parameters
    ----------
    snapshot_time : datetime
        Begin of the folder they are from.

    Attributes
    ----------
    bytes : int
        Arrow bytes of what is here.
    """

    def __init__(self, snapshot_time: datetime) -> None:
        self._snapshot_time = snapshot_time
        self._blocks = [ACTIVE_CONTRACTS.empty_arrow()]
        self.bytes = 0

    def add(self, contracts: Sequence[ActiveContract]) -> None:
        """Put a block of contracts to the others.

        Parameters
        ----------
        contracts : sequence of ActiveContract
            In any order; objects list them by creation.

        Raises
        ------
        DecodeError
            If a time cannot be read, or a payload is not UTF-8.
        """
        block = _columns(contracts, self._snapshot_time)
        self._blocks.append(block)
        self.bytes += block.nbytes

    def tables(self) -> dict[str, pa.Table]:
        """The table of all contracts, sorted as declared."""
        return {ACTIVE_CONTRACTS.name: ACTIVE_CONTRACTS.sorted(pa.concat_tables(self._blocks))}


def _columns(contracts: Sequence[ActiveContract], snapshot_time: datetime) -> pa.Table:
    template_ids = pa.array([contract.template_id for contract in contracts], TEXT)
    package_ids, template_names = split_template_ids(template_ids)
    return ACTIVE_CONTRACTS.from_arrays(
        {
            "snapshot_time": pa.repeat(pa.scalar(snapshot_time, TIME), len(contracts)),
            "contract_id": pa.array([contract.contract_id for contract in contracts], TEXT),
            "template_id": template_ids,
            "package_id": package_ids,
            "template_name": template_names,
            "package_name": pa.array([contract.package_name for contract in contracts], TEXT),
            "created_at": times([contract.created_at for contract in contracts], "created_at"),
            "signatories": pa.array([contract.signatories for contract in contracts], TEXTS),
            "observers": pa.array([contract.observers for contract in contracts], TEXTS),
            "create_arguments": json_text([contract.create_arguments for contract in contracts], "create_arguments"),
            "created_in_update_id": pa.array([contract.created_in for contract in contracts], TEXT),
            "extra": json_text([contract.extra for contract in contracts], "extra"),
        }
    )
