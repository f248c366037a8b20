"""Pages of the history listing, and the migrations of a network."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from ledgerframes.api.history import Cursor, History
from ledgerframes.api.response import Response
from ledgerframes.datasets.arrays import parse_timestamps
from ledgerframes.datasets.boundary import DATA_ERRORS, decode_boundary
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import Event, EventsPage, header_of
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.datasets.schema import INTEGER
from ledgerframes.datasets.structs import Wire
from ledgerframes.errors import DecodeError, NotFoundError, UsageError, WrongUrlError
from ledgerframes.loaders.bad_items import BadItem, bad_item, find_errors
from ledgerframes.values.extents import Migration, MigrationWindow, from_microseconds, microseconds
from ledgerframes.values.windows import instant

MAX_MIGRATIONS = 1_000_000
END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
START_OF_TIME = microseconds(datetime(1, 1, 1, tzinfo=UTC))

Position = tuple[int, int]  # migration id, record time in microseconds


@dataclass(frozen=True)
class Page:
    """Events of one page that are inside the window."""

    events: list[Event]
    bad_items: list[BadItem]
    source: str  # the host that returned the page
    complete_until: int  # everything in the window before this time has been fetched, in microseconds
    is_last: bool = False  # the listing currently has no more of this window
    ends_migration: bool = False  # the listing continues in a later migration, so this one has ended


class PositionedItem(NamedTuple):
    """An event or a bad item, and its position, or the first position that it can have."""

    position: Position
    item: Event | BadItem


def position_of(event: Event) -> Position:
    """Return the position of an event in the history."""
    migration_id, record_time, update_id = header_of(event)
    if not 0 <= migration_id < MAX_MIGRATIONS:
        raise DecodeError(f"Update {update_id} has the invalid migration id {migration_id}.", json_path="$..migration_id")
    try:
        return migration_id, microseconds(instant(record_time))
    except UsageError as error:
        raise DecodeError(
            f"Update {update_id} has the record time {record_time!r}, which is not a time.", json_path="$..record_time"
        ) from error


def positions_of(events: list[Event]) -> list[Position]:
    """Return the positions of events, all at once because this is ten times as fast."""
    migration_ids, record_times, _ = zip(*map(header_of, events), strict=True) if events else ((), (), ())
    try:
        positions = list(zip(migration_ids, parse_timestamps(record_times, "record_time").cast(INTEGER).to_pylist(), strict=True))
    except DecodeError:
        positions = []
    if not positions or not 0 <= min(migration_ids) <= max(migration_ids) < MAX_MIGRATIONS:
        positions = list(map(position_of, events))  # this error names the invalid event
    return positions


def discover_migrations(history: History, known: list[Migration]) -> list[Migration]:
    """Return the migrations of a network, with one small HTTP request for each new one."""
    migrations = list(known)
    while True:
        after = Cursor(migrations[-1].migration_id, END_OF_TIME) if migrations else None
        position = _first_position(history, after)
        if position is None:
            return migrations
        migration_id, first = position
        if migrations and migration_id <= migrations[-1].migration_id:
            raise DecodeError(
                f"The listing returned migration {migration_id} for events after migration {migrations[-1].migration_id}."
            )
        migrations.append(Migration(migration_id, first))


def _first_position(history: History, after: Cursor | None) -> Position | None:
    try:
        return first_position(history, after)
    except WrongUrlError:
        raise
    except NotFoundError as error:
        raise UsageError(
            "This network does not list events by range, so rejections are not visible. "
            "Pass update_ids= from load_updates for costs of committed updates."
        ) from error


def first_position(history: History, after: Cursor | None) -> Position | None:
    """Return the position of the first event after a cursor, or None if there is none.

    The event may be one that cannot be decoded, which blocks no load of other windows.
    """
    response = history.events_page(after, page_size=1)
    page = response.decode(_RawPage)
    history.note_around(response.endpoint, unknown_members(page, but=list))
    if not page.events:
        return None
    return _identity(bytes(page.events[0]))[1] or position_of(response.decode(EventsPage).events[0])


def has_ended(history: History, window: MigrationWindow) -> bool:
    """Return whether a migration ended before a window, with one small HTTP request."""
    position = first_position(history, _cursor_before(window.migration_id, window.start))
    return position is not None and position[0] > window.migration_id


def pages(history: History, window: MigrationWindow, page_size: int, *, by_item: bool = False) -> Iterator[Page]:
    """Yield the pages of one window in order, with bad items if items are decoded singly."""
    size = max(page_size, 2)  # Each page starts with the last time of the page before.
    complete_until, is_last = window.start, False
    while not is_last:
        response = history.events_page(_cursor_before(window.migration_id, complete_until), page_size=size)
        # No variable holds the items, so that the caller can free their memory before the next page arrives.
        page = _read_page(
            response,
            _decode_items(response, window, complete_until) if by_item else _decode_events(history, response),
            window,
            complete_until,
            size,
        )
        complete_until, is_last = page.complete_until, page.is_last
        yield page


def _cursor_before(migration_id: int, time: int) -> Cursor | None:
    """Return the cursor before the first event at or after a time, or None at the start."""
    if time > START_OF_TIME:
        return Cursor(migration_id, from_microseconds(time - 1))
    return Cursor(migration_id - 1, END_OF_TIME) if migration_id else None  # no time is before the earliest one


def _decode_events(history: History, response: Response) -> list[PositionedItem]:
    page = response.decode(EventsPage)
    history.note_around(response.endpoint, unknown_members(page, but=list))
    return list(map(PositionedItem, positions_of(page.events), page.events))


def _read_page(response: Response, items: list[PositionedItem], window: MigrationWindow, earliest: int, size: int) -> Page:
    """Return a page, whose items begin at the earliest time.

    Two events may share a record time, and a page may end between them. So the events with the last time of a page are left
    to the next page, which starts with that time. A short page is not the end, because services hold back events and some cap
    the page (docs/facts.md#short-event-pages). A page with a single record time is the end.
    """
    for before, after in pairwise([(window.migration_id, earliest), *(each.position for each in items)]):
        if after < before:
            raise DecodeError(f"The listing is not in order, with an event of {after} after {before}.", json_path="$.events")
    inside, beyond = _split_at(items, (window.migration_id, window.stop))
    if beyond:
        ends_migration = beyond[0].position[0] > window.migration_id
        return _page(inside, response, window.stop, is_last=True, ends_migration=ends_migration)
    if not items:
        return _page([], response, earliest, is_last=True)
    last_time = items[-1].position[1]
    earlier, _ = _split_at(items, (window.migration_id, last_time))
    if earlier:
        return _page(earlier, response, last_time)
    if len(items) >= size:
        raise DecodeError(
            f"{response.host} lists more than {size} events with one record time. Raise page_size=.", json_path="$.events"
        )
    return _page(items, response, last_time + 1, is_last=True)


def _split_at(items: list[PositionedItem], position: Position) -> tuple[list[PositionedItem], list[PositionedItem]]:
    """Split the items of a page, which are in order, at a position."""
    count = bisect_left(items, position, key=attrgetter("position"))
    return items[:count], items[count:]


def _page(items: list[PositionedItem], response: Response, complete_until: int, **ends: bool) -> Page:
    events = [each.item for each in items if not isinstance(each.item, BadItem)]
    bad_items = [each.item for each in items if isinstance(each.item, BadItem)]
    return Page(events, bad_items, response.host, complete_until, **ends)


# -- pages with bad items ---------------------------------------------------------------------------------------------


class _RawPage(Wire):
    """A page whose items stay bytes."""

    events: list[msgspec.Raw]


def _decode_items(response: Response, window: MigrationWindow, earliest: int) -> list[PositionedItem]:
    """Return the items of a page, with a bad item at its position or between its neighbors."""
    contents = list(map(bytes, response.decode(_RawPage).events))

    def check(some: Sequence[bytes]) -> None:
        events = [decode(content, Event, response.endpoint) for content in some]
        with decode_boundary(response.endpoint):
            event_tables(events, "listing")
            list(map(position_of, events))

    errors = find_errors(contents, check)
    update_ids, positions = zip(*map(_identity, contents), strict=True) if contents else ((), ())
    before = (window.migration_id, earliest)
    items: list[PositionedItem] = []
    for number, content in enumerate(contents):
        before = positions[number] or before
        item: Event | BadItem
        if number in errors:
            after = next(filter(None, positions[number:]), None)
            stop = after[1] + 1 if after and after[0] == before[0] else window.stop
            extent = replace(window, start=before[1], stop=stop)
            item = bad_item(content, errors[number], number, "$.events", update_ids[number], extent)
            if not any(positions):  # the listing cannot be continued
                raise item.error
        else:
            item = decode(content, Event, response.endpoint)
        items.append(PositionedItem(before, item))
    return items


def _identity(content: bytes) -> tuple[str, Position | None]:
    """Return update id and position of an item, as far as update or verdict have them."""
    try:
        item: Any = msgspec.json.decode(content)
        parts = [part for part in (item.get("update"), item.get("verdict")) if isinstance(part, dict)]
    except (*DATA_ERRORS, AttributeError):
        return "", None
    update_ids = (str(part.get("update_id") or "") for part in parts)
    return next(filter(None, update_ids), ""), next(filter(None, map(_position_in, parts)), None)


def _position_in(part: dict[str, Any]) -> Position | None:
    try:
        migration_id = int((part.get("event") or part)["migration_id"])
        position = (migration_id, microseconds(instant(part["record_time"])))
    except (*DATA_ERRORS, AttributeError, UsageError):
        return None
    # A position that no event can have would end the listing of the window.
    return position if 0 <= migration_id < MAX_MIGRATIONS else None
