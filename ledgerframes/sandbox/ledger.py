"""Contracts, and the nodes of a transaction tree as the history API writes them (docs/facts.md#update-items)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from .randomness import Draws
from .times import trimmed

Node = dict[str, Any]


class Template(NamedTuple):
    """A template: its full id (package id, module, entity) and the name of its package."""

    identifier: str
    package_name: str


@dataclass(slots=True, eq=False)
class Contract:
    """A contract of the world.

    Parameters
    ----------
    identifier
        Contract id.
    template
        Its template.
    arguments
        Create arguments as JSON; None if only its id and parties matter.
    signatories, observers
        Party ids, ascending.
    owner
        Party id of the one that may use it.
    units
        Amount in units of 10**-10.
    created_at
        Effective time of its creation, microseconds since 1970; 0 if unknown.
    is_spent
        Whether a transaction has consumed it or is about to.
    """

    identifier: str
    template: Template
    arguments: Any
    signatories: Sequence[str]
    observers: Sequence[str] = ()
    owner: str = ""
    units: int = 0
    created_at: int = 0
    is_spent: bool = False


class Pool:
    """Contracts that later transactions may consume, each once."""

    def __init__(self) -> None:
        self._contracts: list[Contract] = []
        self._by_owner: dict[str, list[Contract]] = {}

    def add(self, contract: Contract) -> None:
        """Offer a contract to its owner and to others."""
        self._contracts.append(contract)
        self._by_owner.setdefault(contract.owner, []).append(contract)

    def any(self, draws: Draws) -> Contract | None:
        """Return an unspent contract without taking it; None if there is none."""
        while self._contracts:
            index = draws.below(len(self._contracts))
            contract = self._contracts[index]
            if not contract.is_spent:
                return contract
            self._contracts[index] = self._contracts[-1]
            self._contracts.pop()
        return None

    def take(self, owner: str, limit: int) -> list[Contract]:
        """Take up to `limit` contracts of an owner; the caller must consume them."""
        contracts: list[Contract] = []
        owned = self._by_owner.get(owner, [])
        while owned and len(contracts) < limit:
            contract = owned.pop()
            if not contract.is_spent:
                contract.is_spent = True
                contracts.append(contract)
        return contracts

    def take_any(self, draws: Draws, limit: int) -> list[Contract]:
        """Take up to `limit` contracts of any owner; the caller must consume them."""
        contracts: list[Contract] = []
        while len(contracts) < limit and (contract := self.any(draws)):
            contract.is_spent = True
            contracts.append(contract)
        return contracts


def create(contract: Contract) -> Node:
    """Return the node that creates a contract; its id and time are filled in by `arrange`."""
    return {
        "event_type": "created_event",
        "event_id": "",
        "contract_id": contract.identifier,
        "template_id": contract.template.identifier,
        "package_name": contract.template.package_name,
        "create_arguments": contract.arguments,
        "created_at": "",
        "signatories": contract.signatories,
        "observers": contract.observers,
    }


def exercise(
    contract: Contract,
    choice: str,
    argument: Any,
    result: Any,
    actors: Sequence[str],
    children: Sequence[Node] = (),
    consuming: bool = False,
    interface: Template | None = None,
) -> Node:
    """Return the node that exercises a choice on a contract.

    Parameters
    ----------
    contract
        The contract exercised; a consuming exercise is its archive (docs/facts.md#consuming-exercise-archives).
    choice
        Name of the choice, unqualified.
    argument, result
        Already encoded values; a result may be of any JSON type (docs/facts.md#exercise-result-any-json).
    actors
        Party ids of the acting parties.
    children
        Nodes below this one, in the order of execution.
    consuming
        Whether the contract ends here.
    interface
        The interface that the choice is inherited from.

    Returns
    -------
    dict
        The node; `arrange` replaces the children by their ids. The stakeholders are for the ledger API.
    """
    return {
        "event_type": "exercised_event",
        "event_id": "",
        "contract_id": contract.identifier,
        "template_id": contract.template.identifier,
        "package_name": contract.template.package_name,
        "choice": choice,
        "choice_argument": argument,
        "child_event_ids": children,
        "exercise_result": result,
        "consuming": consuming,
        "acting_parties": sorted(actors) if len(actors) > 1 else list(actors),
        "interface_id": interface.identifier if interface else None,
        "stakeholders": [contract.signatories, contract.observers],
    }


def archive(contract: Contract, unit: Any) -> Node:
    """Return the node of the plain Archive choice."""
    return exercise(contract, "Archive", unit, unit, contract.signatories, consuming=True)


def arrange(
    update_id: str, roots: Sequence[Node], effective_at: int, stakeholders: bool = False
) -> tuple[list[str], dict[str, Node]]:
    """Number the nodes of a transaction and lay them out as the wire does.

    Parameters
    ----------
    update_id
        Id of the update; node n gets the id "<update_id>:<n>".
    roots
        Root nodes in the order of execution.
    effective_at
        Ledger effective time, microseconds since 1970.
    stakeholders
        Whether exercises keep the stakeholders of their contracts; the history does not show them.

    Returns
    -------
    tuple
        root_event_ids, and events_by_id in the string order of its keys (docs/facts.md#event-id-order).
    """
    nodes: list[Node] = []
    created_at = trimmed(effective_at)

    def visit(node: Node) -> str:
        identifier = f"{update_id}:{len(nodes)}"
        node["event_id"] = identifier
        nodes.append(node)
        if "created_at" in node:
            node["created_at"] = created_at
        else:
            if not stakeholders:
                del node["stakeholders"]
            node["child_event_ids"] = [visit(child) for child in node["child_event_ids"]]
        return identifier

    root_ids = [visit(root) for root in roots]
    return root_ids, {nodes[index]["event_id"]: nodes[index] for index in string_order(len(nodes))}


@cache
def string_order(count: int) -> tuple[int, ...]:
    """Return 0 to count - 1 in the order of their decimal texts: 10 stands before 2."""
    return tuple(sorted(range(count), key=str))
