"""Filters of the ledger API, with defaults and checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from ledgerframes.api.caller_warnings import warn_caller
from ledgerframes.errors import UsageError

__all__ = ["EventFormat", "Shape", "UpdateFormat", "event_format", "update_format"]

Shape = Literal["acs_delta", "ledger_effects"]
ANY = "any"
INCOMPLETE = "includeIncompleteReassignments"
SHAPES = {"acs_delta": "TRANSACTION_SHAPE_ACS_DELTA", "ledger_effects": "TRANSACTION_SHAPE_LEDGER_EFFECTS"}

PACKAGE_ID = re.compile(r"[0-9a-f]{64}")
PACKAGE_NAME = re.compile(r"[A-Za-z0-9_-]+")
DOTTED_NAME = re.compile(r"[A-Za-z_$][\w$']*(\.[A-Za-z_$][\w$']*)*", re.ASCII)
PARTY = re.compile(r"[A-Za-z0-9:_\- ]{1,255}")  # the characters that a party id may have


def _changes(filter_: EventFormat | UpdateFormat, other: EventFormat | UpdateFormat) -> Iterator[str]:
    """Yield the fields that differ from another filter's, as arguments."""
    for field in fields(filter_):
        value = getattr(filter_, field.name)
        if value != getattr(other, field.name):
            argument = ANY if field.name == "parties" and value is None else value
            yield f"{field.name}={list(argument) if isinstance(argument, tuple) else argument!r}"


