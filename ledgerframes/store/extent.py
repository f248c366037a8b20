"""What a segment covers, and the pure plan: what is asked less what is covered is what to fetch."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Self, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.datasets import EVENT_TABLES, LEDGER_TABLES, Table
from ledgerframes.datasets._schema import TEXT, TIME
from ledgerframes.datasets.bulk import schema as bulk
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.datasets.events.schema import REASSIGNMENTS, TREE_EVENTS, UPDATES
from ledgerframes.datasets.reference import schema as reference
from ledgerframes.windows import MICROSECOND, Window, iso

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ANY_MIGRATION = (0, 999_999_999)  # of what has no lines, or is a folder


class ExtentRange:
    """A half-open range of positions in one partition; ranges of different lanes or kinds have nothing in common."""

    start: int
    stop: int

    @property
    def partition(self) -> str:
        """What the positions belong to, so that it sorts as it should."""
        raise NotImplementedError

    def difference(self, others: Iterable[Extent]) -> list[Self]:
        """The parts that none of the others covers, in order."""
        rest: list[Self] = []
        start = self.start
        for other in sorted((other for other in others if self._beside(other)), key=lambda other: other.start):
            if start < min(other.start, self.stop):
                rest.append(self._part(start, min(other.start, self.stop)))
            start = max(start, other.stop)
        if start < self.stop:
            rest.append(self._part(start, self.stop))
        return rest

    def overlaps(self, other: Extent) -> bool:
        """Whether both cover something in common."""
        return self._beside(other) and other.start < self.stop and self.start < other.stop

    def merge_with(self, other: Extent) -> Self | None:
        """Both as one, if the other begins where this one ends."""
        return self._part(self.start, other.stop) if self._beside(other) and self.stop == other.start else None

    def split(self, parts: int) -> list[Self]:
        """Equal parts of the range, in order."""
        edges = [self.start + (self.stop - self.start) * part // parts for part in range(parts + 1)]
        return [self._part(start, stop) for start, stop in pairwise(edges) if start < stop]

    def _beside(self, other: object) -> TypeGuard[Self]:
        return type(other) is type(self) and other.partition == self.partition

    def _part(self, start: int, stop: int) -> Self:
        return replace(self, start=start, stop=stop)  # type: ignore[type-var]


@dataclass(frozen=True, order=True)
class MigrationWindow(ExtentRange):
    """A half-open range of record times in one migration, in microseconds since 1970."""

    migration_id: int
    start: int
    stop: int

    @classmethod
    def of(cls, migration_id: int, window: Window) -> MigrationWindow:
        """The span of a window in one migration."""
        return cls(migration_id, microseconds(window.since), microseconds(window.until))

    @classmethod
    def from_catalog(cls, partition: str, start: int, stop: int) -> MigrationWindow:
        """The span that a catalog remembers."""
        return cls(int(partition), start, stop)

    @property
    def partition(self) -> str:
        """The migration."""
        return f"{self.migration_id:09}"

    @property
    def window(self) -> Window:
        """The range of record times."""
        return Window(from_microseconds(self.start), from_microseconds(self.stop))

    def filter(self) -> pc.Expression:
        """The rows inside, as an Arrow expression."""
        return (pc.field("migration_id") == self.migration_id) & record_time_filter(self.start, self.stop)

    def __str__(self) -> str:
        return f"migration {self.migration_id}, {self.window}"


@dataclass(frozen=True, order=True)
class OffsetRange(ExtentRange):
    """Offsets of one participant's ledger seen through one filter: ``start < offset <= stop``."""

    view: str
    start: int
    stop: int

    @classmethod
    def from_catalog(cls, partition: str, start: int, stop: int) -> OffsetRange:
        """The span that a catalog remembers."""
        return cls(partition, start, stop)

    @property
    def partition(self) -> str:
        """The participant and the filter."""
        return self.view

    def filter(self) -> pc.Expression:
        """The rows inside, as an Arrow expression."""
        return (pc.field("offset") > self.start) & (pc.field("offset") <= self.stop)

    def __str__(self) -> str:
        return f"offsets {self.start} < … <= {self.stop}"


