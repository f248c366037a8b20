"""State that all slices of a world share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

from ..identifiers import UpdateIds, contract_id
from ..ledger import Contract, Template
from ..parties import WorldParties
from ..payloads import UNIT, Value, compile_payload
from ..randomness import digest
from ..rounds import Rounds
from ..values import Encoding, Slot
from ..vocabulary import Vocabulary
from .specs import ChoiceSpec, Keyed, TemplateSpec, TreeNode
from .templates import TEMPLATES
from .templates.apps import BATCH_PACKAGE, REGISTRY
from .templates.coin import COIN_RULES
from .templates.governance import DSO_RULES
from .templates.rounds import ISSUING_ROUND
from .templates.wallet import NAME_RULES

UPGRADED_PACKAGE = BATCH_PACKAGE  # a newer version of it comes into use
RISE_PERCENT = 18  # what a request costs more with it
MAX_CACHED_ROUNDS = 50


def template_of(spec: TemplateSpec, vocabulary: Vocabulary) -> Template:
    """Return a template or interface in the network's words."""
    parts = (spec.package.replace("$coin", "coin"), spec.uploader)
    package_id = digest("package", " ".join(filter(None, parts)))
    identifier, package = map(vocabulary.translate, (spec.qualified_name, spec.package))
    return Template(f"{package_id}:{identifier}", package)


def newer(template: Template) -> Template:
    """Return a template as the newer version of its package has it."""
    package_id = digest("package", template.package_name, "newer")
    return template._replace(identifier=f"{package_id}:{template.identifier.partition(':')[2]}")


class Step(NamedTuple):
    """A compiled node of a tree, with the fields of a choice if it exercises one."""

    action: str
    name: str  # of contracts or nodes, or the choice
    children: tuple[Step, ...] = ()
    contract: str | Keyed = ""
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
        self.templates = {spec: template_of(spec, vocabulary) for spec in TEMPLATES}
        self.dso = parties.dso
        self.unit = self._compile(UNIT)({})
        self.payload = cache(lambda template: self._compile(template.payload))
        self.tree = cache(self._compile_tree)
        self.steps = cache(lambda tree: [*_in_preorder(self.tree(tree))])
        self._choice = cache(self._compile_choice)
        self.lasting = cache(self._lasting)
        self.issuing_rounds = lru_cache(MAX_CACHED_ROUNDS)(self._issuing_rounds)
        # Sources of payloads that never change.
        self.names: dict[str, Any] = {"dso": parties.dso, "issuer": parties.registrar.identifier}
        self.names["synchronizer"] = parties.synchronizer
        self.names |= {"name_rules": self.lasting(NAME_RULES), "registry": self.lasting(REGISTRY)}
        self.names |= {"dso_rules": self.lasting(DSO_RULES, 0), "coin_rules": self.lasting(COIN_RULES, 0)}  # first versions

    def is_upgraded(self, template: Template, time: int) -> bool:
        """Return whether a request at a record time uses the newer version of a template."""
        return template.package_name == UPGRADED_PACKAGE and time >= self.schedule.cases.upgraded_at

    def _lasting(self, template: TemplateSpec, *key: object) -> Contract:
        """Return a contract known by its template and a key, without its payload.

        Its id does not depend on the vocabulary.
        """
        parties = sorted({str(self.names.get(name) or key[0]) for name in template.signatories})
        return Contract(contract_id(self.seed, "lasting", template.key_word, *key), self.templates[template], parties)

    def _issuing_rounds(self, numbers: range) -> list[dict[str, Any]]:
        """Return the sources of payloads that list issuing rounds."""
        return [{"number": number, "issuing_round": self.lasting(ISSUING_ROUND, number)} for number in numbers]

    def _compile(self, payload: Value) -> Slot:
        return compile_payload(payload, self.encoding, self.vocabulary)

    def _compile_tree(self, tree: tuple[TreeNode, ...]) -> tuple[Step, ...]:
        return tuple(
            self._choice(node.choice)._replace(children=self._compile_tree(node.children))
            if node.choice
            else Step(node.action, node.name)
            for node in tree
        )

    def _compile_choice(self, choice: ChoiceSpec) -> Step:
        return Step(
            "exercise",
            self.vocabulary.translate(choice.name),
            (),
            choice.contract,
            choice.actors,
            self._compile(choice.argument),
            self._compile(choice.result),
            choice.is_consuming,
            self.templates[choice.interface] if choice.interface else None,
        )
