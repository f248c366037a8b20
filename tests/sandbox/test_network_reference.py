"""Rounds, rights, names, rules, hosts and validators (docs/facts.md#reference-operations)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox

from .conftest import DAYS, EVENTS, client_of, nodes_of

Json = dict[str, Any]
ROUNDS = "/v0/open-and-issuing-mining-rounds"


def rounds_of(client: httpx.Client, *cached: str) -> Json:
    body = {"cached_open_mining_round_contract_ids": cached, "cached_issuing_round_contract_ids": []}
    answer: Json = client.post(ROUNDS, json=body).raise_for_status().json()
    return answer


def alive(updates: list[Json], until: datetime, template: str) -> dict[str, Json]:
    """The creates of a template that nothing has consumed before a time."""
    seen = [update for update in updates if datetime.fromisoformat(update["record_time"]) <= until]
    nodes = [node for update in seen for node in nodes_of(update)]
    gone = {node["contract_id"] for node in nodes if node.get("consuming")}
    created = (node for node in nodes if "created_at" in node and node["template_id"].endswith(template))
    return {node["contract_id"]: node for node in created if node["contract_id"] not in gone}


@pytest.mark.exhaustive
def test_rounds_are_those_of_the_history(client: httpx.Client, box: Sandbox, updates: Any) -> None:
    answer = rounds_of(client)
    for name, state in (("open_mining_rounds", "Open"), ("issuing_mining_rounds", "Issuing")):
        expected = alive(updates, box.now, f":Splice.Round:{state}MiningRound")
        assert set(answer[name]) == set(expected)
        for identifier, found in answer[name].items():
            assert found["contract"]["payload"] == expected[identifier]["create_arguments"]
            assert found["domain_id"] == box.world.parties.synchronizer
    closed = client.get("/v0/closed-rounds").json()["rounds"]
    assert {contract["contract_id"] for contract in closed} == set(alive(updates, box.now, ":Splice.Round:ClosedMiningRound"))
    numbers = [int(contract["payload"]["round"]["number"]) for contract in closed]
    assert numbers == sorted(numbers)


def test_cached_rounds_come_without_a_contract(client: httpx.Client) -> None:
    fresh = rounds_of(client)["open_mining_rounds"]
    first = next(iter(fresh))
    again = rounds_of(client, first, "00ab")["open_mining_rounds"]
    assert set(again) == set(fresh)
    assert [identifier for identifier, found in again.items() if "contract" not in found] == [first]


@pytest.mark.parametrize("body", [b"", b"{}", b'{"cached_open_mining_round_contract_ids":[1]}', b"[]"])
def test_rounds_need_their_body(client: httpx.Client, body: bytes) -> None:
    assert client.post(ROUNDS, content=body).status_code == 400


def test_rounds_change_with_the_clock() -> None:
    box = Sandbox(1, EVENTS, DAYS)
    client, before = client_of(box), set(rounds_of(client_of(box))["open_mining_rounds"])
    earlier = set(rounds_of(client_of(box.at(box.now - timedelta(hours=1))))["open_mining_rounds"])
    assert len(earlier) == len(before) == 3
    assert earlier.isdisjoint(before)
    assert client.get("/v0/featured-apps").is_success


def test_rights_are_signed_by_the_network(client: httpx.Client, box: Sandbox, updates: Any) -> None:
    rights = client.get("/v0/featured-apps").json()["featured_apps"]
    expected = alive(updates, box.now, ":Splice.Coin:FeaturedAppRight")
    own = {key for key, node in expected.items() if node["signatories"] == [box.world.parties.dso]}
    assert {right["contract_id"] for right in rights} == own
    provider = rights[0]["payload"]["provider"]
    answer = client.get(f"/v0/featured-apps/by-provider/{provider}").json()["featured_apps"]
    assert answer == [right for right in rights if right["payload"]["provider"] == provider]
    assert client.get("/v0/featured-apps/by-provider/nobody").json() == {"featured_apps": []}


def test_names_that_have_not_expired(client: httpx.Client, box: Sandbox, updates: Any) -> None:
    entries = client.get("/v0/ans-entries", params={"page_size": 1000}).json()["entries"]
    own = [entry for entry in entries if "contract_id" in entry]
    expected = alive(updates, box.now, ":Splice.Ans:AnsEntry")
    valid = {key for key, node in expected.items() if datetime.fromisoformat(node["create_arguments"]["expiresAt"]) > box.now}
    assert {entry["contract_id"] for entry in own} == valid
    others = entries[len(own) :]
    assert others[0]["name"] == "dso.sand"
    assert not any("expires_at" in entry for entry in others)
    for name in ("d", own[0]["name"][:4]):
        some = client.get("/v0/ans-entries", params={"page_size": 1000, "name_prefix": name}).json()["entries"]
        assert some == [entry for entry in entries if entry["name"].startswith(name)]
    assert client.get("/v0/ans-entries", params={"page_size": 2}).json()["entries"] == entries[:2]
    party = own[0]["user"]
    first = min((entry for entry in entries if entry["user"] == party), key=lambda entry: str(entry["name"]))
    assert client.get(f"/v0/ans-entries/by-party/{party}").json() == {"entry": first}
    assert client.get("/v0/ans-entries/by-name/dso.sand").json() == {"entry": others[0]}
    for path in ("by-party/nobody", "by-name/nothing"):
        assert client.get(f"/v0/ans-entries/{path}").status_code == 404
    for query, status in (({}, 404), ({"page_size": 0}, 400), ({"page_size": 1001}, 400), ({"page_size": "x"}, 400)):
        assert client.get("/v0/ans-entries", params=query).status_code == status


def test_the_rules_and_hosts_of_the_network(client: httpx.Client, box: Sandbox, updates: Any) -> None:
    dso = client.get("/v0/dso").json()
    (rules,) = alive(updates, box.now, ":Splice.DsoRules:DsoRules").values()
    assert dso["dso_rules"]["contract"]["payload"] == rules["create_arguments"]
    (coin_rules,) = alive(updates, box.now, ":Splice.CoinRules:CoinRules").values()
    assert dso["coin_rules"]["contract"]["payload"] == coin_rules["create_arguments"]
    members = {party: member["name"] for party, member in rules["create_arguments"]["svs"]}
    states = [state["contract"]["payload"] for state in dso["sv_node_states"]]
    assert {state["sv"]: state["svName"] for state in states} == members
    numbers = {int(each["contract"]["payload"]["round"]["number"]) for each in rounds_of(client)["open_mining_rounds"].values()}
    assert int(dso["latest_mining_round"]["contract"]["payload"]["round"]["number"]) == max(numbers)
    assert dso["voting_threshold"] == 4
    ((domain,),) = client.get("/v0/scans").json().values()
    assert domain["domainId"] == box.world.parties.synchronizer
    assert {scan["svName"] for scan in domain["scans"]} == set(members.values())
    urls = {node["scan"]["publicUrl"] for state in states for _, node in state["state"]["synchronizerNodes"]}
    assert {scan["publicUrl"] for scan in domain["scans"]} == urls


def test_licenses_in_pages_and_what_they_say(client: httpx.Client, box: Sandbox, updates: Any) -> None:
    expected = alive(updates, box.now, ":Splice.ValidatorLicense:ValidatorLicense")
    licenses, after = [], None
    while True:
        query = {"limit": 7, **({} if after is None else {"after": after})}
        page = client.get("/v0/admin/validator/licenses", params=query).json()
        licenses += page["validator_licenses"]
        after = page.get("next_page_token")
        if after is None:
            break
    assert [each["contract_id"] for each in licenses] == [each["contract_id"] for each in whole(client)]
    assert {each["contract_id"] for each in licenses} == set(expected)
    ids = [each["payload"]["validator"] for each in licenses]
    path = "/v0/validators/validator-faucets"
    found = client.get(path, params={"validator_ids": [*ids, "nobody"]}).json()["validatorsReceivedFaucets"]
    assert {each["validator"] for each in found} == set(ids)
    for each in found:
        span = each["lastCollectedInRound"] - each["firstCollectedInRound"] + 1
        assert each["numRoundsCollected"] + each["numRoundsMissed"] == span
        assert each["numRoundsCollected"] > 0
    assert client.get(path).status_code == 404
    assert client.get("/v0/admin/validator/licenses", params={"after": "x"}).status_code == 400


def whole(client: httpx.Client) -> list[Json]:
    licenses: list[Json] = client.get("/v0/admin/validator/licenses").json()["validator_licenses"]
    return licenses


def test_an_update_by_the_hash_that_was_signed(client: httpx.Client, updates: Any) -> None:
    signed = [update for update in updates if "external_transaction_hash" in update]
    assert signed
    for update in signed[:5]:
        assert client.get(f"/v2/updates/hash/{update['external_transaction_hash']}").json() == update
    path = f"/v2/updates/hash/{signed[0]['external_transaction_hash']}"
    verbose = client.get(path, params={"lang_value_encoding": "protobuf_json"}).json()
    assert verbose["update_id"] == signed[0]["update_id"]
    assert verbose != signed[0]
    assert client.get(path, params={"lang_value_encoding": "xml"}).status_code == 400
    assert client.get("/v2/updates/hash/00ab").status_code == 404
    early = client_of(Sandbox(1, EVENTS, DAYS).at(datetime.fromisoformat(signed[0]["record_time"])))
    assert early.get(path).status_code == 404


def test_before_there_are_rules() -> None:
    box = Sandbox(1, EVENTS, DAYS)
    client = client_of(box.at(box.start - timedelta(hours=1)))
    assert client.get("/v0/dso").status_code == 500
    assert client.get("/v0/featured-apps").json() == {"featured_apps": []}


def test_upgrades_and_completeness(client: httpx.Client) -> None:
    assert client.get("/v0/lsu").json() == {}
    assert client.get("/v0/backfilling/status").json() == {"complete": True}
