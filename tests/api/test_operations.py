from __future__ import annotations

import inspect
import re
from pathlib import Path

import pandas as pd
import pytest

from ledgerframes.api.history import History
from ledgerframes.api.ledger import Ledger
from ledgerframes.api.operations import OPERATIONS, Operation, operation
from ledgerframes.errors import UsageError
from ledgerframes.loaders.operations import operations

ORDER = Path(__file__).parents[3] / "shared" / "order.md"
VERBS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def order_rows() -> list[tuple[str, str, str, str]]:
    """(api, method, path, text) of every operation that the order names, from its headings and tables."""
    found: list[tuple[str, str, str, str]] = []
    api = ""
    for line in ORDER.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"### (Ledger|Wallet|History) API", line):
            api = heading[1].lower()
        elif line.startswith("## "):
            api = ""
        elif api and (route := re.match(r"#### (\w+) (/\S+)", line)):
            found.append((api, route[1], route[2], ""))
        elif api and line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 3:
            verbs = [verb for verb in cells[0].split(", ") if verb in VERBS]
            found += [(api, verb, cells[1], cells[2]) for verb in verbs]
    return found


ROWS = order_rows()
BY_ROUTE = {(entry.api, entry.method, entry.path): entry for entry in OPERATIONS}


def test_the_order_was_read() -> None:
    apis = [api for api, *_ in ROWS]
    assert (apis.count("ledger"), apis.count("wallet"), apis.count("history")) == (37, 1, 7)


@pytest.mark.parametrize(("api", "method", "path", "text"), ROWS)
def test_every_row_of_the_order_is_an_operation(api: str, method: str, path: str, text: str) -> None:
    entry = BY_ROUTE[api, method, path]
    assert entry.purpose
    if api == "ledger" and (since := re.search(r"Since (\d\.\d)", text)):
        assert entry.since == since[1]
    if changed := re.search(r"changed (\d\.\d)", text):
        assert entry.changed == changed[1]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v2/commands/submit-and-wait-for-transaction-tree"),
        ("GET", "/v2/package-vetting"),
        ("GET", "/v2/state/active-contracts-page"),
        ("POST", "/v2/updates/flats"),
        ("POST", "/v2/updates/trees"),
        ("POST", "/v2/commands/completions"),
    ],
)
def test_what_the_order_calls_deprecated_names_a_successor(method: str, path: str) -> None:
    successor = BY_ROUTE["ledger", method, path].deprecated.split(",")[0]
    assert not operation("ledger", successor).deprecated


@pytest.mark.parametrize("entry", OPERATIONS, ids=lambda entry: f"{entry.api}-{entry.name}")
def test_every_operation_has_a_way(entry: Operation) -> None:
    client = {"ledger": Ledger, "history": History}.get(entry.api)
    if client is None:
        return  # the wallet's client has its own tests
    method = getattr(client, entry.name, None)
    if entry.api == "ledger" and (entry.api, entry.method, entry.path) not in {row[:3] for row in ROWS}:
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
