"""What a participant sees of an event of the world: the nodes whose informees it hosts (docs/facts.md#ledger-event-fields)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..builder import NULL, Event
from ..randomness import number
from .private import private_update

NOBODY: frozenset[str] = frozenset()
ROLLED_BACK_EVERY = 5  # in one transaction of so many, a node was rolled back: its number is missing


class Verdict(msgspec.Struct):
    """What the ledger needs of a verdict."""

    submitting_parties: list[str]
    submitting_participant_uid: str
    verdict_result: str
    transaction_views: dict[str, Any]


class Traffic(msgspec.Struct):
    """What the ledger needs of a traffic summary."""

    total_traffic_cost: int


read_verdict = msgspec.json.Decoder(Verdict).decode
read_traffic = msgspec.json.Decoder(Traffic).decode
read_update = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(slots=True)
class Node:
    """A node that the participant sees; parties are those it hosts."""

    number: int
    last: int  # number of the last node below it, or its own
    body: dict[str, Any]
    witnesses: frozenset[str]
    stakeholders: frozenset[str]
    consumes: bool
    delta: bool  # whether it changes the active contracts: contracts made and used up here do not


@dataclass(slots=True)
class Update:
    """An update of the participant's ledger, before anybody asks for it in a format."""

    offset: int
    update_id: str
    record_time: int  # microseconds since 1970
    kind: str  # "transaction", "reassignment" or "topology"
    body: dict[str, Any]
    nodes: list[Node] = field(default_factory=list)
    submitters: frozenset[str] = NOBODY  # own submissions only
    paid: int | None = None


def transaction(event: Event, body: dict[str, Any], offset: int, parties: frozenset[str]) -> Update | None:
    """Project a transaction; None when no node is left.

    Parameters
    ----------
    event
        The event of the world.
    body
        Its decoded update.
    offset
        Its offset.
    parties
        The parties that the participant hosts.
    """
    nodes = _Walk(body, parties).nodes
    if not nodes:
        return None
    return Update(offset, event.update_id, event.record_time, "transaction", body, nodes)


class _Walk:
    """Numbers the nodes of a tree in pre-order and keeps those that some party witnesses."""

    def __init__(self, body: dict[str, Any], parties: frozenset[str]) -> None:
        self._by_id: dict[str, dict[str, Any]] = body["events_by_id"]
        self._parties = parties
        self._next = 0
        self._gap = number("rolled back", body["update_id"]) % ROLLED_BACK_EVERY == 0
        self.nodes: list[Node] = []
        for root in body["root_event_ids"]:
            self._visit(root, NOBODY)
        self._mark_transient()

    def _visit(self, event_id: str, inherited: frozenset[str]) -> None:
        body = self._by_id[event_id]
        own = self._next
        self._next += 2 if self._gap and own == 0 else 1
        created = "created_at" in body
        signatories, observers = (body["signatories"], body["observers"]) if created else body["stakeholders"]
        parties = self._parties
        stakeholders = parties.intersection(signatories) | parties.intersection(observers)
        consumes = not created and body["consuming"]
        informees = stakeholders if created or consumes else parties.intersection(signatories)
        if not created:
            informees |= parties.intersection(body["acting_parties"])
        witnesses = inherited | informees
        node = Node(own, own, body, witnesses, stakeholders, consumes, created or consumes)
        if witnesses:
            self.nodes.append(node)
        for child in body.get("child_event_ids", ()):
            self._visit(child, witnesses)
        node.last = self._next - 1

    def _mark_transient(self) -> None:
        made = {node.body["contract_id"] for node in self.nodes if node.delta and not node.consumes}
        gone = {node.body["contract_id"] for node in self.nodes if node.consumes}
        for node in self.nodes:
            if node.body["contract_id"] in made and node.body["contract_id"] in gone:
                node.delta = False


def reassignment(event: Event, body: dict[str, Any], offset: int, parties: frozenset[str]) -> Update | None:
    """Project a half of a reassignment; None when no stakeholder is hosted here."""
    half = body["event"]
    created = half.get("created_event") or half["unassigned_contract"]
    stakeholders = parties.intersection(
        created["signatories"],
    ) | parties.intersection(created["observers"])
    if not stakeholders:
        return None
    node = Node(0, 0, created, stakeholders, stakeholders, False, True)
    return Update(offset, event.update_id, event.record_time, "reassignment", body, [node])


def project(event: Event, offset: int, parties: frozenset[str], participant: str, synchronizer: str, seed: int) -> Update | None:
    """Return what a participant sees of an event; None for what it does not, and for rejected requests.

    Parameters
    ----------
    event
        The event, its update in the ledger's encoding.
    offset
        The offset it has here.
    parties
        The parties that the participant hosts.
    participant
        Id of the participant.
    synchronizer
        Id of the network's synchronizer.
    seed
        Seed of the world.
    """
    verdict = read_verdict(event.verdict) if event.verdict != NULL else None
    if event.update != NULL:
        body = read_update(event.update)
    elif verdict and verdict.verdict_result.endswith("ACCEPTED"):
        body = private_update(event, verdict.submitting_parties, verdict.transaction_views, synchronizer, seed)
    else:
        return None
    make = reassignment if "event" in body else transaction
    update = make(event, body, offset, parties)
    if update:
        _add_submission(update, event, verdict, parties, participant)
    return update


def _add_submission(update: Update, event: Event, verdict: Verdict | None, parties: frozenset[str], participant: str) -> None:
    if verdict is None:
        # The network's youth has no verdicts; the first to act there is the one who submitted.
        update.submitters = parties.intersection(_first_actors(update))
    elif verdict.submitting_participant_uid == participant:
        update.submitters = parties.intersection(verdict.submitting_parties)
        if event.traffic_summary != NULL:
            update.paid = read_traffic(event.traffic_summary).total_traffic_cost


def _first_actors(update: Update) -> list[str]:
    if update.kind == "reassignment":
        return [update.body["event"]["submitter"]]
    root = update.body["events_by_id"][update.body["root_event_ids"][0]]
    return list(root.get("acting_parties", root.get("signatories", [])))[:1]
