"""Executors that lose tasks, and workers whose files the caller does not see."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import StoreError, WorkerError
from ledgerframes.loaders.executors import _ignoring_ctrl_c, run

WHOLE = {"since": "2026-11-08", "until": "2026-11-09"}


def network(store: Path) -> lf.Network:
    return lf.connect("sandbox", events=400, days=1, store=store)


class Canceling(Executor):
    """An executor that cancels each task but the first, as a cluster does that is shut down."""

    def __init__(self) -> None:
        self.is_first = True

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.is_first:
            future.set_result(fn(*args, **kwargs))
        else:
            future.cancel()
        self.is_first = False
        return future


def test_a_canceled_task_is_a_worker_error() -> None:
    done = run(str, [1, 2, 3], Canceling())
    assert next(done) == (1, "1")
    with pytest.raises(WorkerError, match=r"was canceled.* run again"):
        next(done)


class Elsewhere(Executor):
    """An executor on a machine with a disk of its own."""

    def __init__(self, store: Path, disk: Path) -> None:
        self.store, self.disk = store, disk

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        for path in self.store.rglob("*.parquet"):
            path.rename(self.disk / path.name)
        return future


def test_files_that_only_a_worker_sees_are_not_committed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    net = network(tmp_path / "store")
    with pytest.raises(StoreError, match="share this directory"):
        lf.load_events(net, **WHOLE, executor=Elsewhere(tmp_path / "store", tmp_path / "disk"))
    assert net.store.segments(EVENTS) == []
    assert len(lf.load_events(net, **WHOLE).verdicts)


class EndedError(Exception):
    """Raised by the handler of a signal."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_is_started_whole_before_a_signal_counts(number: signal.Signals) -> None:
    def end(*_: object) -> None:
        raise EndedError

    before = signal.signal(number, end)
    is_starting, is_sent, steps = threading.Event(), threading.Event(), []

    def send() -> None:  # a thread from before the start, which receives the signal of the process
        is_starting.wait()
        os.kill(os.getpid(), number)
        is_sent.set()

    thread = threading.Thread(target=send)
    thread.start()
    try:
        with pytest.raises(EndedError), _ignoring_ctrl_c():
            is_starting.set()
            is_sent.wait()
            for step in range(3):  # Python looks for signals in loops
                steps.append(step)
        assert steps == [0, 1, 2]
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
        thread.join()
