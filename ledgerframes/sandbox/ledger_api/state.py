"""Endpoints of active contracts, the events of one contract, and offsets."""

from __future__ import annotations

from collections.abc import Iterator

import flask

from ledgerframes.gc_pause import pause_gc

from ..endpoints import endpoint
from ..participant.contracts import ACTIVE, ASSIGNED, UNASSIGNED, ActiveContract
from ..participant.filters import EventFormat, Filters, Match
from ..participant.rendering import EventRenderer, ledger_time
from ..requests import PARTY
from ..responses import Json, LedgerApiError
from .requests.state import ActiveFormat, ActiveListRequest, ActivePageRequest, ContractEventsRequest, ContractRequest
from .service import LedgerEndpoints, check_size, limited, page, read_token

DEFAULT_SIZE, MAX_SIZE = 2000, 10_000
ACTIVE_PAGE = "/v2/state/active-contracts-page"
PRUNED_OFFSETS = ("participantPrunedUpToInclusive", "allDivulgedContractsPrunedUpToInclusive")
PERMISSION = "PARTICIPANT_PERMISSION_SUBMISSION"
NO_EVENTS = "there are no events of this contract that the request may see"
NO_CONTRACT = "there is no contract with this id that the request may see"


class State(LedgerEndpoints):
    """Endpoints of the ledger's state."""

    @endpoint("POST", "/v2/state/active-contracts", ActiveListRequest)
    def _active_list(self, request: ActiveListRequest) -> list[Json]:
        events, matches = self._active(request.event_format or request.filter or ActiveFormat(), request.active_at_offset)
        return limited(_active_contract(events, *each) for each in matches)

    @endpoint("GET", ACTIVE_PAGE, ActivePageRequest, since=5)
    @endpoint("POST", ACTIVE_PAGE, ActivePageRequest, since=5)
    def _active_page(self, request: ActivePageRequest) -> Json:
        size = check_size(request.max_page_size, DEFAULT_SIZE, MAX_SIZE)
        binding = [request.active_at_offset, request.event_format, size, self.ledger.participant, self.minor]
        position = read_token(request.page_token, binding, "INVALID_ACS_PAGE_TOKEN")
        # The first page decides the offset of all pages, and the token carries it.
        offset = self.ledger.end() if request.active_at_offset is None else request.active_at_offset
        start, offset = position or (0, offset)
        events, matches = self._active(request.event_format, offset)
        with pause_gc():  # the collector would look at all contracts again and again
            rows, token = page(matches, size, binding, start, offset)
            contracts = [_active_contract(events, *row) for row in rows]
        return {"activeContracts": contracts, "activeAtOffset": offset, "nextPageToken": token}

    def _active(self, request: ActiveFormat, offset: int) -> tuple[EventRenderer, Iterator[tuple[ActiveContract, Match]]]:
        """Return the renderer of a format, and the contracts that it matches, not rendered yet."""
        events, end = self.event_renderer(request), self.ledger.end()
        if offset > end:
            raise LedgerApiError("OFFSET_AFTER_LEDGER_END", f"Active at offset ({offset}) is after ledger end ({end})")
        self.check_begin(offset, "Active contracts request")
        has_halves = self.minor < 7 or request.include_incomplete_reassignments
        return events, (
            (contract, match)
            for contract in self.box.contracts.active_at(offset)
            if (has_halves or contract.state == ACTIVE) and (match := events.match(contract.template_id, contract.stakeholders))
        )

    @endpoint("POST", "/v2/events/events-by-contract-id", ContractEventsRequest)
    def _events(self, request: ContractEventsRequest) -> Json:
        return self._events_of(request.contract_id, self.event_renderer(request.event_format))

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

    @endpoint("GET", "/v2/state/ledger-end")
    def _ledger_end(self) -> Json:
        end = {"offset": self.ledger.end()}
        return {**end, "synchronizerTimes": self.synchronizer_times(self.clock.now())} if self.minor >= 6 else end

    _pruned_offsets = endpoint("GET", "/v2/state/latest-pruned-offsets")(
        lambda api: dict.fromkeys(PRUNED_OFFSETS, api.ledger.pruned_through)
    )

    @endpoint("GET", "/v2/state/connected-synchronizers")
    def _synchronizers(self) -> Json:
        parties, party = self.world.parties, flask.request.args.get("party")
        if party:
            PARTY.check(party)
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