@dataclass(frozen=True, order=True)
class Observation(ExtentRange):
    """One snapshot of something of which only the latest state is served; microseconds since 1970."""

    start: int
    stop: int

    @classmethod
    def at(cls, time: datetime) -> Observation:
        """The moment of an instant."""
        return cls(microseconds(time), microseconds(time) + 1)

    @classmethod
    def from_catalog(cls, partition: str, start: int, stop: int) -> Observation:
        """The moment that a catalog remembers."""
        return cls(start, stop)

    @property
    def partition(self) -> str:
        """There is only one."""
        return ""

    def merge_with(self, other: Extent) -> None:
        """Never: each snapshot stands for itself."""

    def filter(self) -> pc.Expression:
        """The rows of this snapshot, as an Arrow expression."""
        return pc.field("observed_at") == pa.scalar(self.start, TIME)

    def __str__(self) -> str:
        return iso(from_microseconds(self.start))


@dataclass(frozen=True)
class IdSet:
    """A set of update ids."""

    update_ids: frozenset[str]

    def difference(self, others: Iterable[Extent]) -> list[IdSet]:
        """What none of the others holds; nothing, or one set."""
        rest = self.update_ids.difference(*(other.update_ids for other in others if isinstance(other, IdSet)))
        return [IdSet(rest)] if rest else []

    def overlaps(self, other: Extent) -> bool:
        """Whether both hold an id in common."""
        return isinstance(other, IdSet) and not self.update_ids.isdisjoint(other.update_ids)

    def merge_with(self, other: Extent) -> IdSet | None:
        """Both as one."""
        return IdSet(self.update_ids | other.update_ids) if isinstance(other, IdSet) else None

    def filter(self) -> pc.Expression:
        """The rows of these ids, as an Arrow expression."""
        return pc.field("update_id").isin(pa.array(sorted(self.update_ids), TEXT))

    def __str__(self) -> str:
        return f"{len(self.update_ids)} ids"


@dataclass(frozen=True)
class ObjectSet:
    """Bulk objects, by key, and where their lines lie in the order of the history.

    Attributes
    ----------
    object_keys : frozenset of str
    migrations : tuple of int
        Of the first line and of the last.
    start, stop : int
        Record times of all lines, half-open, in microseconds since 1970.
    """

    object_keys: frozenset[str]
    migrations: tuple[int, int]
    start: int
    stop: int

    @classmethod
    def from_catalog(cls, partition: str, start: int, stop: int, names: frozenset[str]) -> ObjectSet:
        """The objects that a catalog remembers."""
        first, _, last = partition.partition("~")
        return cls(names, (int(first), int(last)), start, stop)

    @property
    def partition(self) -> str:
        """The migrations, so that they sort as they should."""
        return "~".join(f"{migration_id:09}" for migration_id in self.migrations)

    @property
    def folders(self) -> frozenset[str]:
        """The folders that they lie in."""
        return frozenset(key.rpartition("/")[0] + "/" for key in self.object_keys)

    @property
    def is_folder(self) -> bool:
        """Whether this says that everything of a folder is known: that is recorded as an object of the folder's own name."""
        return self.object_keys <= self.folders

    def before(self, other: ObjectSet) -> bool:
        """Whether every line of these comes before every line of the others."""
        last, first = self.migrations[1], other.migrations[0]
        return last < first or (last == first and self.stop <= other.start)

    def difference(self, others: Iterable[Extent]) -> list[ObjectSet]:
        """What none of the others holds; nothing, or one set."""
        rest = self.object_keys.difference(*(other.object_keys for other in others if isinstance(other, ObjectSet)))
        return [replace(self, object_keys=rest)] if rest else []

    def overlaps(self, other: Extent) -> bool:
        """Whether both hold an object in common."""
        return isinstance(other, ObjectSet) and not self.object_keys.isdisjoint(other.object_keys)

    def merge_with(self, other: Extent) -> ObjectSet | None:
        """Both as one, if the other objects are the next of the same folder: nothing lies between their lines.

        Each of them must be all of one migration, so that its record times alone say where it lies.
        """
        if not isinstance(other, ObjectSet) or len({*self.migrations, *other.migrations}) > 1 or not self.before(other):
            return None
        if not self._goes_on_with(other):
            return None
        return ObjectSet(self.object_keys | other.object_keys, self.migrations, self.start, other.stop)

    def _goes_on_with(self, other: ObjectSet) -> bool:
        """Whether the folder counts on from these to the others."""
        last, first = max(map(_order, self.object_keys)), min(map(_order, other.object_keys))
        return (*last[:-1], last[-1] + 1) == first

    def filter(self) -> pc.Expression:
        """The record times of these objects, as an Arrow expression."""
        return record_time_filter(self.start, self.stop)

    def __str__(self) -> str:
        others = len(self.object_keys) - 1
        return f"{min(self.object_keys)} and {others} more" if others else min(self.object_keys)


