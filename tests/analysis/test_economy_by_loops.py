"""Figures of the economy, the state and the votes of the sandbox, computed again by plain loops over the nodes of trees."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from statistics import median
from typing import Any

import pandas as pd
import pytest
from events_by_hand import SANDBOX_DAYS, SANDBOX_EVENTS
from sandbox.economy_reader import EconomyReader

import ledgerframes as lf
from ledgerframes.frames import Frames
from ledgerframes.sandbox import Sandbox

FLOWS = ("minted_app", "minted_validator", "minted_sv", "minted_tapped")
COUPONS = {
    "Splice.Coin:AppRewardCoupon": ("provider", "amount"),
    "Splice.ValidatorLicense:ValidatorLivenessActivityRecord": ("validator", ""),
    "Splice.Coin:ValidatorRewardCoupon": ("user", "amount"),
}
STATE = {
    "Splice.DsoRules:DsoRules": "splice-dso-governance",
    "Splice.Round:OpenMiningRound": "splice-coin",
    "Splice.Coin:FeaturedAppRight": "splice-coin",
    "Splice.CoinRules:CoinRules": "splice-coin",
}


@dataclass
class Node:
    """A node with its payloads as they are, and the nodes around it."""

    row: Any
    create: Any
    argument: Any
    result: Any
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    def above(self) -> Iterator[Node]:
        node = self.parent
        while node:
            yield node
            node = node.parent


def even(value: Decimal) -> Decimal:
    return value.quantize(Decimal("1e-10"), ROUND_HALF_EVEN)


def payload(text: object) -> Any:
    return json.loads(text) if isinstance(text, str) else None


@pytest.fixture(scope="module")
def nodes(sandbox_history: Frames) -> list[Node]:
    """The nodes that the network's own contracts have, in the order of time."""
    rows = sandbox_history.tree_events.sort_values(["record_time", "update_id", "node_index"])
    every = {
        row.event_id: Node(row, payload(row.create_arguments), payload(row.choice_argument), payload(row.exercise_result))
        for row in rows.itertuples()
    }
    for node in every.values():
        node.parent = every.get(node.row.parent_event_id)
        if node.parent:
            node.parent.children.append(node)
    return [node for node in every.values() if str(node.row.package_name).startswith("splice-")]


@pytest.fixture(scope="module")
def creates(nodes: list[Node]) -> dict[str, Node]:
    """The network's own creates by contract, which its own party signs."""
    (dso,) = {node.create["dso"] for node in nodes if is_create(node, "Splice.DsoRules:DsoRules")}
    return {node.row.contract_id: node for node in nodes if node.create and dso in node.row.signatories}


def is_create(node: Node, template: str) -> bool:
    return node.create is not None and node.row.template_name == template


def of(creates: dict[str, Node], template: str) -> list[Node]:
    return [node for node in creates.values() if is_create(node, template)]


# -- purchases and names ----------------------------------------------------------------------------------------------------


def test_purchases(sandbox_history: Frames, creates: dict[str, Node]) -> None:
    expected = []
    for node in of(creates, "Splice.DecentralizedSynchronizer:MemberTraffic"):
        if node.parent and node.parent.row.choice == "CoinRules_MergeMemberTrafficContracts":
            continue
        buyers = [above.argument["provider"] for above in node.above() if above.row.choice == "CoinRules_BuyMemberTraffic"]
        senders = [above.argument["transfer"]["sender"] for above in node.above() if "transfer" in (above.argument or {})]
        buyer, member = [*buyers, *senders][0], node.create["memberId"]
        whose = "own" if member.partition("::")[2] == buyer else "other"
        amounts = [Decimal(node.create[name]) for name in ("coinSpent", "usdSpent")]
        expected.append([buyer, member, whose, int(node.create["totalPurchased"]), *amounts])
    rows = lf.economy.purchases(sandbox_history)
    columns = ["buyer", "member_id", "for_whom", "bytes", "coin_spent", "usd_spent"]
    assert len(expected) > 5
    assert sorted(rows[columns].to_numpy().tolist(), key=str) == sorted(expected, key=str)


def test_names(sandbox_history: Frames, nodes: list[Node], creates: dict[str, Node]) -> None:
    events: Counter[tuple[str, str]] = Counter()
    for node in of(creates, "Splice.Ans:AnsEntry"):
        choices = [above.row.choice for above in node.above()]
        kind = "renewed" if "AnsEntry_Renew" in choices else "bought"
        if kind == "renewed" or "AnsRules_CollectInitialEntryPayment" in choices:
            events[kind, node.create["name"]] += 1
    for node in nodes:
        if node.row.choice == "AnsEntry_Expire" and node.row.contract_id in creates:
            events["expired", creates[node.row.contract_id].create["name"]] += 1
    rows = lf.economy.names(sandbox_history)
    assert Counter(zip(rows["event"], rows["name"], strict=True)) == events
    counts = Counter(event for event, name in events.elements())
    assert counts["bought"] > 0
    assert rows["active_at_end"].iloc[-1] == counts["bought"] - counts["expired"]


