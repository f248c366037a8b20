"""Updates: pages, lists, and one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from ..canton import CantonError
from ..participant.formats import DELTA, EFFECTS, EventFormat, Filters, TransactionFormat, UpdateFormat
from ..participant.paging import Pager, PageRequest, check_begin, check_end, mismatch
from ..participant.projection import Update
from ..participant.rendering import Renderer
from ..participant.state import checkpoint
from .service import LedgerService, LegacyFilter, answer, as_updates, listed, missing

CHECKPOINT_EVERY = 50  # updates in a list


class ListRequest(msgspec.Struct, rename="camel"):
    """The body of the list operations."""

    begin_exclusive: int = 0
    end_inclusive: int | None = None
    update_format: UpdateFormat | None = None
    descending_order: bool = False
    filter: LegacyFilter | None = None
    verbose: bool = False


class Wanted(msgspec.Struct, rename="camel"):
    """The body of the look-ups of one update."""

    offset: int | None = None
    update_id: str = ""
    update_format: UpdateFormat | None = None
    transaction_format: TransactionFormat | None = None


def add_routes(api: Blueprint, service: LedgerService) -> None:
    """Add the routes to the API."""
    _add_pages(api, service)
    _add_lists(api, service)
    _add_look_ups(api, service)
    _add_trees(api, service)


def _add_pages(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/updates/get-updates-page")
    def page() -> Response:
        service.since(5)
        service.user()
        asked = service.body(PageRequest)
        _, renderer = service.selection(asked.update_format)
        if asked.page_token and service.strikes("token_mismatch"):
            raise mismatch("the token was made by a participant that has been restored since")
        if asked.page_token and service.strikes("pruning_overtakes"):
            service.ledger.prune(service.ledger.end())
        return answer(Pager(service.ledger, asked, service.largest_page).page(renderer))


def _add_lists(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/updates")
    def updates() -> Response:
        asked = service.body(ListRequest)
        # Deprecated members are still understood (before 3.5 they were the only ones).
        asked_for = asked.update_format
        if asked_for is None and asked.filter:
            asked_for = as_updates(asked.filter.format(asked.verbose), DELTA)
        _, renderer = service.selection(asked_for)
        if asked.descending_order and asked.end_inclusive is None:
            raise CantonError("DESCENDING_ORDER_MISSING_END", "a descending list needs an end offset")
        return listed({"update": shown} for shown in _stream(service, asked, renderer))

    @api.post("/v2/updates/flats")
    def flats() -> Response:
        asked = service.body(ListRequest)
        # Before 3.4 this list showed ledger effects (docs/facts.md#versions).
        _, renderer = service.selection(_legacy(asked, DELTA if service.version.has(4) else EFFECTS))
        found = (renderer.transaction(update) for update in _range(service, asked) if update.kind == "transaction")
        return listed({"update": {"Transaction": {"value": shown}}} for shown in found if shown)

    @api.post("/v2/updates/trees")
    def trees() -> Response:
        asked = service.body(ListRequest)
        _, renderer = service.selection(_legacy(asked, EFFECTS))
        found = (renderer.tree(update) for update in _range(service, asked))
        return listed({"update": {"TransactionTree": {"value": shown}}} for shown in found if shown)


def _legacy(asked: ListRequest, shape: Any) -> UpdateFormat:
    if asked.filter is None:
        raise missing("filter")
    return as_updates(asked.filter.format(asked.verbose), shape)


def _range(service: LedgerService, asked: ListRequest) -> Iterator[Update]:
    ledger = service.ledger
    check_begin(ledger, asked.begin_exclusive)
    end = check_end(ledger, asked.begin_exclusive, asked.end_inclusive)
    begin = asked.begin_exclusive or ledger.pruned_through
    return ledger.updates(begin, end, asked.descending_order)


def _stream(service: LedgerService, asked: ListRequest, renderer: Renderer) -> Iterator[dict[str, Any]]:
    """Iterate over what a list shows: the updates, with checkpoints among them when ascending."""
    last: Update | None = None
    position = 0
    for update in _range(service, asked):
        shown = renderer.update(update)
        if shown:
            yield shown
            position, last = position + 1, update
            if position % CHECKPOINT_EVERY == 0 and not asked.descending_order:
                yield checkpoint(service.ledger, update.offset, update.record_time)
    if not asked.descending_order:
        end = service.ledger.end() if asked.end_inclusive is None else asked.end_inclusive
        if end:
            time = service.ledger.clock.now() if asked.end_inclusive is None or not last else last.record_time
            yield checkpoint(service.ledger, end, time)


def _add_look_ups(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/updates/update-by-id")
    @api.post("/v2/updates/update-by-offset")
    def update() -> Response:
        wanted = service.body(Wanted)
        _, renderer = service.selection(wanted.update_format)
        found = _found(service, wanted)
        shown = renderer.update(found)
        if shown is None:
            raise _not_found(service, wanted)
        return answer({"update": shown})

    @api.post("/v2/updates/transaction-by-id")
    @api.post("/v2/updates/transaction-by-offset")
    def transaction() -> Response:
        wanted = service.body(Wanted)
        if wanted.transaction_format is None:
            raise missing("transaction_format")
        _, renderer = service.selection(UpdateFormat(wanted.transaction_format))
        found = _found(service, wanted)
        shown = renderer.transaction(found) if found.kind == "transaction" else None
        if shown is None:
            raise _not_found(service, wanted)
        return answer({"transaction": shown})


def _add_trees(api: Blueprint, service: LedgerService) -> None:
    @api.get("/v2/updates/transaction-tree-by-id/<update_id>")
    def tree_by_id(update_id: str) -> Response:
        return _tree(service, Wanted(update_id=update_id))

    @api.get("/v2/updates/transaction-tree-by-offset/<int:offset>")
    def tree_by_offset(offset: int) -> Response:
        return _tree(service, Wanted(offset=offset))


def _tree(service: LedgerService, wanted: Wanted) -> Response:
    parties = request.args.getlist("parties")
    events = EventFormat({party: Filters() for party in parties})
    _, renderer = service.selection(as_updates(events, EFFECTS))
    shown = renderer.tree(_found(service, wanted))
    if shown is None:
        raise _not_found(service, wanted)
    return answer({"transaction": shown})


def _found(service: LedgerService, wanted: Wanted) -> Update:
    ledger, offset = service.ledger, wanted.offset
    if offset is None:
        found = ledger.find(wanted.update_id)
    else:
        if offset <= 0:
            raise CantonError("NON_POSITIVE_OFFSET", f"Offset {offset} in offset is not a positive integer")
        if offset > ledger.end():
            raise CantonError(
                "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END",
                f"the offset {offset} is after the ledger end {ledger.end()}",
            )
        if offset <= ledger.pruned_through:
            check_begin(ledger, max(1, offset - 1), "Look-up")
        found = ledger.at(offset)
    if found is None or not ledger.pruned_through < found.offset <= ledger.end():
        raise _not_found(service, wanted)
    return found


def _not_found(service: LedgerService, wanted: Wanted) -> CantonError:
    code = "UPDATE_NOT_FOUND" if service.version.has(5) else "TRANSACTION_NOT_FOUND"
    about = ("UPDATE_ID", wanted.update_id) if wanted.offset is None else ("OFFSET", str(wanted.offset))
    return CantonError(code, "there is no such update that the request may see", resources=[about])
