"""Functions in processes of their own, to be killed or to go on beside others."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from disk_waits import skip_disk_waits

# Processes are forked from one that has imported what takes long: they are killed at work, and importing costs nothing again.
# A module of the tests cannot be among them, because Python 3.11 does not tell that process their path.
IMPORTED = [
    "encodings.idna", "httpx", "ledgerframes.report", "ledgerframes.sandbox", "ledgerframes.settings", "pyarrow.acero",
    "pyarrow.dataset", "pyarrow.parquet", "pytest", "tqdm",
]  # fmt: skip


def begin(work: Callable[..., object], *arguments: object) -> ForkServerProcess:
    """Start a function in a process of its own, which has the environment of this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    process = context.Process(target=_work, args=(dict(os.environ), work, *arguments), daemon=False)
    process.start()
    return process


def _work(environment: dict[str, str], work: Callable[..., object], *arguments: object) -> None:
    os.environ.clear()
    os.environ.update(environment)
    skip_disk_waits()
    work(*arguments)


def end(process: ForkServerProcess) -> int:
    """Wait for a process, and return its exit code."""
    process.join(300)
    code = process.exitcode
    process.close()
    assert code is not None
    return code


def killed_at_random(chance: random.Random, seconds: float, work: Callable[..., object], *arguments: object) -> bool:
    """Start a function, kill it at a moment within its time, and return whether it was still at work."""
    process = begin(work, *arguments)
    process.join(chance.uniform(0.0, seconds))
    process.kill()
    return end(process) != 0


@contextmanager
def at_work(work: Callable[..., object], *arguments: object) -> Iterator[ForkServerProcess]:
    """A process that is killed at the end."""
    process = begin(work, *arguments)
    try:
        yield process
    finally:
        process.kill()
        end(process)


def again_and_again(work: Callable[[Path], object], store: Path) -> None:
    """Go on until killed."""
    while True:
        work(store)


def seconds_of(work: Callable[..., object], *arguments: object) -> float:
    """Return how long a function takes in a process of its own."""
    end(begin(int))  # the process to fork from takes seconds to start, once
    began = time.monotonic()
    assert end(begin(work, *arguments)) == 0
    return time.monotonic() - began
