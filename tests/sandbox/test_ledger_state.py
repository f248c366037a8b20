"""The inventory's reads: active contracts, one contract's events, lists, look-ups, completions, reference data."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import httpx
import pytest
from cases import every_nth

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.cases import ONLY_IN_HISTORY, ONLY_IN_LEDGER
from ledgerframes.sandbox.participant.rendering import EventRenderer

from .conftest import ANYBODY, DAYS, DELTA, EVENTS, events_of, ledger_of, read_pages, update_format, updates_of
from .test_served_pages import refusal

ACS = "/v2/state/active-contracts-page"


def active(client: httpx.Client, size: int = 10_000, **request: Any) -> list[dict[str, Any]]:
    body = {"eventFormat": ANYBODY, "maxPageSize": size, **request}
    results: list[dict[str, Any]] = []
    while True:
        page = client.post(ACS, json=body).raise_for_status().json()
        results += page["activeContracts"]
        body["pageToken"] = page["nextPageToken"]
        if not body["pageToken"]:
            return results


def created_of(entry: dict[str, Any]) -> dict[str, Any]:
    ((kind, value),) = entry["contractEntry"].items()
    created: dict[str, Any] = (value["assignedEvent"] if kind == "JsIncompleteAssigned" else value)["createdEvent"]
    return created


def replayed(deltas: Any, through: int) -> dict[str, str]:
    """Return the kind of entry by contract id, from nothing but the updates."""
    state: dict[str, str] = {}
    for kind, value in deltas:
        if value["offset"] > through or kind == "TopologyTransaction":
            continue
        for name, event in events_of(value):
            if name == "CreatedEvent":
                state[event["contractId"]] = "JsActiveContract"
            elif name == "ArchivedEvent":
                state.pop(event["contractId"], None)
            elif name == "JsAssignmentEvent":
                identifier = event["createdEvent"]["contractId"]
                waiting = state.get(identifier) == "JsIncompleteUnassigned"
                state[identifier] = "JsActiveContract" if waiting else "JsIncompleteAssigned"
            else:
                identifier = event["value"]["contractId"]
                waiting = state.get(identifier) == "JsIncompleteAssigned"
                state[identifier] = "JsActiveContract" if waiting else "JsIncompleteUnassigned"
    return state


@pytest.mark.parametrize("share", [1.0, 0.6, 0.3, 0.61, 0.0001])
def test_active_contracts_are_what_the_updates_leave(ledger: httpx.Client, box: Sandbox, deltas: Any, share: float) -> None:
    offset = int(box.ledger.end() * share)
    entries = active(ledger, activeAtOffset=offset)
    results = {created_of(entry)["contractId"]: next(iter(entry["contractEntry"])) for entry in entries}
    assert len(results) == len(entries)
    assert results == replayed(deltas, offset)


@pytest.mark.parametrize(("seed", "validator"), every_nth([(7064, None), (7116, 0), (7171, 9)], 3))
def test_the_state_of_any_participant_is_what_its_updates_leave(seed: int, validator: int | None) -> None:
    """The state is found without the updates, so the two are compared for an SV, a small and the largest participant."""
    box = Sandbox(seed, 1_200, 1)
    if validator is not None:
        box = Sandbox(seed, 1_200, 1, participant=box.world.parties.validators[validator].participant)
    client = ledger_of(box)
    deltas = updates_of(read_pages(client, 2000, updateFormat=update_format(DELTA)))
    for share in (1.0, 0.7, 0.4):
        offset = int(box.ledger.end() * share)
        entries = active(client, activeAtOffset=offset)
        assert {created_of(entry)["contractId"]: next(iter(entry["contractEntry"])) for entry in entries} == replayed(
            deltas, offset
        )


@pytest.mark.usefixtures("own_worlds")
def test_active_contracts_are_found_without_writing_the_history() -> None:
    box = Sandbox(1, 1_200, 1)
    assert len(active(ledger_of(box))) > 100
    assert box.world.generated == 0


def test_active_contracts_look_like_their_creates(ledger: httpx.Client, deltas: Any) -> None:
    creates = {e["contractId"]: e for _, v in deltas for k, e in events_of(v) if k == "CreatedEvent"}
    kinds: Counter[str] = Counter()
    for entry in active(ledger):
        ((kind, value),) = entry["contractEntry"].items()
        kinds[kind] += 1
        created = created_of(entry)
        if kind == "JsActiveContract":
            assert set(value) == {"createdEvent", "synchronizerId", "reassignmentCounter"}
        if kind == "JsActiveContract" and not value["reassignmentCounter"]:
            assert created == creates[created["contractId"]]
    assert {"JsActiveContract", "JsIncompleteUnassigned"} <= set(kinds)


def test_pages_of_active_contracts(ledger: httpx.Client, box: Sandbox) -> None:
    everything = active(ledger)
    assert active(ledger, 333) == everything
    by_get = ledger.request("GET", ACS, json={"eventFormat": ANYBODY}).json()
    assert by_get["activeAtOffset"] == box.ledger.end()
    assert len(by_get["activeContracts"]) == min(2000, len(everything))
    first = ledger.post(ACS, json={"eventFormat": ANYBODY, "maxPageSize": 10}).json()
    wrong = {"eventFormat": ANYBODY, "maxPageSize": 11, "pageToken": first["nextPageToken"]}
    assert refusal(ledger.post(ACS, json=wrong)) == (400, "INVALID_ACS_PAGE_TOKEN", 8)
    assert refusal(ledger.post(ACS, json={"eventFormat": ANYBODY, "maxPageSize": 10_001}))[1] == "INVALID_ARGUMENT"
    late = {"eventFormat": ANYBODY, "activeAtOffset": box.ledger.end() + 1}
    assert refusal(ledger.post(ACS, json=late)) == (400, "OFFSET_AFTER_LEDGER_END", 12)
    assert refusal(ledger.post(ACS, json={})) == (400, "MISSING_FIELD", 8)


def test_a_page_of_active_contracts_renders_its_own_alone(ledger: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    created, rendered = EventRenderer.created, []
    monkeypatch.setattr(EventRenderer, "created", lambda *arguments: rendered.append(1) or created(*arguments))
    request: dict[str, Any] = {"eventFormat": ANYBODY, "maxPageSize": 10}
    for _ in range(3):
        request["pageToken"] = ledger.post(ACS, json=request).json()["nextPageToken"]
    assert 0 < len(rendered) <= 30


@pytest.mark.parametrize("path", ["/v2/state/active-contracts", "/v2/updates", "/v2/commands/completions"])
def test_a_negative_limit_is_refused(ledger: httpx.Client, box: Sandbox, path: str) -> None:
    offsets = {"beginExclusive": 0, "activeAtOffset": box.ledger.end()}
    body = {**offsets, "parties": box.user_parties, "eventFormat": ANYBODY, "updateFormat": update_format()}
    assert refusal(ledger.post(path, json=body, params={"limit": -5})) == (400, "INVALID_ARGUMENT", 8)
    assert ledger.post(path, json=body, params={"limit": 0}).json() == []


def test_the_list_of_active_contracts_is_short(ledger: httpx.Client, box: Sandbox) -> None:
    path, end = "/v2/state/active-contracts", box.ledger.end()
    long = ledger.post(path, json={"activeAtOffset": end, "eventFormat": ANYBODY})
    assert refusal(long) == (413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", 2)
    assert len(ledger.post(path, json={"activeAtOffset": end, "eventFormat": ANYBODY}, params={"limit": 9}).json()) == 9
    wallet = {"identifierFilter": {"TemplateFilter": {"value": {"templateId": "#meadow-token:Meadow.Token.Registry:Registry"}}}}
    old = {"activeAtOffset": end, "filter": {"filtersForAnyParty": {"cumulative": [wallet]}}, "verbose": True}
    assert isinstance(ledger.post(path, json=old).json(), list)
    assert ledger.post(path, json={"eventFormat": ANYBODY}).headers["content-type"].startswith("text/plain")


def test_the_events_of_a_contract(ledger: httpx.Client, deltas: Any) -> None:
    path = "/v2/events/events-by-contract-id"
    archives = {e["contractId"]: e for _, v in deltas for k, e in events_of(v) if k == "ArchivedEvent"}
    creates = [e for _, v in deltas for k, e in events_of(v) if k == "CreatedEvent"]
    endings = set()
    for created in creates[:: len(creates) // 20]:
        results = ledger.post(path, json={"contractId": created["contractId"], "eventFormat": ANYBODY}).json()
        assert results["created"]["createdEvent"] == created
        archived = archives.get(created["contractId"])
        assert (results["archived"] and results["archived"]["archivedEvent"]) == archived
        endings.add(archived is None)
        payload = ledger.post("/v2/contracts/contract-by-id", json={"contractId": created["contractId"]}).json()
        assert payload["createdEvent"]["createArgument"] == created["createArgument"]
    assert endings == {True, False}
    missing = ledger.post(path, json={"contractId": "00ab", "eventFormat": ANYBODY})
    assert refusal(missing) == (404, "CONTRACT_EVENTS_NOT_FOUND", 11)
    assert missing.json()["resources"] == [["ErrorResource(CONTRACT_ID)", "00ab"]]
    assert refusal(ledger.post(path, json={"contractId": "zz", "eventFormat": ANYBODY}))[1] == "INVALID_FIELD"
    assert ledger.post("/v2/contracts/contract-by-id", json={"contractId": "00ab"}).status_code == 404


def test_nothing_of_contracts_that_were_pruned(deltas: Any) -> None:
    archived = next(e for _, v in deltas for k, e in events_of(v) if k == "ArchivedEvent")
    client = ledger_of(Sandbox(1, EVENTS, DAYS, pruned_through=0.9))
    answer = client.post("/v2/events/events-by-contract-id", json={"contractId": archived["contractId"], "eventFormat": ANYBODY})
    assert refusal(answer)[:2] == (404, "CONTRACT_EVENTS_NOT_FOUND")


def test_lists_of_updates(ledger: httpx.Client, effects: Any, box: Sandbox) -> None:
    first, last = effects[300][1]["offset"], effects[400][1]["offset"]
    body = {"beginExclusive": first, "endInclusive": last, "updateFormat": update_format()}
    list_items = ledger.post("/v2/updates", json=body).json()
    kinds = Counter(next(iter(item["update"])) for item in list_items)
    assert kinds["OffsetCheckpoint"] == 3
    values = [v["value"] for item in list_items for k, v in item["update"].items() if k != "OffsetCheckpoint"]
    assert values == [value for _, value in effects[301:401]]
    for item in list_items:
        if "OffsetCheckpoint" in item["update"]:
            value = item["update"]["OffsetCheckpoint"]["value"]
            assert first < value["offset"] <= last
            assert {time["synchronizerId"] for time in value["synchronizerTimes"]} == {
                box.world.parties.synchronizer,
                box.world.parties.app_synchronizer,
            }
    down = ledger.post("/v2/updates", json={**body, "descendingOrder": True}).json()
    assert [next(iter(item["update"].values()))["value"] for item in down] == values[::-1]
    del body["endInclusive"]
    long = ledger.post("/v2/updates", json=body)
    assert refusal(long) == (413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", 2)
    assert len(ledger.post("/v2/updates", json=body, params={"limit": 200}).json()) == 200
    endless = ledger.post("/v2/updates", json={**body, "descendingOrder": True})
    assert refusal(endless) == (400, "DESCENDING_ORDER_MISSING_END", 8)


def test_deprecated_lists(ledger: httpx.Client, effects: Any, deltas: Any) -> None:
    first, last = effects[300][1]["offset"], effects[400][1]["offset"]
    body = {
        "beginExclusive": first, "endInclusive": last, "verbose": True,
        "filter": {"filtersForAnyParty": {"cumulative": []}},
    }  # fmt: skip
    flats = ledger.post("/v2/updates/flats", json=body).json()
    within = [value for kind, value in deltas if kind == "Transaction" and first < value["offset"] <= last]
    assert [item["update"]["Transaction"]["value"] for item in flats] == within
    trees = ledger.post("/v2/updates/trees", json=body).json()
    within = [value for kind, value in effects if kind == "Transaction" and first < value["offset"] <= last]
    for item, value in zip(trees, within, strict=True):
        tree = item["update"]["TransactionTree"]["value"]
        nodes = [next(iter(node.items())) for node in tree["eventsById"].values()]
        assert list(tree["eventsById"]) == [str(event["nodeId"]) for _, event in events_of(value)]
        assert [wrapped["value"] for _, wrapped in nodes] == [event for _, event in events_of(value)]
        assert {kind for kind, _ in nodes} <= {"CreatedTreeEvent", "ExercisedTreeEvent"}


def test_one_update(ledger: httpx.Client, effects: Any, deltas: Any, box: Sandbox) -> None:
    for kind, value in (*effects[::150], effects[0]):
        for path, key in (("id", {"updateId": value["updateId"]}), ("offset", {"offset": value["offset"]})):
            results = ledger.post(f"/v2/updates/update-by-{path}", json={**key, "updateFormat": update_format()})
            assert results.json() == {"update": {kind: {"value": value}}}
    value = next(value for kind, value in deltas[200:] if kind == "Transaction")
    transaction_format = update_format(DELTA)["includeTransactions"]
    for path, key in (("id", {"updateId": value["updateId"]}), ("offset", {"offset": value["offset"]})):
        results = ledger.post(f"/v2/updates/transaction-by-{path}", json={**key, "transactionFormat": transaction_format})
        assert results.json() == {"transaction": value}
        tree = ledger.get(f"/v2/updates/transaction-tree-by-{path}/{next(iter(key.values()))}",
                          params={"parties": box.user_parties})  # fmt: skip
        assert tree.json()["transaction"]["updateId"] == value["updateId"]
    by_offset = "/v2/updates/update-by-offset"
    for offset, answer in (
        (value["offset"] + 1, (404, "UPDATE_NOT_FOUND", 11)),
        (0, (400, "NON_POSITIVE_OFFSET", 8)),
        (box.ledger.end() + 1, (400, "PARTICIPANT_DATA_ACCESSED_AFTER_LEDGER_END", 9)),
    ):
        asked_for = {"offset": offset, "updateFormat": update_format()}
        assert refusal(ledger.post(by_offset, json=asked_for)) == answer
    missing = ledger.post("/v2/updates/update-by-id", json={"updateId": "1220ab", "updateFormat": update_format()})
    assert refusal(missing) == (404, "UPDATE_NOT_FOUND", 11)
    assert missing.json()["resources"] == [["ErrorResource(UPDATE_ID)", "1220ab"]]


def test_completions(ledger: httpx.Client, box: Sandbox, effects: Any, by_id: Any, planted: Any) -> None:
    paid = {value["updateId"]: value.get("paidTrafficCost") for _, value in effects}
    path, results, begin = "/v2/commands/command-completions", [], 0
    while True:
        page = ledger.post(path, json={"beginExclusive": begin}, params={"limit": 200}).json()
        values = [v["value"] for i in page for k, v in i["completionResponse"].items() if k == "Completion"]
        if not values:
            break
        results += values
        begin = values[-1]["offset"]
    sides = [
        {update_id for entry in planted[kind] for update_id in entry.update_ids} for kind in (ONLY_IN_LEDGER, ONLY_IN_HISTORY)
    ]
    own = [i for i in by_id.values() if i["verdict"] and i["verdict"]["submitting_participant_uid"] == box.participant]
    own = [item for item in own if item["verdict"]["update_id"] not in sides[1]]
    assert len(results) == len(own) + len(sides[0])
    results = [value for value in results if value["updateId"] not in sides[0]]
    assert len(results) == len(own)
    codes: Counter[int] = Counter()
    counts: Counter[str] = Counter()
    for value, item in zip(results, own, strict=True):
        codes[value["status"]["code"]] += 1
        rejected = not item["verdict"]["verdict_result"].endswith("ACCEPTED")
        assert (value["status"]["code"] != 0) == rejected
        if not rejected and value["updateId"] in paid:
            assert value["paidTrafficCost"] == paid[value["updateId"]]
        if rejected:
            assert value["updateId"] == ""
            assert value["paidTrafficCost"] == (item["traffic_summary"] or {}).get("total_traffic_cost")
            counts["rejected with a cost"] += value["paidTrafficCost"] is not None
    assert counts["rejected with a cost"] > 20
    assert {0, 4, 10} == set(codes)
    commands = {value["commandId"] for _, value in effects if value.get("commandId")}
    assert len(commands & {value["commandId"] for value in results}) > 300
    assert refusal(ledger.post(path, json={})) == (413, "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED", 2)
    old = ledger.post("/v2/commands/completions", json={"parties": box.user_parties}, params={"limit": 3})
    assert len(old.json()) == 3
    assert refusal(ledger.post("/v2/commands/completions", json={})) == (400, "MISSING_FIELD", 8)


def test_parties(ledger: httpx.Client, box: Sandbox) -> None:
    everything = ledger.get("/v2/parties").json()
    assert everything["nextPageToken"] == ""
    known = everything["partyDetails"]
    assert {entry["isLocal"] for entry in known} == {True, False}
    assert {entry["party"] for entry in known if entry["isLocal"]} >= set(box.user_parties)
    results: list[Any] = []
    token = ""
    while True:
        page = ledger.get("/v2/parties", params={"pageSize": 50, "pageToken": token}).json()
        results, token = results + page["partyDetails"], page["nextPageToken"]
        if not token:
            break
    assert results == known
    name = box.user_parties[3]
    assert ledger.get(f"/v2/parties/{name}").json()["partyDetails"] == [e for e in known if e["party"] == name]
    assert ledger.get("/v2/parties/nobody::1220ab").json() == {"partyDetails": []}
    filtered = ledger.get("/v2/parties", params={"filter-party": name[:4]}).json()["partyDetails"]
    assert filtered == [entry for entry in known if entry["party"].startswith(name[:4])]
    assert ledger.get("/v2/parties/participant-id").json() == {"participantId": box.participant}
    assert refusal(ledger.get("/v2/parties", params={"pageToken": "ab"}))[1] == "INVALID_ARGUMENT"


def test_packages(ledger: httpx.Client) -> None:
    identifiers = ledger.get("/v2/packages").json()["packageIds"]
    assert all(re.fullmatch("[0-9a-f]{64}", name) for name in identifiers)
    answer = ledger.get(f"/v2/packages/{identifiers[0]}")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert len(answer.content) > 1000
    assert ledger.get(f"/v2/packages/{identifiers[0]}/status").json() == {"packageStatus": "PACKAGE_STATUS_REGISTERED"}
    assert ledger.get("/v2/packages/ab/status").json() == {"packageStatus": "PACKAGE_STATUS_UNSPECIFIED"}
    assert refusal(ledger.get("/v2/packages/ab")) == (404, "PACKAGE_NOT_FOUND", 11)


def test_vetting(ledger: httpx.Client, box: Sandbox) -> None:
    everything = ledger.post("/v2/package-vetting/list", json={}).json()
    assert everything["nextPageToken"] == ""
    assert everything == ledger.get("/v2/package-vetting").json()
    assert len(everything["vettedPackages"]) > 2
    results, token = [], None
    while token != "":
        page = ledger.post("/v2/package-vetting/list", json={"pageSize": 2, "pageToken": token}).json()
        results, token = results + page["vettedPackages"], page["nextPageToken"]
    assert results == everything["vettedPackages"]
    mine = {
        "topologyStateFilter": {"participantIds": [box.participant]},
        "packageMetadataFilter": {"packageNamePrefixes": ["meadow-"]},
    }
    entries = ledger.post("/v2/package-vetting/list", json=mine).json()["vettedPackages"]
    assert {entry["participantId"] for entry in entries} == {box.participant}
    assert {package["packageName"] for package in entries[0]["packages"]} == {"meadow-settlement", "meadow-token", "meadow-batch"}


def test_reference_data(ledger: httpx.Client, box: Sandbox) -> None:
    version = ledger.get("/v2/version").json()
    assert version["version"] == "3.5.14"
    assert {"userManagement", "partyManagement", "offsetCheckpoint"} <= set(version["features"])
    assert ledger.get("/v2/state/ledger-end").json() == {"offset": box.ledger.end()}
    assert set(ledger.get("/v2/state/latest-pruned-offsets").json().values()) == {0}
    connected = ledger.get("/v2/state/connected-synchronizers").json()["connectedSynchronizers"]
    assert [entry["synchronizerAlias"] for entry in connected] == ["global", "app"]
    user = ledger.get("/v2/authenticated-user").json()["user"]
    rights = ledger.get(f"/v2/users/{user['id']}/rights").json()["rights"]
    assert {"kind": {"CanReadAs": {"value": {"party": box.user_parties[0]}}}} in rights
    assert refusal(ledger.get("/v2/users/nobody/rights")) == (404, "USER_NOT_FOUND", 11)
    assert ledger.get("/v2/users").json()["users"][0] == user
    assert (ledger.get("/livez").content, ledger.get("/readyz").status_code) == (b"", 200)
    unknown = ledger.get("/v2/nothing")
    assert (unknown.status_code, unknown.text) == (404, "The requested resource could not be found.")
    assert ledger.get("/v2/updates").status_code == 405
