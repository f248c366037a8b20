"""Formats and filters of ledger requests (docs/facts.md#filters).

Decoding is relaxed as the service's is: unknown members are ignored, absent ones take defaults, unless the model
demands them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Literal, NamedTuple

import msgspec

from ..ledger import Template
from ..requests import OneOf, PartyId, Request, TemplateId, Wrapped
from ..responses import Json, LedgerApiError
from ..transactions.constants import UPGRADED_PACKAGE, newer
from ..transactions.specs import TemplateSpec
from ..transactions.templates.apps import (
    ALLOCATION,
    ALLOCATION_INTERFACE,
    HOLDING_INTERFACE,
    INSTRUCTION_INTERFACE,
    LOCKED_TOKEN,
    TOKEN,
)
from ..transactions.templates.coin import COIN, LOCKED_COIN

Shape = Literal["TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"]
DELTA: Shape = "TRANSACTION_SHAPE_ACS_DELTA"
EFFECTS: Shape = "TRANSACTION_SHAPE_LEDGER_EFFECTS"
NEVER_UPLOADED = "not among the vetted packages of this participant"


class WildcardFilter(Request):
    """Filter of every template."""

    include_created_event_blob: bool = False


class WrappedWildcard(msgspec.Struct):
    """Filter of every template below the member value, whose absence means its defaults."""

    value: WildcardFilter | None = None


class TemplateFilter(Request):
    """Filter of one template."""

    template_id: TemplateId
    include_created_event_blob: bool = False


class InterfaceFilter(Request):
    """Filter of the templates that implement an interface."""

    interface_id: TemplateId
    include_interface_view: bool = False
    include_created_event_blob: bool = False


class IdentifierFilter(OneOf):
    """Filter by its kind."""

    empty: Json | None = None
    interface_filter: Wrapped[InterfaceFilter] | None = None
    template_filter: Wrapped[TemplateFilter] | None = None
    wildcard_filter: WrappedWildcard | None = None


class CumulativeFilter(Request):
    """One filter of several that add up."""

    identifier_filter: IdentifierFilter | None = None


class Filters(Request):
    """Filters of a party, where none at all means everything."""

    cumulative: list[CumulativeFilter] = msgspec.field(default_factory=list)


class EventFormat(Request):
    """Events of some parties."""

    filters_by_party: dict[PartyId, Filters] = msgspec.field(default_factory=dict)
    filters_for_any_party: Filters | None = None
    verbose: bool = False


class TransactionFormat(Request):
    """Events of transactions and their shape."""

    event_format: EventFormat
    transaction_shape: Shape = "TRANSACTION_SHAPE_UNSPECIFIED"


class AuthorizationFormat(Request):
    """Parties whose topology events are shown."""

    parties: list[PartyId] = msgspec.field(default_factory=list)


class TopologyFormat(Request):
    """Topology events."""

    include_participant_authorization_events: AuthorizationFormat | None = None


class UpdateFormat(Request):
    """Kinds of updates and their formats."""

    include_transactions: TransactionFormat | None = None
    include_reassignments: EventFormat | None = None
    include_topology_events: TopologyFormat | None = None


class Registry:
    """Templates and interfaces that the participant knows, by the names that requests use.

    `known` are the templates of the world in the network's words.
    """

    def __init__(self, known: Mapping[TemplateSpec, Template]) -> None:
        holding, allocation = (known[spec].identifier for spec in (HOLDING_INTERFACE, ALLOCATION_INTERFACE))
        holdings = (COIN, LOCKED_COIN, TOKEN, LOCKED_TOKEN)
        self.implements: Mapping[str, tuple[str, ...]] = {
            **{known[spec].identifier: (holding,) for spec in holdings},
            known[ALLOCATION].identifier: (allocation,),
        }
        first = reversed([*known.values()])  # of two packages of one name the network's own counts
        self._packages = {entry.package_name: entry.package_id for entry in first}
        upgraded = [entry for entry in known.values() if entry.package_name == UPGRADED_PACKAGE]
        # A filter matches a template in all versions of its package.
        self._first_versions = {newer(entry).identifier: entry.identifier for entry in upgraded}
        self._newer_packages = {entry.package_name: newer(entry).package_id for entry in upgraded}
        self._interfaces = {holding, allocation, known[INSTRUCTION_INTERFACE].identifier}  # no template implements the last
        self._templates = {entry.identifier for entry in known.values()} - self._interfaces

    def packages(self) -> list[tuple[str, str]]:
        """Return name and id of all packages, the newer versions last."""
        return sorted(self._packages.items()) + sorted(self._newer_packages.items())

    def first_version(self, template_id: str) -> str:
        """Return the id that a template had in the first version of its package."""
        return self._first_versions.get(template_id, template_id)

    def resolve(self, name: str, interface: bool = False) -> str:
        """Return the id of a template or interface that a filter names."""
        package, _, entity = name.partition(":")
        if package.startswith("#"):
            if package[1:] not in self._packages:
                cause = f"package names {NEVER_UPLOADED}: {package[1:]}"
                raise LedgerApiError("PACKAGE_NAMES_NOT_FOUND", cause, resources=[("PACKAGE_NAME", package[1:])])
            package = self._packages[package[1:]]
        identifier = self.first_version(f"{package}:{entity}")
        if identifier not in (self._interfaces if interface else self._templates):
            cause = f"templates or interfaces {NEVER_UPLOADED}: {name}"
            raise LedgerApiError("TEMPLATES_OR_INTERFACES_NOT_FOUND", cause, resources=[("TEMPLATE_ID", name)])
        return identifier


class Match(NamedTuple):
    """Parts of an event that a request includes, and the interfaces that it matched."""

    blob: bool
    views: list[str]  # interface ids
    interfaces: list[str]


class _Filter(NamedTuple):
    """One filter of one party."""

    party: str | None  # None for any party
    identifier: str | None  # of a template or an interface, None for every template
    blob: bool = False
    view: bool = False


class EventFilter:
    """Filters of an event format."""

    def __init__(self, request: EventFormat, registry: Registry) -> None:
        if not request.filters_by_party and request.filters_for_any_party is None:
            raise LedgerApiError("INVALID_ARGUMENT", "filtersByParty and filtersForAnyParty cannot both be empty")
        self._registry = registry
        self.parties = frozenset(request.filters_by_party)
        self.any_party = request.filters_for_any_party is not None
        self._filters = [entry for party, value in request.filters_by_party.items() for entry in self._parse(party, value)]
        self._filters += self._parse(None, request.filters_for_any_party) if request.filters_for_any_party else ()
        self._cached_match = cache(self._match)

    def _parse(self, party: str | None, filters: Filters) -> Iterator[_Filter]:
        if not filters.cumulative:
            yield _Filter(party, None)
        for cumulative in filters.cumulative:
            yield self._filter(party, cumulative.identifier_filter)

    def _filter(self, party: str | None, kind: IdentifierFilter | None) -> _Filter:
        content = kind.content() if kind else None
        value = content.value if isinstance(content, Wrapped | WrappedWildcard) else None
        if value is None:
            return _Filter(party, None)
        if isinstance(value, TemplateFilter):
            return _Filter(party, self._registry.resolve(value.template_id), value.include_created_event_blob)
        if isinstance(value, InterfaceFilter):
            identifier = self._registry.resolve(value.interface_id, interface=True)
            return _Filter(party, identifier, value.include_created_event_blob, value.include_interface_view)
        return _Filter(party, None, value.include_created_event_blob)

    def witnesses(self, parties: Iterable[str]) -> list[str]:
        """Return those of some parties that the request is about, sorted."""
        return sorted(parties if self.any_party else self.parties.intersection(parties))

    def match(self, template_id: str, parties: frozenset[str]) -> Match | None:
        """Return how a contract that the parties see matches, or None."""
        return self._cached_match(template_id, parties & self.parties) if parties else None

    def _match(self, template_id: str, parties: frozenset[str]) -> Match | None:
        interfaces = self._registry.implements.get(template_id, ())
        names = {None, self._registry.first_version(template_id), *interfaces}
        filters = [each for each in self._filters if each.identifier in names and (each.party is None or each.party in parties)]
        if not filters:
            return None
        views = {each.identifier for each in filters if each.view}
        matched = {each.identifier for each in filters}
        return Match(
            any(each.blob for each in filters),
            [name for name in interfaces if name in views],
            [name for name in interfaces if name in matched],
        )
