"""Nodes of transactions in one encoding, and the contracts that they create and archive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from ..ledger import Contract, Node, archive, create, exercise
from ..values import Names
from .constants import Step, WorldConstants
from .draft import Branch, DraftTransaction, MadeContract, resolve_parties
from .specs import Keyed


class TreeWriter:
    """Writer of the nodes of one transaction, in the encoding of some constants."""

    def __init__(self, draft: DraftTransaction, constants: WorldConstants) -> None:
        self._version, self._shared, self._constants = draft.version, draft.names, constants

    def nodes(self, branches: Iterable[Branch]) -> list[Node]:
        """Return the nodes of branches."""
        return [node for tree, names in branches for node in self._steps(self._constants.tree(tree), {**self._shared, **names})]

    def create(self, contract: Contract) -> Node:
        """Return the node that creates a contract of a transaction."""
        if not isinstance(contract, MadeContract):
            raise TypeError(f"No transaction makes {contract.identifier}.")
        return create(contract, Raw(self._constants.payload(contract.spec)({**self._shared, **contract.names})))

    def _steps(self, steps: Iterable[Step], names: Names) -> list[Node]:
        nodes: list[Node] = []
        for step in steps:
            if step.action == "create":
                nodes += map(self.create, _as_list(names[step.name]))
            elif step.action == "archive":
                nodes += [archive(contract, Raw(self._constants.unit)) for contract in _as_list(names[step.name])]
            elif step.action == "insert":
                nodes += self.nodes(names[step.name])
            else:
                nodes.append(self._exercise(step, names))
        return nodes

    def _exercise(self, step: Step, names: Names) -> Node:
        contract = _contract_of(step, names, self._constants)
        children = self._steps(step.children, names) if step.children else []
        argument, result = Raw(step.argument(names)), Raw(step.result(names))
        actors = resolve_parties(step.actors, names)
        node = exercise(contract, step.name, argument, result, actors, children, step.is_consuming, step.interface)
        node["template_id"] = self._version(contract.template).identifier
        return node


def changes(draft: DraftTransaction, branches: Iterable[Branch]) -> list[tuple[bool, Contract | None]]:
    """Return one entry for each node of branches in pre-order, written or not.

    It is whether the node creates a contract, and the contract that it creates or archives, if any.
    """
    constants = draft.constants
    nodes: list[tuple[bool, Contract | None]] = []
    for tree, own in branches:
        names = {**draft.names, **own}
        for step in constants.steps(tree):
            if step.action == "insert":
                nodes += changes(draft, names[step.name])
            elif step.action == "exercise":
                nodes.append((False, _contract_of(step, names, constants) if step.is_consuming else None))
            else:
                nodes += [(step.action == "create", contract) for contract in _as_list(names[step.name])]
    return nodes


def _contract_of(step: Step, names: Names, constants: WorldConstants) -> Contract:
    """Return the contract that a step exercises a choice of."""
    if isinstance(step.contract, Keyed):
        return constants.lasting(step.contract.template, names[step.contract.key])
    contract: Contract = names[step.contract]
    return contract


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
