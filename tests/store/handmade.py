"""Stores made by hand: segments of a few rows that differ from each other."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pandas as pd
import pyarrow as pa
from equality import every_table

from ledgerframes.frames import Frames
from ledgerframes.store import EVENTS, Extent, Span, Store, Stream
from ledgerframes.store.extent import from_microseconds
from ledgerframes.tables import Table


def column(kind: pa.DataType, name: str, times: list[int], low: int) -> pa.Array:
    """Values that differ from row to row, and dictionaries that differ from segment to segment."""
    if name in ("migration_id", "offset"):
        return pa.array([4 if name == "migration_id" else time for time in times], kind)
    if pa.types.is_timestamp(kind):
        return pa.array([from_microseconds(time) for time in times], kind)
    if pa.types.is_dictionary(kind):
        return pa.array([f"{(low * 7 + time) % 3}" for time in times], pa.string()).dictionary_encode()
    if pa.types.is_boolean(kind):
        return pa.array([time % 2 == 0 for time in times], kind)
    if pa.types.is_integer(kind):
        return pa.array([time % 1_000_000 for time in times], kind)
    if pa.types.is_decimal(kind):
        return pa.array([Decimal(time) / 8 for time in times], kind)
    if pa.types.is_list(kind):
        return pa.array([[f"{time}"] if pa.types.is_string(kind.value_type) else [time % 99] for time in times], kind)
    return pa.array([f"id{time:06}" for time in times], kind)


def rows(table: Table, times: list[int]) -> pa.Table:
    """A row for each time."""
    return table.from_columns({each.name: column(each.type, each.name, times, min(times)) for each in table.columns})


def put(store: Store, stream: Stream, extent: Extent, times: list[int], *, final: bool = True, source: str = "a") -> None:
    tables = {table.name: rows(table, times) for table in chosen_tables(stream)} if times else {}
    store.commit(stream, extent, tables, final=final, source=source)


def chosen_tables(stream: Stream) -> tuple[Table, ...]:
    """A few tables with all kinds of columns: writing all of them takes long."""
    return stream.tables[:2] if stream is not EVENTS else (stream.tables[0], stream.tables[3])


def spans(store: Store, *edges: int, source: str = "a") -> None:
    """Segments of events from edge to edge, one row a microsecond."""
    for low, high in pairwise(edges):
        put(store, EVENTS, Span(4, low, high), list(range(low, high)), source=source)


def frames(store: Store, stream: Stream = EVENTS) -> dict[str, pd.DataFrame]:
    return every_table(Frames(store.snapshot(stream), [table.name for table in stream.tables]))


def extents(store: Store, stream: Stream = EVENTS) -> list[tuple[int, int]]:
    return [(segment.extent.low, segment.extent.high) for segment in store.segments(stream)]  # type: ignore[union-attr]
