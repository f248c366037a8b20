"""Parquet files of one segment: written once, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.extents import Extent
from ledgerframes.store.location import Digesting, Location

ROW_GROUP = 25_000
BUFFER = 1_000_000  # bytes: a file here is a Python object, and each piece that goes to it waits for the thread that computes
COMPRESSION_LEVEL = 1  # level 3 and 9 give the same size, slower
# Another value in most rows, or long runs of one: dictionaries make them larger, and slower to write. So it is with times.
WITHOUT_DICTIONARY = (
    "update_id",
    "root_event_ids",
    "event_id",
    "parent_event_id",
    "contract_id",
    "create_arguments",
    "choice_argument",
    "exercise_result",
)


class SegmentFile(NamedTuple):
    """One table of a segment: its file below the network's folder, rows, bytes and digest.

    A tuple, because a store has many thousands and each load makes them anew.
    """

    table: str
    path: str
    rows: int
    bytes: int
    sha256: str


class SegmentWriter:
    """Writes the files of one segment, batch by batch; a table without rows has no file.

    The files count for nothing until a catalog names them. Used in a ``with`` block, which leaves nothing behind on an error.

    Parameters
    ----------
    place : Location
        The network's folder.
    name : str
        Name of the files without their ending; made of numbers, never of text from the network.
    """

    def __init__(self, place: Location, name: str) -> None:
        self._place = place
        self._name = name
        self._open: dict[str, tuple[pq.ParquetWriter, Digesting]] = {}
        self._rows: dict[str, int] = {}
        self._stack = ExitStack()

    def write(self, tables: Mapping[str, pa.Table]) -> None:
        """Append rows; each call begins new row groups.

        Raises
        ------
        StoreError
            If the place cannot be written.
        """
        for table, rows in tables.items():
            if rows.num_rows:
                if table not in self._open:
                    self._open[table] = self._begun(table, rows.schema)
                self._open[table][0].write_table(rows, row_group_size=ROW_GROUP)
                self._rows[table] = self._rows.get(table, 0) + rows.num_rows

    def _begun(self, table: str, schema: pa.Schema) -> tuple[pq.ParquetWriter, Digesting]:
        sink = self._stack.enter_context(self._place.write(self._path(table)))
        buffer = pa.BufferedOutputStream(pa.PythonFile(sink, mode="w"), BUFFER)
        self._stack.callback(buffer.close)
        writer = pq.ParquetWriter(
            buffer,
            schema,
            compression="zstd",
            compression_level=COMPRESSION_LEVEL,
            use_dictionary=_with_dictionary(schema),
            store_schema=True,
        )
        return self._stack.enter_context(writer), sink

    def _path(self, table: str) -> str:
        return f"{table}/{self._name}.parquet"

    def close(self) -> dict[str, SegmentFile]:
        """Finish all files, and say what they are."""
        self._stack.close()
        return {
            table: SegmentFile(table, self._path(table), self._rows[table], sink.bytes, sink.sha256)
            for table, (_, sink) in self._open.items()
        }

    def __enter__(self) -> SegmentWriter:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.__exit__(*failure)  # type: ignore[arg-type]


def _with_dictionary(schema: pa.Schema) -> list[str]:
    """The columns whose values repeat, as Parquet names them: it has those of a list one level down."""
    return [
        f"{column.name}.list.element" if pa.types.is_list(column.type) else column.name
        for column in schema
        if column.name not in WITHOUT_DICTIONARY and not pa.types.is_timestamp(column.type)
    ]


def write_files(place: Location, segment_id: str, extent: Extent, tables: Mapping[str, pa.Table]) -> dict[str, SegmentFile]:
    """Write the tables of one segment at once; see :class:`SegmentWriter`.

    Raises
    ------
    StoreError
        If the place cannot be written.
    """
    with SegmentWriter(place, file_name(extent, segment_id)) as writer:
        writer.write(tables)
        return writer.close()


def file_name(extent: Extent, segment_id: str) -> str:
    """A file name that says what is inside; made of numbers only, never of text from the network."""
    return f"{extent.label}_{segment_id[:12]}"
