"""Parquet files of one segment: written once, never changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.errors import StoreError
from ledgerframes.store.extent import Extent, Moment, OffsetSpan, Span, from_microseconds

ROW_GROUP = 25_000
COMPRESSION_LEVEL = 1  # level 3 and 9 give the same size, slower
UNIQUE_COLUMNS = ("event_id", "parent_event_id", "contract_id", "create_arguments", "choice_argument", "exercise_result")


@dataclass(frozen=True)
class SegmentFile:
    """One table of a segment: its file below the network's folder, rows, bytes and digest."""

    table: str
    path: str
    rows: int
    bytes: int
    sha256: str


def write_files(folder: Path, segment_id: str, extent: Extent, tables: Mapping[str, pa.Table]) -> dict[str, SegmentFile]:
    """Write the tables of one segment; a table without rows has no file.

    The files count for nothing until a catalog names them.

    Raises
    ------
    StoreError
        If the folder cannot be written.
    """
    name = f"{_readable(extent)}_{segment_id[:12]}.parquet"
    return {table: _write(folder, f"{table}/{name}", table, rows) for table, rows in tables.items() if rows.num_rows}


def _write(folder: Path, path: str, table: str, rows: pa.Table) -> SegmentFile:
    target = folder / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            rows,
            target,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            row_group_size=ROW_GROUP,
            use_dictionary=[name for name in rows.column_names if name not in UNIQUE_COLUMNS],
            store_schema=True,
        )
        with target.open("rb") as file:
            os.fsync(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return SegmentFile(table, path, rows.num_rows, target.stat().st_size, digest)
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: Exception) -> StoreError:
    """The error for a store that cannot be written, with what to do."""
    return StoreError(
        f"The store cannot be written at {folder} ({error}). "
        "Set LEDGERFRAMES_STORE, or store= in the profile, to a folder that can.",
        path=str(folder),
    )


def _readable(extent: Extent) -> str:
    """A file name that says what is inside; made of numbers only, never of text from the network."""
    if isinstance(extent, Span):
        window = extent.window
        return f"m{extent.migration_id}_{_compact(window.since)}_{_compact(window.until)}"
    if isinstance(extent, OffsetSpan):
        return f"offsets{extent.low}-{extent.high}"
    if isinstance(extent, Moment):
        return _compact(from_microseconds(extent.low))
    return f"ids{len(extent.update_ids)}"


def _compact(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds")[:19].replace("-", "").replace(":", "") + "Z"
