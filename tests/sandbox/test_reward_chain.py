"""Rewards of the world, from the end of a round to its coupons, read by plain loops over its updates."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from .conftest import nodes_of
from .economy_reader import template_of

Json = dict[str, Any]
CALCULATE, PROCESS = (f"Splice.Coin.RewardAccountingV2:{name}RewardsV2" for name in ("Calculate", "Process"))
COUPON, CONFIRMATION = "Splice.Coin:RewardCouponV2", "Splice.DsoRules:Confirmation"
LEAVES, NODES = "BatchOfMintingAllowances", "BatchOfBatches"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def listed(hashes: list[str]) -> str:
    return digest("|".join([str(len(hashes)), *hashes]))


def hash_of(batch: Json) -> str:
    """Return the hash of a batch as the ledger has it."""
    hashes = [each["value"] for each in batch["value"]] if batch["tag"] == NODES else list(map(allowance_hash, batch["value"]))
    return digest(f"{batch['tag']}|1|{listed(hashes)}")


def allowance_hash(allowance: Json) -> str:
    whole, _, places = allowance["amount"].partition(".")
    text = "0.0" if Decimal(allowance["amount"]) == 0 else f"{whole}.{places.rstrip('0') or '0'}"
    return listed([digest(allowance["provider"]), digest(text)])


def nodes(updates: list[Json]) -> Iterator[tuple[Json, Json]]:
    for update in updates:
        for node in nodes_of(update):
            yield update, node


def below(update: Json, node: Json) -> list[Json]:
    return [update["events_by_id"][child] for child in node["child_event_ids"]]


def number_of(payload: Json) -> int:
    return int(payload["round"]["number"])


@pytest.fixture(scope="module")
def created(updates: list[Json]) -> dict[str, tuple[str, Json]]:
    """Template and payload of each contract."""
    return {
        node["contract_id"]: (template_of(node), node["create_arguments"])
        for _, node in nodes(updates)
        if "create_arguments" in node
    }


@pytest.fixture(scope="module")
def batches(updates: list[Json], created: dict[str, tuple[str, Json]]) -> dict[int, list[tuple[Json, Json, list[Json]]]]:
    """Contract, batch and created payloads of each batch, by round."""
    result = defaultdict(list)
    for update, node in nodes(updates):
        if node.get("choice") == "ProcessRewardsV2_ProcessBatch":
            payload = created[node["contract_id"]][1]
            made = [child["create_arguments"] for child in below(update, node)]
            result[number_of(payload)].append((payload, node["choice_argument"]["batch"], made))
    return result


def test_every_batch_has_the_hash_that_its_contract_commits_to(batches: dict[int, Any]) -> None:
    for of_round in batches.values():
        for payload, batch, made in of_round:
            assert hash_of(batch) == payload["batchHash"]["value"]
            if batch["tag"] == NODES:
                assert [child["batchHash"] for child in made] == batch["value"]


def test_trees_have_one_two_and_three_levels(batches: dict[int, Any]) -> None:
    nodes_above = Counter(sum(batch["tag"] == NODES for _, batch, _ in of_round) for of_round in batches.values())
    empty = sum(not batch["value"] for of_round in batches.values() for _, batch, _ in of_round)
    assert min(nodes_above[0], nodes_above[1], nodes_above[3], empty) > 0


def test_every_contract_of_a_batch_is_processed(created: dict[str, tuple[str, Json]], batches: dict[int, Any]) -> None:
    assert sum(template == PROCESS for template, _ in created.values()) == sum(map(len, batches.values())) > 100


def test_coupons_are_the_allowances_except_in_dry_runs(batches: dict[int, Any]) -> None:
    dry = Counter[bool]()
    for of_round in batches.values():
        for payload, batch, made in of_round:
            if batch["tag"] == LEAVES:
                coupons = [{"provider": each["provider"], "amount": each["amount"]} for each in made]
                assert coupons == ([] if payload["dryRun"] else batch["value"])
                dry[payload["dryRun"] and bool(batch["value"])] += 1
    assert min(dry.values()) > 0


def test_dry_runs_come_before_the_switch(updates: list[Json], batches: dict[int, Any]) -> None:
    rounds = {
        number_of(node["create_arguments"]): node["create_arguments"]["rewardConfig"]
        for _, node in nodes(updates)
        if "create_arguments" in node and template_of(node) == "Splice.Round:OpenMiningRound"
    }
    by_traffic = "RewardVersion_TrafficBasedAppRewards"
    for number, of_round in batches.items():
        assert rounds[number]["dryRunVersion" if of_round[0][0]["dryRun"] else "mintingVersion"] == by_traffic
    flags = [batches[number][0][0]["dryRun"] for number in sorted(batches)]
    assert flags == sorted(flags, reverse=True)


def test_each_super_validator_confirms_the_root_before_it_is_executed(
    updates: list[Json], created: dict[str, tuple[str, Json]]
) -> None:
    svs: list[str] = []
    confirmed = defaultdict(list)
    started = 0
    sizes = set()
    for update, node in nodes(updates):
        if "create_arguments" in node:
            payload = node["create_arguments"]
            if template_of(node) == "Splice.DsoRules:DsoRules":
                svs = [pair[0] for pair in payload["svs"]]
            if template_of(node) == CONFIRMATION:
                action = payload["action"]["value"]["coinRulesAction"]
                if action["tag"] == "CRARC_StartProcessingRewardsV2":
                    confirmed[action["value"]["calculateRewardsCid"]].append((payload["confirmer"], action["value"]))
        if node.get("choice") == "CoinRules_StartProcessingRewardsV2":
            argument, (archived, made) = node["choice_argument"], below(update, node)
            assert created[archived["contract_id"]][0] == CALCULATE
            assert archived["contract_id"] == argument["calculateRewardsCid"]
            assert confirmed[argument["calculateRewardsCid"]] == [(sv, argument) for sv in svs]
            calculate, process = created[archived["contract_id"]][1], dict(made["create_arguments"])
            assert process.pop("batchHash") == argument["batchHash"]
            assert process == calculate
            started += 1
            sizes.add(len(svs))
    assert started > 50
    assert sizes == {5, 6}


def test_coupons_that_nobody_collects_expire_and_what_is_unclaimed_is_merged(
    updates: list[Json], created: dict[str, tuple[str, Json]]
) -> None:
    claimed = merged = 0
    for update, node in nodes(updates):
        if node.get("choice") not in ("CoinRules_ClaimExpiredRewardsV2", "CoinRules_MergeUnclaimedRewards"):
            continue
        *archived, made = below(update, node)
        parts = [created[each["contract_id"]] for each in archived]
        assert Decimal(made["create_arguments"]["amount"]) == sum(Decimal(payload["amount"]) for _, payload in parts)
        if node["choice"] == "CoinRules_MergeUnclaimedRewards":
            merged += 1
            continue
        claimed += 1
        assert all(template == COUPON and payload["expiresAt"] < update["effective_at"] for template, payload in parts)
    assert min(claimed, merged) > 0
