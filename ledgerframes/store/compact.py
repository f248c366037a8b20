"""Small segments put together: fewer files, and the same rows in the same order."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from ledgerframes.datasets._dataset import Dataset
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.extents import Extent, IdSet, MigrationWindow, from_microseconds
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import Segment
from ledgerframes.store.location import Location
from ledgerframes.store.segments import ROW_GROUP, SegmentFile, SegmentWriter, file_name
from ledgerframes.store.store import Store, described, new_segment_id
from ledgerframes.store.verify import problem_of

__all__ = ["Compacted", "compact"]

logger = logging.getLogger("ledgerframes")

TARGET_BYTES = 128_000_000
SORTED_BYTES = 16_000_000  # segments of ids are sorted in memory


@dataclass(frozen=True)
class Compacted:
    """What compaction has done to one dataset, or would do.

    Attributes
    ----------
    dataset : str
    segments_before, segments_after : int
    files_before, files_after : int
    bytes_before : int
    bytes_after : int or None
        None for a dry run: only writing tells.
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
) -> list[Compacted]:
    """Put small neighbouring segments together, without changing what any reader sees.

    Only final segments of one day and one source are merged, and bulk objects if they are neighbours in one folder. The files
    that were merged stay on the disk, because readers may hold an older snapshot; :func:`ledgerframes.store.prune.prune` removes
    them. A process killed at any moment leaves a store that reads the same.

    Parameters
    ----------
    store : Store
    target_bytes : int
        Size in bytes that the largest file of a merged segment stays below.
    datasets : sequence of str, optional
        Names of datasets, such as ``ledger``; all by default.
    dry_run : bool
        Write nothing; say what would be merged.

    Returns
    -------
    list of Compacted
        One for each dataset that has segments. ObjectSet that were named one by one, and those of contracts, are never merged.

    Raises
    ------
    UsageError
        If a dataset is unknown, the target is no size, or the store is a frozen snapshot.
    IntegrityError
        If a file is not what the catalog promises; what was merged before that stays.
    StoreError
        If the store cannot be read or written.

    Notes
    -----
    Source: design, The store.

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
    if target_bytes < 1:
        raise UsageError(f"target_bytes={target_bytes} must be 1 or more.")
    results = []
    for dataset in choose_datasets(store, datasets):
        segments = store.segments(dataset)
        done = []
        for merge in planned(segments, target_bytes) if dataset.mergeable else []:
            if new := merge.outlined() if dry_run else _merge(store, dataset, merge):
                done.append((merge, new))
        if segments:
            results.append(_counted(dataset, segments, done, dry_run))
    return results


def choose_datasets(store: Store, names: Sequence[str] | None) -> list[Dataset]:
    """Return the datasets of these names, or all datasets of the store.

    Raises
    ------
    UsageError
        If there is no such dataset.
    """
    unknown = [name for name in names or () if name not in store.datasets]
    if unknown:
        raise UsageError(f"Unknown dataset {unknown[0]!r}. Choose from {', '.join(store.datasets)}.")
    return list(store.datasets.values()) if names is None else [store.datasets[name] for name in dict.fromkeys(names)]


def require_live(store: Store) -> None:
    """Only the live catalog decides what counts.

    Raises
    ------
    UsageError
        If the store is seen through a frozen snapshot.
    """
    if store.frozen:
        raise UsageError("A frozen snapshot is never changed. Run again without snapshot and LEDGERFRAMES_SNAPSHOT.")


def _counted(dataset: Dataset, segments: Sequence[Segment], done: Sequence[tuple[Merge, Segment]], dry_run: bool) -> Compacted:
    gone = [segment for merge, _ in done for segment in merge.segments]
    new = [segment for _, segment in done]
    files, size = _files(segments), _bytes(segments)
    return Compacted(
        dataset=dataset.name,
        segments_before=len(segments),
        segments_after=len(segments) - len(gone) + len(new),
        files_before=files,
        files_after=files - _files(gone) + _files(new),
        bytes_before=size,
        bytes_after=None if dry_run else size - _bytes(gone) + _bytes(new),
    )


def _files(segments: Iterable[Segment]) -> int:
    return sum(len(segment.files) for segment in segments)


def _bytes(segments: Iterable[Segment]) -> int:
    return sum(segment.bytes for segment in segments)


# -- what belongs together ------------------------------------------------------------------------------------------


class Merge:
    """Segments that become one.

    Parameters
    ----------
    first : Segment
    """

    def __init__(self, first: Segment) -> None:
        self.segments = [first]
        self.extent = first.extent
        self._sizes = _sizes(first)

    def takes(self, segment: Segment, target_bytes: int) -> bool:
        """Add one more, if it goes on where these end and there is room."""
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

    def outlined(self) -> Segment:
        """The segment that these would become, with files that have no size yet."""
        files = {table: SegmentFile(table, "", 0, 0, "") for table in self._sizes}
        return replace(self.segments[0], extent=self.extent, files=files)


def planned(segments: Sequence[Segment], target_bytes: int) -> list[Merge]:
    """What to merge among the segments of one dataset, given in order. Pure.

    What is provisional or a gap is left alone, and what can never be one, such as snapshots of a moment.
    """
    merges: list[Merge] = []
    open_for_more = False
    for segment in _in_order(segments):
        if segment.status != "final":
            open_for_more = False
        elif not (open_for_more and merges[-1].takes(segment, _limit(segment, target_bytes))):
            merges.append(Merge(segment))
            open_for_more = True
    return [merge for merge in merges if len(merge.segments) > 1]


def _in_order(segments: Sequence[Segment]) -> list[Segment]:
    """Those that may become one side by side: ids have no order but that of their fetching."""
    if any(isinstance(segment.extent, IdSet) for segment in segments):
        return sorted(segments, key=lambda segment: (segment.status, segment.source, segment.fetched_at, segment.segment_id))
    return list(segments)


def _limit(segment: Segment, target_bytes: int) -> int:
    return min(target_bytes, SORTED_BYTES) if isinstance(segment.extent, IdSet) else target_bytes


def _day(extent: Extent) -> str | None:
    """The UTC day in which it begins, so that days stay apart; offsets and ids have none."""
    return f"{from_microseconds(extent.start):%Y-%m-%d}" if isinstance(extent, MigrationWindow) else None


def _sizes(segment: Segment) -> Counter[str]:
    return Counter({table: file.bytes for table, file in segment.files.items()})


# -- merging --------------------------------------------------------------------------------------------------------


def _merge(store: Store, dataset: Dataset, merge: Merge) -> Segment | None:
    """Write the merged segment, and let it count instead of the others; None if another process has changed one of them."""
    try:
        segment = _written(store.location, dataset, merge)
    except IntegrityError:
        if _still_there(store, dataset, merge):
            raise
        return None  # what was replaced meanwhile may be gone from the disk already
    with store.catalog.writing() as connection:
        replaced = records.replace_segments(connection, merge.segments, segment, dataset.schema_fingerprint)
    if replaced:
        logger.info("merged %d segments of %s: %s", len(merge.segments), dataset.name, segment.extent)
        return segment
    logger.info("another process has changed %s of %s; not merged", segment.extent, dataset.name)
    for file in segment.files.values():
        store.location.remove(file.path)
    return None


def _still_there(store: Store, dataset: Dataset, merge: Merge) -> bool:
    present = {segment.segment_id for segment in store.segments(dataset)}
    return all(segment.segment_id in present for segment in merge.segments)


def _written(place: Location, dataset: Dataset, merge: Merge) -> Segment:
    segment_id, oldest = new_segment_id(), min(segment.fetched_at for segment in merge.segments)
    with SegmentWriter(place, file_name(merge.extent, segment_id)) as writer:
        for table in dataset.tables:
            old = [segment.files[table.name] for segment in merge.segments if table.name in segment.files]
            pieces = _pieces(place, old)
            for rows in [table.sorted(_one(list(pieces)))] if isinstance(merge.extent, IdSet) and old else _full_groups(pieces):
                writer.write({table.name: rows})
        files = writer.close()
    for name, rows in sum((_rows(segment) for segment in merge.segments), Counter[str]()).items():
        assert files[name].rows == rows, f"{rows} rows of {name} became {files[name].rows}"
    segment = described(segment_id, dataset, merge.extent, files, status="final", source=merge.segments[0].source)
    return replace(segment, fetched_at=oldest)


def _rows(segment: Segment) -> Counter[str]:
    return Counter({table: file.rows for table, file in segment.files.items()})


def _pieces(place: Location, files: Sequence[SegmentFile]) -> Iterator[pa.Table]:
    """The rows of files, one row group at a time."""
    for file in files:
        # Without this a damaged file would be given a digest that fits.
        if problem := problem_of(place, file):
            raise _damaged(place, file, problem)
        try:
            with place.asking(), place.read(file.path) as opened, pq.ParquetFile(opened) as parquet:
                for group in range(parquet.num_row_groups):
                    yield parquet.read_row_group(group)
        except (pa.ArrowInvalid, OSError) as error:
            raise _damaged(place, file, error) from error


def _damaged(place: Location, file: SegmentFile, problem: object) -> IntegrityError:
    return IntegrityError(
        f"{file.path} of {place} is damaged ({problem}), so it is not merged. "
        "`ledgerframes store verify --repair` fetches its range again.",
        path=f"{place}/{file.path}",
    )


def _full_groups(pieces: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same rows in tables that fill their row groups, but for the last."""
    waiting: list[pa.Table] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += piece.num_rows
        if count >= ROW_GROUP:
            rows, rest = _one(waiting), count % ROW_GROUP
            yield rows.slice(0, count - rest)
            waiting, count = [rows.slice(count - rest)], rest
    if count:
        yield _one(waiting)


def _one(tables: list[pa.Table]) -> pa.Table:
    """Tables one after the other; each file has a dictionary of its own, and a row group has room for one."""
    return pa.concat_tables(tables).unify_dictionaries()
