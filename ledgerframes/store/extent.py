"""What a segment covers, and the pure plan: what is asked less what is covered is what to fetch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.tables import EVENT_TABLES, Table
from ledgerframes.tables.spec import TEXT, TIME
from ledgerframes.times import MICROSECOND, Window

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Stream:
    """A kind of reading with its own coverage: the tables that one commit makes visible together."""

    name: str
    tables: tuple[Table, ...]

    @property
    def fingerprint(self) -> str:
        """Names the shape of all its tables; segments of another shape are fetched again."""
        return "-".join(table.fingerprint[:6] for table in self.tables)


EVENTS = Stream("events", EVENT_TABLES)
EVENTS_BY_ID = Stream("events_by_id", EVENT_TABLES)
STREAMS = {stream.name: stream for stream in (EVENTS, EVENTS_BY_ID)}


@dataclass(frozen=True, order=True)
class Span:
    """A half-open range of record times in one migration, in microseconds since 1970."""

    migration_id: int
    low: int
    high: int

    @classmethod
    def of(cls, migration_id: int, window: Window) -> Span:
        """The span of a window in one migration."""
        return cls(migration_id, microseconds(window.since), microseconds(window.until))

    @property
    def window(self) -> Window:
        """The range of record times."""
        return Window(from_microseconds(self.low), from_microseconds(self.high))

    def minus(self, others: Iterable[Extent]) -> list[Extent]:
        """The parts that none of the others covers, in order."""
        rest: list[Extent] = []
        low = self.low
        for other in sorted(other for other in others if isinstance(other, Span) and other.migration_id == self.migration_id):
            if low < min(other.low, self.high):
                rest.append(Span(self.migration_id, low, min(other.low, self.high)))
            low = max(low, other.high)
        if low < self.high:
            rest.append(Span(self.migration_id, low, self.high))
        return rest

    def overlaps(self, other: Extent) -> bool:
        """Whether both cover something in common."""
        return (
            isinstance(other, Span)
            and other.migration_id == self.migration_id
            and other.low < self.high
            and self.low < other.high
        )

    def filter(self) -> pc.Expression:
        """The rows inside, as an Arrow expression."""
        low, high = (pa.scalar(from_microseconds(time), TIME) for time in (self.low, self.high))
        return (
            (pc.field("migration_id") == self.migration_id) & (pc.field("record_time") >= low) & (pc.field("record_time") < high)
        )

    def split(self, parts: int) -> list[Span]:
        """Equal parts of the span, in order."""
        edges = [self.low + (self.high - self.low) * part // parts for part in range(parts + 1)]
        return [Span(self.migration_id, low, high) for low, high in pairwise(edges) if low < high]

    def __str__(self) -> str:
        return f"migration {self.migration_id}, {self.window}"


@dataclass(frozen=True)
class Ids:
    """A set of update ids."""

    update_ids: frozenset[str]

    def minus(self, others: Iterable[Extent]) -> list[Extent]:
        """What none of the others holds; nothing, or one set."""
        rest = self.update_ids.difference(*(other.update_ids for other in others if isinstance(other, Ids)))
        return [Ids(rest)] if rest else []

    def overlaps(self, other: Extent) -> bool:
        """Whether both hold an id in common."""
        return isinstance(other, Ids) and not self.update_ids.isdisjoint(other.update_ids)

    def filter(self) -> pc.Expression:
        """The rows of these ids, as an Arrow expression."""
        return pc.field("update_id").isin(pa.array(sorted(self.update_ids), TEXT))

    def __str__(self) -> str:
        return f"{len(self.update_ids)} ids"


Extent = Span | Ids


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
    return [part for span in asked for part in span.minus(known) if isinstance(part, Span)]


def microseconds(time: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (time - EPOCH) // MICROSECOND


def from_microseconds(value: int) -> datetime:
    """The instant so many microseconds after 1970."""
    return EPOCH + timedelta(microseconds=value)
