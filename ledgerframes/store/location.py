"""Location of a store's files, in a local directory or under a prefix of a bucket."""

from __future__ import annotations

import errno
import functools
import hashlib
import io
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

import pyarrow as pa
import pyarrow.fs as fs

from ledgerframes.errors import StoreError, UsageError
from ledgerframes.store.private_files import make_durable_dir, open_to_write

OBJECT_STORE = "s3://"
# Options in the query of the URI. Credentials come from the environment.
OPTIONS: dict[str, Callable[[str], Any]] = {
    "region": str,
    "endpoint_override": str,
    "scheme": str,
    "tls_ca_file_path": str,
    "force_virtual_addressing": lambda text: text.lower() in ("1", "true"),
    "connect_timeout": float,
    "request_timeout": float,
}
# Codes that a damaged disk reports, or Arrow for a damaged file. Any other code says nothing about the content.
DAMAGE_CODES = (errno.EIO, None)
FULL_CODES = (errno.ENOSPC, errno.EDQUOT)
MAX_LISTINGS = 5  # of a directory that other processes change
MAX_TAIL = 1 << 20  # bytes: more than the footer of any segment
TIMEOUTS = {"connect_timeout": 5.0, "request_timeout": 10.0}  # seconds; Arrow tries each request three times


@dataclass(frozen=True)
class FileInfo:
    """A listed file."""

    path: str  # below the location
    bytes: int
    modified_at: float  # seconds since 1970


