"""Sources of the rows of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.store.location import Location
from ledgerframes.store.older_rows import OlderRows, Rows
from ledgerframes.store.positions import EVENT, NO_EVENTS, later_events
from ledgerframes.store.scan import damage_as_store_error, max_rows, read_rows
from ledgerframes.store.snapshot import ScanPart, StoreSnapshot
from ledgerframes.store.whole_files import LocalFiles
from ledgerframes.values.extents import MigrationWindow
from ledgerframes.values.windows import Window

__all__ = ["FrameSource", "MemoryFrameSource", "first_event_time"]

EVENT_TABLES = ("verdicts", "updates")  # which have a row for each event
START_OF_TIME = datetime(1, 1, 1, tzinfo=UTC)  # the first bulk object starts here


@dataclass(frozen=True)
class MemoryFrameSource:
    """Arrow tables in memory, or datasets of files that nobody else writes."""

    tables: Mapping[str, pa.Table | Rows]
    network: str = "memory"
    covered: pd.DataFrame | None = None
    is_sorted: bool = False
    bytes: int = 0
    location: Location | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    has_second_verdicts: bool = True  # or each request is there once
    missing_before: tuple[MigrationWindow, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    missing_windows: tuple[Window, ...] = ()
    first_event: datetime | None = None  # of the network; without it, that of the updates

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        """Return the rows of one table, as they are."""
        rows = self.tables.get(table, table_spec(table).empty_arrow())
        if isinstance(rows, OlderRows):
            rows = rows.to_table()  # Arrow does not rename columns
        return rows if isinstance(rows, ds.Dataset) else ds.dataset(rows)

    @cached_property
    def second_verdicts(self) -> pa.Table:
        """Migration, record time and update id of all second verdicts."""
        if not self.has_second_verdicts:
            return NO_EVENTS
        rows = [self.scan(table).to_table(columns=EVENT) for table in EVENT_TABLES if table in self.tables]
        return later_events(rows)

    def paths(self, table: str, window: Window | None) -> list[str] | None:
        """Return the files of one table, or None if it is in memory."""
        rows = self.tables.get(table)
        return list(rows.files) if isinstance(rows, ds.FileSystemDataset) else None

    def whole_files(self, table: str, window: Window | None) -> LocalFiles | None:
        """Return None, because nobody checks the files while they are read."""
        return None

    def max_rows(self, table: str, window: Window | None, expression: pc.Expression | None) -> int:
        """Return a number that the matching rows of one table do not exceed."""
        return max_rows(self.scan(table), expression)

    def iter_scans(self, table: str, window: Window | None) -> Sequence[ScanPart]:
        """Return the rows in one part, whose record times are unknown."""
        return [ScanPart(self.scan(table), is_inside=False, may_have_second_verdicts=True)]

    def coverage(self) -> pd.DataFrame:
        """Return the coverage passed at construction."""
        return COVERAGE.empty() if self.covered is None else self.covered

    def file_digests(self) -> dict[str, str]:
        """Return the digests passed at construction."""
        return dict(self.digests)


# Where the rows of Frames come from.
FrameSource = StoreSnapshot | MemoryFrameSource


def first_event_time(source: FrameSource) -> datetime | None:
    """Return the time of the first event of the network, None if no segment starts before it.

    The segments of a listing start with the first event, so that they need no such limit.
    """
    if isinstance(source, MemoryFrameSource) and source.first_event:
        return source.first_event
    if not (source.coverage()["since"] == START_OF_TIME).any():
        return None
    with damage_as_store_error("updates", source.location):
        first: datetime | None = pc.min(read_rows(source.scan("updates"), ["record_time"], None)["record_time"]).as_py()
    return first
