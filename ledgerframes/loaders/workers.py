"""The executor seam: the same work in this process, in processes of this machine, or on a cluster that exists already.

A worker reads, writes the files of its segments to the store, and sends back what they are. Only the caller commits.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any, Generic, TypeVar

from ledgerframes.errors import UsageError, WorkerError
from ledgerframes.loaders.gathering import UNTIL_INTERRUPTED

__all__ = ["Done", "in_process", "processes", "run"]

T = TypeVar("T")
R = TypeVar("R")

MOST_DEATHS = 3  # of workers, without any task done between them
AT_ONCE = 64  # tasks that a foreign executor gets ahead of time


class Done(Generic[T, R]):
    """A task that ended, well or with an error."""

    def __init__(self, task: T, future: Future[R]) -> None:
        self.task = task
        self._future = future

    def result(self) -> R:
        """What the task gave; its error if it failed."""
        return self._future.result()


def in_process() -> Executor:
    """An executor that does one task after the other, here."""
    return _InProcess()


def run(function: Callable[[T], R], tasks: Iterable[T], executor: Executor | None = None) -> Generator[Done[T, R]]:
    """Do tasks, and yield each when it has ended; when the caller stops, what has not begun is never done.

    Parameters
    ----------
    function : callable
        Of one task; both are sent to processes, so both can be pickled.
    tasks : iterable
    executor : Executor, optional
        By default a process for each core of this machine, for as long as this takes. A worker of these that dies is replaced
        and its task done again, at most thrice.

    Raises
    ------
    WorkerError
        If workers keep dying, or a given executor is broken.
    """
    if not isinstance(executor, Executor | None):
        raise UsageError(f"executor={executor!r} is not a concurrent.futures.Executor.")
    crew = _OwnCrew() if executor is None else _Crew(executor)
    waiting, running, deaths = deque(tasks), dict[Future[R], T](), 0
    try:
        while waiting or running:
            while waiting and len(running) < crew.width:
                task = waiting.popleft()
                running[_submitted(crew.executor, function, task)] = task
            ended = next(iter(wait(running, UNTIL_INTERRUPTED, FIRST_COMPLETED).done))
            if not _died(ended):
                deaths = 0
                yield Done(running.pop(ended), ended)
                continue
            deaths += 1
            if deaths > MOST_DEATHS or not crew.renew():
                raise WorkerError(f"{crew.end} What was committed stays; run again to go on.") from ended.exception()
            waiting.extendleft(running.values())
            running.clear()
    finally:
        crew.dismiss(list(running))


def _submitted(executor: Executor, function: Callable[[T], R], task: T) -> Future[R]:
    try:
        return executor.submit(function, task)
    except BrokenExecutor as error:  # a worker died between two tasks
        failed: Future[R] = Future()
        failed.set_exception(error)
        return failed
    except RuntimeError as error:
        raise UsageError(f"The executor takes no tasks ({error}). Make a new one.") from error


def _died(future: Future[Any]) -> bool:
    """Whether the worker died, rather than the task failed; Dask has an error of its own for it."""
    error = future.exception()
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"


class _Crew:
    """An executor that belongs to somebody else."""

    end = "A worker of the given executor died, and the executor with it or the task for good. Make a new one."

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.width = 1 if isinstance(executor, _InProcess) else AT_ONCE

    def renew(self) -> bool:
        """It cannot be mended here."""
        return False

    def dismiss(self, running: list[Future[Any]]) -> None:
        """It goes on without us."""
        for future in running:
            future.cancel()


class _OwnCrew(_Crew):
    """A process for each core, made for this run."""

    end = "A worker died, and doing its work again did not help. Its memory may be too small: use fewer workers."
    executor: Any

    def __init__(self) -> None:
        super().__init__(processes(cores()))
        self.width = 2 * cores()

    def renew(self) -> bool:
        """Other processes in place of those that died."""
        self.dismiss([])
        self.executor = processes(cores())
        return True

    def dismiss(self, running: list[Future[Any]]) -> None:
        """Stop the processes, whatever they are at: nothing of it was committed."""
        self.executor.shutdown(wait=True, kill_workers=True)


def processes(count: int) -> Any:
    """A pool of processes of this machine; they end when this process does, however that happens."""
    from loky import ProcessPoolExecutor  # not with every import of the library

    return ProcessPoolExecutor(max_workers=count, initializer=_end_with, initargs=(os.getpid(),))


def _end_with(parent: int) -> None:
    """In a worker: end when the parent has gone, and leave talking to it."""
    warnings.simplefilter("ignore")  # of the pool about itself, such as a worker that it replaces for its memory
    logging.getLogger("stamina").addHandler(logging.NullHandler())

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _InProcess(Executor):
    """Does a task when it is submitted."""

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Do it now."""
        future: Future[R] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # the future carries it to whoever asks
            future.set_exception(error)
        return future
