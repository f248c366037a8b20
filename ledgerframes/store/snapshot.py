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
from ledgerframes.store.footers import require_intact
from ledgerframes.store.location import Location
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
        """Return the rows of one table. A filtered scan skips files outside the filter."""
        return self._dataset(table, self.segments, with_expressions=True)

    def iter_scans(self, table: str, window: Window) -> list[tuple[ds.Dataset, bool]]:
        """Return the rows of one table by runs of segments, and whether each is inside the window.

        Those inside need neither a filter nor partition expressions, which together take a third of the time for small files.
        """
        runs = groupby(self.segments, lambda segment: _is_inside(segment, window))
        return [(self._dataset(table, run, with_expressions=not inside), inside) for inside, run in runs]

    def _dataset(self, table: str, segments: Iterable[Segment], *, with_expressions: bool) -> ds.Dataset:
        files = [(segment, segment.files[table]) for segment in segments if table in segment.files]
        filesystem, spec = self.location.filesystem, table_spec(table)
        if self.location.local_path:  # an object store would need a request for each file
            require_intact(self.location, [file for _, file in files])
        file_format = DISK_FORMAT if self.location.local_path else OBJECT_STORE_FORMAT
        fragments = [
            file_format.make_fragment(
                file.path, filesystem, segment.extent.scan_filter(spec.column_names) if with_expressions else None
            )
            for segment, file in files
        ]
        return ds.FileSystemDataset(fragments, spec.schema, file_format, filesystem)

    def coverage(self) -> pd.DataFrame:
        """Return one row per segment, as the table `coverage`."""
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


def _is_inside(segment: Segment, window: Window) -> bool:
    """Return whether the record times of a segment are all inside the window."""
    times = segment.extent.record_times
    return times is not None and microseconds(window.since) <= times[0] and times[1] <= microseconds(window.until)
