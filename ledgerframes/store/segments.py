"""Parquet files of one segment, written once and never changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.datasets import Table
from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.datasets.schema import CHOICE, TEXT
from ledgerframes.store.location import HashingWriter, Location
from ledgerframes.store.positions import Positions, distinct, positions_of, to_table
from ledgerframes.values.extents import Extent

ROW_GROUP = 25_000
MAGIC = b"PAR1"
USUAL_FOOTER = 16_384  # bytes
IDENTITY, IDENTITY_DIGEST = "ledgerframes.segment", "ledgerframes.segment.sha256"
BUFFER = 1_000_000  # bytes: the file is a Python object, and each write to it waits for the interpreter lock
COMPRESSION_LEVEL = 1  # levels 3 and 9 are slower, for the same size
# Most rows have another value, or long runs of one. Dictionaries make these columns, and times, larger and slower to write.
WITHOUT_DICTIONARY = (
    "update_id",
    "update_hash",
    "root_event_ids",
    "event_id",
    "parent_event_id",
    "contract_id",
    "create_arguments",
    "choice_argument",
    "exercise_result",
)


class SegmentFile(NamedTuple):
    """One table of a segment, as a tuple, because each load makes many thousands of them."""

    table: str
    path: str  # below the network's directory
    rows: int
    bytes: int
    sha256: str
    footer: str = ""  # digest of the footer, which says where the pages are; empty in files of 0.1.0


class SegmentWriter:
    """Writer of the files of one segment, batch by batch.

    A table without rows has no file. The positions of the events in `event_tables` are in another file. The files are not
    visible until a catalog names them. A ``with`` block deletes partial files on an error. File names consist of numbers and
    a suffix, and never contain text from the network.
    """

    def __init__(self, location: Location, name: str, event_tables: Sequence[Table] = ()) -> None:
        self._location = location
        self._name = name
        self._event_tables = {table.name for table in event_tables}
        self._positions: list[Positions] = []
        self._writers: dict[str, tuple[pq.ParquetWriter, HashingWriter]] = {}
        self._rows: dict[str, int] = {}
        self._stack = ExitStack()

    def write(self, tables: Mapping[str, pa.Table]) -> None:
        """Append rows in new row groups."""
        for table, rows in tables.items():
            if rows.num_rows:
                if table in self._event_tables:
                    self._positions.append(positions_of(rows))
                if table not in self._writers:
                    self._writers[table] = self._open_writer(table, rows.schema)
                self._writers[table][0].write_table(rows, row_group_size=ROW_GROUP)
                self._rows[table] = self._rows.get(table, 0) + rows.num_rows

    def _open_writer(self, table: str, schema: pa.Schema) -> tuple[pq.ParquetWriter, HashingWriter]:
        sink = self._stack.enter_context(self._location.write(self._path(table)))
        buffer = pa.BufferedOutputStream(pa.PythonFile(sink, mode="w"), BUFFER)
        self._stack.callback(buffer.close)
        writer = pq.ParquetWriter(
            buffer,
            schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=_dictionary_columns(schema),
            store_schema=True,
            write_page_checksum=True,
        )
        return self._stack.enter_context(writer), sink

    def _path(self, table: str) -> str:
        return f"{table}/{self._name}.parquet"

    def close(self, identity: Mapping[str, object] = MappingProxyType({})) -> dict[str, SegmentFile]:
        """Finish all files, whose identity tells them from others, and return them by table."""
        self.write({EVENT_POSITIONS.name: to_table(distinct(self._positions))})
        text = json.dumps({**identity, "tables": sorted(self._writers)})
        digest = hashlib.sha256(text.encode()).hexdigest()
        for writer, _ in self._writers.values():
            writer.add_key_value_metadata({IDENTITY: text, IDENTITY_DIGEST: digest})
        self._stack.close()
        return {
            table: SegmentFile(table, self._path(table), self._rows[table], sink.bytes, sink.sha256, footer_digest(sink.tail))
            for table, (_, sink) in self._writers.items()
        }

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.__exit__(*failure)  # type: ignore[arg-type]


def _dictionary_columns(schema: pa.Schema) -> list[str]:
    """Return the Parquet names of the columns whose values repeat."""
    return [f"{each.name}.list.element" if pa.types.is_list(each.type) else each.name for each in schema if _repeats(each)]


def with_encoded_texts(schema: pa.Schema) -> pa.Schema:
    """Return the schema of rows whose texts are in dictionaries as far as they repeat.

    Lists of texts are as they were, because DuckDB cannot read a batch of empty lists with a dictionary.
    """
    return pa.schema([each.with_type(CHOICE) if _repeats(each) and each.type == TEXT else each for each in schema])


def _repeats(column: pa.Field) -> bool:
    return column.name not in WITHOUT_DICTIONARY and not pa.types.is_timestamp(column.type)


def footer_digest(tail: bytes) -> str:
    """Return the digest of footer, length and magic bytes, empty if the bytes end otherwise."""
    size = int.from_bytes(tail[-8:-4], "little") + 8
    return hashlib.sha256(tail[-size:]).hexdigest() if tail[-4:] == MAGIC and 8 < size <= len(tail) else ""


def read_footer_digest(source: BinaryIO | pa.NativeFile, size: int) -> str:
    """Return the digest of the footer of a file of this size."""
    source.seek(max(size - USUAL_FOOTER, 0))
    tail = bytes(source.read())
    needed = int.from_bytes(tail[-8:-4], "little") + 8
    if len(tail) < needed <= size:
        source.seek(size - needed)
        tail = bytes(source.read())
    return footer_digest(tail)


def file_name(extent: Extent, segment_id: str) -> str:
    """Return a file name that shows the extent, made of numbers only."""
    return f"{extent.label}_{segment_id[:12]}"


def open_parquet(source: pa.NativeFile) -> pq.ParquetFile:
    """Open a file of a segment, whose pages are checked when they are read."""
    return pq.ParquetFile(source, page_checksum_verification=True)