# -- balances -----------------------------------------------------------------------------------------------------------------


def test_balance(sandbox_history: Frames, creates: dict[str, Node]) -> None:
    coins = {
        node.row.contract_id: (node, node.create if name == "Coin" else node.create["coin"])
        for name in ("Coin", "LockedCoin")
        for node in of(creates, f"Splice.Coin:{name}")
    }
    ends = ends_of(sandbox_history.tree_events)
    rows = lf.economy.balance(sandbox_history, every="12h")
    assert len(coins) > 500
    for end, held in rows.groupby("period_end"):
        expected: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for contract, (node, payload) in coins.items():
            if node.row.record_time < end and not (contract in ends and ends[contract] < end):
                kind = "locked" if "Locked" in node.row.template_name else "unlocked"
                expected[kind, payload["owner"]] += Decimal(payload["amount"]["initialAmount"])
                expected["fee_per_round", payload["owner"]] += Decimal(payload["amount"]["ratePerRound"]["rate"])
        for kind in ("unlocked", "locked", "fee_per_round"):
            found = zip(held["party"], held[kind], strict=True)
            assert {party: amount for party, amount in found if amount} == {
                party: amount for (name, party), amount in expected.items() if name == kind and amount
            }


# -- rewards ------------------------------------------------------------------------------------------------------------------


def issued(creates: dict[str, Node], *, is_validator: bool) -> Counter[str]:
    """What coupons are worth, by who earned them, of both schemes."""
    issuing = {node.create["round"]["number"]: node.create for node in of(creates, "Splice.Round:IssuingMiningRound")}
    dry = {contract for contract, node in creates.items() if node.create.get("dryRun")}
    amounts: defaultdict[str, Decimal] = defaultdict(Decimal)
    for node in of(creates, "Splice.Coin:RewardCouponV2"):
        above = node.parent
        is_issue = above and above.row.choice == "ProcessRewardsV2_ProcessBatch" and above.row.contract_id not in dry
        if is_issue and (node.create.get("kind") == "RewardKind_Validator") == is_validator:
            amounts[node.create["provider"]] += Decimal(node.create["amount"])
    for template, (owner, weight) in COUPONS.items():
        for node in of(creates, template) if (owner != "provider") == is_validator else ():
            rules = issuing.get(node.create["round"]["number"])
            if owner == "provider":
                name = f"issuancePer{'Featured' if node.create['featured'] else 'Unfeatured'}AppRewardCoupon"
            else:
                name = "issuancePerValidatorRewardCoupon" if weight else "optIssuancePerValidatorFaucetCoupon"
            value = Decimal((rules or {}).get(name) or 0)
            amounts[node.create[owner]] += even(Decimal(node.create[weight]) * value) if weight else value
    return Counter(amounts)


@pytest.mark.parametrize("by", ["provider", "validator"])
def test_leaderboard(sandbox_history: Frames, creates: dict[str, Node], by: str) -> None:
    amounts = issued(creates, is_validator=by == "validator")
    rows = lf.economy.leaderboard(sandbox_history, by=by, every=None)
    assert len(amounts) > 3
    assert dict(zip(rows["party"], rows["amount"], strict=True)) == dict(amounts)
    total = sum(amounts.values())
    for row in rows.itertuples():
        assert row.rank == 1 + sum(amount > row.amount for amount in amounts.values())
        assert row.share == float(Fraction(row.amount) / Fraction(total))


def test_burn_and_mint(sandbox_history: Frames) -> None:
    reader = EconomyReader()
    for event in Sandbox(1, SANDBOX_EVENTS, SANDBOX_DAYS).world.events():
        if b'"events_by_id"' in event.update:
            reader.read(json.loads(event.update))
    row = lf.economy.burn_mint(sandbox_history, every=None).iloc[0]
    minted, burned = sum(reader.totals[name] for name in FLOWS), reader.totals["burned"]
    assert (row["minted"], row["burned"], row["net"]) == (minted, burned, reader.totals["net"])
    assert (row["ratio"], row["traffic_part"]) == (even(burned / minted), even(reader.totals["burned_traffic"] / burned))


def test_reward_split(sandbox_history: Frames, nodes: list[Node], creates: dict[str, Node]) -> None:
    expected = []
    for node in nodes:
        if node.row.choice != "RewardCoupon_AssignBeneficiaries":
            continue
        parts = [child.create for child in node.children if is_create(child, "Splice.Coin:RewardCouponV2")]
        for contract in (node.row.contract_id, *(node.argument["additionalCoupons"] or [])):
            whole = creates[contract].create
            for share in node.argument["newBeneficiaries"]:
                part = Decimal(whole["amount"]) * Decimal(share["percentage"])
                actual = [
                    Decimal(each["amount"])
                    for each in parts
                    if (each["beneficiary"], each["round"]) == (share["beneficiary"], whole["round"])
                ]
                expected.append([whole["provider"], share["beneficiary"], Decimal(whole["amount"]), even(part), *actual])
    rows = lf.economy.reward_split(sandbox_history)
    columns = ["provider", "beneficiary", "coupon_amount", "expected", "actual"]
    assert len(expected) > 0
    assert sorted(rows[columns].to_numpy().tolist(), key=str) == sorted(expected, key=str)


