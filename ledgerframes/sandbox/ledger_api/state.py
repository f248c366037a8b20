"""Endpoints of active contracts, the events of one contract, and offsets."""

from __future__ import annotations

from collections.abc import Iterator

import flask
import msgspec

from ..endpoints import endpoint
from ..participant.contracts import ASSIGNED, UNASSIGNED, ActiveContract
from ..participant.filters import EventFormat, Filters, Match
from ..participant.rendering import EventRenderer, ledger_time
from ..responses import Json, LedgerApiError, missing
from .service import LedgerEndpoints, check_size, limited, malformed_body, page, read_token

DEFAULT_SIZE, MAX_SIZE = 2000, 10_000
ACTIVE_PAGE = "/v2/state/active-contracts-page"
PRUNED_OFFSETS = ("participantPrunedUpToInclusive", "allDivulgedContractsPrunedUpToInclusive")
PERMISSION = "PARTICIPANT_PERMISSION_SUBMISSION"
NO_EVENTS = "there are no events of this contract that the request may see"
NO_CONTRACT = "there is no contract with this id that the request may see"


class ActiveRequest(msgspec.Struct, rename="camel"):
    """Body of the active contracts' operations."""

    active_at_offset: int | None = None
    event_format: EventFormat | None = None
    filter: EventFormat | None = None  # deprecated
    max_page_size: int | None = None
    page_token: str | None = None


class ContractRequest(msgspec.Struct, rename="camel"):
    """Body of the requests for one contract."""

    contract_id: str = ""
    event_format: EventFormat | None = None
    querying_parties: list[str] = []


