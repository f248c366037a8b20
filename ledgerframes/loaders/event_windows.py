"""History events by record time."""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.events.build import EventTableBuilder
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import DecodeError, ServiceError, TransportError
from ledgerframes.frames import Frames
from ledgerframes.frames.committed_ids import committed_ids
from ledgerframes.loaders import buffering
from ledgerframes.loaders.bad_items import OnBadItem, settle
from ledgerframes.loaders.event_pages import Page, discover_migrations, has_ended, pages
from ledgerframes.loaders.sync import Batch, ChunkContext, ChunkResult, Loader, Reader, split_batches
from ledgerframes.network import Network
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR, Migration, MigrationWindow, from_microseconds, microseconds
from ledgerframes.values.windows import Window, iso

logger = logging.getLogger("ledgerframes")

LISTING = "POST /v0/events"
MIN_CHUNK = MICROSECONDS_PER_HOUR // 2
WORKER_CHUNK = 6 * MICROSECONDS_PER_HOUR  # a whole chunk is fetched again if its worker dies


@dataclass(frozen=True)
class OpenEnd:
    """The end of a window that the listing does not reach yet."""

    window: MigrationWindow
    source: str


class EventLoader(Loader[MigrationWindow]):
    """Loads the events of a window of record times."""

    dataset, noun, unit, pipelined = EVENTS, "events", "h", True

    def __init__(self, net: Network, window: Window, on_bad_item: OnBadItem = "raise") -> None:
        self.net, self.window, self.on_bad_item = net, window, on_bad_item
        self._open_ends: list[OpenEnd] = []
        self.threads = net.settings.limits.max_concurrency

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing windows. Before the first sync, they have no migration."""
        if not self.net.store.migrations():
            return {str(self.window): {"since": self.window.since, "until": self.window.until}}
        missing = self.net.store.missing(EVENTS, self.window, accept_provisional=accept_provisional)
        return {str(each): each.coverage() for each in missing}

    def shortfall(self) -> Collection[str]:
        """Return the missing windows, or none if the network has no events."""
        return super().shortfall() if self.net.store.migrations() else ()

    def restart(self) -> None:
        """Forget the open ends."""
        self._open_ends.clear()

    def chunks(self, *, distributed: bool) -> list[MigrationWindow]:
        """Return the missing windows, after looking for new and ended migrations."""
        store = self.net.store
        if store.is_complete(EVENTS, self.window):
            return []
        store.save_migrations(discover_migrations(self.net.history, store.migrations()))
        store.save_migrations(self._find_ended_migrations())
        return [chunk for missing in store.missing(EVENTS, self.window) for chunk in self._split(missing, distributed)]

    def _split(self, window: MigrationWindow, distributed: bool) -> list[MigrationWindow]:
        length = window.stop - window.start
        return window.split(max(1, length // WORKER_CHUNK if distributed else min(self.threads, length // MIN_CHUNK)))

    def _find_ended_migrations(self) -> list[Migration]:
        """Return older migrations that ended before the window."""
        store = self.net.store
        earlier = {migration.migration_id: migration for migration in store.migrations()[:-1] if migration.ended is None}
        return [
            replace(earlier[window.migration_id], ended=window.start)
            for window in store.missing(EVENTS, self.window)
            if window.migration_id in earlier and has_ended(self.net.history, window)
        ]

    def size(self, chunk: MigrationWindow) -> float:
        """Return the hours of a chunk."""
        return (chunk.stop - chunk.start) / MICROSECONDS_PER_HOUR

    @property
    def reader(self) -> Reader[MigrationWindow]:
        """Function that reads the pages of one window."""
        cutoff = self.net.now() - timedelta(minutes=self.net.settings.limits.provisional_minutes)
        return functools.partial(_read_window, self.net, microseconds(cutoff), self.on_bad_item)

    def commit(self, item: Migration | OpenEnd) -> None:
        """Save an ended migration, or remember an open end."""
        if isinstance(item, Migration):
            self.net.store.save_migrations([item])
        else:
            self._open_ends.append(item)

    def finish(self) -> None:
        """Commit the open ends, and log listings without an event or without the last one.

        A listing may end before the last stored event if its host is behind the others.
        """
        for item in _merge(self._open_ends):
            # The next sync fetches this window again. Until then, provisional rows from a host that is ahead stay.
            stored_extents = [segment.extent for segment in self.net.store.segments(EVENTS, item.window) if segment.rows]
            for window in item.window.difference(stored_extents):
                self.net.store.commit(EVENTS, window, {}, final=False, source=item.source)
        last = self.net.store.end_of_rows(EVENTS, self.window)
        if last is None:
            first = [iso(from_microseconds(migration.first)) for migration in self.net.store.migrations()[:1]]
            logger.warning(
                "window_without_events network=%s window=%s history_begins=%s",
                self.net.name,
                self.window,
                first[0] if first else None,
            )
        for item in self._open_ends:
            if last is not None and item.window.stop < last:
                logger.warning("listing_ended_early network=%s host=%s window=%s", self.net.name, item.source, item.window)

    def frames(self) -> Frames:
        """Return frames of the window."""
        return Frames(
            self.net.store.snapshot(EVENTS, self.window),
            [table.name for table in EVENTS.tables],
            window=self.window,
            population=EVENTS.population,
            engine=self.net.settings.engine,
            committed_ids=functools.partial(committed_ids, self.net.store),
        )


def _merge(open_ends: Iterable[OpenEnd]) -> list[OpenEnd]:
    """Return the open ends of the chunks, merged where they are adjacent."""
    merged: list[OpenEnd] = []
    for item in sorted(open_ends, key=lambda each: each.window):
        if merged and merged[-1].source == item.source and (window := merged[-1].window.merge_with(item.window)):
            merged[-1] = OpenEnd(window, item.source)
        else:
            merged.append(item)
    return merged


def _read_window(
    net: Network, cutoff: int, on_bad_item: OnBadItem, chunk: MigrationWindow, context: ChunkContext
) -> Iterator[ChunkResult]:
    """Yield the events of a window in batches, up to a failure of the service.

    Pages are decoded whole, which is fast. If a page cannot be decoded, everything that is not committed is read again item
    by item.
    """
    buffer = _EventBuffer(chunk, cutoff)
    try:
        yield from _read_pages(net, buffer, context, on_bad_item, by_item=False)
    except DecodeError:
        context.advance((buffer.start - buffer.complete_until) / MICROSECONDS_PER_HOUR)
        rest = _EventBuffer(replace(chunk, start=buffer.start), cutoff)
        yield from _read_pages(net, rest, context, on_bad_item, by_item=True)


def _read_pages(
    net: Network, buffer: _EventBuffer, context: ChunkContext, on_bad_item: OnBadItem, *, by_item: bool
) -> Iterator[ChunkResult]:
    """Yield the events of the window of a buffer."""
    chunk = buffer.chunk
    window_pages = pages(net.history, chunk, net.settings.limits.page_size, by_item=by_item)
    failures = (ServiceError, TransportError, DecodeError) if by_item else (ServiceError, TransportError)
    try:
        for page in context.pipeline.prefetch_when_waiting(window_pages):
            context.advance((page.complete_until - buffer.complete_until) / MICROSECONDS_PER_HOUR)
            if page.source != buffer.source:  # a segment has the rows of one host
                yield from buffer.flush()
            buffer.add(page)
            settle(net, page.bad_items, on_bad_item, context.report.additions)
            if page.ends_migration:
                yield Migration(chunk.migration_id, chunk.start, ended=chunk.stop)
            if buffer.bytes >= net.settings.limits.segment_bytes:
                yield from buffer.flush()
            if context.is_stopped:
                break
    except failures:
        yield from buffer.flush()
        raise
    yield from buffer.flush()
    if page.is_last and page.complete_until < chunk.stop:
        yield OpenEnd(replace(chunk, start=page.complete_until), page.source)


class _EventBuffer:
    """Events of one window that do not yet fill a segment."""

    def __init__(self, chunk: MigrationWindow, cutoff: int) -> None:
        self.start = self.complete_until = chunk.start
        self.chunk = chunk
        self._cutoff = cutoff  # traffic and activity of later events may be missing yet
        self._uncertain: list[MigrationWindow] = []
        self._rows = EventTableBuilder("listing")
        self.source = ""

    @property
    def bytes(self) -> int:
        return self._rows.bytes

    def add(self, page: Page) -> None:
        with decode_boundary(LISTING):
            self._rows.add(page.events)
        page.events.clear()  # the page itself stays in memory until the next one has arrived
        window = replace(self.chunk, start=self.complete_until, stop=page.complete_until)
        self._uncertain += window.difference(window.difference(bad.extent for bad in page.bad_items if bad.extent))
        self.complete_until, self.source = page.complete_until, page.source

    def flush(self) -> Iterator[Batch]:
        """Yield what was added since the last flush, as provisional if recent or near a bad item."""
        if self.start == self.complete_until:
            return
        buffering.release_memory()
        window = replace(self.chunk, start=self.start, stop=self.complete_until)
        with decode_boundary(LISTING):
            tables = self._rows.tables()
        self.start, self._rows = self.complete_until, EventTableBuilder("listing")
        recent = replace(window, start=min(max(self._cutoff, window.start), window.stop))
        yield from split_batches(window, [*self._uncertain, recent], tables, self.source)
