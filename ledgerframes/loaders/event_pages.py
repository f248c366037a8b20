"""Pages of the history listing, and the migrations of a network."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from ledgerframes.api.history import Cursor, History
from ledgerframes.api.response import Response
from ledgerframes.datasets._arrays import parse_timestamps
from ledgerframes.datasets._schema import INTEGER
from ledgerframes.datasets.events.wire import Event, header_of
from ledgerframes.errors import DecodeError, NotFoundError, UsageError
from ledgerframes.extents import Migration, MigrationWindow, from_microseconds, microseconds
from ledgerframes.loaders.bad_items import MAX_MIGRATIONS, BadItem, decode_items
from ledgerframes.windows import instant

END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
START_OF_TIME = microseconds(datetime(1, 1, 1, tzinfo=UTC))

Position = tuple[int, int]  # migration id, record time in microseconds


@dataclass(frozen=True)
class Page:
    """Events of one page that are inside the window.

    Attributes
    ----------
    events : list of Event
    source : str
        Host that returned the page.
    complete_until : int
        Everything in the window before this time has been fetched, in microseconds.
    is_last : bool
        Whether the listing has no more of this window now.
    ends_migration : bool
        Whether the listing continues in a later migration, so that this one is over.
    bad_items : list of BadItem
        Items that cannot be decoded.
    uncertain : list of MigrationWindow
        Record times at which they may be.
    """

    events: list[Event]
    source: str
    complete_until: int
    is_last: bool
    ends_migration: bool
    bad_items: list[BadItem]
    uncertain: list[MigrationWindow]


class PositionedEvent(NamedTuple):
    """An event or a bad item, its position, and the last record time that it can have."""

    position: Position
    event: Event | BadItem
    last_time: int


def position_of(event: Event) -> Position:
    """Return the position of an event in the history.

    Raises
    ------
    DecodeError
        If its migration id or record time is invalid.
    """
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
    """Return the positions of events, all at once because that is ten times as fast."""
    migration_ids, record_times, _ = zip(*map(header_of, events), strict=True) if events else ((), (), ())
    try:
        positions = list(zip(migration_ids, parse_timestamps(record_times, "record_time").cast(INTEGER).to_pylist(), strict=True))
    except DecodeError:
        positions = []
    if not positions or not 0 <= min(migration_ids) <= max(migration_ids) < MAX_MIGRATIONS:
        positions = list(map(position_of, events))  # its error names the invalid event
    return positions


def discover_migrations(history: History, known: list[Migration]) -> list[Migration]:
    """Return the migrations of a network, with one small HTTP request for each new one.

    Raises
    ------
    UsageError
        If the network does not list events by range.
    """
    migrations = list(known)
    while True:
        after = Cursor(migrations[-1].migration_id, END_OF_TIME) if migrations else None
        events = _first_event(history, after)
        if not events:
            return migrations
        migration_id, first = position_of(events[0])
        if migrations and migration_id <= migrations[-1].migration_id:
            raise DecodeError(
                f"The listing returned migration {migration_id} for events after migration {migrations[-1].migration_id}."
            )
        migrations.append(Migration(migration_id, first))


def _first_event(history: History, after: Cursor | None) -> list[Event]:
    try:
        return history.events(after, page_size=1)
    except NotFoundError as error:
        raise UsageError(
            "This network does not list events by range, so rejections are not visible. "
            "Pass update_ids= from load_updates for costs of committed updates."
        ) from error


def has_ended(history: History, window: MigrationWindow) -> bool:
    """Return whether a migration ended before a window, with one small HTTP request."""
    events = history.events(_cursor_before(window), page_size=1)
    return bool(events) and position_of(events[0])[0] > window.migration_id


def pages(history: History, window: MigrationWindow, page_size: int, *, by_item: bool = False) -> Iterator[Page]:
    """Yield the pages of one window in order.

    Parameters
    ----------
    history : History
    window : MigrationWindow
    page_size : int
        Events per page.
    by_item : bool
        Tell items that cannot be decoded from the good ones, instead of refusing their page.
    """
    size = max(page_size, 2)  # each page starts with the last time of the one before
    progress: _Progress | None = _Progress(_cursor_before(window), window.start)
    while progress:
        response = history.events_page(progress.after, page_size=size)
        ordered = _positioned_items(response, window, progress.complete_until) if by_item else _positioned(response)
        page, progress = _read_page(response, ordered, progress, window, size)
        yield page


class _Progress(NamedTuple):
    """The cursor of the next page, and the time before which everything has been fetched."""

    after: Cursor
    complete_until: int


def _positioned(response: Response) -> list[PositionedEvent]:
    events = History.decode_events(response)
    return [PositionedEvent(position, event, position[1]) for position, event in zip(positions_of(events), events, strict=True)]


def _positioned_items(response: Response, window: MigrationWindow, earliest: int) -> list[PositionedEvent]:
    """Return the items of a page, a bad one at its position or between its neighbors.

    Raises
    ------
    DecodeError
        If no item has a position, so that the listing cannot be continued.
    """
    items = decode_items(response)
    positions = [item.position if isinstance(item, BadItem) else position_of(item) for item in items]
    if items and not any(positions):
        raise next(item.error for item in items if isinstance(item, BadItem))
    rows: list[PositionedEvent] = []
    before = (window.migration_id, earliest)
    for number, (item, position) in enumerate(zip(items, positions, strict=True)):
        after = next((each for each in positions[number:] if each), None)
        before = position or before
        is_inside = after is not None and after[0] == before[0]
        rows.append(PositionedEvent(before, item, after[1] if after and is_inside else window.stop - 1))
    return rows


def _read_page(
    response: Response, items: list[PositionedEvent], progress: _Progress, window: MigrationWindow, size: int
) -> tuple[Page, _Progress | None]:
    """Return a page, and the progress of the listing if there is more.

    Two events may share a record time, and a page may end between them. So the events with the last time of a page are left to
    the next page, which starts with that time. A short page is not the end, because services hold events back and some cap the
    page (docs/facts.md#short-event-pages). A page with a single time is.
    """
    ordered = _require_order(items, window, progress.complete_until)
    inside, beyond = _split_at(ordered, (window.migration_id, window.stop))
    if beyond:
        ends_migration = beyond[0].position[0] > window.migration_id
        return _page(inside, response, window, window.stop, is_last=True, ends_migration=ends_migration), None
    if not ordered:
        return _page([], response, window, progress.complete_until, is_last=True), None
    last_time = ordered[-1].position[1]
    earlier, _ = _split_at(ordered, (window.migration_id, last_time))
    if earlier:
        return _page(earlier, response, window, last_time), _Progress(
            Cursor(window.migration_id, _time(last_time - 1)), last_time
        )
    if len(ordered) >= size:
        raise DecodeError(
            f"{response.host} lists more than {size} events with one record time. Raise page_size=.", json_path="$.events"
        )
    return _page(ordered, response, window, last_time + 1, is_last=True), None


def _page(
    items: list[PositionedEvent],
    response: Response,
    window: MigrationWindow,
    complete_until: int,
    *,
    is_last: bool = False,
    ends_migration: bool = False,
) -> Page:
    bad = [(each.event, each.position[1], each.last_time) for each in items if isinstance(each.event, BadItem)]
    uncertain = [replace(window, start=first, stop=min(last + 1, complete_until)) for _, first, last in bad]
    events = [each.event for each in items if not isinstance(each.event, BadItem)]
    return Page(events, response.host, complete_until, is_last, ends_migration, [item for item, _, _ in bad], uncertain)


def _require_order(events: list[PositionedEvent], window: MigrationWindow, earliest: int) -> list[PositionedEvent]:
    """Return the events of a page, which must be in order and not before the cursor."""
    for before, after in pairwise([(window.migration_id, earliest), *(each.position for each in events)]):
        if after < before:
            raise DecodeError(f"The listing is not in order, with an event of {after} after {before}.", json_path="$.events")
    return events


def _time(microseconds_since_1970: int) -> datetime:
    """Return the instant, or the first that a datetime can represent."""
    return from_microseconds(max(microseconds_since_1970, START_OF_TIME))


def _cursor_before(window: MigrationWindow) -> Cursor:
    """Return the cursor whose next event is the first of the window."""
    return Cursor(window.migration_id, _time(window.start - 1))


def _split_at(events: list[PositionedEvent], position: Position) -> tuple[list[PositionedEvent], list[PositionedEvent]]:
    """Split the events of a page, which are in order, at a position."""
    count = bisect_left(events, position, key=attrgetter("position"))
    return events[:count], events[count:]
