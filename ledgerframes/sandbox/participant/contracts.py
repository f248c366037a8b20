"""Which contracts are active at an offset, and where each was created and archived.

The ledger is read once from its beginning; the state at every so many slices is kept, so that going back does
not begin anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from sys import intern
from threading import RLock

from ..builder import encode
from .ledger import ParticipantLedger
from .offsets import slice_of
from .projection import Node, Update, read_update

CHECKPOINT_EVERY = 16  # slices
ACTIVE, ASSIGNED, UNASSIGNED = "active", "incomplete assigned", "incomplete unassigned"


@dataclass(slots=True)
class Entry:
    """A contract that the participant holds; its node is kept as JSON, because many are held for long."""

    state: str
    update: Update  # that made or last moved it, without its nodes
    number: int  # of its node
    text: bytes
    template_id: str
    stakeholders: frozenset[str]
    synchronizer: str
    counter: int
    created_at: str
    half: Update | None = None  # the reassignment that waits for its other half

    @property
    def offset(self) -> int:
        """Offset of the last update that touched it."""
        return self.update.offset

    def node(self) -> Node:
        """Return the node that created it."""
        return Node(self.number, self.number, read_update(self.text), self.stakeholders, self.stakeholders, False, True)


@dataclass(slots=True)
class Life:
    """Where a contract begins and ends."""

    created: int = 0
    archived: int = 0


class Contracts:
    """The contracts of a participant.

    Parameters
    ----------
    ledger
        The ledger.
    """

    def __init__(self, ledger: ParticipantLedger) -> None:
        self._ledger = ledger
        self._lock = RLock()
        self._lives: dict[str, Life] = {}
        self._seen = 0  # slices whose contracts `_lives` knows
        self._kept: dict[int, dict[str, Entry]] = {0: {}}  # state at the beginning of a slice

    def active_at(self, offset: int) -> list[Entry]:
        """Return the contracts held at an offset, in the order of the updates that last touched them."""
        with self._lock:
            last = slice_of(offset)
            first = max(number for number in self._kept if number <= last)
            state = dict(self._kept[first])
            for number in range(first, min(last, self._ledger.world.timeline.count - 1) + 1):
                if number % CHECKPOINT_EVERY == 0 and number not in self._kept:
                    self._kept[number] = dict(state)
                for update in self._ledger.slice(number):
                    if update.offset > offset:
                        break
                    _apply(state, update)
            return sorted(state.values(), key=lambda entry: (entry.offset, entry.number))

    def life(self, contract_id: str, through: int) -> Life | None:
        """Return where a contract begins and ends as of an offset; None when it was never seen."""
        with self._lock:
            while contract_id not in self._lives and self._seen <= min(slice_of(through), self._ledger.world.timeline.count - 1):
                self._read_lives()
            life = self._lives.get(contract_id)
            if life is None or life.created > through:
                return None
            while not life.archived and self._seen < self._ledger.world.timeline.count:
                if self._seen > slice_of(through):
                    break
                self._read_lives()
            return replace(life, archived=life.archived if life.archived <= through else 0)

    def _read_lives(self) -> None:
        for update in self._ledger.slice(self._seen):
            if update.kind == "transaction":
                for node in update.nodes:
                    identifier = node.body["contract_id"]
                    if "created_at" in node.body:
                        self._lives.setdefault(identifier, Life()).created = update.offset
                    elif node.consumes:
                        life = self._lives.get(identifier)
                        if life:
                            life.archived = update.offset
        self._seen += 1


def nodes_of(update: Update | None, contract_id: str) -> Iterator[Node]:
    """Iterate over the nodes of an update that create or archive a contract."""
    for node in update.nodes if update else ():
        if node.body["contract_id"] == contract_id and ("created_at" in node.body or node.consumes):
            yield node


def _apply(state: dict[str, Entry], update: Update) -> None:
    if update.kind == "reassignment":
        _apply_half(state, update)
    elif update.kind == "transaction":
        body = update.body
        header = {"workflow_id": body["workflow_id"]}
        slim = Update(update.offset, update.update_id, update.record_time, update.kind, header)
        for node in update.nodes:
            if not node.delta or not node.stakeholders:
                continue
            if node.consumes:
                state.pop(node.body["contract_id"], None)
            else:
                state[node.body["contract_id"]] = _entry(ACTIVE, slim, node, body["synchronizer_id"], 0, body["effective_at"])


def _entry(
    state: str, update: Update, node: Node, synchronizer: str, counter: int, created_at: str = "", half: Update | None = None
) -> Entry:
    text, template_id = encode(node.body), intern(node.body["template_id"])
    known = _parties.setdefault(node.stakeholders, node.stakeholders)
    return Entry(state, update, node.number, text, template_id, known, intern(synchronizer), counter, created_at, half)


_parties: dict[frozenset[str], frozenset[str]] = {}  # equal sets of parties are kept once


def _apply_half(state: dict[str, Entry], update: Update) -> None:
    """Apply an assignment or an unassignment; whichever comes second completes the other."""
    half, node = update.body["event"], update.nodes[0]
    assigns = "created_event" in half
    target, counter = half["target_synchronizer"], half["reassignment_counter"]
    identifier = node.body["contract_id"]
    held = state.get(identifier)
    made = _entry(ASSIGNED if assigns else UNASSIGNED, update, node, target, counter, half=update)
    waiting = held is not None and held.state == (UNASSIGNED if assigns else ASSIGNED)
    if waiting and held:
        assignment = made if assigns else held
        state[identifier] = replace(assignment, state=ACTIVE, half=None)
    elif assigns:
        state[identifier] = made
    else:
        made.synchronizer = half["source_synchronizer"]
        state[identifier] = replace(held, state=UNASSIGNED, half=update) if held else made
