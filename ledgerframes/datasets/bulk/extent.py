"""Sets of bulk objects as extents, in the order of their lines."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import pyarrow.compute as pc

from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.values.extents import (
    CatalogRange,
    Extent,
    KeySet,
    from_microseconds,
    microseconds,
    record_time_filter,
    time_label,
)
from ledgerframes.values.windows import Window, uncovered

ANY_MIGRATION = (0, 999_999_999)  # for objects without lines, and for whole folders


@dataclass(frozen=True)
class ObjectSet(KeySet):
    """Bulk objects, by key, and the range of their lines in the order of the history.

    Attributes
    ----------
    keys : frozenset of str
        The object keys.
    migrations : tuple of int
        Migrations of the first line and of the last.
    start, stop : int
        Record times of all lines, half-open, in microseconds since 1970.
    """

    migrations: tuple[int, int]
    start: int
    stop: int
    has_times: ClassVar[bool] = True

    @classmethod
    def from_catalog(cls, catalog_range: CatalogRange | None, keys: frozenset[str]) -> ObjectSet:
        """Return the objects that a catalog stores."""
        assert catalog_range is not None
        first, _, last = catalog_range[0].partition("~")
        return cls(keys, (int(first), int(last)), *catalog_range[1:])

    @classmethod
    def end_times(cls, extents: Sequence[Extent]) -> list[int | None]:
        """Return the end of each set, or of its folder if that is complete and ends later.

        A complete folder is therefore pruned as a whole.
        """
        objects = [extent for extent in extents if isinstance(extent, cls)]
        folder_ends = {folder: extent.stop for extent in objects if extent.is_folder for folder in extent.folders}
        return [max([extent.stop, *(folder_ends.get(folder, extent.stop) for folder in extent.folders)]) for extent in objects]

    @property
    def catalog_range(self) -> CatalogRange:
        """The migrations, padded so that they sort as text, and the record times."""
        return "~".join(f"{migration_id:09}" for migration_id in self.migrations), self.start, self.stop

    @property
    def record_times(self) -> tuple[int, int]:
        """Start and stop."""
        return self.start, self.stop

    @property
    def folders(self) -> frozenset[str]:
        """The folders of the objects."""
        return frozenset(key.rpartition("/")[0] + "/" for key in self.keys)

    @property
    def is_folder(self) -> bool:
        """Whether this set is the mark of a complete folder, an object with the folder's name."""
        return self.keys <= self.folders

    def merge_with(self, other: Extent) -> ObjectSet | None:
        """Return one set for both if the other objects are the next of the same folder, or None.

        All lines must be of one migration, so that record times alone sort them.
        """
        if not isinstance(other, ObjectSet) or len({*self.migrations, *other.migrations}) > 1 or not self.precedes(other):
            return None
        last, first = max(map(_sort_key, self.keys)), min(map(_sort_key, other.keys))
        is_next = (*last[:-1], last[-1] + 1) == first
        return ObjectSet(self.keys | other.keys, self.migrations, self.start, other.stop) if is_next else None

    def precedes(self, other: Extent) -> bool:
        """Return whether every line of this set sorts before every line of the other."""
        if not isinstance(other, ObjectSet):
            return True
        last, first = self.migrations[1], other.migrations[0]
        return last < first or (last == first and self.stop <= other.start)

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the record times of these objects."""
        return record_time_filter(self.start, self.stop)

    def scan_filter(self, columns: Collection[str]) -> pc.Expression | None:
        """Return the filter for a table with record times, or None for other tables."""
        return self.filter() if "record_time" in columns else None

    def coverage(self) -> Mapping[str, Any]:
        """Return the window, and the migration if all lines are of one."""
        first, last = self.migrations
        since, until = from_microseconds(self.start), from_microseconds(self.stop)
        return {"migration_id": first if first == last else None, "since": since, "until": until}

    @property
    def label(self) -> str:
        """A short name for files."""
        return f"objects{len(self.keys)}_{time_label(self.start)}_{time_label(self.stop)}"

    def __str__(self) -> str:
        others = len(self.keys) - 1
        return f"{min(self.keys)} and {others} more" if others else min(self.keys)


def missing_windows(window: Window, extents: Iterable[Extent]) -> list[Window]:
    """Return the parts of a window that no complete folder covers."""
    folders = [(each.start, each.stop) for each in extents if isinstance(each, ObjectSet) and each.is_folder]
    parts = uncovered(microseconds(window.since), microseconds(window.until), folders)
    return [Window(from_microseconds(start), from_microseconds(stop)) for start, stop in parts]


@functools.lru_cache(maxsize=100_000)  # merging compares the objects of a folder many times
def _sort_key(object_key: str) -> tuple[datetime, datetime, str, str, int]:
    """Return the sort key of an object."""
    return ObjectKey.parse(object_key).sort_key
