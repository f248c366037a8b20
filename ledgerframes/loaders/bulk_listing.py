"""Bulk objects listed by the network, named by key, or found on the disk."""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

import msgspec

from ledgerframes.api.paging import PageChain
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.datasets.bulk.wire import ActiveContractsListing, ObjectRef, UpdatesListing
from ledgerframes.datasets.extras import unknown_members
from ledgerframes.errors import BadRequestError, DecodeError, NotFoundError, ServiceError, UsageError, WrongUrlError
from ledgerframes.loaders.bulk_object import BulkTask
from ledgerframes.loaders.digest_files import saved_digest
from ledgerframes.network import Network
from ledgerframes.store.location import digest_of
from ledgerframes.values.windows import Window, instant, iso

logger = logging.getLogger("ledgerframes")

UPDATES, SNAPSHOTS = "POST /v0/history/bulk/updates", "GET /v0/history/bulk/acs"
PAGE_SIZE = 1000  # A folder is never split over pages, and a folder that does not fit is an error.
KEYS_PER_REQUEST = 100
SUFFIX = ".zstd"
ENCODINGS = ("compact_json", None, "protobuf_json")  # the preferred first, None for keys of the old form


@dataclass(frozen=True)
class BulkFolder:
    """A day of updates, or an ACS snapshot, with all its objects in order."""

    name: str  # ends with a slash, as no object key does
    since: datetime
    until: datetime
    tasks: tuple[BulkTask, ...]


def folders_of_updates(net: Network, window: Window) -> list[BulkFolder]:
    """Return the folders of updates that overlap a window, if the network has them."""
    with _require_storage(net, "bulk objects", "Use load_events"):
        return _folders(_list_updates(net, window), "updates")


def snapshot_folder(net: Network, at: datetime) -> BulkFolder:
    """Return the newest ACS snapshot at or before a time."""
    with _require_storage(net, f"active contracts at or before {iso(at)}", "Pass a later at="):
        listing = net.history.bulk_active_contracts(at)
        _note_members(net, SNAPSHOTS, listing)
    folders = _folders(listing.object_refs, "acs")
    if len(folders) == 1 and folders[0].since == instant(listing.record_time):
        return folders[0]
    raise DecodeError(f"The snapshot of {listing.record_time} is listed with objects of {len(folders)} folders.")


@contextmanager
def _require_storage(net: Network, noun: str, step: str) -> Iterator[None]:
    """Raise UsageError for a network with no or empty bulk storage.

    Such a network returns 400, 404 or 501 (docs/facts.md#bulk-storage).
    """
    try:
        yield
    except WrongUrlError:
        raise
    except ServiceError as error:
        if not (isinstance(error, NotFoundError | BadRequestError) or error.status == 501):
            raise
        raise UsageError(
            f"{net.name} lists no {noun} ({error.detail or error.status}). {step}, or pass paths= of objects on this machine."
        ) from error


def _list_updates(net: Network, window: Window) -> Iterator[ObjectRef]:
    token, chain = None, PageChain(UPDATES)
    while True:
        page = net.history.bulk_updates(window.since, window.until, page_size=PAGE_SIZE, page_token=token)
        _note_members(net, UPDATES, page)
        yield from page.object_refs
        # For a window that ends in the future, the token returns with an empty page (docs/facts.md#bulk-listing-order).
        if not page.object_refs and page.next_page_token == token:
            return
        token = chain.next_token(page.next_page_token, msgspec.json.encode(page.object_refs))
        if token is None:
            return


def _note_members(net: Network, endpoint: str, listing: UpdatesListing | ActiveContractsListing) -> None:
    """Log the unknown members of a listing, which no row has."""
    net.history.note_around(endpoint, unknown_members(listing))


def _folders(refs: Iterable[ObjectRef], kind: str) -> list[BulkFolder]:
    digests = {key: ref.digest for ref in refs if (key := ObjectKey.from_url(ref.url)).kind == kind}
    folders: dict[str, list[ObjectKey]] = {}
    for key in sorted(digests, key=lambda key: key.sort_key):
        folders.setdefault(key.key.partition("/")[0] + "/", []).append(key)
    folders = {name: _in_one_encoding(keys) for name, keys in folders.items()}
    for name, keys in folders.items():
        numbers = [key.index for key in keys]
        if numbers != list(range(len(numbers))):
            raise DecodeError(f"The listing of {name} is incomplete, with objects {', '.join(map(str, numbers[:5]))}, ….")
    return [
        BulkFolder(name, keys[0].since, keys[0].until, tuple(_task(key, digests[key]) for key in keys))
        for name, keys in folders.items()
    ]


def _in_one_encoding(keys: list[ObjectKey]) -> list[ObjectKey]:
    """Return the keys of the preferred encoding, because another one has the same lines."""
    first = min((key.encoding for key in keys), key=ENCODINGS.index)
    return [key for key in keys if key.encoding == first]


