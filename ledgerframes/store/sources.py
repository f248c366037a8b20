"""Sources of the rows of frames."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.store.location import Location
from ledgerframes.store.older_schemas import UnreadableSegment
from ledgerframes.store.scan import damage_as_store_error, read_rows
from ledgerframes.store.snapshot import StoreSnapshot
from ledgerframes.windows import Window

__all__ = ["FrameSource", "MemoryFrameSource", "first_event_time"]

START_OF_TIME = datetime(1, 1, 1, tzinfo=UTC)  # the first bulk object starts here


@dataclass(frozen=True)
class MemoryFrameSource:
    """Arrow tables in memory, or datasets of files that nobody else writes."""

    tables: Mapping[str, pa.Table | ds.Dataset]
    network: str = "memory"
    covered: pd.DataFrame | None = None
    is_sorted: bool = False
    bytes: int = 0
    location: Location | None = None
    identity: Hashable = None
    digests: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[UnreadableSegment, ...] = ()

    def scan(self, table: str) -> ds.Dataset:
        """Return the rows of one table."""
        rows = self.tables.get(table, table_spec(table).empty_arrow())
        return rows if isinstance(rows, ds.Dataset) else ds.dataset(rows)

    def iter_scans(self, table: str, window: Window | None) -> Sequence[tuple[ds.Dataset, bool]]:
        """Return the rows in one part, whose record times are unknown."""
        return [(self.scan(table), False)]

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
    if not (source.coverage()["since"] == START_OF_TIME).any():
        return None
    with damage_as_store_error("updates", source.location):
        first: datetime | None = pc.min(read_rows(source.scan("updates"), ["record_time"], None)["record_time"]).as_py()
    return first
