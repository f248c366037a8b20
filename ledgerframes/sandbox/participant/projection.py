"""Updates of a participant's ledger (docs/facts.md#ledger-event-fields).

Offsets follow from the position of an event by arithmetic, so that any update can be located at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ..builder import NULL, Event, decode_object
from ..identifiers import contract_id
from ..ledger import Contract, arrange, create, exercise
from ..randomness import digest, number
from ..times import instant
from ..transactions.templates.apps import TRADE, VENUE
from ..world import World

STRIDE = 20_000  # offsets per slice, more than twice the events of any slice
FIRST = 1
NO_PARTIES: frozenset[str] = frozenset()
ROLLED_BACK_EVERY = 5  # one transaction of so many has a rolled-back node, whose number is skipped
PRIVATE_LATENCY = 380_000  # microseconds from effective to record time


def offset_of(slice_number: int, index: int) -> int:
    """Return the offset of an event by its index in a slice.

    Topology transactions use the offset before it.
    """
    return FIRST + slice_number * STRIDE + 2 * index + 1


def slice_of(offset: int) -> int:
    """Return the number of the slice that an offset belongs to."""
    return max(0, offset - FIRST) // STRIDE


def number_of(position: int, update_id: str) -> int:
    """Return the number of a node by its position in pre-order.

    A rolled-back node after the first is skipped.
    """
    return position + (position > 0 and has_gap(update_id))


def has_gap(update_id: str) -> bool:
    """Return whether a transaction has a rolled-back node."""
    return number("rolled back", update_id) % ROLLED_BACK_EVERY == 0


@dataclass(slots=True)
class Node:
    """A node that the participant sees, with the parties among its own."""

    number: int
    last: int  # number of its last descendant, or its own
    body: dict[str, Any]
    witnesses: frozenset[str]
    stakeholders: frozenset[str]
    consumes: bool = False
    delta: bool = True  # whether it changes the active contracts, unlike contracts that begin and end in one update


@dataclass(slots=True)
class Update:
    """An update of the participant's ledger, independent of request formats."""

    offset: int
    update_id: str
    record_time: int  # microseconds since 1970
    kind: str  # "transaction", "reassignment" or "topology"
    body: dict[str, Any]
    nodes: list[Node] = field(default_factory=list)
    submitters: frozenset[str] = NO_PARTIES  # empty unless the participant submitted it
    paid: int | None = None
    command: str = ""  # command id of a submission through the API


def command_id_of(update_id: str) -> str:
    """Return the command id of a submission of the world."""
    return digest("command", update_id, size=12)


def cost_of(event: Event) -> int | None:
    """Return the traffic cost of an event, or None without a traffic summary."""
    return None if event.traffic_summary == NULL else int(decode_object(event.traffic_summary)["total_traffic_cost"])


def project(world: World, participant: str, parties: frozenset[str], event: Event, offset: int) -> Update | None:
    """Return what a participant sees of an event, or None if it is not visible."""
    verdict = decode_object(event.verdict) if event.verdict != NULL else None
    if event.update != NULL:
        body = decode_object(event.update)
    elif verdict and verdict["verdict_result"].endswith("ACCEPTED"):
        body = _private_body(world, event, verdict)
    else:
        return None
    half = body.get("event")
    nodes = _reassigned(half, parties) if half else _visible_nodes(body, parties)
    if not nodes:
        return None
    kind = "reassignment" if half else "transaction"
    update = Update(offset, event.update_id, event.record_time, kind, body, nodes)
    if verdict is None:  # in the first migration, the first actor is the submitter
        update.submitters = parties.intersection(_first_actors(body))
    elif verdict["submitting_participant_uid"] == participant:
        update.submitters = parties.intersection(verdict["submitting_parties"])
        update.paid = cost_of(event)
    return update


def _reassigned(half: dict[str, Any], parties: frozenset[str]) -> list[Node]:
    created = half.get("created_event") or half["unassigned_contract"]
    stakeholders = parties.intersection((*created["signatories"], *created["observers"]))
    return [Node(0, 0, created, stakeholders, stakeholders)] if stakeholders else []


def _private_body(world: World, event: Event, verdict: dict[str, Any]) -> dict[str, Any]:
    """Return the transaction behind a verdict without update, in the form of the history."""
    operator = verdict["submitting_parties"][0]
    customers = [party for party in verdict["transaction_views"]["views"][0]["informees"] if party != operator]
    constants, effective_at = world.constants(), event.record_time - PRIVATE_LATENCY
    trades = []
    for position, customer in enumerate(customers):
        cents = number("private sum", event.update_id, position) % 1_000_000
        price = f"{cents // 100}.{cents % 100:02d}00000000"
        terms = {"buyer": customer, "seller": operator, "venue": operator, "price": price}
        identifier = contract_id("private", event.update_id, position)
        trades.append(create(Contract(identifier, constants.templates[TRADE], [operator, customer]), terms))
    venue = constants.lasting(VENUE, operator)
    result = [trade["contract_id"] for trade in trades]
    root = exercise(venue, "Venue_Agree", {"customers": customers}, result, [operator], trades)
    root_ids, nodes = arrange(event.update_id, [root], effective_at, stakeholders=True)
    return {
        "update_id": event.update_id,
        "workflow_id": "",
        "synchronizer_id": world.parties.synchronizer,
        "effective_at": instant(effective_at),
        "root_event_ids": root_ids,
        "events_by_id": nodes,
    }


def _visible_nodes(body: dict[str, Any], parties: frozenset[str]) -> list[Node]:
    """Return the nodes of a transaction in pre-order that some of the parties witness."""
    visited: list[tuple[Node, Node | None]] = []  # with the parent
    stack: list[tuple[str, Node | None]] = [(root, None) for root in reversed(body["root_event_ids"])]
    numbers = count()
    is_rolled_back = has_gap(body["update_id"])
    while stack:
        event_id, parent = stack.pop()
        event = body["events_by_id"][event_id]
        own = last = next(numbers)
        if is_rolled_back and own == 0:
            last = next(numbers)
        created = "created_at" in event
        signatories, observers = (event["signatories"], event["observers"]) if created else event["stakeholders"]
        stakeholders = parties.intersection(signatories) | parties.intersection(observers)
        consumes = not created and event["consuming"]
        informees = stakeholders if created or consumes else parties.intersection(signatories)
        if not created:
            informees |= parties.intersection(event["acting_parties"])
        witnesses = parent.witnesses | informees if parent else informees
        node = Node(own, last, event, witnesses, stakeholders, consumes, created or consumes)
        visited.append((node, parent))
        stack += [(child, node) for child in reversed(event.get("child_event_ids", ()))]
    for node, parent in reversed(visited):
        if parent:
            parent.last = max(parent.last, node.last)
    nodes = [node for node, _ in visited if node.witnesses]
    archived = {node.body["contract_id"] for node in nodes if node.consumes}
    transient = archived.intersection(node.body["contract_id"] for node in nodes if node.delta and not node.consumes)
    for node in nodes if transient else ():
        if node.body["contract_id"] in transient:
            node.delta = False
    return nodes


def _first_actors(body: dict[str, Any]) -> list[str]:
    if "event" in body:
        return [body["event"]["submitter"]]
    root = body["events_by_id"][body["root_event_ids"][0]]
    return list(root.get("acting_parties", root.get("signatories", [])))[:1]
