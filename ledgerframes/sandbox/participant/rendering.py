"""Updates and events in the encoding of the ledger API (docs/facts.md#one-of-encodings)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from ..identifiers import blob_of
from ..randomness import digest, number
from ..responses import Json, LedgerApiError
from ..times import MINUTE, instant, micros
from .filters import DELTA, EFFECTS, EventFilter, Match, Registry, UpdateFormat
from .projection import Node, Update, command_id_of

FAILED_VIEW_EVERY = 60
UNTRACED_EVERY = 20
EXCLUSIVE_EVERY = 4
COMPUTED = {"code": 0, "message": "", "details": []}
NOT_COMPUTED = {"code": 9, "message": "the view of this contract could not be computed", "details": []}


class EventRenderer(EventFilter):
    """Events in one event format, with the members of the newest version."""

    def event(self, update: Update, node: Node, shape: str) -> Json | None:
        """Return the event of a node, or None if the shape or the filters exclude it."""
        if shape != EFFECTS and not node.delta:
            return None
        parties = node.witnesses if shape == EFFECTS else node.stakeholders
        match = self.match(node.body["template_id"], parties)
        if match is None:
            return None
        if "created_at" in node.body:
            return {"CreatedEvent": self.created(update, node, match, update.body["effective_at"], parties)}
        if shape == EFFECTS:
            return {"ExercisedEvent": self._exercised(update, node, match)}
        return {"ArchivedEvent": self.archived(update, node, match)}

    def created(self, update: Update, node: Node, match: Match, created_at: str, parties: Iterable[str]) -> Json:
        """Return the value of a created event."""
        body = node.body
        return {
            **self._common(update, node, parties),
            "contractKey": None,
            "createArgument": body["create_arguments"],
            "createdEventBlob": blob_of(body["contract_id"]) if match.blob else "",
            "interfaceViews": [_interface_view(name, body) for name in match.views],
            "signatories": body["signatories"],
            "observers": body["observers"],
            "createdAt": created_at,
            "representativePackageId": body["template_id"].partition(":")[0],
            "acsDelta": node.delta,
            "contractKeyHash": "",
        }

    def archived(self, update: Update, node: Node, match: Match) -> Json:
        """Return the value of an archived event."""
        return {**self._common(update, node, node.stakeholders), "implementedInterfaces": match.interfaces}

    def _common(self, update: Update, node: Node, parties: Iterable[str]) -> Json:
        return {
            "offset": update.offset,
            "nodeId": node.number,
            "contractId": node.body["contract_id"],
            "templateId": node.body["template_id"],
            "witnessParties": self.witnesses(parties),
            "packageName": node.body["package_name"],
        }

    def _exercised(self, update: Update, node: Node, match: Match) -> Json:
        body = node.body
        return {
            **self._common(update, node, node.witnesses),
            "interfaceId": body["interface_id"],
            "choice": body["choice"],
            "choiceArgument": body["choice_argument"],
            "actingParties": body["acting_parties"],
            "consuming": body["consuming"],
            "lastDescendantNodeId": node.last,
            "exerciseResult": body["exercise_result"],
            "implementedInterfaces": match.interfaces if body["consuming"] else [],
            "acsDelta": node.delta,
        }

    def assigned(self, update: Update, match: Match) -> Json:
        """Return the event of an assignment."""
        node = update.nodes[0]
        created_at = ledger_time(node.body["created_at"])
        return {**_half(update), "createdEvent": self.created(update, node, match, created_at, node.stakeholders)}

    def unassigned(self, update: Update) -> Json:
        """Return the event of an unassignment."""
        half, node = update.body["event"], update.nodes[0]
        exclusive = number("exclusivity", half["unassign_id"]) % EXCLUSIVE_EVERY == 0
        return {
            **_half(update),
            **self._common(update, node, node.stakeholders),
            "assignmentExclusivity": instant(update.record_time + MINUTE) if exclusive else None,
        }

    def submission(self, update: Update) -> Json:
        """Return the members that only a request about a submitter shows."""
        if not self.witnesses(update.submitters):
            return {"commandId": "", "paidTrafficCost": None}
        return {"commandId": update.command or command_id_of(update.update_id), "paidTrafficCost": update.paid}


class UpdateRenderer:
    """Updates in one update format."""

    def __init__(self, request: UpdateFormat, registry: Registry, has_hash: bool = False) -> None:
        self._shape, self._has_hash = DELTA, has_hash
        self._transactions = self._reassignments = None
        if transactions := request.include_transactions:
            self._shape = transactions.transaction_shape
            if self._shape not in (DELTA, EFFECTS):
                raise LedgerApiError("INVALID_ARGUMENT", "transaction_shape must be given")
            self._transactions = EventRenderer(transactions.event_format, registry)
        if request.include_reassignments:
            self._reassignments = EventRenderer(request.include_reassignments, registry)
        topology = request.include_topology_events and request.include_topology_events.include_participant_authorization_events
        self._topology = frozenset(topology.parties) if topology else None
        self._renderings: dict[str, tuple[str, Callable[[Update], Json | None]]] = {
            "transaction": ("Transaction", self.transaction),
            "reassignment": ("Reassignment", self.reassignment),
            "topology": ("TopologyTransaction", self._topology_transaction),
        }

    def parties(self) -> tuple[frozenset[str], bool]:
        """Return the parties that the request names, and whether it is about any party."""
        events = [each for each in (self._transactions, self._reassignments) if each]
        names = frozenset(self._topology or ()).union(*(each.parties for each in events))
        return names, any(each.any_party for each in events) or self._topology == frozenset()

    def updates(self, updates: Iterable[Update]) -> Iterator[tuple[Update, Json]]:
        """Iterate over the updates that the format includes, each with its rendering."""
        return ((update, value) for update in updates if (value := self.update(update)))

    def update(self, update: Update) -> Json | None:
        """Return an update as a one-of by its kind, or None if excluded."""
        kind, render = self._renderings[update.kind]
        value = render(update)
        return {kind: {"value": value}} if value else None

    def transaction(self, update: Update) -> Json | None:
        """Return a transaction in its flat shape, or None without events."""
        events = self._transactions
        if events is None or update.kind != "transaction":
            return None
        shape = self._shape
        rendered = [event for node in update.nodes if (event := events.event(update, node, shape))]
        if not rendered:
            return None
        external_hash = update.body.get("external_transaction_hash")
        hashes = {"externalTransactionHash": external_hash}
        if self._has_hash:
            hashes["transactionHash"] = external_hash
        return {**_transaction(update), **events.submission(update), **hashes, "events": rendered}

    def tree(self, update: Update) -> Json | None:
        """Return a transaction in the deprecated shape, without the members of newer versions."""
        events = self._transactions
        if events is None or update.kind != "transaction":
            return None
        nodes: Json = {}
        for node in update.nodes:
            for kind, value in (events.event(update, node, EFFECTS) or {}).items():
                nodes[str(node.number)] = {kind.replace("Event", "TreeEvent"): {"value": value}}
        command_id = events.submission(update)["commandId"]
        return {**_transaction(update), "commandId": command_id, "eventsById": nodes} if nodes else None

    def reassignment(self, update: Update) -> Json | None:
        """Return a reassignment, or None if its contract is excluded."""
        events, node = self._reassignments, update.nodes[0]
        match = events and events.match(node.body["template_id"], node.stakeholders)
        if not events or not match:
            return None
        assigned = "created_event" in update.body["event"]
        event = {"JsAssignmentEvent": events.assigned(update, match)} if assigned else {
            "JsUnassignedEvent": {"value": events.unassigned(update)}
        }  # fmt: skip
        synchronizer = update.body["event"]["target_synchronizer" if assigned else "source_synchronizer"]
        workflow_id = update.body.get("workflow_id", "")
        common = {**_header(update), **events.submission(update), "workflowId": workflow_id}
        return {**common, "synchronizerId": synchronizer, "events": [event]}

    def _topology_transaction(self, update: Update) -> Json | None:
        parties = self._topology
        if parties is None:
            return None
        values = ((event, *event["event"].values()) for event in update.body["events"])
        events = [event for event, value in values if not parties or value["value"]["partyId"] in parties]
        return {**_header(update), "synchronizerId": update.body["synchronizer_id"], "events": events} if events else None


TIME_LIMITS = ("allocateBefore", "settleBefore")
LOCK = {"holders": "holders", "expiresAt": "expiresAt", "context": "optContext"}  # in a view, and in a contract


def _header(update: Update) -> Json:
    return {
        "updateId": update.update_id,
        "offset": update.offset,
        "recordTime": instant(update.record_time),
        "traceContext": trace_context(update.update_id),
    }


def _transaction(update: Update) -> Json:
    body = update.body
    return {
        **_header(update),
        "workflowId": body["workflow_id"],
        "effectiveAt": body["effective_at"],
        "synchronizerId": body["synchronizer_id"],
    }


def _half(update: Update) -> Json:
    half = update.body["event"]
    return {
        "source": half["source_synchronizer"],
        "target": half["target_synchronizer"],
        "reassignmentId": half["unassign_id"],
        "submitter": half["submitter"],
        "reassignmentCounter": half["reassignment_counter"],
    }


def _interface_view(interface_id: str, created: Json) -> Json:
    """Return a contract's interface view, which may fail (docs/facts.md#ledger-event-fields)."""
    failed = number("failed view", created["contract_id"]) % FAILED_VIEW_EVERY == 0
    return {
        "interfaceId": interface_id,
        "viewStatus": NOT_COMPUTED if failed else COMPUTED,
        "viewValue": None if failed else _view_value(interface_id, created["create_arguments"]),
        "implementationPackageId": created["template_id"].partition(":")[0],
    }


