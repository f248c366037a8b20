"""What is served is what the order describes, field by field, read from the order itself."""

from __future__ import annotations

import re
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
from .order import check, fields_of_prose, fields_of_table, needs_order, paragraph, section, table
from .test_wallet import OFFERS, offer

pytestmark = needs_order
Json = dict[str, Any]


def members(structure: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(structure)}


def test_page_request(ledger: httpx.Client) -> None:
    fields = fields_of_table(section("Page request (GetUpdatesPageRequest)"))
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


def test_page_response(ledger: httpx.Client) -> None:
    fields = fields_of_table(section("Page response (JsGetUpdatesPageResponse)"))
    for body in ({}, {"endOffsetInclusive": 100}, {"descendingOrder": True}):
        check(ledger.post(PAGE, json={"updateFormat": update_format(), **body}).json(), fields)
    kinds = re.search(r"exactly one key among ([\w, ]+),", section("Page response (JsGetUpdatesPageResponse)"))
    assert kinds
    assert set(kinds[1].split(", ")) == {"OffsetCheckpoint", "Reassignment", "TopologyTransaction", "Transaction"}


def test_formats() -> None:
    named: dict[str, set[str]] = {}
    for row in table(section("Formats and filters")):
        named.setdefault(row["Type"], set()).add(row["Field"])
    known = {"ParticipantAuthorizationTopologyFormat": "AuthorizationFormat"}
    for name, fields in named.items():
        assert members(getattr(filters, known.get(name, name))) == fields
    shapes = re.search(r"Values: ([\w, ]+)\.", section("Formats and filters"))
    assert shapes
    assert set(shapes[1].split(", ")) == set(filters.Shape.__args__)


def test_transactions(effects: Any, deltas: Any) -> None:
    fields = fields_of_table(section("Update variants"))
    for updates, kinds in ((deltas, {"CreatedEvent", "ArchivedEvent"}), (effects, {"CreatedEvent", "ExercisedEvent"})):
        for kind, value in updates:
            if kind == "Transaction":
                check(value, fields)
                assert set(value) == {field.name for field in fields}
                assert value["events"]
                assert {name for name, _ in events_of(value)} <= kinds
                trace = value["traceContext"]
                if trace:
                    check(trace, fields_of_prose(paragraph("TraceContext:")))


def test_reassignments_and_topology(effects: Any) -> None:
    prose = {
        "Reassignment": paragraph("Reassignment (JsReassignment):"),
        "TopologyTransaction": paragraph("TopologyTransaction (JsTopologyTransaction):"),
    }
    seen: Counter[str] = Counter()
    for kind, value in effects:
        if kind in prose:
            seen[kind] += 1
            fields = [field for field in fields_of_prose(prose[kind].partition(": ")[2]) if field.name[0].islower()]
            check(value, fields)
            assert set(value) == {field.name for field in fields}
            assert value["events"]
    assert set(seen) == set(prose)
    names = {name for kind, value in effects if kind == "Reassignment" for name, _ in events_of(value)}
    assert all(name in prose["Reassignment"] for name in names)


def test_offset_checkpoints(ledger: httpx.Client) -> None:
    described = fields_of_prose(paragraph("OffsetCheckpoint:"))
    outer = [field for field in described if field.name in ("offset", "synchronizerTimes")]
    inner = [field for field in described if field.name in ("synchronizerId", "recordTime")]
    body = {"beginExclusive": 0, "endInclusive": 3000, "updateFormat": update_format()}
    found = ledger.post("/v2/updates", json=body).json()[-1]["update"]["OffsetCheckpoint"]["value"]
    check(found, outer)
    for time in found["synchronizerTimes"]:
        check(time, inner)
        assert len(time) == len(inner) == 2


def test_errors_of_the_ledger(ledger: httpx.Client) -> None:
    fields = fields_of_prose(paragraph("JsCantonError fields:").partition(": ")[2])
    error = ledger.post(PAGE, json={}).json()
    check(error, fields)
    assert set(error) == {field.name for field in fields}
    wrong = ledger.post(PAGE, content=b"{")
    assert (wrong.status_code, wrong.headers["content-type"].partition(";")[0]) == (400, "text/plain")


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_every_row_of_the_inventory_answers(box: Sandbox, method: str) -> None:
    rows = [*table(section("Other ledger operations (inventory)")), {"Method": "POST", "Path": PAGE}]
    paths = [row["Path"] for row in rows if method in row["Method"].split(", ")]
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
    for row in table(section("Other ledger operations (inventory)")):
        if "Since 3.5" in row["Purpose / status"]:
            for method in row["Method"].split(", "):
                assert client.request(method, row["Path"], json={}).status_code == 404


