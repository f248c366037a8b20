"""Filters as people write them, and as the ledger API takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from ledgerframes.api.deprecation import warn_deprecated
from ledgerframes.errors import UsageError

__all__ = ["EventFormat", "Shape", "UpdateFormat", "event_format", "update_format"]

Shape = Literal["acs_delta", "ledger_effects"]
ANY = "any"
SHAPES = {"acs_delta": "TRANSACTION_SHAPE_ACS_DELTA", "ledger_effects": "TRANSACTION_SHAPE_LEDGER_EFFECTS"}

PACKAGE_ID = re.compile(r"[0-9a-f]{64}")
PACKAGE_NAME = re.compile(r"[A-Za-z0-9_-]+")
DOTTED_NAME = re.compile(r"[A-Za-z_$][\w$']*(\.[A-Za-z_$][\w$']*)*", re.ASCII)
PARTY = re.compile(r"[A-Za-z0-9:_\- ]{1,255}")  # the letters that a party id may have


@dataclass(frozen=True)
class EventFormat:
    """Which events to include and how to render them; made by :func:`event_format`.

    Attributes
    ----------
    parties : tuple of str or None
        None for every party on the participant.
    templates, interfaces : tuple of str
        As they are sent; none of both for all templates.
    blobs, views, verbose : bool
    """

    parties: tuple[str, ...] | None = None
    templates: tuple[str, ...] = ()
    interfaces: tuple[str, ...] = ()
    blobs: bool = False
    views: bool = True
    verbose: bool = True

    def as_json(self) -> dict[str, Any]:
        """The filter as the ledger API takes it (docs/facts.md#filters)."""
        filters = {"cumulative": self._cumulative()}
        if self.parties is None:
            return {"filtersByParty": {}, "filtersForAnyParty": filters, "verbose": self.verbose}
        return {"filtersByParty": dict.fromkeys(self.parties, filters), "verbose": self.verbose}

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
        return _in_words(self)


@dataclass(frozen=True, repr=False)
class UpdateFormat:
    """Which updates to include and how to render them; made by :func:`update_format`, printed as the JSON that is sent.

    Attributes
    ----------
    events : EventFormat
    shape : {"acs_delta", "ledger_effects"}
    reassignments : bool
    topology : tuple of str or None
        Parties whose authorizations are shown; empty for those of all parties, None for no topology.
    """

    events: EventFormat = EventFormat()
    shape: Shape = "acs_delta"
    reassignments: bool = True
    topology: tuple[str, ...] | None = ()

    def as_json(self) -> dict[str, Any]:
        """The filter as the ledger API takes it (docs/facts.md#filters)."""
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
        return _in_words(self)


def event_format(
    parties: Sequence[str] | None = None,
    templates: Sequence[str] = (),
    interfaces: Sequence[str] = (),
    *,
    blobs: bool = False,
    views: bool = True,
    verbose: bool = True,
) -> EventFormat:
    """A filter for contracts and their events.

    Parameters
    ----------
    parties : sequence of str or "any", optional
        Whose contracts; None or ``"any"`` for every party on the participant, which needs the right CanReadAsAnyParty.
    templates, interfaces : sequence of str
        ``package-name:Module:Entity``, with or without ``#`` before it; all templates if there are neither.
    blobs : bool
        Include the created-event blob, several KB a contract.
    views : bool
        Include the views of the interfaces named.
    verbose : bool
        Include the labels of record fields.

    Raises
    ------
    UsageError
        If a name is malformed or a party empty: the ledger would ignore it or refuse it less clearly
        (docs/facts.md#misspelt-filters).

    Notes
    -----
    Source: docs/facts.md#filters.
    """
    return EventFormat(
        parties=_party_names(parties),
        templates=_type_names(templates, "templates"),
        interfaces=_type_names(interfaces, "interfaces"),
        blobs=blobs,
        views=views,
        verbose=verbose,
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
    """A filter for updates; print it to see what is sent.

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
        the right CanReadAsAnyParty, docs/facts.md#topology-rights), or the parties named.

    Raises
    ------
    UsageError
        If the shape is unknown, a name malformed or a party empty.

    Notes
    -----
    Source: docs/facts.md#filters.

    Examples
    --------
    >>> from ledgerframes.api.update_format import update_format
    >>> update_format(["alice::1220aa"], ["splice-amulet:Splice.Amulet:Amulet"], shape="ledger_effects")
    UpdateFormat(parties=['alice::1220aa'], templates=['#splice-amulet:Splice.Amulet:Amulet'], shape='ledger_effects')
    """
    if shape not in SHAPES:
        raise UsageError(f"shape={shape!r} is not known. Use {' or '.join(SHAPES)}.")
    events = event_format(parties, templates, interfaces, blobs=blobs, views=views, verbose=verbose)
    return UpdateFormat(events, shape, reassignments, _topology_parties(topology, events.parties))


def _topology_parties(topology: bool | Sequence[str], parties: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if topology is False or topology is None:
        return None
    if topology is True:
        return parties or ()
    return _party_names(topology, "topology") or ()


def _party_names(parties: Sequence[str] | None, name: str = "parties") -> tuple[str, ...] | None:
    if parties is None or parties == ANY:
        return None
    names = [parties] if isinstance(parties, str) else list(parties)
    if not names:
        raise UsageError(f"{name} is empty, so nothing would be found. Name parties, or leave it out for every party.")
    for party in names:
        if not isinstance(party, str) or not party.strip() or not PARTY.fullmatch(party):
            raise UsageError(f"{name}: {party!r} is not a party id. Write it as the participant does, such as alice::1220…")
    return tuple(dict.fromkeys(names))


def _type_names(names: Sequence[str], name: str) -> tuple[str, ...]:
    listed = [names] if isinstance(names, str) else names
    return tuple(dict.fromkeys([_type_name(text, name) for text in listed]))


def _type_name(text: str, name: str) -> str:
    """A template or interface name as it is sent: by package name, with ``#``."""
    package, _, rest = text.removeprefix("#").partition(":") if isinstance(text, str) else ("", "", "")
    module, _, entity = rest.partition(":")
    if not (PACKAGE_NAME.fullmatch(package) and DOTTED_NAME.fullmatch(module) and DOTTED_NAME.fullmatch(entity)):
        raise UsageError(
            f"{name}: {text!r} is not a name. Write package-name:Module:Entity, such as splice-amulet:Splice.Amulet:Amulet."
        )
    if PACKAGE_ID.fullmatch(package) and not text.startswith("#"):
        warn_deprecated(
            f"{name}: {text} names a package by its id, which the ledger API deprecates in filters and which misses upgraded "
            "contracts: use package-name:Module:Entity."
        )
        return text
    return f"#{package}:{module}:{entity}"


def _one_filter(kind: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"identifierFilter": {kind: {"value": content}}}


def _in_words(filter_: EventFormat | UpdateFormat) -> str:
    """What differs from the default, parties always."""
    shown: list[str] = []
    for part, default in _parts(filter_):
        for field in fields(part):
            value = getattr(part, field.name)
            if field.name == "parties":
                shown.append(f"parties={ANY!r}" if value is None else f"parties={list(value)!r}")
            elif value != getattr(default, field.name) and field.name != "events":
                shown.append(f"{field.name}={list(value) if isinstance(value, tuple) else value!r}")
    return f"{type(filter_).__name__}({', '.join(shown)})"


def _parts(filter_: EventFormat | UpdateFormat) -> list[tuple[EventFormat | UpdateFormat, EventFormat | UpdateFormat]]:
    if isinstance(filter_, EventFormat):
        return [(filter_, EventFormat())]
    return [
        (filter_.events, EventFormat()),
        (filter_, UpdateFormat(topology=filter_.events.parties or ())),
    ]
