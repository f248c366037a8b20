"""Queries that Ctrl-C ends, with a line of progress if they take long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

from ledgerframes.long_waits import NotebookLine, is_bar_seen, is_notebook

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

POLL_SECONDS = 0.2
DELAY = 2  # seconds before the line appears

T = TypeVar("T")


def run_with_progress(connection: DuckDBPyConnection, work: Callable[[], T]) -> T:
    """Call a function that runs a query on a connection, and return its result.

    DuckDB does not notice signals, so the query gets its own thread. An exception in this thread, such as KeyboardInterrupt,
    ends the query.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # no signal arrives here
    with ThreadPoolExecutor(1, thread_name_prefix="query") as pool:
        future = pool.submit(work)
        try:
            _show_progress(connection, future)
        except BaseException:
            while not future.done():  # again, because a query that has not begun would not notice
                connection.interrupt()
                wait([future], POLL_SECONDS)
            raise
        return future.result()


def _show_progress(connection: DuckDBPyConnection, future: Future[T]) -> None:
    if wait([future], DELAY).done:
        return
    from tqdm.std import tqdm

    output = NotebookLine() if is_notebook() else sys.stderr
    with tqdm(total=100, desc="Query", unit="%", leave=False, file=output, disable=not is_bar_seen()) as bar:
        while not wait([future], POLL_SECONDS).done:
            bar.update(max(connection.query_progress() - bar.n, 0))
    if isinstance(output, NotebookLine):  # a bar that ends leaves its last text there
        output.clear()
