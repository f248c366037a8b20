"""Active contracts of a participant, and the offsets of their events.

The transactions of the ledger are gone through once from its start, and only contracts that are left are written. The
state is kept at every so many slices, so that an earlier offset does not start over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from sys import intern
from threading import RLock
from typing import NamedTuple

from ledgerframes.gc_pause import pause_gc

from ..builder import decode_object, encode, write
from ..cases import is_in_ledger
from ..ledger import Contract
from ..timeline import PRIVATE
from ..times import instant, trimmed
from ..transactions.draft import DraftTransaction
from ..transactions.trees import TreeWriter, changes
from ..values import LEDGER
from ..world import World
from .projection import Node, Update, number_of, offset_of, project, slice_of
from .slices import ParticipantSlices

STATE_EVERY = 16  # slices
MAX_CACHED_STATES = 4  # of which pages are taken
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


class Creation(NamedTuple):
    """A contract of the participant's parties, and where it is created."""

    contract: Contract
    draft: DraftTransaction
    position: int  # of the node in pre-order


class Contracts:
    """Contracts of a participant."""

    def __init__(self, world: World, participant: str) -> None:
        self._world, self._participant, self._count = world, participant, world.timeline.count
        self._constants = world.constants(LEDGER.name)
        self._parties = frozenset(world.derived(ParticipantSlices, participant).party_names)
        self._is_of_dso = world.parties.dso in self._parties
        self._lock = RLock()
        self._states: dict[int, dict[str, ActiveContract]] = {0: {}}  # by the slice that they precede
        self._offsets: dict[str, list[int]] = {}  # of the create and the archive of each contract
        self._indexed = 0  # slices that `_offsets` covers
        self._equal: dict[frozenset[str], frozenset[str]] = {}  # equal sets of parties are kept once
        self._cached = lru_cache(MAX_CACHED_STATES)(self._active_at)

    def active_at(self, offset: int) -> list[ActiveContract]:
        """Return the contracts active at an offset, by the updates that last touched them."""
        with self._lock, pause_gc():  # one pause, since each end of a pause lets the collector look at all that was read
            return self._cached(offset)

    def offsets(self, contract_id: str, through: int) -> list[int]:
        """Return the offsets of a contract's create and archive up to an offset."""
        with self._lock, pause_gc():
            last = min(slice_of(through), self._count - 1)
            while len(self._offsets.get(contract_id, ())) < 2 and self._indexed <= last:
                for draft in self._drafts(self._indexed):
                    for identifier in self._touched(draft):
                        self._offsets.setdefault(identifier, []).append(offset_of(self._indexed, draft.index))
                self._indexed += 1
            return [offset for offset in self._offsets.get(contract_id, ()) if offset <= through]

    def _touched(self, draft: DraftTransaction) -> list[str]:
        """Return the ids of contracts that a transaction creates or archives."""
        if draft.event.outcome == PRIVATE:
            update = self._update(draft)
            return [node.body["contract_id"] for node in update.nodes if "created_at" in node.body] if update else []
        return [contract.identifier for _, _, contract in self._changes(draft)]

    def _active_at(self, offset: int) -> list[ActiveContract]:
        last = slice_of(offset)
        first = max(number for number in self._states if number <= last)
        state = dict(self._states[first])
        for number in range(first, min(last + 1, self._count)):
            if number % STATE_EVERY == 0 and number not in self._states:
                self._states[number] = dict(state)
            self._apply(state, number, offset)
        return sorted(state.values(), key=lambda contract: (contract.update.offset, contract.number))

    def _apply(self, state: dict[str, ActiveContract], number: int, through: int) -> None:
        """Apply the transactions of a slice up to an offset, and write what they leave."""
        created: dict[str, Creation] = {}
        for draft in self._drafts(number):
            if offset_of(number, draft.index) > through:
                break
            if half := draft.names.get("half"):
                if creation := created.pop(half["contract"].identifier, None):
                    self._add(state, [creation])
                self._apply_half(state, draft)
            elif draft.event.outcome == PRIVATE:
                self._add_private(state, draft)
            else:
                for position, is_create, contract in self._changes(draft):
                    if is_create:
                        created[contract.identifier] = Creation(contract, draft, position)
                    elif not created.pop(contract.identifier, None):
                        state.pop(contract.identifier, None)
        self._add(state, created.values())

    def _drafts(self, number: int) -> Iterator[DraftTransaction]:
        """Iterate over the transactions of a slice that may concern the participant's parties."""
        for draft in self._world.drafts(number):
            if not is_in_ledger(draft.event):
                continue
            if draft.event.outcome == PRIVATE:
                concerned = not self._parties.isdisjoint((draft.names["operator"], *draft.names["customers"]))
            elif half := draft.names.get("half"):
                concerned = half["contract"].concerns(self._parties)
            else:
                concerned = draft.is_visible and (self._is_of_dso or not draft.kind.is_internal)
            if concerned:
                yield draft

    def _changes(self, draft: DraftTransaction) -> Iterator[tuple[int, bool, Contract]]:
        """Iterate over the nodes that change the state.

        Each is its position in pre-order, whether it is a create, and its contract.
        """
        for position, (is_create, contract) in enumerate(changes(draft, draft.branches())):
            if contract and contract.concerns(self._parties):
                yield position, is_create, contract

    def _update(self, draft: DraftTransaction) -> Update | None:
        """Return what the participant sees of a transaction."""
        event, offset = write(draft, self._constants), offset_of(draft.state.number, draft.index)
        return project(self._world, self._participant, self._parties, event, offset)

    def _add(self, state: dict[str, ActiveContract], creations: Iterable[Creation]) -> None:
        """Add contracts, those of one transaction after each other."""
        update = None
        for contract, draft, position in creations:
            offset = offset_of(draft.state.number, draft.index)
            if update is None or update.offset != offset:
                writer, created_at = TreeWriter(draft, self._constants), trimmed(draft.effective_at)
                body = {"workflow_id": draft.kind.workflow_id, "synchronizer_id": draft.parties.synchronizer}
                body["effective_at"] = instant(draft.effective_at)
                update = Update(offset, draft.update_id, draft.event.time, "transaction", body)
            body_of_node = {**writer.create(contract), "created_at": created_at}
            stakeholders = self._parties.intersection((*contract.signatories, *contract.observers))
            node = Node(number_of(position, update.update_id), 0, body_of_node, stakeholders, stakeholders)
            state[contract.identifier] = self._contract(ACTIVE, update, node)

    def _add_private(self, state: dict[str, ActiveContract], draft: DraftTransaction) -> None:
        """Add what parties agreed on without the history."""
        if update := self._update(draft):
            slim = replace(update, nodes=[])
            for node in update.nodes:
                if "created_at" in node.body and node.stakeholders:
                    state[node.body["contract_id"]] = self._contract(ACTIVE, slim, node)

    def _apply_half(self, state: dict[str, ActiveContract], draft: DraftTransaction) -> None:
        """Apply an assignment or an unassignment, of which the second completes the other."""
        update = self._update(draft)
        if not update:
            return
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
        parties = self._equal.setdefault(node.stakeholders, node.stakeholders)
        return ActiveContract(state, update, node.number, encode(node.body), intern(node.body["template_id"]), parties, half)
