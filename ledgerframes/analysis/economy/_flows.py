"""Flows of coin, from the nodes that mint, burn and move it.

A choice that wraps a transfer repeats its summary, so a summary counts at the deepest node of its branch only.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from ledgerframes.analysis._amounts import multiply, to_decimal
from ledgerframes.analysis.economy._nodes import Node, Trees, units
from ledgerframes.analysis.state._payloads import OPEN_ROUND, member, whole

COIN, LOCKED = "Splice.Coin:Coin", "Splice.Coin:LockedCoin"
TRAFFIC = "Splice.DecentralizedSynchronizer:MemberTraffic"
ISSUING = "Splice.Round:IssuingMiningRound"
MERGE = "CoinRules_MergeMemberTrafficContracts"
MINT = "CoinRules_Mint"
PREAPPROVALS = ("CoinRules_CreateTransferPreapproval", "CoinRules_CreateExternalPartySetupProposal", "TransferPreapproval_Renew")
NAME_PAYMENTS = ("AnsRules_CollectInitialEntryPayment", "AnsRules_CollectEntryRenewalPayment")
EXPIRIES = ("Coin_Expire", "Coin_ExpireV2", "LockedCoin_ExpireCoin", "LockedCoin_ExpireCoinV2")
CLAIMS = ("CoinRules_ClaimExpiredRewards", "CoinRules_ClaimExpiredRewardsV2", "DsoRules_ClaimExpiredRewards")
PROCESS = "ProcessRewardsV2_ProcessBatch"
SUMMARY_TEMPLATES = ("Splice.CoinRules:CoinRules", "Splice.CoinRules:TransferPreapproval")
MINTED = {
    "minted_app": ("inputAppRewardAmount",),
    "minted_validator": ("inputValidatorRewardAmount",),  # it contains the amount of the faucet
    "minted_sv": ("inputSvRewardAmount",),
    "minted_other": ("inputUnclaimedActivityRecordAmount", "inputDevelopmentFundAmount"),
}
BURNED = ("burned_traffic", "burned_preapproval", "burned_names", "burned_dust")
PRICES = {  # of a coupon: member with the weight (none counts as one), and member of the issuing round
    "AppRewardCoupon": ("amount", "issuancePerUnfeaturedAppRewardCoupon"),
    "ValidatorRewardCoupon": ("amount", "issuancePerValidatorRewardCoupon"),
    "SvRewardCoupon": ("weight", "issuancePerSvRewardCoupon"),
    "ValidatorLivenessActivityRecord": ("", "optIssuancePerValidatorFaucetCoupon"),
}
ISSUED = {
    "AppRewardCoupon": "issued_app",
    "ValidatorRewardCoupon": "issued_validator",
    "ValidatorLivenessActivityRecord": "issued_validator",
    "SvRewardCoupon": "issued_sv",
}


@dataclass(frozen=True)
class Flow:
    """An amount that moves in an update."""

    kind: str
    time: int
    round_number: int | None
    units: int | None  # units of 10^-10 coin, bytes for ``traffic_bought``. None if the amount is unknown
    party: str = ""


class Rounds:
    """Rounds in the frames, by number and by contract."""

    def __init__(self, trees: Trees) -> None:
        own = [node for node in trees.nodes if node.template == OPEN_ROUND and node.is_own]
        ends = {node.contract_id: node.time for node in own if node.consuming}
        self.opened: dict[Any, Node] = {}
        self.issuing: dict[Any, dict[str, Any]] = {}
        self.ended: dict[Any, int] = {}
        for node in trees.creates.values():
            number = round_of(node.payload)
            if number is None or not node.is_own or node.choice:
                continue
            if node.template == OPEN_ROUND:
                self.opened[number] = node
                if node.contract_id in ends:
                    self.ended[number] = ends[node.contract_id]
            elif node.template == ISSUING:
                self.issuing[number] = node.payload
        ends_in_order = sorted((time, number) for number, time in self.ended.items())
        self._ends = [time for time, _ in ends_in_order]
        self._highest = list(accumulate((number for _, number in ends_in_order), max))

    def lowest_at(self, time: int) -> int | None:
        """Return the lowest open round at a time, the one after the last that ended."""
        index = bisect_right(self._ends, time)
        return self._highest[index - 1] + 1 if index else None

    def number_or_lowest_at(self, number: int | None, time: int) -> int | None:
        """Return the number of a round, or without one that of the lowest open round at a time."""
        return self.lowest_at(time) if number is None else number

    def span(self, number: int | None) -> tuple[int | None, int | None]:
        """Return from when to when a round is the lowest open one, None if unknown."""
        if number is None:
            return None, None
        opened = self.opened.get(number)
        start = opened.time if opened and opened.update_id else None  # a snapshot has no record times
        return self.ended.get(number - 1, start), self.ended.get(number)

    def price(self, number: int | None, name: str = "coinPrice") -> Any:
        """Return a price of a round, None if it is unknown."""
        opened = self.opened.get(number)
        return to_decimal(opened.payload.get(name)) if opened else None


def round_of(payload: object) -> int | None:
    """Return the number of the round that a payload names."""
    return whole(member(payload, "round", "number"))


def coin_of(node: Node) -> tuple[str, int | None]:
    """Return owner and amount of a coin, locked or not."""
    coin = node.payload.get("coin") if node.template == LOCKED else node.payload
    return str(member(coin, "owner") or ""), units(member(coin, "amount", "initialAmount"))


def summary_of(node: Node) -> dict[str, Any] | None:
    """Return the summary of a transfer in a result."""
    for names in (("summary",), ("result", "summary"), ("transferResult", "summary")):
        summary = member(node.result, *names)
        if isinstance(summary, dict):
            return summary
    return None


def counted_summaries(trees: Trees) -> list[tuple[Node, dict[str, Any]]]:
    """Return the exercises whose summaries count, in the order of the history."""
    own = [node for node in trees.nodes if node.choice and node.is_own and node.template in SUMMARY_TEMPLATES]
    repeating = [(node, summary) for node in own if (summary := summary_of(node))]
    repeated = {id(above) for node, _ in repeating for above in node.ancestors()}
    return [(node, summary) for node, summary in repeating if id(node) not in repeated]


def flows_of(trees: Trees, rounds: Rounds) -> Iterator[Flow]:
    """Yield the flows of all updates."""
    summaries = counted_summaries(trees)
    rounds_of_updates: dict[str, int | None] = {}
    for node, _ in summaries:
        rounds_of_updates.setdefault(node.update_id, round_of(node.result))
    for node, summary in summaries:
        yield from summary_flows(node, summary, rounds.number_or_lowest_at(round_of(node.result), node.time))
    archived = {(node.update_id, node.contract_id) for node in trees.nodes if node.consuming}
    for node in trees.nodes:
        if node.is_own:
            number = rounds.number_or_lowest_at(rounds_of_updates.get(node.update_id), node.time)
            yield from _burn_flows(node, number, trees, archived)
            yield from _net_flows(node, number, trees)


def summary_flows(node: Node, summary: dict[str, Any], number: int | None) -> Iterator[Flow]:
    """Yield what a summary that counts says was minted, and its fees."""
    sender = str(member(node.argument, "transfer", "sender") or node.argument.get("provider") or "")
    for kind, names in MINTED.items():
        for name in names:
            if summary.get(name) is not None:
                yield Flow(kind, node.time, number, units(summary[name]), sender)
    fees = [summary.get("holdingFees"), summary.get("senderChangeFee"), *(summary.get("outputFees") or ())]
    for fee in fees:
        if fee is not None:
            yield Flow("fees", node.time, number, units(fee), sender)


def _burn_flows(node: Node, number: int | None, trees: Trees, archived: set[tuple[str, str]]) -> Iterator[Flow]:
    if node.template == TRAFFIC and not node.choice and not is_merged(node):
        yield Flow("burned_traffic", node.time, number, units(node.payload.get("coinSpent")))
        yield Flow("traffic_bought", node.time, number, whole(node.payload.get("totalPurchased")))
    elif node.choice == MINT:
        yield Flow("minted_other", node.time, number, units(node.argument.get("amount")), str(node.argument.get("receiver")))
    elif node.choice in PREAPPROVALS:
        yield Flow("burned_preapproval", node.time, number, units(member(node.result, "coinPaid")))
    elif node.choice in EXPIRIES:
        yield Flow("burned_dust", node.time, number, _amount_of(node, trees))
    elif node.choice in NAME_PAYMENTS:
        for amount in name_payments(node, trees):
            yield Flow("burned_names", node.time, number, amount)
    elif node.template == COIN and not node.choice and (node.update_id, node.contract_id) not in archived:
        owner, amount = coin_of(node)
        if owner == trees.dso:
            yield Flow("to_dso", node.time, number, amount)


def is_merged(node: Node) -> bool:
    """Return whether a purchase of traffic merges earlier ones."""
    return node.parent is not None and node.parent.choice == MERGE


def name_payments(node: Node, trees: Trees) -> Iterator[int | None]:
    """Yield the amounts of the network's own coins archived directly below a payment."""
    for child in node.children:
        create = trees.creates.get(child.contract_id)
        if child.consuming and child.template == COIN and create and coin_of(create)[0] == trees.dso:
            yield coin_of(create)[1]


