"""Events by range: the plan, and the fetching of what is missing."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta

import pandas as pd
import pyarrow as pa

from ledgerframes.datasets.bookkeeping import PLAN
from ledgerframes.datasets.events.build import EventTableBuilder
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import CoverageError, ServiceError, TransportError
from ledgerframes.extents import Migration, MigrationWindow, microseconds, plan_missing
from ledgerframes.gc_pause import collect_periodically, pause_gc
from ledgerframes.loaders.gathering import SEGMENT_BYTES, Beside, return_memory, wait_for
from ledgerframes.loaders.listing import Page, discover_migrations, is_over, pages
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.workers import run
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.windows import Window

HOUR = 3_600_000_000  # microseconds
SHORTEST_PIECE = HOUR // 2
WORKERS_PIECE = 6 * HOUR  # all of a piece is read again when its worker dies


def plan(net: Network, asked: Window) -> pd.DataFrame:
    """What would be fetched: one row per range; without a migration while none is known yet."""
    rows: list[tuple[object, ...]]
    rows = [(span.migration_id, span.window.since, span.window.until) for span in net.store.missing(EVENTS, asked)]
    return PLAN.from_rows(rows if net.store.migrations() else [(None, asked.since, asked.until)])


def require_stored(net: Network, asked: Window) -> None:
    """Offline, what the store lacks is an error; provisional rows are served.

    Raises
    ------
    CoverageError
        If a part of the range is not in the store.
    """
    known = net.store.migrations()
    missing = plan_missing(asked, known, [segment.extent for segment in net.store.segments(EVENTS, asked)])
    if missing or not known:
        names = tuple(str(span) for span in missing) or (str(asked),)
        raise CoverageError(
            f"{net.name} is offline and the store lacks {'; '.join(names)}. Run again without offline.", missing=names
        )


def sync(net: Network, asked: Window, progress: bool | None = None, executor: Executor | None = None) -> None:
    """Fetch what the store lacks of a range, and commit it piece by piece.

    Parameters
    ----------
    net : Network
    asked : Window
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.
    executor : Executor, optional
        Who reads; by default threads of this process, which commit as they go.
    """
    if net.store.migrations() and not net.store.missing(EVENTS, asked):
        return
    net.store.save_migrations(discover_migrations(net.history, net.store.migrations()))
    net.store.save_migrations(_ended_before(net, asked))
    missing = net.store.missing(EVENTS, asked)
    hours = sum(span.stop - span.start for span in missing) / HOUR
    with Progress(f"{net.name} events", hours, progress) as bar:
        if executor is None:
            _by_threads(net, missing, bar)
        else:
            _by_workers(net, missing, bar, executor)


def _by_threads(net: Network, missing: list[MigrationWindow], bar: Progress) -> None:
    """A thread for each piece, one beside it that reads its next page, and one that writes and commits what it found."""
    parallel, final_before, stop = net.settings.limits.max_concurrency, _final_before(net), threading.Event()
    pieces = [piece for span in missing for piece in _pieces(span, parallel)]

    def read(piece: MigrationWindow) -> None:
        with Beside(True) as beside, pause_gc():
            for found in findings(net, piece, beside, bar, stop):
                beside.behind(commit, found)

    def commit(found: Finding) -> None:
        for settled in _written(net, found, final_before):
            _settle(net, settled)

    with ThreadPoolExecutor(parallel) as readers:
        wait_for([readers.submit(read, piece) for piece in pieces], stop)


def _by_workers(net: Network, missing: list[MigrationWindow], bar: Progress, executor: Executor) -> None:
    """A task for each short piece; what it found is committed here when it is done."""
    pieces = [piece for span in missing for piece in span.split(max(1, (span.stop - span.start) // WORKERS_PIECE))]
    with closing(run(functools.partial(_work, net, _final_before(net)), pieces, executor)) as runs:
        for done in runs:
            for found in done.result():
                _settle(net, found)
            bar.advance((done.task.stop - done.task.start) / HOUR)


def _work(net: Network, final_before: int, piece: MigrationWindow) -> list[Settled]:
    """Read one piece, in a worker."""
    with Beside(True) as beside, pause_gc():
        return [settled for found in findings(net, piece, beside) for settled in _written(net, found, final_before)]


def _written(net: Network, found: Finding, final_before: int) -> Iterator[Settled]:
    """What a reading found, with its rows in files: those of the settled part as final, of the young part as provisional."""
    if not isinstance(found, Part):
        yield found
        return
    span, tables = found.span, found.tables
    edge = min(max(final_before, span.start), span.stop)
    for part, final in ((replace(span, stop=edge), True), (replace(span, start=edge), False)):
        if part.start < part.stop:
            rows = tables if part == span else {name: table.filter(part.filter()) for name, table in tables.items()}
            yield net.store.write_segment(EVENTS, part, rows, final=final, source=found.source)


def _settle(net: Network, found: Settled) -> None:
    """Make visible, or remember, what a reading found."""
    if isinstance(found, Migration):
        net.store.save_migrations([found])
    elif isinstance(found, Segment):
        net.store.add_segment(EVENTS, found)
    else:
        # Asked again next time. Rows that a host further on has given stay until then.
        held = [segment.extent for segment in net.store.segments(EVENTS, found.span) if segment.rows]
        for part in found.span.difference(held):
            net.store.commit(EVENTS, part, {}, final=False, source=found.source)


def _final_before(net: Network) -> int:
    """Events before this have their traffic and activity by now, in microseconds."""
    return microseconds(net.now() - timedelta(minutes=net.settings.limits.provisional_minutes))


def _ended_before(net: Network, asked: Window) -> list[Migration]:
    """Older migrations that had ended before the range: one small request each, once."""
    earlier = {migration.migration_id: migration for migration in net.store.migrations()[:-1] if migration.ended is None}
    return [
        replace(earlier[span.migration_id], ended=span.start)
        for span in net.store.missing(EVENTS, asked)
        if span.migration_id in earlier and is_over(net.history, span)
    ]


def _pieces(span: MigrationWindow, parallel: int) -> list[MigrationWindow]:
    """The parts of a span that are read at once."""
    return span.split(max(1, min(parallel, (span.stop - span.start) // SHORTEST_PIECE)))


# -- one piece ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Events that are worth a segment, and the span that is known with them."""

    span: MigrationWindow
    tables: dict[str, pa.Table]
    source: str