@dataclass(frozen=True)
class Location:
    """A local directory or a prefix of a bucket, small enough to be sent to workers.

    Attributes
    ----------
    root : str
        Absolute path of a directory, or ``s3://bucket/prefix``.
    options : str
        Options of the object store, as the query of its URI.
    """

    root: str
    options: str = field(default="", repr=False)

    @classmethod
    def parse(cls, root: str | Path) -> Location:
        """Return the location that a setting names."""
        text = str(root)
        if text.startswith(OBJECT_STORE):
            base, _, options = text.removeprefix(OBJECT_STORE).partition("?")
            return cls(f"{OBJECT_STORE}{base.rstrip('/')}", options)
        return cls(str(Path(text).expanduser().absolute()))

    def child(self, name: str) -> Location:
        """Return the location of that name inside this one."""
        return replace(self, root=f"{self.root}/{name}")

    @property
    def uri(self) -> str:
        """The location as a setting names it."""
        return f"{self.root}?{self.options}" if self.options else self.root

    @property
    def local_path(self) -> Path | None:
        """The directory, or None for an object store."""
        return None if self.root.startswith(OBJECT_STORE) else Path(self.root)

    @property
    def bucket(self) -> str:
        """The name of the bucket, empty for a directory."""
        return "" if self.local_path else self.root.removeprefix(OBJECT_STORE).partition("/")[0]

    @property
    def filesystem(self) -> fs.SubTreeFileSystem:
        """The files below this location, by their paths relative to it."""
        base = fs.LocalFileSystem() if self.local_path else _object_store(self.bucket, self.options)
        return fs.SubTreeFileSystem(self.root.removeprefix(OBJECT_STORE), base)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Raise refusals as StoreError, but not a missing or damaged file."""
        try:
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            if self.local_path and error.errno in DAMAGE_CODES:
                raise
            raise inaccessible_error(self, error) from error

    def require_bucket(self) -> None:
        """Refuse an object store without the bucket, unless the credentials cannot look it up."""
        with suppress(OSError):
            if _object_store(self.bucket, self.options).get_file_info(self.bucket).type == fs.FileType.NotFound:
                raise object_store_error(self, OSError("AWS Error NO_SUCH_BUCKET"))

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""
        with self.translate_errors():
            return bool(self.filesystem.get_file_info(path).type == fs.FileType.File)

    def read(self, path: str) -> pa.NativeFile:
        """Open a file for random access."""
        with self.translate_errors():
            return self.filesystem.open_input_file(path)

    @contextmanager
    def write(self, path: str) -> Iterator[HashingWriter]:
        """Write a new file, which is complete and synced to disk when the block ends.

        In an object store a block that fails may leave a partial file if that cannot be deleted. For this reason no committed
        file is ever replaced by writing to its path, see :meth:`copy`.
        """
        try:
            sink = self._open_sink(path)
        except OSError as error:
            raise not_writable_error(self, error) from error
        try:
            yield sink
            sink.sync_and_close()
        except BaseException as error:
            with suppress(OSError, StoreError):
                sink.discard()  # Arrow cannot abort an upload, so it is completed and then deleted.
                self.remove(path)
            if isinstance(error, OSError):
                raise not_writable_error(self, error) from error
            raise

    def _open_sink(self, path: str) -> HashingWriter:
        if self.local_path is None:
            return HashingWriter(self.filesystem.open_output_stream(path))
        target = self.local_path / path
        make_durable_dir(target.parent, self.local_path.parent)
        return HashingWriter(open_to_write(target))

    def iter_files(self, directory: str = "") -> Iterator[FileInfo]:
        """Iterate over all files below a directory of this location."""
        for info in self._list(fs.FileSelector(directory, recursive=True, allow_not_found=True)):
            if info.type == fs.FileType.File:
                yield FileInfo(info.path, info.size, info.mtime_ns / 1e9 if info.mtime_ns else 0.0)

    def list_directories(self) -> list[str]:
        """Return the names of the directories of this location."""
        infos = self._list(fs.FileSelector("", allow_not_found=True))
        return sorted(info.base_name for info in infos if info.type == fs.FileType.Directory)

    def _list(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """List files, again if another process creates or removes a directory at the same time."""
        with self.translate_errors():
            self._require_no_file()
            for _ in range(MAX_LISTINGS - 1):
                with suppress(FileNotFoundError):
                    return list(self.filesystem.get_file_info(selector))
            return list(self.filesystem.get_file_info(selector))

    def _require_no_file(self) -> None:
        """Refuse the path of a file, below which everything would seem to be missing."""
        if path := self.local_path:
            for each in (path, path.parent):  # the directory of a network, and that of all networks
                if each.is_file():
                    raise not_writable_error(self, NotADirectoryError(f"{each} is a file"))

    def remove(self, path: str) -> None:
        """Delete a file, if it exists."""
        with suppress(FileNotFoundError), self.translate_errors():
            self.filesystem.delete_file(path)

    def move(self, path: str, target: str) -> None:
        """Move a file to another path below this location."""
        if self.local_path is not None:
            make_durable_dir((self.local_path / target).parent, self.local_path.parent)
        with self.translate_errors():
            self.filesystem.move(path, target)

    def copy(self, path: str, target: str) -> None:
        """Copy a file inside an object store, of which readers see all or nothing."""
        with self.translate_errors():
            self.filesystem.copy_file(path, target)

    def __str__(self) -> str:
        return self.root


@functools.cache
def _object_store(bucket: str, options: str) -> fs.S3FileSystem:
    """Return the file system of a bucket, with one connection pool in each process."""
    arguments = TIMEOUTS | _parse_options(bucket, options)
    try:
        if not {"region", "endpoint_override"} & arguments.keys():
            arguments["region"] = fs.resolve_s3_region(bucket)
        # With delayed opening, a small file takes one request instead of three.
        return fs.S3FileSystem(**arguments, allow_delayed_open=True)
    except (OSError, ValueError) as error:
        raise object_store_error(Location(f"{OBJECT_STORE}{bucket}", options), error) from error


def _parse_options(bucket: str, options: str) -> dict[str, Any]:
    try:
        if not bucket or "@" in bucket:
            raise ValueError(bucket)
        return {name: OPTIONS[name](value) for name, value in parse_qsl(options)}
    except (KeyError, ValueError):
        # The message leaves the URI out, because it may contain a secret.
        raise StoreError(
            f"The object store's URI is not valid. Write s3://bucket/prefix, with no other options than {', '.join(OPTIONS)}, "
            "and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        ) from None


class HashingWriter(io.RawIOBase):
    """A file being written that counts and hashes its bytes, so that nobody reads it again.

    ``close()`` leaves the file open: :meth:`Location.write` ends it with :meth:`sync_and_close` or :meth:`discard`.
    """

    def __init__(self, file: BinaryIO | pa.NativeFile) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.tail = b""  # the last bytes, in which the footer of a Parquet file is
        self.bytes = 0

    def write(self, data: Any) -> int:
        """Append bytes."""
        self._digest.update(data)
        self._file.write(data)
        size = memoryview(data).nbytes
        self.tail = (self.tail + bytes(data[-MAX_TAIL:]))[-MAX_TAIL:]
        self.bytes += size
        return size

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.bytes

    def writable(self) -> bool:
        """Return True."""
        return True

    def sync_and_close(self) -> None:
        """Sync all bytes to disk and close the file."""
        self._file.flush()
        if not isinstance(self._file, pa.NativeFile):
            os.fsync(self._file.fileno())
        self.discard()

    def discard(self) -> None:
        """Close the file as it is."""
        self._file.close()

    @property
    def sha256(self) -> str:
        """Digest of all bytes written, as hexadecimal digits."""
        return self._digest.hexdigest()


def local_path(name: str, path: str | os.PathLike[str], advice: str) -> Path:
    """Return an argument that is a path of this machine.

    The address of an object store would be taken for a directory here.
    """
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"{name}= must be a path, got {path!r}.")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)):
        raise UsageError(f"{name}= must be a path on this machine, got {str(path)!r}. {advice}")
    return Path(path)


def digest_of(path: Path) -> str:
    """Return the SHA-256 digest of a local file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- errors ---------------------------------------------------------------------------------------------------------

