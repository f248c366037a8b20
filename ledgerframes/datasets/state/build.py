"""Tables of a participant's current state from responses of the ledger API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from ledgerframes.datasets._columns import StructColumns
from ledgerframes.datasets.arrays import split_template_ids
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.extras import encode_extras
from ledgerframes.datasets.ledger.wire import (
    ActiveContract,
    ActiveContractItem,
    LedgerEventBody,
    SynchronizerTime,
)
from ledgerframes.datasets.schema import Table
from ledgerframes.datasets.state import schema
from ledgerframes.datasets.state.wire import (
    Completion,
    CompletionStatus,
    PartyDetails,
    Synchronizer,
    VettedPackage,
    VettedPackages,
)
from ledgerframes.datasets.structs import kind_of
from ledgerframes.errors import DecodeError

S = TypeVar("S", bound=msgspec.Struct)


@decode_boundary()
def active_contract_table(items: Sequence[ActiveContractItem], participant_id: str, active_at_offset: int) -> pa.Table:
    """Build the table of active contracts at an offset, without empty entries.

    Raises
    ------
    DecodeError
        If an entry contains no contract.
    """
    entries = [(item, *entry) for item in items if (entry := _entry(item)) is not None]
    bodies = StructColumns.from_structs(LedgerEventBody, [body for *_, body in entries])
    contracts = [contract for _, _, contract, _ in entries]
    rows = bodies.to_table(
        schema.LEDGER_ACTIVE_CONTRACTS,
        {
            "participant_id": participant_id,
            "active_at_offset": active_at_offset,
            **split_template_ids(bodies["template_id"]),
            "contract_state": [state for _, state, _, _ in entries],
            "synchronizer_id": [_synchronizer(contract) for contract in contracts],
            "reassignment_counter": [
                (contract.assigned_event or contract.unassigned_event or contract).reassignment_counter for contract in contracts
            ],
            "workflow_id": [item.workflow_id for item, *_ in entries],
            "extra": encode_extras(contracts, item=[item for item, *_ in entries]),
        },
    )
    return schema.LEDGER_ACTIVE_CONTRACTS.sorted(rows)


def _entry(item: ActiveContractItem) -> tuple[str, ActiveContract, LedgerEventBody] | None:
    state, contract = kind_of(item.contract_entry, "$..contractEntry")
    if state == "empty":
        return None
    body = contract.created_event or (contract.assigned_event.created_event if contract.assigned_event else None)
    if body is None:
        raise DecodeError("An active contract has no created event.", json_path="$..contractEntry")
    return state, contract, body


def _synchronizer(contract: ActiveContract) -> str | None:
    if contract.assigned_event:
        return contract.assigned_event.target
    return contract.unassigned_event.source if contract.unassigned_event else contract.synchronizer_id


@decode_boundary()
def completion_table(completions: Sequence[Completion], participant_id: str) -> pa.Table:
    """Build the table of completions."""
    columns = StructColumns.from_structs(Completion, completions)
    times = [completion.synchronizer_time for completion in completions]
    rows = columns.to_table(
        schema.COMPLETIONS,
        {
            "participant_id": participant_id,
            **columns.copy_part(schema.COMPLETIONS, CompletionStatus, [completion.status for completion in completions]),
            **columns.copy_part(schema.COMPLETIONS, SynchronizerTime, times),
            "extra": encode_extras(completions),
        },
    )
    return schema.COMPLETIONS.sorted(rows)


@decode_boundary()
def party_table(parties: Sequence[PartyDetails], participant_id: str) -> pa.Table:
    """Build the table of parties."""
    return _table(schema.PARTIES, PartyDetails, parties, participant_id)


@decode_boundary()
def package_table(package_ids: Sequence[str], vettings: Sequence[VettedPackages], participant_id: str) -> pa.Table:
    """Build the table of packages, with a row for each vetting by this participant."""
    pairs = [
        (package, vetting)
        for vetting in vettings
        if vetting.participant_id.removeprefix("PAR::") == participant_id.removeprefix("PAR::")
        for package in vetting.packages
    ]
    vetted = {package.package_id for package, _ in pairs}
    packages = [package for package, _ in pairs]
    packages += [VettedPackage(package_id=package_id) for package_id in package_ids if package_id not in vetted]
    around = [vetting for _, vetting in pairs] + [None] * (len(packages) - len(pairs))
    synchronizer_ids = [vetting and vetting.synchronizer_id for vetting in around]
    extra = encode_extras(packages, vetting=around)
    return _table(schema.PACKAGES, VettedPackage, packages, participant_id, synchronizer_id=synchronizer_ids, extra=extra)


@decode_boundary()
def synchronizer_table(synchronizers: Sequence[Synchronizer], participant_id: str) -> pa.Table:
    """Build the table of synchronizers."""
    return _table(schema.SYNCHRONIZERS, Synchronizer, synchronizers, participant_id)


def _table(table: Table, struct: type[S], rows: Sequence[S], participant_id: str, **computed: Any) -> pa.Table:
    columns = StructColumns.from_structs(struct, rows)
    return table.sorted(columns.to_table(table, {"participant_id": participant_id, **computed}))
