"""Endpoints of pages, lists and single updates."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import flask
import msgspec

from ..builder import encode
from ..endpoints import endpoint
from ..participant.filters import DELTA, EFFECTS, EventFormat, Filters, Shape, TransactionFormat, UpdateFormat
from ..participant.projection import Update
from ..participant.rendering import UpdateRenderer
from ..responses import Json, LedgerApiError, missing
from .service import LedgerEndpoints, check_size, limited, read_token, write_token

CHECKPOINT_EVERY = 50  # updates in a list
DEFAULT_SIZE = 100
RESTORED = "the token was made by a participant that has been restored since"
UNKNOWN_UPDATE = "there is no such update that the request may see"


class PageRequest(msgspec.Struct, rename="camel"):
    """Body of get-updates-page."""

    update_format: UpdateFormat | None = None
    begin_offset_exclusive: int | None = None
    end_offset_inclusive: int | None = None
    max_page_size: int | None = None
    descending_order: bool | None = False
    page_token: str | None = None


class ListRequest(msgspec.Struct, rename="camel"):
    """Body of the list operations."""

    begin_exclusive: int = 0
    end_inclusive: int | None = None
    update_format: UpdateFormat | None = None
    descending_order: bool = False
    filter: EventFormat | None = None  # deprecated

    def legacy_format(self, shape: Shape) -> UpdateFormat:
        """Return the deprecated filter as a format of transactions."""
        if self.filter is None:
            raise missing("filter")
        return UpdateFormat(TransactionFormat(self.filter, shape))


class LookupRequest(msgspec.Struct, rename="camel"):
    """Body of the requests for one update."""

    offset: int | None = None
    update_id: str = ""
    update_format: UpdateFormat | None = None
    transaction_format: TransactionFormat | None = None


class Updates(LedgerEndpoints):
    """Endpoints of updates.

    See docs/facts.md#update-page-request and docs/facts.md#update-page-response.
    """

    @endpoint("POST", "/v2/updates/get-updates-page", PageRequest, since=5)
    def _page(self, request: PageRequest) -> Json:
        renderer = self.update_renderer(request.update_format)
        if request.page_token and self.strikes("token_mismatch"):
            raise LedgerApiError("INVALID_UPDATES_PAGE_TOKEN", RESTORED)
        if request.page_token and self.strikes("pruning_overtakes"):
            self.ledger.prune(self.ledger.end())
        largest = self.box.max_page_size
        size = check_size(request.max_page_size, min(DEFAULT_SIZE, largest), largest)
        binding = [
            request.begin_offset_exclusive or 0, request.end_offset_inclusive, request.max_page_size, request.update_format,
            bool(request.descending_order), self.ledger.participant,
        ]  # fmt: skip
        low, high = self._bounds(request, read_token(request.page_token, binding, "INVALID_UPDATES_PAGE_TOKEN"))
        updates: list[msgspec.Raw] = []
        next_offset = high if request.end_offset_inclusive is None and not request.descending_order else None
        for update, value in renderer.updates(self.ledger.updates(low, high, bool(request.descending_order))):
            if len(updates) < size:
                # Encoded at once, because the garbage collector visits the dictionaries of a whole page many times.
                updates.append(msgspec.Raw(encode(self.json_value({"update": value}))))
                continue
            if request.descending_order:
                low = next_offset = update.offset
            else:
                high = next_offset = update.offset - 1
            break
        return {
            "updates": updates,
            "lowestPageOffsetExclusive": low,
            "highestPageOffsetInclusive": high,
            "nextPageToken": None if next_offset is None else write_token(binding, next_offset),
        }

    def _bounds(self, request: PageRequest, position: tuple[int, ...]) -> tuple[int, int]:
        """Return the bounds of a page, which a token narrows."""
        begin = request.begin_offset_exclusive or 0
        if not position or (request.descending_order and begin):
            self.check_begin(begin)
        low, high = begin or self.ledger.pruned_through, self.check_end(begin, request.end_offset_inclusive)
        if not position:
            return low, high
        # Pruning may have overtaken the chain, for which position 0 is no longer the start of the ledger.
        if position[0] < self.ledger.pruned_through:
            self.check_begin(max(position[0], 1))
        # A descending chain does not include updates that are newer than its first page.
        return (low, position[0]) if request.descending_order else (position[0], high)

    @endpoint("POST", "/v2/updates", ListRequest)
    def _list(self, request: ListRequest) -> list[Json]:
        # Deprecated members are still understood; before 3.5 they were the only ones.
        legacy = request.legacy_format(DELTA) if request.filter else None
        renderer = self.update_renderer(request.update_format or legacy)
        if request.descending_order and request.end_inclusive is None:
            raise LedgerApiError("DESCENDING_ORDER_MISSING_END", "a descending list needs an end offset")
        return limited({"update": value} for value in self._with_checkpoints(request, renderer))

    @endpoint("POST", "/v2/updates/<any(flats, trees):form>", ListRequest)
    def _transactions(self, request: ListRequest, form: str) -> list[Json]:
        # Before 3.4 the flat list showed ledger effects (docs/facts.md#versions).
        shape = DELTA if form == "flats" and self.minor >= 4 else EFFECTS
        renderer = self.update_renderer(request.legacy_format(shape))
        kind, render = ("Transaction", renderer.transaction) if form == "flats" else ("TransactionTree", renderer.tree)
        values = filter(None, map(render, self._range(request)))
        return limited({"update": {kind: {"value": value}}} for value in values)

    def _range(self, request: ListRequest) -> Iterator[Update]:
        begin = self.check_begin(request.begin_exclusive)
        end = self.check_end(request.begin_exclusive, request.end_inclusive)
        return self.ledger.updates(begin, end, request.descending_order)

    def _with_checkpoints(self, request: ListRequest, renderer: UpdateRenderer) -> Iterator[Json]:
        """Iterate over a list's updates, with checkpoints between them if ascending."""
        time = self.clock.now()
        for number, (update, value) in enumerate(renderer.updates(self._range(request)), 1):
            yield value
            if request.end_inclusive is not None:
                time = update.record_time
            if number % CHECKPOINT_EVERY == 0 and not request.descending_order:
                yield self.checkpoint(update.offset, update.record_time)
        end = self.ledger.end() if request.end_inclusive is None else request.end_inclusive
        if end and not request.descending_order:
            yield self.checkpoint(end, time)

    @endpoint("POST", "/v2/updates/update-by-id", LookupRequest)
    @endpoint("POST", "/v2/updates/update-by-offset", LookupRequest)
    def _update(self, request: LookupRequest) -> Json:
        return {"update": self._render_update(request, self.update_renderer(request.update_format).update)}

    @endpoint("POST", "/v2/updates/transaction-by-id", LookupRequest)
    @endpoint("POST", "/v2/updates/transaction-by-offset", LookupRequest)
    def _transaction(self, request: LookupRequest) -> Json:
        if request.transaction_format is None:
            raise missing("transaction_format")
        renderer = self.update_renderer(UpdateFormat(request.transaction_format))
        return {"transaction": self._render_update(request, renderer.transaction)}

    @endpoint("GET", "/v2/updates/transaction-tree-by-id/<update_id>")
    @endpoint("GET", "/v2/updates/transaction-tree-by-offset/<int:offset>")
    def _tree(self, update_id: str = "", offset: int | None = None) -> Json:
        events = EventFormat(dict.fromkeys(flask.request.args.getlist("parties"), Filters()))
        renderer = self.update_renderer(UpdateFormat(TransactionFormat(events, EFFECTS)))
        return {"transaction": self._render_update(LookupRequest(offset, update_id), renderer.tree)}

    def _render_update(self, request: LookupRequest, render: Callable[[Update], Json | None]) -> Json:
        """Return a rendered update, or refuse one that is unknown, pruned or excluded."""
        update = self.ledger.find(request.update_id) if request.offset is None else self._at(request.offset)
        if update and self.ledger.pruned_through < update.offset <= self.ledger.end():
            value = render(update)
            if value:
                return value
        code = "UPDATE_NOT_FOUND" if self.minor >= 5 else "TRANSACTION_NOT_FOUND"
        key = ("UPDATE_ID", request.update_id) if request.offset is None else ("OFFSET", str(request.offset))
        raise LedgerApiError(code, UNKNOWN_UPDATE, resources=[key])

    def _at(self, offset: int) -> Update | None:
        end = self.ledger.end()
        if offset <= 0:
            raise LedgerApiError("NON_POSITIVE_OFFSET", f"Offset {offset} in offset is not a positive integer")
        if offset > end:
            cause = f"the offset {offset} is after the ledger end {end}"
            raise LedgerApiError("PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", cause)
        if offset <= self.ledger.pruned_through:
            self.check_begin(max(1, offset - 1), "Look-up")
        return self.ledger.at(offset)
