"""The catalog of a store in an object store: read through a copy on this machine, and put back after each commit.

A commit becomes visible by one copy inside the object store, of a catalog that its writer has uploaded beside the live one.
Object stores reached through Arrow have no conditional writes, so writers take turns by what lies below ``writers/``:

* A writer puts a claim of its own there, and then lists. It may go on if there is no other claim; else it takes its own back and
  tries again. Of two that claim at once, the one that lists later sees the other, so never both go on.
* A claim that was not renewed for a while is that of a dead writer. Whoever finds it deletes the claim and what was uploaded with
  it, and lists again. A writer that was only slow then finds its claim gone, or the upload that it wanted to copy.

How old a claim is, is told by the object store's own times: machines' clocks need not agree.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import random
import shutil
import tempfile
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection

from ledgerframes.errors import StoreError
from ledgerframes.store.catalog import BUSY_SECONDS, Catalog
from ledgerframes.store.location import Digesting, Location, Stored

WRITERS = "writers"
CLAIM, RENEWED, UPLOAD = "claim", "renewed", "sqlite"
LEASE_SECONDS = 30.0
ROUNDING = 2.0  # seconds; listings cut times to the second
CHUNK = 1 << 22
DOWNLOADS = 5


class RemoteCatalog(Catalog):
    """The catalog of a place in an object store.

    Parameters
    ----------
    place : Location
        The network's folder.
    name : str
        The catalog's name in it.
    """

    def __init__(self, place: Location, name: str) -> None:
        self._place = place
        self._copy = local_copy(place, name)
        super().__init__(self._copy.path, f"{place}/{name}")

    @contextmanager
    def reading(self) -> Iterator[Connection | None]:
        """A read-only connection to the catalog as it is in the object store now, or None while there is none."""
        self._copy.refresh()
        with super().reading() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection inside one write transaction; what is committed here counts once it is in the object store.

        Raises
        ------
        StoreError
            If others go on writing, or the object store does not take the catalog; then nothing of this counts.
        """
        with self._copy.only_thread(), Lease(self._place) as lease:
            version = self._copy.refresh()
            with self._copy.working() as working:
                with Catalog(working, self.named).writing() as connection:
                    yield connection
                self._copy.publish(working, version, lease)


class LocalCopy:
    """The copy of the catalog that the threads and stores of this process share."""

    def __init__(self, place: Location, name: str) -> None:
        self.place = place
        self.name = name
        self.path = scratch() / f"{hashlib.sha256(place.uri.encode()).hexdigest()[:16]}.sqlite"
        self._version: str | None = None
        self._changing = threading.Lock()
        self._writing = threading.Lock()

    @contextmanager
    def only_thread(self) -> Iterator[None]:
        """One thread of this process writes at a time."""
        if not self._writing.acquire(timeout=BUSY_SECONDS):
            raise _busy(self.place)
        try:
            yield
        finally:
            self._writing.release()

    def refresh(self) -> str | None:
        """Bring the copy up to date, by one small request if it is; the version of what it holds then, if there is a catalog."""
        with self._changing:
            try:
                version, content = self._fetched()
            except FileNotFoundError:
                self.place.require_bucket()
                self.path.unlink(missing_ok=True)
                version = None
            else:
                if content is not None:
                    with self._room():
                        fresh = self._another()
                        fresh.write_bytes(content)
                        fresh.replace(self.path)
            self._version = version
            return version

    def _fetched(self) -> tuple[str, bytes | None]:
        """The version of the catalog, and its content unless it is the one here already."""
        known = self._version if self.path.exists() else None
        for _ in range(DOWNLOADS):
            with self.place.asking(), self.place.read(self.name) as source:
                version = _version(source.metadata())
                if version == known:
                    return version, None
                content = source.read()  # at once: one request sees one version
            if _complete(content):
                break
        return version, content

    @contextmanager
    def working(self) -> Iterator[Path]:
        """A file of the same content to work on; without a catalog it is not there yet."""
        path = self._another()
        try:
            with self._room():
                if self._version is not None:
                    shutil.copyfile(self.path, path)
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _another(self) -> Path:
        return self.path.with_name(f"{uuid.uuid4().hex}.sqlite")

    @contextmanager
    def _room(self) -> Iterator[None]:
        """What a disk without room says, with what to do."""
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            yield
        except OSError as error:
            message = f"The copy of the catalog cannot be kept in {folder} ({error}). Make room there, or set TMPDIR."
            raise StoreError(message, path=str(folder)) from error

    def publish(self, working: Path, version: str | None, lease: Lease) -> None:
        """Let a catalog count in the object store, in the place of the version that it was made from."""
        lease.upload(working)
        lease.require()
        if self._current() != version:
            raise _overtaken(self.place)
        try:
            self.place.copy(lease.path(UPLOAD), self.name)
        except BaseException:
            lease.expire()  # it may still be under way: nobody writes before that is over
            raise
        with self._changing, suppress(StoreError, OSError):  # it counts, whatever comes now
            self._version = None
            working.replace(self.path)
            version = self._current()
            lease.require()  # then nobody has committed since, and this is the version of what is here
            self._version = version

    def _current(self) -> str | None:
        try:
            with self.place.asking(), self.place.read(self.name) as source:
                return _version(source.metadata())
        except FileNotFoundError:
            return None


