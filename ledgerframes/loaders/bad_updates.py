"""Pages of a participant's updates, and the updates on them that cannot be decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pyarrow as pa

from ledgerframes.api.response import Response
from ledgerframes.datasets.boundary import DATA_ERRORS
from ledgerframes.datasets.ledger.wire import LedgerStruct, UpdatesPage, decode_page
from ledgerframes.datasets.structs import Offset
from ledgerframes.errors import DecodeError
from ledgerframes.loaders.bad_items import BadItem, bad_item, find_errors
from ledgerframes.loaders.ledger_filter import LedgerFilter
from ledgerframes.values.extents import OffsetRange

Decoded = tuple[UpdatesPage, dict[str, pa.Table]]


class _RawUpdates(LedgerStruct):
    """A page of updates whose items stay bytes."""

    lowest_page_offset_exclusive: Offset
    highest_page_offset_inclusive: Offset
    updates: list[msgspec.Raw]
    next_page_token: str | None = None


def decode_updates(response: Response, ledger_filter: LedgerFilter) -> tuple[UpdatesPage, dict[str, pa.Table], list[BadItem]]:
    """Return a page without the updates that cannot be decoded, its tables, and these updates.

    Raises
    ------
    DecodeError
        If the response is not a page.
    """
    try:
        return *_decode(response.body, response.endpoint, ledger_filter), []
    except DecodeError:
        raw = response.decode(_RawUpdates)
        errors = find_errors(raw.updates, lambda some: _decode_some(raw, some, response.endpoint, ledger_filter))
        if not errors:  # the page itself cannot be decoded
            raise
    good = [content for number, content in enumerate(raw.updates) if number not in errors]
    return *_decode_some(raw, good, response.endpoint, ledger_filter), _bad_items(raw, errors, ledger_filter)


def _decode(body: bytes, endpoint: str, ledger_filter: LedgerFilter) -> Decoded:
    page = decode_page(body, endpoint)
    return page, ledger_filter.tables(page, endpoint)


def _decode_some(raw: _RawUpdates, updates: Sequence[msgspec.Raw], endpoint: str, ledger_filter: LedgerFilter) -> Decoded:
    body = {
        "lowestPageOffsetExclusive": raw.lowest_page_offset_exclusive,
        "highestPageOffsetInclusive": raw.highest_page_offset_inclusive,
        "updates": updates,
        "nextPageToken": raw.next_page_token,
    }
    return _decode(msgspec.json.encode(body), endpoint, ledger_filter)


def _bad_items(raw: _RawUpdates, errors: dict[int, DecodeError], ledger_filter: LedgerFilter) -> list[BadItem]:
    page = ledger_filter.offset_range(raw.lowest_page_offset_exclusive, raw.highest_page_offset_inclusive)
    identities = [identity_of(content) for content in raw.updates]
    offsets = [offset if offset is not None and page.start < offset <= page.stop else None for _, offset in identities]
    bad_items = []
    for number, error in errors.items():
        extent = _possible_offsets(offsets, number, page)
        bad_items.append(bad_item(bytes(raw.updates[number]), error, number, "$.updates", identities[number][0], extent))
    return bad_items


def _possible_offsets(offsets: list[int | None], number: int, page: OffsetRange) -> OffsetRange:
    """Return the offsets that an item can have, its own or those between its neighbors."""
    if (own := offsets[number]) is not None:
        return replace(page, start=own - 1, stop=own)
    known = [offset for offset in offsets if offset is not None]
    is_descending = len(known) > 1 and known[0] > known[-1]
    before = [offset for offset in offsets[:number] if offset is not None]
    after = [offset for offset in offsets[number + 1 :] if offset is not None]
    lower, upper = (after, before) if is_descending else (before, after)
    return replace(page, start=max(lower, default=page.start), stop=min(upper, default=page.stop + 1) - 1)


def identity_of(content: msgspec.Raw) -> tuple[str, int | None]:
    """Return the update id and the offset of an update, if they can be read."""
    try:
        item: Any = msgspec.json.decode(content)
        [value] = [content for kind, content in item["update"].items() if kind[:1].isupper()]
        value = value.get("value", value)
        return str(value.get("updateId") or ""), int(value["offset"])
    except (*DATA_ERRORS, AttributeError):
        return "", None
