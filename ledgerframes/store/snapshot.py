"""Committed segments as of one moment, read through pyarrow.dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.extents import MigrationWindow, from_microseconds, microseconds
from ledgerframes.store.catalog import Segment
from ledgerframes.store.footers import paths_to_open
from ledgerframes.store.location import Location
from ledgerframes.store.positions import NO_EVENTS
from ledgerframes.windows import MICROSECOND, Window

# Reading ahead helps with object stores, but is a quarter slower from a disk.
DISK_FORMAT = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
)
OBJECT_STORE_FORMAT = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
)


class ScanPart(NamedTuple):
    """Rows of a table, and the filters that they need."""

    rows: ds.Dataset
    is_inside: bool  # the window
    may_have_second_verdicts: bool


@dataclass(frozen=True)
class StoreSnapshot:
    """A fixed set of segments, immutable like the segments themselves.

    Attributes
    ----------
    network : str
    location : Location
    segments : tuple of Segment
    second_verdicts : Table
        Migration, record time and update id of all second verdicts of the dataset.
    missing_before : tuple of MigrationWindow
        What the store does not have before the window of the snapshot.
    """

    network: str
    location: Location
    segments: tuple[Segment, ...]
    second_verdicts: pa.Table = field(default_factory=lambda: NO_EVENTS, repr=False)
    missing_before: tuple[MigrationWindow, ...] = ()

    @property
    def is_sorted(self) -> bool:
        """Whether a scan returns rows in the declared order."""
        extents = [segment.extent for segment in self.segments if segment.files]
        return all(extent.is_sorted for extent in extents) and all(one.precedes(another) for one, another in pairwise(extents))

    @property
    def digest(self) -> str:
        """Digest of all files, in order, and of the second verdicts, which identifies the rows."""
        text = "".join(f"{name}:{file.sha256};" for segment in self.segments for name, file in sorted(segment.row_files.items()))
        text += "".join(f"{event};" for event in self.second_verdicts.to_pylist() if self._may_have(event["record_time"]))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def bytes(self) -> int:
        """Size of the files on disk."""
        return sum(segment.bytes for segment in self.segments)

    def _may_have(self, record_time: datetime) -> bool:
        """Return whether a segment can have rows of a record time."""
        return any(_may_overlap(segment, Window(record_time, record_time + MICROSECOND)) for segment in self.segments)

    def scan(self, table: str) -> ds.Dataset:
        """Return the rows of one table, for scans that skip files outside their filter."""
        return self._dataset(table, self.segments, allow_damage=True)

    def iter_scans(self, table: str, window: Window | None) -> list[ScanPart]:
        """Return the rows of one table by runs of segments.

        Those inside the window need neither a filter nor partition expressions, which together take a third of the time for
        small files.
        """
        times = self.second_verdicts["record_time"].cast(pa.int64()).to_numpy()
        near = [segment for segment in self.segments if window is None or _may_overlap(segment, window)]
        runs = groupby(near, lambda each: (window is not None and _is_inside(each, window), _may_have_any(each, times)))
        return [ScanPart(self._dataset(table, run, with_expressions=not facts[0]), *facts) for facts, run in runs]

    def _dataset(
        self, table: str, segments: Iterable[Segment], *, with_expressions: bool = True, allow_damage: bool = False
    ) -> ds.Dataset:
        is_local, filesystem, spec = self.location.local_path is not None, self.location.filesystem, table_spec(table)
        segments = [segment for segment in segments if table in segment.files]
        files = [segment.files[table] for segment in segments]
        # An object store would need a request for each file.
        paths = paths_to_open(self.location, files, allow_damage=allow_damage) if is_local else [file.path for file in files]
        file_format = DISK_FORMAT if is_local else OBJECT_STORE_FORMAT
        filters = [segment.extent.scan_filter(spec.column_names) if with_expressions else None for segment in segments]
        fragments = [file_format.make_fragment(path, filesystem, rows) for path, rows in zip(paths, filters, strict=True)]
        return ds.FileSystemDataset(fragments, spec.schema, file_format, filesystem)

    def coverage(self) -> pd.DataFrame:
        """Return one row per segment, as the table `coverage`."""
        return COVERAGE.from_rows([_coverage_row(segment) for segment in self.segments])

    def file_digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file by its path below the network's directory."""
        return {file.path: file.sha256 for segment in self.segments for file in segment.row_files.values()}


def _coverage_row(segment: Segment) -> dict[str, object]:
    return {
        **segment.extent.coverage(),
        "status": segment.status,
        "rows": segment.rows,
        "source": segment.source,
        "fetched_at": from_microseconds(segment.fetched_at),
    }


def _may_overlap(segment: Segment, window: Window) -> bool:
    """Return whether a segment can have record times in a window."""
    times = segment.extent.record_times
    return times is None or (times[0] < microseconds(window.until) and times[1] > microseconds(window.since))


def _is_inside(segment: Segment, window: Window) -> bool:
    """Return whether the record times of a segment are all inside the window."""
    times = segment.extent.record_times
    return times is not None and microseconds(window.since) <= times[0] and times[1] <= microseconds(window.until)


def _may_have_any(segment: Segment, record_times: npt.NDArray[np.int64]) -> bool:
    """Return whether a segment can have one of these record times, which are in any order."""
    times = segment.extent.record_times
    if times is None or not len(record_times):
        return len(record_times) > 0
    return bool(((record_times >= times[0]) & (record_times < times[1])).any())