def _view_value(interface_id: str, arguments: Json) -> Json:
    """Return a view of the token standard (docs/facts.md#token-standard)."""
    if interface_id.endswith(":Allocation"):
        return _allocation_view(arguments)
    lock = arguments.get("lock") or {}
    if lock and "amount" not in arguments:  # a locked coin contains the coin
        arguments = next(iter(arguments.values()))
    if "dso" in arguments:
        instrument = {"issuer": arguments["dso"], "id": "native"}
    else:
        instrument = arguments.get("instrument") or {"issuer": lock["holders"][0], "id": "MEADOW"}
    amount = arguments["amount"]
    return {
        "owner": arguments["owner"],
        "instrumentId": {"admin": instrument["issuer"], "id": instrument["id"]},
        "amount": amount["initialAmount"] if isinstance(amount, dict) else amount,
        "lock": {name: lock.get(own) for name, own in LOCK.items()} if lock else None,
        "meta": {"values": {}},
    }


def _allocation_view(arguments: Json) -> Json:
    settlement, executor = arguments["settlement"], arguments["executor"]
    leg = {"sender": arguments["sender"], "receiver": executor, "amount": arguments["amount"], "meta": {"values": {}}}
    times = {"requestedAt": settlement["requestedAt"], **dict.fromkeys(TIME_LIMITS, settlement["settleBefore"])}
    return {
        "allocation": {
            "settlement": {"executor": executor, "settlementRef": {"id": settlement["reference"], "cid": None}, **times},
            "transferLegId": settlement["reference"],
            "transferLeg": {**leg, "instrumentId": {"admin": executor, "id": "native"}},
        },
        "holdingCids": [],
        "meta": {"values": {}},
    }


def trace_context(update_id: str) -> Json | None:
    """Return the trace context of an update, or None for a few."""
    if number("untraced", update_id) % UNTRACED_EVERY == 0:
        return None
    traceparent = f"00-{digest('trace', update_id, size=16)}-{digest('span', update_id, size=8)}-01"
    return {"traceparent": traceparent, "tracestate": None}


def ledger_time(text: str) -> str:
    """Return a time of the history as the ledger writes it, with zero, three or six digits."""
    return instant(micros(datetime.fromisoformat(text)))
