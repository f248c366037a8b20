"""Limits of buffers, and threads that overlap fetching, building and writing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

from ledgerframes.gc_pause import collect_periodically

T = TypeVar("T")
U = TypeVar("U")

# Seconds. Under asyncio, interrupted system calls resume, so a wait without a timeout never sees Ctrl-C. One with a timeout
# does, however long.
NO_TIMEOUT = threading.TIMEOUT_MAX


def release_memory() -> None:
    """Free the memory that the paused garbage collector and Arrow's allocator retain."""
    collect_periodically()
    pa.default_memory_pool().release_unused()


class Pipeline:
    """Two threads next to the caller's, one that fetches ahead and one that writes behind.

    Parameters
    ----------
    enabled : bool
        If it is False, the caller's thread runs everything in turn.
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._threads = (ThreadPoolExecutor(1), ThreadPoolExecutor(1)) if enabled else None
        self._write: Future[None] | None = None

    def prefetch_when_waiting(self, items: Iterator[T]) -> Iterator[T]:
        """Yield items, and prefetch them once waiting for an item is longer than computing it.

        Until then, items are computed in turn, because two threads that both compute slow each other down.
        """
        for item, waited, computed in _with_timing(items):
            yield item
            if waited > computed:
                yield from self.prefetch(items)

    def prefetch(self, items: Iterator[T]) -> Iterator[T]:
        """Yield items while a thread computes the next one."""
        if self._threads is None:
            yield from items
            return
        request = self._threads[0].submit(next, items, None)
        while (item := request.result(NO_TIMEOUT)) is not None:
            request = self._threads[0].submit(next, items, None)
            yield item

    def write_behind(self, function: Callable[[U], None], argument: U) -> None:
        """Call a function in a thread, once the previous call has ended without an error."""
        if self._threads is None:
            function(argument)
            return
        self._wait_for_write()
        self._write = self._threads[1].submit(function, argument)

    def _wait_for_write(self) -> None:
        write, self._write = self._write, None
        if write is not None:
            write.result(NO_TIMEOUT)

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._wait_for_write()
        finally:
            for thread in self._threads or ():
                thread.shutdown()


def _with_timing(items: Iterator[T]) -> Iterator[tuple[T, float, float]]:
    """Yield each item with the seconds spent waiting for it and computing it."""
    start, cpu_start = time.monotonic(), time.thread_time()
    for item in items:
        computed = time.thread_time() - cpu_start
        yield item, time.monotonic() - start - computed, computed
        start, cpu_start = time.monotonic(), time.thread_time()
