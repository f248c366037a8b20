"""Contracts and offsets: what is active, the events of one contract, where the ledger ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from ..canton import CantonError
from ..participant.formats import EventFormat
from ..participant.paging import check_begin
from .service import LedgerService, LegacyFilter, answer, listed, malformed, missing, position_of, token_after

DEFAULT_SIZE, LARGEST_SIZE = 2000, 10_000


class ActiveRequest(msgspec.Struct, rename="camel"):
    """The body of the active contracts' operations."""

    active_at_offset: int | None = None
    event_format: EventFormat | None = None
    filter: LegacyFilter | None = None
    verbose: bool = False
    max_page_size: int | None = None
    page_token: str | None = None


class ContractRequest(msgspec.Struct, rename="camel"):
    """The body of events-by-contract-id and contract-by-id."""

    contract_id: str = ""
    event_format: EventFormat | None = None
    querying_parties: list[str] = []


def add_routes(api: Blueprint, service: LedgerService) -> None:
    """Add the routes to the API."""
    _add_active(api, service)
    _add_offsets(api, service)

    @api.post("/v2/events/events-by-contract-id")
    def events() -> Response:
        asked = service.body(ContractRequest)
        if asked.event_format is None:
            raise missing("event_format")
        _check_id(asked.contract_id)
        return answer(service.state.events_of(asked.contract_id, service.readable(asked.event_format)))


def _add_active(api: Blueprint, service: LedgerService) -> None:
    @api.post("/v2/state/active-contracts")
    def active() -> Response:
        asked = service.body(ActiveRequest)
        if asked.active_at_offset is None:
            raise malformed("Missing required field at 'activeAtOffset'")
        return listed(_found(service, asked, asked.active_at_offset))

    @api.post("/v2/state/active-contracts-page")
    def page() -> Response:
        return _page(service)

    @api.get("/v2/state/active-contracts-page")
    def page_by_get() -> Response:
        return _page(service)


def _page(service: LedgerService) -> Response:
    service.since(5)
    asked = service.body(ActiveRequest)
    size = DEFAULT_SIZE if asked.max_page_size is None else asked.max_page_size
    if not 1 <= size <= LARGEST_SIZE:
        raise CantonError("INVALID_ARGUMENT", f"max_page_size {size} is not between 1 and {LARGEST_SIZE}")
    bound = [asked.active_at_offset, asked.event_format, size, service.ledger.participant]
    place = position_of(asked.page_token, bound, "INVALID_ACS_PAGE_TOKEN")
    # The first page decides the offset of all of them, the token carries it on.
    start, at = divmod(place, SHIFT) if place else (0, _offset(service, asked))
    entries: list[dict[str, Any]] = []
    following = None
    for position, entry in enumerate(_found(service, asked, at)):
        if position >= start + size:
            following = token_after(position * SHIFT + at, bound)
            break
        if position >= start:
            entries.append(entry)
    return answer({"activeContracts": entries, "activeAtOffset": at, "nextPageToken": following})


SHIFT = 1 << 48  # a token's position holds the number of the entry above, and the offset below


def _offset(service: LedgerService, asked: ActiveRequest) -> int:
    return service.ledger.end() if asked.active_at_offset is None else asked.active_at_offset


def _found(service: LedgerService, asked: ActiveRequest, offset: int) -> Iterator[dict[str, Any]]:
    wanted = asked.event_format
    if wanted is None and asked.filter:
        wanted = asked.filter.format(asked.verbose)
    if wanted is None:
        raise missing("event_format")
    service.readable(wanted)
    end = service.ledger.end()
    if offset > end:
        raise CantonError("OFFSET_AFTER_LEDGER_END", f"Active at offset ({offset}) is after ledger end ({end})")
    check_begin(service.ledger, offset, "Active contracts request")
    return service.state.active(offset, wanted)


def _add_offsets(api: Blueprint, service: LedgerService) -> None:
    @api.get("/v2/state/ledger-end")
    def ledger_end() -> Response:
        service.user()
        return answer({"offset": service.ledger.end()})

    @api.get("/v2/state/latest-pruned-offsets")
    def pruned() -> Response:
        service.user()
        through = service.ledger.pruned_through
        names = ("participantPrunedUpToInclusive", "allDivulgedContractsPrunedUpToInclusive")
        return answer(dict.fromkeys(names, through))

    @api.get("/v2/state/connected-synchronizers")
    def synchronizers() -> Response:
        service.user()
        people = service.ledger.world.people
        party = request.args.get("party")
        permission = "PARTICIPANT_PERMISSION_SUBMISSION" if not party or party in service.ledger.parties else None
        connected = [
            {"synchronizerAlias": alias, "synchronizerId": name, "permission": permission}
            for alias, name in (("global", people.synchronizer), ("app", people.app_synchronizer))
        ]
        return answer({"connectedSynchronizers": connected if permission else []})

    @api.post("/v2/contracts/contract-by-id")
    def contract() -> Response:
        asked = service.body(ContractRequest)
        parties = asked.querying_parties or sorted(service.user().reads)
        wanted = service.readable(msgspec.convert({"filtersByParty": {party: {} for party in parties}}, EventFormat))
        try:
            created = service.state.events_of(asked.contract_id, wanted)["created"]
        except CantonError as error:
            raise CantonError(
                "CONTRACT_PAYLOAD_NOT_FOUND",
                "there is no contract with this id that the request may see",
                resources=[("CONTRACT_ID", asked.contract_id)],
            ) from error
        return answer({"createdEvent": created["createdEvent"]})


def _check_id(contract_id: str) -> None:
    try:
        bytes.fromhex(contract_id)
    except ValueError as error:
        raise CantonError("INVALID_FIELD", f"cannot parse the contract id '{contract_id}'") from error
    if not contract_id:
        raise missing("contract_id")
