"""Items of a page that cannot be decoded, told apart from the good ones."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from ledgerframes.api.response import Response
from ledgerframes.datasets._boundary import DATA_ERRORS, decode_boundary
from ledgerframes.datasets._decode import decode
from ledgerframes.datasets._structs import Wire
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.wire import Event, EventsPage
from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.extents import microseconds
from ledgerframes.loaders.additions import Additions
from ledgerframes.network import Network
from ledgerframes.store.location import not_writable_error
from ledgerframes.windows import instant

__all__ = ["BadItem", "OnBadItem", "bad_item", "decode_items", "quarantine", "require_on_bad_item", "settle"]

MAX_MIGRATIONS = 1_000_000
OnBadItem = Literal["raise", "quarantine"]

logger = logging.getLogger("ledgerframes")


@dataclass(frozen=True)
class BadItem:
    """An item that cannot be decoded, or is no row of the tables.

    Attributes
    ----------
    content : bytes
    error : DecodeError
        Names the operation, the path, the update and the reason.
    position : tuple or None
        Migration id and record time in microseconds, as far as they can be read.
    """

    content: bytes
    error: DecodeError
    position: tuple[int, int] | None


class _RawPage(Wire):
    """A page whose items stay bytes."""

    events: list[msgspec.Raw]


def decode_items(response: Response) -> list[Event | BadItem]:
    """Return the events of a page, and for each that cannot be decoded what is wrong with it.

    Raises
    ------
    DecodeError
        If the page is not a list of items.
    """
    try:
        events = response.decode(EventsPage).events
        with decode_boundary(response.endpoint):
            event_tables(events, "listing")
    except DecodeError:
        items = _tell_apart(list(enumerate(map(bytes, response.decode(_RawPage).events))), response.endpoint)
        if not any(isinstance(item, BadItem) for item in items):  # it is the page that cannot be decoded
            raise
        return items
    return [*events]


def _tell_apart(items: Sequence[tuple[int, bytes]], endpoint: str) -> list[Event | BadItem]:
    """Return the events of numbered items, halved until the bad ones are alone."""
    if len(items) <= 1:
        return [_decode_item(content, number, endpoint) for number, content in items]
    try:
        events = [decode(content, Event, endpoint) for _, content in items]
        with decode_boundary(endpoint):
            event_tables(events, "listing")
    except DecodeError:
        middle = len(items) // 2
        return [*_tell_apart(items[:middle], endpoint), *_tell_apart(items[middle:], endpoint)]
    return [*events]


def _decode_item(content: bytes, number: int, endpoint: str) -> Event | BadItem:
    update_id, position = _identity(content)
    try:
        event = decode(content, Event, endpoint)
        with decode_boundary(endpoint, update_id=update_id):
            event_tables([event], "listing")
    except DecodeError as error:
        return bad_item(content, number, endpoint, update_id, error, "$.events", position)
    return event


def bad_item(
    content: bytes,
    number: int,
    endpoint: str,
    update_id: str,
    error: DecodeError,
    path: str,
    position: tuple[int, int] | None = None,
) -> BadItem:
    """Return an item that cannot be decoded, with an error that names it.

    Parameters
    ----------
    content : bytes
    number : int
        Position of the item in its page.
    endpoint, update_id : str
    error : DecodeError
        From decoding the item alone.
    path : str
        JSON path of the list of items.
    position : tuple, optional
    """
    whole_path = f"{path}[{number}]{error.json_path.removeprefix('$').removeprefix('.updates[0]').removeprefix('[0]')}"
    reason = str(error).removeprefix(f"Unexpected response from {endpoint}: ")
    reason = reason.replace(f" at {error.json_path}.", f" at {whole_path}.")
    failure = DecodeError(
        f"Item {number} of a page from {endpoint} (update {update_id or 'unknown'}) cannot be decoded: {reason}",
        endpoint=endpoint,
        json_path=whole_path,
        column=error.column,
        update_id=update_id,
        kind=error.kind,
    )
    return BadItem(content, failure, position)


def _identity(content: bytes) -> tuple[str, tuple[int, int] | None]:
    """Return update id and position of an item, as far as they can be read."""
    try:
        item: Any = msgspec.json.decode(content)
        part = item.get("update") or item.get("verdict")
        update_id = str(part.get("update_id") or "")
    except (*DATA_ERRORS, AttributeError):
        return "", None
    try:
        migration_id = int((part.get("event") or part)["migration_id"])
        position = (migration_id, microseconds(instant(part["record_time"])))
    except (*DATA_ERRORS, AttributeError, UsageError):
        return update_id, None
    # A position that no event can have would end the listing of the window.
    return update_id, position if 0 <= migration_id < MAX_MIGRATIONS else None


def require_on_bad_item(value: object) -> None:
    """Raise UsageError unless a value can be passed as ``on_bad_item=``."""
    if value not in get_args(OnBadItem):
        raise UsageError(f"Unknown on_bad_item {value!r}. Choose from {', '.join(get_args(OnBadItem))}.")


def settle(net: Network, items: Iterable[BadItem], on_bad_item: OnBadItem | None, additions: Additions) -> None:
    """Raise the error of the first item, or keep the bytes of each and note its kind.

    Raises
    ------
    DecodeError
        With ``raise``, if there is an item.
    StoreError
        If a file cannot be written.
    """
    for item in items:
        if on_bad_item != "quarantine":
            raise item.error
        quarantine(net, item)
        additions.note_error(item.error)


def quarantine(net: Network, item: BadItem) -> Path:
    """Write the bytes of an item to a file below the store, and log where.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    directory = net.local_dir / "quarantine"
    path = directory / f"item_{hashlib.sha256(item.content).hexdigest()[:16]}.json"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        path.write_bytes(item.content)
    except OSError as error:
        raise not_writable_error(directory, error) from error
    update_id = item.error.update_id or "unknown"
    logger.warning("item_quarantined network=%s update_id=%s path=%s error=%s", net.name, update_id, path, item.error)
    return path
