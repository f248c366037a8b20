"""One call of ``load_bulk``: what the store lacks is read by workers, committed object by object, and given as frames."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import pandas as pd

from ledgerframes.datasets.bookkeeping import BULK_PLAN
from ledgerframes.datasets.bulk.extent import ANY_MIGRATION, ObjectSet
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.datasets.registry import Dataset
from ledgerframes.errors import CoverageError, IntegrityError, NotFoundError, TransportError, UsageError
from ledgerframes.extents import MigrationWindow, microseconds
from ledgerframes.frames import Frames
from ledgerframes.loaders import bulk_listing
from ledgerframes.loaders.bulk_listing import Folder
from ledgerframes.loaders.bulk_object import BulkTask, read_object, stream_of
from ledgerframes.loaders.progress import Progress
from ledgerframes.loaders.workers import Done, cores, in_process, run
from ledgerframes.network import Network
from ledgerframes.store import Segment
from ledgerframes.windows import Window, iso

__all__ = ["BulkKind", "BulkReading"]

logger = logging.getLogger("ledgerframes")

BulkKind = Literal["updates", "acs"]
MOST_BROKEN = 5  # downloads that fail one after the other, before the service is taken for down


@dataclass(frozen=True)
class BulkReading:
    """What was asked for, and by whom it is read; objects that were named are kept apart from those of ranges."""

    net: Network
    kind: BulkKind
    by_key: bool
    keep: str | None
    executor: Executor | None
    partial: bool
    progress: bool | None

    @property
    def dataset(self) -> Dataset:
        """Where these objects are stored."""
        return stream_of(self.kind, by_key=self.by_key)

    def window(self, asked: Window, plan: bool) -> Frames | pd.DataFrame:
        """All objects of a range."""
        missing = self._missing(asked)
        if missing and self.net.offline:
            names = tuple(str(part) for part in missing)
            raise CoverageError(
                f"{self.net.name} is offline and the store lacks bulk objects of {'; '.join(names)}. Run again without offline.",
                missing=names,
            )
        folders = bulk_listing.folders_of_updates(self.net, asked, self.keep) if missing else []
        if plan:
            return _plan(self._unread([task for folder in folders for task in folder.tasks]))
        failed = self._read_folders(folders)
        return self._frames(failed, self.net.store.segments(self.dataset, asked), asked)

    def snapshot(self, at: datetime, plan: bool) -> Frames | pd.DataFrame:
        """The objects of one snapshot of the active contracts."""
        if self.net.offline:
            return self._stored_snapshot(at)
        folder = bulk_listing.snapshot_folder(self.net, at, self.keep)
        if plan:
            return _plan(self._unread(list(folder.tasks)))
        return self._frames_of([task.object_key for task in folder.tasks], self._read_folders([folder]))

    def _stored_snapshot(self, at: datetime) -> Frames:
        """The newest snapshot that the store has all of; nobody can say whether the network has a newer one."""
        whole = [extent for extent in self._extents() if extent.is_folder and extent.start <= microseconds(at)]
        if not whole:
            raise CoverageError(
                f"{self.net.name} is offline and the store has no snapshot of the active contracts before {iso(at)}. "
                "Run again without offline."
            )
        newest = max(whole, key=lambda extent: extent.start)
        return self._frames_of(
            [key for extent in self._extents() if extent.folders == newest.folders for key in extent.object_keys]
        )

    def named(self, object_keys: Iterable[str], plan: bool) -> Frames | pd.DataFrame:
        """The objects with these keys."""
        if isinstance(object_keys, str):
            raise UsageError("object_keys must be a list of keys, not one text.")
        keys = [key.key for key in bulk_listing.parsed(object_keys, self.kind)]
        held = self.net.store.committed_keys(self.dataset)
        unread = [key for key in keys if key not in held]
        if unread and self.net.offline:
            raise CoverageError(
                f"{self.net.name} is offline and the store lacks {unread[0]}. Run again without offline.", missing=tuple(unread)
            )
        tasks = bulk_listing.named(self.net, unread, self.kind, self.keep) if unread else []
        return _plan(tasks) if plan else self._frames_of(keys, self._read(tasks))

    def files(self, paths: Iterable[str | Path] | str | Path, plan: bool) -> Frames | pd.DataFrame:
        """The objects in these files."""
        tasks = self._without_twins(bulk_listing.files(paths, self.kind))
        if plan:
            return _plan(self._unread(tasks))
        return self._frames_of([task.object_key for task in tasks], self._read(tasks))

    # -- what is known already --------------------------------------------------------------------------------------

    def _extents(self) -> list[ObjectSet]:
        extents = [segment.extent for segment in self.net.store.segments(self.dataset)]
        return [extent for extent in extents if isinstance(extent, ObjectSet)]

    def _missing(self, asked: Window) -> list[Window]:
        """The parts of a range of which not every object was read."""
        whole = [MigrationWindow(0, extent.start, extent.stop) for extent in self._extents() if extent.is_folder]
        return [span.window for span in MigrationWindow.of(0, asked).difference(whole)]

    def _unread(self, tasks: list[BulkTask]) -> list[BulkTask]:
        """Those that the store does not hold."""
        held = self.net.store.committed_keys(self.dataset)
        return [task for task in tasks if task.object_key not in held]

    def _without_twins(self, tasks: list[BulkTask]) -> list[BulkTask]:
        """Files that are not named by a key under the key that the same bytes were read by, if they were."""
        if all(task.key for task in tasks):
            return tasks
        facts = self.net.store.snapshot(self.dataset).scan(BULK_OBJECTS.name).to_table(columns=["object_key", "sha256"])
        keys = {f"sha256:{row['sha256']}": row["object_key"] for row in facts.to_pylist()}
        return [replace(task, object_key=keys.get(task.object_key, task.object_key)) for task in tasks]

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read_folders(self, folders: list[Folder]) -> dict[str, str]:
        """Read what is not known, and note each folder of which everything is."""
        failed = self._read([task for folder in folders for task in folder.tasks])
        held = self.net.store.committed_keys(self.dataset)
        for folder in folders:
            if folder.name not in held and not failed.keys() & {task.object_key for task in folder.tasks}:
                extent = ObjectSet(
                    frozenset({folder.name}), ANY_MIGRATION, microseconds(folder.since), microseconds(folder.until)
                )
                self.net.store.commit(self.dataset, extent, {}, final=True, source=self.net.name)
        return failed

    def _read(self, tasks: list[BulkTask]) -> dict[str, str]:
        """Read objects, and commit each as soon as it was read; what failed, with the reasons."""
        unread, failed = self._unread(tasks), dict[str, str]()
        here = self.executor is None and (self.net.in_process or len(unread) < 2 or cores() < 2)
        executor = in_process() if here else self.executor
        work = functools.partial(read_object, self.net, beside=here and cores() > 1)
        broken = 0
        with (
            Progress(f"{self.net.name} bulk objects", len(unread), self.progress) as bar,
            closing(run(work, unread, executor)) as runs,
        ):
            for done in runs:
                broken = broken + 1 if self._settle(done, failed) else 0
                if broken >= MOST_BROKEN:
                    done.result()
                bar.advance(1)
        return failed

    def _settle(self, done: Done[BulkTask, Segment], failed: dict[str, str]) -> bool:
        """Commit what was read, or note why not; whether the connection was to blame."""
        try:
            self.net.store.add_segment(self.dataset, done.result())
        except (IntegrityError, NotFoundError, TransportError) as error:
            logger.warning("%s was not read: %s", done.task.name, error)
            failed[done.task.object_key] = str(error)  # names the file, if it was one
            return isinstance(error, TransportError)
        return False

    # -- frames -----------------------------------------------------------------------------------------------------

    def _frames_of(self, object_keys: list[str], failed: dict[str, str] | None = None) -> Frames:
        """Frames of some objects: those that are asked for by key, or as a snapshot, have segments of their own."""
        asked = ObjectSet(frozenset(object_keys), ANY_MIGRATION, 0, 1)
        return self._frames(failed or {}, self.net.store.segments(self.dataset, asked))

    def _frames(self, failed: dict[str, str], segments: list[Segment], window: Window | None = None) -> Frames:
        """Frames of what was read; an error if something was not, unless a part is enough.

        Raises
        ------
        IntegrityError
            With all that failed.
        """
        if failed and not self.partial:
            raise IntegrityError(
                f"{len(failed)} of the bulk objects could not be read; the others are in the store. "
                f"The first: {next(iter(failed.values()))} With partial=True (--partial) there are frames without them.",
                path=next(iter(failed)),
                failures=failed,
            )
        tables = tuple(table.name for table in self.dataset.tables)
        return Frames(self.net.store.snapshot_of(segments), tables, window=window, failed=failed)


def _plan(tasks: list[BulkTask]) -> pd.DataFrame:
    """What would be read: one row per object."""
    return BULK_PLAN.from_rows([(task.object_key, task.key and task.key.since, task.key and task.key.until) for task in tasks])
