"""The sync of every dataset, which fetches what is missing in chunks and commits it.

A family declares how its dataset is planned, split, read and committed. Everything else is here.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import pandas as pd
import pyarrow as pa

from ledgerframes.api.extra_members import add_extra_members
from ledgerframes.datasets.bookkeeping import PLAN
from ledgerframes.datasets.registry import DATASETS, Dataset
from ledgerframes.errors import CoverageError, LedgerframesError, StoreError
from ledgerframes.frames import Frames
from ledgerframes.gc_pause import pause_gc
from ledgerframes.loaders.additions import Additions
from ledgerframes.loaders.buffering import Pipeline
from ledgerframes.loaders.estimates import with_estimates
from ledgerframes.loaders.executors import Inline, run
from ledgerframes.loaders.progress import Progress
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.store.small_segments import merge_small_segments
from ledgerframes.values.extents import Extent, ExtentRange

logger = logging.getLogger("ledgerframes")

WATCH_SECONDS = 0.5  # seconds between checks of the waits of worker processes
MAX_SYNCS = 5  # tries of one load, while other processes drop what it has fetched

C = TypeVar("C")  # a chunk
R = TypeVar("R", bound=ExtentRange)


@dataclass(frozen=True)
class Batch:
    """Rows that fill a segment, and the extent that is complete with them."""

    extent: Extent
    tables: Mapping[str, pa.Table]
    source: str  # the host that returned them
    final: bool = True
    gap: bool = False  # the extent was pruned before it could be fetched


def split_batches(
    extent: R, uncertain: Iterable[R], tables: Mapping[str, pa.Table], source: str, *, descending: bool = False
) -> Iterator[Batch]:
    """Yield the rows of an extent in reading order, as provisional if the extent is uncertain."""
    certain = extent.difference(uncertain)
    parts = [(part, True) for part in certain] + [(part, False) for part in extent.difference(certain)]
    for part, final in sorted(parts, key=lambda each: each[0].start, reverse=descending):
        rows = tables if part == extent else {name: table.filter(part.filter()) for name, table in tables.items()}
        yield Batch(part, rows, source, final=final)


ChunkResult = Batch | Any  # a batch, or an item that is committed as it is
CommitItem = Segment | Any  # a segment whose files are written, or an item of the family
Reader = Callable[[C, "ChunkContext"], Iterator[ChunkResult]]


@dataclass
class ChunkReport:
    """The end of a chunk."""

    items: list[CommitItem] = field(default_factory=list)  # left to commit
    progress: float = 0.0  # progress that the bar has received
    additions: Additions = field(default_factory=Additions)
    extra_members: Mapping[str, str] = field(default_factory=dict)  # see `Network.extra_members`
    error: LedgerframesError | None = None


@dataclass
class ChunkContext:
    """Pipeline, report, progress bar and stop signal for the reader of one chunk."""

    pipeline: Pipeline
    report: ChunkReport
    bar: Progress | None  # None in a worker, as is the signal
    stop: threading.Event | None

    def advance(self, amount: float) -> None:
        """Report completed work, if a progress bar is available."""
        if self.bar:
            self.report.progress += amount
            self.bar.advance(amount)

    @property
    def is_stopped(self) -> bool:
        """Whether to stop after the page in progress."""
        return self.stop is not None and self.stop.is_set()


class Loader(ABC, Generic[C]):
    """One load of a dataset, as its family declares it."""

    net: Network
    dataset: Dataset
    noun: str  # what the progress bar calls the dataset
    unit: str  # what it counts
    threads: int = 0  # chunks that threads of this process read at the same time; 0 to read one at a time in the caller's thread
    pipelined: bool = False  # a chunk is read ahead and written behind
    needs_network: bool = True  # offline loads only read the store

    @property
    @abstractmethod
    def reader(self) -> Reader[C]:
        """Function that reads one chunk, and can be pickled."""

    @abstractmethod
    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return what the store does not cover, by name, each as a row of table ``plan``."""

    @abstractmethod
    def chunks(self, *, distributed: bool) -> list[C]:
        """Return what is missing, in chunks for this process or for an executor."""

    @abstractmethod
    def frames(self) -> Frames:
        """Return frames of what is stored now."""

    def plan(self) -> pd.DataFrame:
        """Return what a sync would fetch, one row per extent, with estimates."""
        return plan_frame(self.dataset.name, with_estimates(self.net, self.dataset.name, self.missing().values()))

    def shortfall(self) -> Collection[str]:
        """Return by name what a sync has fetched or found, but the store no longer covers."""
        return list(self.missing(accept_provisional=True))

    def restart(self) -> None:
        """Forget what a sync has found out, before the next one."""

    def count_text(self, count: int) -> str:
        """Return a number of missing extents with their noun and verb, for messages."""
        return f"{count:,} windows are" if count > 1 else "a window is"

    def size(self, chunk: C) -> float:
        """Return the work of a chunk, in the unit of the progress bar."""
        return 1

    def uses_processes(self, chunks: Sequence[C]) -> bool:
        """Return whether processes of this machine read the chunks by default."""
        return False

    def commit(self, item: Any) -> None:
        """Commit or remember an item of the family other than a segment."""
        raise TypeError(f"nothing commits {item!r}")

    def finish_chunk(self, chunk: C, error: LedgerframesError | None) -> None:
        """Take note of a chunk that ended, and raise its error to stop the sync."""
        if error:
            raise error

    def finish(self) -> None:
        """Commit or log the outcome of all chunks."""


