"""Contracts, and nodes of transaction trees on the wire (docs/facts.md#update-items)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from .identifiers import contract_id
from .randomness import Draws
from .times import trimmed

Node = dict[str, Any]


class Template(NamedTuple):
    """A template with its full id (package id, module, entity) and package name."""

    identifier: str
    package_name: str

    @property
    def package_id(self) -> str:
        """Id of the package."""
        return self.identifier.partition(":")[0]


class Contract:
    """A contract of the world."""

    def __init__(
        self,
        identity: str | tuple[object, ...],  # its id, or what the id is a hash of
        template: Template,
        signatories: Sequence[str],  # ascending, as the observers
        observers: Sequence[str] = (),
        owner: str = "",  # who may use it
        units: int = 0,  # of 10**-10
        created_at: int = 0,  # effective time, microseconds since 1970; 0 if unknown
        round_number: int = 0,  # of a coupon
    ) -> None:
        self._identity, self.template, self._signatories, self._observers = identity, template, signatories, observers
        self.owner, self.units, self.created_at, self.round_number = owner, units, created_at, round_number
        self.is_spent = False  # whether a transaction has consumed it or is about to

    @property
    def identifier(self) -> str:
        """Id of the contract, made when it is first read."""
        if not isinstance(self._identity, str):
            self._identity = contract_id(*self._identity)
        return self._identity

    @property
    def signatories(self) -> Sequence[str]:
        """Signatories, ascending."""
        return self._signatories

    @property
    def observers(self) -> Sequence[str]:
        """Observers, ascending."""
        return self._observers

    def concerns(self, parties: frozenset[str]) -> bool:
        """Return whether one of some parties is a signatory or an observer."""
        return not (parties.isdisjoint(self._signatories) and parties.isdisjoint(self._observers))


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
        """Return an unspent contract without taking it, or None."""
        while self._contracts:
            index = draws.below(len(self._contracts))
            contract = self._contracts[index]
            if not contract.is_spent:
                return contract
            self._contracts[index] = self._contracts[-1]
            self._contracts.pop()
        return None

    def take(self, owner: str, limit: int, rounds: Container[int] | None = None) -> list[Contract]:
        """Take up to `limit` contracts of an owner, which the caller must consume.

        With `rounds`, only coupons of these rounds.
        """
        owned = self._by_owner.get(owner, [])
        owned[:] = [contract for contract in owned if not contract.is_spent]
        fitting = (contract for contract in reversed(owned) if rounds is None or contract.round_number in rounds)
        return _spend(islice(fitting, limit))

    def take_rounds(self, rounds: Container[int]) -> list[Contract]:
        """Take all contracts of some rounds, for the caller to consume."""
        return _spend(each for each in self._contracts if not each.is_spent and each.round_number in rounds)

    def take_any(self, draws: Draws, limit: int) -> list[Contract]:
        """Take up to `limit` contracts of any owner, which the caller must consume."""
        return _spend(islice(iter(lambda: self.any(draws), None), limit))


def _spend(contracts: Iterable[Contract]) -> list[Contract]:
    spent = []
    for contract in contracts:
        contract.is_spent = True
        spent.append(contract)
    return spent


def create(contract: Contract, arguments: Any) -> Node:
    """Return the node that creates a contract, without the id and time that `arrange` sets."""
    return {
        "event_type": "created_event",
        "event_id": "",
        "contract_id": contract.identifier,
        "template_id": contract.template.identifier,
        "package_name": contract.template.package_name,
        "create_arguments": arguments,
        "created_at": "",
        "signatories": contract.signatories,
        "observers": contract.observers,
    }


def exercise(
    contract: Contract,
    choice: str,  # unqualified
    argument: Any,
    result: Any,
    actors: Sequence[str],
    children: Sequence[Node] = (),  # in the order of execution
    consuming: bool = False,
    interface: Template | None = None,  # that the choice is inherited from
) -> Node:
    """Return the node that exercises a choice on a contract.

    See docs/facts.md#consuming-exercise-archives and docs/facts.md#exercise-result-any-json.
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
    """Number the nodes of a tree in pre-order, and return root_event_ids and events_by_id.

    The latter is in the string order of its keys (docs/facts.md#event-id-order). Only the ledger API needs the
    `stakeholders` of exercised contracts.
    """
    nodes: list[Node] = []
    root_ids = [_number(root, nodes, update_id) for root in roots]
    created_at = trimmed(effective_at)
    for node in nodes:
        if "created_at" in node:
            node["created_at"] = created_at
        elif not stakeholders:
            del node["stakeholders"]
    return root_ids, {nodes[index]["event_id"]: nodes[index] for index in string_order(len(nodes))}


def _number(node: Node, nodes: list[Node], update_id: str) -> str:  # no closure, whose cycles would keep the trees
    node["event_id"] = identifier = f"{update_id}:{len(nodes)}"
    nodes.append(node)
    if "created_at" not in node:
        node["child_event_ids"] = [_number(child, nodes, update_id) for child in node["child_event_ids"]]
    return identifier


@cache
def string_order(count: int) -> tuple[int, ...]:
    """Return 0 to count - 1 in the order of their decimal texts, with 10 before 2."""
    return tuple(sorted(range(count), key=str))