def test_transfer_offers() -> None:
    described = section("Transfer offer request and response (wallet)")
    fields = fields_of_table(described)
    assert members(OfferRequest) == {field.name for field in fields}
    box = Sandbox(1, EVENTS, DAYS)
    client, body = wallet_of(box), offer(box)
    check(body, fields)
    for field in fields:
        short = {name: value for name, value in body.items() if name != field.name}
        assert client.post(OFFERS, json=short).status_code == 400
    check(client.post(OFFERS, json=body).json(), fields_of_prose(described.partition("Response 200: ")[2]))


def test_errors_of_the_wallet() -> None:
    statuses = {int(row["Status"]) for row in table(section("Errors")) if row["Where"] == "transfer-offers"}
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
    described = paragraph("Transaction item fields (both versions):").partition("The V1 item")[0]
    fields = fields_of_prose(described.partition(": ")[2])
    for update in updates[::30]:
        check(update, fields)
        for root in update["root_event_ids"]:
            assert root in update["events_by_id"]
    first = client.get(f"/v0/updates/{updates[5]['update_id']}").json()
    check(first, [*fields, *fields_of_prose("offset (string, required)")])
    assert "offset" in first
    created = [node for update in updates[::30] for node in update["events_by_id"].values() if "created_at" in node]
    for node in created:
        check(node, fields_of_prose(paragraph("CreatedEvent (history form)").partition(": ")[2], all_required=True))


def test_history_reassignments(items: Any) -> None:
    outer = fields_of_prose(paragraph("Reassignment item (UpdateHistoryReassignment):").partition(": ")[2])
    halves = {
        "created_event": fields_of_prose(paragraph("UpdateHistoryAssignment:").partition(": ")[2], all_required=True),
        "contract_id": fields_of_prose(paragraph("UpdateHistoryUnassignment:").partition(": ")[2], all_required=True),
    }
    seen = set()
    for item in items:
        update = item["update"]
        if update and "event" in update:
            check(update, outer)
            kind = next(kind for kind in halves if kind in update["event"])
            seen.add(kind)
            check(update["event"], halves[kind])
    assert seen == set(halves)


def test_history_events(items: Any) -> None:
    names = {row["Field"] for row in table(section("Event lookup result (history, V2)"))}
    verdict = fields_of_prose(paragraph("EventHistoryVerdict").partition(": ")[2], all_required=True)
    traffic = fields_of_prose(paragraph("EventHistoryTrafficSummary:").partition(". EnvelopeTraffic")[0])
    activity = fields_of_prose(paragraph("EventHistoryAppActivityRecords:").partition(". AppActivityRecord")[0])
    for item in items[::20]:
        assert set(item) == names
        for part, fields in (("verdict", verdict), ("traffic_summary", traffic), ("app_activity_records", activity)):
            if item[part]:
                check(item[part], fields)


def test_reference_data(client: httpx.Client) -> None:
    names = re.search(r"required strings except payload: ([\w, ]+) \(object\), (\w+), (\w+)\.", section("Contract object"))
    assert names
    contract = {*names[1].split(", "), names[2], names[3]}
    rules = client.post("/v0/ans-rules", json={}).json()
    row = next(row for row in table(section("History API ({base_url})")) if row["Path"] == "/v0/ans-rules")
    assert set(rules) == set(re.findall(r"200: (\w+)", row["Shape"]))
    assert set(rules["ans_rules_update"]) == set(re.findall(r"`(\w+)` \(Contract", row["Shape"])) | {"domain_id"}
    votes = client.get("/v0/coin-price/votes").json()
    row = next(row for row in table(section("History API ({base_url})")) if row["Path"].endswith("votes"))
    assert set(votes) == set(re.findall(r"`(\w+)` \(array of Contract", row["Shape"]))
    for found in (rules["ans_rules_update"]["contract"], *votes["coin_price_votes"]):
        assert set(found) == contract
        assert all(isinstance(value, str) for name, value in found.items() if name != "payload")


def test_every_path_of_the_history_answers(box: Sandbox, updates: Any) -> None:
    client = client_of(box)
    for row in table(section("History API ({base_url})")):
        path = row["Path"].replace("{update_id}", updates[9]["update_id"]).replace("{object_key}", "x")
        answer = client.request(row["Method"], path, json={} if row["Method"] == "POST" else None)
        assert answer.status_code == (404 if "bulk" in path else 200), path
