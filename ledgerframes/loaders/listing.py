"""Reading a range of the history: which migrations there are, and the pages of one span."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ledgerframes.api.history import Cursor, History
from ledgerframes.datasets._arrays import parse_timestamps
from ledgerframes.datasets._schema import INTEGER
from ledgerframes.datasets.events.wire import Event, header_of
from ledgerframes.errors import DecodeError, NotFoundError, UsageError
from ledgerframes.extents import Migration, MigrationWindow, from_microseconds, microseconds
from ledgerframes.windows import instant

END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
BEGIN_OF_TIME = microseconds(datetime(1, 1, 1, tzinfo=UTC))
MOST_MIGRATIONS = 1_000_000

Position = tuple[int, int]  # migration id, record time in microseconds


@dataclass(frozen=True)
class Page:
    """Events of one page that lie inside the span asked for.

    Attributes
    ----------
    events : list of Event
    source : str
        Host that answered.
    reached : int
        Everything in the span before this time is known now, in microseconds.
    last : bool
        Whether the listing has no more of this span now.
    ended : bool
        Whether the listing went on into a later migration: this one has nothing more.
    """

    events: list[Event]
    source: str
    reached: int
    last: bool
    ended: bool


class Listed(NamedTuple):
    """An event, and where it stands in the history's order."""

    place: Position
    event: Event


def place(event: Event) -> Position:
    """Where an event stands in the history's order."""
    migration_id, record_time, update_id = header_of(event)
    if not 0 <= migration_id < MOST_MIGRATIONS:
        raise DecodeError(
            f"Update {update_id} has the migration id {migration_id}, which cannot be.", json_path="$..migration_id"
        )
    try:
        return migration_id, microseconds(instant(record_time))
    except UsageError as error:
        raise DecodeError(
            f"Update {update_id} has the record time {record_time!r}, which is not a time.", json_path="$..record_time"
        ) from error


def places(events: list[Event]) -> list[Position]:
    """The places of events, found all at once: that is ten times as fast as one by one."""
    migration_ids, record_times, _ = zip(*map(header_of, events), strict=True) if events else ((), (), ())
    try:
        found = list(zip(migration_ids, parse_timestamps(record_times, "record_time").cast(INTEGER).to_pylist(), strict=True))
    except DecodeError:
        found = []
    if not found or not 0 <= min(migration_ids) <= max(migration_ids) < MOST_MIGRATIONS:
        found = list(map(place, events))  # says which one cannot be placed
    return found


def discover_migrations(history: History, known: list[Migration]) -> list[Migration]:
    """Find the migrations of a network, one small request for each that is new.

    Raises
    ------
    UsageError
        If the network does not list events by range.
    """
    found = list(known)
    while True:
        after = Cursor(found[-1].migration_id, END_OF_TIME) if found else None
        events = _first_event(history, after)
        if not events:
            return found
        migration_id, first = place(events[0])
        if found and migration_id <= found[-1].migration_id:
            raise DecodeError(f"Asked for events after migration {found[-1].migration_id}, the listing gives {migration_id}.")
        found.append(Migration(migration_id, first))


def _first_event(history: History, after: Cursor | None) -> list[Event]:
    try:
        return history.events(after, page_size=1)
    except NotFoundError as error:
        raise UsageError(
            "This network does not list events by range. Take ids from load_updates or load_bulk, and pass them as update_ids=."
        ) from error


def is_over(history: History, span: MigrationWindow) -> bool:
    """Whether a migration had its last event before the span: asked with one small request."""
    events = history.events(_before(span), page_size=1)
    return bool(events) and place(events[0])[0] > span.migration_id


def pages(history: History, span: MigrationWindow, page_size: int) -> Iterator[Page]:
    """The pages of one span in order.

    Parameters
    ----------
    history : History
    span : MigrationWindow
    page_size : int
        Events a page.
    """
    size = max(page_size, 2)  # each page begins with the last time of the one before
    known: _Known | None = _Known(_before(span), span.start)
    while known:
        page, known = _next_page(history.events_page(known.after, page_size=size), known, span, size)
        yield page


class _Known(NamedTuple):
    """How far a listing was read: the place to go on after, and the time before which all is known."""

    after: Cursor
    reached: int


def _next_page(answer: Response, known: _Known, span: MigrationWindow, size: int) -> tuple[Page, _Known | None]:
    """The page that came, and how far the listing was read if there is more.

    Two events may share a record time, and a page may end between them. So what has the last time of a page is left to the next
    one, which begins with that time. A short page is not the end: events are held back, and some services cap the page (wire
    fact 38); a page of one time only is.
    """
    events = History.decode_events(answer)
    came = _in_order(list(map(Listed, places(events), events)), span, known.reached)
    inside, beyond = _divided(came, (span.migration_id, span.stop))
    if beyond:
        return _page(inside, answer, span.stop, last=True, ended=beyond[0].place[0] > span.migration_id), None
    if not came:
        return _page([], answer, known.reached, last=True), None
    last_time = came[-1].place[1]
    earlier, _ = _divided(came, (span.migration_id, last_time))
    if earlier:
        return _page(earlier, answer, last_time), _Known(Cursor(span.migration_id, _time(last_time - 1)), last_time)
    if len(came) >= size:
        raise DecodeError(
            f"{answer.host} lists a whole page of events with one record time; raise page_size.", json_path="$.events"
        )
    return _page(came, answer, last_time + 1, last=True), None


def _page(found: list[Listed], answer: Response, reached: int, *, last: bool = False, ended: bool = False) -> Page:
    return Page([one.event for one in found], answer.host, reached, last, ended)


def _in_order(came: list[Listed], span: MigrationWindow, earliest: int) -> list[Listed]:
    """The events of a page, which must come in order and not before the place asked for."""
    for before, after in pairwise([(span.migration_id, earliest), *(one.place for one in came)]):
        if after < before:
            raise DecodeError(f"The listing gives an event of {after} after {before}: it is not in order.", json_path="$.events")
    return came


def _time(microseconds_since_1970: int) -> datetime:
    """The instant, or the first that can be written."""
    return from_microseconds(max(microseconds_since_1970, BEGIN_OF_TIME))


def _before(span: MigrationWindow) -> Cursor:
    """The cursor whose next event is the first of the span."""
    return Cursor(span.migration_id, _time(span.start - 1))


def _divided(came: list[Listed], at: Position) -> tuple[list[Listed], list[Listed]]:
    """The events of a page before a place, and those from there on; a page is in order."""
    count = bisect_left(came, at, key=attrgetter("place"))
    return came[:count], came[count:]
