"""Coin and rewards of the world, read by plain loops over its updates."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import pytest

from ledgerframes.sandbox import Sandbox

from .conftest import nodes_of
from .economy_reader import ZERO, EconomyReader, template_of

Json = dict[str, Any]
STEP = Decimal("1e-10")
OPEN, ISSUING = "Splice.Round:OpenMiningRound", "Splice.Round:IssuingMiningRound"
LIVENESS = "Splice.ValidatorLicense:ValidatorLivenessActivityRecord"
TRAFFIC = "Splice.DecentralizedSynchronizer:MemberTraffic"
MARKERS, TRAFFIC_BASED = "RewardVersion_FeaturedAppMarkers", "RewardVersion_TrafficBasedAppRewards"


@pytest.fixture(scope="module")
def reader(updates: list[Json]) -> EconomyReader:
    reader = EconomyReader()
    for update in updates:
        reader.read(update)
    return reader


def creates_of(updates: list[Json], name: str) -> list[Json]:
    """Return the create nodes of a template, by its qualified name."""
    return [n for update in updates for n in nodes_of(update) if "create_arguments" in n and template_of(n) == name]


def he10(value: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return value.quantize(STEP, ROUND_HALF_EVEN)


def test_every_update_is_explained(reader: EconomyReader) -> None:
    assert {update_id for update_id, flows in reader.by_update.items() if flows["unexplained"]} == set()
    assert reader.totals["net"] == reader.totals["minted"] - reader.totals["burned"] != 0
    flows = ("minted_tapped", "minted_app", "minted_sv", "burned_traffic", "burned_names", "burned_dust")
    assert all(reader.totals[flow] > 0 for flow in flows)


@pytest.mark.exhaustive
def test_rewards_of_validators_are_minted_in_a_busier_world() -> None:
    reader = EconomyReader()
    for event in Sandbox(1, 6_000, 2).world.events():
        if b'"events_by_id"' in event.update:
            assert reader.read(json.loads(event.update))["unexplained"] == 0
    assert reader.totals["minted_validator"] > 0


def test_all_encodings_have_the_same_coupons() -> None:
    box = Sandbox(1, 3_000, 2)
    compact, ledger = (
        [node["contract_id"] for event in box.world.events(encoding=name) for node in _coupons(event.update)]
        for name in ("compact_json", "ledger_json")
    )
    assert compact == ledger != []


def _coupons(text: bytes) -> list[Json]:
    nodes = json.loads(text).get("events_by_id", {}).values() if b"RewardCouponV2" in text else ()
    return [node for node in nodes if template_of(node).endswith(":RewardCouponV2")]


def test_rounds_switch_from_markers_to_traffic(updates: list[Json]) -> None:
    rounds = creates_of(updates, OPEN)
    versions = [(node["create_arguments"]["rewardConfig"] or {}).get("mintingVersion") for node in rounds]
    changes = [version for version, before in zip(versions, [0, *versions], strict=False) if version != before]
    assert changes == [None, MARKERS, TRAFFIC_BASED]
    assert {node["create_arguments"]["trafficPrice"] for node in rounds} == {None, "60.0", "50.0"}
    rules = [
        node["create_arguments"]["configSchedule"]["initialValue"] for node in creates_of(updates, "Splice.CoinRules:CoinRules")
    ]
    assert [rule["decentralizedSynchronizer"]["fees"]["extraTrafficPrice"] for rule in rules] == ["60.0", "60.0", "50.0"]


def rewards_of(arguments: Json, weights: dict[str, int]) -> dict[str, Decimal]:
    """Return the coins of each party, by the formula in the order of the server."""
    issuance, price = arguments["issuanceConfig"], Decimal(arguments["coinPrice"])
    per_round = he10(Decimal(issuance["coinToIssuePerYear"]) / 52_560)
    per_round -= he10(per_round * Decimal(issuance["optDevelopmentFundPercentage"]))
    to_issue, cap = he10(per_round * Decimal(issuance["appRewardPercentage"])), Decimal(issuance["featuredAppRewardCap"])
    per_mb = he10(Decimal(arguments["trafficPrice"]) / price)
    burn = he10(he10(Decimal(sum(weights.values())) / 10**6) * per_mb)
    per_coupon = he10(he10(min(to_issue, he10(cap * burn)) * cap) / he10(cap * burn)) if burn else cap
    rate = he10(per_mb * per_coupon)
    threshold = he10(Decimal(arguments["rewardConfig"]["appRewardCouponThreshold"]) / price)
    with localcontext() as context:
        context.prec = 60
        allowances = {party: Decimal(weight) / 10**6 * rate for party, weight in weights.items()}
        return {party: a.quantize(STEP, ROUND_HALF_UP) for party, a in allowances.items() if a >= threshold}


def test_rounds_mint_what_the_published_records_say(items: list[Json], updates: list[Json], box: Sandbox) -> None:
    weights: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for item in items:
        for record in (item["app_activity_records"] or {}).get("records", ()):
            weights[item["app_activity_records"]["round_number"]][record["party"]] += record["weight"]
    opened = {int(n["create_arguments"]["round"]["number"]): n["create_arguments"] for n in creates_of(updates, OPEN)}
    batches = creates_of(updates, "Splice.Coin.RewardAccountingV2:ProcessRewardsV2")
    rounds = {node["contract_id"]: int(node["create_arguments"]["round"]["number"]) for node in batches}
    promised: dict[int, dict[str, Decimal]] = {number: {} for number in rounds.values()}
    for node in (node for update in updates for node in nodes_of(update)):
        if node.get("choice") == "ProcessRewardsV2_ProcessBatch" and node["choice_argument"]["batch"]["tag"] != "BatchOfBatches":
            allowances = node["choice_argument"]["batch"]["value"]
            promised[rounds[node["contract_id"]]] |= {each["provider"]: Decimal(each["amount"]) for each in allowances}
    processed = paid = unpaid = 0
    for number, allowances in promised.items():
        expected = rewards_of(opened[number], weights[number])
        assert allowances == expected
        processed, paid, unpaid = processed + 1, paid + len(expected), unpaid + len(weights[number]) - len(expected)
    assert min(processed, paid, unpaid) > 50
    cases = {case.case: case for case in box.planted_cases()}
    by_id = {item["verdict"]["update_id"]: item for item in items if item["verdict"]}
    for name, is_paid in (("threshold missed", False), ("threshold met exactly", True), ("threshold passed", True)):
        number = by_id[cases[name].update_id]["app_activity_records"]["round_number"]
        amounts = rewards_of(opened[number], weights[number])
        assert (cases[name].party in amounts) == is_paid
    number = by_id[cases["oversubscribed round"].update_id]["app_activity_records"]["round_number"]
    total = Decimal(sum(weights[number].values())) / 10**6 * 50 / Decimal(opened[number]["coinPrice"]) * 2  # at the cap
    assert sum(rewards_of(opened[number], weights[number]).values()) < total * Decimal("0.9")


def test_summaries_count_the_coupons_of_their_round(updates: list[Json]) -> None:
    made: Counter[str] = Counter()
    for node in creates_of(updates, "Splice.Coin:AppRewardCoupon"):
        made[node["create_arguments"]["round"]["number"]] += Decimal(node["create_arguments"]["amount"])  # type: ignore[assignment]
    sv_weights: Counter[str] = Counter()
    for node in creates_of(updates, "Splice.Coin:SvRewardCoupon"):
        sv_weights[node["create_arguments"]["round"]["number"]] += int(node["create_arguments"]["weight"])
    faucets = Counter(n["create_arguments"]["round"]["number"] for n in creates_of(updates, LIVENESS))
    seen = 0
    for update in updates:
        rounds = {n["contract_id"]: n["create_arguments"]["round"]["number"] for n in creates_of([update], ISSUING)}
        for node in update["events_by_id"].values():
            if node.get("choice") == "CoinRules_MiningRound_StartIssuing":
                summary, number = node["choice_argument"]["summary"], rounds[node["exercise_result"]["issuingRoundCid"]]
                assert Decimal(summary["totalFeaturedAppRewardCoupons"]) == made[number]
                assert int(summary["totalSvRewardWeight"]) == sv_weights[number]
                assert int(summary["optTotalValidatorFaucetCoupons"]) == faucets[number]
                seen += bool(made[number])
    assert seen > 20


def test_traffic_is_bought_at_the_price_of_its_round(updates: list[Json]) -> None:
    opened = {n["contract_id"]: n["create_arguments"] for n in creates_of(updates, OPEN)}
    members = Counter[bool]()
    for update in updates:
        for node in update["events_by_id"].values():
            if node.get("choice") == "CoinRules_BuyMemberTraffic":
                argument = node["choice_argument"]
                terms = opened[argument["context"]["openMiningRound"]]
                usd = Decimal(argument["trafficAmount"]) / 10**6 * Decimal(terms["trafficPrice"] or "60.0")
                assert Decimal(node["exercise_result"]["coinPaid"]) == he10(usd / Decimal(terms["coinPrice"]))
                members[argument["memberId"] == f"PAR::{argument['provider']}"] += 1
    assert members[True] > members[False] > 0


def test_merges_keep_what_was_bought(updates: list[Json]) -> None:
    traffic = {n["contract_id"]: n["create_arguments"] for n in creates_of(updates, TRAFFIC)}
    merges = transfers = 0
    for update in updates:
        for node in update["events_by_id"].values():
            transfers += node.get("choice") == "TransferFactory_Transfer"
            if node.get("choice") == "CoinRules_MergeMemberTrafficContracts":
                parts = [traffic[each] for each in node["choice_argument"]["trafficCids"]]
                merged = traffic[node["exercise_result"]["mergedTraffic"]]
                for field in ("totalPurchased", "numPurchases", "coinSpent", "usdSpent"):
                    assert Decimal(merged[field]) == sum(Decimal(part[field]) for part in parts)
                assert {merged["memberId"]} == {part["memberId"] for part in parts}
                merges += 1
    assert min(merges, transfers) > 0


def test_splits_add_up_and_some_are_not_as_configured(updates: list[Json]) -> None:
    coupons = {n["contract_id"]: n["create_arguments"] for n in creates_of(updates, "Splice.Coin:RewardCouponV2")}
    shares: Counter[tuple[str, ...]] = Counter()
    additional = 0
    for update in updates:
        for node in update["events_by_id"].values():
            if node.get("choice") == "RewardCoupon_AssignBeneficiaries":
                argument = node["choice_argument"]
                used = [coupons[each] for each in (node["contract_id"], *argument["additionalCoupons"])]
                made = [coupons[each] for each in node["exercise_result"]["rewardCouponCids"]]
                percentages = [Decimal(share["percentage"]) for share in argument["newBeneficiaries"]]
                expected = [he10(Decimal(coupon["amount"]) * each) for coupon in used for each in percentages]
                assert [Decimal(coupon["amount"]) for coupon in made] == expected
                assert sum(percentages) == 1
                shares[tuple(str(each) for each in percentages)] += 1
                additional += len(argument["additionalCoupons"])
    assert len(shares) == 2
    assert additional > 0


def test_names_are_bought_renewed_and_expire(updates: list[Json]) -> None:
    choices = Counter(node.get("choice") for update in updates for node in update["events_by_id"].values())
    assert choices["AnsRules_CollectInitialEntryPayment"] > choices["AnsEntry_Renew"] > choices["AnsEntry_Expire"] > 0
    assert choices["AnsRules_RequestEntry"] == choices["AnsRules_CollectInitialEntryPayment"]


def test_the_flows_of_a_tiny_world_are_explained() -> None:
    reader = EconomyReader()
    for event in Sandbox(7, 300, 1).world.events():
        if b'"events_by_id"' in event.update:
            assert reader.read(json.loads(event.update))["unexplained"] == ZERO
