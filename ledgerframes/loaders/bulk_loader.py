"""Bulk objects of a window, of a snapshot, by key and from files, one object per segment."""

from __future__ import annotations

import functools
import logging
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ledgerframes.datasets.bulk.extent import ANY_MIGRATION, ObjectSet, missing_windows
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.schema import BULK_OBJECTS
from ledgerframes.errors import IntegrityError, LedgerframesError, NotFoundError, TransportError
from ledgerframes.frames import Frames
from ledgerframes.loaders import bulk_listing
from ledgerframes.loaders.bulk_listing import BulkFolder
from ledgerframes.loaders.bulk_object import BulkTask, ObjectOptions, read_object
from ledgerframes.loaders.executors import cores
from ledgerframes.loaders.sync import Loader, Reader
from ledgerframes.network import Network
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.extents import Extent, microseconds
from ledgerframes.values.windows import Window, iso

logger = logging.getLogger("ledgerframes")

MAX_FAILURES = 5  # consecutive downloads, after which the service counts as unavailable


class BulkLoader(Loader[BulkTask]):
    """A load of bulk objects, which continues if an object cannot be read."""

    noun, unit = "bulk objects", "objects"

    def __init__(self, net: Network, options: ObjectOptions) -> None:
        self.net, self.options, self.dataset = net, options, options.dataset
        self.failures: dict[str, str] = {}
        self._consecutive_failures = 0

    @abstractmethod
    def tasks(self) -> list[BulkTask]:
        """Return the objects to load, as the network or the disk lists them."""

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing objects."""
        return {task.object_key: _plan_row(task.object_key, task.key) for task in self._missing_tasks()}

    def chunks(self, *, distributed: bool) -> list[BulkTask]:
        """Return the objects that the store does not contain."""
        missing = self._missing_tasks()
        self.pipelined = not distributed and not self.uses_processes(missing) and cores() > 1
        return missing

    def _missing_tasks(self) -> list[BulkTask]:
        tasks = self.tasks()
        stored_keys = self.net.store.committed_keys(self.dataset)
        return [task for task in tasks if task.object_key not in stored_keys]

    def uses_processes(self, chunks: Sequence[BulkTask]) -> bool:
        """Return whether there is work for several cores, outside the embedded sandbox."""
        return not self.net.in_process and len(chunks) > 1 and cores() > 1

    @property
    def reader(self) -> Reader[BulkTask]:
        """Function that reads one object."""
        return functools.partial(read_object, self.net, self.options)

    def finish_chunk(self, chunk: BulkTask, error: LedgerframesError | None) -> None:
        """Note an object that could not be read, unless the service seems to be unavailable."""
        if error and not isinstance(error, IntegrityError | NotFoundError | TransportError):
            raise error
        self._consecutive_failures = self._consecutive_failures + 1 if isinstance(error, TransportError) else 0
        if error:
            logger.warning("bulk_object_failed network=%s object=%s error=%s", self.net.name, chunk.name, error)
            self.failures[chunk.object_key] = str(error)  # names the file, if the object is one
            if self._consecutive_failures >= MAX_FAILURES:
                raise error

    def shortfall(self) -> Collection[str]:
        """Return the objects that were read but are no longer in the store."""
        stored_keys = self.net.store.committed_keys(self.dataset, accept_provisional=True)
        return [key for key in self.object_keys() if key not in stored_keys and key not in self.failures]

    def object_keys(self) -> list[str]:
        """Return the keys of the objects that this load has listed."""
        return [task.object_key for task in self.tasks()]

    def restart(self) -> None:
        """Forget the failures."""
        self.failures.clear()

    def frames_of(self, extent: Extent | Window, window: Window | None = None) -> Frames:
        """Return frames of the segments that overlap a window, or have objects."""
        if self.failures:
            self._accept_failures()
        snapshot = self.net.store.snapshot(self.dataset, extent)
        # The mark of a folder with a provisional object has no rows, but would make all objects of the day provisional.
        segments = tuple(segment for segment in snapshot.segments if segment.final or segment.files)
        return Frames(
            replace(snapshot, segments=segments),
            [table.name for table in self.dataset.tables],
            window=window,
            failed=self.failures,
            population=self.dataset.population,
            engine=self.net.settings.engine,
        )

    def _accept_failures(self) -> None:
        """Raise an error unless the caller accepts a part of the objects and some were read."""
        has_others = len(self.failures) < len(self.object_keys())
        if self.options.allow_partial and has_others:
            return
        step = " Pass allow_partial=True to load the others." if has_others else ""
        raise IntegrityError(
            f"Cannot read {pluralize(len(self.failures), 'bulk object')}, the first because: "
            f"{next(iter(self.failures.values()))}{step}",
            path=next(iter(self.failures)),
            failures=self.failures,
        )

    def frames_of_keys(self, object_keys: Iterable[str]) -> Frames:
        """Return frames of objects that have their own segments."""
        return self.frames_of(ObjectSet(frozenset(object_keys), ANY_MIGRATION, 0, 1))

    def require_new_lines(self, keys: Iterable[ObjectKey]) -> None:
        """Raise a UsageError for a new key whose lines are in the store in another encoding."""
        bulk_listing.require_new_lines(keys, self.net.store.committed_keys(self.dataset, accept_provisional=True))

    def stored_objects(self, *, accept_provisional: bool = False) -> list[ObjectSet]:
        """Return the extents of the final segments of the dataset, or of all."""
        extents = [each.extent for each in self.net.store.segments(self.dataset) if each.final or accept_provisional]
        return [extent for extent in extents if isinstance(extent, ObjectSet)]


def _plan_row(object_key: str, key: ObjectKey | None) -> Mapping[str, object]:
    return {"since": key and key.since, "until": key and key.until, "object_key": object_key}


class FolderLoader(BulkLoader):
    """Loads whole folders, and commits each that is complete."""

    name: str  # of the window or time
    _was_stored = False

    @abstractmethod
    def list_folders(self) -> list[BulkFolder]:
        """Return the folders, as the network lists them."""

    @abstractmethod
    def is_stored(self) -> bool:
        """Return whether the store certainly contains the folders."""

    @functools.cached_property
    def folders(self) -> list[BulkFolder]:
        """The folders, unless the store contains them."""
        self._was_stored = self.is_stored()
        return [] if self._was_stored else self.list_folders()

    def shortfall(self) -> Collection[str]:
        """Return the objects of the folders, or all of what the store does not contain any more."""
        if self.folders or not self._was_stored or self.is_stored():
            return super().shortfall()
        return [self.name]

    def restart(self) -> None:
        """Forget the folders."""
        super().restart()
        del self.folders

    def tasks(self) -> list[BulkTask]:
        """Return the objects of the folders."""
        return [task for folder in self.folders for task in folder.tasks]

    def finish(self) -> None:
        """Commit the folders whose objects are all stored, as final if all objects are."""
        final_keys = self.net.store.committed_keys(self.dataset)
        stored_keys = self.net.store.committed_keys(self.dataset, accept_provisional=True)
        for folder in self.folders:
            object_keys = {task.object_key for task in folder.tasks}
            is_final = object_keys <= final_keys
            if object_keys <= stored_keys and folder.name not in (final_keys if is_final else stored_keys):
                window = microseconds(folder.since), microseconds(folder.until)
                extent = ObjectSet(frozenset({folder.name}), ANY_MIGRATION, *window)
                # Another process may have dropped an object since.
                self.net.store.commit_mark(self.dataset, extent, object_keys, final=is_final, source=self.net.name)


class BulkWindowLoader(FolderLoader):
    """Loads the objects with updates of a window."""

    def __init__(self, net: Network, options: ObjectOptions, window: Window) -> None:
        super().__init__(net, options)
        self.window, self.name = window, str(window)

    def list_folders(self) -> list[BulkFolder]:
        """Return the folders that overlap the window."""
        return bulk_listing.folders_of_updates(self.net, self.window)

    def is_stored(self) -> bool:
        """Return whether complete folders cover the window."""
        return not missing_windows(self.window, self.stored_objects())

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing objects, or offline the windows without a complete folder."""
        if self.net.offline:
            missing = missing_windows(self.window, self.stored_objects(accept_provisional=accept_provisional))
            return {str(window): {"since": window.since, "until": window.until} for window in missing}
        return super().missing()

    def frames(self) -> Frames:
        """Return frames of the window."""
        return self.frames_of(self.window, self.window)