@dataclass(frozen=True)
class Tail:
    """The end of a piece that the listing has nothing of yet."""

    span: MigrationWindow
    source: str


Finding = Part | Migration | Tail
Settled = Segment | Migration | Tail


def findings(
    net: Network, piece: MigrationWindow, beside: Beside, bar: Progress | None = None, stop: threading.Event | None = None
) -> Iterator[Finding]:
    """Read one piece page by page; its rows come out whenever enough has been pending. To be called with the collector paused.

    When the service fails, what came before comes out first.

    Parameters
    ----------
    net : Network
    piece : MigrationWindow
    beside : Beside
        Where the next page is fetched and decoded.
    bar : Progress, optional
    stop : Event, optional
        Once it is set, no further page is read.
    """
    pending = _Pending(piece)
    try:
        for page in beside.ahead_of_slow(pages(net.history, piece, net.settings.limits.page_size)):
            if bar:
                bar.advance((page.reached - pending.reached) / HOUR)
            pending.add(page)
            if page.ended:
                yield Migration(piece.migration_id, piece.start, ended=piece.stop)
            if pending.bytes >= SEGMENT_BYTES:
                yield from pending.taken()
            if stop and stop.is_set():
                break
    except (ServiceError, TransportError):
        yield from pending.taken()
        raise
    yield from pending.taken()
    if page.last and page.reached < piece.stop:
        yield Tail(replace(piece, start=page.reached), page.source)


class _Pending:
    """Events of one piece that wait for more."""

    def __init__(self, piece: MigrationWindow) -> None:
        self._low = self.reached = piece.start
        self._piece = piece
        self._rows = EventTableBuilder("listing")
        self._source = ""

    @property
    def bytes(self) -> int:
        return self._rows.bytes

    def add(self, page: Page) -> None:
        self._rows.add(page.events)
        page.events.clear()  # the page itself is known until the next one has come
        self.reached, self._source = page.reached, page.source

    def taken(self) -> Iterator[Part]:
        """What is known since the last time, if that is anything."""
        if self._low < self.reached:
            return_memory()
            collect_periodically()
            yield Part(replace(self._piece, start=self._low, stop=self.reached), self._rows.tables(), self._source)
            self._low, self._rows = self.reached, EventTableBuilder("listing")
