"""Which bulk objects there are to read: listed by the network, named by key, or files on the disk."""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.wire import ObjectRef
from ledgerframes.errors import BadRequestError, DecodeError, NotFoundError, ServiceError, UsageError
from ledgerframes.loaders.bulk_object import BulkTask
from ledgerframes.network import Network
from ledgerframes.windows import Window, instant, iso

__all__ = ["Folder", "files", "folders_of_updates", "named", "snapshot_folder"]

logger = logging.getLogger("ledgerframes")

PAGE_SIZE = 1000  # folders are never split over pages, and one that does not fit is an error
KEYS_AT_ONCE = 100
ENDING = ".zstd"


@dataclass(frozen=True)
class Folder:
    """A day of updates, or a snapshot of the active contracts, with all of its objects in order.

    Attributes
    ----------
    name : str
        Ends with a slash, as no object's key does.
    since, until : datetime
    tasks : tuple of BulkTask
    """

    name: str
    since: datetime
    until: datetime
    tasks: tuple[BulkTask, ...]


def folders_of_updates(net: Network, asked: Window, keep: str | None) -> list[Folder]:
    """The folders of updates that overlap a range, as far as the network has them.

    Raises
    ------
    UsageError
        If this network has no bulk storage.
    """
    with _storage_of(net, "bulk objects", "Load by range with load_events"):
        return _folders(list(_listed(net, asked)), "updates", keep)


def snapshot_folder(net: Network, at: datetime, keep: str | None) -> Folder:
    """The newest snapshot of the active contracts that is not after a time.

    Raises
    ------
    UsageError
        If there is none, or this network has no bulk storage.
    """
    with _storage_of(net, f"active contracts from {iso(at)} or before", "Give a later at=, if it has bulk objects at all"):
        listing = net.history.bulk_active_contracts(at)
    found = _folders(listing.object_refs, "acs", keep)
    if len(found) == 1 and found[0].since == instant(listing.record_time):
        return found[0]
    raise DecodeError(f"The snapshot of {listing.record_time} is listed with objects of {len(found)} folders.")


@contextmanager
def _storage_of(net: Network, wanted: str, instead: str) -> Iterator[None]:
    """Says of a network with no bulk storage, or nothing in it yet, what to do: it answers 400, 404 or 501.

    See docs/facts.md#bulk-storage.
    """
    try:
        yield
    except ServiceError as error:
        if not (isinstance(error, NotFoundError | BadRequestError) or error.status == 501):
            raise
        raise UsageError(
            f"{net.name} lists no {wanted} ({error.detail or error.status}). "
            f"{instead}, or read objects that you have with paths=."
        ) from error


def _listed(net: Network, asked: Window) -> Iterator[ObjectRef]:
    token: str | None = None
    while True:
        page = net.history.bulk_updates(asked.since, asked.until, page_size=PAGE_SIZE, page_token=token)
        yield from page.object_refs
        # When the range ends in the future the token comes back with an empty page (docs/facts.md#bulk-listing-order).
        if not page.object_refs or not page.next_page_token or page.next_page_token == token:
            return
        token = page.next_page_token


def _folders(refs: list[ObjectRef], kind: str, keep: str | None) -> list[Folder]:
    tasks = {key: _task(key, ref, keep) for ref in refs if (key := ObjectKey.from_url(ref.url)).kind == kind}
    folders: dict[str, list[BulkTask]] = {}
    for key in sorted(tasks, key=lambda key: key.sort_key):
        folders.setdefault(key.key.partition("/")[0] + "/", []).append(tasks[key])
    return [_folder(name, inside) for name, inside in folders.items()]


def _folder(name: str, tasks: list[BulkTask]) -> Folder:
    first = tasks[0].key
    assert first is not None
    numbers = [task.key.index for task in tasks if task.key]
    if numbers != list(range(len(numbers))):
        raise DecodeError(f"The listing of {name} lacks objects: it has the numbers {numbers[:5]} and so on.")
    return Folder(name, first.since, first.until, tuple(tasks))


