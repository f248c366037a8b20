"""What frames can be read from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.store.location import Location
from ledgerframes.windows import Window

__all__ = ["FrameSource", "MemoryFrameSource"]


class FrameSource(Protocol):
    """Where the rows of Frames are: committed segments of a store, or tables in memory."""

    @property
    def network(self) -> str:
        """Name of the network."""

    @property
    def ordered(self) -> bool:
        """Whether a scan gives rows in the declared order."""

    @property
    def place(self) -> Location | None:
        """Where the files are; None for tables in memory."""

    @property
    def bytes(self) -> int:
        """Size of the files on disk."""

    def scan(self, table: str) -> ds.Dataset:
        """The rows of one table."""

    def parts(self, table: str, window: Window) -> Sequence[tuple[ds.Dataset, bool]]:
        """The rows of one table in parts, in order, each with whether all its record times are known to lie in the window."""

    def coverage(self) -> pd.DataFrame:
        """One row per part of the range: migration_id, since, until, status, rows, source, fetched_at."""


@dataclass(frozen=True)
class MemoryFrameSource:
    """Tables that are already in memory, as Arrow."""

    tables: dict[str, pa.Table]
    network: str = "memory"
    covered: pd.DataFrame | None = None
    ordered: bool = False
    bytes: int = 0
    place: Location | None = None

    def scan(self, table: str) -> ds.Dataset:
        """The rows of one table; a table that is not there is empty."""
        return ds.dataset(self.tables.get(table, table_spec(table).empty_arrow()))

    def parts(self, table: str, window: Window) -> Sequence[tuple[ds.Dataset, bool]]:
        """The rows in one part: what their record times are is not known."""
        return [(self.scan(table), False)]

    def coverage(self) -> pd.DataFrame:
        """The coverage given at construction."""
        return COVERAGE.empty() if self.covered is None else self.covered
