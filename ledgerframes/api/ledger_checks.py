"""Requests of the ledger API looked at before they are sent: what is misspelt there is ignored there.

See docs/facts.md#misspelt-filters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgerframes.api.update_format import EventFormat, UpdateFormat
from ledgerframes.errors import UsageError

__all__ = ["checked_filter", "checked_offset", "checked_page_request", "checked_page_size", "checked_text"]

# What a request may hold: an object's members, a list of one kind, a map (EACH) of one kind, or anything (None).
EACH = "*"
BLOB = {"includeCreatedEventBlob": None}
IDENTIFIER_FILTER = {
    "Empty": None,
    "WildcardFilter": {"value": BLOB},
    "TemplateFilter": {"value": {"templateId": None, **BLOB}},
    "InterfaceFilter": {"value": {"interfaceId": None, "includeInterfaceView": None, **BLOB}},
}
FILTERS = {"cumulative": [{"identifierFilter": IDENTIFIER_FILTER}]}
EVENT_FORMAT: dict[str, Any] = {"filtersByParty": {EACH: FILTERS}, "filtersForAnyParty": FILTERS, "verbose": None}
UPDATE_FORMAT: dict[str, Any] = {
    "includeTransactions": {"eventFormat": EVENT_FORMAT, "transactionShape": None},
    "includeReassignments": EVENT_FORMAT,
    "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": None}},
}
PAGE_REQUEST = {
    "updateFormat": None,
    "beginOffsetExclusive": None,
    "endOffsetInclusive": None,
    "maxPageSize": None,
    "descendingOrder": None,
    "pageToken": None,
}
INT32, INT64 = 2**31, 2**63


def checked_page_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request for a page of updates, without what is None.

    Raises
    ------
    UsageError
        If a member is unknown, the filter is missing, or the offsets or the page size make no sense.
    """
    given = {name: value for name, value in request.items() if value is not None}
    _known(given, PAGE_REQUEST, "the request")
    checked_filter(given.get("updateFormat"), "updateFormat")
    begin = checked_offset(given.get("beginOffsetExclusive", 0), "beginOffsetExclusive")
    if "endOffsetInclusive" in given:
        end = checked_offset(given["endOffsetInclusive"], "endOffsetInclusive", least=1)
        if end < begin:
            raise UsageError(f"endOffsetInclusive={end} lies before beginOffsetExclusive={begin}.")
    checked_page_size(given.get("maxPageSize"), "maxPageSize")
    return given


def checked_offset(value: object, name: str, *, least: int = 0) -> int:
    """An offset, if it is one."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < INT64:
        raise UsageError(f"{name}={value!r} is not an offset. Offsets are whole numbers from {least}.")
    return value


def checked_page_size(value: object, name: str) -> None:
    """A page size, or None."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < INT32):
        raise UsageError(f"{name}={value!r} is not a page size. Page sizes are whole numbers from 1.")


def checked_text(value: object, name: str) -> str:
    """A text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name}={value!r} is empty or not text.")
    return value


def checked_filter(value: object, name: str) -> Any:
    """An UpdateFormat or an EventFormat, or its JSON with no member that the ledger does not know.

    Raises
    ------
    UsageError
        If there is none, or a member is unknown.
    """
    if isinstance(value, UpdateFormat | EventFormat):
        return value
    if not isinstance(value, Mapping):
        raise UsageError(f"The request has no {name}. Make one with update_format(...) or event_format(...).")
    _known(value, UPDATE_FORMAT if name == "updateFormat" else EVENT_FORMAT, name)
    return value


def _known(given: Any, shape: Any, where: str) -> None:
    """What is misspelt in a request is an error here; what has another shape is left to the ledger, which names it."""
    if isinstance(shape, list) and isinstance(given, list):
        for index, item in enumerate(given):
            _known(item, shape[0], f"{where}[{index}]")
    elif isinstance(shape, dict) and isinstance(given, Mapping):
        each = shape.get(EACH)
        strays = [] if each else sorted(str(name) for name in given.keys() - shape.keys())
        if strays:
            raise UsageError(
                f"{where} has no member {', '.join(strays)}: the ledger would ignore it. Known: {', '.join(sorted(shape))}."
            )
        for name, value in given.items():
            _known(value, each or shape[name], f"{where}.{name}")
