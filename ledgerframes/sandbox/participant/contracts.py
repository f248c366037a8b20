"""Active contracts of a participant, and the offsets of their events.

The ledger is read once from its start. The state is kept at every so many slices, so that an earlier offset does not
start over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from sys import intern
from threading import RLock

from ledgerframes.gc_pause import pause_gc

from ..builder import decode_object, encode
from ..world import World
from .projection import Node, Update, slice_of
from .slices import ParticipantSlices

STATE_EVERY = 16  # slices
ACTIVE, ASSIGNED, UNASSIGNED = "active", "incomplete assigned", "incomplete unassigned"


@dataclass(slots=True)
class ActiveContract:
    """An active contract, whose create node is JSON to save memory."""

    state: str
    update: Update  # that created or last moved it; of transactions without nodes
    number: int  # of its create node
    text: bytes
    template_id: str
    stakeholders: frozenset[str]
    half: Update | None = None  # the reassignment whose other half is not here yet

    def node(self) -> Node:
        """Return the node that created it."""
        return Node(self.number, self.number, decode_object(self.text), self.stakeholders, self.stakeholders)


class Contracts:
    """Contracts of a participant."""

    def __init__(self, world: World, participant: str) -> None:
        self._slice, self._count = world.derived(ParticipantSlices, participant).slice, world.timeline.count
        self._lock = RLock()
        self._states: dict[int, dict[str, ActiveContract]] = {0: {}}  # by the slice that they precede
        self._offsets: dict[str, list[int]] = {}  # of the create and the archive of each contract
        self._indexed = 0  # slices that `_offsets` covers
        self._parties: dict[frozenset[str], frozenset[str]] = {}  # equal sets of parties are kept once

    def active_at(self, offset: int) -> list[ActiveContract]:
        """Return the contracts active at an offset, by the updates that last touched them."""
        with self._lock, pause_gc():  # one pause, since each end of a pause lets the collector look at all that was read
            last = slice_of(offset)
            first = max(number for number in self._states if number <= last)
            state = dict(self._states[first])
            for number in range(first, min(last + 1, self._count)):
                if number % STATE_EVERY == 0 and number not in self._states:
                    self._states[number] = dict(state)
                for update in self._slice(number):
                    if update.offset <= offset:
                        self._apply(state, update)
            return sorted(state.values(), key=lambda contract: (contract.update.offset, contract.number))

    def offsets(self, contract_id: str, through: int) -> list[int]:
        """Return the offsets of a contract's create and archive up to an offset."""
        with self._lock, pause_gc():
            last = min(slice_of(through), self._count - 1)
            while len(self._offsets.get(contract_id, ())) < 2 and self._indexed <= last:
                for update in self._slice(self._indexed):
                    for node in update.nodes if update.kind == "transaction" else ():
                        if "created_at" in node.body or (node.consumes and node.body["contract_id"] in self._offsets):
                            self._offsets.setdefault(node.body["contract_id"], []).append(update.offset)
                self._indexed += 1
            return [offset for offset in self._offsets.get(contract_id, ()) if offset <= through]

    def _apply(self, state: dict[str, ActiveContract], update: Update) -> None:
        if update.kind == "reassignment":
            self._apply_half(state, update)
        elif update.kind == "transaction":
            body = {name: update.body[name] for name in ("workflow_id", "effective_at", "synchronizer_id")}
            slim = replace(update, body=body, nodes=[])
            for node in update.nodes:
                if node.delta and node.stakeholders and node.consumes:
                    state.pop(node.body["contract_id"], None)
                elif node.delta and node.stakeholders:
                    state[node.body["contract_id"]] = self._contract(ACTIVE, slim, node)

    def _apply_half(self, state: dict[str, ActiveContract], update: Update) -> None:
        """Apply an assignment or an unassignment, of which the second completes the other."""
        node, assigns = update.nodes[0], "created_event" in update.body["event"]
        identifier = node.body["contract_id"]
        known = state.get(identifier)
        contract = self._contract(ASSIGNED if assigns else UNASSIGNED, update, node, update)
        if known and known.state == (UNASSIGNED if assigns else ASSIGNED):
            state[identifier] = replace(contract if assigns else known, state=ACTIVE, half=None)
        elif known and not assigns:
            state[identifier] = replace(known, state=UNASSIGNED, half=update)
        else:
            state[identifier] = contract

    def _contract(self, state: str, update: Update, node: Node, half: Update | None = None) -> ActiveContract:
        parties = self._parties.setdefault(node.stakeholders, node.stakeholders)
        return ActiveContract(state, update, node.number, encode(node.body), intern(node.body["template_id"]), parties, half)
