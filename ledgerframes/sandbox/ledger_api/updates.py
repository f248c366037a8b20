"""Endpoints of pages, lists and single updates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import flask
import msgspec

from ..builder import encode
from ..endpoints import endpoint
from ..participant.filters import DELTA, EFFECTS, EventFormat, Filters, Shape, TransactionFormat, UpdateFormat
from ..participant.projection import Update
from ..participant.rendering import UpdateRenderer
from ..responses import HttpError, Json, LedgerApiError
from .requests.updates import (
    ListRequest,
    PageRequest,
    TransactionByIdRequest,
    TransactionByOffsetRequest,
    TreesRequest,
    UpdateByHashRequest,
    UpdateByIdRequest,
    UpdateByOffsetRequest,
)
from .service import LedgerEndpoints, check_size, limited, read_token, write_token

CHECKPOINT_EVERY = 50  # updates in a list
DEFAULT_SIZE = 100
RESTORED = "the token was made by a participant that has been restored since"
UNKNOWN_UPDATE = "there is no such update that the request may see"


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
            bool(request.descending_order), self.ledger.participant, self.minor,
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
        renderer = self._list_renderer(request, DELTA)
        if request.descending_order and request.end_inclusive is None:
            raise LedgerApiError("DESCENDING_ORDER_MISSING_END", "a descending list needs an end offset")
        return limited({"update": value} for value in self._with_checkpoints(request, renderer))

    @endpoint("POST", "/v2/updates/flats", ListRequest, until=6)
    def _flats(self, request: ListRequest) -> list[Json]:
        # Before 3.4 the flat list showed ledger effects (docs/facts.md#versions).
        renderer = self._list_renderer(request, DELTA if self.minor >= 4 else EFFECTS)
        return limited({"update": value} for _, value in renderer.updates(self._range(request)))

    @endpoint("POST", "/v2/updates/trees", TreesRequest, until=6)
    def _trees(self, request: TreesRequest) -> list[Json]:
        render = self.update_renderer(_transactions(request.filter, EFFECTS)).tree
        trees = filter(None, map(render, self._range(request)))
        return limited({"update": {"TransactionTree": {"value": tree}}} for tree in trees)

    def _list_renderer(self, request: ListRequest, shape: Shape) -> UpdateRenderer:
        """Return the renderer of a list, whose filter stands for a format of transactions."""
        if request.filter:
            return self.update_renderer(_transactions(request.filter, shape))
        return self.update_renderer(request.update_format or UpdateFormat())

    def _range(self, request: ListRequest | TreesRequest) -> Iterator[Update]:
        begin = self.check_begin(request.begin_exclusive)
        end = self.check_end(request.begin_exclusive, request.end_inclusive)
        return self.ledger.updates(begin, end, bool(request.descending_order))

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

    @endpoint("POST", "/v2/updates/update-by-id", UpdateByIdRequest)
    def _update_by_id(self, request: UpdateByIdRequest) -> Json:
        return {"update": self._by_id(request.update_id, self.update_renderer(request.update_format).update)}

    @endpoint("POST", "/v2/updates/update-by-offset", UpdateByOffsetRequest)
    def _update_by_offset(self, request: UpdateByOffsetRequest) -> Json:
        return {"update": self._by_offset(request.offset, self.update_renderer(request.update_format).update)}

    @endpoint("POST", "/v2/updates/update-by-hash", UpdateByHashRequest, since=6)
    def _update_by_hash(self, request: UpdateByHashRequest) -> Json:
        offset = self.box.hashes.offset(request.transaction_hash, self.ledger.end())
        update = self.ledger.at(offset) if offset else None
        key = ("TRANSACTION_HASH", request.transaction_hash)
        return {"update": self._rendered(update, self.update_renderer(request.update_format).update, key)}

    @endpoint("POST", "/v2/updates/transaction-by-id", TransactionByIdRequest, until=6)
    def _transaction_by_id(self, request: TransactionByIdRequest) -> Json:
        return {"transaction": self._by_id(request.update_id, self._transaction_renderer(request).transaction)}

    @endpoint("POST", "/v2/updates/transaction-by-offset", TransactionByOffsetRequest, until=6)
    def _transaction_by_offset(self, request: TransactionByOffsetRequest) -> Json:
        return {"transaction": self._by_offset(request.offset, self._transaction_renderer(request).transaction)}

    def _transaction_renderer(self, request: TransactionByIdRequest | TransactionByOffsetRequest) -> UpdateRenderer:
        if request.transaction_format:
            return self.update_renderer(UpdateFormat(request.transaction_format))
        return self.update_renderer(_transactions(_events_of(request.requesting_parties or ()), DELTA))

    @endpoint("GET", "/v2/updates/transaction-tree-by-id/<update_id>", until=6)
    def _tree_by_id(self, update_id: str) -> Json:
        return {"transaction": self._by_id(update_id, self._tree_renderer().tree)}

    @endpoint("GET", "/v2/updates/transaction-tree-by-offset/<offset>", until=6)
    def _tree_by_offset(self, offset: str) -> Json:
        if not offset.isdecimal():
            raise HttpError(400, "Invalid value for: path parameter offset", plain=True)
        return {"transaction": self._by_offset(int(offset), self._tree_renderer().tree)}

    def _tree_renderer(self) -> UpdateRenderer:
        return self.update_renderer(_transactions(_events_of(flask.request.args.getlist("parties")), EFFECTS))

    def _by_id(self, update_id: str, render: Callable[[Update], Json | None]) -> Json:
        return self._rendered(self.ledger.find(update_id), render, ("UPDATE_ID", update_id))

    def _by_offset(self, offset: int, render: Callable[[Update], Json | None]) -> Json:
        end = self.ledger.end()
        if offset <= 0:
            raise LedgerApiError("NON_POSITIVE_OFFSET", f"Offset {offset} in offset is not a positive integer")
        if offset > end:
            cause = f"the offset {offset} is after the ledger end {end}"
            raise LedgerApiError("PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", cause)
        if offset <= self.ledger.pruned_through:
            self.check_begin(max(1, offset - 1), "Look-up")
        return self._rendered(self.ledger.at(offset), render, ("OFFSET", str(offset)))

    def _rendered(self, update: Update | None, render: Callable[[Update], Json | None], key: tuple[str, str]) -> Json:
        """Return a rendered update, or refuse one that is unknown, pruned or excluded."""
        if update and self.ledger.pruned_through < update.offset <= self.ledger.end():
            value = render(update)
            if value:
                return value
        code = "UPDATE_NOT_FOUND" if self.minor >= 5 else "TRANSACTION_NOT_FOUND"
        raise LedgerApiError(code, UNKNOWN_UPDATE, resources=[key])


def _transactions(events: EventFormat, shape: Shape) -> UpdateFormat:
    return UpdateFormat(TransactionFormat(events, shape))


def _events_of(parties: Iterable[str]) -> EventFormat:
    return EventFormat(dict.fromkeys(parties, Filters()))
