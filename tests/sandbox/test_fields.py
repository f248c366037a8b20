"""The sandbox serves what the specification describes, field by field."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx
import msgspec
import pytest

from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.sandbox.ledger_api.updates import PageRequest
from ledgerframes.sandbox.participant import filters
from ledgerframes.sandbox.wallet import OfferRequest

from .conftest import DAYS, EVENTS, PAGE, client_of, events_of, ledger_of, update_format, wallet_of
from .fields import check, content, fields_of, names_of, operations_of
from .test_wallet import OFFERS, offer

Json = dict[str, Any]


def members(structure: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(structure)}


def test_page_request(ledger: httpx.Client) -> None:
    fields = fields_of("GetUpdatesPageRequest")
    assert members(PageRequest) == {field.name for field in fields}
    full: Json = {
        "updateFormat": update_format(), "beginOffsetExclusive": 0, "endOffsetInclusive": 500, "maxPageSize": 5,
        "descendingOrder": False, "pageToken": "",
    }  # fmt: skip
    check(full, fields)
    assert ledger.post(PAGE, json=full).is_success
    for field in fields:
        short = {name: value for name, value in full.items() if name != field.name}
        assert ledger.post(PAGE, json=short).is_success != field.required


@pytest.mark.exhaustive
def test_page_response(ledger: httpx.Client) -> None:
    fields = fields_of("JsGetUpdatesPageResponse")
    for body in ({}, {"endOffsetInclusive": 100}, {"descendingOrder": True}):
        check(ledger.post(PAGE, json={"updateFormat": update_format(), **body}).json(), fields)
    kinds = set(content("fields")["one_ofs"]["Update"])
    assert kinds == {"OffsetCheckpoint", "Reassignment", "TopologyTransaction", "Transaction"}


@pytest.mark.parametrize(
    ("name", "structure"),
    [
        ("UpdateFormat", filters.UpdateFormat),
        ("TransactionFormat", filters.TransactionFormat),
        ("EventFormat", filters.EventFormat),
        ("Filters", filters.Filters),
        ("CumulativeFilter", filters.CumulativeFilter),
        ("TopologyFormat", filters.TopologyFormat),
        ("ParticipantAuthorizationTopologyFormat", filters.AuthorizationFormat),
    ],
)
def test_formats(name: str, structure: type[msgspec.Struct]) -> None:
    assert members(structure) == names_of(name)


def test_shapes() -> None:
    assert set(content("fields")["enums"]["TransactionShape"]) == set(filters.Shape.__args__)


def test_transactions(effects: Any, deltas: Any) -> None:
    fields = fields_of("JsTransaction")
    for updates, kinds in ((deltas, {"CreatedEvent", "ArchivedEvent"}), (effects, {"CreatedEvent", "ExercisedEvent"})):
        for kind, value in updates:
            if kind == "Transaction":
                check(value, fields)
                assert set(value) == {field.name for field in fields}
                assert value["events"]
                assert {name for name, _ in events_of(value)} <= kinds
                trace = value["traceContext"]
                if trace:
                    check(trace, fields_of("TraceContext"))


def test_reassignments_and_topology(effects: Any) -> None:
    specified = {"Reassignment": "JsReassignment", "TopologyTransaction": "JsTopologyTransaction"}
    seen: Counter[str] = Counter()
    for kind, value in effects:
        if kind in specified:
            seen[kind] += 1
            check(value, fields_of(specified[kind]))
            assert set(value) == names_of(specified[kind])
            assert value["events"]
    assert set(seen) == set(specified)
    names = {name for kind, value in effects if kind == "Reassignment" for name, _ in events_of(value)}
    assert names <= set(content("fields")["one_ofs"]["JsReassignmentEvent"])


def test_offset_checkpoints(ledger: httpx.Client) -> None:
    inner = fields_of("SynchronizerTime")
    body = {"beginExclusive": 0, "endInclusive": 3000, "updateFormat": update_format()}
    found = ledger.post("/v2/updates", json=body).json()[-1]["update"]["OffsetCheckpoint"]["value"]
    check(found, fields_of("OffsetCheckpoint"))
    for time in found["synchronizerTimes"]:
        check(time, inner)
        assert len(time) == len(inner) == 2


def test_errors_of_the_ledger(ledger: httpx.Client) -> None:
    fields = fields_of("JsCantonError")
    error = ledger.post(PAGE, json={}).json()
    check(error, fields)
    assert set(error) == {field.name for field in fields}
    wrong = ledger.post(PAGE, content=b"{")
    assert (wrong.status_code, wrong.headers["content-type"].partition(";")[0]) == (400, "text/plain")


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_every_row_of_the_inventory_answers(box: Sandbox, method: str) -> None:
    paths = [row["path"] for row in operations_of("ledger") if row["method"] == method]
    assert paths
    client = ledger_of(Sandbox(1, EVENTS, DAYS))
    for path in paths:
        filled = path.replace("{package-id}", "ab").replace("{party}", box.user_parties[0])
        answer = client.request(method, filled, json={} if method != "GET" else None)
        assert answer.status_code != 405, path
        assert answer.text != "The requested resource could not be found.", path
        assert answer.status_code < 500, path


def test_operations_newer_than_the_ledger() -> None:
    client = ledger_of(Sandbox(1, EVENTS, DAYS, ledger_version="3.4.2"))
    newer = [row for row in operations_of("ledger") if row.get("since") == "3.5"]
    assert len(newer) == 4
    for row in newer:
        assert client.request(row["method"], row["path"], json={}).status_code == 404


def test_transfer_offers() -> None:
    fields = fields_of("CreateTransferOfferRequest")
    assert members(OfferRequest) == {field.name for field in fields}
    box = Sandbox(1, EVENTS, DAYS)
    client, body = wallet_of(box), offer(box)
    check(body, fields)
    for field in fields:
        short = {name: value for name, value in body.items() if name != field.name}
        assert client.post(OFFERS, json=short).status_code == 400
    check(client.post(OFFERS, json=body).json(), fields_of("CreateTransferOfferResponse"))


def test_errors_of_the_wallet() -> None:
    statuses = set(content("fields")["error_statuses"]["POST /v0/wallet/transfer-offers"])
    found = set()
    for faults, fields in (
        (Faults(), {"amount": "x"}),
        (Faults(wallet_429=1), {}),
        (Faults(wallet_500_before=1), {}),
    ):
        box = Sandbox(1, EVENTS, DAYS, faults=faults)
        answers = [wallet_of(box).post(OFFERS, json=offer(box, **fields))]
        answers.append(wallet_of(box, box.limited_token).post(OFFERS, json=offer(box)))
        if fields:
            answers += [wallet_of(box).post(OFFERS, json=offer(box)) for _ in range(2)]
        for answer in answers:
            if not answer.is_success:
                assert list(answer.json()) == ["error"]
                assert isinstance(answer.json()["error"], str)
                found.add(answer.status_code)
    assert found == statuses


def test_history_transactions(updates: Any, client: httpx.Client) -> None:
    fields = fields_of("UpdateHistoryTransaction")
    for update in updates[::30]:
        check(update, fields)
        for root in update["root_event_ids"]:
            assert root in update["events_by_id"]
    first = client.get(f"/v0/updates/{updates[5]['update_id']}").json()
    check(first, [*fields, *fields_of("UpdateHistoryTransactionV1")])
    assert "offset" in first
    created = [node for update in updates[::30] for node in update["events_by_id"].values() if "created_at" in node]
    for node in created:
        check(node, fields_of("CreatedEvent"))


def test_history_reassignments(items: Any) -> None:
    halves = {
        "created_event": fields_of("UpdateHistoryAssignment"),
        "contract_id": fields_of("UpdateHistoryUnassignment"),
    }
    seen = set()
    for item in items:
        update = item["update"]
        if update and "event" in update:
            check(update, fields_of("UpdateHistoryReassignment"))
            kind = next(kind for kind in halves if kind in update["event"])
            seen.add(kind)
            check(update["event"], halves[kind])
    assert seen == set(halves)


def test_history_events(items: Any) -> None:
    parts = {
        "verdict": fields_of("EventHistoryVerdict"),
        "traffic_summary": fields_of("EventHistoryTrafficSummary"),
        "app_activity_records": fields_of("EventHistoryAppActivityRecords"),
    }
    for item in items[::20]:
        assert set(item) == names_of("EventHistoryItem")
        for part, fields in parts.items():
            if item[part]:
                check(item[part], fields)
        if item["verdict"]:
            views = item["verdict"]["transaction_views"]
            check(views, fields_of("TransactionViews"))
            for view in views["views"]:
                check(view, fields_of("TransactionView"))
                for quorum in view["confirming_parties"]:
                    check(quorum, fields_of("Quorum"))


def test_reference_data(client: httpx.Client) -> None:
    rules = client.post("/v0/ans-rules", json={}).json()
    assert set(rules) == names_of("AnsRulesResponse")
    assert set(rules["ans_rules_update"]) == names_of("MaybeCachedContractWithState")
    votes = client.get("/v0/coin-price/votes").json()
    assert set(votes) == names_of("PriceVotesResponse")
    for contract in (rules["ans_rules_update"]["contract"], *votes["coin_price_votes"]):
        check(contract, fields_of("Contract"))
        assert set(contract) == names_of("Contract")


def test_every_path_of_the_history_answers(box: Sandbox, updates: Any) -> None:
    client = client_of(box)
    rows = operations_of("history")
    assert rows
    for row in rows:
        path = row["path"].replace("{update_id}", updates[9]["update_id"]).replace("{object_key}", "x").replace("{coin}", "coin")
        answer = client.request(row["method"], path, json={} if row["method"] == "POST" else None)
        assert answer.status_code == (404 if "bulk" in path else 200), path
