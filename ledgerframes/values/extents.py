"""Extents of segments, and the plan of what is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.values.windows import MICROSECOND, Window, iso, uncovered

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS_PER_HOUR = 3_600_000_000
MICROSECONDS_PER_DAY = 24 * MICROSECONDS_PER_HOUR
TIME = pa.timestamp("us", tz="UTC")
CatalogRange = tuple[str, int, int]  # partition, start and stop, as the catalog stores them


class Extent:
    """Part of a dataset that one segment covers, with or without rows."""

    keys: frozenset[str]  # update ids or object keys, empty for a range
    is_sorted: ClassVar[bool] = True  # whether the rows of a segment are written in the declared order
    has_times: ClassVar[bool] = False  # whether positions are times, in microseconds since 1970
    refetchable: ClassVar[bool] = True  # whether its rows can be fetched again

    @property
    def catalog_range(self) -> CatalogRange | None:
        """Partition, start and stop, or None for a set of ids."""
        return None

    @property
    def record_times(self) -> tuple[int, int] | None:
        """Half-open range of record times in microseconds since 1970, or None."""
        return None

    @classmethod
    def from_catalog(cls, catalog_range: CatalogRange | None, keys: frozenset[str]) -> Extent:
        """Return the extent that a catalog stores as a range, as keys, or as both."""
        raise NotImplementedError

    @classmethod
    def end_times(cls, extents: Sequence[Extent]) -> list[int | None]:
        """Return the time when each of these extents ends, or None for those without times."""
        return [each.catalog_range[2] if cls.has_times and each.catalog_range else None for each in extents]

    def difference(self, others: Iterable[Extent]) -> list[Self]:
        """Return the parts that none of the others covers, in order."""
        raise NotImplementedError

    def overlaps(self, other: Extent) -> bool:
        """Return whether both extents have something in common."""
        raise NotImplementedError

    def merge_with(self, other: Extent) -> Self | None:
        """Return one extent for both, or None if the other is not the next of its kind."""
        raise NotImplementedError

    def precedes(self, other: Extent) -> bool:
        """Return whether all rows of this extent sort before those of the next in the catalog."""
        return True

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the rows inside."""
        raise NotImplementedError

    def scan_filter(self, columns: Collection[str]) -> pc.Expression | None:
        """Return a filter that all rows of a table match, so that scans can skip its files."""
        return self.filter()

    def coverage(self) -> Mapping[str, Any]:
        """Return values of coverage columns by name."""
        return {}

    @property
    def label(self) -> str:
        """A short name for files, made of numbers only and never of text from the network."""
        raise NotImplementedError