def _amount_of(node: Node, trees: Trees) -> int | None:
    create = trees.creates.get(node.contract_id)
    return coin_of(create)[1] if create else None


def _net_flows(node: Node, number: int | None, trees: Trees) -> Iterator[Flow]:
    """Yield what a coin's create adds to the supply, or its archival takes away."""
    if node.template not in (COIN, LOCKED):
        return
    if not node.choice:
        yield Flow("net", node.time, number, coin_of(node)[1])
    elif node.consuming:
        amount = _amount_of(node, trees)
        yield Flow("net", node.time, number, None if amount is None else -amount)


# -- coupons ------------------------------------------------------------------------------------------------------------


def issued_flows(trees: Trees, rounds: Rounds) -> Iterator[Flow]:
    """Yield what rounds issue, and what expires of it, by the round of the coupon."""
    dry_runs = {node.contract_id for node in trees.creates.values() if node.payload.get("dryRun") is True}
    for node in trees.nodes:
        name = node.template.removeprefix("Splice.Coin:").removeprefix("Splice.ValidatorLicense:")
        if not node.is_own or (name != "RewardCouponV2" and name not in PRICES):
            continue
        if not node.choice and _is_issue(node, name, dry_runs):
            yield _coupon_flow(issued_kind(name, node.payload), node, node, rounds)
        elif node.consuming and node.is_below(*CLAIMS) and (create := trees.creates.get(node.contract_id)):
            yield _coupon_flow("expired", node, create, rounds)


