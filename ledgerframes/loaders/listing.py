"""Reading a range of the history: which migrations there are, and the pages of one span."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime

from ledgerframes.api.history import Cursor, History
from ledgerframes.errors import DecodeError, NotFound, UsageError
from ledgerframes.store import Migration, Span
from ledgerframes.store.extent import from_microseconds, microseconds
from ledgerframes.times import MICROSECOND, instant
from ledgerframes.wire.history import Event, head

END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)

Place = tuple[int, int]  # migration id, record time in microseconds


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


def place(event: Event) -> Place:
    """Where an event stands in the history's order."""
    migration_id, record_time, update_id = head(event)
    try:
        return migration_id, microseconds(instant(record_time))
    except UsageError as error:
        raise DecodeError(
            f"Update {update_id} has the record time {record_time!r}, which is not a time.", json_path="$..record_time"
        ) from error


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
        found.append(Migration(migration_id, first))


def _first_event(history: History, after: Cursor | None) -> list[Event]:
    try:
        return history.events(after, page_size=1)
    except NotFound as error:
        raise UsageError(
            "This network does not list events by range. Take ids from load_updates or load_bulk, and pass them as update_ids=."
        ) from error


def is_over(history: History, span: Span) -> bool:
    """Whether a migration had its last event before the span: asked with one small request."""
    events = history.events(_before(span), page_size=1)
    return bool(events) and place(events[0])[0] > span.migration_id


def pages(history: History, span: Span, page_size: int, ahead: Executor) -> Iterator[Page]:
    """The pages of one span in order; the next page is under way while the caller works on this one.

    Parameters
    ----------
    history : History
    span : Span
    page_size : int
        Events a page.
    ahead : Executor
        Where the next page is fetched.
    """
    reached = span.low
    request = ahead.submit(history.events_page, _before(span), page_size=page_size)
    while True:
        answer = request.result()
        events = history.decode_events(answer)
        inside, beyond = _divided(events, span)
        last = bool(beyond) or not events
        if not last:
            # A short page is not the end: events are held back, and some services cap the page (wire fact 38).
            reached = place(events[-1])[1] + 1
            request = ahead.submit(
                history.events_page, Cursor(span.migration_id, from_microseconds(reached - 1)), page_size=page_size
            )
        elif beyond:
            reached = span.high
        yield Page(inside, answer.host, reached, last, bool(beyond) and place(beyond[0])[0] > span.migration_id)
        if last:
            return


def _before(span: Span) -> Cursor:
    """The cursor whose next event is the first of the span."""
    return Cursor(span.migration_id, from_microseconds(span.low) - MICROSECOND)


def _divided(events: list[Event], span: Span) -> tuple[list[Event], list[Event]]:
    """The events of a page that lie in the span, and those beyond it; a page is in order."""
    count = bisect_left(events, (span.migration_id, span.high), key=place)
    return events[:count], events[count:]
