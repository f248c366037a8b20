"""The catalog in an object store, read through a local copy and replaced by commits.

A commit becomes visible by one copy inside the object store, from a catalog that its writer has uploaded next to the live one.
Arrow offers no conditional writes, so writers take turns with files below ``writers/``:

* A writer creates a claim and then lists. If there is no other claim, it has the lease; otherwise it deletes its own and tries
  again. Of two writers that claim at once, the one that lists later sees the other, so they never both have the lease.
* A claim that is not renewed belongs to a dead writer. The next writer deletes the claim and its upload and lists again. A writer
  that was only slow then misses its claim, or the upload that it is about to copy.

The age of a claim comes from the object store's modification times, so that clocks need not agree.
"""

from __future__ import annotations

import functools
import hashlib
import random
import shutil
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection

from ledgerframes.errors import StoreError
from ledgerframes.long_waits import MIN_SECONDS, tell
from ledgerframes.store.catalog import CATALOG, Catalog, ListFiles
from ledgerframes.store.location import FileInfo, HashingWriter, Location
from ledgerframes.store.private_files import scratch_dir
from ledgerframes.store.sqlite import BUSY_SECONDS

WRITERS = "writers"
CLAIM, RENEWED, UPLOAD = "claim", "renewed", "sqlite"
LEASE_SECONDS = 30.0
ROUNDING = 2.0  # seconds: listings round times down to the second
CHUNK = 1 << 22
DOWNLOADS = 5


class RemoteCatalog(Catalog):
    """The catalog of a location in an object store."""

    def __init__(self, location: Location, list_files: ListFiles) -> None:
        self._location = location
        self._copy = local_copy(location)
        self._checked_version: str | None = None
        super().__init__(self._copy.path, f"{location}/{CATALOG}", list_files)

    def __getstate__(self) -> tuple[Location, ListFiles]:
        """Return the state without the copy, which is of this process."""
        return self._location, self._list_files

    def __setstate__(self, state: tuple[Location, ListFiles]) -> None:
        RemoteCatalog.__init__(self, *state)

    def exists(self) -> bool:
        """Return whether there is a catalog in the object store."""
        return self._copy.refresh() is not None

    def _state(self) -> None:
        """Return None, because only the object store knows whether the catalog has changed."""

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """Open a read-only connection to the current catalog."""
        version = self._copy.refresh()
        if version != self._checked_version:
            self.forget_check()
            self._checked_version = version
        with super().read_transaction() as connection:
            yield connection

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """Open a connection inside one transaction, which ends with an upload of the catalog."""
        with self._copy.lock_for_writing(), Lease(self._location) as lease:
            version = self._copy.refresh()
            if version is None:
                self.require_complete_store()
            with self._copy.working_copy() as path:
                with Catalog(path, self.database.name).write_transaction() as connection:
                    yield connection
                self._copy.publish(path, version, lease)


