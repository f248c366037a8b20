from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.api.operation import Operation
from ledgerframes.api.operations import CLIENTS, OPERATIONS
from ledgerframes.errors import UsageError
from ledgerframes.loaders.operations import operations
from ledgerframes.wallet import OffersWallet

DATA = Path(__file__).parents[1] / "data"
ROWS: list[dict[str, str]] = json.loads((DATA / "operations.json").read_text(encoding="utf-8"))
BY_ROUTE = {(entry.api, entry.method, entry.path): entry for entry in OPERATIONS}


def route(row: dict[str, str]) -> tuple[str, str, str]:
    return row["api"], row["method"], row["path"]


def test_the_specification_has_its_operations() -> None:
    apis = [row["api"] for row in ROWS]
    assert (apis.count("ledger"), apis.count("wallet"), apis.count("history")) == (37, 1, 7)
    assert len({route(row) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['method']}-{row['path']}")
def test_every_specified_operation_is_declared(row: dict[str, str]) -> None:
    entry = BY_ROUTE[route(row)]  # type: ignore[index]
    assert entry.purpose
    if "since" in row:
        assert entry.since == row["since"]
    if "changed" in row:
        assert entry.changed == row["changed"]


@pytest.mark.parametrize("row", [row for row in ROWS if "successor" in row], ids=lambda row: f"{row['method']}-{row['path']}")
def test_deprecated_operations_name_their_successor(row: dict[str, str]) -> None:
    entry = BY_ROUTE[route(row)]  # type: ignore[index]
    successor = CLIENTS[entry.api].operations[entry.deprecated.split(",")[0]]
    assert f"{successor.method} {successor.path}" == row["successor"]
    assert not successor.deprecated


@pytest.mark.parametrize("entry", OPERATIONS, ids=lambda entry: f"{entry.api}-{entry.name}")
def test_every_operation_is_a_method_of_its_client(entry: Operation) -> None:
    client = OffersWallet if entry.api == "wallet" else CLIENTS[entry.api]
    assert inspect.isfunction(getattr(client, entry.name))
    assert inspect.getdoc(getattr(client, entry.name))
    assert re.fullmatch(r"[A-Z][^:;`]*\.", entry.purpose), "a plain sentence"
    assert "docs/" not in entry.purpose


# Ledger API 3.6 removed these, according to its release note.
REMOVED = {
    "POST /v2/updates/flats",
    "POST /v2/updates/trees",
    "POST /v2/updates/transaction-by-offset",
    "POST /v2/updates/transaction-by-id",
    "GET /v2/updates/transaction-tree-by-offset/{offset}",
    "GET /v2/updates/transaction-tree-by-id/{update-id}",
    "GET /v2/package-vetting",
    "POST /v2/package-vetting",
    "GET /v2/interactive-submission/preferred-package-version",
}


def test_operations_that_a_later_version_removed_name_it_and_their_successor() -> None:
    removed = operations().query("until.notna() and api == 'ledger'")
    assert set(removed["method"].astype(str) + " " + removed["path"]) == REMOVED
    assert set(removed["until"]) == {"3.6"}
    for entry in OPERATIONS:
        if entry.until and entry.api == "ledger":
            assert not CLIENTS["ledger"].operations[entry.deprecated].until
            assert "removed in 3.6" in (inspect.getdoc(getattr(CLIENTS["ledger"], entry.name)) or "")


def test_names_and_routes_are_unique() -> None:
    assert len(BY_ROUTE) == len({(entry.api, entry.name) for entry in OPERATIONS}) == len(OPERATIONS)


def test_operations_with_an_effect_are_not_read_only() -> None:
    assert all(entry.read_only for entry in OPERATIONS if entry.method == "GET")
    assert not any(entry.read_only for entry in OPERATIONS if entry.method in ("PATCH", "DELETE", "PUT"))
    effects = re.compile(
        r"submit|allocate_|upload|update_(party|vetting|user|identity)|create_|grant|revoke|execute|accept$|offer_tr"
    )
    assert [entry.name for entry in OPERATIONS if entry.read_only and effects.match(entry.name)] == []


def test_the_frame_has_a_row_for_each() -> None:
    frame = operations()
    names = ["name", "api", "method", "path", "since", "until", "changed", "deprecated", "purpose", "read_only"]
    assert list(frame.columns) == names
    assert len(frame) == len(OPERATIONS)
    assert not frame.drop(columns=["since", "until", "changed", "deprecated"]).isna().any().any()
    assert isinstance(frame, pd.DataFrame)
    assert "object" not in set(frame.dtypes.astype(str))
    page = frame.set_index(["api", "name"]).loc[("ledger", "get_updates_page")]
    assert (page["method"], page["path"], page["since"]) == ("POST", "/v2/updates/get-updates-page", "3.5")


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            lambda net: net.ledger.submit_and_wait({"amount": Decimal("1.5")}),
            "Decimal is not JSON serializable. Pass JSON values",
        ),
        (lambda net: net.ledger.submit_and_wait({"at": datetime(2026, 11, 8, tzinfo=UTC)}), "datetime is not JSON serializable"),
        (lambda net: net.ledger.submit_and_wait({"amount": float("nan")}), "not JSON compliant"),
        (lambda net: net.ledger.submit_and_wait({"commandId": "\ud800"}), "surrogates not allowed"),
        (lambda net: net.ledger.parties_page(filter_party="\ud800"), "surrogates not allowed"),
        (lambda net: net.ledger.user("\ud800"), "user_id= must be text that a URL path can contain"),
        (lambda net: net.ledger.users("alice"), "query= must be a mapping of parameters, got 'alice'"),
    ],
)
def test_what_no_request_can_contain_is_refused_before_it_is_sent(call: Callable[[lf.Network], Any], reason: str) -> None:
    net = lf.connect("sandbox", ledger_url="http://ledger.invalid", transport=httpx.MockTransport(lambda request: pytest.fail()))
    with pytest.raises(UsageError, match=reason):
        call(net)
