"""Snapshots of the active contracts, and holdings (docs/facts.md#contracts-at-snapshot)."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox

from .conftest import DAYS, EVENTS, client_of, nodes_of

Json = dict[str, Any]
NOON, MIDNIGHT = "2026-11-08T12:00:00Z", "2026-11-09T00:00:00Z"
V1, V2 = "/v1/state/acs", "/v2/state/acs"


def replayed(updates: list[Json], time: str) -> dict[str, Json]:
    """The contracts that are active at a time, by another reading of the history."""
    until = datetime.fromisoformat(time)
    created: dict[str, Json] = {}
    archived: set[str] = set()
    for update in updates:
        if datetime.fromisoformat(update["record_time"]) > until:
            continue
        for node in nodes_of(update):
            if "created_at" in node:
                created.setdefault(node["contract_id"], {**node, "update": update})
            elif node["consuming"]:
                archived.add(node["contract_id"])
    return {identifier: node for identifier, node in created.items() if identifier not in archived}


def listed(client: httpx.Client, path: str = V1, size: int = 1000, **body: Any) -> list[Json]:
    contracts: list[Json] = []
    request: Json = {"migration_id": 4, "record_time": MIDNIGHT, "page_size": size, **body}
    while True:
        page = client.post(path, json=request).raise_for_status().json()
        contracts += page["created_events"]
        assert len(page["created_events"]) <= size
        if page.get("next_page_token") is None:
            return contracts
        request["after"] = page["next_page_token"]


@pytest.mark.parametrize("time", [NOON, MIDNIGHT])
def test_a_snapshot_is_the_history_replayed(client: httpx.Client, updates: Any, time: str) -> None:
    expected = replayed(updates, time)
    contracts = listed(client, record_time=time)
    assert {contract["contract_id"] for contract in contracts} == set(expected)
    assert len(contracts) == len(expected)
    for contract in contracts:
        node = expected[contract["contract_id"]]
        update_id = contract.pop("created_in_update_id", None)
        assert update_id == (node["update"]["update_id"] if node["update"]["migration_id"] == 4 else None)
        assert contract == {name: node[name] for name in contract}
        assert set(node) - set(contract) == {"event_id", "event_type", "update"}
    assert any(expected[each["contract_id"]]["update"]["migration_id"] == 3 for each in contracts)


def test_a_snapshot_of_the_first_migration_names_every_update(client: httpx.Client) -> None:
    contracts = listed(client, migration_id=3, record_time="2026-11-07T15:00:00Z")
    assert contracts
    assert all("created_in_update_id" in contract for contract in contracts)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pages_of_any_size_and_of_both_versions_are_the_same(size: int) -> None:
    client = client_of(Sandbox(1, 600, 1, history_version="0.8"))
    templates = ["splice-coin:Splice.Coin:Coin", "splice-coin:Splice.Round:OpenMiningRound"]
    expected = listed(client, templates=templates)
    assert {contract["template_id"].partition(":")[2] for contract in expected} == {
        "Splice.Coin:Coin",
        "Splice.Round:OpenMiningRound",
    }
    for path in (V1, V2):
        assert listed(client, path, size, templates=templates) == expected


def test_a_party_filter_keeps_what_the_party_has_a_stake_in(client: httpx.Client, box: Sandbox) -> None:
    party = box.world.parties.users[0].identifier
    expected = [each for each in listed(client) if party in each["signatories"] + each["observers"]]
    assert expected
    assert listed(client, party_ids=[party, "nobody"]) == expected


def test_snapshots_are_taken_every_three_hours(client: httpx.Client, box: Sandbox) -> None:
    def before(time: str, migration_id: int = 4) -> Any:
        return client.get("/v0/state/acs/snapshot-timestamp", params={"before": time, "migration_id": migration_id})

    def after(time: str, migration_id: int) -> Any:
        return client.get("/v0/state/acs/snapshot-timestamp-after", params={"after": time, "migration_id": migration_id})

    assert before("2026-11-08T13:11:12.5Z").json() == {"record_time": NOON}
    assert before(NOON).json() == {"record_time": "2026-11-08T09:00:00Z"}
    assert after(NOON, 4).json() == {"record_time": "2026-11-08T15:00:00Z"}
    assert after("2026-11-07T00:00:00Z", 3).json() == {"record_time": "2026-11-07T03:00:00Z"}
    first = after("2026-12-01T00:00:00Z", 3).json()["record_time"]  # the next migration's first, whatever the time
    assert before(first).status_code == 404
    for refused in (before("2026-11-08T00:00:00Z", 9), before("2026-11-01T00:00:00Z"), after("2027-01-01T00:00:00Z", 4)):
        assert (refused.status_code, list(refused.json())) == (404, ["error"])
    late = client_of(Sandbox(1, EVENTS, DAYS).at(datetime.fromisoformat(NOON) + timedelta(seconds=20)))
    answer = late.get("/v0/state/acs/snapshot-timestamp", params={"before": MIDNIGHT, "migration_id": 4})
    assert answer.json() == {"record_time": "2026-11-08T09:00:00Z"}, "the stream of updates is not there yet"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({}, 404),
        ({"before": NOON}, 404),
        ({"before": "noon", "migration_id": 4}, 400),
        ({"before": NOON, "migration_id": "four"}, 400),
        ({"before": "2026-11-08T12:00:00", "migration_id": 4}, 400),
    ],
)
def test_bad_queries(client: httpx.Client, query: Json, status: int) -> None:
    assert client.get("/v0/state/acs/snapshot-timestamp", params=query).status_code == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"page_size": 0}, 400),
        ({"page_size": 1001}, 400),
        ({"record_time": "2026-11-08T12:00:01Z"}, 404),
        ({"record_time": "yesterday"}, 400),
        ({"migration_id": 3}, 404),
        ({"migration_id": "four"}, 400),
        ({"record_time_match": "nearest"}, 400),
        ({"after": "next"}, 400),
        ({"templates": "all"}, 400),
        ({"record_time": "2026-11-08T13:59:00Z", "record_time_match": "at_or_before"}, 200),
    ],
)
def test_bad_bodies(client: httpx.Client, body: Json, status: int) -> None:
    answer = client.post(V1, json={"migration_id": 4, "record_time": NOON, "page_size": 5, **body})
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["record_time"] == NOON


def test_an_opaque_token_is_only_for_its_own_listing() -> None:
    client = client_of(Sandbox(1, 600, 1, history_version="0.8"))
    body: Json = {"migration_id": 4, "record_time": MIDNIGHT, "page_size": 2}
    token = client.post(V2, json=body).json()["next_page_token"]
    assert client.post(V2, json={**body, "page_size": 9, "after": token}).is_success
    for wrong in (
        {**body, "after": token, "templates": ["a:b:c"]},
        {**body, "after": token, "record_time": "2026-11-08T21:00:00Z"},
        {**body, "after": base64.urlsafe_b64encode(b"x.y").decode()},
        {**body, "after": "ä"},
        {**body, "after": ""},
    ):
        answer = client.post(V2, json=wrong)
        assert (answer.status_code, list(answer.json())) == (400, ["error"])
    assert client.post(V2, json={**body, "after": 2}).status_code == 400


@pytest.mark.parametrize(("version", "paths"), [("0.7.4", {V1}), ("0.8", {V1, V2}), ("0.9", {V2})])
def test_versions_have_their_routes(version: str, paths: set[str]) -> None:
    box = Sandbox(1, 600, 1, history_version=version)
    client = client_of(box)
    body = {"migration_id": 4, "record_time": MIDNIGHT, "page_size": 1}
    assert {path for path in (V1, V2) if client.post(path, json=body).is_success} == paths
    assert client.get("/version").json()["version"] == box.history_version


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ValueError, match=r"history_version= must be 0\.7, 0\.8, 0\.9, or a release such as 0\.8\.1, got '1'"):
        Sandbox(1, 600, 1, history_version="1")


def test_holdings_are_the_coins_of_the_owners(client: httpx.Client, box: Sandbox) -> None:
    owners = [user.identifier for user in box.world.parties.users[:30]]
    coins = [each for each in listed(client) if each["template_id"].endswith((":Splice.Coin:Coin", ":Splice.Coin:LockedCoin"))]
    owned: dict[str, list[Decimal]] = {owner: [Decimal(0), Decimal(0)] for owner in owners}
    for coin in coins:
        payload = coin["create_arguments"].get("coin", coin["create_arguments"])
        if payload["owner"] in owned:
            owned[payload["owner"]]["coin" in coin["create_arguments"]] += Decimal(payload["amount"]["initialAmount"])
    body = {"migration_id": 4, "record_time": MIDNIGHT, "owner_party_ids": owners}
    answer = client.post("/v1/holdings/summary", json=body).json()
    assert (answer["record_time"], answer["migration_id"]) == (MIDNIGHT, 4)
    sums = {
        each["party_id"]: [Decimal(each["total_unlocked_coin"]), Decimal(each["total_locked_coin"])]
        for each in answer["summaries"]
    }
    assert sums == {owner: pair for owner, pair in owned.items() if any(pair)}
    for each in answer["summaries"]:
        assert Decimal(each["total_coin_holdings"]) == sum(sums[each["party_id"]])
    held = listed(client, "/v1/holdings/state", 3, owner_party_ids=owners)
    holders = {coin["create_arguments"].get("coin", coin["create_arguments"])["owner"] for coin in held}
    assert holders == set(sums)
    newer = client_of(Sandbox(1, EVENTS, DAYS, history_version="0.9"))
    assert listed(newer, "/v2/holdings/state", 3, owner_party_ids=owners) == held


def test_holdings_need_an_owner(client: httpx.Client) -> None:
    body = {"migration_id": 4, "record_time": MIDNIGHT, "page_size": 1, "owner_party_ids": []}
    for path in ("/v1/holdings/state", "/v1/holdings/summary"):
        assert client.post(path, json=body).status_code == 400
