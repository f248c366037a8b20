"""Stores made by hand: segments of a few rows that differ from each other."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pyarrow as pa
from equality import every_table

from ledgerframes import testing
from ledgerframes.datasets import Table
from ledgerframes.datasets.registry import EVENTS, Dataset
from ledgerframes.datasets.schema import TIME
from ledgerframes.frames import Frames
from ledgerframes.store import Store
from ledgerframes.values.extents import Extent, MigrationWindow, from_microseconds


def rows(table: Table, times: list[int]) -> pa.Table:
    """A row for each time, with values that follow from it."""
    columns: dict[str, object] = {column.name: from_microseconds for column in table.columns if column.type == TIME}
    own = {"offset": times, "update_id": [f"id{time:06}" for time in times]}
    columns |= {name: values for name, values in own.items() if name in table.column_names}
    return testing.table(table.name).sample_arrow(times, **columns)


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
