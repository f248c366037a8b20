"""A transaction before it reaches the network, and the interpreter of its declaration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from msgspec import Raw

from ..formulas import RoundTotals
from ..identifiers import contract_id
from ..ledger import Contract, Node, Pool, Template, archive, create, exercise
from ..randomness import Draws, number
from ..rounds import FIRST_ROUND
from ..timeline import ACCEPTED, REJECTED, PlannedEvent
from ..values import UNITS_PER_COIN, Names
from .declarations import TEMPLATES, Step, WorldConstants, newer

TotalsOf = Callable[[int, RoundTotals], RoundTotals]  # of a round, given those of the slice that is being built


@dataclass
class SliceState:
    """State that the transactions of a slice share."""

    constants: WorldConstants
    number: int  # of the slice
    totals_of: TotalsOf | None = None  # activity of a round; None if rounds are settled without app rewards
    totals: RoundTotals = field(default_factory=RoundTotals)
    pools: defaultdict[str, Pool] = field(default_factory=lambda: defaultdict(Pool))  # by template
    contract_count: int = 0
    tracking_ids: dict[str, str] = field(default_factory=dict)  # by accepted offer
    reassignment: dict[str, Any] | None = None  # names of the half that is yet to happen

    def __post_init__(self) -> None:
        """Begin the draws of the slice."""
        self.draws = Draws(number(self.constants.seed, "slice", self.number))


@dataclass
class DraftTransaction:
    """One planned event as its submitter prepares it."""

    state: SliceState
    event: PlannedEvent
    index: int  # in the slice
    update_id: str
    effective_at: int  # ledger effective time, microseconds since 1970
    roots: list[Node] = field(default_factory=list)  # nodes that come before those of the kind's tree
    bytes_per_view: int = 0  # median traffic cost of the envelope of one view
    cost_percent: int = 100  # percentage of its cost that each envelope has
    # Envelope costs that are not left to chance: those without views, then one for each view or each list of view ids.
    fixed_costs: Sequence[int] = ()
    fixed_views: Sequence[list[int]] = ()

    def __post_init__(self) -> None:
        """Set the names, which are the sources of payloads and the parties of views."""
        constants, time = self.state.constants, self.event.time
        self.constants, self.parties = constants, constants.parties
        self.draws, self.pools = self.state.draws, self.state.pools
        self.migration_id = constants.schedule.timeline.slice(self.state.number).migration_id
        self.round_state = constants.rounds.state_at(time)  # of the lowest open round; None if none is open yet
        self.round_number = self.round_state.number if self.round_state else FIRST_ROUND
        self.featured: Mapping[str, str] = self.round_state.featured if self.round_state else {}
        self.is_visible, self.is_rejected = self.event.outcome == ACCEPTED, self.event.outcome in REJECTED
        self.names: dict[str, Any] = {
            **constants.names,
            "draws": self.draws,
            "now": self.effective_at,
            "second": self.effective_at - self.effective_at % 1_000_000,
            "clock": self.effective_at - self.effective_at % 1000,
            "round": self.round_number,
            "open_round": constants.lasting("open_round", self.round_number),
            "index": self.index,
            "coin_rules": constants.lasting("coin_rules", constants.rounds.rules_version(time)),
            "dso_rules": constants.lasting("dso_rules", constants.schedule.script.dso_rules_version(time)),
            "migration": self.migration_id,
        }

    def draw_from(self, draws: Draws) -> None:
        """Use a stream of draws from here on."""
        self.draws = self.names["draws"] = draws

    def version(self, template: Template) -> Template:
        """Return a template in the version that is in use."""
        return newer(template) if self.constants.is_upgraded(template, self.event.time) else template

    def user(self) -> str:
        """Draw a user, fitting the fate of the request."""
        return self.parties.user(self.draws, troubled=self.is_rejected).identifier

    def draw_units(self, median: int) -> int:
        """Draw an amount around `median` coins, in units of 10**-10."""
        return self.draws.around(median * UNITS_PER_COIN, 1.3) + self.draws.below(UNITS_PER_COIN)

    def any_visible(self, template: str) -> Contract | None:
        """Draw a contract of a pool without taking it, if the transaction will be visible."""
        return self.pools[template].any(self.draws) if self.is_visible else None

    def make(self, template: str, key: Sequence[object] = (), identifier: str = "", **names: Any) -> Contract:
        """Make a contract, known by a key or an id or not, which the tree must create."""
        names = {**self.names, **names}
        payload = Raw(self.constants.payload(template)(names))
        if key:
            identifier = self.constants.lasting(template, *key).identifier
        elif not identifier:
            self.state.contract_count += 1
            identifier = contract_id(self.constants.seed, self.state.number, self.state.contract_count)
        return Contract(
            identifier,
            self.version(self.constants.templates[template]),
            payload,
            *TEMPLATES[template].parties(names),
            names.get("units", 0),
            self.effective_at,
            round_number=names["round"],
        )

    def offer(self, template: str, **names: Any) -> Contract:
        """Make a contract that later transactions may consume."""
        contract = self.make(template, **names)
        self.pools[template].add(contract)
        return contract

    def nodes(self, tree: str, **names: Any) -> list[Node]:
        """Return the root nodes of a tree, with more names than those of the transaction."""
        return self._nodes(self.constants.tree(tree), {**self.names, **names} if names else self.names)

    def _nodes(self, steps: Iterable[Step], names: Names) -> list[Node]:
        nodes: list[Node] = []
        for step in steps:
            if not step.mark:
                nodes.append(self._exercise(step, names))
                continue
            value = names[step.name]
            values = value if isinstance(value, list) else [value]
            if step.mark == "+":
                values = [create(contract) for contract in values]
            elif step.mark == "-":
                values = [archive(contract, Raw(self.constants.unit)) for contract in values]
            nodes += values
        return nodes

    def _exercise(self, step: Step, names: Names) -> Node:
        template, *key = step.contract
        contract = self.constants.lasting(template, names[key[0]]) if key else names[template]
        if (template_in_use := self.version(contract.template)) != contract.template:
            contract = replace(contract, template=template_in_use)
        children = self._nodes(step.children, names) if step.children else []
        argument, result = Raw(step.argument(names)), Raw(step.result(names))
        actors = resolve_parties(step.actors, names)
        return exercise(contract, step.name, argument, result, actors, children, step.is_consuming, step.interface)


def resolve_parties(names: Iterable[str], values: Names) -> list[str]:
    """Return the party ids that some names stand for."""
    parties: list[str] = []
    for name in names:
        value = values[name]
        parties += value if isinstance(value, list) else [value]
    return parties