Extent = MigrationWindow | OffsetRange | Observation | IdSet | ObjectSet


@dataclass(frozen=True)
class Dataset:
    """A kind of reading with its own coverage: the tables that one commit makes visible together.

    Attributes
    ----------
    name : str
    tables : tuple of Table
    ranges : type
        What its segments cover; segments of ids are known by their ids.
    apart : bool
        Whether its segments are never merged: they are asked for one by one, or their rows would have to be sorted together.
    """

    name: str
    tables: tuple[Table, ...]
    ranges: type[MigrationWindow] | type[OffsetRange] | type[Observation] | type[ObjectSet] = MigrationWindow
    apart: bool = False

    def extent(self, place: tuple[str | None, int | None, int | None], names: frozenset[str]) -> Extent:
        """The extent that a catalog remembers as a place in a partition, as names, or as both."""
        partition, start, stop = place
        if partition is None or start is None or stop is None:
            return IdSet(names)
        if issubclass(self.ranges, ObjectSet):
            return ObjectSet.from_catalog(partition, start, stop, names)
        return self.ranges.from_catalog(partition, start, stop)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Names the shape of all its tables; segments of another shape are fetched again."""
        return "-".join(table.fingerprint[:6] for table in self.tables)


EVENTS = Dataset("events", EVENT_TABLES)
EVENTS_BY_ID = Dataset("events_by_id", EVENT_TABLES)
LEDGER = Dataset("ledger", LEDGER_TABLES, OffsetRange)
PRICE_VOTES = Dataset("price_votes", (reference.PRICE_VOTES,), Observation)
NAME_RULES = Dataset("name_rules", (reference.NAME_RULES,), Observation)
BULK = Dataset("bulk", (UPDATES, TREE_EVENTS, REASSIGNMENTS, BULK_OBJECTS), ObjectSet)
BULK_BY_KEY = Dataset("bulk_by_key", BULK.tables, ObjectSet, apart=True)
BULK_ACS = Dataset("bulk_acs", (bulk.ACTIVE_CONTRACTS, BULK_OBJECTS), ObjectSet, apart=True)
BULK_ACS_BY_KEY = Dataset("bulk_acs_by_key", BULK_ACS.tables, ObjectSet, apart=True)
_EVERY = (
    EVENTS,
    EVENTS_BY_ID,
    BULK,
    BULK_BY_KEY,
    BULK_ACS,
    BULK_ACS_BY_KEY,
    LEDGER,
    PRICE_VOTES,
    NAME_RULES,
)
DATASETS = {dataset.name: dataset for dataset in _EVERY}


@dataclass(frozen=True, order=True)
class Migration:
    """What is known of one migration: its first record time, and, once seen, a time after its last."""

    migration_id: int
    first: int
    ended: int | None = None

    def span(self, window: Window) -> MigrationWindow | None:
        """The part of a window in which this migration can have rows."""
        start, stop = max(microseconds(window.since), self.first), microseconds(window.until)
        if self.ended is not None:
            stop = min(stop, self.ended)
        return MigrationWindow(self.migration_id, start, stop) if start < stop else None


def plan_missing(window: Window, migrations: Iterable[Migration], covered: Iterable[Extent]) -> list[MigrationWindow]:
    """The plan: what to fetch for a window, given what is final already. Pure.

    Returns
    -------
    list of MigrationWindow
        In order of (migration, time), without overlap.
    """
    known = list(covered)
    asked = [span for migration in sorted(migrations) if (span := migration.span(window))]
    return [part for span in asked for part in span.difference(known)]


def microseconds(time: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (time - EPOCH) // MICROSECOND


@functools.lru_cache(maxsize=100_000)
def _order(object_key: str) -> tuple[datetime, datetime, str, str, int]:
    """Where an object belongs; remembered, because a folder's objects are compared again and again while they are merged."""
    return ObjectKey.parse(object_key).sort_key


def record_time_filter(start: int | datetime, stop: int | datetime) -> pc.Expression:
    """The rows with a record time from start to before stop, as an Arrow expression; times, or microseconds after 1970."""
    time = pc.field("record_time")
    return (time >= pa.scalar(start, TIME)) & (time < pa.scalar(stop, TIME))


def from_microseconds(value: int) -> datetime:
    """The instant so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=value)