# -- state and votes ----------------------------------------------------------------------------------------------------------


def ends_of(rows: pd.DataFrame) -> dict[str, pd.Timestamp]:
    """The time of the first consuming exercise on each contract."""
    consumed = rows[rows["consuming"].fillna(False).astype(bool)].sort_values("record_time", ascending=False)
    return dict(zip(consumed["contract_id"], consumed["record_time"], strict=True))


def test_config(sandbox_history: Frames, creates: dict[str, Node]) -> None:
    ends = ends_of(sandbox_history.tree_events)
    expected = []
    for node in of(creates, "Splice.CoinRules:CoinRules"):
        value = node.create["configSchedule"]["initialValue"]
        fees, rewards = value["decentralizedSynchronizer"]["fees"], value.get("rewardConfig") or {}
        limits = fees["baseRateTrafficLimits"]
        numbers = [Decimal(fees["extraTrafficPrice"]), int(fees["minTopupAmount"]), int(limits["burstAmount"])]
        window = pd.Timedelta(int(limits["burstWindow"]["microseconds"]), "us")
        expected.append([node.row.record_time, ends.get(node.row.contract_id), *numbers, window, rewards.get("mintingVersion")])
    names = ["from", "until", "traffic_price", "min_topup", "burst_amount", "burst_window", "minting_version"]
    rows = lf.state.config(sandbox_history)[names].astype("object")
    assert len(expected) > 1
    assert rows.where(rows.notna(), None).to_numpy().tolist() == expected


def test_problems_of_the_state(sandbox_history: Frames, creates: dict[str, Node]) -> None:
    """Contracts that look like those of the network, and rights whose provider has an older one."""
    rows = sandbox_history.tree_events
    ends = ends_of(rows)
    expected = {}
    for row in rows[rows["template_name"].isin(STATE) & rows["choice"].isna()].itertuples():
        if row.package_name != STATE[row.template_name]:
            expected[row.contract_id] = "other package"
        elif row.contract_id not in creates:
            expected[row.contract_id] = "not signed by the network"
    rights = sorted(of(creates, "Splice.Coin:FeaturedAppRight"), key=lambda node: node.row.record_time)
    for number, right in enumerate(rights):
        for other in rights[:number]:
            is_alive = ends.get(other.row.contract_id, pd.Timestamp.max.tz_localize("UTC")) > right.row.record_time
            if is_alive and other.create["provider"] == right.create["provider"]:
                expected[right.row.contract_id] = "second right of a provider"
    problems = lf.state.ignored_contracts(sandbox_history)
    assert len(expected) > 0
    assert dict(zip(problems["contract_id"], problems["reason"], strict=True)) == expected


def test_votes(sandbox_history: Frames, sandbox_net: lf.Network, nodes: list[Node]) -> None:
    """The newest vote of each super validator at each time, from the snapshot's own times and the history."""
    votes = lf.load_price_votes(sandbox_net)
    (now,) = votes["observed_at"].unique()
    stored = [(row.last_updated_at, 0, row.sv, row.price) for row in votes.itertuples() if not pd.isna(row.price)]
    cast = [
        (node.row.record_time, 1, node.argument["sv"], Decimal(node.argument["coinPrice"]))
        for node in nodes
        if node.row.choice == "DsoRules_UpdateCoinPriceVote"
    ]
    newest: dict[str, Decimal] = {}
    expected = []
    for time, is_cast, sv, price in sorted([*stored, *cast], key=lambda vote: vote[:3]):
        newest[sv] = price
        if is_cast:
            expected.append([time, len(newest), even(median(newest.values())), min(newest.values()), max(newest.values())])
    shown = lf.votes.price(votes, frames=sandbox_history)
    columns = ["observed_at", "votes", "median", "lowest", "highest"]
    assert len(expected) > 0
    assert shown[shown["observed_at"] != now][columns].to_numpy().tolist() == expected
    latest = shown[shown["observed_at"] == now].iloc[0]
    prices = votes["price"].dropna().tolist()
    deviations = [abs(price - median(prices)) for price in prices]
    assert (latest["median"], latest["mad"]) == (even(median(prices)), even(median(deviations)))
    stale = lf.votes.stale(votes).set_index("sv")
    for row in votes.itertuples():
        others = [other.price for other in votes.itertuples() if other.sv != row.sv and not pd.isna(other.price)]
        assert stale.loc[row.sv, "median_without"] == even(median(others))
        assert stale.loc[row.sv, "age"] == now - row.last_updated_at
