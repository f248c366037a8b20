"""Holdings, transfers and allocations of the token standard, from interface views."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.holdings.schema import TOKEN_TABLES
from ledgerframes.datasets.holdings.tokens import INTERFACES, token_table
from ledgerframes.errors import DecodeError
from ledgerframes.loaders import tokens
from ledgerframes.loaders.tokens import SCHEMA

INSTRUMENT = {"admin": "bank::1220", "id": "EUR"}
TIME = "2026-11-08T01:00:00.123456789Z"
LEG = {"sender": "ann", "receiver": "bob", "amount": "7.5", "instrumentId": INSTRUMENT}
VIEWS: dict[str, Any] = {
    "token_holdings": {
        "owner": "ann", "instrumentId": INSTRUMENT, "amount": "1.0000000001", "meta": {"values": {}},
        "lock": {"holders": ["bob"], "expiresAt": TIME, "expiresAfter": None, "context": "c"},
    },
    "token_transfers": {
        "originalInstructionCid": None, "meta": {"values": {}},
        "transfer": {**LEG, "requestedAt": TIME, "executeBefore": TIME, "inputHoldingCids": ["00"], "meta": {"values": {}}},
        "status": {"tag": "TransferPendingReceiverAcceptance", "value": {}},
    },
    "token_allocations": {
        "allocation": {
            "settlement": {
                "executor": "venue", "settlementRef": {"id": "t-1", "cid": None}, "requestedAt": TIME, "allocateBefore": TIME,
                "settleBefore": TIME, "meta": {"values": {}},
            },
            "transferLegId": "leg-1", "transferLeg": LEG,
        },
        "holdingCids": ["00"], "meta": {"values": {}},
    },
}  # fmt: skip
EXPECTED: dict[str, dict[str, Any]] = {
    "token_holdings": {"owner": "ann", "amount": Decimal("1.0000000001"), "is_locked": True, "lock_holders": ["bob"]},
    "token_transfers": {"sender": "ann", "receiver": "bob", "amount": Decimal("7.5")},
    "token_allocations": {"sender": "ann", "receiver": "bob", "executor": "venue", "transfer_leg_id": "leg-1"},
}
NAMES = [table.name for table in TOKEN_TABLES]


def build(name: str, *views: Any, code: int = 0, text: str | None = None) -> pd.DataFrame:
    """The table of contracts with these views."""
    interface = INTERFACES[name][0]
    texts = [
        json.dumps([{"interfaceId": f"aa:{interface}", "viewStatus": {"code": code, "message": "m"}, "viewValue": view}])
        for view in views
    ]
    rows = [
        {"participant_id": "p", "active_at_offset": 5, "contract_id": f"{number}", "interface_views": text or each}
        | {"template_id": "x:M:E", "package_id": "x", "template_name": "M:E", "package_name": None}
        for number, each in enumerate(texts)
    ]
    return TABLES[name].to_pandas(token_table(TABLES[name], pa.Table.from_pylist(rows, SCHEMA)))


@pytest.mark.parametrize("name", NAMES)
def test_good_views(name: str) -> None:
    (row,) = build(name, VIEWS[name]).to_dict("records")
    assert {
        column: list(row[column]) if isinstance(value, list) else row[column] for column, value in EXPECTED[name].items()
    } == (EXPECTED[name])
    assert (row["instrument_admin"], row["instrument_id"]) == ("bank::1220", "EUR")
    assert json.loads(row["view"]) == VIEWS[name]
    for column in TABLES[name].columns:
        if str(column.type).startswith("timestamp"):
            assert row[column.name] == datetime(2026, 11, 8, 1, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize("name", NAMES)
def test_no_contracts_and_views_without_values(name: str) -> None:
    pd.testing.assert_frame_equal(build(name), TABLES[name].empty())
    failed = build(name, None, code=9)
    assert (failed["view_code"].tolist(), failed["view_message"].tolist()) == ([9], ["m"])
    assert failed[["instrument_id", "amount", "view"]].isna().all(axis=None)
    bare = build(name, {})
    assert bare["amount"].isna().all()
    assert bare["view"].tolist() == ["{}"]


@pytest.mark.parametrize("status", [None, {}, {"code": None}, {"code": "0"}])
def test_a_status_may_be_null_absent_or_text(status: Any) -> None:
    interface, view = INTERFACES["token_holdings"][0], VIEWS["token_holdings"]
    text = json.dumps([{"interfaceId": f"aa:{interface}", "viewStatus": status, "viewValue": view}])
    assert build("token_holdings", None, text=text)[["view_code", "instrument_id"]].values.tolist() == [[0, "EUR"]]


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy of a view with another value somewhere."""
    name, _, rest = path.partition(".")
    return {**value, name: changed(value[name], rest, new) if rest else new}


