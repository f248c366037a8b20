"""Templates, choices and kinds of transactions as declared in network.txt."""

from __future__ import annotations

import re
from collections import defaultdict
from importlib.resources import files
from typing import NamedTuple

TEMPLATE = re.compile(r"(\w+) (\S+) ([^|>#]+)(?:\| ([^>#]+))?(?:> (\w+))? ?(?:# (.+))?")
CHOICE = re.compile(r"(\S+) on (.+?) by (.+?)(?: via (\w+))?( consuming)?")


class TemplateSpec(NamedTuple):
    """A template or interface, with its parties as names of a transaction."""

    package: str
    qualified_name: str
    payload: str
    signatories: tuple[str, ...]
    observers: tuple[str, ...]
    owner: str  # who may use its contracts
    key_word: str  # in the ids of contracts that are known by a key


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


def _read() -> dict[str, list[tuple[str, list[str]]]]:
    """Return the headers of each section with the lines below them."""
    sections: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    section = ""
    for line in files(__package__).joinpath("network.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            section = line[3:]
        elif line.startswith("    "):
            sections[section][-1][1].append(line.strip())
        elif line and not line.startswith("#"):
            sections[section].append((line, []))
    return sections


def _match(pattern: re.Pattern[str], header: str) -> list[str]:
    if (match := pattern.fullmatch(header)) is None:
        raise ValueError(f"Cannot read {header!r} in network.txt.")
    return [(group or "").strip() for group in match.groups()]


def _templates(sections: dict[str, list[tuple[str, list[str]]]]) -> dict[str, TemplateSpec]:
    specs, package = {}, ""
    for header, lines in sections["templates"]:
        if header.startswith("package "):
            package = header.removeprefix("package ")
            continue
        name, qualified_name, signatories, observers, owner, key_word = _match(TEMPLATE, header)
        parties = tuple(signatories.split()), tuple(observers.split())
        specs[name] = TemplateSpec(package, qualified_name, " ".join(lines), *parties, owner or "owner", key_word)
    return specs


def _choice(header: str, lines: list[str]) -> tuple[str, ChoiceSpec]:
    name, contract, actors, interface, consuming = _match(CHOICE, header)
    argument, _, result = " ".join(lines).partition(" -> ")
    spec = ChoiceSpec(tuple(contract.split()), tuple(actors.split()), argument, result, bool(consuming), interface)
    return name, spec


def _kind(header: str, lines: list[str]) -> tuple[str, Kind]:
    name, _, options = header.partition(":")
    values: dict[str, str] = defaultdict(str)
    for option in filter(str.strip, (*options.split(","), *lines)):
        key, value = option.split(maxsplit=1)
        values[key] += f"{value} "
    if nodes := values["nodes"]:
        values |= {"content": f"nodes={nodes}", "tree": "*nodes"}
    return name, Kind(
        values["by"].strip(),
        _calls(values["roles"]),
        _views(re.findall(r"[()|]|[^\s()|]+", values["views"])[::-1]),
        _calls(values["content"]),
        values["tree"],
        int(values["weight"] or 0),
        int(values["bytes"] or 1500),
        values["workflow"].strip(),
        values["carries"].strip(),
    )


def _calls(text: str) -> Calls:
    """Parse each word as ``name=function:argument…``, or as a name of a function."""
    return [tuple((word if "=" in word else f"{word}={word}").replace("=", ":").split(":")) for word in text.split()]


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
TEMPLATES = _templates(_SECTIONS)
FRAGMENTS = {name: " ".join(lines) for name, lines in _SECTIONS["fragments"]}
CHOICES = dict(_choice(*entry) for entry in _SECTIONS["choices"])
KINDS = dict(_kind(*entry) for entry in _SECTIONS["kinds"])
WEIGHTS = {name: kind.weight for name, kind in KINDS.items() if kind.weight}
