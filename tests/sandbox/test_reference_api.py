"""Name rules and price votes (docs/facts.md#name-rules-and-price-votes)."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox

from .conftest import DAYS, EVENTS, client_of, nodes_of

CONTRACT = {"template_id", "contract_id", "payload", "created_event_blob", "created_at"}


def votes(box: Sandbox) -> list[dict[str, Any]]:
    answer = client_of(box).get("/v0/coin-price/votes").raise_for_status().json()
    assert list(answer) == ["coin_price_votes"]
    results: list[dict[str, Any]] = answer["coin_price_votes"]
    return results


def created(updates: Any, template: str) -> dict[str, dict[str, Any]]:
    return {
        node["contract_id"]: node
        for update in updates
        for node in nodes_of(update)
        if node["event_type"] == "created_event" and node["template_id"].endswith(template)
    }


def test_name_rules(client: httpx.Client, updates: Any, box: Sandbox) -> None:
    fresh = client.post("/v0/ans-rules", json={}).json()["ans_rules_update"]
    assert set(fresh) == {"contract", "domain_id"}
    assert set(fresh["contract"]) == CONTRACT
    assert fresh["domain_id"] == box.world.parties.synchronizer
    node = created(updates, ":Splice.Ans:AnsRules")[fresh["contract"]["contract_id"]]
    assert fresh["contract"]["payload"] == node["create_arguments"]
    assert fresh["contract"]["created_at"] == node["created_at"]
    cached = {"cached_ans_rules_contract_id": fresh["contract"]["contract_id"]}
    assert client.post("/v0/ans-rules", json=cached).json() == {
        "ans_rules_update": {"contract": None, "domain_id": fresh["domain_id"]}
    }
    cached["cached_ans_rules_contract_id"] = "00ab"
    assert client.post("/v0/ans-rules", json=cached).json()["ans_rules_update"] == fresh
    payload = fresh["contract"]["payload"]
    assert set(payload["config"]) == {"renewalDuration", "entryLifetime", "entryFee", "descriptionPrefix"}
    assert set(payload["config"]["entryLifetime"]) == {"microseconds"}


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"cached_ans_rules_contract_id":5}'])
def test_name_rules_need_a_body(client: httpx.Client, body: bytes) -> None:
    answer = client.post("/v0/ans-rules", content=body)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (400, "text/plain")


def test_before_there_are_rules() -> None:
    box = Sandbox(1, EVENTS, DAYS)
    answer = client_of(box.at(box.start)).post("/v0/ans-rules", json={})
    assert (answer.status_code, list(answer.json())) == (500, ["error"])
    assert votes(box) == []


def test_votes_are_contracts_of_the_history(box: Sandbox, updates: Any) -> None:
    results = votes(box)
    assert all(set(vote) == CONTRACT for vote in results)
    nodes = created(updates, "PriceVote")
    *voted, newcomer = results
    (outlier,) = [entry.subject for entry in box.key() if entry.kind == "price vote far from the others"]
    prices = {vote["payload"]["sv"]: Decimal(vote["payload"]["coinPrice"]) for vote in voted}
    assert prices.pop(outlier) > 2 * max(prices.values())
    assert newcomer["payload"]["coinPrice"] is None
    for vote in voted:
        node = nodes[vote["contract_id"]]
        assert (vote["payload"], vote["created_at"]) == (node["create_arguments"], node["created_at"])
        assert Decimal(vote["payload"]["coinPrice"]) > 0
    assert len({vote["payload"]["sv"] for vote in results}) == len(results) == len(box.world.parties.svs) + 1


def test_votes_change_as_time_goes_on() -> None:
    box = Sandbox(1, EVENTS, DAYS)
    start, end = box.start, box.now
    first = votes(box.at(start + timedelta(minutes=5)))
    assert {vote["payload"]["coinPrice"] for vote in first} == {None}
    snapshots = [votes(box.at(start + timedelta(hours=hours))) for hours in (8, 20, 32, 44)]
    by_sv = [{vote["payload"]["sv"]: vote["contract_id"] for vote in snapshot} for snapshot in snapshots]
    for before, after in pairwise(by_sv):
        (stale,) = [sv for sv in list(before)[:5] if before[sv] == after[sv]]
        assert [entry.subject for entry in box.key() if entry.kind == "stale price vote"] == [stale]
    assert votes(box.at(end)) == votes(Sandbox(1, EVENTS, DAYS))


def test_the_networks_word_is_in_path_and_keys() -> None:
    client = client_of(Sandbox(1, EVENTS, DAYS, vocabulary="canton"))
    answer = client.get("/v0/amulet-price/votes").json()
    assert "amuletPrice" in answer["amulet_price_votes"][0]["payload"]
    assert "coin" not in json.dumps(answer).lower()
    assert client.get("/v0/coin-price/votes").status_code == 404