def _task(key: ObjectKey, digest: str | None) -> BulkTask:
    return BulkTask(key.key, key, sha256=_parse_digest(digest))


def _parse_digest(digest: str | None) -> str | None:
    """Return a base64 digest as hexadecimal digits, or None if it is invalid."""
    if not digest:
        return None
    try:
        raw = base64.b64decode(digest, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != hashlib.sha256().digest_size:
        logger.warning("digest_invalid digest=%s", digest[:80])
        return None
    return raw.hex()


def tasks_by_key(net: Network, keys: list[ObjectKey]) -> list[BulkTask]:
    """Return a task per key, with the digest if the network lists it."""
    digests = _list_digests(net, [key.key for key in keys])
    return [_task(key, digests.get(key.key)) for key in keys]


def parse_keys(object_keys: Iterable[str], kind: str) -> list[ObjectKey]:
    """Return keys in the order of their lines, including keys that were percent-encoded."""
    is_one = isinstance(object_keys, str) or not isinstance(object_keys, Iterable)
    texts = [] if is_one else list(object_keys)
    if is_one or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"object_keys= must be a list of keys, got {object_keys!r}.")
    keys = sorted({_require_kind(ObjectKey.parse(unquote(text)), kind) for text in texts}, key=lambda key: key.sort_key)
    _require_one_encoding(keys)
    return keys


def _require_one_encoding(keys: Iterable[ObjectKey]) -> None:
    """Raise a UsageError if two keys name the same lines, whose rows would count twice."""
    seen: dict[object, ObjectKey] = {}
    for key in keys:
        other = seen.setdefault(key.position, key)
        if other.key != key.key:
            raise UsageError(f"{other.key} and {key.key} have the same lines in two encodings. Load each into its own store.")


def require_new_lines(keys: Iterable[ObjectKey], stored_keys: Collection[str]) -> None:
    """Raise a UsageError for a new key whose lines are in the store in another encoding.

    Queries read all objects that were named, so its rows would count twice in them.
    """
    by_position = {key.position: key for text in stored_keys if (key := ObjectKey.from_path(text))}
    for key in keys:
        other = by_position.get(key.position)
        if other and key.key not in stored_keys:
            raise UsageError(
                f"{key.key} has the same lines as {other.key} in the store, in another encoding. Load it into another store."
            )


def _require_kind(key: ObjectKey, kind: str) -> ObjectKey:
    if key.kind != kind:
        raise UsageError(f"{key.key} contains {key.kind}, not {kind}. Pass kind={key.kind!r}.")
    return key


def _list_digests(net: Network, keys: list[str]) -> dict[str, str]:
    """Return the digests of keys, except for requests that fail because of an unknown key."""
    digests: dict[str, str] = {}
    for start in range(0, len(keys), KEYS_PER_REQUEST):
        batch = keys[start : start + KEYS_PER_REQUEST]
        try:
            digests.update(zip(batch, net.history.bulk_checksums(batch), strict=True))
        except (NotFoundError, BadRequestError, ValueError):
            logger.warning("digests_unavailable network=%s objects=%d", net.name, len(batch))
    return digests


def tasks_by_path(paths: Iterable[str | Path] | str | Path, kind: str) -> list[BulkTask]:
    """Return a task per file, and per object below a directory."""
    several = [paths] if isinstance(paths, str | Path) or not isinstance(paths, Iterable) else list(paths)
    invalid = [path for path in several if not isinstance(path, str | Path)]
    if invalid:
        raise UsageError(f"paths= must be paths of files or directories, got {invalid[0]!r}.")
    tasks = {task.object_key: task for path in several for task in _file_tasks(Path(path), kind)}
    _require_one_encoding(task.key for task in tasks.values() if task.key)
    return sorted(tasks.values(), key=lambda task: (False, task.key.sort_key) if task.key else (True, task.object_key))


def _file_tasks(path: Path, kind: str) -> list[BulkTask]:
    files = [path] if path.is_file() else sorted(file for file in path.rglob(f"*{SUFFIX}") if file.is_file())
    if not files:
        problem = f"contains no *{SUFFIX} files" if path.is_dir() else "does not exist"
        raise UsageError(f"{path} {problem}. Pass paths= of bulk objects, or of directories that contain some.")
    return [_file_task(file, kind) for file in files]


def _file_task(file: Path, kind: str) -> BulkTask:
    key = ObjectKey.from_path(file)
    sha256 = saved_digest(file)
    if key is not None:
        return BulkTask(key.key, _require_kind(key, kind), path=str(file.absolute()), sha256=sha256)
    if kind == "acs":
        raise UsageError(f"{file} is not named by the key of an ACS object, which contains the snapshot time. Rename the file.")
    return BulkTask(f"sha256:{digest_of(file)}", None, path=str(file.absolute()), sha256=sha256)
