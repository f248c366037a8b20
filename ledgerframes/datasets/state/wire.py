"""Structs of the ledger API's inventory, with parties, packages and completions.

Events in them stay JSON bytes, which `ledgerframes.datasets.ledger.wire` declares.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ledgerframes.datasets.boundary import DATA_ERRORS
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.ledger.wire import EmptyContent, LedgerStruct, OffsetCheckpoint, SynchronizerTime, TraceContext
from ledgerframes.datasets.structs import ABSENT, Offset, OneOf, Wire, join_members, kind_of
from ledgerframes.errors import DecodeError

Members = dict[str, msgspec.Raw]


class LedgerVersion(LedgerStruct):
    """Version of the ledger API, such as ``3.5.14``, with its features."""

    version: str
    features: msgspec.Raw = ABSENT

    @property
    def release(self) -> tuple[int, int]:
        """Major and minor number, or ``(0, 0)`` if the text has none."""
        return release_of(self.version)


class LedgerEnd(LedgerStruct):
    """Offset of the last update, or 0, and the latest record time of each synchronizer."""

    offset: Offset
    synchronizer_times: list[SynchronizerTime] | None = None


class PrunedOffsets(LedgerStruct):
    """Last offsets that were pruned, 0 if none was."""

    participant_pruned_up_to_inclusive: Offset = 0
    all_divulged_contracts_pruned_up_to_inclusive: Offset = 0


class Synchronizer(LedgerStruct):
    """A synchronizer of the participant, with the permission of a requested party."""

    synchronizer_id: str
    synchronizer_alias: str | None = None
    permission: str | None = None


class PartyDetails(LedgerStruct):
    """A party known to the participant."""

    party: str
    is_local: bool | None = None
    local_metadata: msgspec.Raw = ABSENT
    identity_provider_id: str | None = None


class PartiesPage(LedgerStruct):
    """A page of parties, whose token is ``""`` at the end (docs/facts.md#page-token-end)."""

    party_details: list[PartyDetails]
    next_page_token: str | None = None


class VettedPackage(LedgerStruct):
    """A vetted package, with the time of its vetting."""

    package_id: str
    valid_from_inclusive: str | None = None
    valid_until_exclusive: str | None = None
    package_name: str | None = None
    package_version: str | None = None


class VettedPackages(LedgerStruct):
    """Packages that a participant has vetted on a synchronizer."""

    participant_id: str
    synchronizer_id: str
    packages: list[VettedPackage]
    topology_serial: int | None = None


class VettedPackagesPage(LedgerStruct):
    """A page of vetted packages, whose token is ``""`` at the end.

    See docs/facts.md#page-token-end.
    """

    vetted_packages: list[VettedPackages]
    next_page_token: str | None = None


class CompletionStatus(LedgerStruct):
    """Status of a command, with code 0 for success."""

    code: int = 0
    message: str | None = None
    details: msgspec.Raw = ABSENT


class Completion(LedgerStruct):
    """Completion of a command."""

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
    transaction_hash: str | None = None


class CompletionResponse(OneOf):
    """A one-of of a completion or a checkpoint, wrapped in ``value`` or not, or nothing."""

    completion: msgspec.Raw = msgspec.field(default=ABSENT, name="Completion")
    checkpoint: msgspec.Raw = msgspec.field(default=ABSENT, name="OffsetCheckpoint")
    empty: EmptyContent | None = msgspec.field(default=None, name="Empty")


class CompletionItem(LedgerStruct):
    """An item of a list of completions."""

    completion_response: CompletionResponse | None = None

    def content(self, endpoint: str) -> Completion | OffsetCheckpoint | None:
        """Return the completion or checkpoint, with all unknown members in its ``extra``."""
        response = self.completion_response
        kind, content = kind_of(response, "$[...].completionResponse")
        if response is None or kind == "empty":
            return None
        content = _with_members(unwrapped(content), completionResponse=_members(response.extra), item=_members(self.extra))
        return decode(content, Completion, endpoint) if kind == "completion" else decode(content, OffsetCheckpoint, endpoint)


def items_without_content(items: Sequence[CompletionItem]) -> list[CompletionItem]:
    """Return the items that are neither a completion nor a checkpoint."""
    return [item for item in items if item.completion_response and item.completion_response.empty]


class CompletionsByHash(LedgerStruct):
    """The accepted completion of a transaction, and the latest that were rejected.

    See docs/facts.md#lookups-by-hash.
    """

    accepted_completion: Completion | None = None
    last_rejected_completions: list[Completion] | None = None


class ContractEvent(LedgerStruct):
    """The create or the consuming exercise of a contract, with its synchronizer."""

    synchronizer_id: str | None = None
    created_event: msgspec.Raw = ABSENT
    archived_event: msgspec.Raw = ABSENT


class ContractEvents(LedgerStruct):
    """The create of a contract, with its consuming exercise."""

    created: ContractEvent | None = None
    archived: ContractEvent | None = None


class ActiveContractsPage(LedgerStruct):
    """A page of active contracts, which stay a JSON array."""

    active_contracts: msgspec.Raw
    active_at_offset: int | None = None
    next_page_token: str | None = None


class User(LedgerStruct):
    """A user of a participant."""

    id: str


class AuthenticatedUser(LedgerStruct):
    """Response with the user of the token."""

    user: User


class Right(Wire):
    """A right of a user, with its kind, such as ``CanReadAs``, and its party if it has one."""

    kind: str
    party: str | None = None


class RightItem(LedgerStruct):
    """A right as a one-of."""

    kind: msgspec.Raw


class UserRights(LedgerStruct):
    """Response of the list of rights."""

    rights: list[RightItem]

    def to_rights(self, endpoint: str) -> list[Right]:
        """Return the rights without their one-ofs, but with all unknown members."""
        return [_right(item, endpoint) for item in self.rights]


def _right(item: RightItem, endpoint: str) -> Right:
    kind, content, others = one_of(item.kind, endpoint)
    return decode(_with_members(content, kind=kind, right=others, item=_members(item.extra)), Right, endpoint)


def release_of(version: str) -> tuple[int, int]:
    """Return major and minor number of a version, or ``(0, 0)`` if the text has none."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def one_of(content: msgspec.Raw, endpoint: str) -> tuple[str, msgspec.Raw, Members]:
    """Return kind and content of a one-of, and its other members, which are unknown.

    A key is the name of a kind, with a capital letter (docs/facts.md#unknown-kinds).

    Raises
    ------
    DecodeError
        If it does not have exactly one key.
    """
    members = decode(content, Members, endpoint)
    kinds = [name for name in members if name[:1].isupper()]
    if len(kinds) != 1:
        keys = ", ".join(kinds) or "none"
        raise DecodeError(f"A one-of from {endpoint} must have exactly one key, got {keys}.", endpoint=endpoint, json_path="$")
    inner = members.pop(kinds[0])
    return kinds[0], unwrapped(inner), members


def unwrapped(content: msgspec.Raw) -> msgspec.Raw:
    """Return the content of ``value`` if that is an object, with the other members.

    See docs/facts.md#one-of-encodings.
    """
    try:
        others = _members(content)
        inner = _members(others.pop("value"))
    except DATA_ERRORS:
        return content
    return msgspec.Raw(msgspec.json.encode(join_members(others, inner)))


def _with_members(content: msgspec.Raw, **members: object) -> msgspec.Raw:
    """Return a JSON object with further members, except those that are empty."""
    further = {name: value for name, value in members.items() if value}
    return msgspec.Raw(msgspec.json.encode({**_members(content), **further})) if further else content


def _members(content: msgspec.Raw) -> Members:
    return msgspec.json.decode(content, type=Members) if content else {}