def _task(key: ObjectKey, ref: ObjectRef, keep: str | None) -> BulkTask:
    return BulkTask(key.key, key, key.kind, sha256=_hex(ref.digest), keep=keep)


def _hex(digest: str | None) -> str | None:
    """A digest in base64 as hexadecimal digits; None for what is not one."""
    if not digest:
        return None
    try:
        raw = base64.b64decode(digest, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != hashlib.sha256().digest_size:
        logger.warning("a listed digest is not SHA-256 in base64: it is not checked")
        return None
    return raw.hex()


def named(net: Network, object_keys: Iterable[str], kind: str, keep: str | None) -> list[BulkTask]:
    """Tasks for keys, with their digests where the network gives them.

    Raises
    ------
    UsageError
        If one of them is not a key, or of another kind.
    """
    if isinstance(object_keys, str):
        raise UsageError("object_keys must be a list of keys, not one text.")
    keys = parsed(object_keys, kind)
    digests = _digests(net, [key.key for key in keys])
    return [BulkTask(key.key, key, key.kind, sha256=_hex(digests.get(key.key)), keep=keep, by_key=True) for key in keys]


def parsed(object_keys: Iterable[str], kind: str) -> list[ObjectKey]:
    """Keys as the listing's URLs hold them or as they are, in order of their lines.

    Raises
    ------
    UsageError
        If one of them is not a key, or of another kind, or two are the same object in two encodings.
    """
    keys = sorted({_of_kind(ObjectKey.parse(unquote(text)), kind) for text in object_keys}, key=lambda key: key.sort_key)
    places: dict[object, ObjectKey] = {}
    for key in keys:
        twin = places.setdefault((key.since, key.until, key.index), key)
        if twin is not key:
            raise UsageError(f"{twin.key} and {key.key} hold the same lines in two encodings. Load them one after the other.")
    return keys


def _of_kind(key: ObjectKey, kind: str) -> ObjectKey:
    if key.kind != kind:
        raise UsageError(f"{key.key} holds {key.kind}, not {kind}. Use kind={key.kind!r}.")
    return key


def _digests(net: Network, keys: list[str]) -> dict[str, str]:
    """The digests of keys; one that does not exist spoils its request, and is found out when it is downloaded."""
    found: dict[str, str] = {}
    for start in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[start : start + KEYS_AT_ONCE]
        try:
            found.update(zip(some, net.history.bulk_checksums(some), strict=True))
        except (NotFoundError, BadRequestError, ValueError):
            logger.warning("%s gives no digests for %d bulk objects: they are not checked", net.name, len(some))
    return found


def files(paths: Iterable[str | Path] | str | Path, kind: str) -> list[BulkTask]:
    """Tasks for files on the disk, and for all objects in folders.

    Raises
    ------
    UsageError
        If a file is not there, is of another kind, or an object of active contracts does not have its key for a name.
    """
    several = [paths] if isinstance(paths, str | Path) else paths
    tasks = {task.object_key: task for path in several for file in _objects_in(Path(path)) if (task := _file_task(file, kind))}
    return sorted(tasks.values(), key=_order)


def _order(task: BulkTask) -> tuple[bool, object]:
    return (True, task.object_key) if task.key is None else (False, task.key.sort_key)


def _objects_in(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.rglob(f"*{ENDING}") if file.is_file())
        if not found:
            raise UsageError(f"There is no *{ENDING} in {path}. Give bulk objects on this disk, or folders that hold some.")
        return found
    if not path.is_file():
        raise UsageError(f"There is no file {path}. Give bulk objects on this disk, or folders that hold some.")
    return [path]


def _file_task(file: Path, kind: str) -> BulkTask | None:
    key = ObjectKey.from_path(file)
    if key is not None:
        return BulkTask(key.key, _of_kind(key, kind), kind, path=str(file.absolute()), by_key=True)
    if kind == "acs":
        raise UsageError(f"{file} is not named like an object of active contracts, so nothing says when they were active.")
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return BulkTask(f"sha256:{digest}", None, kind, path=str(file.absolute()), by_key=True)
