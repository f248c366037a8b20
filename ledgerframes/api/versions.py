"""Versions of the APIs that this release was tested with, and of services."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ledgerframes.api.transport import Transport
from ledgerframes.datasets.state.wire import release_of
from ledgerframes.errors import TransportError
from ledgerframes.texts.hidden_tokens import hide_tokens

if TYPE_CHECKING:
    from ledgerframes.api.names import Api

__all__ = ["TRIED", "is_newer", "met_version", "service_info"]

# Versions by API, in ascending order. The tests know their shapes and rules (docs/facts.md#versions).
TRIED: Mapping[Api, tuple[str, ...]] = MappingProxyType(
    {"history": ("0.5.5", "0.6.10", "0.7.4"), "ledger": ("3.3", "3.4", "3.5.14", "3.6", "3.7"), "wallet": ("0.6.10", "0.7.4")}
)
PATHS: Mapping[Api, str] = MappingProxyType({"history": "/version", "ledger": "/v2/version", "wallet": "/version"})


def is_newer(api: Api, version: str) -> bool:
    """Return whether a version, such as 3.7.0, is later than those tested."""
    return release_of(version) > release_of(TRIED[api][-1])


def service_info(transport: Transport, url: str, api: Api) -> dict[str, Any]:
    """Return what a responding host says about its version, or nothing."""
    response = transport.status(url, PATHS[api])
    try:
        content = json.loads(response.body) if response.status == 200 else {}
        return {**content, "version": hide_tokens(str(content["version"])[:100])}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def met_version(transport: Transport, url: str, api: Api) -> str:
    """Return the version that a host says it runs, or "" if it does not."""
    try:
        return str(service_info(transport, url, api).get("version", ""))
    except TransportError:
        return ""
