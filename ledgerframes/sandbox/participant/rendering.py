"""Updates as the ledger API writes them (docs/facts.md#one-of-encodings), for one format and one ledger version."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from ..lookup import blob
from ..randomness import digest, number
from ..times import instant, micros
from .formats import EFFECTS, Events, Match, Selection
from .projection import Node, Update
from .registry import interface_view

Json = dict[str, Any]
UNTRACED_EVERY = 20


class Version(NamedTuple):
    """The ledger's version, as far as shapes depend on it (docs/facts.md#versions)."""

    major: int
    minor: int
    text: str

    @classmethod
    def of(cls, text: str) -> Version:
        """Read a version such as "3.5.14"."""
        major, minor, *_ = text.split(".")
        return cls(int(major), int(minor), text)

    def has(self, minor: int) -> bool:
        """Tell whether the version is 3.<minor> or later."""
        return (self.major, self.minor) >= (3, minor)


def wire_instant(text: str) -> str:
    """Rewrite a time of the history as the ledger does: none, three or six digits."""
    return instant(micros(datetime.fromisoformat(text)))


class Renderer:
    """Writes updates in what a request asked for.

    Parameters
    ----------
    selection
        What was asked for.
    version
        Version of the ledger.
    """

    def __init__(self, selection: Selection, version: Version) -> None:
        self._selection = selection
        self._version = version

    def update(self, update: Update) -> Json | None:
        """Return an update as ``{"Transaction": {"value": …}}`` and its like; None when not asked for."""
        if update.kind == "transaction":
            value = self.transaction(update)
            return {"Transaction": {"value": value}} if value else None
        if update.kind == "reassignment":
            value = self.reassignment(update)
            return {"Reassignment": {"value": value}} if value else None
        value = self._topology(update)
        return {"TopologyTransaction": {"value": value}} if value else None

    def transaction(self, update: Update) -> Json | None:
        """Return a transaction in its flat shape; None when no event is left."""
        asked, shape = self._selection.transactions, self._selection.shape
        if asked is None:
            return None
        events = []
        for node in update.nodes:
            match = asked.of_node(node, shape)
            if match:
                events.append(self._event(update, node, match, asked, shape == EFFECTS))
        return self._transaction(update, asked, {"events": events}) if events else None

    def tree(self, update: Update) -> Json | None:
        """Return a transaction in the deprecated shape of a tree by node ids."""
        asked = self._selection.transactions
        if asked is None or update.kind != "transaction":
            return None
        nodes: Json = {}
        for node in update.nodes:
            match = asked.of_node(node, EFFECTS)
            if match:
                ((kind, value),) = self._event(update, node, match, asked, True).items()
                nodes[str(node.number)] = {kind.replace("Event", "TreeEvent"): {"value": value}}
        return self._transaction(update, asked, {"eventsById": nodes}) if nodes else None

    def _transaction(self, update: Update, asked: Events, events: Json) -> Json:
        body = update.body
        value: Json = {
            "updateId": update.update_id,
            "commandId": command_id(update, asked),
            "workflowId": body["workflow_id"],
            "effectiveAt": body["effective_at"],
            **events,
            "offset": update.offset,
            "synchronizerId": body["synchronizer_id"],
            "traceContext": trace_context(update.update_id),
            "recordTime": instant(update.record_time),
        }
        if "eventsById" in events:
            return value  # the deprecated shape was left as it was
        if self._version.has(4):
            value["externalTransactionHash"] = body.get("external_transaction_hash")
        return self._with_cost(value, update, asked)

    def _with_cost(self, value: Json, update: Update, asked: Events) -> Json:
        if self._version.has(5):
            value["paidTrafficCost"] = update.paid if asked.asked(update.submitters) else None
        return value

    def _event(self, update: Update, node: Node, match: Match, asked: Events, effects: bool) -> Json:
        witnesses = asked.asked(node.witnesses if effects else node.stakeholders)
        if "created_at" in node.body:
            return {"CreatedEvent": self.created(update, node, match, witnesses, update.body["effective_at"])}
        if effects:
            return {"ExercisedEvent": self._exercised(update, node, match, witnesses)}
        return {"ArchivedEvent": self.archived(update, node, match, witnesses)}

    def created(self, update: Update, node: Node, match: Match, witnesses: list[str], created_at: str) -> Json:
        """Return a created event."""
        body = node.body
        value: Json = {
            "offset": update.offset,
            "nodeId": node.number,
            "contractId": body["contract_id"],
            "templateId": body["template_id"],
            "contractKey": None,
            "createArgument": body["create_arguments"],
            "createdEventBlob": blob(body["contract_id"]) if match.blob else "",
            "interfaceViews": [interface_view(name, body) for name in match.views],
            "witnessParties": witnesses,
            "signatories": body["signatories"],
            "observers": body["observers"],
            "createdAt": created_at,
            "packageName": body["package_name"],
        }
        if self._version.has(4):
            value["representativePackageId"] = body["template_id"].partition(":")[0]
            value["acsDelta"] = node.delta
        if self._version.has(5):
            value["contractKeyHash"] = ""
        return value

    def archived(self, update: Update, node: Node, match: Match, witnesses: list[str]) -> Json:
        """Return an archived event."""
        return {
            "offset": update.offset,
            "nodeId": node.number,
            "contractId": node.body["contract_id"],
            "templateId": node.body["template_id"],
            "witnessParties": witnesses,
            "packageName": node.body["package_name"],
            "implementedInterfaces": list(match.interfaces),
        }

    def _exercised(self, update: Update, node: Node, match: Match, witnesses: list[str]) -> Json:
        body = node.body
        value = {
            "offset": update.offset,
            "nodeId": node.number,
            "contractId": body["contract_id"],
            "templateId": body["template_id"],
            "interfaceId": body["interface_id"],
            "choice": body["choice"],
            "choiceArgument": body["choice_argument"],
            "actingParties": body["acting_parties"],
            "consuming": body["consuming"],
            "witnessParties": witnesses,
            "lastDescendantNodeId": node.last,
            "exerciseResult": body["exercise_result"],
            "packageName": body["package_name"],
            "implementedInterfaces": list(match.interfaces) if body["consuming"] else [],
        }
        if self._version.has(4):
            value["acsDelta"] = node.delta
        return value

    def reassignment(self, update: Update) -> Json | None:
        """Return a reassignment; None when its contract is not asked for."""
        asked, node = self._selection.reassignments, update.nodes[0]
        match = asked and asked.match(node.body["template_id"], node.stakeholders)
        if not asked or not match:
            return None
        half = update.body["event"]
        assigned = "created_event" in half
        event = self.assigned(update, match, asked) if assigned else self.unassigned(update, asked)
        value = {
            "updateId": update.update_id,
            "commandId": command_id(update, asked),
            "workflowId": "",
            "offset": update.offset,
            "events": [{"JsAssignmentEvent": event} if assigned else {"JsUnassignedEvent": {"value": event}}],
            "traceContext": trace_context(update.update_id),
            "recordTime": instant(update.record_time),
            "synchronizerId": half["target_synchronizer" if assigned else "source_synchronizer"],
        }
        return self._with_cost(value, update, asked)

    def assigned(self, update: Update, match: Match, asked: Events) -> Json:
        """Return the event of an assignment."""
        half, node = update.body["event"], update.nodes[0]
        created_at = wire_instant(node.body["created_at"])
        witnesses = asked.asked(node.stakeholders)
        return {
            **_half(half),
            "createdEvent": self.created(update, node, match, witnesses, created_at),
        }

    def unassigned(self, update: Update, asked: Events) -> Json:
        """Return the event of an unassignment."""
        half, node = update.body["event"], update.nodes[0]
        exclusive = number("exclusivity", half["unassign_id"]) % 4
        return {
            **_half(half),
            "contractId": half["contract_id"],
            "templateId": node.body["template_id"],
            "assignmentExclusivity": instant(update.record_time + 60_000_000) if exclusive == 0 else None,
            "witnessParties": asked.asked(node.stakeholders),
            "packageName": node.body["package_name"],
            "offset": update.offset,
            "nodeId": 0,
        }

    def _topology(self, update: Update) -> Json | None:
        wanted = self._selection.topology
        if wanted is None:
            return None
        events = [event for event in update.body["events"] if not wanted or _party_of(event) in wanted]
        if not events:
            return None
        return {
            "updateId": update.update_id,
            "offset": update.offset,
            "synchronizerId": update.body["synchronizer_id"],
            "recordTime": instant(update.record_time),
            "events": events,
            "traceContext": trace_context(update.update_id),
        }


def _half(half: Json) -> Json:
    return {
        "source": half["source_synchronizer"],
        "target": half["target_synchronizer"],
        "reassignmentId": half["unassign_id"],
        "submitter": half["submitter"],
        "reassignmentCounter": half["reassignment_counter"],
    }


def _party_of(event: Json) -> str:
    ((_, wrapped),) = event["event"].items()
    return str(wrapped["value"]["partyId"])


def command_id(update: Update, asked: Events) -> str:
    """Return the command id when the request is about a submitting party; otherwise an empty text."""
    return command_id_of(update.update_id) if asked.asked(update.submitters) else ""


def command_id_of(update_id: str) -> str:
    """Return the command id of an own submission."""
    return digest("command", update_id, size=12)


def trace_context(update_id: str) -> Json | None:
    """Return the trace context of an update; a few have none."""
    if number("untraced", update_id) % UNTRACED_EVERY == 0:
        return None
    traceparent = f"00-{digest('trace', update_id, size=16)}-{digest('span', update_id, size=8)}-01"
    return {"traceparent": traceparent, "tracestate": None}
