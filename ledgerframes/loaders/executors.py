"""Tasks run in threads, in processes of this machine, or on an existing cluster.

A worker fetches, writes the files of its segments to the store, and returns their description. Only the caller commits.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, Generic, TypeVar

from ledgerframes.errors import LedgerframesError, UsageError, WorkerError
from ledgerframes.loaders.buffering import NO_TIMEOUT

__all__ = ["TaskOutcome", "inline", "processes", "run"]

T = TypeVar("T")
R = TypeVar("R")

MAX_DEATHS = 3  # of workers, without a completed task between them
MAX_QUEUE = 64  # tasks submitted ahead of time to the caller's executor


class TaskOutcome(Generic[T, R]):
    """A task that ended, with its result or its error."""

    def __init__(self, task: T, future: Future[R]) -> None:
        self.task = task
        self._future = future

    def result(self) -> R:
        """Return the task's result, or raise its error."""
        try:
            return self._future.result()
        except (pickle.PicklingError, TypeError) as error:
            if own_error := _own_error(error):
                raise own_error from error
            raise


def _own_error(error: BaseException | None) -> LedgerframesError | None:
    """Return this library's error that made a task fail to be pickled, if any."""
    while error is not None and not isinstance(error, LedgerframesError):
        error = error.__cause__ or error.__context__
    return error


def inline() -> Executor:
    """Return an executor that runs each task in the caller's thread, when it is submitted."""
    return _Inline()


def require_executor(executor: object) -> None:
    """Raise UsageError unless a value can be passed as ``executor=``."""
    if not isinstance(executor, Executor | None):
        raise UsageError(f"executor= must be a concurrent.futures.Executor, got {executor!r}.")


def run(function: Callable[[T], R], tasks: Iterable[T], executor: Executor | None = None) -> Generator[TaskOutcome[T, R]]:
    """Run tasks, and yield each when it has ended.

    Closing the generator cancels the tasks that have not started.

    Parameters
    ----------
    function : callable
        Takes one task. Process pools pickle both.
    tasks : iterable
    executor : Executor, optional
        By default a process for each core of this machine, until the tasks have ended. A worker process that dies is
        replaced, and its task runs again, at most three times.

    Raises
    ------
    WorkerError
        If workers keep dying, or the caller's executor is broken.
    """
    pool = _OwnedPool() if executor is None else _ExternalPool(executor)
    queue, running, deaths = deque(tasks), dict[Future[R], T](), 0
    try:
        while queue or running:
            while queue and len(running) < pool.width:
                task = queue.popleft()
                running[_submit(pool.executor, function, task)] = task
            future = next(iter(wait(running, NO_TIMEOUT, FIRST_COMPLETED).done))
            if not _is_worker_death(future):
                deaths = 0
                yield TaskOutcome(running.pop(future), future)
                continue
            deaths += 1
            if deaths > MAX_DEATHS or not pool.restart():
                raise WorkerError(f"{pool.cause} Committed data stays, so run again to resume.") from future.exception()
            queue.extendleft(running.values())
            running.clear()
    finally:
        pool.shutdown(list(running))


def _submit(executor: Executor, function: Callable[[T], R], task: T) -> Future[R]:
    try:
        return executor.submit(function, task)
    except BrokenExecutor as error:  # a worker died between two tasks
        future: Future[R] = Future()
        future.set_exception(error)
        return future
    except RuntimeError as error:
        raise UsageError(f"executor= does not accept tasks ({error}). Create a new one.") from error


def _is_worker_death(future: Future[Any]) -> bool:
    """Return whether the worker died, for which Dask has its own error."""
    error = future.exception()
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


class _ExternalPool:
    """The caller's executor."""

    cause = "A worker of executor= died."

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.width = 1 if isinstance(executor, _Inline) else MAX_QUEUE

    def restart(self) -> bool:
        """Return False, because only the caller can replace the workers."""
        return False

    def shutdown(self, running: list[Future[Any]]) -> None:
        """Cancel the tasks, and leave the executor to its owner."""
        for future in running:
            future.cancel()


class _OwnedPool(_ExternalPool):
    """A process for each core, created for one run."""

    cause = "Worker processes keep dying, perhaps because memory is too small."
    executor: Any

    def __init__(self) -> None:
        super().__init__(processes(cores()))
        self.width = 2 * cores()

    def restart(self) -> bool:
        """Replace the processes, and return True."""
        self.shutdown([])
        self.executor = processes(cores())
        return True

    def shutdown(self, running: list[Future[Any]]) -> None:
        """Kill the processes, because nothing of what they run is committed."""
        self.executor.shutdown(wait=True, kill_workers=True)


def processes(count: int) -> Any:
    """Return a pool of processes of this machine, which end when this process does."""
    from loky import ProcessPoolExecutor  # not with every import of the library

    return ProcessPoolExecutor(max_workers=count, initializer=_end_with, initargs=(os.getpid(),))


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


class _Inline(Executor):
    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Run a task now."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # the future raises it in its result
            future.set_exception(error)
        return future
