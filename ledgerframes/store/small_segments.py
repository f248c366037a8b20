"""Merges of small neighbors after a sync, so that many small syncs read like one.

A merge takes several neighbors, by default five, of which none has more than half of all rows. So each rewrite at least
doubles a row's segment, which can happen only a limited number of times, and at most a few segments of each size remain. The
segments of a day are merged once more when the day is complete.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ledgerframes.datasets.dataset import Dataset
from ledgerframes.errors import IntegrityError, StoreError
from ledgerframes.store.catalog import Segment
from ledgerframes.store.compact import Merge, merge_segments, plan_merges
from ledgerframes.store.store import Store
from ledgerframes.values.extents import MICROSECONDS_PER_DAY, MigrationWindow

logger = logging.getLogger("ledgerframes")

SMALL_BYTES = 8_000_000  # of the largest file of a merged segment: larger ones read as fast


def merge_small_segments(store: Store, dataset: Dataset, min_count: int) -> None:
    """Merge the small segments of a dataset where at least so many are worth a second write.

    The rows stay the same, and the merged files stay on the disk, as for :func:`ledgerframes.store.compact.compact`. Segments of
    which a file is damaged or lost stay as they are.
    """
    if not dataset.mergeable:
        return
    for merge in plan_small_merges(store.segments(dataset), dataset.schema_fingerprint, min_count):
        try:
            merge_segments(store, dataset, merge)
        except (IntegrityError, StoreError) as error:
            logger.warning("segments_not_merged dataset=%s extent=%s error=%s", dataset.name, merge.extent, error)


def plan_small_merges(segments: Sequence[Segment], fingerprint: str, min_count: int) -> list[Merge]:
    """Plan what to merge among the segments of a dataset, which come in order."""
    return [
        Merge.of(part)
        for merge in plan_merges(segments, SMALL_BYTES, fingerprint)
        for part in _parts_to_merge(merge.segments, min_count)
    ]


def _parts_to_merge(segments: Sequence[Segment], min_count: int) -> list[Sequence[Segment]]:
    """Return the parts of neighbors that are worth a second write.

    Where one has more than half of the rows, the parts are to its left and right.
    """
    if len(segments) < min_count:
        return []
    sizes = [max(segment.rows, 1) for segment in segments]
    if 2 * max(sizes) <= sum(sizes) or _is_whole_day(segments):
        return [segments]
    largest = sizes.index(max(sizes))
    return [*_parts_to_merge(segments[:largest], min_count), *_parts_to_merge(segments[largest + 1 :], min_count)]


def _is_whole_day(segments: Sequence[Segment]) -> bool:
    """Return whether windows cover the UTC day of their start."""
    first, last = segments[0].extent, segments[-1].extent
    if not isinstance(first, MigrationWindow) or not isinstance(last, MigrationWindow):
        return False
    midnight = last.start // MICROSECONDS_PER_DAY * MICROSECONDS_PER_DAY
    return first.start <= midnight and last.stop >= midnight + MICROSECONDS_PER_DAY
