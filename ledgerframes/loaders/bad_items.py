"""Items that cannot be decoded, found among the good ones and kept in quarantine."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from ledgerframes.errors import DecodeError
from ledgerframes.loaders.additions import Additions
from ledgerframes.network import Network
from ledgerframes.store.location import not_writable_error
from ledgerframes.store.private_files import make_durable_dir, open_to_write
from ledgerframes.values.extents import ExtentRange

OnBadItem = Literal["raise", "quarantine"]
T = TypeVar("T")

logger = logging.getLogger("ledgerframes")


@dataclass(frozen=True)
class BadItem:
    """An item that cannot be decoded, or cannot become a row."""

    content: bytes
    error: DecodeError  # names the operation, the path, the update and the reason
    extent: ExtentRange | None = None  # where the item may be, which is provisional


def find_errors(items: Sequence[T], check: Callable[[Sequence[T]], object], first: int = 0) -> dict[int, DecodeError]:
    """Return the errors of bad items by their positions.

    `check` raises DecodeError if any item cannot become a row. The items are halved until each bad one stands alone.
    """
    if not items:
        return {}
    try:
        check(items)
    except DecodeError as error:
        if len(items) == 1:
            return {first: error}
        middle = len(items) // 2
        return find_errors(items[:middle], check, first) | find_errors(items[middle:], check, first + middle)
    return {}


def bad_item(
    content: bytes,
    error: DecodeError,
    number: int,
    path: str,
    update_id: str = "",
    extent: ExtentRange | None = None,
) -> BadItem:
    """Return an item with an error that names it, based on the error of decoding it alone."""
    whole_path = f"{path}[{number}]{error.json_path.removeprefix('$').removeprefix('.updates[0]').removeprefix('[0]')}"
    reason = str(error).removeprefix(f"Unexpected response from {error.endpoint}: ")
    reason = reason.replace(f" at {error.json_path}.", f" at {whole_path}.")
    failure = DecodeError(
        f"Item {number} of a page from {error.endpoint} (update {update_id or 'unknown'}) cannot be decoded: {reason}",
        endpoint=error.endpoint,
        json_path=whole_path,
        column=error.column,
        update_id=update_id,
        kind=error.kind,
    )
    return BadItem(content, failure, extent)


def settle(net: Network, items: Iterable[BadItem], on_bad_item: OnBadItem, additions: Additions) -> None:
    """Raise the error of the first item, or save the bytes of each and note its kind."""
    for item in items:
        if on_bad_item == "raise":
            raise item.error
        _quarantine(net, item)
        additions.note_error(item.error)


def _quarantine(net: Network, item: BadItem) -> None:
    """Write the bytes of an item to a file below the store, and log where."""
    directory = net.local_dir / "quarantine"
    path = directory / f"item_{hashlib.sha256(item.content).hexdigest()[:16]}.json"
    try:
        make_durable_dir(directory, net.local_dir.parent)
        with open_to_write(path) as file:
            file.write(item.content)
    except OSError as error:
        raise not_writable_error(directory, error) from error
    update_id = item.error.update_id or "unknown"
    logger.warning("item_quarantined network=%s update_id=%s path=%s error=%s", net.name, update_id, path, item.error)