class LocalCopy:
    """The copy of a catalog that the threads and stores of this process share."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.path = scratch_dir() / f"{hashlib.sha256(location.uri.encode()).hexdigest()[:16]}.sqlite"
        self._version: str | None = None
        self._refresh_lock = threading.Lock()
        self._write_lock = threading.Lock()

    @contextmanager
    def lock_for_writing(self) -> Iterator[None]:
        """Let one thread of this process write at a time."""
        if not self._write_lock.acquire(timeout=BUSY_SECONDS):
            raise _busy_error(self.location)
        try:
            yield
        finally:
            self._write_lock.release()

    def refresh(self) -> str | None:
        """Update the copy if needed and return its version, or None if there is no catalog."""
        with self._refresh_lock:
            try:
                version, content = self._fetch()
            except FileNotFoundError:
                self.location.require_bucket()
                self.path.unlink(missing_ok=True)
                version = None
            else:
                if content is not None:
                    with self._disk_errors_as_store_error():
                        temporary = self._temporary_path()
                        temporary.write_bytes(content)
                        temporary.replace(self.path)
            self._version = version
            return version

    def _fetch(self) -> tuple[str, bytes | None]:
        """Return the version of the catalog, and its content unless the copy is current."""
        current = self._version if self.path.exists() else None
        for _ in range(DOWNLOADS):
            with self.location.translate_errors(), self.location.read(CATALOG) as source:
                version = _version(source.metadata())
                if version == current:
                    return version, None
                content = source.read()  # in one request, which reads one version
            if _is_complete(content):
                break
        return version, content

    @contextmanager
    def working_copy(self) -> Iterator[Path]:
        """Copy the catalog, if there is one, to a temporary path."""
        path = self._temporary_path()
        try:
            with self._disk_errors_as_store_error():
                if self._version is not None:
                    shutil.copyfile(self.path, path)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _temporary_path(self) -> Path:
        return self.path.with_name(f"{uuid.uuid4().hex}.sqlite")

    @contextmanager
    def _disk_errors_as_store_error(self) -> Iterator[None]:
        directory = self.path.parent
        try:
            directory.mkdir(mode=0o700, exist_ok=True)
            yield
        except OSError as error:
            message = f"Cannot write a copy of the catalog to {directory}: {error}. Free disk space, or set TMPDIR."
            raise StoreError(message, path=str(directory)) from error

    def publish(self, path: Path, version: str | None, lease: Lease) -> None:
        """Replace the live catalog by a file derived from this version of it."""
        lease.upload(path)
        lease.require()
        if self._live_version() != version:
            raise StoreError(
                f"Nothing was committed to {self.location}: its catalog was replaced or deleted during the commit. Run again.",
                path=str(self.location),
            )
        try:
            self.location.copy(lease.path(UPLOAD), CATALOG)
        except BaseException:
            lease.retains_claim = True  # The copy may still be running, so other writers must wait until the claim expires.
            raise
        # The commit is done, so errors from here on only cost a refresh.
        with self._refresh_lock, suppress(StoreError, OSError):
            self._version = None
            path.replace(self.path)
            version = self._live_version()
            lease.require()  # Under the lease, nobody else has committed, and this is the version of the copy.
            self._version = version

    def _live_version(self) -> str | None:
        try:
            with self.location.translate_errors(), self.location.read(CATALOG) as source:
                return _version(source.metadata())
        except FileNotFoundError:
            return None


class Lease:
    """The exclusive right to commit, for the length of a ``with`` block."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.owner = uuid.uuid4().hex
        self._kinds_written: set[str] = set()
        self.retains_claim = False  # at the end, so that other writers wait until it expires
        self._ended = threading.Event()
        self._renewal = threading.Thread(target=self._renew, daemon=True)

    def path(self, kind: str) -> str:
        """Return the path of a file of this writer."""
        return f"{WRITERS}/{self.owner}.{kind}"

    def upload(self, catalog: Path) -> None:
        """Upload a catalog next to the live one."""
        with self._write(UPLOAD) as sink, catalog.open("rb") as source:
            shutil.copyfileobj(source, sink, CHUNK)

    def require(self) -> None:
        """Raise if another writer has deleted the claim."""
        if not self.location.exists(self.path(CLAIM)):
            raise _lease_lost_error(self.location)

    def __enter__(self) -> Lease:
        try:
            self._acquire()
            self._renewal.start()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._renewal.join()
        self._release()

    def _acquire(self) -> None:
        start, pause, is_told = time.monotonic(), 0.05, False
        while not self._try_claim():
            self._release()
            seconds = time.monotonic() - start
            if seconds > BUSY_SECONDS:
                raise _busy_error(self.location)
            if seconds > MIN_SECONDS and not is_told:
                tell(BUSY_SECONDS - seconds, f"other processes write to {self.location}, perhaps for less")
                is_told = True
            time.sleep(random.SystemRandom().uniform(0, pause))
            pause = min(2 * pause, 1.0)

    def _try_claim(self) -> bool:
        """Create a claim and return whether it is the only one."""
        self._write_marker(CLAIM)
        while True:
            writers = self._files_by_writer()
            own = writers.pop(self.owner, {})
            if CLAIM not in own:
                return False
            oldest = own[CLAIM].modified_at - LEASE_SECONDS - ROUNDING
            dead = [files for files in writers.values() if not _is_alive(files, oldest)]
            if len(dead) < len(writers):
                return False
            if not dead:
                return True
            for files in dead:
                self._remove(files)

    def _files_by_writer(self) -> dict[str, dict[str, FileInfo]]:
        """Return the files below ``writers/`` by writer and kind."""
        writers: defaultdict[str, dict[str, FileInfo]] = defaultdict(dict)
        for file in self.location.iter_files(WRITERS):
            owner, _, kind = file.path.removeprefix(f"{WRITERS}/").partition(".")
            if kind in (CLAIM, RENEWED, UPLOAD):
                writers[owner][kind] = file
        return writers

    def _remove(self, files: dict[str, FileInfo]) -> None:
        """Delete a dead writer's files, the claim first, for a writer that was only slow."""
        for kind in (CLAIM, RENEWED, UPLOAD):
            if kind in files:
                self.location.remove(files[kind].path)

    def _write_marker(self, kind: str) -> None:
        with self._write(kind) as file:
            file.write(b"ledgerframes")

    @contextmanager
    def _write(self, kind: str) -> Iterator[HashingWriter]:
        self._kinds_written.add(kind)
        with self.location.write(self.path(kind)) as file:
            yield file

    def _renew(self) -> None:
        while not self._ended.wait(LEASE_SECONDS / 4):
            # The renewal is a separate file, because a claim that was deleted must stay deleted.
            with suppress(StoreError):
                self._write_marker(RENEWED)

    def _release(self) -> None:
        """Delete the files of this writer, the claim last. A file that remains expires."""
        with suppress(StoreError):
            for kind in (UPLOAD, RENEWED, CLAIM):
                if kind in self._kinds_written and not (kind == CLAIM and self.retains_claim):
                    self.location.remove(self.path(kind))


def _is_alive(files: dict[str, FileInfo], oldest: float) -> bool:
    """Return whether a writer has a claim and has written a file recently."""
    return CLAIM in files and max(file.modified_at for file in files.values()) >= oldest


def _is_complete(content: bytes) -> bool:
    """Return whether a catalog was not replaced while it was read, by the size in its header."""
    page, pages = int.from_bytes(content[16:18]), int.from_bytes(content[28:32])
    return len(content) == (65_536 if page == 1 else page) * pages


def _version(metadata: dict[str, bytes]) -> str:
    """Return a text that identifies the content of an object."""
    return " ".join(str(metadata.get(name)) for name in ("ETag", "Last-Modified", "Content-Length"))


@functools.cache
def local_copy(location: Location) -> LocalCopy:
    """Return the only copy of a catalog in this process."""
    return LocalCopy(location)


def _busy_error(location: Location) -> StoreError:
    return StoreError(
        f"Nothing was committed: other processes kept writing to {location} for {BUSY_SECONDS:.0f} s. "
        "Run again when they have finished.",
        path=str(location),
    )


def _lease_lost_error(location: Location) -> StoreError:
    return StoreError(
        f"Nothing was committed to {location}: the lease expired after {LEASE_SECONDS:.0f} s without a renewal. Run again.",
        path=str(location),
    )
