"""Options that choose the executor of a sync."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Annotated

from ledgerframes.cli.options import option
from ledgerframes.errors import UsageError

CONNECT_TIMEOUT = "10s"  # for the scheduler of a cluster

Workers = Annotated[int | None, option("--workers N", "Number of local worker processes.", min=1)]
Dask = Annotated[str | None, option("--dask ADDRESS", "Scheduler of a Dask cluster, such as tcp://host:8786.")]


@contextmanager
def open_executor(workers: int | None, dask: str | None) -> Iterator[Executor | None]:
    """Open the executor that the options choose, or None for the loader's default."""
    if workers and dask:
        raise UsageError("--workers cannot be combined with --dask.")
    if dask:
        yield from _open_cluster(dask)
    elif workers:
        yield from _open_processes(workers)
    else:
        yield None


def _open_processes(workers: int) -> Iterator[Executor]:
    from ledgerframes.loaders.executors import processes

    executor = processes(workers)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def _open_cluster(address: str) -> Iterator[Executor]:
    from distributed import Client

    try:
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"Cannot reach a Dask scheduler at {address}: {error}. Start one with `dask scheduler`.") from error
    with client:
        yield client.get_executor()
