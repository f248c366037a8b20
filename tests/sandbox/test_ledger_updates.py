"""What ledger updates say: the same world as the history, seen by one participant."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.cases import ONLY_IN_HISTORY, ONLY_IN_LEDGER
from ledgerframes.sandbox.transactions.templates.coin import COIN

from .conftest import DAYS, DELTA, EFFECTS, EVENTS, PAGE, events_of, ledger_of, read_pages, update_format, updates_of


def transactions(updates: Any) -> list[dict[str, Any]]:
    return [value for kind, value in updates if kind == "Transaction"]


def only(client: httpx.Client, filters: Any, shape: str = DELTA, **members: Any) -> list[dict[str, Any]]:
    request_format = {"includeTransactions": {"transactionShape": shape, "eventFormat": {**filters, **members}}}
    return transactions(updates_of(read_pages(client, 2000, updateFormat=request_format)))


def test_all_kinds_are_there(effects: Any, deltas: Any) -> None:
    assert {kind for kind, _ in effects} == {"Transaction", "Reassignment", "TopologyTransaction"}
    assert {kind for value in transactions(effects) for kind, _ in events_of(value)} == {
        "CreatedEvent",
        "ExercisedEvent",
    }
    assert {kind for value in transactions(deltas) for kind, _ in events_of(value)} == {"CreatedEvent", "ArchivedEvent"}
    assert all(value["events"] for _, value in effects)


def test_updates_are_those_of_the_history(effects: Any, by_id: Any, planted: Any) -> None:
    private = 0
    (only_in_ledger,) = planted[ONLY_IN_LEDGER][0].update_ids
    assert only_in_ledger not in by_id
    for kind, value in effects:
        if kind == "TopologyTransaction" or value["updateId"] == only_in_ledger:
            assert value["updateId"] not in by_id
            continue
        item = by_id[value["updateId"]]
        assert item["verdict"] is None or item["verdict"]["verdict_result"].endswith("ACCEPTED")
        recorded = (item["verdict"] or item["update"])["record_time"]
        assert datetime.fromisoformat(value["recordTime"]) == datetime.fromisoformat(recorded)
        if item["update"] is None:
            private += 1
        elif kind == "Transaction":
            assert value["effectiveAt"] == item["update"]["effective_at"]
            assert value["workflowId"] == item["update"]["workflow_id"]
            assert value["externalTransactionHash"] == item["update"].get("external_transaction_hash")
    assert private > 5


def test_every_update_of_the_parties_is_there(effects: Any, items: Any, box: Sandbox, planted: Any) -> None:
    parties, visible = set(box.user_parties), {value["updateId"] for _, value in effects}
    (only_in_history,) = planted[ONLY_IN_HISTORY][0].update_ids
    assert only_in_history not in visible
    missing = 0
    for item in items:
        update = item["update"]
        if update and "events_by_id" in update:
            nodes = update["events_by_id"].values()
            seen = {p for n in nodes for p in [*n.get("signatories", []), *n.get("observers", []), *n.get("acting_parties", [])]}
            assert (update["update_id"] in visible) >= (bool(seen & parties) and update["update_id"] != only_in_history)
            missing += update["update_id"] not in visible
    assert missing > 500


def test_paid_costs_are_the_historys(effects: Any, by_id: Any, box: Sandbox, planted: Any) -> None:
    (only_in_ledger,) = planted[ONLY_IN_LEDGER][0].update_ids
    mismatches = {results.update_id: results for results in box.planted_traffic_mismatches()}
    counts: Counter[str] = Counter()
    for kind, value in effects:
        if kind == "TopologyTransaction":
            assert "paidTrafficCost" not in value
            continue
        if value["updateId"] == only_in_ledger:
            assert value["paidTrafficCost"] > 0
            continue
        item = by_id[value["updateId"]]
        own = item["verdict"] and item["verdict"]["submitting_participant_uid"] == box.participant
        traffic = item["traffic_summary"] if own else None
        paid = value["paidTrafficCost"]
        if value["updateId"] in mismatches:
            results = mismatches[value["updateId"]]
            assert (paid, traffic["total_traffic_cost"]) == (results.paid_traffic_cost, results.total_traffic_cost)
            assert results.offset == value["offset"]
            assert paid != traffic["total_traffic_cost"]
            counts["planted"] += 1
        else:
            assert paid == (traffic and traffic["total_traffic_cost"])
        counts["known" if paid else "unknown"] += 1
        if item["verdict"]:
            assert bool(value["commandId"]) == bool(own)
    assert counts["planted"] == len(mismatches) > 0
    assert min(counts["known"], counts["unknown"]) > 100


def test_trees_are_bounded_by_node_ids(effects: Any, updates: Any) -> None:
    sizes = {update["update_id"]: len(update["events_by_id"]) for update in updates}
    gaps = partial = 0
    for value in transactions(effects):
        events = [event for _, event in events_of(value)]
        numbers = [event["nodeId"] for event in events]
        assert numbers == sorted(set(numbers))
        gaps += numbers != list(range(len(numbers)))
        partial += len(events) < sizes.get(value["updateId"], 0)
        open_until: list[int] = []
        for kind, event in events_of(value):
            assert event["offset"] == value["offset"]
            open_until = [last for last in open_until if event["nodeId"] <= last]
            if kind == "ExercisedEvent":
                assert all(event["lastDescendantNodeId"] <= last for last in open_until)
                assert event["lastDescendantNodeId"] >= event["nodeId"]
                open_until.append(event["lastDescendantNodeId"])
    assert min(gaps, partial) > 50


def test_witnesses_are_of_the_participant(effects: Any, deltas: Any, box: Sandbox) -> None:
    parties = set(box.user_parties)
    for value in transactions(effects) + transactions(deltas):
        for _, event in events_of(value):
            assert event["witnessParties"]
            assert parties.issuperset(event["witnessParties"])
    for value in transactions(deltas):
        for kind, event in events_of(value):
            if kind == "CreatedEvent":
                assert set(event["witnessParties"]) <= {*event["signatories"], *event["observers"]}


def test_deltas_leave_out_what_comes_and_goes(effects: Any, deltas: Any) -> None:
    visible = {(v["offset"], e["nodeId"]) for v in transactions(deltas) for _, e in events_of(v)}
    marked = {
        (value["offset"], event["nodeId"])
        for value in transactions(effects)
        for _, event in events_of(value)
        if event["acsDelta"]
    }
    assert visible <= marked
    for value in transactions(deltas):
        cids = [event["contractId"] for _, event in events_of(value)]
        assert len(cids) == len(set(cids))


def test_values_are_in_the_ledgers_encoding(deltas: Any, box: Sandbox) -> None:
    amounts = set()
    for value in transactions(deltas):
        for kind, event in events_of(value):
            if kind == "CreatedEvent" and event["templateId"].endswith(":Splice.Coin:Coin"):
                amounts.add(event["createArgument"]["amount"]["initialAmount"])
                assert event["createArgument"]["amount"]["ratePerRound"]["rate"] == "0.0000190259"
            if kind == "CreatedEvent" and event["templateId"].endswith(":AppRewardCoupon"):
                assert "beneficiary" not in event["createArgument"]
    assert amounts
    assert all(len(amount.partition(".")[2]) == 10 for amount in amounts)
    assert "0E-10" not in json.dumps(deltas)


def test_times_have_no_more_digits_than_they_need(effects: Any) -> None:
    digits = Counter(
        len(time.rstrip("Z").partition(".")[2]) for v in transactions(effects) for time in (v["effectiveAt"], v["recordTime"])
    )
    assert set(digits) <= {0, 3, 6}
    assert {3, 6} <= set(digits)


def test_reassignments(effects: Any, box: Sandbox) -> None:
    kinds: Counter[str] = Counter()
    for kind, value in effects:
        if kind != "Reassignment":
            continue
        ((name, event),) = value["events"][0].items()
        kinds[name] += 1
        if name == "JsUnassignedEvent":
            assert set(event) == {"value"}
            event = event["value"]
            assert event["contractId"].startswith("00")
            assert value["synchronizerId"] == event["source"]
        else:
            assert event["createdEvent"]["createArgument"]["owner"]
            assert value["synchronizerId"] == event["target"]
        assert {event["source"], event["target"]} == {
            box.world.parties.synchronizer,
            box.world.parties.app_synchronizer,
        }
        assert event["reassignmentId"]
    assert set(kinds) == {"JsUnassignedEvent", "JsAssignmentEvent"}


def test_topology(effects: Any, box: Sandbox) -> None:
    topology = [value for kind, value in effects if kind == "TopologyTransaction"]
    names: Counter[str] = Counter()
    allocated = []
    for value in topology:
        for entry in value["events"]:
            ((name, wrapped),) = entry["event"].items()
            names[name] += 1
            assert wrapped["value"]["participantId"] == box.participant
            assert ("participantPermission" in wrapped["value"]) == (not name.endswith("Revoked"))
            if value is topology[0]:
                allocated.append(wrapped["value"]["partyId"])
    assert allocated == box.user_parties
    assert set(names) == {f"ParticipantAuthorization{kind}" for kind in ("Added", "Changed", "Revoked", "Onboarding")}


def test_topology_of_some_parties(ledger: httpx.Client, box: Sandbox) -> None:
    target = box.user_parties[1]
    request_format = {"includeTopologyEvents": {"includeParticipantAuthorizationEvents": {"parties": [target]}}}
    ((_, value),) = updates_of(read_pages(ledger, updateFormat=request_format))
    assert len(value["events"]) == 1


def test_a_party_sees_its_own(ledger: httpx.Client, box: Sandbox, deltas: Any) -> None:
    party = box.user_parties[2]
    seen = only(ledger, {"filtersByParty": {party: {}}})
    expected = {v["updateId"] for v in transactions(deltas) for _, e in events_of(v) if party in e["witnessParties"]}
    assert {value["updateId"] for value in seen} == expected
    assert all(event["witnessParties"] == [party] for value in seen for _, event in events_of(value))
    assert any(value["commandId"] for value in seen)
    foreign = [value for value in seen if not value["commandId"]]
    assert all(value["paidTrafficCost"] is None for value in foreign)


@pytest.mark.parametrize("shape", [DELTA, EFFECTS])
def test_template_filters(ledger: httpx.Client, box: Sandbox, shape: str) -> None:
    template = box.world.constants().templates[COIN]
    _, module = template.identifier.split(":", 1)
    answers = []
    for name in (f"#{template.package_name}:{module}", template.identifier):
        selection = {"identifierFilter": {"TemplateFilter": {"value": {"templateId": name}}}}
        answers.append(only(ledger, {"filtersForAnyParty": {"cumulative": [selection]}}, shape))
    assert answers[0] == answers[1]
    assert {event["templateId"] for value in answers[0] for _, event in events_of(value)} == {template.identifier}


def test_interface_views_and_blobs(ledger: httpx.Client, box: Sandbox) -> None:
    target = {
        "interfaceId": "#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding",
        "includeInterfaceView": True,
        "includeCreatedEventBlob": True,
    }
    selection = {"identifierFilter": {"InterfaceFilter": {"value": target}}}
    results = only(ledger, {"filtersForAnyParty": {"cumulative": [selection]}})
    codes: Counter[int] = Counter()
    for value in results:
        for kind, event in events_of(value):
            if kind == "ArchivedEvent":
                assert len(event["implementedInterfaces"]) == 1
                continue
            assert event["createdEventBlob"]
            (view,) = event["interfaceViews"]
            code = view["viewStatus"]["code"]
            codes[code] += 1
            assert (view["viewValue"] is None) == (code != 0)
            assert code or view["viewValue"]["owner"]
    assert set(codes) == {0, 9}


def test_wildcards_widen(ledger: httpx.Client, deltas: Any) -> None:
    anything = {"identifierFilter": {"WildcardFilter": {"value": {"includeCreatedEventBlob": True}}}}
    results = only(ledger, {"filtersForAnyParty": {"cumulative": [anything]}})
    assert [value["updateId"] for value in results] == [value["updateId"] for value in transactions(deltas)]
    assert all(e["createdEventBlob"] for v in results for k, e in events_of(v) if k == "CreatedEvent")
    assert not any(e["createdEventBlob"] for v in transactions(deltas) for k, e in events_of(v) if k == "CreatedEvent")


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("#nowhere:Main:Thing", 404, "PACKAGE_NAMES_NOT_FOUND"),
        ("#meadow-token:Main:Thing", 404, "TEMPLATES_OR_INTERFACES_NOT_FOUND"),
        ("ab" * 32 + ":Main:Thing", 404, "TEMPLATES_OR_INTERFACES_NOT_FOUND"),
        ("Thing", 400, "INVALID_FIELD"),
    ],
)
def test_unknown_templates(ledger: httpx.Client, name: str, status: int, code: str) -> None:
    for kind, key in (("TemplateFilter", "templateId"), ("InterfaceFilter", "interfaceId")):
        selection = {"identifierFilter": {kind: {"value": {key: name}}}}
        request_format = update_format(EFFECTS, {"filtersForAnyParty": {"cumulative": [selection]}})
        answer = ledger.post(PAGE, json={"updateFormat": request_format})
        assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("transaction_format", "code"),
    [
        ({"transactionShape": DELTA}, "MISSING_FIELD"),
        ({"transactionShape": DELTA, "eventFormat": {}}, "INVALID_ARGUMENT"),
        ({"eventFormat": {"filtersForAnyParty": {}}}, "INVALID_ARGUMENT"),
    ],
)
def test_incomplete_formats(ledger: httpx.Client, transaction_format: Any, code: str) -> None:
    answer = ledger.post(PAGE, json={"updateFormat": {"includeTransactions": transaction_format}})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.parametrize("version", ["3.3.0", "3.4.9"])
def test_older_ledgers(version: str) -> None:
    client = ledger_of(Sandbox(1, EVENTS, DAYS, ledger_version=version))
    assert client.get("/v2/version").json()["version"] == version
    for path in (PAGE, "/v2/commands/command-completions", "/v2/state/active-contracts-page"):
        answer = client.post(path, json={})
        assert (answer.status_code, answer.text) == (404, "The requested resource could not be found.")
    body = {"beginExclusive": 0, "updateFormat": update_format(EFFECTS)}
    visible = client.post("/v2/updates", json=body, params={"limit": 100}).json()
    values = [item["update"]["Transaction"]["value"] for item in visible if "Transaction" in item["update"]]
    created = next(event for value in values for kind, event in events_of(value) if kind == "CreatedEvent")
    newer = version.startswith("3.4")
    assert ("externalTransactionHash" in values[0]) == newer
    assert ("acsDelta" in created) == ("representativePackageId" in created) == newer
    assert "paidTrafficCost" not in values[0]
    missing = client.post("/v2/updates/update-by-id", json={"updateId": "1220", "updateFormat": update_format()})
    assert missing.json()["code"] == "TRANSACTION_NOT_FOUND"


def test_an_unknown_update_id_plans_only_slices_with_a_change(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    record_times, numbers = box.world.schedule.record_times, []
    monkeypatch.setattr(box.world.schedule, "record_times", lambda number: numbers.append(number) or record_times(number))
    assert box.ledger.find("1220" + "ab" * 32) is None
    assert numbers == list(range(0, box.world.timeline.count, 5))


@pytest.mark.exhaustive
def test_any_participant_can_be_shown(box: Sandbox, items: Any) -> None:
    sv = box.world.parties.svs[0]
    other = Sandbox(1, EVENTS, DAYS, participant=sv.participant)
    assert other.user_parties == [sv.identifier, box.world.parties.dso]
    seen = {value["updateId"] for _, value in updates_of(read_pages(ledger_of(other), 2000))}
    votes = [item["update"]["update_id"] for item in items if "PriceVote" in json.dumps(item["update"])]
    assert votes
    assert seen.issuperset(votes)


def test_an_unknown_participant_is_refused() -> None:
    with pytest.raises(ValueError, match="Unknown participant"):
        Sandbox(participant="nobody")


def test_the_networks_words(effects: Any) -> None:
    client = ledger_of(Sandbox(1, EVENTS, DAYS, vocabulary="canton"))
    request_format = update_format()
    page = client.post(PAGE, json={"updateFormat": request_format, "maxPageSize": 50, "beginOffsetExclusive": 400_000})
    assert "Splice.Amulet:Amulet" in page.text
    translated = page.text.replace("Amulet", "Coin").replace("amulet", "coin")
    expected = [value for _, value in effects if value["offset"] > 400_000][:50]
    assert [value for _, value in updates_of([json.loads(translated)])] == expected