def _is_issue(node: Node, name: str, dry_runs: set[str]) -> bool:
    """Return whether a create is an issue, rather than a part of an earlier coupon."""
    if name != "RewardCouponV2":
        return True
    above = node.parent
    return above is not None and above.choice == PROCESS and above.contract_id not in dry_runs


def issued_kind(name: str, payload: dict[str, Any]) -> str:
    """Return the kind of flow that issues a coupon."""
    if name == "RewardCouponV2":
        return "issued_validator" if payload.get("kind") == "RewardKind_Validator" else "issued_app"
    return ISSUED[name]


def _coupon_flow(kind: str, node: Node, coupon: Node, rounds: Rounds) -> Flow:
    payload = coupon.payload
    party = payload.get("provider") or payload.get("user") or payload.get("validator") or payload.get("sv") or ""
    return Flow(kind, node.time, round_of(payload), coupon_units(coupon, rounds), str(party))


def coupon_units(coupon: Node, rounds: Rounds) -> int | None:
    """Return the units that a coupon is worth, None if its round's issuance is unknown."""
    name, payload = coupon.template.rpartition(":")[2], coupon.payload
    if name == "RewardCouponV2":
        return units(payload.get("amount"))
    weight_name, issuance_name = PRICES[name]
    if name == "AppRewardCoupon" and payload.get("featured") is True:
        issuance_name = "issuancePerFeaturedAppRewardCoupon"
    weight = to_decimal(payload.get(weight_name)) if weight_name else to_decimal(1)
    issuance = to_decimal(rounds.issuing.get(round_of(payload), {}).get(issuance_name))
    return None if weight is None or issuance is None else units(multiply(weight, issuance))


def totals(flows: Iterable[Flow], rows: Iterable[Any]) -> dict[Any, dict[str, int | None]]:
    """Return the exact sum per row and kind of flow, None if an amount is unknown."""
    sums: defaultdict[Any, dict[str, int | None]] = defaultdict(dict)
    for flow, row in zip(flows, rows, strict=True):
        before = sums[row].get(flow.kind, 0)
        sums[row][flow.kind] = None if before is None or flow.units is None else before + flow.units
    return sums
