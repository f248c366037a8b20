"""Tables of a participant's state as it is now: active contracts, completions, parties, packages, synchronizers."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ledgerframes.datasets._arrays import choices, json_text, times
from ledgerframes.datasets._schema import CHOICE, FLAG, INTEGER, JSON, SMALL, TEXT, TEXTS, TIME, Column, Table
from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.ledger import schema as ledger
from ledgerframes.datasets.ledger.build import node_columns
from ledgerframes.datasets.ledger.wire import ActiveContract, ActiveContractItem, LedgerNode, Unassigned
from ledgerframes.datasets.state.wire import Completion, PartyDetails, Synchronizer, VettedPackages
from ledgerframes.errors import DecodeError

STATE = "docs/facts.md#ledger-operations"

LEDGER_ACTIVE_CONTRACTS = Table(
    name="ledger_active_contracts",
    row_description="contract that is active, or on its way between synchronizers, at an offset",
    family="ledger_state",
    key=("participant_id", "contract_id"),
    sort=("participant_id", "offset", "contract_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        Column("active_at_offset", INTEGER, "The offset at which it is active.", STATE),
        Column(
            "offset",
            INTEGER,
            "Offset of the last update that touched it, not always of its creation.",
            "docs/facts.md#ledger-event-fields",
        ),
        Column(
            "contract_state",
            CHOICE,
            "Whether it is active, assigned but not unassigned here, or unassigned but not assigned here.",
            STATE,
            values=("active", "incomplete_assigned", "incomplete_unassigned"),
        ),
        Column("synchronizer_id", TEXT, "Synchronizer on which it is.", STATE),
        Column("reassignment_counter", INTEGER, "How often it has been unassigned.", STATE),
        Column(
            "workflow_id",
            TEXT,
            "Workflow id of the update; tells imported contracts.",
            "docs/facts.md#contracts-across-migrations",
            nullable=True,
        ),
        Column("node_id", SMALL, "Place in the update.", STATE, nullable=True),
        history.CONTRACT_ID,
        *ledger.TEMPLATE_COLUMNS,
        ledger.WITNESS_PARTIES,
        *ledger.CREATED_COLUMNS,
        history.unknown_members("contract"),
    ),
)

COMPLETIONS = Table(
    name="completions",
    row_description="command that ended, well or badly",
    family="ledger_state",
    key=("participant_id", "offset", "command_id"),
    sort=("participant_id", "offset", "command_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        ledger.OFFSET,
        Column("command_id", TEXT, "The command.", STATE),
        Column("status_code", SMALL, "gRPC code; 0 is success.", STATE, nullable=True),
        Column("status_message", TEXT, "What went wrong.", STATE, nullable=True),
        Column("update_id", TEXT, "The update it caused; missing or empty when it failed.", STATE, nullable=True),
        Column("user_id", TEXT, "User who submitted it.", STATE, nullable=True),
        Column("act_as", TEXTS, "Parties on whose behalf it was submitted.", STATE, nullable=True),
        Column("submission_id", TEXT, "The submission.", STATE, nullable=True),
        Column("synchronizer_id", TEXT, "Synchronizer that it went through.", STATE, nullable=True),
        Column("record_time", TIME, "The synchronizer's time at its end.", STATE, nullable=True, unit="UTC, microseconds"),
        ledger.LEDGER_UPDATES["paid_traffic_cost"],
        Column("deduplication_period", JSON, "As JSON text.", STATE, nullable=True),
        history.unknown_members("completion"),
    ),
)

PARTIES = Table(
    name="parties",
    row_description="party that a participant knows",
    family="ledger_state",
    key=("participant_id", "party"),
    sort=("participant_id", "party"),
    columns=(
        ledger.PARTICIPANT_ID,
        Column("party", TEXT, "The party.", STATE),
        Column("is_local", FLAG, "Whether the participant hosts it.", STATE, nullable=True),
        Column("identity_provider_id", TEXT, "Who vouches for it; empty for the participant itself.", STATE, nullable=True),
        Column("local_metadata", JSON, "Participant-local attributes, as JSON text.", STATE, nullable=True),
        history.unknown_members("party"),
    ),
)

PACKAGES = Table(
    name="packages",
    row_description="package that a participant has, and each synchronizer it is vetted on",
    family="ledger_state",
    key=("participant_id", "package_id", "synchronizer_id"),
    sort=("participant_id", "package_id", "synchronizer_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        history.PACKAGE_ID,
        Column(
            "synchronizer_id",
            TEXT,
            "Synchronizer on which this participant has vetted it; missing if on none.",
            STATE,
            nullable=True,
        ),
        Column("package_name", TEXT, "Its name, where the vetting says it.", STATE, nullable=True),
        Column("package_version", TEXT, "Its version, where the vetting says it.", STATE, nullable=True),
        Column("valid_from", TIME, "Begin of the vetting.", STATE, nullable=True, unit="UTC, microseconds"),
        Column("valid_until", TIME, "End of the vetting.", STATE, nullable=True, unit="UTC, microseconds"),
    ),
)

SYNCHRONIZERS = Table(
    name="synchronizers",
    row_description="synchronizer that a participant is connected to",
    family="ledger_state",
    key=("participant_id", "synchronizer_id"),
    sort=("participant_id", "synchronizer_id"),
    columns=(
        ledger.PARTICIPANT_ID,
        Column("synchronizer_id", TEXT, "The synchronizer, verbatim.", STATE),
        Column("synchronizer_alias", TEXT, "What the participant calls it.", STATE, nullable=True),
        Column("permission", TEXT, "What the party asked about may do there.", STATE, nullable=True),
    ),
)

LEDGER_STATE_TABLES = (LEDGER_ACTIVE_CONTRACTS, COMPLETIONS, PARTIES, PACKAGES, SYNCHRONIZERS)


# -- wire to columns ------------------------------------------------------------------------------------------------


def active_contract_table(items: Sequence[ActiveContractItem], participant_id: str, active_at_offset: int) -> pa.Table:
    """Build the rows of the active contracts at an offset; empty entries are left out.

    Raises
    ------
    DecodeError
        If an entry holds no contract.
    """
    found = [(item, *entry) for item in items if (entry := _entry(item)) is not None]
    nodes = [node for *_, node in found]
    contracts = [contract for _, _, contract, _ in found]
    rows = LEDGER_ACTIVE_CONTRACTS.from_arrays(
        {
            **node_columns(nodes, LEDGER_ACTIVE_CONTRACTS),
            "participant_id": pa.array([participant_id] * len(found), TEXT),
            "active_at_offset": pa.array([active_at_offset] * len(found), INTEGER),
            "offset": pa.array([node.offset for node in nodes], INTEGER),
            "contract_state": choices([kind for _, kind, _, _ in found]),
            "synchronizer_id": pa.array([_synchronizer(contract) for contract in contracts], TEXT),
            "reassignment_counter": pa.array([_counter(contract) for contract in contracts], INTEGER),
            "workflow_id": pa.array([item.workflow_id for item, *_ in found], TEXT),
            "extra": json_text([contract.extra for contract in contracts], "extra"),
        }
    )
    return LEDGER_ACTIVE_CONTRACTS.sorted(rows)


def _entry(item: ActiveContractItem) -> tuple[str, ActiveContract, LedgerNode] | None:
    entry = item.contract_entry
    kinds = (
        {"active": entry.active, "incomplete_assigned": entry.assigned, "incomplete_unassigned": entry.unassigned}
        if entry
        else {}
    )
    for kind, contract in kinds.items():
        if contract is None:
            continue
        node = contract.created_event or (contract.assigned_event.created_event if contract.assigned_event else None)
        if node is None:
            raise DecodeError("An active contract comes without its created event.", json_path="$..contractEntry")
        return kind, contract, node
    return None


def _synchronizer(contract: ActiveContract) -> str | None:
    if contract.assigned_event:
        return contract.assigned_event.target
    return contract.unassigned_event.source if contract.unassigned_event else contract.synchronizer_id


def _counter(contract: ActiveContract) -> int | None:
    moved: Unassigned | None = contract.unassigned_event
    if contract.assigned_event:
        return contract.assigned_event.reassignment_counter
    return moved.reassignment_counter if moved else contract.reassignment_counter


def completion_table(completions: Sequence[Completion], participant_id: str) -> pa.Table:
    """Build the rows of completions."""
    statuses = [completion.status for completion in completions]
    synchronizer_times = [completion.synchronizer_time for completion in completions]
    rows = COMPLETIONS.from_arrays(
        {
            "participant_id": pa.array([participant_id] * len(completions), TEXT),
            "offset": pa.array([completion.offset for completion in completions], INTEGER),
            "command_id": pa.array([completion.command_id for completion in completions], TEXT),
            "status_code": pa.array([status.code if status else None for status in statuses], SMALL),
            "status_message": pa.array([status.message if status else None for status in statuses], TEXT),
            "update_id": pa.array([completion.update_id for completion in completions], TEXT),
            "user_id": pa.array([completion.user_id for completion in completions], TEXT),
            "act_as": pa.array([completion.act_as for completion in completions], TEXTS),
            "submission_id": pa.array([completion.submission_id for completion in completions], TEXT),
            "synchronizer_id": pa.array([time.synchronizer_id if time else None for time in synchronizer_times], TEXT),
            "record_time": times([time.record_time if time else None for time in synchronizer_times], "recordTime"),
            "paid_traffic_cost": pa.array([completion.paid_traffic_cost for completion in completions], INTEGER),
            "deduplication_period": json_text(
                [completion.deduplication_period for completion in completions], "deduplicationPeriod"
            ),
            "extra": json_text([completion.extra for completion in completions], "extra"),
        }
    )
    return COMPLETIONS.sorted(rows)


def party_table(parties: Sequence[PartyDetails], participant_id: str) -> pa.Table:
    """Build the rows of parties."""
    rows = PARTIES.from_arrays(
        {
            "participant_id": pa.array([participant_id] * len(parties), TEXT),
            "party": pa.array([party.party for party in parties], TEXT),
            "is_local": pa.array([party.is_local for party in parties], FLAG),
            "identity_provider_id": pa.array([party.identity_provider_id for party in parties], TEXT),
            "local_metadata": json_text([party.local_metadata for party in parties], "localMetadata"),
            "extra": json_text([party.extra for party in parties], "extra"),
        }
    )
    return PARTIES.sorted(rows)


def package_table(package_ids: Sequence[str], vettings: Sequence[VettedPackages], participant_id: str) -> pa.Table:
    """Build the rows of packages: each with its vettings by this participant, or once without."""
    vetted = [
        (package.package_id, vetting.synchronizer_id, package)
        for vetting in vettings
        if vetting.participant_id.removeprefix("PAR::") == participant_id.removeprefix("PAR::")
        for package in vetting.packages or []
    ]
    known = {package_id for package_id, *_ in vetted}
    found = [*vetted, *((package_id, None, None) for package_id in package_ids if package_id not in known)]
    packages = [package for *_, package in found]
    rows = PACKAGES.from_arrays(
        {
            "participant_id": pa.array([participant_id] * len(found), TEXT),
            "package_id": pa.array([package_id for package_id, *_ in found], TEXT),
            "synchronizer_id": pa.array([synchronizer_id for _, synchronizer_id, _ in found], TEXT),
            "package_name": pa.array([package.package_name if package else None for package in packages], TEXT),
            "package_version": pa.array([package.package_version if package else None for package in packages], TEXT),
            "valid_from": times(
                [package.valid_from_inclusive if package else None for package in packages], "validFromInclusive"
            ),
            "valid_until": times(
                [package.valid_until_exclusive if package else None for package in packages], "validUntilExclusive"
            ),
        }
    )
    return PACKAGES.sorted(rows)


def synchronizer_table(synchronizers: Sequence[Synchronizer], participant_id: str) -> pa.Table:
    """Build the rows of synchronizers."""
    rows = SYNCHRONIZERS.from_arrays(
        {
            "participant_id": pa.array([participant_id] * len(synchronizers), TEXT),
            "synchronizer_id": pa.array([synchronizer.synchronizer_id for synchronizer in synchronizers], TEXT),
            "synchronizer_alias": pa.array([synchronizer.synchronizer_alias for synchronizer in synchronizers], TEXT),
            "permission": pa.array([synchronizer.permission for synchronizer in synchronizers], TEXT),
        }
    )
    return SYNCHRONIZERS.sorted(rows)