class Lease:
    """The right to commit, for the length of a ``with`` block."""

    def __init__(self, place: Location) -> None:
        self.place = place
        self.owner = uuid.uuid4().hex
        self._put_so_far: set[str] = set()
        self._keeps_claim = False
        self._over = threading.Event()
        self._renewing = threading.Thread(target=self._renew, daemon=True)

    def path(self, kind: str) -> str:
        """Where a file of this writer lies."""
        return f"{WRITERS}/{self.owner}.{kind}"

    def upload(self, catalog: Path) -> None:
        """Put a catalog beside the live one."""
        with self._put(UPLOAD) as sink, catalog.open("rb") as source:
            shutil.copyfileobj(source, sink, CHUNK)

    def require(self) -> None:
        """That nobody has taken this lease for a dead writer's."""
        if not self.place.exists(self.path(CLAIM)):
            raise _overtaken(self.place)

    def expire(self) -> None:
        """Leave the claim behind, so that others wait until it has run out."""
        self._keeps_claim = True

    def __enter__(self) -> Lease:
        try:
            self._wait()
            self._renewing.start()
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._renewing.join()
        self._give_back()

    def _wait(self) -> None:
        until, pause = time.monotonic() + BUSY_SECONDS, 0.05
        while not self._taken():
            self._give_back()
            if time.monotonic() > until:
                raise _busy(self.place)
            time.sleep(random.SystemRandom().uniform(0, pause))
            pause = min(2 * pause, 1.0)

    def _taken(self) -> bool:
        """Claim, and see whether nobody else does."""
        self._claim(CLAIM)
        while True:
            found = self._writers()
            mine = found.pop(self.owner, {})
            if CLAIM not in mine:
                return False
            oldest = mine[CLAIM].written - LEASE_SECONDS - ROUNDING
            dead = [files for files in found.values() if not _alive(files, oldest)]
            if len(dead) < len(found):
                return False
            if not dead:
                return True
            for files in dead:
                self._remove(files)

    def _writers(self) -> dict[str, dict[str, Stored]]:
        """What lies below ``writers/``, by owner and kind."""
        found: defaultdict[str, dict[str, Stored]] = defaultdict(dict)
        for stored in self.place.files(WRITERS):
            owner, _, kind = stored.path.removeprefix(f"{WRITERS}/").partition(".")
            if kind in (CLAIM, RENEWED, UPLOAD):
                found[owner][kind] = stored
        return found

    def _remove(self, files: dict[str, Stored]) -> None:
        """Take away a dead writer's files; the claim first, so that it learns of it before it copies."""
        for kind in (CLAIM, RENEWED, UPLOAD):
            if kind in files:
                self.place.remove(files[kind].path)

    def _claim(self, kind: str) -> None:
        with self._put(kind) as file:
            file.write(b"ledgerframes")

    @contextmanager
    def _put(self, kind: str) -> Iterator[Digesting]:
        self._put_so_far.add(kind)
        with self.place.write(self.path(kind)) as file:
            yield file

    def _renew(self) -> None:
        while not self._over.wait(LEASE_SECONDS / 4):
            # Not the claim itself: one that was taken away must stay away.
            with suppress(StoreError):
                self._claim(RENEWED)

    def _give_back(self) -> None:
        """Delete what is ours, the claim last; what cannot be deleted runs out."""
        with suppress(StoreError):
            for kind in (UPLOAD, RENEWED, CLAIM):
                if kind in self._put_so_far and not (kind == CLAIM and self._keeps_claim):
                    self.place.remove(self.path(kind))


def _alive(files: dict[str, Stored], oldest: float) -> bool:
    """Whether a writer has a claim, and has written something of late."""
    return CLAIM in files and max(stored.written for stored in files.values()) >= oldest


def _complete(content: bytes) -> bool:
    """Whether a catalog has the size that its header says: it may have been replaced between two requests."""
    page, pages = int.from_bytes(content[16:18]), int.from_bytes(content[28:32])
    return len(content) == (65_536 if page == 1 else page) * pages


def _version(metadata: dict[str, bytes]) -> str:
    """Names the content of an object."""
    return " ".join(str(metadata.get(name)) for name in ("ETag", "Last-Modified", "Content-Length"))


@functools.cache
def local_copy(place: Location, name: str) -> LocalCopy:
    """The one copy of a catalog in this process."""
    return LocalCopy(place, name)


@functools.cache
def scratch() -> Path:
    """The folder of this process for copies of catalogs; it goes when the process ends."""
    folder = Path(tempfile.gettempdir()) / f"ledgerframes-{uuid.uuid4().hex}"  # made at the first write
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _busy(place: Location) -> StoreError:
    return StoreError(
        f"Others have been writing to {place} for {BUSY_SECONDS:.0f} s without a pause. "
        "Run again when they have ended; nothing of this commit was kept.",
        path=str(place),
    )


def _overtaken(place: Location) -> StoreError:
    return StoreError(
        f"Another process has begun to write to {place}, because this one had not been heard of for {LEASE_SECONDS:.0f} s. "
        "Run again; nothing of this commit was kept.",
        path=str(place),
    )
