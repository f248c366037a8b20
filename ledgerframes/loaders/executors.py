"""Tasks run in threads, in processes of this machine, or on an existing cluster.

A worker fetches, writes the files of its segments to the store, and returns their description. Only the caller commits.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager
from multiprocessing import resource_tracker
from queue import SimpleQueue
from typing import Any, TypeVar

from ledgerframes.errors import LedgerframesError, UsageError, WorkerError
from ledgerframes.loaders.buffering import NO_TIMEOUT
from ledgerframes.loaders.interrupts import signals_handled_afterwards

T = TypeVar("T")
R = TypeVar("R")

MAX_DEATHS = 3  # deaths of workers without a completed task in between
MAX_QUEUE = 64  # tasks submitted ahead of time to the caller's executor
FEEDER_SECONDS = 5.0  # the thread that sends tasks to workers takes milliseconds to end
OWN_WORKERS_DIED = "Worker processes keep dying, perhaps because memory is too small."


class Inline(Executor):
    """An executor that runs each task in the caller's thread, as soon as it is submitted."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Run a task now."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # the future raises it in its result
            future.set_exception(error)
        return future


def run(function: Callable[[T], R], tasks: Iterable[T], executor: Executor | None = None) -> Generator[tuple[T, R]]:
    """Run tasks, and yield each with its result as it ends, or raise its error.

    Closing the generator cancels the tasks that have not started. Without an executor, one process per core of this machine
    runs them. A worker process that dies is replaced, and its task runs again, at most three times.

    Raises
    ------
    WorkerError
        If workers keep dying, or the caller's executor is broken or cancels a task.
    """
    pool: Any = processes(cores()) if executor is None else executor
    width = 2 * cores() if executor is None else 1 if isinstance(executor, Inline) else MAX_QUEUE
    queue, running, deaths = deque(tasks), dict[Future[R], T](), 0
    ended = SimpleQueue[Future[R]]()  # concurrent.futures.wait never returns a task that shutdown(cancel_futures=True) cancels
    try:
        while queue or running:
            while queue and len(running) < width:
                task = queue.popleft()
                future = _submit(pool, function, task)
                running[future] = task
                future.add_done_callback(ended.put)
            future = ended.get(timeout=NO_TIMEOUT)
            if future not in running:  # its pool was replaced
                continue
            loss = _loss(future)
            if loss is None:
                deaths = 0
                yield running.pop(future), _result(future)
                continue
            deaths += 1
            if deaths > MAX_DEATHS or executor is not None:  # only the caller can replace the workers of its executor
                cause = OWN_WORKERS_DIED if executor is None else "A worker of executor= died, or its task was canceled."
                raise WorkerError(f"{cause} Committed data stays, so run again to resume.") from loss
            queue.extendleft(running.values())
            running.clear()
            pool.shutdown(kill_workers=True)
            pool = processes(cores())
    finally:
        # A pool that is killed ends its tasks itself, and would write a traceback about a canceled one.
        for future in () if getattr(pool, "is_killed_at_its_end", False) else running:
            future.cancel()
        if executor is None:
            pool.shutdown(kill_workers=True)  # nothing of what they run is committed


def _submit(executor: Executor, function: Callable[[T], R], task: T) -> Future[R]:
    try:
        return executor.submit(function, task)
    except BrokenExecutor as error:  # a worker died between two tasks
        future: Future[R] = Future()
        future.set_exception(error)
        return future
    except RuntimeError as error:
        raise UsageError(f"executor= does not accept tasks ({error}). Create a new one.") from error


def _loss(future: Future[Any]) -> BaseException | None:
    """Return the error if the worker died (also in Dask) or the task was canceled."""
    try:
        error = future.exception()
    except CancelledError as cancelled:
        return cancelled
    return error if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker" else None


def _result(future: Future[R]) -> R:
    """Return the result of a task, or raise its error, even if it cannot be pickled."""
    try:
        return future.result()
    except (pickle.PicklingError, TypeError) as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, LedgerframesError):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        raise cause from error


def processes(count: int) -> Any:
    """Return a pool of processes of this machine, which the caller kills.

    They also end when this process does.
    """
    from loky import ProcessPoolExecutor  # not with every import of the library
    from loky.backend.resource_tracker import ensure_running

    ensure_running()
    resource_tracker.ensure_running()  # the start of either unblocks Ctrl-C in this thread

    class Processes(ProcessPoolExecutor):  # type: ignore[misc]
        is_killed_at_its_end = True

        def submit(self, *arguments: Any, **options: Any) -> Future[Any]:
            with _ignoring_ctrl_c():
                future: Future[Any] = super().submit(*arguments, **options)
            return future

        def shutdown(self, wait: bool = True, kill_workers: bool = False) -> None:
            # loky does not wait for this thread. At the end of Python it would stop halfway, and a warning about it be written.
            feeder = getattr(self._call_queue, "_thread", None)
            super().shutdown(wait=wait, kill_workers=kill_workers)
            if wait and feeder is not None:
                feeder.join(FEEDER_SECONDS)

    return Processes(max_workers=count, initializer=_end_with, initargs=(os.getpid(),))


@contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """Let processes that start inside ignore Ctrl-C, and this one handle it afterwards.

    A terminal also sends Ctrl-C to these processes, but the caller ends them. An interrupt during a start would leave a
    process that the caller does not know and that fails with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    with signals_handled_afterwards():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # processes and threads inherit it
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """Make a worker silent, and end it when the parent process has ended."""
    warnings.simplefilter("ignore")  # of the pool about itself, such as a worker that it replaces for its memory

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
