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

from ledgerframes.tables import EVENT_TABLES, LEDGER_TABLES, Table, bulk, reference
from ledgerframes.tables.bulk import BULK_OBJECTS
from ledgerframes.tables.history import REASSIGNMENTS, TREE_EVENTS, UPDATES
from ledgerframes.tables.spec import TEXT, TIME
from ledgerframes.times import MICROSECOND, Window, iso
from ledgerframes.wire.bulk_keys import ObjectKey

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ANY_MIGRATION = (0, 999_999_999)  # of what has no lines, or is a folder


class Range:
    """A half-open range of positions in one lane; ranges of different lanes or kinds have nothing in common."""

    low: int
    high: int

    @property
    def lane(self) -> str:
        """What the positions belong to, so that it sorts as it should."""
        raise NotImplementedError

    def minus(self, others: Iterable[Extent]) -> list[Self]:
        """The parts that none of the others covers, in order."""
        rest: list[Self] = []
        low = self.low
        for other in sorted((other for other in others if self._beside(other)), key=lambda other: other.low):
            if low < min(other.low, self.high):
                rest.append(self._part(low, min(other.low, self.high)))
            low = max(low, other.high)
        if low < self.high:
            rest.append(self._part(low, self.high))
        return rest

    def overlaps(self, other: Extent) -> bool:
        """Whether both cover something in common."""
        return self._beside(other) and other.low < self.high and self.low < other.high

    def joined(self, other: Extent) -> Self | None:
        """Both as one, if the other begins where this one ends."""
        return self._part(self.low, other.high) if self._beside(other) and self.high == other.low else None

    def split(self, parts: int) -> list[Self]:
        """Equal parts of the range, in order."""
        edges = [self.low + (self.high - self.low) * part // parts for part in range(parts + 1)]
        return [self._part(low, high) for low, high in pairwise(edges) if low < high]

    def _beside(self, other: object) -> TypeGuard[Self]:
        return type(other) is type(self) and other.lane == self.lane

    def _part(self, low: int, high: int) -> Self:
        return replace(self, low=low, high=high)  # type: ignore[type-var]


@dataclass(frozen=True, order=True)
class Span(Range):
    """A half-open range of record times in one migration, in microseconds since 1970."""

    migration_id: int
    low: int
    high: int

    @classmethod
    def of(cls, migration_id: int, window: Window) -> Span:
        """The span of a window in one migration."""
        return cls(migration_id, microseconds(window.since), microseconds(window.until))

    @classmethod
    def in_lane(cls, lane: str, low: int, high: int) -> Span:
        """The span that a catalog remembers."""
        return cls(int(lane), low, high)

    @property
    def lane(self) -> str:
        """The migration."""
        return f"{self.migration_id:09}"

    @property
    def window(self) -> Window:
        """The range of record times."""
        return Window(from_microseconds(self.low), from_microseconds(self.high))

    def filter(self) -> pc.Expression:
        """The rows inside, as an Arrow expression."""
        return (pc.field("migration_id") == self.migration_id) & recorded(self.low, self.high)

    def __str__(self) -> str:
        return f"migration {self.migration_id}, {self.window}"


@dataclass(frozen=True, order=True)
class OffsetSpan(Range):
    """Offsets of one participant's ledger seen through one filter: ``low < offset <= high``."""

    view: str
    low: int
    high: int

    @classmethod
    def in_lane(cls, lane: str, low: int, high: int) -> OffsetSpan:
        """The span that a catalog remembers."""
        return cls(lane, low, high)

    @property
    def lane(self) -> str:
        """The participant and the filter."""
        return self.view

    def filter(self) -> pc.Expression:
        """The rows inside, as an Arrow expression."""
        return (pc.field("offset") > self.low) & (pc.field("offset") <= self.high)

    def __str__(self) -> str:
        return f"offsets {self.low} < … <= {self.high}"


@dataclass(frozen=True, order=True)
class Moment(Range):
    """One snapshot of something of which only the latest state is served; microseconds since 1970."""

    low: int
    high: int

    @classmethod
    def at(cls, time: datetime) -> Moment:
        """The moment of an instant."""
        return cls(microseconds(time), microseconds(time) + 1)

    @classmethod
    def in_lane(cls, lane: str, low: int, high: int) -> Moment:
        """The moment that a catalog remembers."""
        return cls(low, high)

    @property
    def lane(self) -> str:
        """There is only one."""
        return ""

    def joined(self, other: Extent) -> None:
        """Never: each snapshot stands for itself."""

    def filter(self) -> pc.Expression:
        """The rows of this snapshot, as an Arrow expression."""
        return pc.field("observed_at") == pa.scalar(self.low, TIME)

    def __str__(self) -> str:
        return iso(from_microseconds(self.low))


@dataclass(frozen=True)
class Ids:
    """A set of update ids."""

    update_ids: frozenset[str]

    def minus(self, others: Iterable[Extent]) -> list[Ids]:
        """What none of the others holds; nothing, or one set."""
        rest = self.update_ids.difference(*(other.update_ids for other in others if isinstance(other, Ids)))
        return [Ids(rest)] if rest else []

    def overlaps(self, other: Extent) -> bool:
        """Whether both hold an id in common."""
        return isinstance(other, Ids) and not self.update_ids.isdisjoint(other.update_ids)

    def joined(self, other: Extent) -> Ids | None:
        """Both as one."""
        return Ids(self.update_ids | other.update_ids) if isinstance(other, Ids) else None

    def filter(self) -> pc.Expression:
        """The rows of these ids, as an Arrow expression."""
        return pc.field("update_id").isin(pa.array(sorted(self.update_ids), TEXT))

    def __str__(self) -> str:
        return f"{len(self.update_ids)} ids"


@dataclass(frozen=True)
class Objects:
    """Bulk objects, by key, and where their lines lie in the order of the history.

    Attributes
    ----------
    object_keys : frozenset of str
    migrations : tuple of int
        Of the first line and of the last.
    low, high : int
        Record times of all lines, half-open, in microseconds since 1970.
    """

    object_keys: frozenset[str]
    migrations: tuple[int, int]
    low: int
    high: int

    @classmethod
    def in_lane(cls, lane: str, low: int, high: int, names: frozenset[str]) -> Objects:
        """The objects that a catalog remembers."""
        first, _, last = lane.partition("~")
        return cls(names, (int(first), int(last)), low, high)

    @property
    def lane(self) -> str:
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

    def before(self, other: Objects) -> bool:
        """Whether every line of these comes before every line of the others."""
        last, first = self.migrations[1], other.migrations[0]
        return last < first or (last == first and self.high <= other.low)

    def minus(self, others: Iterable[Extent]) -> list[Objects]:
        """What none of the others holds; nothing, or one set."""
        rest = self.object_keys.difference(*(other.object_keys for other in others if isinstance(other, Objects)))
        return [replace(self, object_keys=rest)] if rest else []

    def overlaps(self, other: Extent) -> bool:
        """Whether both hold an object in common."""
        return isinstance(other, Objects) and not self.object_keys.isdisjoint(other.object_keys)

    def joined(self, other: Extent) -> Objects | None:
        """Both as one, if the other objects are the next of the same folder: nothing lies between their lines.

        Each of them must be all of one migration, so that its record times alone say where it lies.
        """
        if not isinstance(other, Objects) or len({*self.migrations, *other.migrations}) > 1 or not self.before(other):
            return None
        if not self._goes_on_with(other):
            return None
        return Objects(self.object_keys | other.object_keys, self.migrations, self.low, other.high)

    def _goes_on_with(self, other: Objects) -> bool:
        """Whether the folder counts on from these to the others."""
        last, first = max(map(_order, self.object_keys)), min(map(_order, other.object_keys))
        return (*last[:-1], last[-1] + 1) == first

    def filter(self) -> pc.Expression:
        """The record times of these objects, as an Arrow expression."""
        return recorded(self.low, self.high)

    def __str__(self) -> str:
        others = len(self.object_keys) - 1
        return f"{min(self.object_keys)} and {others} more" if others else min(self.object_keys)


Extent = Span | OffsetSpan | Moment | Ids | Objects


@dataclass(frozen=True)
class Stream:
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
    ranges: type[Span] | type[OffsetSpan] | type[Moment] | type[Objects] = Span
    apart: bool = False

    def extent(self, place: tuple[str | None, int | None, int | None], names: frozenset[str]) -> Extent:
        """The extent that a catalog remembers as a place in a lane, as names, or as both."""
        lane, low, high = place
        if lane is None or low is None or high is None:
            return Ids(names)
        if issubclass(self.ranges, Objects):
            return Objects.in_lane(lane, low, high, names)
        return self.ranges.in_lane(lane, low, high)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Names the shape of all its tables; segments of another shape are fetched again."""
        return "-".join(table.fingerprint[:6] for table in self.tables)


EVENTS = Stream("events", EVENT_TABLES)
EVENTS_BY_ID = Stream("events_by_id", EVENT_TABLES)
LEDGER = Stream("ledger", LEDGER_TABLES, OffsetSpan)
PRICE_VOTES = Stream("price_votes", (reference.PRICE_VOTES,), Moment)
NAME_RULES = Stream("name_rules", (reference.NAME_RULES,), Moment)
BULK = Stream("bulk", (UPDATES, TREE_EVENTS, REASSIGNMENTS, BULK_OBJECTS), Objects)
BULK_BY_KEY = Stream("bulk_by_key", BULK.tables, Objects, apart=True)
BULK_ACS = Stream("bulk_acs", (bulk.ACTIVE_CONTRACTS, BULK_OBJECTS), Objects, apart=True)
BULK_ACS_BY_KEY = Stream("bulk_acs_by_key", BULK_ACS.tables, Objects, apart=True)
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
STREAMS = {stream.name: stream for stream in _EVERY}


@dataclass(frozen=True, order=True)
class Migration:
    """What is known of one migration: its first record time, and, once seen, a time after its last."""

    migration_id: int
    first: int
    ended: int | None = None

    def span(self, window: Window) -> Span | None:
        """The part of a window in which this migration can have rows."""
        low, high = max(microseconds(window.since), self.first), microseconds(window.until)
        if self.ended is not None:
            high = min(high, self.ended)
        return Span(self.migration_id, low, high) if low < high else None


def missing_spans(window: Window, migrations: Iterable[Migration], covered: Iterable[Extent]) -> list[Span]:
    """The plan: what to fetch for a window, given what is final already. Pure.

    Returns
    -------
    list of Span
        In order of (migration, time), without overlap.
    """
    known = list(covered)
    asked = [span for migration in sorted(migrations) if (span := migration.span(window))]
    return [part for span in asked for part in span.minus(known)]


def microseconds(time: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (time - EPOCH) // MICROSECOND


@functools.lru_cache(maxsize=100_000)
def _order(object_key: str) -> tuple[datetime, datetime, str, str, int]:
    """Where an object belongs; remembered, because a folder's objects are compared again and again while they are merged."""
    return ObjectKey.parse(object_key).order


def recorded(low: int | datetime, high: int | datetime) -> pc.Expression:
    """The rows with a record time from low to before high, as an Arrow expression; times, or microseconds after 1970."""
    time = pc.field("record_time")
    return (time >= pa.scalar(low, TIME)) & (time < pa.scalar(high, TIME))


def from_microseconds(value: int) -> datetime:
    """The instant so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=value)
