"""Committed segments as of one moment, read through pyarrow.dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise

import pandas as pd
import pyarrow.dataset as ds

from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.extents import from_microseconds, microseconds
from ledgerframes.store.catalog import Segment
from ledgerframes.store.footers import paths_to_open, require_intact
from ledgerframes.store.location import Location
from ledgerframes.store.segments import SegmentFile
from ledgerframes.windows import Window

# Reading ahead helps with object stores, but is a quarter slower from a disk.
DISK_FORMAT = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
)
OBJECT_STORE_FORMAT = ds.ParquetFileFormat(
    default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
)


@dataclass(frozen=True)
class StoreSnapshot:
    """A fixed set of segments, immutable like the segments themselves."""

    network: str
    location: Location
    segments: tuple[Segment, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        """The location and the segments."""
        return (str(self.location), *(segment.segment_id for segment in self.segments))

    @property
    def is_sorted(self) -> bool:
        """Whether a scan returns rows in the declared order."""
        extents = [segment.extent for segment in self.segments if segment.files]
        return all(extent.is_sorted for extent in extents) and all(one.precedes(another) for one, another in pairwise(extents))

    @property
    def digest(self) -> str:
        """Digest of the digests of all files, in order, which identifies the rows exactly."""
        text = "".join(f"{name}:{file.sha256};" for segment in self.segments for name, file in sorted(segment.files.items()))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def bytes(self) -> int:
        """Size of the files on disk."""
        return sum(segment.bytes for segment in self.segments)

    def scan(self, table: str) -> ds.Dataset:
        """Return the rows of one table.

        A filtered scan skips files outside the filter, also damaged ones.
        """
        files = _files_of(self.segments, table)
        paths = paths_to_open(self.location, [file for _, file in files]) if self.location.local_path else None
        return self._dataset(table, files, paths, with_expressions=True)

    def iter_scans(self, table: str, window: Window | None) -> list[tuple[ds.Dataset, bool]]:
        """Return the rows of one table by runs of segments, and whether each is inside the window.

        Those inside need neither a filter nor partition expressions, which together take a third of the time for small files.
        """
        near = [segment for segment in self.segments if window is None or _may_overlap(segment, window)]
        runs = groupby(near, lambda segment: window is not None and _is_inside(segment, window))
        return [(self._intact_dataset(table, run, with_expressions=not inside), inside) for inside, run in runs]

    def _intact_dataset(self, table: str, segments: Iterable[Segment], *, with_expressions: bool) -> ds.Dataset:
        files = _files_of(segments, table)
        if self.location.local_path:  # an object store would need a request for each file
            require_intact(self.location, [file for _, file in files])
        return self._dataset(table, files, None, with_expressions=with_expressions)

    def _dataset(
        self, table: str, files: list[tuple[Segment, SegmentFile]], paths: list[str] | None, *, with_expressions: bool
    ) -> ds.Dataset:
        filesystem, spec = self.location.filesystem, table_spec(table)
        paths = [file.path for _, file in files] if paths is None else paths
        file_format = DISK_FORMAT if self.location.local_path else OBJECT_STORE_FORMAT
        fragments = [
            file_format.make_fragment(
                path, filesystem, segment.extent.scan_filter(spec.column_names) if with_expressions else None
            )
            for path, (segment, _) in zip(paths, files, strict=True)
        ]
        return ds.FileSystemDataset(fragments, spec.schema, file_format, filesystem)

    def coverage(self) -> pd.DataFrame:
        """Return one row per segment, as the table `coverage`."""
        return COVERAGE.from_rows([_coverage_row(segment) for segment in self.segments])

    def file_digests(self) -> dict[str, str]:
        """Return the SHA-256 of each file by its path below the network's directory."""
        return {file.path: file.sha256 for segment in self.segments for file in segment.files.values()}


def _coverage_row(segment: Segment) -> tuple[object, ...]:
    values = {
        **segment.extent.coverage(),
        "status": segment.status,
        "rows": segment.rows,
        "source": segment.source,
        "fetched_at": from_microseconds(segment.fetched_at),
    }
    return tuple(values.get(name) for name in COVERAGE.column_names)


def _files_of(segments: Iterable[Segment], table: str) -> list[tuple[Segment, SegmentFile]]:
    return [(segment, segment.files[table]) for segment in segments if table in segment.files]


def _may_overlap(segment: Segment, window: Window) -> bool:
    """Return whether a segment can have record times in a window."""
    times = segment.extent.record_times
    return times is None or (times[0] < microseconds(window.until) and times[1] > microseconds(window.since))


def _is_inside(segment: Segment, window: Window) -> bool:
    """Return whether the record times of a segment are all inside the window."""
    times = segment.extent.record_times
    return times is not None and microseconds(window.since) <= times[0] and times[1] <= microseconds(window.until)
