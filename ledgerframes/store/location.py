"""Where a store's files are: a local folder, or a prefix of a bucket in an object store."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

import pyarrow as pa
import pyarrow.fs as fs

from ledgerframes.errors import StoreError

OBJECT_STORE = "s3://"
# What the address may say after its question mark. Keys come from the environment.
OPTIONS: dict[str, Callable[[str], Any]] = {
    "region": str,
    "endpoint_override": str,
    "scheme": str,
    "tls_ca_file_path": str,
    "force_virtual_addressing": lambda text: text.lower() in ("1", "true"),
    "connect_timeout": float,
    "request_timeout": float,
}
# Seconds; each request is tried three times.
PATIENCE = {"connect_timeout": 5.0, "request_timeout": 10.0}


@dataclass(frozen=True)
class Stored:
    """What a listing says of one file: its path below the place, its size, and when it was written, in seconds."""

    path: str
    bytes: int
    written: float


@dataclass(frozen=True)
class Location:
    """A local folder or a prefix of a bucket; small, and passed to workers as it is.

    Attributes
    ----------
    root : str
        Absolute path of a folder, or ``s3://bucket/prefix``.
    options : str
        How the object store is reached, as the query of its URI.
    """

    root: str
    options: str = field(default="", repr=False)

    @classmethod
    def at(cls, root: str | Path) -> Location:
        """The place that a setting names."""
        text = str(root)
        if text.startswith(OBJECT_STORE):
            base, _, options = text.removeprefix(OBJECT_STORE).partition("?")
            return cls(f"{OBJECT_STORE}{base.rstrip('/')}", options)
        return cls(str(Path(text).expanduser().absolute()))

    def below(self, name: str) -> Location:
        """The place of that name inside this one."""
        return replace(self, root=f"{self.root}/{name}")

    @property
    def uri(self) -> str:
        """The place as a setting names it."""
        return f"{self.root}?{self.options}" if self.options else self.root

    @property
    def local(self) -> Path | None:
        """The folder, unless it is an object store."""
        return None if self.root.startswith(OBJECT_STORE) else Path(self.root)

    @property
    def bucket(self) -> str:
        """The name of the bucket; empty for a folder."""
        return "" if self.local else self.full().partition("/")[0]

    @property
    def filesystem(self) -> fs.FileSystem:
        """The file system, as Arrow knows it."""
        return fs.LocalFileSystem() if self.local else _object_store(self.bucket, self.options)

    def full(self, path: str = "") -> str:
        """A path below this place as the file system knows it."""
        base = self.root.removeprefix(OBJECT_STORE)
        return f"{base}/{path}" if path else base

    @contextmanager
    def asking(self) -> Iterator[None]:
        """What an object store refuses is an error with a next step; a missing file, and what a folder says, stay as they are.

        Raises
        ------
        StoreError
            If the object store does not answer, or refuses.
        """
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if self.local:
                raise
            raise refused(self, error) from error

    def require_bucket(self) -> None:
        """An object store without the bucket is an error; one that does not tell, because the keys may not ask, is none.

        Raises
        ------
        StoreError
            If there is no such bucket.
        """
        with suppress(OSError):
            if self.filesystem.get_file_info(self.bucket).type == fs.FileType.NotFound:
                raise refused(self, OSError("AWS Error NO_SUCH_BUCKET"))

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        with self.asking():
            return bool(self.filesystem.get_file_info(self.full(path)).type == fs.FileType.File)

    def read(self, path: str) -> pa.NativeFile:
        """Open a file for reading, anywhere in it.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        """
        with self.asking():
            return self.filesystem.open_input_file(self.full(path))

    @contextmanager
    def write(self, path: str) -> Iterator[Digesting]:
        """Write a new file: it is there, whole and safe on the disk, when the block ends without an error.

        In an object store a block that fails may leave a part, if it cannot be deleted; so nothing that counts is replaced by
        writing to its path, see :meth:`copy`.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        try:
            sink = self._sink(path)
        except OSError as error:
            raise unwritable(self, error) from error
        try:
            yield sink
            sink.settle()
        except OSError as error:
            self._forget(sink, path)
            raise unwritable(self, error) from error
        except BaseException:
            self._forget(sink, path)
            raise

    def _sink(self, path: str) -> Digesting:
        if self.local is None:
            return Digesting(self.filesystem.open_output_stream(self.full(path)))
        target = self.local / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return Digesting(target.open("wb"))

    def _forget(self, sink: Digesting, path: str) -> None:
        """Leave no half of a file behind, as far as that is possible: what no catalog names counts for nothing."""
        with suppress(OSError, StoreError):
            sink.abandon()  # an upload cannot be broken off, only finished
            self.remove(path)

    def files(self, under: str = "") -> Iterator[Stored]:
        """Every file below a folder of this place."""
        selector = fs.FileSelector(self.full(under), recursive=True, allow_not_found=True)
        base = len(self.full()) + 1
        with self.asking():
            found = self.filesystem.get_file_info(selector)
        for info in found:
            if info.type == fs.FileType.File:
                yield Stored(info.path[base:], info.size, info.mtime_ns / 1e9 if info.mtime_ns else 0.0)

    def folders(self) -> list[str]:
        """The names of the folders right below."""
        selector = fs.FileSelector(self.full(), allow_not_found=True)
        with self.asking():
            found = self.filesystem.get_file_info(selector)
        return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)

    def remove(self, path: str) -> None:
        """Delete a file, if it is there."""
        with suppress(FileNotFoundError), self.asking():
            self.filesystem.delete_file(self.full(path))

    def move(self, path: str, target: str) -> None:
        """Give a file another path below this place."""
        if self.local is not None:
            (self.local / target).parent.mkdir(parents=True, exist_ok=True)
        with self.asking():
            self.filesystem.move(self.full(path), self.full(target))

    def copy(self, path: str, target: str) -> None:
        """Copy a file inside an object store, in one request: readers see the target before or after, never in between."""
        with self.asking():
            self.filesystem.copy_file(self.full(path), self.full(target))

    def __str__(self) -> str:
        return self.root


