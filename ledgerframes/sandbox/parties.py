"""Parties of a world (DSO, validators, SVs among them, app providers and users).

Volumes follow a few large validators and many small ones, as on a real network.
"""

from __future__ import annotations

from typing import NamedTuple

from .identifiers import fingerprint
from .randomness import Draws, lookup_table, number
from .script import FIRST_PARTY, SECOND_PARTY

SV_NAMES = ("Halcyon-Trust", "Juniper-Nodes", "Marlow-Foundation", "Orrery-Labs", "Tessera-Guild")
VALIDATOR_NAMES = (
    "alder", "basalt", "cinder", "dovetail", "ember", "fathom", "gable", "heron", "isthmus", "jetty",
    "kestrel", "lantern", "meridian", "nimbus", "osprey", "plinth", "quarry", "rowan", "sextant", "thistle",
    "umber", "vellum", "willow", "xylem", "yarrow",
)  # fmt: skip
SVS, VALIDATORS = len(SV_NAMES), len(SV_NAMES) + len(VALIDATOR_NAMES)
# Name, activity weight (None: the right names none, which counts as 1), and since when featured ("": never).
PROVIDERS = (
    ("brightwater-exchange", "1.0000000000", "start"),
    ("copperleaf-settlement", "2.2000000000", "start"),
    ("driftwood-wallet", "0.8000000000", "start"),
    ("evergreen-bonds", None, "start"),
    ("foxglove-payments", "1.0000000000", "start"),
    ("greenstone-custody", "0.3333333333", "start"),
    ("hazelnut-lending", None, "start"),
    ("ironbark-registry", "1.5000000000", "start"),
    ("jasmine-markets", "1.0000000000", "later"),
    ("kingfisher-loyalty", None, ""),
    ("larkspur-tickets", None, ""),
)
REGISTRAR = "ironbark-registry"  # issues the tokens that are traded against coin
SLOW_PROVIDER = "hazelnut-lending"  # whose confirmations take long
USER_NAMES = (
    "ada", "boris", "chiara", "dmitri", "elif", "farid", "greta", "hana", "ivan", "joana",
    "kofi", "lena", "milan", "nadia", "oskar", "petra", "quentin", "rosa", "sven", "tomas",
)  # fmt: skip
USERS = 200
MEMBER = 20


class Party(NamedTuple):
    """A party and the participant that hosts it."""

    identifier: str
    participant: str
    name: str
    weight: str | None = None  # activity weight of an app provider, as decimal text
    featured: str = ""  # since when an app provider is featured


class WorldParties:
    """All parties of a world, which depend on nothing but the seed."""

    def __init__(self, seed: int) -> None:
        space = fingerprint(seed, "dso")
        self.dso = f"DSO::{space}"
        self.synchronizer = f"global-domain::{space}"
        self.app_synchronizer = f"app-domain::{fingerprint(seed, 'app synchronizer')}"
        self.svs = [_operator(seed, name) for name in SV_NAMES]
        self.validators = self.svs + [_operator(seed, f"{name}-validator-1") for name in VALIDATOR_NAMES]
        ordinary = self.validators[len(self.svs) :]
        self.providers = [
            _guest(seed, name, ordinary[position])._replace(weight=weight, featured=featured)
            for position, (name, weight, featured) in enumerate(PROVIDERS)
        ]
        self.registrar = next(entry for entry in self.providers if entry.name == REGISTRAR)
        self.planted = {name: _guest(seed, name, ordinary[-1]) for name in (FIRST_PARTY, SECOND_PARTY)}
        self.member = ordinary[MEMBER]  # a validator that is a super validator for a while
        hosts = lookup_table(ordinary, [1000 // (rank + 1) for rank in range(len(ordinary))])
        self.users = [_user(seed, position, hosts) for position in range(USERS)]
        everyone = self.validators + self.providers + self.users
        everyone += self.planted.values()
        self.by_identifier = {party.identifier: party for party in everyone}
        self.by_participant: dict[str, list[Party]] = {}
        for party in everyone:
            self.by_participant.setdefault(party.participant, []).append(party)
        self._neighbors: dict[str, list[Party]] = {}  # by party
        self.largest = max(self.by_participant, key=lambda name: len(self.by_participant[name]))
        self.users_of_largest = [user for user in self.users if user.participant == self.largest]
        self.slow_confirmer = next(entry for entry in self.providers if entry.name == SLOW_PROVIDER)
        # The rank decides the volume. Requests of a validator that retries carelessly are rejected more often.
        ranks = [4000 // (position % 40 + 2) for position in range(USERS)]
        careless = {party.participant for party in ordinary[3::7]}
        troubled = [rank * (4 if user.participant in careless else 1) for user, rank in zip(self.users, ranks, strict=True)]
        self._usual = lookup_table(self.users, ranks)
        self._troubled = lookup_table(self.users, troubled)
        self._provider_table = lookup_table(self.providers, [120 // (rank + 1) for rank in range(len(PROVIDERS))])

    def neighbors(self, party: Party) -> list[Party]:
        """Return the other parties of a party's participant."""
        if party.identifier not in self._neighbors:
            hosted = self.by_participant[party.participant]
            self._neighbors[party.identifier] = [other for other in hosted if other != party]
        return self._neighbors[party.identifier]

    def user(self, draws: Draws, troubled: bool = False) -> Party:
        """Draw a user, large ones more often, and those of careless validators if `troubled`."""
        return draws.pick(self._troubled if troubled else self._usual)

    def provider(self, draws: Draws) -> Party:
        """Draw an app provider, large ones more often."""
        return draws.pick(self._provider_table)


def _operator(seed: int, name: str) -> Party:
    # The operator's party and its participant share one identity, as on the network.
    identifier = f"{name}::{fingerprint(seed, name)}"
    return Party(identifier, identifier, name)


def _guest(seed: int, name: str, host: Party) -> Party:
    return Party(f"{name}::{fingerprint(seed, name)}", host.participant, name)


def _user(seed: int, position: int, hosts: list[Party]) -> Party:
    name = f"{USER_NAMES[position % len(USER_NAMES)]}-{position + 1:03d}"
    host = hosts[number(seed, "host", position) % len(hosts)]
    return Party(f"{name}::{host.identifier.partition('::')[2]}", host.participant, name)
