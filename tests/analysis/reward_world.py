"""A round of rewards made by hand, from requests to coupons, with any of its steps as a test wants it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from network_world import DSO, World, at
from trees_by_hand import create, exercise
from trees_by_hand import row_of as tree_row

from ledgerframes.frames import Frames

Json = dict[str, Any]
Allowances = Sequence[tuple[str, str]]
SVS = {f"sv-{number}": f"sv-{number}::1220" for number in range(5)}
CALCULATE, PROCESS = (f"Splice.Coin.RewardAccountingV2:{name}RewardsV2" for name in ("Calculate", "Process"))
TRAFFIC, MARKERS = "RewardVersion_TrafficBasedAppRewards", "RewardVersion_FeaturedAppMarkers"
RATE, THRESHOLD = Decimal(750), Decimal("3.125")  # coin per MB, and coin, for the prices of this network


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def listed(hashes: Sequence[str]) -> str:
    return digest("|".join([str(len(hashes)), *hashes]))


def leaf_hash(allowances: Allowances) -> str:
    hashes = []
    for party, amount in allowances:
        whole, _, places = f"{Decimal(amount):.10f}".partition(".")
        hashes.append(listed([digest(party), digest(f"{whole}.{places.rstrip('0') or '0'}")]))
    return digest(f"BatchOfMintingAllowances|1|{listed(hashes)}")


def node_hash(hashes: Sequence[str]) -> str:
    return digest(f"BatchOfBatches|1|{listed(hashes)}")


def amounts_of(weights: Mapping[str, int]) -> list[tuple[str, str]]:
    """The amounts of a round whose coin is not used up, sorted by party."""
    amounts = {party: Decimal(weight) * RATE / 10**6 for party, weight in weights.items()}
    return [(party, f"{amounts[party]:.10f}") for party in sorted(amounts) if amounts[party] >= THRESHOLD]


@dataclass
class Node:
    """A batch, before it is on the ledger."""

    digest: str
    allowances: Allowances = ()
    children: Sequence[Node] = ()
    name: str = ""


def tree_of(allowances: Allowances, size: int) -> Node:
    """The tree of a round, whose batches are named by their path."""
    level = [Node(leaf_hash(part), part) for part in parts(allowances, size) or [()]]
    while len(level) > 1:
        level = [Node(node_hash([child.digest for child in part]), (), part) for part in parts(level, size)]
    named(level[0], "p")
    return level[0]


def parts(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def named(node: Node, name: str) -> None:
    node.name = name
    for number, child in enumerate(node.children):
        named(child, f"{name}{number}")


@dataclass
class RewardWorld:
    """A network with one round of rewards, and an empty one after it."""

    weights: Mapping[str, int]
    size: int = 2
    is_dry_run: bool = False
    published: Mapping[str, int] = field(default_factory=dict)  # weights that differ from those of the requests
    allowances: Allowances | None = None  # of the ledger, in its order
    root: str | None = None  # that is executed
    committed: Mapping[str, str] = field(default_factory=dict)  # hash of a contract, by the name of its batch
    elements: Mapping[str, str] = field(default_factory=dict)  # hash in the batch above, by the name of the batch
    arguments: Mapping[str, Allowances] = field(default_factory=dict)  # allowances in the argument, by the name of the batch
    confirmed: Mapping[str, str] = field(default_factory=dict)  # hash of a super validator, "" for none
    coupons: Callable[[Allowances], Allowances] = lambda allowances: allowances
    flag: bool | None = None  # of a dry run on the ledger
    unprocessed: Sequence[str] = ()  # names of batches
    is_followed: bool = True
    is_started: bool = True
    kind: str | None = None

    def frames(self) -> Frames:
        world = self._updates = World().rules(svs=SVS)
        for party in self.weights:
            world.right(party)
        self._rounds(world)
        for number, (party, weight) in enumerate(self.weights.items()):
            record = [(party, self.published.get(party, weight))]
            world.request(
                f"request-{number:05}", 5 + number / 10**5, total=weight, views=[[[party]]], records=record, round_number=1
            )
        tree = tree_of(amounts_of(self.weights) if self.allowances is None else self.allowances, self.size)
        self._process(1, tree, 12)
        if self.is_followed:
            self._process(2, named_tree(), 22, is_later=True)
        return world.frames()

    def _rounds(self, world: World) -> None:
        versions = (MARKERS, TRAFFIC) if self.is_dry_run else (TRAFFIC, None)
        config = {"mintingVersion": versions[0], "dryRunVersion": versions[1], "batchSize": str(self.size)}
        extra = {"trafficPrice": "60.0", "rewardConfig": {**config, "appRewardCouponThreshold": "0.5"}}
        for number, created, opens in ((1, 0, 1), (2, 0, 11), (3, 10, 21)):
            world.round(number, created, opens, extra=extra)
        for number in (1, 2):
            ended = exercise("Splice.Round:OpenMiningRound", f"round-{number}", "Archive", consuming=True)
            self._update(f"end-{number}", 1 + 10 * number, ended)
        # Records before and after the rounds, so that none of theirs is withheld.
        for minutes, number in ((0.5, 0), (25, 3)):
            world.request(f"request of {number}", minutes, total=5000, views=[[["last"]]])
            record = {"migration_id": 4, "record_time": at(minutes), "update_id": f"request of {number}", "party": "last"}
            world._add("activity_records", {**record, "round_number": number, "weight": 5000})
        world.right("last")

    def _update(self, name: str, minutes: float, *roots: Json) -> None:
        count = 0
        self._updates._add("updates", {"migration_id": 4, "record_time": at(minutes), "update_id": name, "kind": "transaction",
                                       "effective_at": at(minutes)})  # fmt: skip

        def visit(node: Json, parent: str | None, depth: int) -> None:
            nonlocal count
            event_id = f"{name}:{count}"
            self._updates._add("tree_events", tree_row(node, name, event_id, count, parent, depth, at(minutes), "coin"))
            count += 1
            for child in node.get("children", ()):
                visit(child, event_id, depth + 1)

        for root in roots:
            visit(root, None, 0)

    def _process(self, number: int, tree: Node, minutes: float, *, is_later: bool = False) -> None:
        """Calculate, confirm, start and process the rewards of a round."""
        flag = self.is_dry_run if self.flag is None or is_later else self.flag
        self._payload = {"dso": DSO, "round": {"number": str(number)}, "dryRun": flag, "kind": self.kind}
        self._update(f"close-{number}", minutes, create(CALCULATE, f"calculate-{number}", signed=[DSO], **self._payload))
        if not (self.is_started or is_later):
            return
        root = tree.digest if is_later or self.root is None else self.root
        for sv in SVS:
            if digest_ := (tree.digest if is_later else self.confirmed.get(sv, root)):
                self._confirm(number, sv, digest_, minutes)
        argument = {"calculateRewardsCid": f"calculate-{number}", "batchHash": {"value": root}}
        committed = root if is_later else self.committed.get("p", root)
        start = exercise(
            "Splice.CoinRules:CoinRules", "rules", "CoinRules_StartProcessingRewardsV2",
            self._contract(number, tree, committed), argument=argument,
        )  # fmt: skip
        self._update(f"start-{number}", minutes + 1, start)
        self._process_batch(number, tree, minutes + 2, is_later)

    def _confirm(self, number: int, sv: str, root: str, minutes: float) -> None:
        value = {"calculateRewardsCid": f"calculate-{number}", "batchHash": {"value": root}}
        action = {"tag": "CRARC_StartProcessingRewardsV2", "value": value}
        payload = {"dso": DSO, "confirmer": sv, "action": {"tag": "ARC_CoinRules", "value": {"coinRulesAction": action}}}
        made = create("Splice.DsoRules:Confirmation", f"c-{number}-{sv}", "splice-dso-governance", signed=[DSO], **payload)
        confirm = exercise("Splice.DsoRules:DsoRules", "rules", "DsoRules_ConfirmAction", made, package="splice-dso-governance")
        self._update(f"confirm-{number}-{sv}", minutes + 0.5, confirm)

    def _contract(self, number: int, node: Node, committed: str) -> Json:
        payload = {**self._payload, "batchHash": {"value": committed}}
        return create(PROCESS, f"{node.name}-{number}", signed=[DSO], **payload)

    def _process_batch(self, number: int, node: Node, minutes: float, is_later: bool) -> None:
        if not is_later and node.name in self.unprocessed:
            return
        if node.children:
            value: Any = [{"value": self.elements.get(child.name, child.digest)} for child in node.children]
            made = [self._contract(number, child, self.committed.get(child.name, child.digest)) for child in node.children]
        else:
            allowances = node.allowances if is_later else self.arguments.get(node.name, node.allowances)
            value = [{"provider": party, "amount": amount} for party, amount in allowances]
            rewarded = node.allowances if is_later else self.coupons(node.allowances)
            made = [] if self._payload["dryRun"] else [self._coupon(*pair) for pair in rewarded]
        tag = "BatchOfBatches" if node.children else "BatchOfMintingAllowances"
        argument = {"batch": {"tag": tag, "value": value}, "providersWithWrongVettingState": []}
        contract, choice = f"{node.name}-{number}", "ProcessRewardsV2_ProcessBatch"
        self._update(
            f"batch-{number}-{node.name}", minutes, exercise(PROCESS, contract, choice, *made, consuming=True, argument=argument)
        )
        for position, child in enumerate(node.children):
            self._process_batch(number, child, minutes + 10 ** -(len(node.name)) * (position + 1) / 10, is_later)

    def _coupon(self, party: str, amount: str) -> Json:
        payload = {"dso": DSO, "provider": party, "amount": amount, "round": {"number": "1"}, "kind": self.kind}
        return create("Splice.Coin:RewardCouponV2", f"coupon-{party}-{amount}", signed=[DSO], **payload)


def named_tree() -> Node:
    """The tree of a round without rewards."""
    return tree_of([], 2)