@functools.cache
def _object_store(bucket: str, options: str) -> fs.S3FileSystem:
    """The object store that has a bucket; one connection pool for each bucket and process."""
    chosen = PATIENCE | _given(bucket, options)
    try:
        if not {"region", "endpoint_override"} & chosen.keys():
            chosen["region"] = fs.resolve_s3_region(bucket)
        # Without the delay, a small file would be three requests instead of one.
        return fs.S3FileSystem(**chosen, allow_delayed_open=True)
    except (OSError, ValueError) as error:
        raise refused(Location(f"{OBJECT_STORE}{bucket}", options), error) from error


def _given(bucket: str, options: str) -> dict[str, Any]:
    """What the address says of how the object store is reached."""
    try:
        if not bucket or "@" in bucket:
            raise ValueError(bucket)
        return {name: OPTIONS[name](value) for name, value in parse_qsl(options)}
    except (KeyError, ValueError):
        # Without the address: it may hold a key.
        raise StoreError(
            "The address of the object store cannot be used. Write s3://bucket/prefix, after a question mark only "
            f"{', '.join(OPTIONS)}, and give the keys as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        ) from None


class Digesting:
    """A file being written that knows its digest and size, so that it is not read again for them."""

    closed = False

    def __init__(self, file: BinaryIO | pa.NativeFile) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.bytes = 0

    def write(self, data: bytes) -> int:
        """Append bytes."""
        self._digest.update(data)
        self._file.write(data)
        size = memoryview(data).nbytes
        self.bytes += size
        return size

    def tell(self) -> int:
        """Bytes so far."""
        return self.bytes

    def flush(self) -> None:
        """Nothing: the end settles everything."""

    def close(self) -> None:
        """Nothing, too."""

    def settle(self) -> None:
        """Bring everything to the disk, and close."""
        self._file.flush()
        if not isinstance(self._file, pa.NativeFile):
            os.fsync(self._file.fileno())
        self.abandon()

    def abandon(self) -> None:
        """Close the file as it is."""
        self.closed = True
        self._file.close()

    def readable(self) -> bool:
        """It is only written."""
        return False

    def writable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It only goes on."""
        return False

    @property
    def sha256(self) -> str:
        """Digest of all that was written, as hexadecimal digits."""
        return self._digest.hexdigest()


# -- errors ---------------------------------------------------------------------------------------------------------

FAULT = re.compile(r"AWS Error (\w+)(?: \(HTTP status (\d+)\))?(?: during (\w+))?")
KEYS = (
    "Check the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: they must be allowed to list, read, write and delete there."
)
CLOCK = "Set this machine's clock, and try again."
# What the service calls it: what that means, and what to do.
FAULTS = {
    "NETWORK_CONNECTION": (
        "does not answer",
        "Check the network, and region, endpoint_override and scheme in the setting store.",
    ),
    "NO_SUCH_KEY": ("no longer has the file", "Run again."),
    "NO_SUCH_BUCKET": ("has no such bucket", "Create the bucket, or correct the setting store."),
    "ACCESS_DENIED": ("refuses the keys", KEYS),
    "INVALID_ACCESS_KEY_ID": ("does not know the keys", KEYS),
    "INVALID_CLIENT_TOKEN_ID": ("does not know the keys", KEYS),
    "SIGNATURE_DOES_NOT_MATCH": ("refuses the keys", KEYS),
    "REQUEST_EXPIRED": ("finds the request too old", CLOCK),
    "REQUEST_TIME_TOO_SKEWED": ("finds the request's time wrong", CLOCK),
    "301": ("has the bucket in another region", "Write region= into the setting store."),
    "400": ("does not understand the request", "Check region= and endpoint_override= in the setting store."),
    "403": ("refuses the keys", KEYS),
}
OTHER = ("cannot do it now", "Try again; if it stays so, check region, endpoint_override and scheme in the setting store.")


def refused(place: Location, error: Exception) -> StoreError:
    """The error for an object store that does not answer or refuses, in our words: what it says itself may hold anything."""
    found = FAULT.search(str(error))
    code, status, operation = found.groups() if found else (type(error).__name__, None, None)
    meaning, step = FAULTS.get(code) or FAULTS.get(status or "") or OTHER
    fact = f"{code}{f' {status}' if status else ''}{f' at {operation}' if operation else ''}"
    return StoreError(f"The object store of {place}{_endpoint(place)} {meaning} ({fact}). {step}", path=str(place))


def _endpoint(place: Location) -> str:
    host = dict(parse_qsl(place.options)).get("endpoint_override", "").rpartition("@")[2]
    return f" at {host}" if host else ""


def unwritable(place: Location | Path, error: Exception) -> StoreError:
    """The error for a store that cannot be written, with what to do."""
    if isinstance(place, Location) and not place.local:
        return refused(place, error)
    return StoreError(
        f"The store cannot be written at {place} ({error}). "
        "Set LEDGERFRAMES_STORE, or store= in the profile, to a folder that can.",
        path=str(place),
    )