class State(LedgerEndpoints):
    """Endpoints of the ledger's state."""

    @endpoint("POST", "/v2/state/active-contracts", ActiveRequest)
    def _active_list(self, request: ActiveRequest) -> list[Json]:
        if request.active_at_offset is None:
            raise malformed_body("Missing required field at 'activeAtOffset'")
        events, matches = self._active(request, request.active_at_offset)
        return limited(_active_contract(events, *each) for each in matches)

    @endpoint("GET", ACTIVE_PAGE, ActiveRequest, since=5)
    @endpoint("POST", ACTIVE_PAGE, ActiveRequest, since=5)
    def _active_page(self, request: ActiveRequest) -> Json:
        size = check_size(request.max_page_size, DEFAULT_SIZE, MAX_SIZE)
        binding = [request.active_at_offset, request.event_format, size, self.ledger.participant]
        position = read_token(request.page_token, binding, "INVALID_ACS_PAGE_TOKEN")
        # The first page decides the offset of all pages, and the token carries it.
        offset = self.ledger.end() if request.active_at_offset is None else request.active_at_offset
        start, offset = position or (0, offset)
        events, matches = self._active(request, offset)
        rows, token = page(matches, size, binding, start, offset)
        contracts = [_active_contract(events, *row) for row in rows]
        return {"activeContracts": contracts, "activeAtOffset": offset, "nextPageToken": token}

    def _active(self, request: ActiveRequest, offset: int) -> tuple[EventRenderer, Iterator[tuple[ActiveContract, Match]]]:
        """Return the renderer of a request, and the contracts that it matches, not rendered yet."""
        events, end = self.event_renderer(request.event_format or request.filter), self.ledger.end()
        if offset > end:
            raise LedgerApiError("OFFSET_AFTER_LEDGER_END", f"Active at offset ({offset}) is after ledger end ({end})")
        self.check_begin(offset, "Active contracts request")
        return events, (
            (contract, match)
            for contract in self.box.contracts.active_at(offset)
            if (match := events.match(contract.template_id, contract.stakeholders))
        )

    @endpoint("POST", "/v2/events/events-by-contract-id", ContractRequest)
    def _events(self, request: ContractRequest) -> Json:
        events = self.event_renderer(request.event_format)
        try:
            if not bytes.fromhex(request.contract_id):
                raise missing("contract_id")
        except ValueError as error:
            raise LedgerApiError("INVALID_FIELD", f"cannot parse the contract id '{request.contract_id}'") from error
        return self._events_of(request.contract_id, events)

    @endpoint("POST", "/v2/contracts/contract-by-id", ContractRequest)
    def _contract(self, request: ContractRequest) -> Json:
        events = self.event_renderer(EventFormat(dict.fromkeys(request.querying_parties or flask.g.user.reads, Filters())))
        try:
            created = self._events_of(request.contract_id, events)["created"]
        except LedgerApiError as error:
            resources = [("CONTRACT_ID", request.contract_id)]
            raise LedgerApiError("CONTRACT_PAYLOAD_NOT_FOUND", NO_CONTRACT, resources=resources) from error
        return {"createdEvent": created["createdEvent"]}

    def _events_of(self, contract_id: str, events: EventRenderer) -> Json:
        """Return the events of a contract, or refuse if none is visible."""
        values: Json = {"created": None, "archived": None}
        offsets = self.box.contracts.offsets(contract_id, self.ledger.end())
        if not offsets[1:] or offsets[1] > self.ledger.pruned_through:
            for update in filter(None, map(self.ledger.at, dict.fromkeys(offsets))):
                for node in update.nodes:
                    match = node.body["contract_id"] == contract_id and events.match(node.body["template_id"], node.stakeholders)
                    if match and "created_at" in node.body:
                        created = events.created(update, node, match, update.body["effective_at"], node.stakeholders)
                        values["created"] = {"createdEvent": created, "synchronizerId": update.body["synchronizer_id"]}
                    elif match and node.consumes:
                        archived = events.archived(update, node, match)
                        values["archived"] = {"archivedEvent": archived, "synchronizerId": update.body["synchronizer_id"]}
        if not any(values.values()):
            raise LedgerApiError("CONTRACT_EVENTS_NOT_FOUND", NO_EVENTS, resources=[("CONTRACT_ID", contract_id)])
        return values

    _ledger_end = endpoint("GET", "/v2/state/ledger-end")(lambda api: {"offset": api.ledger.end()})
    _pruned_offsets = endpoint("GET", "/v2/state/latest-pruned-offsets")(
        lambda api: dict.fromkeys(PRUNED_OFFSETS, api.ledger.pruned_through)
    )

    @endpoint("GET", "/v2/state/connected-synchronizers")
    def _synchronizers(self) -> Json:
        parties, party = self.world.parties, flask.request.args.get("party")
        names = {"global": parties.synchronizer, "app": parties.app_synchronizer}
        connected = [
            {"synchronizerAlias": alias, "synchronizerId": name, "permission": PERMISSION} for alias, name in names.items()
        ]
        return {"connectedSynchronizers": connected if not party or party in self.ledger.parties else []}


def _active_contract(events: EventRenderer, contract: ActiveContract, match: Match) -> Json:
    return {"workflowId": contract.update.body.get("workflow_id", ""), "contractEntry": _entry(contract, match, events)}


def _entry(contract: ActiveContract, match: Match, events: EventRenderer) -> Json:
    if contract.state == ASSIGNED:
        return {"JsIncompleteAssigned": {"assignedEvent": events.assigned(contract.update, match)}}
    node, body = contract.node(), contract.update.body
    created_at = body.get("effective_at") or ledger_time(node.body["created_at"])
    created = events.created(contract.update, node, match, created_at, contract.stakeholders)
    if contract.state == UNASSIGNED and contract.half:
        return {"JsIncompleteUnassigned": {"createdEvent": created, "unassignedEvent": events.unassigned(contract.half)}}
    half = body.get("event") or {"target_synchronizer": body["synchronizer_id"], "reassignment_counter": 0}
    position = {"synchronizerId": half["target_synchronizer"], "reassignmentCounter": half["reassignment_counter"]}
    return {"JsActiveContract": {"createdEvent": created, **position}}
