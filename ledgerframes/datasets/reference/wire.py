"""Structs of the history API's reference data.

Payloads stay JSON bytes. A contract that is replaced gets a new ``contract_id``, which so identifies a version.
"""

from __future__ import annotations

import msgspec

from ledgerframes.datasets._structs import Wire

__all__ = ["Contract"]


class Contract(Wire):
    """A contract of the history API (docs/facts.md#contract-object)."""

    template_id: str
    contract_id: str
    payload: msgspec.Raw
    created_at: str
    created_event_blob: str | None = None


class NameRules(Wire):
    """The rules of the name service, without a contract if the cached one is current.

    See docs/facts.md#name-rules-and-price-votes.
    """

    contract: Contract | None = None
    domain_id: str | None = None
