"""A transaction before it reaches the network.

A draft knows who takes part, and which contracts are used and made. It does not depend on an encoding. `trees` writes its nodes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..cases import first_of
from ..formulas import RoundTotals
from ..ledger import Contract, Pool, Template
from ..parties import Party
from ..randomness import Draws, number
from ..rounds import FIRST_ROUND, RoundState
from ..timeline import ACCEPTED, REJECTED, PlannedEvent
from ..values import TEXTS, UNITS_PER_COIN, Names
from .declarations import KINDS, NOTED, TEMPLATES, WorldConstants, newer

TotalsOf = Callable[[int, RoundTotals], RoundTotals]  # of a round, given those of the slice that is being built


class Branch(NamedTuple):
    """Nodes of a tree that are written later."""

    tree: str  # in the notation of declarations
    names: Names  # added to those of the transaction


class MadeContract(Contract):
    """A contract that a transaction makes.

    The sources of its payload are the names of the transaction and its own names.
    """

    def __init__(
        self,
        identity: str | tuple[object, ...],
        template_name: str,
        template: Template,  # in the version in use
        draft: DraftTransaction,
        names: Names,
    ) -> None:
        spec, shared, self.template_name, self.names = TEMPLATES[template_name], draft.names, template_name, names
        super().__init__(
            identity,
            template,
            [names[name] if name in names else shared[name] for name in spec.signatories],
            [names[name] if name in names else shared[name] for name in spec.observers],
            names[spec.owner] if spec.owner in names else shared.get(spec.owner, ""),
            names["units"] if "units" in names else shared.get("units", 0),
            draft.effective_at,
            names["round"] if "round" in names else shared["round"],
        )

    @property
    def signatories(self) -> Sequence[str]:
        """Signatories, ascending."""
        return sorted(set(self._signatories))

    @property
    def observers(self) -> Sequence[str]:
        """Observers, ascending."""
        return sorted(set(self._observers))


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
        constants = self.constants
        self.draws = Draws(number(constants.seed, "slice", self.number))
        self.migration_id = constants.schedule.timeline.slice(self.number).migration_id
        self.names: dict[str, Any] = {**constants.names, "migration": self.migration_id}
        self._round: RoundState | None = None
        self._round_ends = 0

    def round_at(self, time: int) -> RoundState | None:
        """Return the lowest open round at a record time, or None.

        Calls must have ascending times.
        """
        if time >= self._round_ends:
            rounds = self.constants.rounds
            self._round = rounds.state_at(time)
            begin, end = rounds.window(self._round.number) if self._round else (time, 0)
            self._round_ends = end if begin <= time else 0  # at the start a later round may open first
        return self._round


@dataclass(slots=True)
class RequestView:
    """A view of a request and its confirmers."""

    confirmers: list[str]  # may contain a party twice
    informees: list[str]  # who do not confirm
    threshold: int
    second: list[str]  # quorum, if any
    children: list[int]


@dataclass(slots=True)
class Request:
    """A request with its confirmers and the time of its verdict."""

    views: list[RequestView]
    roots: list[int]
    submitter: Party
    joint: str  # another submitting party, or ""
    finalized_at: int  # microseconds since 1970
    result: str


@dataclass
class DraftTransaction:
    """One planned event as its submitter prepares it."""

    state: SliceState
    event: PlannedEvent
    index: int  # in the slice
    effective_at: int  # ledger effective time, microseconds since 1970
    roots: list[Branch] = field(default_factory=list)  # nodes that come before those of the kind's tree
    branches: list[Branch] = field(default_factory=list)  # all root nodes, once its content is decided
    is_signed_outside: bool = False
    request: Request | None = None  # with its verdict; None before verdicts were recorded
    traffic: dict[str, Any] | None = None  # summary; None if the service does not know it
    weights: dict[str, int] | None = None  # activity by party; None if there is no record
    bytes_per_view: int = 0  # median traffic cost of the envelope of one view
    cost_percent: int = 100  # percentage of its cost that each envelope has
    # Envelope costs that are not left to chance: those without views, then one for each view or each list of view ids.
    fixed_costs: Sequence[int] = ()
    fixed_views: Sequence[list[int]] = ()

    def __post_init__(self) -> None:
        """Set the first names, which are the sources of payloads and the parties of views."""
        constants, time = self.state.constants, self.event.time
        self.kind = KINDS[self.event.kind]
        self.constants, self.parties = constants, constants.parties
        self.draws, self.pools, self.migration_id = self.state.draws, self.state.pools, self.state.migration_id
        self.round_state = self.state.round_at(time)  # of the lowest open round; None if none is open yet
        self.round_number = self.round_state.number if self.round_state else FIRST_ROUND
        self.featured: Mapping[str, str] = self.round_state.featured if self.round_state else {}
        self.is_visible, self.is_rejected = self.event.outcome == ACCEPTED, self.event.outcome in REJECTED
        self.names: dict[str, Any] = {
            **self.state.names,
            "now": self.effective_at,
            "second": self.effective_at - self.effective_at % 1_000_000,
            "clock": self.effective_at - self.effective_at % 1000,
            "round": self.round_number,
            "open_round": constants.lasting("open_round", self.round_number),
            "index": self.index,
            "coin_rules": constants.lasting("coin_rules", constants.rounds.rules_version(time)),
            "dso_rules": constants.lasting("dso_rules", constants.schedule.script.dso_rules_version(time)),
        }

    @cached_property
    def update_id(self) -> str:
        """Id of the update, which two events may share."""
        first = first_of(self.event)
        schedule, own = self.constants.schedule, (self.state.number, self.index)
        return self.constants.identifiers.at(*(own if first is self.event else schedule.position_of(first)))

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
        if template in NOTED:
            names["note"] = self.draws.pick(TEXTS)
        identity: str | tuple[object, ...] = identifier
        if key:
            identity = self.constants.seed, "lasting", TEMPLATES[template].key_word, *key
        elif not identifier:
            self.state.contract_count += 1
            identity = self.constants.seed, self.state.number, self.state.contract_count
        in_use = self.version(self.constants.templates[template])
        return MadeContract(identity, template, in_use, self, names)

    def offer(self, template: str, **names: Any) -> Contract:
        """Make a contract that later transactions may consume."""
        contract = self.make(template, **names)
        self.pools[template].add(contract)
        return contract

    def nodes(self, tree: str, **names: Any) -> list[Branch]:
        """Return the root nodes of a tree, with more names than those of the transaction."""
        return [Branch(tree, names)]


def resolve_parties(names: Sequence[str], values: Names) -> list[str]:
    """Return the party ids that some names stand for."""
    parties: list[str] = []
    for name in names:
        value = values[name]
        if isinstance(value, str):
            parties.append(value)
        else:
            parties += value
    return parties
