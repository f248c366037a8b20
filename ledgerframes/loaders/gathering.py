"""What all readers share: gathering tables until they are worth a segment, threads beside the caller's, and waiting for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

import pyarrow as pa

from ledgerframes.datasets import Table

T = TypeVar("T")
U = TypeVar("U")

# Seconds. Where an event loop has asked the system to go on after signals (nbclient's does), a wait without a limit never
# hears of Ctrl-C; a wait with one does, however long.
UNTIL_INTERRUPTED = threading.TIMEOUT_MAX
SEGMENT_BYTES = 12_000_000  # Arrow bytes gathered before they are written: bounds memory, and what a kill can lose


class Gathered:
    """Tables of several pages, waiting to be written together.

    Parameters
    ----------
    tables : tuple of Table
        The tables of the dataset.
    """

    def __init__(self, tables: tuple[Table, ...]) -> None:
        self._tables = tables
        self._pages: list[dict[str, pa.Table]] = []
        self.bytes = 0

    def add(self, tables: dict[str, pa.Table]) -> None:
        """Put one page's tables to the others."""
        self._pages.append(tables)
        self.bytes += sum(table.nbytes for table in tables.values())

    def take(self, *, descending: bool = False) -> dict[str, pa.Table]:
        """All that was gathered, in ascending order whichever way the pages came; nothing is left."""
        pages, self._pages, self.bytes = self._pages, [], 0
        return_memory()
        in_order = pages[::-1] if descending else pages
        return {table.name: pa.concat_tables([page[table.name] for page in in_order]) for table in self._tables}


def return_memory() -> None:
    """Give memory back to the system that Arrow's allocator keeps after other threads are done with it."""
    pa.default_memory_pool().release_unused()


class Beside:
    """Threads beside the caller's: one that is a step ahead of it, and one that is a step behind.

    Parameters
    ----------
    idle_cores : bool
        Without them everything is done in turn, in the caller's thread.
    """

    def __init__(self, idle_cores: bool) -> None:
        self._threads = (ThreadPoolExecutor(1), ThreadPoolExecutor(1)) if idle_cores else None
        self._under_way: Future[None] | None = None

    def ahead_of_slow(self, items: Iterator[T]) -> Iterator[T]:
        """The items; once one took more waiting than computing, the next is made while the caller works on this one.

        Before that they are made in turn: two threads that both compute hold each other up.
        """
        for item, waited, computed in _watched(items):
            yield item
            if waited > computed:
                yield from self.ahead(items)

    def ahead(self, items: Iterator[T]) -> Iterator[T]:
        """The items; the next one is made while the caller works on this one."""
        if self._threads is None:
            yield from items
            return
        request = self._threads[0].submit(next, items, None)
        while (item := request.result(UNTIL_INTERRUPTED)) is not None:
            request = self._threads[0].submit(next, items, None)
            yield item

    def behind(self, function: Callable[[U], None], argument: U) -> None:
        """Do something while the caller goes on; the one before it is finished first, and its error raised."""
        if self._threads is None:
            function(argument)
            return
        self._finish()
        self._under_way = self._threads[1].submit(function, argument)

    def _finish(self) -> None:
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result(UNTIL_INTERRUPTED)

    def __enter__(self) -> Beside:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            for thread in self._threads or ():
                thread.shutdown()


def _watched(items: Iterator[T]) -> Iterator[tuple[T, float, float]]:
    """The items, and the seconds that each was waited for and computed."""
    began, computing = time.monotonic(), time.thread_time()
    for item in items:
        computed = time.thread_time() - computing
        yield item, time.monotonic() - began - computed, computed
        began, computing = time.monotonic(), time.thread_time()


def wait_for(readings: list[Future[None]], stop: threading.Event) -> None:
    """Wait for all; on a failure or an interrupt the others stop at their next page, and what is committed stays."""
    try:
        wait(readings, UNTIL_INTERRUPTED, FIRST_EXCEPTION)
        for reading in readings:
            if reading.done():
                reading.result()
    finally:
        stop.set()
        for reading in readings:
            reading.cancel()
