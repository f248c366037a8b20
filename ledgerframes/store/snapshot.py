"""Committed segments as they were at one moment, read through pyarrow.dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise

import pandas as pd
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs

from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.errors import StoreError
from ledgerframes.extents import from_microseconds, microseconds
from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.reading import GONE
from ledgerframes.store.segments import SegmentFile
from ledgerframes.windows import Window

# Reading ahead is for object stores: from a disk it takes a quarter longer.
FROM_DISK = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False))
FROM_OBJECT_STORE = ds.ParquetFileFormat()


@dataclass(frozen=True)
class StoreSnapshot:
    """The segments that answer one question; immutable, like the segments themselves."""

    network: str
    place: Location
    segments: tuple[Segment, ...]

    @property
    def ordered(self) -> bool:
        """Whether a scan gives rows in the declared order; segments of ids were written in the order of asking."""
        extents = [segment.extent for segment in self.segments if segment.files]
        return all(extent.is_sorted for extent in extents) and all(one.precedes(another) for one, another in pairwise(extents))

    @property
    def digest(self) -> str:
        """Names the rows exactly: a digest of the digests of all files, in order."""
        text = "".join(f"{name}:{file.sha256};" for segment in self.segments for name, file in sorted(segment.files.items()))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def bytes(self) -> int:
        """Size of the files on disk."""
        return sum(segment.bytes for segment in self.segments)

    def scan(self, table: str) -> ds.Dataset:
        """The rows of one table, sorted as declared; files outside a filtered range are not opened."""
        return self._dataset(table, self.segments, promises=True)

    def parts(self, table: str, window: Window) -> list[tuple[ds.Dataset, bool]]:
        """The rows of one table by runs of segments, each with whether all of its rows lie in the window.

        Those need neither a filter nor promises: both together take a third of the time of reading small files.
        """
        runs = groupby(self.segments, lambda segment: _inside(segment, window))
        return [(self._dataset(table, run, promises=not inside), inside) for inside, run in runs]

    def _dataset(self, table: str, segments: Iterable[Segment], *, promises: bool) -> ds.Dataset:
        """The files of some segments, with or without what is true of every row of a file."""
        files = [(segment, segment.files[table]) for segment in segments if table in segment.files]
        if self.place.local:  # an object store is not asked for each file: reading finds out
            self._require([file for _, file in files])
        form, filesystem = FROM_DISK if self.place.local else FROM_OBJECT_STORE, self.place.filesystem
        fragments = [
            form.make_fragment(self.place.full(file.path), filesystem, _promise(segment, table) if promises else None)
            for segment, file in files
        ]
        return ds.FileSystemDataset(fragments, table_spec(table).schema, form, filesystem)

    def _require(self, files: list[SegmentFile]) -> None:
        """Say which file is lost, if one is."""
        found = self.place.filesystem.get_file_info([self.place.full(file.path) for file in files])
        lost = [file.path for file, info in zip(files, found, strict=True) if info.type != fs.FileType.File]
        if lost:
            raise StoreError(
                f"The file {lost[0]} of {self.place} is gone. {GONE}",
                path=f"{self.place}/{lost[0]}",
            )

    def coverage(self) -> pd.DataFrame:
        """One row per segment: migration_id, since, until, status, rows, source, fetched_at."""
        return COVERAGE.from_rows([_coverage_row(segment) for segment in self.segments])


def _coverage_row(segment: Segment) -> tuple[object, ...]:
    values = {
        **segment.extent.coverage(),
        "status": segment.status,
        "rows": segment.rows,
        "source": segment.source,
        "fetched_at": from_microseconds(segment.fetched_at),
    }
    return tuple(values.get(name) for name in COVERAGE.column_names)


def _inside(segment: Segment, window: Window) -> bool:
    """Whether every row of a segment lies in the window."""
    times = segment.extent.record_times
    return times is not None and microseconds(window.since) <= times[0] and times[1] <= microseconds(window.until)


def _promise(segment: Segment, table: str) -> pc.Expression | None:
    """What is true of every row of a segment, so that a scan can skip its files."""
    return segment.extent.scan_filter(table_spec(table).column_names)