@dataclass(frozen=True, repr=False)
class EventFormat:
    """A filter of contracts and their events, returned by :func:`event_format`.

    Without parties, it selects those of every party on the participant, and without names, all templates. Names are as on the
    wire.
    """

    parties: tuple[str, ...] | None = None
    templates: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    blobs: bool = False
    views: bool = True
    verbose: bool = True
    incomplete: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the filter as the ledger API expects it (docs/facts.md#filters)."""
        filters = {"cumulative": self._cumulative()}
        further = {"verbose": self.verbose, **({INCOMPLETE: True} if self.incomplete else {})}
        if self.parties is None:
            return {"filtersByParty": {}, "filtersForAnyParty": filters, **further}
        return {"filtersByParty": dict.fromkeys(self.parties, filters), **further}

    def _cumulative(self) -> list[dict[str, Any]]:
        blob = {"includeCreatedEventBlob": self.blobs}
        if not self.templates and not self.interfaces:
            return [_one_filter("WildcardFilter", blob)]
        view = {"includeInterfaceView": self.views, **blob}
        return [
            *(_one_filter("TemplateFilter", {"templateId": name, **blob}) for name in self.templates),
            *(_one_filter("InterfaceFilter", {"interfaceId": name, **view}) for name in self.interfaces),
        ]

    def __str__(self) -> str:
        return json.dumps(self.as_json(), indent=2)

    def __repr__(self) -> str:
        return f"EventFormat({', '.join(_changes(self, EventFormat(parties=())))})"


@dataclass(frozen=True, repr=False)
class UpdateFormat:
    """A filter of updates, returned by :func:`update_format` and printed as its JSON.

    The parties of `topology` are those whose authorizations are included, empty for all parties, None for no topology.
    """

    events: EventFormat = EventFormat()
    shape: Shape = "acs_delta"
    reassignments: bool = True
    topology: tuple[str, ...] | None = ()

    def as_json(self) -> dict[str, Any]:
        """Return the filter as the ledger API expects it (docs/facts.md#filters)."""
        events = self.events.as_json()
        content: dict[str, Any] = {"includeTransactions": {"transactionShape": SHAPES[self.shape], "eventFormat": events}}
        if self.reassignments:
            content["includeReassignments"] = events
        if self.topology is not None:
            content["includeTopologyEvents"] = {"includeParticipantAuthorizationEvents": {"parties": list(self.topology)}}
        return content

    def __str__(self) -> str:
        return json.dumps(self.as_json(), indent=2)

    def __repr__(self) -> str:
        events = _changes(self.events, EventFormat(parties=()))
        own = _changes(self, UpdateFormat(self.events, topology=self.events.parties or ()))
        return f"UpdateFormat({', '.join([*events, *own])})"


def event_format(
    parties: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    *,
    blobs: bool = False,
    views: bool = True,
    verbose: bool = True,
    incomplete: bool = False,
) -> EventFormat:
    """Return a filter of contracts and their events (docs/facts.md#filters).

    Parameters
    ----------
    parties : sequence of str or "any", optional
        Parties whose contracts are included; None or ``"any"`` for every party on the participant, which needs the
        right CanReadAsAnyParty.
    templates, interfaces : sequence of str
        ``package-name:Module:Entity``, with or without a leading ``#``; by default all templates.
    blobs : bool
        Include the created-event blob, several KB per contract.
    views : bool
        Include the views of the interfaces.
    verbose : bool
        Include the labels of record fields.
    incomplete : bool
        Include contracts of which this participant has seen only one half of a reassignment, among active contracts since
        ledger API 3.7 (docs/facts.md#incomplete-reassignments).

    Raises
    ------
    UsageError
        If a name is malformed or a party empty, which the ledger may ignore (docs/facts.md#misspelt-filters).
    """
    return EventFormat(
        parties=_party_names(parties),
        templates=_type_names(templates, "templates"),
        interfaces=_type_names(interfaces, "interfaces"),
        blobs=blobs,
        views=views,
        verbose=verbose,
        incomplete=incomplete,
    )


def update_format(
    parties: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    *,
    blobs: bool = False,
    views: bool = True,
    shape: Shape = "acs_delta",
    reassignments: bool = True,
    topology: bool | Sequence[str] = True,
    verbose: bool = True,
) -> UpdateFormat:
    """Return a filter of updates, which prints as its JSON (docs/facts.md#filters).

    Parameters
    ----------
    parties, templates, interfaces, blobs, views, verbose
        As for :func:`event_format`.
    shape : {"acs_delta", "ledger_effects"}
        Creates and archives for stakeholders, or creates and exercises for witnesses.
    reassignments : bool
        Include assignments and unassignments.
    topology : bool or sequence of str or "any"
        Include changes of party authorizations: True for the parties of the filter, ``"any"`` for all parties (which needs
        the right CanReadAsAnyParty, docs/facts.md#topology-rights), or these parties.

    Raises
    ------
    UsageError
        If the shape is unknown, a name malformed or a party empty.

    Examples
    --------
    >>> from ledgerframes.api.update_format import update_format
    >>> update_format(["alice::1220aa"], ["splice-amulet:Splice.Amulet:Amulet"], shape="ledger_effects")
    UpdateFormat(parties=['alice::1220aa'], templates=['#splice-amulet:Splice.Amulet:Amulet'], shape='ledger_effects')
    """
    if shape not in SHAPES:
        raise UsageError(f"Unknown shape {shape!r}. Choose from {', '.join(SHAPES)}.")
    events = event_format(parties, templates, interfaces, blobs=blobs, views=views, verbose=verbose)
    return UpdateFormat(events, shape, reassignments, _topology_parties(topology, events.parties))


def _topology_parties(topology: bool | Sequence[str], parties: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if topology is False or topology is None:
        return None
    if topology is True:
        return parties or ()
    return _party_names(topology, "topology") or ()


def _party_names(parties: Sequence[str] | None, name: str = "parties") -> tuple[str, ...] | None:
    if parties is None or (isinstance(parties, str) and parties == ANY):
        return None
    names = _as_list(parties, name)
    if not names:
        raise UsageError(f"{name}= must not be empty. Omit {name}= to include every party.")
    for party in names:
        if not isinstance(party, str) or not party.strip() or not PARTY.fullmatch(party):
            raise UsageError(f"{name}= must be party ids such as alice::1220…, got {party!r}.")
    return tuple(dict.fromkeys(names))


def _type_names(names: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([_type_name(text, name) for text in _as_list(names, name)]))


def _as_list(names: Sequence[str], name: str) -> list[str]:
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable):
        raise UsageError(f"{name}= must be text or a list of texts, got {names!r}.")
    return list(names)


def _type_name(text: str, name: str) -> str:
    """Return a template or interface name as on the wire, with a leading ``#``."""
    plain = _plain_name(text, name)
    if PACKAGE_ID.fullmatch(plain.partition(":")[0]) and not text.startswith("#"):
        warn_caller(
            f"{name}= {text} filters by package id, which is deprecated and misses upgraded contracts. "
            "Use package-name:Module:Entity.",
            DeprecationWarning,
        )
        return text
    return f"#{plain}"


def require_package_name(text: str, name: str) -> str:
    """Return a template name without a leading ``#``, or refuse it, as with a package id."""
    plain = _plain_name(text, name)
    if PACKAGE_ID.fullmatch(plain.partition(":")[0]):
        raise _type_name_error(text, name)
    return plain


def _plain_name(text: str, name: str) -> str:
    """Return a template or interface name without a leading ``#``, or refuse it."""
    package, _, rest = text.removeprefix("#").partition(":") if isinstance(text, str) else ("", "", "")
    module, _, entity = rest.partition(":")
    if not (PACKAGE_NAME.fullmatch(package) and DOTTED_NAME.fullmatch(module) and DOTTED_NAME.fullmatch(entity)):
        raise _type_name_error(text, name)
    return f"{package}:{module}:{entity}"


def _type_name_error(text: str, name: str) -> UsageError:
    return UsageError(
        f"{name}= must be names such as splice-amulet:Splice.Amulet:Amulet (package-name:Module:Entity), got {text!r}."
    )


def _one_filter(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"identifierFilter": {kind: {"value": content}}}
