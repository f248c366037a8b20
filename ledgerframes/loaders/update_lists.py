"""Pages of updates built from lists, for participants without pages.

See docs/facts.md#updates-before-3-5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ledgerframes.api.ledger import Ledger
from ledgerframes.api.ledger_errors import has_too_many_elements
from ledgerframes.api.operation import Request
from ledgerframes.api.response import Response
from ledgerframes.datasets.state.wire import LedgerEnd
from ledgerframes.errors import BadRequestError, DecodeError, UnsupportedOperationError
from ledgerframes.loaders.bad_updates import identity_of

LIST = "POST /v2/updates"
LIST_SIZE = 200  # updates and checkpoints, the list limit unless the operator changed it (docs/facts.md#list-limit)
IDLE_SECONDS = 20.0  # without an element, after which a list may end

Page = tuple[Sequence[msgspec.Raw], int]  # updates, and the offset up to which they are complete


FetchPage = Callable[[Mapping[str, Any]], Response]  # the request of a page, and the page


def long_idle_ms(ledger: Ledger) -> int:
    """Return the milliseconds without an element after which a list may end.

    By default, a list ends when the participant pauses for a moment.
    """
    return int(min(IDLE_SECONDS, ledger.transport.limits.timeout / 2) * 1000)


def lists_instead(ledger: Ledger, error: UnsupportedOperationError) -> UpdateLists:
    """Return the lists of a participant without pages, or raise its error."""
    if ledger.supports("get_updates_page"):
        raise error
    return UpdateLists(ledger)


class UpdateLists:
    """Pages of updates, each a list of the updates after an offset, in ascending order."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._size = LIST_SIZE
        self._idle_ms = long_idle_ms(ledger)

    def __call__(self, request: Mapping[str, Any]) -> Response:
        """Return the page that a request describes, whose token is its last offset.

        A page without a token that does not reach the end of the request has all that lists confirm.
        """
        after = int(request.get("pageToken") or request["beginOffsetExclusive"])
        through = request.get("endOffsetInclusive")
        if through is None:
            response, end = self._ledger_end()
            through = max(after, end)
            if through == after:
                return _page(response, [], after, after, through)
        return _page(*self._list(request, after, through), after, through)

    def _ledger_end(self) -> tuple[Response, int]:
        response = self._ledger.send(self._ledger.operations["ledger_end"], Request())
        return response, response.decode(LedgerEnd).offset

    def _list(self, request: Mapping[str, Any], after: int, through: int) -> tuple[Response, Sequence[msgspec.Raw], int]:
        """Return a list, its updates, and the offset that they reach.

        If the participant refuses a size, it is halved.
        """
        size = min(self._size, request["maxPageSize"])
        try:
            response, items = self._fetch(request, after, through, size)
        except BadRequestError as error:
            if size == 1 or not has_too_many_elements(error):
                raise
            self._size = size // 2
            return self._list(request, after, through)
        if not items:
            is_bounded = request.get("endOffsetInclusive") is not None
            return self._fetch_next(request, after, through) if is_bounded else (response, items, after)
        updates, reached = _complete_part(items) or (items, through)
        if (updates is items and len(items) >= size) or not after < reached <= through:
            raise _offset_error(after, through)
        return response, updates, reached

    def _fetch_next(self, request: Mapping[str, Any], after: int, through: int) -> tuple[Response, Sequence[msgspec.Raw], int]:
        """Return the next element after a list without any, which may have ended early.

        An element after the end confirms that there is none before it. Nothing is confirmed if the rest of the ledger has none.
        """
        end = max(through, self._ledger_end()[1])
        response, items = self._fetch(request, after, end, 1)
        updates, reached = _complete_part(items) or ([], after)
        if reached < after or (updates and reached == after):
            raise _offset_error(after, end)
        return (response, updates, reached) if reached <= through else (response, [], through)

    def _fetch(self, request: Mapping[str, Any], after: int, through: int, size: int) -> tuple[Response, list[msgspec.Raw]]:
        response = self._ledger.updates(request["updateFormat"], after=after, through=through, limit=size, idle_ms=self._idle_ms)
        return response, response.decode(list[msgspec.Raw])


def _offset_error(after: int, through: int) -> DecodeError:
    return DecodeError(
        f"{LIST} returned no offset after {after} and through {through} to continue from. Check the service's version.",
        endpoint=LIST,
        json_path="$[...].update",
    )


def _page(response: Response, updates: Sequence[msgspec.Raw], reached: int, after: int, through: int) -> Response:
    """Return updates as a page, from one offset up to the offset that they reach."""
    page = {
        "updates": updates,
        "lowestPageOffsetExclusive": after,
        "highestPageOffsetInclusive": reached,
        "nextPageToken": str(reached) if after < reached < through else None,
    }
    return replace(response, body=msgspec.json.encode(page))


def _complete_part(items: Sequence[msgspec.Raw]) -> Page | None:
    """Return the updates of a list up to its last offset, or None if it has none.

    Any list may be short, so only a list without an offset is the last one. Items after the offset are repeated in the next
    list.
    """
    identities = list(map(identity_of, items))
    known = [number for number, (_, offset) in enumerate(identities) if offset is not None]
    if not known:
        return None
    updates = [item for item in items[: known[-1] + 1] if not _is_checkpoint(item)]
    return updates, identities[known[-1]][1] or 0


def _is_checkpoint(item: msgspec.Raw) -> bool:
    return b'"OffsetCheckpoint"' in bytes(item)[:200] and "OffsetCheckpoint" in msgspec.json.decode(item)["update"]
