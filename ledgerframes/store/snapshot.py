"""Committed segments as of one moment, read through pyarrow.dataset."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, partial
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ledgerframes.datasets import Table
from ledgerframes.datasets import table as table_spec
from ledgerframes.datasets.bookkeeping import COVERAGE
from ledgerframes.datasets.older_schemas import SchemaMapping
from ledgerframes.store.catalog import Segment
from ledgerframes.store.footers import paths_to_open
from ledgerframes.store.location import Location
from ledgerframes.store.older_rows import Rows, wrap_rows
from ledgerframes.store.older_schemas import is_schema_of, mapping_of
from ledgerframes.store.positions import NO_EVENTS
from ledgerframes.store.scan import damage_as_store_error, max_rows, read_rows
from ledgerframes.store.segments import with_encoded_texts
from ledgerframes.store.whole_files import LocalFiles, local_files, require_whole
from ledgerframes.values.extents import MigrationWindow, from_microseconds, microseconds
from ledgerframes.values.windows import MICROSECOND, Window

# Reading ahead helps with object stores, but makes reading from a disk a quarter slower.
DISK_OPTIONS = ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)
OBJECT_STORE_OPTIONS = ds.ParquetFragmentScanOptions(page_checksum_verification=True)


class ScanPart(NamedTuple):
    """Rows of a table, and the filters that they need."""

    rows: Rows
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
    missing_windows : tuple of Window
        What the store does not have of the window of frames.
    unreadable : dict of str to str
        Segments of the snapshot that this version cannot read, with the reasons.
    """

    network: str
    location: Location
    segments: tuple[Segment, ...]
    second_verdicts: pa.Table = field(default_factory=lambda: NO_EVENTS, repr=False)
    missing_before: tuple[MigrationWindow, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=dict)
    missing_windows: tuple[Window, ...] = ()

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

    def scan(self, table: str, *, with_dictionaries: bool = False) -> ds.Dataset:
        """Return the rows of one table, for scans that skip files outside their filter.

        Rows of another schema whose columns were renamed are in memory, because Arrow does not rename columns.

        With dictionaries, texts that repeat stay as the files have them, unless some rows are in memory.
        """
        spec = table_spec(table)
        runs = [(conversion, list(run)) for conversion, run in groupby(self._with_rows(table), partial(self._conversion, spec))]
        encoded = with_dictionaries and not any(conversion for conversion, _ in runs)
        parts = [self._rows(spec, run, conversion, allow_damage=True, encoded=encoded) for conversion, run in runs]
        with damage_as_store_error(table, self.location):
            datasets = [part if isinstance(part, ds.Dataset) else ds.dataset(part.to_table()) for part in parts]
        if len(datasets) > 1:
            return ds.UnionDataset(spec.schema, datasets)
        return datasets[0] if datasets else ds.dataset(spec.empty_arrow())

    def paths(self, table: str, window: Window | None) -> list[str] | None:
        """Return the files of one table for a window, or None if one of them has another schema."""
        near = self._near(table, window)
        if any(self._mapping(table_spec(table), segment) for segment in near):
            return None
        return [f"{self.location}/{segment.files[table].path}" for segment in near]

    def whole_files(self, table: str, window: Window | None) -> LocalFiles | None:
        """Return the files of one table for a window, compared with the catalog.

        They are None in an object store, or if one of them has another schema.
        """
        directory, paths = self.location.local_path, self.paths(table, window)
        files = local_files(directory, paths) if directory and paths else None
        if files:
            require_whole(self.location, [segment.files[table] for segment in self._near(table, window)])
        return files

    def iter_scans(self, table: str, window: Window | None) -> list[ScanPart]:
        """Return the rows of one table by runs of segments.

        Those inside the window need neither a filter nor partition expressions, which together take a third of the time for
        small files.
        """
        spec = table_spec(table)
        times = self.second_verdicts["record_time"].cast(pa.int64()).to_numpy()
        parts = []
        for (conversion, *facts), run in groupby(
            self._near(table, window),
            lambda each: (
                self._conversion(spec, each),
                window is not None and _is_inside(each, window),
                _may_have_any(each, times),
            ),
        ):
            parts.append(ScanPart(self._rows(spec, list(run), conversion, with_expressions=not facts[0]), *facts))
        return parts

    def max_rows(self, table: str, window: Window | None, expression: pc.Expression | None) -> int:
        """Return a number that the matching rows of one table in a window do not exceed.

        Only files that are partly in the window are opened.
        """
        spec, near = table_spec(table), self._near(table, window)
        partly = [segment for segment in near if window is not None and not _is_inside(segment, window)]
        in_catalog = sum(segment.files[table].rows for segment in near) - sum(segment.files[table].rows for segment in partly)
        runs = groupby(partly, partial(self._conversion, spec))
        return in_catalog + sum(max_rows(self._rows(spec, list(run), conversion), expression) for conversion, run in runs)

    def read(self, table: str, columns: Sequence[str], expression: pc.Expression | None = None) -> pa.Table:
        """Read columns of the rows of one table that match an expression, in order."""
        with damage_as_store_error(table, self.location):
            parts = [read_rows(part.rows, columns, expression) for part in self.iter_scans(table, None)]
            return pa.concat_tables(parts) if parts else table_spec(table).empty_arrow().select(list(columns))

    def absent_columns(self, table: str) -> frozenset[str]:
        """Return the columns of a table that a segment of another schema does not have."""
        mappings = [self._mapping(table_spec(table), segment) for segment in self._with_rows(table)]
        return frozenset(name for mapping in mappings if mapping for name in mapping.absent_columns)

    def _with_rows(self, table: str) -> list[Segment]:
        return [segment for segment in self.segments if table in segment.files]

    def _near(self, table: str, window: Window | None) -> list[Segment]:
        """Return the segments that can have rows of one table in a window."""
        return [segment for segment in self._with_rows(table) if window is None or _may_overlap(segment, window)]

    def _mapping(self, spec: Table, segment: Segment) -> SchemaMapping | None:
        """Return the mapping of rows of another schema, or None for rows of this one."""
        if is_schema_of(segment.fingerprint, spec):
            return None
        with damage_as_store_error(spec.name, self.location):
            return mapping_of(self.location, spec, segment.fingerprint, [segment.files[spec.name].path])

    def _conversion(self, spec: Table, segment: Segment) -> SchemaMapping | None:
        """Return the mapping of rows, or None if Arrow reads them by itself."""
        mapping = self._mapping(spec, segment)
        return mapping if mapping and not mapping.is_native else None

    def _rows(
        self,
        spec: Table,
        segments: list[Segment],
        conversion: SchemaMapping | None,
        *,
        with_expressions: bool = True,
        allow_damage: bool = False,
        encoded: bool = False,
    ) -> Rows:
        is_local, filesystem, table = self.location.local_path is not None, self.location.filesystem, spec.name
        files = [segment.files[table] for segment in segments]
        # An object store would need a request for each file.
        paths = paths_to_open(self.location, files, allow_damage=allow_damage) if is_local else [file.path for file in files]
        schema = conversion.schema if conversion else spec.schema
        encoded_schema = with_encoded_texts(schema) if encoded else schema
        dictionaries = [each.name for each in encoded_schema if pa.types.is_dictionary(each.type)] if encoded else []
        file_format = ds.ParquetFileFormat(
            read_options=ds.ParquetReadOptions(dictionary_columns=dictionaries),
            default_fragment_scan_options=DISK_OPTIONS if is_local else OBJECT_STORE_OPTIONS,
        )
        filters = [segment.extent.scan_filter(spec.column_names) if with_expressions else None for segment in segments]
        fragments = [file_format.make_fragment(path, filesystem, rows) for path, rows in zip(paths, filters, strict=True)]
        rows = ds.FileSystemDataset(fragments, encoded_schema, file_format, filesystem)
        return wrap_rows(rows, conversion) if conversion else rows

    def coverage(self) -> pd.DataFrame:
        """Return one row per segment, as the table `coverage`."""
        return self._coverage.copy(deep=False)

    @cached_property
    def _coverage(self) -> pd.DataFrame:
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
