"""What a request asks to see: formats and filters as clients send them (docs/facts.md#filters).

Decoding is relaxed as the service's is: unknown members are ignored, missing ones take defaults.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import msgspec

from ..canton import CantonError
from .projection import Node
from .registry import Registry

Shape = Literal["TRANSACTION_SHAPE_UNSPECIFIED", "TRANSACTION_SHAPE_ACS_DELTA", "TRANSACTION_SHAPE_LEDGER_EFFECTS"]
DELTA: Shape = "TRANSACTION_SHAPE_ACS_DELTA"
EFFECTS: Shape = "TRANSACTION_SHAPE_LEDGER_EFFECTS"


class CumulativeFilter(msgspec.Struct, rename="camel"):
    """One filter; they add up."""

    identifier_filter: dict[str, dict[str, Any]] = {}


class Filters(msgspec.Struct, rename="camel"):
    """The filters of a party; none at all means everything."""

    cumulative: list[CumulativeFilter] = []


class EventFormat(msgspec.Struct, rename="camel"):
    """Which events, of which parties."""

    filters_by_party: dict[str, Filters] = {}
    filters_for_any_party: Filters | None = None
    verbose: bool = False


class TransactionFormat(msgspec.Struct, rename="camel"):
    """Which events, and in which shape."""

    event_format: EventFormat | None = None
    transaction_shape: Shape = "TRANSACTION_SHAPE_UNSPECIFIED"


class AuthorizationFormat(msgspec.Struct, rename="camel"):
    """Which parties' topology."""

    parties: list[str] = []


class TopologyFormat(msgspec.Struct, rename="camel"):
    """Which topology events."""

    include_participant_authorization_events: AuthorizationFormat | None = None


class UpdateFormat(msgspec.Struct, rename="camel"):
    """Which updates."""

    include_transactions: TransactionFormat | None = None
    include_reassignments: EventFormat | None = None
    include_topology_events: TopologyFormat | None = None


class Match(NamedTuple):
    """How a contract's template is asked for."""

    blob: bool
    views: tuple[str, ...]  # interface ids whose views are wanted
    interfaces: tuple[str, ...]  # interface ids that matched


class _Matcher:
    """The filters of one party, by template."""

    def __init__(self, filters: Filters, registry: Registry) -> None:
        self._registry = registry
        self._wildcard: bool | None = None if filters.cumulative else False  # its value: with blobs
        self._templates: dict[str, bool] = {}
        self._interfaces: dict[str, tuple[bool, bool]] = {}
        self._known: dict[str, Match | None] = {}
        for cumulative in filters.cumulative:
            for kind, wrapped in cumulative.identifier_filter.items():
                self._add(kind, wrapped.get("value", wrapped))

    def _add(self, kind: str, value: dict[str, Any]) -> None:
        blob = bool(value.get("includeCreatedEventBlob"))
        if kind in ("WildcardFilter", "Empty"):
            self._wildcard = bool(self._wildcard) or blob
        elif kind == "TemplateFilter":
            name = self._registry.template(str(value.get("templateId", "")))
            self._templates[name] = self._templates.get(name, False) or blob
        elif kind == "InterfaceFilter":
            name = self._registry.interface(str(value.get("interfaceId", "")))
            before = self._interfaces.get(name, (False, False))
            self._interfaces[name] = before[0] or bool(value.get("includeInterfaceView")), before[1] or blob

    def match(self, template_id: str) -> Match | None:
        """Return how a template is asked for; None when it is not."""
        if template_id not in self._known:
            self._known[template_id] = self._match(template_id)
        return self._known[template_id]

    def _match(self, template_id: str) -> Match | None:
        implemented = self._registry.implements.get(template_id, ())
        matched = tuple(name for name in implemented if name in self._interfaces)
        if self._wildcard is None and template_id not in self._templates and not matched:
            return None
        blob = bool(self._wildcard) or self._templates.get(template_id, False)
        blob = blob or any(self._interfaces[name][1] for name in matched)
        views = tuple(name for name in matched if self._interfaces[name][0])
        return Match(blob, views, matched)


class Events:
    """An event format, ready to be asked about events.

    Parameters
    ----------
    asked
        The format.
    registry
        The known templates.
    """

    def __init__(self, asked: EventFormat, registry: Registry) -> None:
        if not asked.filters_by_party and asked.filters_for_any_party is None:
            raise CantonError("INVALID_ARGUMENT", "filtersByParty and filtersForAnyParty cannot both be empty")
        if not all(asked.filters_by_party):
            raise CantonError("INVALID_FIELD", "a party in filtersByParty is an empty text")
        self._by_party = {party: _Matcher(f, registry) for party, f in asked.filters_by_party.items()}
        anybody = asked.filters_for_any_party
        self._anybody = _Matcher(anybody, registry) if anybody else None
        self.parties = frozenset(asked.filters_by_party)
        self.all_parties = anybody is not None

    def asked(self, parties: Iterable[str]) -> list[str]:
        """Return those of the parties that the request is about, sorted."""
        return sorted(party for party in parties if self.all_parties or party in self.parties)

    def match(self, template_id: str, parties: frozenset[str]) -> Match | None:
        """Return how a contract that the parties see is asked for; None when it is not."""
        found = [self._by_party[party].match(template_id) for party in parties & self.parties]
        if self._anybody and parties:
            found.append(self._anybody.match(template_id))
        matches = [match for match in found if match]
        if len(matches) < 2:
            return matches[0] if matches else None
        return Match(
            any(match.blob for match in matches),
            tuple(sorted({name for match in matches for name in match.views})),
            tuple(sorted({name for match in matches for name in match.interfaces})),
        )

    def of_node(self, node: Node, shape: str) -> Match | None:
        """Return how a node is asked for in a shape; None when the shape or the filters leave it out."""
        if shape == EFFECTS:
            return self.match(node.body["template_id"], node.witnesses)
        return self.match(node.body["template_id"], node.stakeholders) if node.delta else None


class Selection:
    """An update format, ready to be asked about updates.

    Parameters
    ----------
    asked
        The format; None is refused, as the service does.
    registry
        The known templates.
    """

    def __init__(self, asked: UpdateFormat | None, registry: Registry) -> None:
        if asked is None:
            raise CantonError("MISSING_FIELD", "The submitted request is missing a mandatory field: update_format")
        transactions = asked.include_transactions
        self.transactions: Events | None = None
        self.shape = DELTA
        if transactions:
            if transactions.event_format is None:
                raise CantonError("MISSING_FIELD", "The submitted request is missing a mandatory field: event_format")
            self.shape = transactions.transaction_shape
            if self.shape not in (DELTA, EFFECTS):
                raise CantonError("INVALID_ARGUMENT", "transaction_shape must be given")
            self.transactions = Events(transactions.event_format, registry)
        half = asked.include_reassignments
        self.reassignments = Events(half, registry) if half else None
        topology = asked.include_topology_events
        wanted = topology and topology.include_participant_authorization_events
        self.topology: frozenset[str] | None = frozenset(wanted.parties) if wanted else None

    def parties(self) -> tuple[frozenset[str], bool]:
        """Return the parties that the request names, and whether it is about any party."""
        formats = [events for events in (self.transactions, self.reassignments) if events]
        named = frozenset[str]().union(*(events.parties for events in formats), self.topology or ())
        anybody = any(events.all_parties for events in formats) or self.topology == frozenset()
        return named, anybody
