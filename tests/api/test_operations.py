from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.operations import OPERATIONS, Operation, operation
from ledgerframes.errors import UsageError
from ledgerframes.loaders.operations import operations

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
    successor = operation(entry.api, entry.deprecated.split(",")[0])
    assert f"{successor.method} {successor.path}" == row["successor"]
    assert not successor.deprecated


@pytest.mark.parametrize("entry", OPERATIONS, ids=lambda entry: f"{entry.api}-{entry.name}")
def test_every_operation_has_a_way(entry: Operation) -> None:
    client = {"ledger": Ledger, "history": History}.get(entry.api)
    if client is None:
        return  # the wallet's client has its own tests
    method = getattr(client, entry.name, None)
    if entry.api == "ledger" and (entry.api, entry.method, entry.path) not in {route(row) for row in ROWS}:
        assert method is not None or callable(Ledger.call)
    else:
        assert inspect.getdoc(method)


def test_names_and_routes_are_unique() -> None:
    assert len(BY_ROUTE) == len({(entry.api, entry.name) for entry in OPERATIONS}) == len(OPERATIONS)


def test_only_what_reads_is_safe() -> None:
    assert all(entry.safe for entry in OPERATIONS if entry.method == "GET")
    assert not any(entry.safe for entry in OPERATIONS if entry.method in ("PATCH", "DELETE", "PUT"))
    effects = re.compile(
        r"submit|allocate_|upload|update_(party|vetting|user|identity)|create_|grant|revoke|execute|accept$|offer_tr"
    )
    assert [entry.name for entry in OPERATIONS if entry.safe and effects.match(entry.name)] == []


def test_unknown_operation_lists_the_known() -> None:
    with pytest.raises(UsageError, match=r"no operation 'burn'\. It has accept, "):
        operation("wallet", "burn")


def test_the_frame_has_a_row_for_each() -> None:
    frame = operations()
    names = ["name", "api", "method", "path", "since", "changed", "deprecated", "purpose", "safe"]
    assert list(frame.columns) == names
    assert len(frame) == len(OPERATIONS)
    assert not frame.drop(columns=["since", "changed", "deprecated"]).isna().any().any()
    assert isinstance(frame, pd.DataFrame)
    assert "object" not in set(frame.dtypes.astype(str))
    page = frame.set_index(["api", "name"]).loc[("ledger", "get_updates_page")]
    assert (page["method"], page["path"], page["since"]) == ("POST", "/v2/updates/get-updates-page", "3.5")