class ExtentRange(Extent):
    """A half-open range of positions in one partition, outside which it overlaps nothing."""

    keys = frozenset()
    start: int
    stop: int

    @property
    def partition(self) -> str:
        """The partition in which positions compare, which sorts as text."""
        raise NotImplementedError

    @property
    def catalog_range(self) -> CatalogRange:
        """Partition, start and stop."""
        return self.partition, self.start, self.stop

    def difference(self, others: Iterable[Extent]) -> list[Self]:
        """Return the parts that none of the others covers, in order."""
        covered = [(other.start, other.stop) for other in others if self._shares_partition(other)]
        return [self._part(*part) for part in uncovered(self.start, self.stop, covered)]

    def overlaps(self, other: Extent) -> bool:
        """Return whether both ranges have a position in common."""
        return self._shares_partition(other) and other.start < self.stop and self.start < other.stop

    def merge_with(self, other: Extent) -> Self | None:
        """Return one range for both if the other starts where this one stops, or None."""
        return self._part(self.start, other.stop) if self._shares_partition(other) and self.stop == other.start else None

    def split(self, count: int) -> list[Self]:
        """Split the range into equal parts, in order."""
        edges = [self.start + (self.stop - self.start) * part // count for part in range(count + 1)]
        return [self._part(start, stop) for start, stop in pairwise(edges) if start < stop]

    def _shares_partition(self, other: object) -> TypeGuard[Self]:
        return type(other) is type(self) and other.partition == self.partition

    def _part(self, start: int, stop: int) -> Self:
        return replace(self, start=start, stop=stop)  # type: ignore[type-var]


@dataclass(frozen=True, order=True)
class MigrationWindow(ExtentRange):
    """A half-open range of record times in one migration, in microseconds since 1970."""

    migration_id: int
    start: int
    stop: int
    has_times: ClassVar[bool] = True

    @classmethod
    def of(cls, migration_id: int, window: Window) -> MigrationWindow:
        """Return a window in one migration."""
        return cls(migration_id, microseconds(window.since), microseconds(window.until))

    @classmethod
    def from_catalog(cls, catalog_range: CatalogRange | None, keys: frozenset[str]) -> MigrationWindow:
        """Return the window that a catalog stores."""
        assert catalog_range is not None
        return cls(int(catalog_range[0]), *catalog_range[1:])

    @property
    def partition(self) -> str:
        """The migration, padded so that it sorts as text."""
        return f"{self.migration_id:09}"

    @property
    def record_times(self) -> tuple[int, int]:
        """Start and stop."""
        return self.start, self.stop

    @property
    def window(self) -> Window:
        """The range of record times."""
        return Window(from_microseconds(self.start), from_microseconds(self.stop))

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the rows inside."""
        return (pc.field("migration_id") == self.migration_id) & record_time_filter(self.start, self.stop)

    def coverage(self) -> Mapping[str, Any]:
        """Return the migration and the window."""
        return {"migration_id": self.migration_id, "since": self.window.since, "until": self.window.until}

    @property
    def label(self) -> str:
        """A short name for files."""
        return f"m{self.migration_id}_{time_label(self.start)}_{time_label(self.stop)}"

    def __str__(self) -> str:
        return f"migration {self.migration_id}, {self.window}"


@dataclass(frozen=True, order=True)
class OffsetRange(ExtentRange):
    """Offsets ``start < offset <= stop`` of one participant's ledger, read through one filter."""

    ledger_filter: str
    start: int
    stop: int

    @classmethod
    def from_catalog(cls, catalog_range: CatalogRange | None, keys: frozenset[str]) -> OffsetRange:
        """Return the offset range that a catalog stores."""
        assert catalog_range is not None
        return cls(*catalog_range)

    @property
    def partition(self) -> str:
        """The participant and the filter."""
        return self.ledger_filter

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the rows inside."""
        return (pc.field("offset") > self.start) & (pc.field("offset") <= self.stop)

    def coverage(self) -> Mapping[str, Any]:
        """Return the offsets."""
        return {"after": self.start, "through": self.stop}

    @property
    def label(self) -> str:
        """A short name for files."""
        return f"offsets{self.start}-{self.stop}"

    def __str__(self) -> str:
        return f"offsets {self.start} < … <= {self.stop}"


@dataclass(frozen=True, order=True)
class Observation(ExtentRange):
    """One stored state of data of which only the latest is served, in microseconds since 1970."""

    start: int
    stop: int
    partition = ""  # the only one
    has_times: ClassVar[bool] = True
    refetchable: ClassVar[bool] = False

    @classmethod
    def at(cls, time: datetime) -> Self:
        """Return the observation of one instant."""
        return cls(microseconds(time), microseconds(time) + 1)

    @classmethod
    def from_catalog(cls, catalog_range: CatalogRange | None, keys: frozenset[str]) -> Self:
        """Return the observation that a catalog stores."""
        assert catalog_range is not None
        return cls(*catalog_range[1:])

    def merge_with(self, other: Extent) -> None:
        """Return None, because observations are never merged."""

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the rows of this observation."""
        return pc.field("observed_at") == pa.scalar(self.start, TIME)

    @property
    def label(self) -> str:
        """A short name for files."""
        return time_label(self.start)

    def __str__(self) -> str:
        return iso(from_microseconds(self.start))


@dataclass(frozen=True, order=True)
class SnapshotTime(Observation):
    """The time of one ACS snapshot, in microseconds since 1970."""

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the rows of this snapshot."""
        return pc.field("snapshot_time") == pa.scalar(self.start, TIME)


@dataclass(frozen=True)
class KeySet(Extent):
    """A set of update ids or of object keys."""

    keys: frozenset[str]

    def difference(self, others: Iterable[Extent]) -> list[Self]:
        """Return the keys that are in none of the others, as one set or none."""
        rest = self.keys.difference(*(other.keys for other in others))
        return [replace(self, keys=rest)] if rest else []

    def overlaps(self, other: Extent) -> bool:
        """Return whether both sets have a key in common."""
        return not self.keys.isdisjoint(other.keys)


@dataclass(frozen=True)
class IdSet(KeySet):
    """A set of update ids."""

    is_sorted: ClassVar[bool] = False  # the rows of a lookup are in the order of the ids requested

    @classmethod
    def from_catalog(cls, catalog_range: CatalogRange | None, keys: frozenset[str]) -> IdSet:
        """Return the ids that a catalog stores."""
        return cls(keys)

    def merge_with(self, other: Extent) -> IdSet | None:
        """Return the union of both sets."""
        return IdSet(self.keys | other.keys) if isinstance(other, IdSet) else None

    def filter(self) -> pc.Expression:
        """Return an Arrow expression for the rows of these ids."""
        return pc.field("update_id").isin(pa.array(sorted(self.keys), pa.string()))

    def scan_filter(self, columns: Collection[str]) -> None:
        """Return None, because scans compare ranges, not ids."""

    @property
    def label(self) -> str:
        """A short name for files."""
        return f"ids{len(self.keys)}"

    def __str__(self) -> str:
        return f"{len(self.keys)} ids"


# -- planning -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Migration:
    """The known bounds of one migration."""

    migration_id: int
    first: int  # its first record time
    ended: int | None = None  # a time after its last one, once it has ended

    def intersect(self, window: Window) -> MigrationWindow | None:
        """Return the part of a window in which this migration can have rows, or None."""
        start, stop = max(microseconds(window.since), self.first), microseconds(window.until)
        if self.ended is not None:
            stop = min(stop, self.ended)
        return MigrationWindow(self.migration_id, start, stop) if start < stop else None


def plan_missing(window: Window, migrations: Iterable[Migration], covered: Iterable[Extent]) -> list[MigrationWindow]:
    """Plan the parts of a window that final segments do not cover, by migration and time."""
    extents = list(covered)
    windows = [part for migration in sorted(migrations) if (part := migration.intersect(window))]
    return [missing for part in windows for missing in part.difference(extents)]


# -- times ----------------------------------------------------------------------------------------------------------


def microseconds(time: datetime) -> int:
    """Return a time as microseconds since 1970, exactly."""
    return (time - EPOCH) // MICROSECOND


def from_microseconds(value: int) -> datetime:
    """Return the time of a number of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=value)


def time_label(value: int) -> str:
    """Return a time for a file name, such as ``20261103T120000Z``."""
    return from_microseconds(value).isoformat(timespec="seconds")[:19].replace("-", "").replace(":", "") + "Z"


def record_time_filter(start: int | datetime, stop: int | datetime) -> pc.Expression:
    """Return the expression ``start <= record_time < stop``, for times or microseconds."""
    time = pc.field("record_time")
    return (time >= pa.scalar(start, TIME)) & (time < pa.scalar(stop, TIME))
