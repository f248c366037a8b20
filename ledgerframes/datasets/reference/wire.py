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


class UsedTraffic(Wire):
    """Bytes of extra traffic that a member has used, and up to which it may use now."""

    total_consumed: int
    total_limit: int


class BoughtTraffic(Wire):
    """Bytes of extra traffic that were bought for a member.

    The latest may not be in the limit yet.
    """

    total_purchased: int


class TrafficStatus(Wire):
    """Extra traffic of a member of a synchronizer (docs/facts.md#traffic-balance)."""

    actual: UsedTraffic
    target: BoughtTraffic

    @property
    def balance(self) -> int:
        """Bytes of extra traffic that are left now."""
        return self.actual.total_limit - self.actual.total_consumed
