"""Bodies of requests about parties and packages."""

from __future__ import annotations

from typing import Literal

import msgspec

from ...requests import Int32, OneOf, PartyId, Request, UserId, Wrapped
from ...responses import Json

ForceFlag = Literal[
    "UPDATE_VETTED_PACKAGES_FORCE_FLAG_UNSPECIFIED",
    "UPDATE_VETTED_PACKAGES_FORCE_FLAG_ALLOW_VET_INCOMPATIBLE_UPGRADES",
    "UPDATE_VETTED_PACKAGES_FORCE_FLAG_ALLOW_UNVETTED_DEPENDENCIES",
]


class Metadata(Request):
    """Metadata of a party."""

    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    resource_version: str | None = None


class PartyDetails(Request, kw_only=True):
    """Details of a party, with the members that can be changed."""

    party: PartyId
    is_local: bool | None = None
    local_metadata: Metadata | None = None
    identity_provider_id: str | None = None


class FieldMask(Request):
    """Paths of the members to change."""

    paths: list[str] = msgspec.field(default_factory=list)


class AllocationRequest(Request):
    """Body of the request for a new party."""

    party_id_hint: PartyId | None = None
    local_metadata: Metadata | None = None
    identity_provider_id: str | None = None
    synchronizer_id: str | None = None
    user_id: UserId | None = None


class PartyUpdateRequest(Request):
    """Body of the change of a party."""

    party_details: PartyDetails
    update_mask: FieldMask


class PublicKey(Request):
    """Public key of an external party."""

    format: str
    key_data: str
    key_spec: str


class TopologyRequest(Request, kw_only=True):
    """Body of the request for the topology of an external party."""

    synchronizer: str
    party_hint: PartyId
    public_key: PublicKey
    local_participant_observation_only: bool | None = None
    other_confirming_participant_uids: list[str] | None = None
    confirmation_threshold: Int32 | None = None
    observing_participant_uids: list[str] | None = None


class Signature(Request):
    """Signature of an external party."""

    format: str
    signature: str
    signed_by: str
    signing_algorithm_spec: str


class SignedTransaction(Request):
    """Topology transaction of an external party."""

    transaction: str
    signatures: list[Signature] | None = None


class ExternalAllocationRequest(Request, kw_only=True):
    """Body of the request for a new external party."""

    synchronizer: str
    onboarding_transactions: list[SignedTransaction]
    multi_hash_signatures: list[Signature] | None = None
    identity_provider_id: str | None = None
    wait_for_allocation: bool | None = None
    user_id: UserId | None = None


class PackageFilter(Request):
    """Filter of vetted packages, where none at all means everything."""

    package_ids: list[str] = msgspec.field(default_factory=list)
    package_name_prefixes: list[str] = msgspec.field(default_factory=list)


class TopologyFilter(Request):
    """Filter of who vetted and where, where none at all means everything."""

    participant_ids: list[str] = msgspec.field(default_factory=list)
    synchronizer_ids: list[str] = msgspec.field(default_factory=list)


class VettedPackagesRequest(Request):
    """Body of the list of vetted packages."""

    package_metadata_filter: PackageFilter | None = None
    topology_state_filter: TopologyFilter | None = None
    page_token: str | None = None
    page_size: Int32 | None = None


class PackageReference(Request):
    """A package to vet or to unvet."""

    package_id: str = ""
    package_name: str = ""
    package_version: str = ""


class VettedChange(Request):
    """Packages that a change is about."""

    packages: list[PackageReference]
    new_valid_from_inclusive: str | None = None
    new_valid_until_exclusive: str | None = None


class VettingOperation(OneOf):
    """Change of the vetted packages by its kind."""

    vet: Wrapped[VettedChange] | None = None
    unvet: Wrapped[VettedChange] | None = None
    empty: Json | None = None


class VettingChange(Request):
    """One change of the vetted packages."""

    operation: VettingOperation


class VettingRequest(Request):
    """Body of the change of the vetted packages."""

    changes: list[VettingChange]
    dry_run: bool | None = None
    synchronizer_id: str | None = None
    update_vetted_packages_force_flags: list[ForceFlag] | None = None