class BulkSnapshotLoader(FolderLoader):
    """Loads the newest ACS snapshot at a time."""

    def __init__(self, net: Network, options: ObjectOptions, at: datetime) -> None:
        super().__init__(net, options)
        self.at, self.name = at, iso(at)

    def list_folders(self) -> list[BulkFolder]:
        """Return the folder of the snapshot."""
        return [bulk_listing.snapshot_folder(self.net, self.at)]

    def is_stored(self) -> bool:
        """Return whether the store contains the snapshot of this very time."""
        newest = self._stored_folder()
        return newest is not None and newest.start == microseconds(self.at)

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing objects, or offline the time if no snapshot is stored."""
        if self.net.offline:
            return {} if self._stored_folder(accept_provisional=accept_provisional) else {self.name: {"since": self.at}}
        return super().missing()

    def count_text(self, count: int) -> str:
        """Return what is missing offline."""
        return "a snapshot at or before this time is"

    def _stored_folder(self, *, accept_provisional: bool = False) -> ObjectSet | None:
        """Return the newest complete folder of the store."""
        objects = self.stored_objects(accept_provisional=accept_provisional)
        complete = [extent for extent in objects if extent.is_folder and extent.start <= microseconds(self.at)]
        return max(complete, key=lambda extent: extent.start, default=None)

    def frames(self) -> Frames:
        """Return frames of the snapshot."""
        if not self.net.offline and self.folders:
            return self.frames_of_keys(task.object_key for task in self.tasks())
        newest = self._stored_folder(accept_provisional=True)
        assert newest is not None
        in_folder = [each for each in self.stored_objects(accept_provisional=True) if each.folders == newest.folders]
        return self.frames_of_keys(key for extent in in_folder if not extent.is_folder for key in extent.keys)


class BulkKeyLoader(BulkLoader):
    """Loads objects by key."""

    def __init__(self, net: Network, options: ObjectOptions, object_keys: Iterable[str]) -> None:
        super().__init__(net, options)
        self.keys = bulk_listing.parse_keys(object_keys, options.kind)
        self.require_new_lines(self.keys)

    def tasks(self) -> list[BulkTask]:
        """Return a task per missing key, with the digest that the network lists."""
        missing = self.missing()
        return bulk_listing.tasks_by_key(self.net, [key for key in self.keys if key.key in missing])

    def object_keys(self) -> list[str]:
        """Return the keys."""
        return [key.key for key in self.keys]

    def missing(self, *, accept_provisional: bool = False) -> Mapping[str, Mapping[str, object]]:
        """Return the missing keys."""
        stored_keys = self.net.store.committed_keys(self.dataset, accept_provisional=accept_provisional)
        return {key.key: _plan_row(key.key, key) for key in self.keys if key.key not in stored_keys}

    def count_text(self, count: int) -> str:
        """Return the number of missing objects."""
        return f"{count:,} of {len(self.keys):,} bulk objects are"

    def frames(self) -> Frames:
        """Return frames of the objects."""
        return self.frames_of_keys(key.key for key in self.keys)


class BulkFileLoader(BulkLoader):
    """Loads objects from files of this machine, without an HTTP request."""

    needs_network = False

    def __init__(self, net: Network, options: ObjectOptions, paths: Iterable[str | Path] | str | Path) -> None:
        super().__init__(net, options)
        self._tasks = bulk_listing.tasks_by_path(paths, options.kind)
        if not all(task.key for task in self._tasks):  # A file that is not named by its key may be in the store under that key.
            rows = net.store.snapshot(self.dataset).read(BULK_OBJECTS.name, ["object_key", "sha256"])
            keys = {f"sha256:{row['sha256']}": row["object_key"] for row in rows.to_pylist()}
            self._tasks = [replace(task, object_key=keys.get(task.object_key, task.object_key)) for task in self._tasks]
        self.require_new_lines(task.key for task in self._tasks if task.key)

    def tasks(self) -> list[BulkTask]:
        """Return a task per file."""
        return self._tasks

    def frames(self) -> Frames:
        """Return frames of the objects."""
        return self.frames_of_keys(task.object_key for task in self._tasks)
