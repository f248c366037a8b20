"""Events by range: the plan, and the fetching of what is missing."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta

import pandas as pd
import pyarrow as pa

from ledgerframes.errors import CoverageError
from ledgerframes.loaders.gathering import SEGMENT_BYTES, Gathered, wait_for
from ledgerframes.loaders.listing import discover_migrations, is_over, pages
from ledgerframes.loaders.progress import Progress
from ledgerframes.network import Network
from ledgerframes.store import EVENTS, Migration, Span, missing_spans
from ledgerframes.store.extent import microseconds
from ledgerframes.tables.bookkeeping import PLAN
from ledgerframes.tables.events import event_tables
from ledgerframes.times import Window
from ledgerframes.wire.decode import collector_paused

HOUR = 3_600_000_000  # microseconds
SHORTEST_PIECE = HOUR // 2


def plan(net: Network, asked: Window) -> pd.DataFrame:
    """What would be fetched: one row per range; without a migration while none is known yet."""
    rows: list[tuple[object, ...]]
    rows = [(span.migration_id, span.window.since, span.window.until) for span in net.store.missing(EVENTS, asked)]
    return PLAN.frame(rows if net.store.migrations() else [(None, asked.since, asked.until)])


def require_stored(net: Network, asked: Window) -> None:
    """Offline, what the store lacks is an error; provisional rows are served.

    Raises
    ------
    CoverageError
        If a part of the range is not in the store.
    """
    known = net.store.migrations()
    missing = missing_spans(asked, known, [segment.extent for segment in net.store.segments(EVENTS, asked)])
    if missing or not known:
        names = tuple(str(span) for span in missing) or (str(asked),)
        raise CoverageError(
            f"{net.name} is offline and the store lacks {'; '.join(names)}. Run again without offline.", missing=names
        )


def sync(net: Network, asked: Window, progress: bool | None = None) -> None:
    """Fetch what the store lacks of a range, and commit it piece by piece.

    Parameters
    ----------
    net : Network
    asked : Window
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.
    """
    if net.store.migrations() and not net.store.missing(EVENTS, asked):
        return
    net.store.remember(discover_migrations(net.history, net.store.migrations()))
    net.store.remember(_ended_before(net, asked))
    parallel = net.settings.limits.parallel
    pieces = [piece for span in net.store.missing(EVENTS, asked) for piece in _pieces(span, parallel)]
    hours = sum(piece.high - piece.low for piece in pieces) / HOUR
    with (
        Progress(f"{net.name} events", hours, progress) as bar,
        ThreadPoolExecutor(parallel) as ahead,
        ThreadPoolExecutor(parallel) as readers,
    ):
        reading = _Reading(net, ahead, bar, _final_before(net), threading.Event())
        wait_for([readers.submit(reading.read, piece) for piece in pieces], reading.stop)


def _final_before(net: Network) -> int:
    """Events before this have their traffic and activity by now, in microseconds."""
    return microseconds(net.now() - timedelta(minutes=net.settings.limits.settle_minutes))


def _ended_before(net: Network, asked: Window) -> list[Migration]:
    """Older migrations that had ended before the range: one small request each, once."""
    earlier = {migration.migration_id: migration for migration in net.store.migrations()[:-1] if migration.ended is None}
    return [
        replace(earlier[span.migration_id], ended=span.low)
        for span in net.store.missing(EVENTS, asked)
        if span.migration_id in earlier and is_over(net.history, span)
    ]


def _pieces(span: Span, parallel: int) -> list[Span]:
    """The parts of a span that are read at once."""
    return span.split(max(1, min(parallel, (span.high - span.low) // SHORTEST_PIECE)))


@dataclass(frozen=True)
class _Reading:
    """One sync under way: what its threads share."""

    net: Network
    ahead: Executor
    bar: Progress
    final_before: int
    stop: threading.Event

    def read(self, piece: Span) -> None:
        """Read one piece page by page, and commit whenever enough has been gathered."""
        low, shown, gathered = piece.low, piece.low, Gathered(EVENTS.tables)
        for page in pages(self.net.history, piece, self.net.settings.limits.page_size, self.ahead):
            with collector_paused():
                gathered.add(event_tables(page.events, "listing"))
            self.bar.advance((page.reached - shown) / HOUR)
            shown = page.reached
            if page.ended:
                self.net.store.remember([Migration(piece.migration_id, piece.low, ended=piece.high)])
            if page.last or gathered.bytes >= SEGMENT_BYTES:
                if low < page.reached:
                    self._commit(Span(piece.migration_id, low, page.reached), gathered.take(), page.source)
                low = page.reached
            if page.last and low < piece.high:
                self._commit_nothing_yet(Span(piece.migration_id, low, piece.high), page.source)
            if self.stop.is_set():
                return

    def _commit_nothing_yet(self, tail: Span, source: str) -> None:
        """The listing has nothing more: asked again next time. Rows that a host further on has given stay until then."""
        held = [segment.extent for segment in self.net.store.segments(EVENTS, tail) if segment.rows]
        for part in tail.minus(held):
            self.net.store.commit(EVENTS, part, {}, final=False, source=source)

    def _commit(self, span: Span, tables: dict[str, pa.Table], source: str) -> None:
        """Commit a span that is known to its end: the settled part as final, the young part as provisional."""
        edge = min(max(self.final_before, span.low), span.high)
        for part, final in ((replace(span, high=edge), True), (replace(span, low=edge), False)):
            if part.low < part.high:
                rows = tables if part == span else {name: table.filter(part.filter()) for name, table in tables.items()}
                self.net.store.commit(EVENTS, part, rows, final=final, source=source)
