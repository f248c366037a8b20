"""Templates, choices and kinds of transactions as declared in network.txt."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple


class TemplateSpec(NamedTuple):
    """A template or interface, with its parties as names of a transaction."""

    package: str
    qualified_name: str
    payload: str
    signatories: tuple[str, ...]
    observers: tuple[str, ...]
    owner: str  # who may use its contracts
    key_word: str  # in the ids of contracts that are known by a key

    def parties(self, names: Mapping[str, Any]) -> tuple[list[str], list[str], str]:
        """Return signatories, observers and owner of a contract with these names."""
        signatories, observers = (sorted({names[name] for name in group}) for group in (self.signatories, self.observers))
        return signatories, observers, names.get(self.owner, "")


class ChoiceSpec(NamedTuple):
    """A choice, with its contract (and key) and its actors as names of a transaction."""

    contract: tuple[str, ...]
    actors: tuple[str, ...]
    argument: str
    result: str
    is_consuming: bool
    interface: str


Calls = list[tuple[str, ...]]  # of a name, the function that fills it, and its arguments


class View(NamedTuple):
    """A transaction view, with its parties as names that may stand for several."""

    confirmers: list[str]
    quorum: list[str]  # a second quorum
    informees: list[str]  # those who do not confirm
    each: list[str]  # of a name and a list: one view for each party of the list
    children: list[View]


class Kind(NamedTuple):
    """A kind of transaction."""

    submitter: str
    roles: Calls
    views: list[View]
    content: Calls
    tree: str
    weight: int
    bytes_per_view: int
    workflow_id: str
    carries: str  # template of the contract that it leaves for the next slice


def _read() -> dict[str, list[tuple[str, list[str], list[str]]]]:
    """Return name, options and further lines of each entry, by section."""
    sections: dict[str, list[tuple[str, list[str], list[str]]]] = defaultdict(list)
    section = ""
    for line in files(__package__).joinpath("network.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            section = line[3:]
        elif line.startswith("    "):
            sections[section][-1][2].append(line.strip())
        elif line and not line.startswith("#"):
            name, _, options = line.partition(": ")
            sections[section].append((name, options.split(", "), []))
    return sections


def _values(options: list[str]) -> dict[str, list[str]]:
    """Return the words of each option, which may occur more than once."""
    values: dict[str, list[str]] = defaultdict(list)
    for option in options:
        name, *rest = option.split()
        values[name] += rest
    return values


def _template(package: str, options: list[str], lines: list[str]) -> TemplateSpec:
    values = _values(options)
    (name,), (owner,) = values["id"], values["owner"] or ["owner"]
    parties = tuple(values["by"]), tuple(values["observers"])
    return TemplateSpec(package, name, " ".join(lines), *parties, owner, " ".join(values["key"]))


def _choice(options: list[str], lines: list[str]) -> ChoiceSpec:
    values = _values(options)
    argument, _, result = " ".join(lines).partition(" -> ")
    return ChoiceSpec(tuple(values["on"]), tuple(values["by"]), argument, result, "consuming" in values, "".join(values["via"]))


def _kind(options: list[str], lines: list[str]) -> Kind:
    values = _values(options + lines)
    nodes = values["nodes"]
    return Kind(
        "".join(values["by"]),
        _calls(values["roles"]),
        _views(re.findall(r"[()|]|[^\s()|]+", " ".join(values["views"]))[::-1]),
        _calls([f"nodes={nodes[0]}"] if nodes else values["content"]),
        "*nodes" if nodes else " ".join(values["tree"]),
        int("".join(values["weight"]) or 0),
        int("".join(values["bytes"]) or 1500),
        "".join(values["workflow"]),
        "".join(values["carries"]),
    )


def _calls(texts: list[str]) -> Calls:
    """Parse each text as ``name=function:argument…``, or as a name of a function."""
    return [tuple((text if "=" in text else f"{text}={text}").replace("=", ":").split(":")) for text in texts]


def _views(parts: list[str]) -> list[View]:
    """Read views from parts in reverse order."""
    views = []
    while parts and parts[-1] == "(":
        parts.pop()
        view = View([], [], [], [], [])
        parties = view.confirmers
        while (part := parts.pop()) not in ")(":
            if part == "|":
                parties = view.informees
            elif part[0] == "!":
                view.quorum.append(part[1:])
            elif part[0] == "*":
                view.each.extend(part[1:].split(":"))
            else:
                parties.append(part)
        if part == "(":
            parts.append(part)
            view.children.extend(_views(parts))
            parts.pop()
        views.append(view)
    return views


_SECTIONS = _read()
TEMPLATES = {
    name: _template(section.removeprefix("templates "), *rest)
    for section in _SECTIONS
    if section.startswith("templates ")
    for name, *rest in _SECTIONS[section]
}
FRAGMENTS = {name: " ".join(lines) for name, _, lines in _SECTIONS["fragments"]}
CHOICES = {name: _choice(*rest) for name, *rest in _SECTIONS["choices"]}
KINDS = {name: _kind(*rest) for name, *rest in _SECTIONS["kinds"]}
WEIGHTS = {name: kind.weight for name, kind in KINDS.items() if kind.weight}
