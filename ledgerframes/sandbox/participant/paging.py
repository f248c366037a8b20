"""Pages of updates, their bounds and their tokens (docs/facts.md#update-page-request and docs/facts.md#update-page-response)."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from ..builder import encode
from ..canton import CantonError
from .formats import UpdateFormat
from .ledger import ParticipantLedger
from .projection import Update
from .rendering import Renderer

DEFAULT_SIZE, LARGEST_SIZE = 100, 2000
TOKEN_VERSION = 1


class PageRequest(msgspec.Struct, rename="camel"):
    """The body of get-updates-page."""

    update_format: UpdateFormat | None = None
    begin_offset_exclusive: int | None = None
    end_offset_inclusive: int | None = None
    max_page_size: int | None = None
    descending_order: bool | None = False
    page_token: str | None = None


class Token(msgspec.Struct, array_like=True):
    """What a page token carries: its version, the request's checksum, and where the next page begins."""

    version: int
    checksum: str
    position: int


DECODER = msgspec.msgpack.Decoder(Token)


def check_begin(ledger: ParticipantLedger, begin: int, what: str = "Updates request") -> None:
    """Refuse a lower bound that is negative or pruned."""
    if begin < 0:
        raise CantonError("NEGATIVE_OFFSET", f"Offset {begin} in begin_exclusive is a negative integer")
    pruned = ledger.pruned_through
    if 0 < begin < pruned:
        raise CantonError(
            "PARTICIPANT_PRUNED_DATA_ACCESSED",
            f"{what}: offset {begin} lies before {pruned}, through which the ledger is pruned",
            {"earliest_offset": str(pruned)},
        )


def check_end(ledger: ParticipantLedger, begin: int, end: int | None) -> int:
    """Return the upper bound, or the ledger end when none is given; refuse bad ones."""
    last = ledger.end()
    if end is not None and end <= 0:
        raise CantonError("NON_POSITIVE_OFFSET", f"Offset {end} in end_inclusive is not a positive integer")
    if end is not None and end > last:
        raise CantonError("OFFSET_AFTER_LEDGER_END", f"End offset ({end}) is after ledger end ({last})")
    if begin > last:
        raise CantonError("OFFSET_AFTER_LEDGER_END", f"Begin offset ({begin}) is after ledger end ({last})")
    if end is not None and end < begin:
        raise CantonError("INVALID_ARGUMENT", f"end offset {end} is before begin offset {begin}")
    return last if end is None else end


class Pager:
    """Answers one page request.

    Parameters
    ----------
    ledger
        The ledger.
    asked
        The request.
    largest
        The largest page size that is allowed.
    """

    def __init__(self, ledger: ParticipantLedger, asked: PageRequest, largest: int = LARGEST_SIZE) -> None:
        self._ledger = ledger
        self._asked = asked
        self._size = min(DEFAULT_SIZE, largest) if asked.max_page_size is None else asked.max_page_size
        if not 1 <= self._size <= largest:
            raise CantonError("INVALID_ARGUMENT", f"max_page_size {self._size} is not between 1 and {largest}")
        begin = asked.begin_offset_exclusive or 0
        token = self._token()
        if not token or (asked.descending_order and begin):
            check_begin(ledger, begin)
        end = check_end(ledger, begin, asked.end_offset_inclusive)
        self._low = begin or ledger.pruned_through
        self._high = end
        if token:
            self._go_on(token)

    def _go_on(self, token: Token) -> None:
        # Pruning may have overtaken the pager; position 0 is not "from the start" here.
        if token.position < self._ledger.pruned_through:
            check_begin(self._ledger, max(token.position, 1))
        if self._asked.descending_order:
            self._high = token.position  # newer updates do not come into a chain that has begun
        else:
            self._low = token.position

    def page(self, renderer: Renderer) -> dict[str, Any]:
        """Return the page."""
        descending = bool(self._asked.descending_order)
        found = _asked_for(self._ledger.updates(self._low, self._high, descending), renderer)
        updates: list[msgspec.Raw] = []
        following: Update | None = None
        for update, shown in found:
            if len(updates) == self._size:
                following = update
                break
            updates.append(msgspec.Raw(encode({"update": shown})))
        low, high, position = self._bounds(following)
        return {
            "updates": updates,
            "lowestPageOffsetExclusive": low,
            "highestPageOffsetInclusive": high,
            "nextPageToken": None if position is None else self._encoded(position),
        }

    def _bounds(self, following: Update | None) -> tuple[int, int, int | None]:
        """Return lower bound, upper bound and, if there is a next page, where it begins."""
        if self._asked.descending_order:
            if following:
                return following.offset, self._high, following.offset
            return self._low, self._high, None
        if following:
            return self._low, following.offset - 1, following.offset - 1
        return self._low, self._high, self._high if self._asked.end_offset_inclusive is None else None

    # Tokens

    def _checksum(self) -> str:
        asked = self._asked
        bound = [
            asked.begin_offset_exclusive or 0,
            asked.end_offset_inclusive,
            asked.max_page_size,
            asked.update_format,
            bool(asked.descending_order),
            self._ledger.participant,
        ]
        return hashlib.sha256(msgspec.json.encode(bound, order="sorted")).hexdigest()[:24]

    def _encoded(self, position: int) -> str:
        token = Token(TOKEN_VERSION, self._checksum(), position)
        return base64.b64encode(msgspec.msgpack.encode(token)).decode()

    def _token(self) -> Token | None:
        if not self._asked.page_token:
            return None
        try:
            raw = base64.b64decode(self._asked.page_token, validate=True)
            token = DECODER.decode(raw)
        except (ValueError, msgspec.MsgspecError) as error:
            raise mismatch("the token cannot be read") from error
        if token.version != TOKEN_VERSION or token.checksum != self._checksum():
            raise mismatch("the token was given for another request or by another participant")
        return token


def mismatch(reason: str) -> CantonError:
    """Return the refusal of a page token."""
    return CantonError("INVALID_UPDATES_PAGE_TOKEN", reason)


def _asked_for(updates: Iterator[Update], renderer: Renderer) -> Iterator[tuple[Update, dict[str, Any]]]:
    for update in updates:
        shown = renderer.update(update)
        if shown:
            yield update, shown
