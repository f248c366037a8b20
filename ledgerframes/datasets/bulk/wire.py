"""Structs of the bulk storage, and of ACS snapshots in lines or pages.

The lines of updates are `ledgerframes.datasets.events.wire.Update`.
"""

from __future__ import annotations

from hashlib import sha256

import msgspec

from ledgerframes.datasets.structs import ABSENT, Wire

# Listed for good objects after a race in the service (docs/facts.md#digest-of-empty-bytes).
EMPTY_DIGEST = sha256(b"").hexdigest()


class ActiveContract(Wire):
    """An active contract of the network at a snapshot (docs/facts.md#contracts-at-snapshot).

    The newer form has the update that created it, the older one the event's id and type.
    """

    contract_id: str
    template_id: str
    created_at: str
    signatories: list[str]
    observers: list[str]
    package_name: str | None = None
    create_arguments: msgspec.Raw = ABSENT
    created_in_update_id: str | None = None
    event_id: str | None = None
    event_type: str | None = None

    @property
    def created_in(self) -> str | None:
        """Update that created the contract, or None if it was imported from an earlier migration."""
        if self.created_in_update_id or not self.event_id:
            return self.created_in_update_id or None
        return self.event_id.lstrip("#").rpartition(":")[0] or None


class ContractsPage(Wire):
    """A page of the contracts at a snapshot, whose token is a number or an opaque text."""

    record_time: str
    migration_id: int
    created_events: list[ActiveContract]
    next_page_token: str | int | None = None


class HoldingsSummary(Wire):
    """Sums of the coin of a party as text, without holding fees."""

    party_id: str
    total_unlocked_coin: str
    total_locked_coin: str
    total_coin_holdings: str


class HoldingsSummaries(Wire):
    """Sums of the coin of parties at a snapshot. A party without coin has none."""

    record_time: str
    migration_id: int
    summaries: list[HoldingsSummary]


class ObjectRef(Wire):
    """URL of an object, and the SHA-256 of its compressed bytes in base64."""

    url: str
    digest: str | None = None


class UpdatesListing(Wire):
    """A page of objects with updates. A folder is never divided over pages."""

    object_refs: list[ObjectRef]
    next_page_token: str | None = None


class ActiveContractsListing(Wire):
    """Objects of one snapshot of the active contracts."""

    record_time: str
    object_refs: list[ObjectRef]


class Checksum(Wire):
    """Digest of an object."""

    value: str


class Checksums(Wire):
    """Digests in the order of the requested objects."""

    checksums: list[Checksum]
