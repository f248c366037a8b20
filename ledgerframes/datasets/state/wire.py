"""Structs of the ledger API's inventory: what a participant says of itself, its parties, packages, contracts and completions.

Events inside stay the bytes that came: `ledgerframes.datasets.ledger.wire` knows them.
"""

from __future__ import annotations

import re

import msgspec

from ledgerframes.datasets._decode import decode
from ledgerframes.datasets._structs import ABSENT, Wire
from ledgerframes.datasets.ledger.wire import LedgerStruct, OffsetCheckpoint, SynchronizerTime, TraceContext
from ledgerframes.errors import DecodeError

__all__ = [
    "ActiveContractsPage",
    "Completion",
    "CompletionItem",
    "CompletionStatus",
    "ConnectedSynchronizers",
    "ContractEvent",
    "ContractEvents",
    "LedgerEnd",
    "LedgerVersion",
    "PackageIds",
    "PackageStatus",
    "ParticipantId",
    "PartiesPage",
    "PartyDetails",
    "PrunedOffsets",
    "Right",
    "Synchronizer",
    "UserRights",
    "VettedPackage",
    "VettedPackages",
    "VettedPackagesPage",
    "one_of",
    "unwrapped",
]


class LedgerVersion(LedgerStruct):
    """Version of the ledger API, such as ``3.5.14``, and its features as JSON."""

    version: str
    features: msgspec.Raw = ABSENT

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor number, to compare; ``(0, 0)`` if the text has none."""
        return release_of(self.version)


class LedgerEnd(LedgerStruct):
    """The offset of the last update; 0 on an empty ledger."""

    offset: int


class PrunedOffsets(LedgerStruct):
    """Up to where the ledger is pruned; 0 if it never was."""

    participant_pruned_up_to_inclusive: int = 0
    all_divulged_contracts_pruned_up_to_inclusive: int = 0


class ParticipantId(LedgerStruct):
    """The participant's id; all its replicas answer with the same."""

    participant_id: str


class Synchronizer(LedgerStruct):
    """A synchronizer that the participant is connected to, and what a party may do there if one was asked about."""

    synchronizer_id: str
    synchronizer_alias: str | None = None
    permission: str | None = None


class ConnectedSynchronizers(LedgerStruct):
    """Answer of the list of synchronizers."""

    connected_synchronizers: list[Synchronizer] | None = None


class PartyDetails(LedgerStruct):
    """A party that the participant knows."""

    party: str
    is_local: bool | None = None
    local_metadata: msgspec.Raw = ABSENT
    identity_provider_id: str | None = None


class PartiesPage(LedgerStruct):
    """A page of parties; its token is ``""`` at the end (docs/facts.md#page-token-end)."""

    party_details: list[PartyDetails] | None = None
    next_page_token: str | None = None


class PackageIds(LedgerStruct):
    """Answer of the list of packages."""

    package_ids: list[str] | None = None


class PackageStatus(LedgerStruct):
    """``PACKAGE_STATUS_REGISTERED`` or ``PACKAGE_STATUS_UNSPECIFIED``."""

    package_status: str


class VettedPackage(LedgerStruct):
    """A package, and the time in which its vetting holds."""

    package_id: str
    valid_from_inclusive: str | None = None
    valid_until_exclusive: str | None = None
    package_name: str | None = None
    package_version: str | None = None


class VettedPackages(LedgerStruct):
    """What one participant has vetted on one synchronizer."""

    participant_id: str
    synchronizer_id: str
    packages: list[VettedPackage] | None = None
    topology_serial: int | None = None


class VettedPackagesPage(LedgerStruct):
    """A page of vetted packages; its token is ``""`` at the end (docs/facts.md#page-token-end)."""

    vetted_packages: list[VettedPackages] | None = None
    next_page_token: str | None = None


class CompletionStatus(LedgerStruct):
    """How a command ended; code 0 is success."""

    code: int = 0
    message: str | None = None
    details: msgspec.Raw = ABSENT


class Completion(LedgerStruct):
    """The end of a command."""

    command_id: str
    offset: int
    status: CompletionStatus | None = None
    update_id: str | None = None
    user_id: str | None = None
    act_as: list[str] | None = None
    submission_id: str | None = None
    deduplication_period: msgspec.Raw = ABSENT
    trace_context: TraceContext | None = None
    synchronizer_time: SynchronizerTime | None = None
    paid_traffic_cost: int | None = None


class CompletionItem(LedgerStruct):
    """A one-of: a completion, a checkpoint, or nothing."""

    completion_response: msgspec.Raw = ABSENT

    def content(self, endpoint: str) -> Completion | OffsetCheckpoint | None:
        """What the one-of holds, whether it is wrapped in ``value`` or not."""
        kind, content = one_of(self.completion_response, endpoint)
        if kind == "Completion":
            return decode(content, Completion, endpoint)
        return decode(content, OffsetCheckpoint, endpoint) if kind == "OffsetCheckpoint" else None


class ContractEvent(LedgerStruct):
    """The create or the consuming exercise of a contract, and the synchronizer it happened on."""

    synchronizer_id: str | None = None
    created_event: msgspec.Raw = ABSENT
    archived_event: msgspec.Raw = ABSENT


class ContractEvents(LedgerStruct):
    """The create of a contract and, if there was one, its consuming exercise."""

    created: ContractEvent | None = None
    archived: ContractEvent | None = None


class ActiveContractsPage(LedgerStruct):
    """The head of a page of active contracts; the contracts stay a JSON array."""

    active_contracts: msgspec.Raw = ABSENT
    active_at_offset: int | None = None
    next_page_token: str | None = None


class Right(Wire):
    """A right of a user: its kind, such as ``CanReadAs``, and the party that it is about, if it is about one."""

    kind: str
    party: str | None = None


class RightItem(LedgerStruct):
    """A right as the wire has it: a one-of."""

    kind: msgspec.Raw = ABSENT


class RightContent(LedgerStruct):
    """The content of a right; empty where it is not about a party."""

    party: str | None = None


class UserRights(LedgerStruct):
    """Answer of the list of rights."""

    rights: list[RightItem] | None = None

    def listed(self, endpoint: str) -> list[Right]:
        """The rights, out of their one-ofs."""
        return [_right(item, endpoint) for item in self.rights or []]


def _right(item: RightItem, endpoint: str) -> Right:
    kind, content = one_of(item.kind, endpoint)
    return Right(kind=kind, party=decode(content, RightContent, endpoint).party)


def release_of(version: str) -> tuple[int, int]:
    """Major and minor number of a version, to compare; ``(0, 0)`` if the text has none."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def one_of(content: msgspec.Raw, endpoint: str) -> tuple[str, msgspec.Raw]:
    """The kind and the content of a one-of, out of its ``value`` wrapper; ``("", null)`` if it is missing.

    Raises
    ------
    DecodeError
        If it has not exactly one key.
    """
    if bytes(content) in (b"", b"null"):
        return "", msgspec.Raw(b"null")
    members = decode(content, dict[str, msgspec.Raw], endpoint)
    if len(members) != 1:
        named = ", ".join(members) or "none"
        raise DecodeError(f"{endpoint} answered a one-of with not exactly one key: {named}.", endpoint=endpoint, json_path="$")
    ((kind, inner),) = members.items()
    return kind, unwrapped(inner)


def unwrapped(content: msgspec.Raw) -> msgspec.Raw:
    """What is below ``value``, if that is the only key (docs/facts.md#one-of-encodings)."""
    try:
        members = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return content
    return members["value"] if members.keys() == {"value"} else content
