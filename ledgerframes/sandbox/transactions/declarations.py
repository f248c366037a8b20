"""Templates, choices and kinds of transactions as declared in network.txt.

`WorldConstants` compiles them for one encoding.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from ..identifiers import UpdateIds, contract_id
from ..ledger import Contract, Template
from ..parties import WorldParties
from ..randomness import digest
from ..rounds import Rounds
from ..values import Encoding, Slot, compile_payload
from ..vocabulary import Vocabulary

UPGRADED_PACKAGE = "meadow-batch"
MAX_CACHED_ROUNDS = 50
RISE_PERCENT = 18  # what a request costs more with the newer version
TREE_TOKEN = re.compile(r"[^\s\[\]]+|[\[\]]")


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
        signatories = sorted({names[name] for name in self.signatories})
        return signatories, sorted({names[name] for name in self.observers}), names.get(self.owner, "")


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
    stands_for: str  # function that returns the kind that it stands for, if not itself
    is_internal: bool  # to the DSO, with content that nothing else depends on


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
        "".join(values["as"]),
        "internal" in values,
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
NOTED = {name for name, spec in TEMPLATES.items() if "text note" in spec.payload}  # templates with a text drawn for them
WEIGHTS = {name: kind.weight for name, kind in KINDS.items() if kind.weight}


def templates_of(vocabulary: Vocabulary) -> dict[str, Template]:
    """Return every template and interface by its name in the sandbox, in the network's words."""
    templates = {}
    for name, spec in TEMPLATES.items():
        package_id = digest("package", spec.package.replace("$coin", "coin"))  # with the uploader if not the network
        identifier, package = (vocabulary.translate(text) for text in (spec.qualified_name, spec.package.partition(" ")[0]))
        templates[name] = Template(f"{package_id}:{identifier}", package)
    return templates


def newer(template: Template) -> Template:
    """Return a template as the newer version of its package has it."""
    package_id = digest("package", template.package_name, "newer")
    return template._replace(identifier=f"{package_id}:{template.identifier.partition(':')[2]}")


class Step(NamedTuple):
    """A compiled step of a tree, with the fields of a choice if it exercises one."""

    mark: str  # "+" creates, "-" archives, "*" inserts nodes, "" exercises a choice
    name: str  # of contracts or nodes, or the choice
    children: tuple[Step, ...] = ()
    contract: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()
    argument: Slot = str
    result: Slot = str
    is_consuming: bool = False
    interface: Template | None = None


def _in_preorder(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        yield from _in_preorder(step.children)


class WorldConstants:
    """State that all slices of a world share, in one vocabulary and encoding."""

    def __init__(self, seed: int, parties: WorldParties, rounds: Rounds, vocabulary: Vocabulary, encoding: Encoding) -> None:
        self.seed, self.parties, self.rounds, self.schedule = seed, parties, rounds, rounds.schedule
        self.vocabulary, self.encoding = vocabulary, encoding
        self.identifiers = UpdateIds(seed)
        self.templates = templates_of(vocabulary)
        self.dso = parties.dso
        self.unit = self._payload("unit")({})
        self.payload = cache(lambda name: self._payload(TEMPLATES[name].payload))  # of a template
        # In a tree ``Choice[…]`` exercises a choice with nodes below it, ``+x`` creates and ``-x`` archives the contract or
        # contracts named x, ``*x`` inserts the nodes named x.
        self.tree = cache(self._compile_tree)
        self.steps = cache(lambda notation: [*_in_preorder(self.tree(notation))])
        self.lasting = cache(self._lasting)
        self.issuing_rounds = lru_cache(MAX_CACHED_ROUNDS)(self._issuing_rounds)
        # Sources of payloads that never change.
        self.names: dict[str, Any] = {"dso": parties.dso, "issuer": parties.registrar.identifier}
        self.names["synchronizer"] = parties.synchronizer
        self.names |= {name: self.lasting(name) for name in ("name_rules", "registry")}
        self.names |= {name: self.lasting(name, 0) for name in ("dso_rules", "coin_rules")}  # their first versions

    def is_upgraded(self, template: Template, time: int) -> bool:
        """Return whether a request at a record time uses the newer version of a template."""
        return template.package_name == UPGRADED_PACKAGE and time >= self.schedule.cases.upgraded_at

    def _lasting(self, template: str, *key: object) -> Contract:
        """Return a contract known by its template and a key, without its payload.

        Its id does not depend on the vocabulary.
        """
        spec = TEMPLATES[template]
        parties = sorted({str(self.names.get(name) or key[0]) for name in spec.signatories})
        return Contract(contract_id(self.seed, "lasting", spec.key_word, *key), self.templates[template], parties)

    def _issuing_rounds(self, numbers: range) -> list[dict[str, Any]]:
        """Return the sources of payloads that list issuing rounds."""
        return [{"number": number, "issuing_round": self.lasting("issuing_round", number)} for number in numbers]

    def _payload(self, notation: str) -> Slot:
        translate = self.vocabulary.translate
        fragments = {name: translate(fragment) for name, fragment in FRAGMENTS.items()}
        return compile_payload(translate(notation), self.encoding, fragments)

    def _compile_tree(self, notation: str) -> tuple[Step, ...]:
        levels: list[list[Step]] = [[]]
        for mark in TREE_TOKEN.findall(notation):
            if mark == "[":
                levels.append([])
            elif mark == "]":
                children = tuple(levels.pop())
                levels[-1][-1] = levels[-1][-1]._replace(children=children)
            else:
                levels[-1].append(Step(mark[0], mark[1:]) if mark[0] in "+-*" else self._compile_choice(mark))
        return tuple(levels[0])

    def _compile_choice(self, name: str) -> Step:
        choice = CHOICES[name]
        interface = self.templates[choice.interface] if choice.interface else None
        payloads = self._payload(choice.argument), self._payload(choice.result)
        name = self.vocabulary.translate(name.partition("/")[0])
        return Step("", name, (), choice.contract, choice.actors, *payloads, choice.is_consuming, interface)
