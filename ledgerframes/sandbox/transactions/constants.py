"""Constants of a world and its declarations, compiled for one encoding."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from ..identifiers import UpdateIds, contract_id
from ..ledger import Contract, Template
from ..parties import WorldParties
from ..randomness import digest
from ..rounds import Rounds
from ..values import Encoding, Slot, compile_payload
from ..vocabulary import Vocabulary
from .declarations import CHOICES, FRAGMENTS, TEMPLATES

UPGRADED_PACKAGE = "meadow-batch"
RISE_PERCENT = 18  # what a request costs more with the newer version
TREE_TOKEN = re.compile(r"[^\s\[\]]+|[\[\]]")


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


class WorldConstants:
    """State that all slices of a world share, in one vocabulary and encoding.

    Attributes
    ----------
    payload
        Returns the compiled payload of a template by its name.
    tree
        Returns a compiled tree by its notation: ``Choice[…]`` exercises a choice with nodes below it, ``+x`` creates and
        ``-x`` archives the contract or contracts named x, ``*x`` inserts the nodes named x.
    names
        Sources of payloads that never change.
    """

    def __init__(self, seed: int, parties: WorldParties, rounds: Rounds, vocabulary: Vocabulary, encoding: Encoding) -> None:
        self.seed, self.parties, self.rounds, self.schedule = seed, parties, rounds, rounds.schedule
        self.vocabulary, self.encoding = vocabulary, encoding
        self.identifiers = UpdateIds(seed)
        self.templates = templates_of(vocabulary)
        self.dso = parties.dso
        self.unit = self._payload("unit")({})
        self.payload = cache(lambda name: self._payload(TEMPLATES[name].payload))
        self.tree = cache(self._compile_tree)
        self.lasting = cache(self._lasting)
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
        return Contract(contract_id(self.seed, "lasting", spec.key_word, *key), self.templates[template], None, parties)

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
