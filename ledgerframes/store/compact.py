"""Compaction of small segments into fewer files with the same rows in the same order."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from ledgerframes.datasets import Table
from ledgerframes.datasets.dataset import Dataset
from ledgerframes.datasets.older_schemas import SchemaMapping
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.scan import READ_ERRORS, REPAIR_STEP
from ledgerframes.store.segments import ROW_GROUP, SegmentFile, open_parquet
from ledgerframes.store.store import Store, new_segment, write_segment_files
from ledgerframes.store.verify import check_file
from ledgerframes.values.checks import require_integer
from ledgerframes.values.extents import Extent, IdSet, MigrationWindow, from_microseconds

__all__ = ["CompactionResult", "compact"]

logger = logging.getLogger("ledgerframes")

TARGET_BYTES = 128_000_000
SORTED_BYTES = 16_000_000  # segments of ids are sorted in memory


@dataclass(frozen=True)
class CompactionResult:
    """Counts of one dataset before and after compaction.

    A dry run writes no files, so that their bytes after it are None.
    """

    dataset: str
    segments_before: int
    segments_after: int
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int | None


def compact(
    store: Store, *, target_bytes: int = TARGET_BYTES, datasets: Sequence[str] | None = None, dry_run: bool = False
) -> list[CompactionResult]:
    """Merge small adjacent segments, without changing what any reader sees.

    Only final segments of one day and one source are merged, and consecutive bulk objects of one folder. Segments of another
    schema are rewritten in the schema of this version, even alone. The merged files stay on the disk, because readers may use
    an older snapshot. :func:`ledgerframes.store.prune.prune` deletes them. A process killed at any moment leaves a store with
    the same rows.

    Parameters
    ----------
    store : Store
    target_bytes : int, default 128 MB
        Maximum size of the largest file of a merged segment.
    datasets : sequence of str, optional
        Names of datasets, such as ``ledger`` (default: all).
    dry_run : bool, default False
        Write nothing and return what would be merged.

    Returns
    -------
    list of CompactionResult
        One for each dataset with segments. Bulk objects loaded by key, and those of contracts, are never merged.

    Raises
    ------
    UsageError
        If a dataset is unknown, `target_bytes` is less than 1, or the store is a frozen snapshot.
    IntegrityError
        If a file differs from its record in the catalog. Earlier merges stay.
    StoreError
        If the store cannot be read or written.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.store.compact import compact
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> [(each.dataset, each.segments_after <= each.segments_before) for each in compact(net.store)]
    [('events', True)]
    """
    require_live(store)
    target_bytes = require_integer("target_bytes", target_bytes, 1)
    results = []
    for dataset in choose_datasets(store, datasets):
        before = store.segments(dataset)
        after = {segment.segment_id: segment for segment in before}
        for merge in plan_merges(before, target_bytes, dataset.schema_fingerprint) if dataset.mergeable else []:
            if merged := merge.merged_segment() if dry_run else merge_segments(store, dataset, merge):
                for segment in merge.segments:
                    del after[segment.segment_id]
                after[merged.segment_id] = merged
        if before:
            results.append(_result(dataset, before, after.values(), dry_run))
    return results


def choose_datasets(store: Store, names: Sequence[str] | None) -> list[Dataset]:
    """Return the datasets of these names, or all datasets of the store."""
    unknown = [name for name in names or () if name not in store.datasets]
    if unknown:
        raise UsageError(f"Unknown dataset {unknown[0]!r}. Choose from {', '.join(store.datasets)}.")
    return list(store.datasets.values()) if names is None else [store.datasets[name] for name in dict.fromkeys(names)]


def require_live(store: Store) -> None:
    """Refuse a frozen snapshot, because only the live catalog lists all committed files."""
    if store.is_frozen:
        raise UsageError("A frozen snapshot cannot be changed. Run again without snapshot= and LEDGERFRAMES_SNAPSHOT.")


def _result(dataset: Dataset, before: Collection[Segment], after: Collection[Segment], dry_run: bool) -> CompactionResult:
    files, new_files = (sum(len(segment.files) for segment in segments) for segments in (before, after))
    size, new_size = (sum(segment.bytes for segment in segments) for segments in (before, after))
    return CompactionResult(dataset.name, len(before), len(after), files, new_files, size, None if dry_run else new_size)


# -- planning -------------------------------------------------------------------------------------------------------


class Merge:
    """Segments that become one."""

    def __init__(self, first: Segment) -> None:
        self.segments = [first]
        self.extent = first.extent
        self._sizes = _sizes(first)

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> Merge:
        """Return the merge of segments of any size that belong together."""
        merge = cls(segments[0])
        for segment in segments[1:]:
            if not merge.try_append(segment, sys.maxsize):
                raise ValueError(f"{segment.extent} does not follow {merge.extent}")
        return merge

    def try_append(self, segment: Segment, target_bytes: int) -> bool:
        """Append a segment and return True if it is the next one and the sizes allow it."""
        first = self.segments[0]
        extent = self.extent.merge_with(segment.extent)
        if extent is None or segment.source != first.source or _day(segment.extent) != _day(first.extent):
            return False
        sizes = self._sizes + _sizes(segment)
        if max(sizes.values(), default=0) > target_bytes:
            return False
        self.segments.append(segment)
        self.extent, self._sizes = extent, sizes
        return True

    def merged_segment(self) -> Segment:
        """Return the segment that these would become, with files that have no size yet."""
        files = {table: SegmentFile(table, "", 0, 0, "") for table in self._sizes}
        return replace(self.segments[0], extent=self.extent, files=files)


def plan_merges(segments: Sequence[Segment], target_bytes: int, fingerprint: str) -> list[Merge]:
    """Plan what to merge among the final segments of one dataset, which come in order.

    A segment whose fingerprint differs from that of the dataset is rewritten, even alone.
    """
    if any(isinstance(segment.extent, IdSet) for segment in segments):  # ids have no order except the time of their fetch
        segments = sorted(segments, key=lambda segment: (segment.status, segment.source, segment.fetched_at, segment.segment_id))
        target_bytes = min(target_bytes, SORTED_BYTES)
    merges: list[Merge] = []
    can_append = False
    for segment in segments:
        if segment.status != "final":
            can_append = False
        elif not (can_append and merges[-1].try_append(segment, target_bytes)):
            merges.append(Merge(segment))
            can_append = True
    return [merge for merge in merges if len(merge.segments) > 1 or merge.segments[0].fingerprint != fingerprint]


def _day(extent: Extent) -> str | None:
    """Return the UTC day in which a window starts, so that days stay separate, or None."""
    return f"{from_microseconds(extent.start):%Y-%m-%d}" if isinstance(extent, MigrationWindow) else None


def _sizes(segment: Segment) -> Counter[str]:
    return Counter({table: file.bytes for table, file in segment.files.items()})


# -- merging --------------------------------------------------------------------------------------------------------


def merge_segments(store: Store, dataset: Dataset, merge: Merge) -> Segment | None:
    """Write and commit the merged segment, or return None if another process has changed one."""
    try:
        segment = _write(store.location, dataset, merge)
    except IntegrityError:
        present = {segment.segment_id for segment in store.segments(dataset)}
        if all(segment.segment_id in present for segment in merge.segments):
            raise
        return None  # files of segments that another process has replaced may be deleted already
    with store.catalog.write_transaction() as connection:
        replaced = records.replace_segments(connection, merge.segments, segment)
    if replaced:
        logger.info("segments_merged dataset=%s extent=%s count=%d", dataset.name, segment.extent, len(merge.segments))
        return segment
    logger.info("segments_changed_before_merge dataset=%s extent=%s", dataset.name, segment.extent)
    for file in segment.files.values():
        store.location.remove(file.path)
    return None


def _write(location: Location, dataset: Dataset, merge: Merge) -> Segment:
    oldest = min(segment.fetched_at for segment in merge.segments)
    new = new_segment(dataset, merge.extent, status="final", source=merge.segments[0].source)
    segment = write_segment_files(location, dataset, replace(new, fetched_at=oldest), _iter_parts(location, dataset, merge))
    for name, count in sum((_row_counts(segment) for segment in merge.segments), Counter[str]()).items():
        assert segment.files[name].rows == count, f"{count} rows of {name} became {segment.files[name].rows}"
    return segment


def _iter_parts(location: Location, dataset: Dataset, merge: Merge) -> Iterator[dict[str, pa.Table]]:
    for table in dataset.all_tables:
        old = [segment.files[table.name] for segment in merge.segments if table.name in segment.files]
        groups = _iter_row_groups(location, table, old)
        by_id = isinstance(merge.extent, IdSet) and old
        for rows in [table.sorted(_concat(list(groups)))] if by_id else _fill_row_groups(groups):
            yield {table.name: rows}


def _row_counts(segment: Segment) -> Counter[str]:
    return Counter({table: file.rows for table, file in segment.row_files.items()})


def _iter_row_groups(location: Location, table: Table, files: Sequence[SegmentFile]) -> Iterator[pa.Table]:
    """Iterate over row groups, in the schema of this version."""
    for file in files:
        # Without this check a damaged file would get a digest that matches.
        if problem := check_file(location, file):
            raise _damaged_error(location, file, problem)
        try:
            with location.translate_errors(), location.read(file.path) as source, open_parquet(source) as parquet:
                mapping = SchemaMapping.of(table, parquet.schema_arrow)
                for group in range(parquet.num_row_groups):
                    yield mapping.apply(parquet.read_row_group(group), table.column_names)
        except READ_ERRORS as error:
            raise _damaged_error(location, file, error) from error


def _damaged_error(location: Location, file: SegmentFile, problem: object) -> IntegrityError:
    return IntegrityError(
        f"Cannot merge {file.path} of {location}, which is damaged ({problem}). {REPAIR_STEP}",
        path=f"{location}/{file.path}",
    )


def _fill_row_groups(groups: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Iterate over the same rows in tables that fill their row groups, except the last one."""
    waiting: list[pa.Table] = []
    count = 0
    for group in groups:
        waiting.append(group)
        count += group.num_rows
        if count >= ROW_GROUP:
            rows, rest = _concat(waiting), count % ROW_GROUP
            yield rows.slice(0, count - rest)
            waiting, count = [rows.slice(count - rest)], rest
    if count:
        yield _concat(waiting)


def _concat(tables: list[pa.Table]) -> pa.Table:
    """Concatenate tables with one dictionary, because a row group has room for one."""
    return pa.concat_tables(tables).unify_dictionaries()
