"""Contracts of the whole network with their lifetimes, as the history shows them.

All transactions are read once without being written as JSON. A contract is written when it is served.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from ledgerframes.gc_pause import pause_gc

from .builder import NULL, decode_object, external_hash
from .cases import is_in_history
from .ledger import Node
from .transactions.draft import DraftTransaction
from .transactions.trees import changes
from .world import World

MAX_CACHED_SLICES = 200
NEVER = 2**63


class NetworkContract(NamedTuple):
    """A contract of the history, and where it is created."""

    identifier: str
    template: str  # package name, module and entity
    owner: str
    stakeholders: frozenset[str]
    slice_number: int
    position: int  # of the transaction in the slice
    migration_id: int
    created: int  # record time, microseconds since 1970


class NetworkContracts:
    """Contracts of a world in the order of their creation."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._contracts: dict[str, NetworkContract] = {}
        self._archived: dict[str, int] = {}  # record time by contract id
        self._parties: dict[frozenset[str], frozenset[str]] = {}  # equal sets are kept once
        self._signed: dict[str, str] = {}  # update id by external hash
        with pause_gc():
            for number in range(world.timeline.count):
                for draft in world.drafts(number):
                    if draft.is_visible and "half" not in draft.names and is_in_history(draft.event):
                        self._add(draft)
        by_time = sorted(self._contracts.values(), key=lambda each: (each.created, each.slice_number, each.position))
        self._by_time = {contract.identifier: contract for contract in by_time}
        self._nodes = lru_cache(MAX_CACHED_SLICES)(self._nodes_of_slice)

    def _add(self, draft: DraftTransaction) -> None:
        """Add what a transaction creates and archives."""
        number, time = draft.state.number, draft.event.time
        if draft.is_signed_outside:
            self._signed[external_hash(draft.update_id)] = draft.update_id
        for is_create, contract in changes(draft, draft.branches()):
            if contract is None:
                continue
            if not is_create:
                self._archived[contract.identifier] = min(time, self._archived.get(contract.identifier, NEVER))
                continue
            template = f"{contract.template.package_name}:{contract.template.identifier.partition(':')[2]}"
            parties = frozenset((*contract.signatories, *contract.observers))
            parties = self._parties.setdefault(parties, parties)
            entry = NetworkContract(
                contract.identifier, template, contract.owner, parties, number, draft.index, draft.migration_id, time
            )
            self._contracts.setdefault(contract.identifier, entry)

    def active_at(self, time: int, templates: Collection[str] = ()) -> Iterator[NetworkContract]:
        """Iterate over the active contracts of some templates, or of all, at a record time."""
        for contract in self._by_time.values():
            is_active = contract.created <= time < self._archived.get(contract.identifier, NEVER)
            if is_active and (not templates or contract.template in templates):
                yield contract

    def node(self, contract: NetworkContract) -> Node:
        """Return the node that creates a contract."""
        return self._nodes(contract.slice_number)[contract.identifier]

    def update_id(self, contract: NetworkContract) -> str:
        """Return the id of the update that creates a contract."""
        return self._world.identifiers.at(contract.slice_number, contract.position)

    def signed(self, external: str) -> str | None:
        """Return the id of the update with an external hash, or None."""
        return self._signed.get(external)

    def _nodes_of_slice(self, number: int) -> dict[str, Node]:
        """Return the creates of a slice by contract id."""
        updates = (decode_object(event.update) for event in self._world.slice(number) if event.update != NULL)
        nodes = (node for update in updates for node in update.get("events_by_id", {}).values())
        return {node["contract_id"]: node for node in nodes if "created_at" in node}
