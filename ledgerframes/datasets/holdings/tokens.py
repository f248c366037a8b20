"""Tables of contracts of the token standard, from their interface views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from ledgerframes.datasets.arrays import parse_amounts, parse_timestamps
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.holdings import schema, wire
from ledgerframes.datasets.schema import Table
from ledgerframes.errors import DecodeError

Columns = dict[str, Sequence[Any]]


def interface_of(table: Table) -> str:
    """Return the interface of a table of tokens, as package, module and entity."""
    interface, *_ = INTERFACES[table.name]
    return interface


@decode_boundary()
def token_table(table: Table, contracts: pa.Table) -> pa.Table:
    """Build one of the tables of tokens from contracts with their interface views.

    Raises
    ------
    DecodeError
        If a contract has no view through the interface of the table, or a view is malformed.
    """
    interface, kind, columns_of = INTERFACES[table.name]
    pairs = zip(contracts["interface_views"].to_pylist(), contracts["contract_id"].to_pylist(), strict=True)
    entries = [_entry(text, interface.partition(":")[2], contract_id) for text, contract_id in pairs]
    statuses = [entry.view_status or wire.ViewStatus() for entry in entries]
    raws = [b"" if status.code else bytes(entry.view_value) for entry, status in zip(entries, statuses, strict=True)]
    views = [msgspec.json.decode(raw, type=kind) if raw not in (b"", b"null") else None for raw in raws]
    common = {column.name: contracts[column.name] for column in schema.CONTRACT}
    status = {
        "view_code": [status.code or 0 for status in statuses],
        "view_message": [status.message for status in statuses],
        "view": [None if view is None else raw.decode() for raw, view in zip(raws, views, strict=True)],
    }
    return table.sorted(table.from_arrays({**common, **_parsed(columns_of(views)), **status}))


def _entry(text: str | None, interface: str, contract_id: str) -> wire.InterfaceView:
    """Return the view of a contract through an interface, by its module and entity."""
    for entry in msgspec.json.decode(text or "[]", type=list[wire.InterfaceView], strict=False):
        if entry.interface_id.endswith(f":{interface}"):
            return entry
    raise DecodeError(f"Contract {contract_id} has no view through {interface}.", json_path="$..interfaceViews")


def _parsed(columns: Columns) -> dict[str, Any]:
    """Return texts of amounts and times as such."""
    times = ("requested_at", "execute_before", "allocate_before", "settle_before", "lock_expires_at")
    parsers = {"amount": parse_amounts, **dict.fromkeys(times, parse_timestamps)}
    return {name: parsers[name](values, name) if name in parsers else values for name, values in columns.items()}


def _holdings(views: Sequence[wire.Holding | None]) -> Columns:
    locks = [view and view.lock for view in views]
    return {
        "owner": [view and view.owner for view in views],
        **_amounts(views),
        "is_locked": [None if view is None else view.lock is not None for view in views],
        "lock_holders": [lock and lock.holders for lock in locks],
        "lock_expires_at": [lock and lock.expires_at for lock in locks],
    }


def _transfers(views: Sequence[wire.TransferInstruction | None]) -> Columns:
    transfers = [None if view is None else view.transfer for view in views]
    statuses = [None if view is None else view.status for view in views]
    return {
        **_transfer(transfers),
        "requested_at": [transfer and transfer.requested_at for transfer in transfers],
        "execute_before": [transfer and transfer.execute_before for transfer in transfers],
        "transfer_status": [None if status is None else msgspec.json.encode(status).decode() for status in statuses],
    }


def _allocations(views: Sequence[wire.Allocation | None]) -> Columns:
    specifications = [None if view is None else view.allocation for view in views]
    settlements = [None if each is None else each.settlement for each in specifications]
    names = ("executor", "requested_at", "allocate_before", "settle_before")
    return {
        **_transfer([None if each is None else each.transfer_leg for each in specifications]),
        "transfer_leg_id": [each and each.transfer_leg_id for each in specifications],
        **{name: [each and getattr(each, name) for each in settlements] for name in names},
    }


def _transfer(transfers: Sequence[wire.Transfer | None]) -> Columns:
    parties = {name: [each and getattr(each, name) for each in transfers] for name in ("sender", "receiver")}
    return {**parties, **_amounts(transfers)}


def _amounts(views: Sequence[wire.Holding | wire.Transfer | None]) -> Columns:
    instruments = [view and view.instrument_id for view in views]
    return {
        "instrument_admin": [instrument and instrument.admin for instrument in instruments],
        "instrument_id": [instrument and instrument.id for instrument in instruments],
        "amount": [view and view.amount for view in views],
    }


# Of each table: the interface, its view, and the columns of views.
INTERFACES: Mapping[str, tuple[str, Any, Callable[[Sequence[Any]], Columns]]] = {
    "token_holdings": ("splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding", wire.Holding, _holdings),
    "token_transfers": (
        "splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:TransferInstruction",
        wire.TransferInstruction,
        _transfers,
    ),
    "token_allocations": (
        "splice-api-token-allocation-v1:Splice.Api.Token.AllocationV1:Allocation",
        wire.Allocation,
        _allocations,
    ),
}
