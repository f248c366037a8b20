"""Declarations that templates, choices and trees of transactions are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..payloads import Value


@dataclass(frozen=True, eq=False)
class TemplateSpec:
    """A template or interface, with its parties as names of a transaction."""

    package: str
    qualified_name: str
    payload: Value = None
    signatories: tuple[str, ...] = ("dso",)
    observers: tuple[str, ...] = ()
    owner: str = "owner"  # who may use its contracts
    key_word: str = ""  # in the ids of contracts that are known by a key
    uploader: str = ""  # of the package, if not the network
    has_note: bool = False  # whether a text is drawn for its "note"

    def parties(self, names: Mapping[str, Any]) -> tuple[list[str], list[str], str]:
        """Return signatories, observers and owner of a contract with these names."""
        signatories = sorted({names[name] for name in self.signatories})
        return signatories, sorted({names[name] for name in self.observers}), names.get(self.owner, "")


class Keyed(NamedTuple):
    """A contract that is known by the value of a name of a transaction."""

    template: TemplateSpec
    key: str


@dataclass(frozen=True, eq=False)
class ChoiceSpec:
    """A choice, with its contract and its actors as names of a transaction."""

    name: str
    contract: str | Keyed
    actors: tuple[str, ...]
    argument: Value
    result: Value
    is_consuming: bool = False
    interface: TemplateSpec | None = None


class TreeNode(NamedTuple):
    """A node of a tree, or several of one action, with contracts as names of a transaction."""

    action: Literal["create", "archive", "insert", "exercise"]
    name: str = ""  # of a contract, or of contracts or nodes
    choice: ChoiceSpec | None = None
    children: tuple[TreeNode, ...] = ()


def create(name: str) -> TreeNode:
    """Return the nodes that create the contract or contracts with a name."""
    return TreeNode("create", name)


def archive(name: str) -> TreeNode:
    """Return the nodes that archive the contract or contracts with a name."""
    return TreeNode("archive", name)


def insert(name: str) -> TreeNode:
    """Return the nodes with a name."""
    return TreeNode("insert", name)


def exercise(choice: ChoiceSpec, *children: TreeNode) -> TreeNode:
    """Return the node that exercises a choice, with the nodes below it."""
    return TreeNode("exercise", "", choice, children)
