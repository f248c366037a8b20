"""Rounds, rights, weights and rewards, made again from the files of the store by plain loops."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

from .stored import ACCEPTED, Stored

OWN = {"Splice.Round:OpenMiningRound": "splice-coin", "Splice.Coin:FeaturedAppRight": "splice-coin"}
OWN["Splice.DsoRules:DsoRules"] = "splice-dso-governance"
FOREVER = datetime.max.replace(tzinfo=UTC)
YEAR = timedelta(days=365)


@dataclass(frozen=True)
class Life:
    """The time of a contract from its create to its archival, exclusive, and its payload."""

    since: datetime
    until: datetime | None
    payload: dict[str, Any]

    def is_alive(self, time: datetime) -> bool:
        return self.since <= time and (self.until is None or time < self.until)


class State:
    """Rounds, rights and super validators of the whole history."""

    def __init__(self, whole: Stored) -> None:
        nodes = sorted(whole.rows("tree_events"), key=lambda node: (node["record_time"], node["update_id"], node["node_index"]))
        ends: dict[str, datetime] = {}
        for node in nodes:
            if node["consuming"]:
                ends.setdefault(node["contract_id"], node["record_time"])
        rules = [node for node in nodes if node["template_name"] == "Splice.DsoRules:DsoRules" and not node["choice"]]
        (dso,) = {tuple(node["signatories"]) for node in rules if node["package_name"] == "splice-dso-governance"}
        self.lives: dict[str, list[Life]] = defaultdict(list)
        for node in nodes:
            template = node["template_name"]
            is_own = OWN.get(template) == node["package_name"] and not node["choice"] and set(dso) <= set(node["signatories"])
            end = ends.get(node["contract_id"])
            if is_own and end != node["record_time"]:
                self.lives[template].append(Life(node["record_time"], end, json.loads(node["create_arguments"])))
        self.rounds = {int(life.payload["round"]["number"]): life for life in self.lives["Splice.Round:OpenMiningRound"]}

    def opens_at(self, number: int) -> datetime:
        return datetime.fromisoformat(self.rounds[number].payload["opensAt"])

    def round_at(self, time: datetime) -> int | None:
        """The lowest open round."""
        numbers = [number for number, life in self.rounds.items() if life.is_alive(time) and self.opens_at(number) <= time]
        return min(numbers, default=None)

    def factors(self, number: int) -> dict[str, Fraction]:
        """The featured parties with their factors when a round opened, the last right of each."""
        rights = [life for life in self.lives["Splice.Coin:FeaturedAppRight"] if life.is_alive(self.opens_at(number))]
        return {right.payload["provider"]: Fraction(right.payload.get("activityWeight") or 1) for right in rights}

    def validators(self, number: int) -> set[str] | None:
        """The participants of super validators when a round opened, None without rules."""
        alive = [life for life in self.lives["Splice.DsoRules:DsoRules"] if life.is_alive(self.opens_at(number))]
        members = [info for life in alive for _, info in life.payload["svs"]]
        return {info["participantId"].removeprefix("PAR::") for info in members} if alive else None


# -- weights --------------------------------------------------------------------------------------------------------------


state_of = cache(State)


@cache
def computed_burns(whole: Stored, stored: Stored) -> dict[tuple[str, str], tuple[int, Fraction]]:
    """Bytes before the factor, and the factor, of each request and app provider."""
    state = state_of(whole)
    envelopes, confirmers = defaultdict(list), defaultdict(set)
    for row in stored.rows("envelopes"):
        envelopes[row["update_id"]].append(row)
    for row in stored.rows("quorums"):
        confirmers[row["update_id"], row["view_id"]].update(row["parties"])
    burns = {}
    for update_id, verdict in stored.verdicts.items():
        total, number = stored.costs.get(update_id), state.round_at(verdict["record_time"])
        if verdict["verdict_result"] != ACCEPTED or total is None or total > 104_857_600 or number is None:
            continue
        validators, factors = state.validators(number), state.factors(number)
        if validators is None or verdict["submitting_participant_uid"] in validators:
            continue
        sums: Counter[str] = Counter()
        whole_cost = 0
        for envelope in envelopes[update_id]:
            parties = {party for view in envelope["view_ids"] for party in confirmers[update_id, view]} & factors.keys()
            whole_cost += envelope["traffic_cost"] if parties else 0
            sums.update({party: envelope["traffic_cost"] * total // len(parties) for party in parties})
        if whole_cost:
            burns |= {(update_id, party): (number // whole_cost, factors[party]) for party, number in sums.items()}
    return burns


# -- rewards --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reward:
    """What a weight earns, and whether it is paid."""

    amount: Decimal
    is_paid: bool


@cache
def rewards_of(whole: Stored, stored: Stored) -> tuple[int, dict[int, dict[str, Reward]]]:
    """Number of rounds in a window, and the rewards of those with all records by round and party."""
    state = state_of(whole)
    weights: dict[int, Counter[str]] = defaultdict(Counter)
    for row in stored.rows("activity_records"):
        weights[row["round_number"]][row["party"]] += row["weight"]
    count, rewards, before = 0, {}, stored.begin
    for number, life in sorted(state.rounds.items()):
        start = max(life.since, state.opens_at(number), before)
        before = life.until or FOREVER
        is_inside = start < stored.until and (life.until is None or life.until > stored.since)
        count += is_inside or number in weights
        is_full = life.until is not None and start >= stored.since and life.until <= stored.until
        is_published = bool(weights) and min(weights) <= number <= max(weights)
        if is_full and is_published and "TrafficBased" in ((life.payload.get("rewardConfig") or {}).get("mintingVersion") or ""):
            rewards[number] = _round_rewards(life.payload, weights[number])
    return count, rewards


def executed_roots(stored: Stored) -> dict[int, str]:
    """Root of each round whose rewards are processed in the window."""
    nodes = [node for node in stored.rows("tree_events") if "RewardAccountingV2:ProcessRewardsV2" in node["template_name"]]
    parents = {
        node["event_id"]: node for node in stored.rows("tree_events") if node["choice"] == "CoinRules_StartProcessingRewardsV2"
    }
    roots = [json.loads(node["create_arguments"]) for node in nodes if not node["choice"] and node["parent_event_id"] in parents]
    return {int(payload["round"]["number"]): payload["batchHash"]["value"] for payload in roots}


def expected_roots(whole: Stored, stored: Stored) -> dict[int, str]:
    """Root that follows from the records of each round that is created, open and over in the window."""
    weights: dict[int, Counter[str]] = defaultdict(Counter)
    for row in stored.rows("activity_records"):
        weights[row["round_number"]][row["party"]] += row["weight"]
    roots = {}
    for number, life in state_of(whole).rounds.items():
        config = life.payload.get("rewardConfig") or {}
        is_inside = stored.since <= life.since and life.until is not None and life.until <= stored.until
        is_calculated = "TrafficBased" in (config.get("mintingVersion") or "") + (config.get("dryRunVersion") or "")
        if is_inside and is_calculated and weights and min(weights) <= number <= max(weights):
            rewards = _round_rewards(life.payload, weights[number])
            pairs = [(party, str(rewards[party].amount)) for party in sorted(rewards) if rewards[party].is_paid]
            roots[number] = _root(pairs, int(config["batchSize"]))
    return roots


def _root(allowances: list[tuple[str, str]], size: int) -> str:
    """Root of the hash tree of allowances, whose amounts have ten places."""

    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def listed(hashes: list[str]) -> str:
        return digest("|".join([str(len(hashes)), *hashes]))

    texts = [(party, amount.rstrip("0") + ("0" if amount.rstrip("0").endswith(".") else "")) for party, amount in allowances]
    hashes = [listed([digest(party), digest(amount)]) for party, amount in texts]
    tag = "BatchOfMintingAllowances"
    while tag == "BatchOfMintingAllowances" or len(hashes) > 1:
        starts = range(0, max(len(hashes), 1), size)
        hashes, tag = [digest(f"{tag}|1|{listed(hashes[start : start + size])}") for start in starts], "BatchOfBatches"
    return hashes[0]


def _round_rewards(payload: Mapping[str, Any], weights: Counter[str]) -> dict[str, Reward]:
    """Rewards of a round, each step rounded half to even with 10 places."""
    with localcontext(prec=60):

        def even(value: Decimal) -> Decimal:
            return value.quantize(Decimal("1e-10"), ROUND_HALF_EVEN)

        issuance, price = payload["issuanceConfig"], Decimal(payload["coinPrice"])
        tick = Decimal(payload["tickDuration"]["microseconds"])
        per_round = even(Decimal(issuance["coinToIssuePerYear"]) / even(Decimal(YEAR // timedelta(microseconds=1)) / tick))
        share = Decimal(issuance.get("optDevelopmentFundPercentage") or "0.05")
        to_issue = even((per_round - even(per_round * share)) * Decimal(issuance["appRewardPercentage"]))
        per_mb = even(Decimal(payload["trafficPrice"]) / price)
        burn = even(Decimal(weights.total()) / 10**6 * per_mb)
        cap = Decimal(issuance["featuredAppRewardCap"])
        most = even(cap * burn)
        per_coupon = cap if burn <= 0 else even(even(min(to_issue, most) * cap) / most)
        rate = even(per_mb * per_coupon)
        threshold = even(Decimal(payload["rewardConfig"]["appRewardCouponThreshold"]) / price)
        rewards = {}
        for party, weight in weights.items():
            allowance = Decimal(weight) * rate / 10**6
            is_paid = allowance >= threshold
            rewards[party] = Reward(allowance.quantize(Decimal("1e-10"), ROUND_HALF_UP) if is_paid else Decimal(0), is_paid)
        return rewards


def total_reward(whole: Stored, stored: Stored) -> tuple[int, int, Decimal]:
    """Number of rounds with a known reward, of all rounds, and the sum of the rewards."""
    count, rewards = rewards_of(whole, stored)
    total = sum((reward.amount for parties in rewards.values() for reward in parties.values()), Decimal(0))
    return len(rewards), count, total


def coins_and_value(amount: Decimal, market: str) -> str:
    if not market:
        return f"{amount.quantize(Decimal('0.01'), ROUND_HALF_EVEN):,} coin"
    value = (amount * Decimal(market.split()[0])).quantize(Decimal("1e-10"), ROUND_HALF_EVEN)
    coin, currency = (each.quantize(Decimal("0.01"), ROUND_HALF_EVEN) for each in (amount, value))
    return f"{coin:,} coin, worth {currency:,} USD at the market price of {market}"


def rewards_sentence(whole: Stored, stored: Stored, market: str) -> str:
    known, count, total = total_reward(whole, stored)
    text = f"{known:,} of {count:,} rounds have all their records and a known reward"
    return f"{text}. Together: {coins_and_value(total, market)}." if known else f"{text}."
