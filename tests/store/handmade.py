"""Stores made by hand: segments of a few rows that differ from each other."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pandas as pd
import pyarrow as pa
from equality import every_table

from ledgerframes.datasets import Table
from ledgerframes.datasets.registry import EVENTS, Dataset
from ledgerframes.extents import Extent, MigrationWindow, from_microseconds
from ledgerframes.frames import Frames
from ledgerframes.store import Store


def column(kind: pa.DataType, name: str, times: list[int], start: int) -> pa.Array:
    """Values that differ from row to row, and dictionaries that differ from segment to segment."""
    if name in ("migration_id", "offset"):
        return pa.array([4 if name == "migration_id" else time for time in times], kind)
    if pa.types.is_timestamp(kind):
        return pa.array([from_microseconds(time) for time in times], kind)
    if pa.types.is_dictionary(kind):
        return pa.array([f"{(start * 7 + time) % 3}" for time in times], pa.string()).dictionary_encode()
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
    return table.from_arrays({each.name: column(each.type, each.name, times, min(times)) for each in table.columns})


def put(store: Store, dataset: Dataset, extent: Extent, times: list[int], *, final: bool = True, source: str = "a") -> None:
    tables = {table.name: rows(table, times) for table in chosen_tables(dataset)} if times else {}
    store.commit(dataset, extent, tables, final=final, source=source)


def chosen_tables(dataset: Dataset) -> tuple[Table, ...]:
    """A few tables with all kinds of columns: writing all of them takes long."""
    return dataset.tables[:2] if dataset is not EVENTS else (dataset.tables[0], dataset.tables[3])


def spans(store: Store, *edges: int, source: str = "a") -> None:
    """Segments of events from edge to edge, one row a microsecond."""
    for start, stop in pairwise(edges):
        put(store, EVENTS, MigrationWindow(4, start, stop), list(range(start, stop)), source=source)


def frames(store: Store, dataset: Dataset = EVENTS) -> dict[str, pd.DataFrame]:
    return every_table(Frames(store.snapshot(dataset), [table.name for table in dataset.tables]))


def extents(store: Store, dataset: Dataset = EVENTS) -> list[tuple[int, int]]:
    return [(segment.extent.start, segment.extent.stop) for segment in store.segments(dataset)]  # type: ignore[union-attr]
