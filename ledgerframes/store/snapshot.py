"""Committed segments as they were at one moment, read through pyarrow.dataset."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs

from ledgerframes.errors import StoreError
from ledgerframes.store.catalog import Segment
from ledgerframes.store.extent import Ids, OffsetSpan, Span, from_microseconds
from ledgerframes.store.segments import SegmentFile
from ledgerframes.tables import table as table_spec
from ledgerframes.tables.bookkeeping import COVERAGE

FORMAT = ds.ParquetFileFormat()


@dataclass(frozen=True)
class Snapshot:
    """The segments that answer one question; immutable, like the segments themselves."""

    network: str
    folder: Path
    segments: tuple[Segment, ...]

    @property
    def ordered(self) -> bool:
        """Whether a scan gives rows in the declared order; segments of ids were written in the order of asking."""
        return not any(isinstance(segment.extent, Ids) for segment in self.segments)

    @property
    def digest(self) -> str:
        """Names the rows exactly: a digest of the digests of all files, in order."""
        text = "".join(f"{name}:{file.sha256};" for segment in self.segments for name, file in sorted(segment.files.items()))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def bytes(self) -> int:
        """Size of the files on disk."""
        return sum(file.bytes for segment in self.segments for file in segment.files.values())

    def scan(self, table: str) -> ds.Dataset:
        """The rows of one table, sorted as declared; files outside a filtered range are not opened."""
        files = [(segment, segment.files[table]) for segment in self.segments if table in segment.files]
        fragments = [self._fragment(segment, file) for segment, file in files]
        return ds.FileSystemDataset(fragments, table_spec(table).schema, FORMAT, fs.LocalFileSystem())

    def _fragment(self, segment: Segment, file: SegmentFile) -> ds.ParquetFileFragment:
        path = self.folder / file.path
        if not path.is_file():
            raise StoreError(
                f"The store has lost the file {path}. Move the network's folder {self.folder} away and load again.",
                path=str(path),
            )
        return FORMAT.make_fragment(str(path), fs.LocalFileSystem(), _promise(segment))

    def coverage(self) -> pd.DataFrame:
        """One row per segment: migration_id, since, until, status, rows, source, fetched_at."""
        return COVERAGE.frame([_coverage_row(segment) for segment in self.segments])


def _coverage_row(segment: Segment) -> tuple[object, ...]:
    extent = segment.extent
    place: tuple[object, ...] = (None, None, None, None, None)
    if isinstance(extent, Span):
        place = (extent.migration_id, extent.window.since, extent.window.until, None, None)
    elif isinstance(extent, OffsetSpan):
        place = (None, None, None, extent.low, extent.high)
    return (*place, segment.status, segment.rows, segment.source, from_microseconds(segment.fetched_at))


def _promise(segment: Segment) -> pc.Expression | None:
    """What is true of every row of a segment, so that a scan can skip its files."""
    return None if isinstance(segment.extent, Ids) else segment.extent.filter()