@pytest.mark.parametrize(
    ("name", "path", "bad"),
    [
        ("token_holdings", "amount", 5.5),
        ("token_holdings", "amount", "much"),
        ("token_holdings", "amount", "0.00000000001"),
        ("token_holdings", "owner", ["ann"]),
        ("token_holdings", "instrumentId", "EUR"),
        ("token_holdings", "lock.expiresAt", "soon"),
        ("token_transfers", "transfer.amount", True),
        ("token_transfers", "transfer.executeBefore", "later"),
        ("token_transfers", "transfer", []),
        ("token_allocations", "allocation.transferLeg.amount", "x"),
        ("token_allocations", "allocation.settlement", None),
    ],
)
def test_malformed_views_are_refused(name: str, path: str, bad: Any) -> None:
    with pytest.raises(DecodeError):
        build(name, changed(VIEWS[name], path, bad))


@pytest.mark.parametrize("text", ["[]", "{}", "[1]", "no JSON", '[{"interfaceId": "aa:Other:Interface"}]'])
def test_contracts_without_the_view_are_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        build("token_holdings", {}, text=text)


@pytest.mark.parametrize("name", NAMES)
def test_malformed_views_are_kept_in_quarantine(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    interface = INTERFACES[name][0]
    views = [VIEWS[name], {**VIEWS[name], **dict.fromkeys(("owner", "transfer", "allocation"), 5)}, VIEWS[name]]
    head = {"interfaceId": f"aa:{interface}", "viewStatus": {"code": 0, "message": ""}}
    texts = [*(json.dumps([{**head, "viewValue": view}]) for view in views), "[]"]
    rows = [
        {"participant_id": "p", "active_at_offset": 5, "contract_id": f"c{number}", "interface_views": text}
        | {"template_id": "x:M:E", "package_id": "x", "template_name": "M:E", "package_name": None}
        for number, text in enumerate(texts)
    ]
    contracts = pa.Table.from_pylist(rows, SCHEMA).to_pandas()
    monkeypatch.setattr(tokens.ContractLoad, "load", lambda *_: contracts)
    net = lf.connect("sandbox", events=300, days=1, store=tmp_path)
    load = getattr(lf, f"load_{name}")
    with pytest.raises(DecodeError, match="The views of contract c1 cannot be decoded: expected"):
        load(net)
    assert load(net, on_bad_item="quarantine")["contract_id"].tolist() == ["c0", "c2"]
    kept = {path.read_text() for path in (net.local_dir / "quarantine").iterdir()}
    assert kept == {texts[1], texts[3]}
    assert "views of contract c1 cannot be decoded" in caplog.text and "views of contract c3" in caplog.text


def test_tokens_of_the_sandbox_are_those_of_its_contracts(tmp_path: Path) -> None:
    net = lf.connect("sandbox", events=600, days=1, store=tmp_path)
    held = lf.load_token_holdings(net)
    contracts = lf.load_active_contracts(net).set_index("contract_id")["create_arguments"].map(json.loads)
    known = held[held["view_code"] == 0]
    assert known["instrument_id"].nunique() > 1
    for row in known.itertuples():
        payload = contracts[row.contract_id]
        payload = payload.get("coin", payload)
        amount = payload["amount"]
        assert row.owner == payload["owner"]
        assert row.amount == Decimal(amount["initialAmount"] if isinstance(amount, dict) else amount)
    coins = known[known["template_name"].str.startswith("Splice.Coin:")]
    assert (coins["is_locked"] == coins["template_name"].str.endswith("LockedCoin")).all()
    reserved = lf.load_token_allocations(net)
    is_known = reserved["view_code"] == 0
    assert (reserved["settle_before"] > reserved["requested_at"]).equals(is_known)
    assert len(reserved) > 0
    assert lf.load_token_transfers(net).empty
    assert lf.plan(lf.load_token_holdings, net)["dataset"].tolist() == ["ledger_active_contracts"]
