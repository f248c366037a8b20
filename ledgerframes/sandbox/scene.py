"""The stage on which a slice's transactions are built: contracts at hand, chance, encoding, clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from .identifiers import contract_id
from .ledger import Contract, Template
from .parties import Party, Population, Provider
from .randomness import Draws, number
from .rounds import Rounds
from .templates import Templates
from .values import UNITS_PER_COIN, CompactValues
from .words import Words


class Pool:
    """Contracts that later transactions may use up, each once."""

    def __init__(self) -> None:
        self._contracts: list[Contract] = []
        self._by_owner: dict[str, list[Contract]] = {}

    def add(self, contract: Contract) -> None:
        """Put a contract at the disposal of its owner."""
        self._contracts.append(contract)
        self._by_owner.setdefault(contract.owner, []).append(contract)

    def any(self, draws: Draws) -> Contract | None:
        """Return a contract that is still there, without taking it; None when there is none."""
        while self._contracts:
            position = draws.below(len(self._contracts))
            contract = self._contracts[position]
            if not contract.spent:
                return contract
            self._contracts[position] = self._contracts[-1]
            self._contracts.pop()
        return None

    def take(self, owner: str, most: int = 1) -> list[Contract]:
        """Take up to `most` contracts of an owner; whoever takes one must consume it."""
        owned = self._by_owner.get(owner, [])
        taken: list[Contract] = []
        while owned and len(taken) < most:
            contract = owned.pop()
            if not contract.spent:
                contract.spent = True
                taken.append(contract)
        return taken

    def take_some(self, draws: Draws, most: int) -> list[Contract]:
        """Take up to `most` contracts, whoever owns them."""
        taken: list[Contract] = []
        while len(taken) < most and (contract := self.any(draws)):
            contract.spent = True
            taken.append(contract)
        return taken


class Scenery:
    """What stays the same in all slices of a world: people, words, encoding, rounds, lasting contracts.

    Parameters
    ----------
    seed
        Seed of the world.
    people
        Everybody.
    rounds
        The mining rounds.
    words
        The vocabulary.
    value
        The value encoding in which payloads are built.
    """

    def __init__(self, seed: int, people: Population, rounds: Rounds, words: Words, value: CompactValues) -> None:
        self.seed = seed
        self.people = people
        self.rounds = rounds
        self.words = words
        self.value = value
        self.templates = Templates(words)
        self.dso = people.dso
        self._lasting: dict[tuple[object, ...], str] = {}

    def lasting(self, template: Template, *name: object, signatories: Iterable[str] = ()) -> Contract:
        """Return a contract known by name, of which here only the id matters.

        The id does not depend on the vocabulary, hence the name must tell contracts of one template apart.
        """
        if name not in self._lasting:
            self._lasting[name] = contract_id(self.seed, "lasting", *name)
        return Contract(self._lasting[name], template, {}, signatories or (self.dso,))

    @cached_property
    def dso_rules(self) -> Contract:
        """The governance rules of the network."""
        return self.lasting(self.templates.dso_rules, "dso rules")

    @cached_property
    def coin_rules(self) -> Contract:
        """The rules of the coin."""
        return self.lasting(self.templates.coin_rules, "coin rules")

    @cached_property
    def name_rules(self) -> Contract:
        """The rules of the name service."""
        return self.lasting(self.templates.name_rules, "name rules")

    def wallet(self, owner: Party) -> Contract:
        """The wallet of a party."""
        signatories = (self.dso, owner.identifier)
        return self.lasting(self.templates.wallet, "wallet", owner.identifier, signatories=signatories)

    def featured_right(self, provider: Provider) -> Contract:
        """The right of a featured provider."""
        return self.lasting(self.templates.featured_right, "featured", provider.party.identifier)


class Scene:
    """One slice being played.

    Parameters
    ----------
    scenery
        What all slices share.
    slice_number
        Number of the slice.
    draws
        The slice's stream of chance.
    """

    def __init__(self, scenery: Scenery, slice_number: int, draws: Draws) -> None:
        self.scenery = scenery
        self.value = scenery.value
        self.words = scenery.words
        self.people = scenery.people
        self.templates = scenery.templates
        self.dso = scenery.dso
        self.draws = draws
        self.coins, self.tokens, self.offers, self.accepted_offers = Pool(), Pool(), Pool(), Pool()
        self.allocations, self.coupons, self.markers, self.confirmations = Pool(), Pool(), Pool(), Pool()
        self.tracking: dict[str, tuple[str, str]] = {}  # accepted offer -> tracking id, receiver
        self.pending_reassignment: Any = None
        self.slice_number = slice_number
        self.index = 0  # of the event being built, as all that follows
        self.update_id = ""
        self.migration_id = 0
        self.record_time = 0
        self.effective_at = 0
        self.round_number = 0
        self.member = 0  # of the schedule's chain, as the number of the occurrence
        self.occurrence = 0
        self.featured: Mapping[str, str] = {}  # activity weight by featured provider
        self.visible = True  # whether the history will show the transaction's tree
        self.rejected = False
        self._contracts_made = 0

    def new_id(self) -> str:
        """Return the id of a contract that this transaction makes."""
        self._contracts_made += 1
        return contract_id(self.scenery.seed, self.slice_number, self._contracts_made)

    def make(
        self,
        template: Template,
        fields: dict[str, Any],
        signatories: Iterable[str],
        observers: Iterable[str] = (),
        owner: str = "",
        units: int = 0,
        identifier: str = "",
    ) -> Contract:
        """Make a contract from its encoded fields; the caller puts its `create` node into the tree."""
        arguments = self.value.record(fields)
        name = identifier or self.new_id()
        made = Contract(name, template, arguments, signatories, observers, owner, units)
        made.created_at = self.effective_at
        return made

    def user(self) -> Party:
        """Draw a user, fitting the fate of the request."""
        return self.people.user(self.draws, troubled=self.rejected)

    def payer(self, pool: Pool) -> Party:
        """Draw a user, preferably one who has something in the pool."""
        contract = pool.any(self.draws) if self.visible else None
        return self.people.by_identifier[contract.owner] if contract else self.user()

    def sum(self, median: int) -> int:
        """Draw an amount around `median` coins, in units of 10**-10."""
        return self.draws.around(median * UNITS_PER_COIN, 1.3) + self.draws.below(UNITS_PER_COIN)


def carried_units(seed: int, slice_number: int, index: int) -> int:
    """Return the amount of a contract left for the next slice, in units of 10**-10, by formula."""
    return (50 + number(seed, "carried", slice_number, index) % 5000) * UNITS_PER_COIN


def carried_id(seed: int, slice_number: int, index: int) -> str:
    """Return the id of a contract left for the next slice, by formula."""
    return contract_id(seed, "carried", slice_number, index)
