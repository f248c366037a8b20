"""Active contracts, the events of one contract, and completions, as the ledger API writes them."""

from __future__ import annotations

from collections.abc import Iterator

from ..builder import NULL, Event
from ..canton import CantonError
from ..randomness import digest, number
from ..times import SECOND, instant
from .contracts import ASSIGNED, UNASSIGNED, Contracts, Entry, nodes_of
from .formats import DELTA, EventFormat, Events, Match, Selection, TransactionFormat, UpdateFormat
from .ledger import ParticipantLedger
from .projection import Node, Update, read_traffic, read_verdict
from .registry import Registry
from .rendering import Json, Renderer, Version, command_id_of, trace_context, wire_instant

FAILURES = (
    (10, "LOCAL_VERDICT_LOCKED_CONTRACTS: a contract that the request uses is locked by another"),
    (10, "LOCAL_VERDICT_INACTIVE_CONTRACTS: a contract that the request uses is archived already"),
    (4, "MEDIATOR_SAYS_TX_TIMED_OUT: not enough confirmations arrived in time"),
)
USER = "ledger-api-user"


class StateView:
    """What is active, and what became of one's commands.

    Parameters
    ----------
    ledger, contracts
        The ledger, and what is active on it.
    registry
        The known templates.
    version
        Version of the ledger.
    """

    def __init__(self, ledger: ParticipantLedger, contracts: Contracts, registry: Registry, version: Version) -> None:
        self._ledger = ledger
        self._contracts = contracts
        self._registry = registry
        self._version = version

    def _prepared(self, asked: EventFormat) -> tuple[Events, Renderer]:
        transactions = TransactionFormat(asked, DELTA)
        selection = Selection(UpdateFormat(transactions, asked), self._registry)
        return Events(asked, self._registry), Renderer(selection, self._version)

    def active(self, offset: int, asked: EventFormat) -> Iterator[Json]:
        """Iterate over the entries of the active contracts at an offset that are asked for."""
        events, renderer = self._prepared(asked)
        for entry in self._contracts.active_at(offset):
            match = events.match(entry.template_id, entry.stakeholders)
            if match:
                workflow_id = entry.update.body.get("workflow_id", "")
                yield {
                    "workflowId": workflow_id,
                    "contractEntry": self._entry(entry, match, events, renderer),
                }

    def _entry(self, entry: Entry, match: Match, events: Events, renderer: Renderer) -> Json:
        if entry.state == ASSIGNED:
            return {"JsIncompleteAssigned": {"assignedEvent": renderer.assigned(entry.update, match, events)}}
        node = entry.node()
        created_at = entry.created_at or wire_instant(node.body["created_at"])
        created = renderer.created(entry.update, node, match, events.asked(entry.stakeholders), created_at)
        if entry.state == UNASSIGNED and entry.half:
            half = renderer.unassigned(entry.half, events)
            return {"JsIncompleteUnassigned": {"createdEvent": created, "unassignedEvent": half}}
        active = {"createdEvent": created, "synchronizerId": entry.synchronizer}
        return {"JsActiveContract": {**active, "reassignmentCounter": entry.counter}}

    def events_of(self, contract_id: str, asked: EventFormat) -> Json:
        """Return the created and archived event of a contract; refuse when nothing is visible."""
        end, pruned = self._ledger.end(), self._ledger.pruned_through
        events, renderer = self._prepared(asked)
        life = self._contracts.life(contract_id, end)
        missing = CantonError(
            "CONTRACT_EVENTS_NOT_FOUND",
            "there are no events of this contract that the request may see",
            resources=[("CONTRACT_ID", contract_id)],
        )
        if life is None or 0 < life.archived <= pruned:
            raise missing
        created = archived = None
        found = self._one(life.created, contract_id, events, False)
        if found:
            update, node, match = found
            witnesses = events.asked(node.stakeholders)
            shown = renderer.created(update, node, match, witnesses, update.body["effective_at"])
            created = {"createdEvent": shown, "synchronizerId": update.body["synchronizer_id"]}
        found = self._one(life.archived, contract_id, events, True) if life.archived else None
        if found:
            update, node, match = found
            shown = renderer.archived(update, node, match, events.asked(node.stakeholders))
            archived = {"archivedEvent": shown, "synchronizerId": update.body["synchronizer_id"]}
        if created is None and archived is None:
            raise missing
        return {"created": created, "archived": archived}

    def _one(self, offset: int, contract_id: str, events: Events, archives: bool) -> tuple[Update, Node, Match] | None:
        update = self._ledger.at(offset)
        for node in nodes_of(update, contract_id):
            match = events.match(node.body["template_id"], node.stakeholders)
            if update and match and node.consumes == archives:
                return update, node, match
        return None

    def completions(self, after: int, parties: frozenset[str]) -> Iterator[Json]:
        """Iterate over the completions of own submissions after an offset, rejected ones included."""
        for offset, event in self._ledger.submissions(after, self._ledger.end()):
            verdict = read_verdict(event.verdict)
            acting = [party for party in verdict.submitting_parties if party in parties]
            if verdict.submitting_participant_uid == self._ledger.participant and acting:
                yield {"Completion": {"value": self._completion(offset, event, verdict.verdict_result, acting)}}

    def _completion(self, offset: int, event: Event, result: str, acting: list[str]) -> Json:
        rejected = result.endswith("REJECTED")
        code, message = FAILURES[number("failure", event.update_id) % len(FAILURES)] if rejected else (0, "")
        value: Json = {
            "commandId": command_id_of(event.update_id),
            "status": {"code": code, "message": message, "details": []},
            "updateId": "" if rejected else event.update_id,
            "userId": USER,
            "actAs": acting,
            "submissionId": digest("submission", event.update_id, size=12),
            "deduplicationPeriod": {"DeduplicationDuration": {"value": {"seconds": 86_400, "nanos": 0}}},
            "traceContext": trace_context(event.update_id),
            "offset": offset,
            "synchronizerTime": {
                "synchronizerId": self._ledger.world.people.synchronizer,
                "recordTime": instant(event.record_time),
            },
        }
        if self._version.has(5):
            value["paidTrafficCost"] = self._paid(offset, event, rejected)
        return value

    def _paid(self, offset: int, event: Event, rejected: bool) -> int | None:
        update = None if rejected else self._ledger.at(offset)
        return update.paid if update else paid_by_verdict(event)


def paid_by_verdict(event: Event) -> int | None:
    """Return what the history says a request cost; None when it does not know."""
    if event.traffic_summary == NULL:
        return None
    return read_traffic(event.traffic_summary).total_traffic_cost


def checkpoint(ledger: ParticipantLedger, offset: int, time: int) -> Json:
    """Return an offset checkpoint: the place, and how far each synchronizer has come."""
    people = ledger.world.people
    times = [
        {"synchronizerId": name, "recordTime": instant(time - time % SECOND + later)}
        for name, later in ((people.synchronizer, 0), (people.app_synchronizer, 250_000))
    ]
    return {"OffsetCheckpoint": {"value": {"offset": offset, "synchronizerTimes": times}}}
