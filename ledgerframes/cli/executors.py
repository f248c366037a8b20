"""Who does the work of a sync: this process, processes of this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Annotated

import typer

from ledgerframes.errors import UsageError

TIMEOUT = "10s"  # until a scheduler must have answered

WORKERS = Annotated[int | None, typer.Option("--workers", metavar="N", min=1, help="Processes of this machine that do the work.")]
DASK = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster that does the work: tcp://host:8786.")
]


@contextmanager
def executor_of(workers: int | None, dask: str | None) -> Iterator[Executor | None]:
    """The executor that the options name, for as long as it is needed; None leaves the choice to the loader.

    Raises
    ------
    UsageError
        If both are given, or no scheduler answers.
    """
    if workers and dask:
        raise UsageError("Give --workers or --dask, not both.")
    if dask:
        yield from _cluster(dask)
    elif workers:
        yield from _processes(workers)
    else:
        yield None


def _processes(workers: int) -> Iterator[Executor]:
    from ledgerframes.loaders.executors import processes

    executor = processes(workers)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def _cluster(address: str) -> Iterator[Executor]:
    from distributed import Client

    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"No Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`.") from error
    with client:
        yield client.get_executor()
