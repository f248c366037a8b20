"""Structs of the history API's reference data: contracts, name rules and price votes.

Their payloads stay the bytes that came; ``contract_id`` changes whenever a contract is replaced, so it names a version.
"""

from __future__ import annotations

import msgspec

from ledgerframes.datasets._structs import Wire

__all__ = ["Contract", "NameRules", "NameRulesAnswer"]


class Contract(Wire):
    """A contract as the history API shows it (docs/facts.md#contract-object)."""

    template_id: str
    contract_id: str
    payload: msgspec.Raw
    created_at: str
    created_event_blob: str | None = None


class NameRules(Wire):
    """The rules of the name service; no contract means that the cached one is still the current one.

    See docs/facts.md#name-rules-and-price-votes.
    """

    contract: Contract | None = None
    domain_id: str | None = None


class NameRulesAnswer(Wire):
    """Answer of the name rules."""

    ans_rules_update: NameRules