def load(loader: Loader[C], *, executor: Executor | None, progress: bool | None) -> Frames:
    """Make the dataset of a load current, and return frames of it.

    Raises
    ------
    CoverageError
        If the network is offline and the store does not cover the load, or other processes keep dropping what it fetches.
    """
    frames = _read(loader) if loader.net.offline and loader.needs_network else _sync_and_read(loader, executor, progress)
    log_unreadable(loader.net, frames)
    return frames


def log_unreadable(net: Network, frames: Frames) -> None:
    """Log the segments of other versions that are missing in frames."""
    for name, reason in frames.unreadable.items():
        logger.warning("segment_unreadable network=%s segment=%s reason=%s", net.name, name, reason)


def _read(loader: Loader[Any]) -> Frames:
    """Return frames of what the store covers, which must be all of the load."""
    with loader.net.store.one_state():
        names = list(loader.missing(accept_provisional=True))
        require_coverage(loader.net, loader.count_text(len(names)), names)
        return loader.frames()


def _sync_and_read(loader: Loader[Any], executor: Executor | None, progress: bool | None) -> Frames:
    """Fetch what is missing, and return frames of a state of the store that has all data.

    Other processes may drop segments at any time. These are fetched again.
    """
    for _ in range(MAX_SYNCS):
        if sync(loader, executor=executor, progress=progress):
            merge_small_segments(loader.net.store, loader.dataset, loader.net.settings.limits.min_merged_segments)
        with loader.net.store.one_state():
            shortfall = loader.shortfall()
            if not shortfall:
                return loader.frames()
        logger.warning("segments_dropped_during_load network=%s extents=%s", loader.net.name, _some(shortfall))
        loader.restart()
    raise CoverageError(
        f"{loader.net.name} was loaded {MAX_SYNCS} times, and {loader.count_text(len(shortfall))} missing again "
        f"({_some(shortfall)}), "
        "because another process drops them. Load again when it has finished.",
        missing=tuple(shortfall),
    )


def _some(names: Collection[str]) -> str:
    """Return the first names."""
    return ", ".join(list(names)[:3]) + (", …" if len(names) > 3 else "")


