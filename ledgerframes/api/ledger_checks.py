"""Checks of ledger requests, because the ledger ignores misspelt members.

See docs/facts.md#misspelt-filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from ledgerframes.api.caller_warnings import warn_caller
from ledgerframes.api.update_format import INCOMPLETE, EventFormat, UpdateFormat
from ledgerframes.api.versions import TRIED
from ledgerframes.errors import UsageError
from ledgerframes.values.checks import require_integer

__all__ = ["require_filter", "require_page_request", "require_page_size", "require_text", "require_texts"]

# The members of a request: of an object, of each item of a list, of each value of a map (EACH), or anything (None).
EACH = "*"
BLOB = {"includeCreatedEventBlob": None}
IDENTIFIER_FILTER = {
    "Empty": None,
    "WildcardFilter": {"value": BLOB},
    "TemplateFilter": {"value": {"templateId": None, **BLOB}},
    "InterfaceFilter": {"value": {"interfaceId": None, "includeInterfaceView": None, **BLOB}},
}
FILTERS = {"cumulative": [{"identifierFilter": IDENTIFIER_FILTER}]}
EVENT_FORMAT: dict[str, Any] = {
    "filtersByParty": {EACH: FILTERS},
    "filtersForAnyParty": FILTERS,
    "verbose": None,
    INCOMPLETE: None,
}
UPDATE_FORMAT: dict[str, Any] = {
    "includeTransactions": {"eventFormat": EVENT_FORMAT, "transactionShape": None},
    "includeReassignments": EVENT_FORMAT,
    "includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": None}},
}
PAGE_MEMBERS = ("updateFormat", "beginOffsetExclusive", "endOffsetInclusive", "maxPageSize", "descendingOrder", "pageToken")
MAX_PAGE_SIZE = 2**31 - 1

T = TypeVar("T")
NewerVersion = Callable[[], str]  # version of the participant if it is newer than this release knows, or ""


def require_page_request(request: Mapping[str, Any], newer_version: NewerVersion) -> dict[str, Any]:
    """Return a request for a page of updates, without its members that are None."""
    if not isinstance(request, Mapping):
        raise UsageError(f"request= must be a mapping with updateFormat, got {request!r}.")
    members = {name: value for name, value in request.items() if value is not None}
    _require_members(members, dict.fromkeys(PAGE_MEMBERS), "the request", newer_version)
    require_filter(members.get("updateFormat"), "updateFormat", newer_version)
    start = require_integer("beginOffsetExclusive", members.get("beginOffsetExclusive", 0), 0)
    if "beginOffsetExclusive" in members:
        members["beginOffsetExclusive"] = start
    if "endOffsetInclusive" in members:
        end = members["endOffsetInclusive"] = require_integer("endOffsetInclusive", members["endOffsetInclusive"], 1)
        if end < start:
            raise UsageError(f"endOffsetInclusive= must be at least beginOffsetExclusive={start}, got {end}.")
    if "maxPageSize" in members:
        members["maxPageSize"] = require_page_size(members["maxPageSize"], "maxPageSize")
    return members


def require_page_size(value: object, name: str) -> int | None:
    """Return a page size or None, or raise UsageError."""
    return None if value is None else require_integer(name, value, 1, MAX_PAGE_SIZE)


def require_text(value: object, name: str) -> str:
    """Return text that is not blank, or raise UsageError."""
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name}= must be text that is not blank, got {value!r}.")
    return value


def require_texts(values: object, name: str) -> list[str]:
    """Return one text or several as a list, or raise UsageError."""
    texts = [values] if isinstance(values, str) else list(values) if isinstance(values, Iterable) else [values]
    return [require_text(text, name) for text in texts]


def require_filter(value: T, name: str, newer_version: NewerVersion) -> T:
    """Return a filter or its JSON, or raise UsageError."""
    if isinstance(value, UpdateFormat | EventFormat):
        return value
    if not isinstance(value, Mapping):
        maker = "update_format(...)" if name == "updateFormat" else "event_format(...)"
        raise UsageError(f"{name}= must be the result of {maker} or its JSON, got {value!r}.")
    _require_members(value, UPDATE_FORMAT if name == "updateFormat" else EVENT_FORMAT, name, newer_version)
    return value


def _require_members(content: Any, shape: Any, path: str, newer_version: NewerVersion) -> None:
    """Refuse unknown members, or warn if a newer participant may know them.

    Wrong types are left to the ledger.
    """
    for owner, names, known in _unknown_members(content, shape, path):
        version = newer_version()
        if not version:
            raise UsageError(
                f"Unknown member {names} of {owner}, which the ledger would ignore. Choose from {', '.join(sorted(known))}."
            )
        warn_caller(
            f"Member {names} of {owner} is unknown to this release, and is sent unchecked because the participant runs "
            f"{version}, newer than {TRIED['ledger'][-1]}. Upgrade ledgerframes to have it checked.",
            UserWarning,
        )


def _unknown_members(content: Any, shape: Any, path: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield each object that has unknown members, with their names and the known members."""
    if isinstance(shape, list) and isinstance(content, list):
        for index, item in enumerate(content):
            yield from _unknown_members(item, shape[0], f"{path}[{index}]")
    elif isinstance(shape, dict) and isinstance(content, Mapping):
        each = shape.get(EACH)
        unknown = [] if each else sorted(str(name) for name in content.keys() - shape.keys())
        if unknown:
            yield path, ", ".join(unknown), shape
        for name, value in content.items():
            yield from _unknown_members(value, each or shape.get(name), f"{path}.{name}")


def list_query(limit: int | None, idle_ms: int | None) -> dict[str, Any]:
    """Return the query of the list operations (docs/facts.md#ledger-operations)."""
    return {"limit": require_page_size(limit, "limit"), "stream_idle_timeout_ms": idle_ms}
