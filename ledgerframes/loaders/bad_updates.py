"""Updates of a participant's page that cannot be decoded, told apart from the good ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from ledgerframes.api.response import Response
from ledgerframes.datasets._boundary import DATA_ERRORS
from ledgerframes.datasets._structs import Offset
from ledgerframes.datasets.ledger.wire import PAGE, LedgerStruct, UpdatesPage, decode_page
from ledgerframes.errors import DecodeError
from ledgerframes.loaders.bad_items import BadItem, bad_item

__all__ = ["BadUpdate", "decode_updates"]


@dataclass(frozen=True)
class BadUpdate:
    """A bad item, and the offsets ``after < offset <= through`` that it can have."""

    item: BadItem
    after: int
    through: int


class _RawUpdates(LedgerStruct):
    """A page of updates whose items stay bytes."""

    lowest_page_offset_exclusive: Offset
    highest_page_offset_inclusive: Offset
    updates: list[msgspec.Raw]
    next_page_token: str | None = None


def decode_updates(response: Response, check: Callable[[UpdatesPage], object]) -> tuple[UpdatesPage, list[BadUpdate]]:
    """Return a page of updates without those that cannot be decoded, and these.

    Parameters
    ----------
    response : Response
    check : callable
        Raises DecodeError for a page that is no rows of the tables.

    Raises
    ------
    DecodeError
        If the response is not a page.
    """
    try:
        page = decode_page(response.body)
        check(page)
    except DecodeError:
        page, bad_updates = _by_item(response.decode(_RawUpdates), check)
        if not bad_updates:  # it is the page that cannot be decoded
            raise
        return page, bad_updates
    return page, []


def _by_item(raw: _RawUpdates, check: Callable[[UpdatesPage], object]) -> tuple[UpdatesPage, list[BadUpdate]]:
    start, stop = raw.lowest_page_offset_exclusive, raw.highest_page_offset_inclusive
    page = UpdatesPage(start, stop, [], raw.next_page_token)
    errors: dict[int, DecodeError] = {}
    for number, content in enumerate(raw.updates):
        one = {"lowestPageOffsetExclusive": start, "highestPageOffsetInclusive": stop, "updates": [content]}
        try:
            single = decode_page(msgspec.json.encode(one))
            check(single)
            page.updates.extend(single.updates)
        except DecodeError as error:
            errors[number] = error
    identities = [_identity(bytes(content)) for content in raw.updates]
    offsets = [offset if offset is not None and start < offset <= stop else None for _, offset in identities]
    return page, [
        BadUpdate(
            bad_item(bytes(raw.updates[number]), number, PAGE, identities[number][0], error, "$.updates"),
            *_bounds(offsets, number, start, stop),
        )
        for number, error in errors.items()
    ]


def _bounds(offsets: list[int | None], number: int, start: int, stop: int) -> tuple[int, int]:
    """Return the offsets that an item can have, its own or those between its neighbors."""
    if (own := offsets[number]) is not None:
        return own - 1, own
    known = [offset for offset in offsets if offset is not None]
    is_descending = len(known) > 1 and known[0] > known[-1]
    before = [offset for offset in offsets[:number] if offset is not None]
    after = [offset for offset in offsets[number + 1 :] if offset is not None]
    lower, upper = (after, before) if is_descending else (before, after)
    return max(lower, default=start), min(upper, default=stop + 1) - 1


def _identity(content: bytes) -> tuple[str, int | None]:
    """Return update id and offset of an update, as far as they can be read."""
    try:
        item: Any = msgspec.json.decode(content)
        [value] = item["update"].values()
        value = value.get("value", value)
        return str(value.get("updateId") or ""), int(value["offset"])
    except (*DATA_ERRORS, AttributeError):
        return "", None