def plan_frame(dataset: str, rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return what would be fetched of a dataset, one row per extent."""
    return PLAN.from_rows([{"dataset": dataset, **row} for row in rows])


def require_coverage(net: Network, count: str, names: Sequence[str]) -> None:
    """Raise CoverageError if the store does not have all that an offline load needs."""
    if names:
        raise CoverageError(
            f"{net.name} is offline and {count} not in the store ({_some(names)}). "
            f"Reconnect without {net.offline_setting} to fetch them.",
            missing=tuple(names),
        )


def sync(loader: Loader[C], *, executor: Executor | None = None, progress: bool | None = None) -> bool:
    """Fetch and commit what the store does not cover, and return whether anything was missing.

    Threads of this process commit while they read. Workers of an executor write the files of a chunk, and the caller commits
    them. After a failure or Ctrl-C, the other chunks stop at their next page, and committed data stay.
    """
    start = time.monotonic()
    chunks = loader.chunks(distributed=executor is not None)
    if chunks:
        loader.net.store.create()
        _fetch_chunks(loader, chunks, executor, progress)
    loader.finish()
    facts = (loader.net.name, loader.dataset.name, len(chunks), time.monotonic() - start)
    logger.info("load_finished network=%s dataset=%s chunks=%d seconds=%d", *facts)
    return bool(chunks)


def _fetch_chunks(loader: Loader[C], chunks: list[C], executor: Executor | None, progress: bool | None) -> None:
    here = executor is None and not loader.uses_processes(chunks)
    total = sum(map(loader.size, chunks))
    with Progress(f"{loader.noun} ({loader.net.name})", total, loader.unit, progress) as bar:
        caller = Caller(loader, bar)
        with (
            loader.net.waits.session(bar.show_wait, caller.stop),
            nullcontext() if here else _showing_waits_of_workers(loader.net),
            (ThreadPoolExecutor(loader.threads) if loader.threads else Inline()) if here else nullcontext(executor) as pool,
        ):
            caller.take_all(chunks, ChunkFetch(loader, caller if here else None), pool)


class ChunkFetch(Generic[C]):
    """The fetch of a chunk, in a thread of this process, or as a copy in a worker."""

    def __init__(self, loader: Loader[C], caller: Caller[C] | None) -> None:
        self.net, self.dataset = loader.net, loader.dataset.name
        self.reader, self.pipelined = loader.reader, loader.pipelined
        self.caller = caller  # None in a worker, which leaves what it has written to the report

    def run(self, chunk: C) -> ChunkReport:
        """Read one chunk and write its segments, and report an error with what preceded it."""
        report = ChunkReport()
        bar, stop = (self.caller.bar, self.caller.stop) if self.caller else (None, None)
        try:
            with Pipeline(self.pipelined) as pipeline, pause_gc():
                for result in self.reader(chunk, ChunkContext(pipeline, report, bar, stop)):
                    pipeline.write_behind(partial(self._write, report), result)
        except LedgerframesError as error:
            report.error = error
        report.extra_members = dict(self.net.extra_members)  # a worker has another network
        return report

    def _write(self, report: ChunkReport, result: ChunkResult) -> None:
        if isinstance(result, Batch):
            report.additions.note(result.tables)
            status = {"final": result.final, "gap": result.gap}
            dataset = DATASETS[self.dataset]
            result = self.net.store.write_segment(dataset, result.extent, result.tables, source=result.source, **status)
        if self.caller:
            self.caller.commit(result)
        else:
            report.items.append(result)


class Caller(Generic[C]):
    """The process that called a load, which commits the fetched data."""

    def __init__(self, loader: Loader[C], bar: Progress) -> None:
        self.loader, self.bar = loader, bar
        self.stop = threading.Event()
        self.additions = Additions()

    def take_all(self, chunks: Sequence[C], fetch: ChunkFetch[C], pool: Executor | None) -> None:
        """Fetch all chunks, and stop the others at the first error that the loader raises."""
        try:
            with closing(run(fetch.run, chunks, pool)) as outcomes:
                for chunk, report in outcomes:
                    self._take(chunk, report)
        finally:
            self.stop.set()
            self.additions.log(self.loader.net.name)

    def _take(self, chunk: C, report: ChunkReport) -> None:
        net = self.loader.net
        for item in report.items:
            _require_files(net, item)
            self.commit(item)
        self.additions.add(report.additions)
        add_extra_members(net.extra_members, report.extra_members)
        self.loader.finish_chunk(chunk, report.error)
        self.bar.advance(self.loader.size(chunk) - report.progress)
        self.bar.count(chunks=1)

    def commit(self, item: CommitItem) -> None:
        """Commit a segment, or an item of the family."""
        if isinstance(item, Segment):
            self.loader.net.store.add_segment(self.loader.dataset, item)
            self.bar.count(rows=item.rows)
        else:
            self.loader.commit(item)


@contextmanager
def _showing_waits_of_workers(net: Network) -> Iterator[None]:
    """Show what the processes of this machine wait for."""
    stop = threading.Event()

    def watch() -> None:
        before = None
        while not stop.wait(WATCH_SECONDS):
            wait = net.wait
            if wait or before:
                net.waits.show(wait)
            before = wait

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _require_files(net: Network, item: CommitItem) -> None:
    """Refuse a segment whose files only its worker can see."""
    location = net.store.location
    if isinstance(item, Segment) and location.local_path:
        for file in item.files.values():
            if not location.exists(file.path):
                raise StoreError(
                    f"A worker of executor= wrote {file.path}, which is not in {location} on this machine. "
                    "Use workers that share this directory, or set store= to an object store.",
                    path=f"{location}/{file.path}",
                )
