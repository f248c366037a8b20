"""A transaction before it reaches the network, and its kind.

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
from .constants import WorldConstants, newer
from .specs import TemplateSpec, TreeNode
from .templates.coin import COIN_RULES
from .templates.governance import DSO_RULES
from .templates.rounds import OPEN_ROUND

TotalsOf = Callable[[int, RoundTotals], RoundTotals]  # of a round, given those of the slice that is being built


class View(NamedTuple):
    """A transaction view, with its parties as names that may stand for several."""

    confirmers: Sequence[str]
    informees: Sequence[str] = ()  # those who do not confirm
    quorum: Sequence[str] = ()  # a second quorum
    each: tuple[str, str] | None = None  # a name and a list: one view for each party of the list
    children: Sequence[View] = ()


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of transaction, with its parties, views and nodes.

    Roles and content are names of the transaction, each with the function that returns its value, in the order of the calls.
    Content is only decided if the history shows the transaction, because it consumes contracts.
    """

    name: str
    submitter: str = ""  # one of the roles, or a party that does not need to be drawn
    roles: Mapping[str, Callable[[DraftTransaction], Any]] = field(default_factory=dict)
    views: Sequence[View] = ()
    content: Mapping[str, Callable[[DraftTransaction], Any]] = field(default_factory=dict)
    tree: Sequence[TreeNode] = ()
    nodes: Callable[[DraftTransaction], list[Branch]] | None = None  # instead of content and tree
    bytes_per_view: int = 1500
    workflow_id: str = ""
    carries: TemplateSpec | None = None  # template of the contract that it leaves for the next slice
    stands_for: Callable[[DraftTransaction], Kind] | None = None  # decides the kind of a transaction, if not this one
    # Whether all its contracts are the DSO's, known by a key, and nothing of it is drawn, so that its content is only
    # decided when it is read.
    is_internal: bool = False


class Branch(NamedTuple):
    """Nodes of a tree that are written later."""

    tree: tuple[TreeNode, ...]
    names: Names  # added to those of the transaction


class MadeContract(Contract):
    """A contract that a transaction makes.

    The sources of its payload are the names of the transaction and its own names.
    """

    def __init__(
        self,
        identity: str | tuple[object, ...],
        spec: TemplateSpec,
        template: Template,  # in the version in use
        draft: DraftTransaction,
        names: Names,
    ) -> None:
        shared, self.spec, self.names = draft.names, spec, names
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
    pools: defaultdict[TemplateSpec, Pool] = field(default_factory=lambda: defaultdict(Pool))
    split_coupons: Pool = field(default_factory=Pool)  # of beneficiaries
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
    kind: Kind
    index: int  # in the slice
    effective_at: int  # ledger effective time, microseconds since 1970
    roots: list[Branch] = field(default_factory=list)  # nodes that come before those of the kind's tree
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
        self._branches: list[Branch] | None = None  # once the content is decided
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
            "open_round": constants.lasting(OPEN_ROUND, self.round_number),
            "index": self.index,
            "coin_rules": constants.lasting(COIN_RULES, constants.rounds.rules_version(time)),
            "dso_rules": constants.lasting(DSO_RULES, constants.schedule.script.dso_rules_version(time)),
        }

    def assign_roles(self) -> None:
        """Draw the names of the roles, and decide the kind if that is open."""
        if self.kind.stands_for:
            self.kind = self.kind.stands_for(self)
        self.bytes_per_view = self.kind.bytes_per_view
        for name, role in self.kind.roles.items():
            self.names[name] = role(self)

    def decide_content(self) -> None:
        """Take and make the contracts of the transaction, unless that can wait."""
        if not self.kind.is_internal:
            self.branches()

    def branches(self) -> list[Branch]:
        """Return the root nodes, whose content is decided at the latest now."""
        if self._branches is None:
            for name, content in self.kind.content.items():
                self.names[name] = content(self)
            nodes = self.kind.nodes(self) if self.kind.nodes else self.nodes(*self.kind.tree)
            self._branches = self.roots + nodes
        return self._branches

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

    def any_visible(self, template: TemplateSpec) -> Contract | None:
        """Draw a contract of a pool without taking it, if the transaction will be visible."""
        return self.pools[template].any(self.draws) if self.is_visible else None

    def make(self, template: TemplateSpec, key: Sequence[object] = (), identifier: str = "", **names: Any) -> Contract:
        """Make a contract, known by a key or an id or not, which the tree must create."""
        if template.has_note:
            names["note"] = self.draws.pick(TEXTS)
        identity: str | tuple[object, ...] = identifier
        if key:
            identity = self.constants.seed, "lasting", template.key_word, *key
        elif not identifier:
            self.state.contract_count += 1
            identity = self.constants.seed, self.state.number, self.state.contract_count
        in_use = self.version(self.constants.templates[template])
        return MadeContract(identity, template, in_use, self, names)

    def offer(self, template: TemplateSpec, **names: Any) -> Contract:
        """Make a contract that later transactions may consume."""
        contract = self.make(template, **names)
        self.pools[template].add(contract)
        return contract

    def nodes(self, *tree: TreeNode, **names: Any) -> list[Branch]:
        """Return the nodes of a tree, with more names than those of the transaction."""
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