ERROR_CODE = re.compile(r"AWS Error (\w+)(?: \(HTTP status (\d+)\))?(?: during (\w+))?")
CHECK_KEYS = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may list, read, write and delete."
SET_CLOCK = "Set this machine's clock and try again."
# What failed and what to do, by the error code or the HTTP status.
ERROR_TEXTS = {
    "NETWORK_CONNECTION": (
        "does not respond",
        "Check the network, and region, endpoint_override and scheme in the setting store.",
    ),
    "NO_SUCH_KEY": ("no longer has the file", "Run again."),
    "NO_SUCH_BUCKET": ("has no such bucket", "Create the bucket, or correct the setting store."),
    "ACCESS_DENIED": ("rejected the keys", CHECK_KEYS),
    "INVALID_ACCESS_KEY_ID": ("rejected unknown keys", CHECK_KEYS),
    "INVALID_CLIENT_TOKEN_ID": ("rejected unknown keys", CHECK_KEYS),
    "SIGNATURE_DOES_NOT_MATCH": ("rejected the keys", CHECK_KEYS),
    "REQUEST_EXPIRED": ("rejected an expired request", SET_CLOCK),
    "REQUEST_TIME_TOO_SKEWED": ("rejected the request's time", SET_CLOCK),
    "301": ("has the bucket in another region", "Add region= to the setting store."),
    "400": ("rejected the request", "Check region= and endpoint_override= in the setting store."),
    "403": ("rejected the keys", CHECK_KEYS),
}
OTHER_ERROR = ("failed", "Try again, and check region, endpoint_override and scheme in the setting store.")


def object_store_error(location: Location, error: Exception) -> StoreError:
    """Return the error for an object store, without its own text, which may contain secrets."""
    match = ERROR_CODE.search(str(error))
    code, status, operation = match.groups() if match else (type(error).__name__, None, None)
    problem, step = ERROR_TEXTS.get(code) or ERROR_TEXTS.get(status or "") or OTHER_ERROR
    detail = f"{code}{f' {status}' if status else ''}{f' at {operation}' if operation else ''}"
    host = dict(parse_qsl(location.options)).get("endpoint_override", "").rpartition("@")[2]
    name = f"{location} at {host}" if host else str(location)
    return StoreError(f"The object store of {name} {problem} ({detail}). {step}", path=str(location))


def inaccessible_error(location: Location | Path, error: Exception) -> StoreError:
    """Return the error for a store that the system refuses to open."""
    if isinstance(location, Location) and not location.local_path:
        return object_store_error(location, error)
    return StoreError(
        f"Cannot access {location}: {error}. Remove the cause, or set LEDGERFRAMES_STORE or store= to another directory.",
        path=str(location),
    )


def not_writable_error(location: Location | Path, error: Exception) -> StoreError:
    """Return the error for a store that cannot be written."""
    if isinstance(location, Location) and not location.local_path:
        return object_store_error(location, error)
    is_full = getattr(error, "errno", 0) in FULL_CODES or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL
    step = "Free space there, or set" if is_full else "Set"
    return StoreError(
        f"The store cannot be written at {location} ({error}). "
        f"{step} LEDGERFRAMES_STORE, or store= in the profile, to {'another' if is_full else 'a writable'} directory.",
        path=str(location),
    )
