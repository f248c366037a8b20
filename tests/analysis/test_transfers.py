"""Transfers and allocations of the token standard: worked examples, and the sandbox by a plain loop."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

TIME = datetime(2026, 11, 8, tzinfo=UTC)
API = "aa:Splice.Api.Token."
LEG = {"sender": "ann", "receiver": "bob", "amount": "7.5", "instrumentId": {"admin": "bank", "id": "EUR"}}
PENDING = {"output": {"tag": "TransferInstructionResult_Pending", "value": {"transferInstructionCid": "i1"}}, "meta": {}}
DONE = {"output": {"tag": "TransferInstructionResult_Completed", "value": {"receiverHoldingCids": []}}, "meta": {}}


def frames_of(*exercises: tuple[str, str, str, Any, Any]) -> Frames:
    """Frames of exercises, each in an update of its own: interface, choice, contract, argument and result."""
    rows = [
        {
            "migration_id": 4,
            "record_time": TIME + timedelta(hours=number),
            "update_id": f"u{number}",
            "event_id": f"u{number}:0",
            "node_index": 0,
            "depth": 0,
            "event_type": "exercised_event",
            "interface_id": interface and f"{API}{interface}",
            "choice": choice,
            "contract_id": contract,
            "choice_argument": json.dumps(argument),
            "exercise_result": json.dumps(result),
            "package_name": "bank",
            "template_name": "Bank:Rules",
            "consuming": False,
        }
        for number, (interface, choice, contract, argument, result) in enumerate(exercises)
    ]
    return testing.frames_of(tree_events=rows)


def test_a_transfer_that_waits_and_one_that_does_not() -> None:
    factory = "TransferInstructionV1:TransferFactory"
    rows = lf.economy.transfers(
        frames_of(
            (factory, "TransferFactory_Transfer", "rules", {"transfer": LEG}, PENDING),
            (factory, "TransferFactory_Transfer", "rules", {"transfer": {**LEG, "amount": "1.0000000001"}}, DONE),
            ("TransferInstructionV1:TransferInstruction", "TransferInstruction_Accept", "i1", {}, DONE),
            ("TransferInstructionV1:TransferInstruction", "TransferInstruction_Reject", "i9", {}, DONE),
        )
    )
    assert rows["amount"].tolist()[:3] == [Decimal("7.5"), Decimal("1.0000000001"), Decimal("7.5")]
    assert rows["sender"].tolist()[:3] == ["ann"] * 3
    assert rows["instrument_id"].tolist()[:3] == ["EUR"] * 3
    assert rows["started_in_update_id"].tolist()[2] == "u0"
    assert rows["started_in_update_id"].isna().tolist() == [True, True, False, True]
    assert rows["output"].tolist()[0] == "TransferInstructionResult_Pending"
    assert pd.isna(rows["amount"][3])
    assert rows["coverage"].tolist() == [0.75] * 4


def test_a_transfer_that_waits_several_times_has_its_start_in_each_row() -> None:
    factory, instruction = "TransferInstructionV1:TransferFactory", "TransferInstructionV1:TransferInstruction"

    def pending(contract: str) -> dict[str, Any]:
        return {"output": {"tag": "TransferInstructionResult_Pending", "value": {"transferInstructionCid": contract}}}

    rows = lf.economy.transfers(
        frames_of(
            (factory, "TransferFactory_Transfer", "rules", {"transfer": LEG}, PENDING),
            (instruction, "TransferInstruction_Accept", "i1", {}, pending("i2")),
            (instruction, "TransferInstruction_Update", "i2", {}, pending("i3")),
            (instruction, "TransferInstruction_Update", "i3", {}, DONE),
            (instruction, "TransferInstruction_Update", "i8", {}, pending("i9")),
            (instruction, "TransferInstruction_Update", "i9", {}, pending("i8")),
        )
    )
    assert rows["started_in_update_id"].fillna("").tolist() == ["", "u0", "u0", "u0", "", ""]
    assert rows["sender"].fillna("").tolist() == ["ann"] * 4 + [""] * 2
    assert rows["amount"].tolist()[:4] == [Decimal("7.5")] * 4


def test_an_allocation_and_its_settlement() -> None:
    made = {"output": {"tag": "AllocationInstructionResult_Completed", "value": {"allocationCid": "a1"}}}
    argument = {"allocation": {"settlement": {"executor": "venue"}, "transferLegId": "1", "transferLeg": LEG}}
    rows = lf.economy.transfers(
        frames_of(
            ("AllocationInstructionV1:AllocationFactory", "AllocationFactory_Allocate", "rules", argument, made),
            ("AllocationV1:Allocation", "Allocation_ExecuteTransfer", "a1", {}, {}),
        )
    )
    assert rows["amount"].tolist() == [Decimal("7.5")] * 2
    assert rows["receiver"].tolist() == ["bob"] * 2


def test_other_choices_and_interfaces_are_no_transfers() -> None:
    rows = lf.economy.transfers(
        frames_of(
            ("TransferInstructionV1:TransferFactory", "TransferFactory_PublicFetch", "rules", {}, {}),
            ("", "TransferFactory_Transfer", "rules", {"transfer": LEG}, DONE),
        )
    )
    assert rows.empty
    assert lf.economy.transfers(testing.frames_of(tree_events=[])).dtypes.equals(rows.dtypes)


@pytest.mark.parametrize("amount", ["much", 7.25, None, "0.00000000001", ["7"]])
def test_amounts_that_are_none_are_missing(amount: Any) -> None:
    argument = {"transfer": {**LEG, "amount": amount}}
    frames = frames_of(("TransferInstructionV1:TransferFactory", "TransferFactory_Transfer", "r", argument, "no object"))
    (row,) = lf.economy.transfers(frames).itertuples()
    assert row.sender == "ann"
    assert pd.isna(row.amount) == (amount != 7.25)


def test_other_things_than_frames_are_refused() -> None:
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.economy\.transfers"):
        lf.economy.transfers("frames")  # type: ignore[arg-type]


def test_the_sandbox_by_a_plain_loop(sandbox_history: Frames) -> None:
    expected = []
    for row in sandbox_history.tree_events.itertuples():
        if isinstance(row.interface_id, str) and row.choice in ("TransferFactory_Transfer", "Allocation_ExecuteTransfer"):
            leg = json.loads(row.choice_argument).get("transfer", {})
            expected.append([row.update_id, row.choice, leg.get("sender"), Decimal(leg["amount"]) if leg else None])
    rows = lf.economy.transfers(sandbox_history)
    found = [
        [None if pd.isna(value) else value for value in row]
        for row in rows[["update_id", "choice", "sender", "amount"]].to_numpy(object)
    ]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert {row[1] for row in expected} == {"TransferFactory_Transfer", "Allocation_ExecuteTransfer"}


def test_a_settlement_without_its_start_has_no_amount() -> None:
    """The choices below it are the registry's own, whose members are unknown."""
    below = {"receiverHoldingCids": ["h1"], "senderHoldingCids": [], "meta": {}}
    rows = lf.economy.transfers(
        frames_of(
            ("AllocationV1:Allocation", "Allocation_ExecuteTransfer", "a1", {}, below),
            ("", "Registry_Transfer", "rules", {"sender": "ann", "receiver": "bob", "amount": "7.5"}, {}),
        )
    )
    assert rows["choice"].tolist() == ["Allocation_ExecuteTransfer"]
    assert rows[["sender", "receiver", "instrument_id", "amount"]].isna().all(axis=None)
    description = {column.name: column.description for column in lf.analysis.FIGURES["economy.transfers"].columns}["amount"]
    assert "such as for a settlement whose start is not in the frames" in description
