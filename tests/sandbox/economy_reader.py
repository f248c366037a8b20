"""A reader of coins and rewards who knows nothing but the updates, written as plain loops over JSON."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

Json = dict[str, Any]
ZERO = Decimal(0)
PURCHASE, MERGE = "CoinRules_BuyMemberTraffic", "CoinRules_MergeMemberTrafficContracts"
FEES = ("AnsRules_CollectInitialEntryPayment", "AnsRules_CollectEntryRenewalPayment")
EXPIRIES = ("Coin_Expire", "Coin_ExpireV2", "LockedCoin_ExpireCoin", "LockedCoin_ExpireCoinV2")


def template_of(node: Json) -> str:
    """Return the qualified name of a node's template."""
    return str(node["template_id"].partition(":")[2])


def coin_of(node: Json) -> Json | None:
    """Return the coin that a create node makes, locked or not."""
    name = template_of(node)
    if "create_arguments" not in node or name not in ("Splice.Coin:Coin", "Splice.Coin:LockedCoin"):
        return None
    arguments = node["create_arguments"]
    coin: Json = arguments["coin"] if name.endswith("LockedCoin") else arguments
    return {"owner": coin["owner"], "amount": Decimal(coin["amount"]["initialAmount"])}


class EconomyReader:
    """Flows of coin, update by update."""

    def __init__(self) -> None:
        self.coins: dict[str, Json] = {}
        self.by_update: dict[str, dict[str, Decimal]] = {}
        self.totals: defaultdict[str, Decimal] = defaultdict(Decimal)

    def read(self, update: Json) -> dict[str, Decimal]:
        """Return what an update mints and burns, and its net."""
        flows: defaultdict[str, Decimal] = defaultdict(Decimal)
        for node in update["events_by_id"].values():
            if coin := coin_of(node):
                self.coins[node["contract_id"]] = coin
                flows["net"] += coin["amount"]
        for node in update["events_by_id"].values():
            if node.get("consuming") and node["contract_id"] in self.coins:
                flows["net"] -= self.coins[node["contract_id"]]["amount"]
        for root in update["root_event_ids"]:
            self._visit(update["events_by_id"], root, "", flows)
        flows["unexplained"] = flows["net"] - flows["minted"] + flows["burned"]
        for name, amount in flows.items():
            self.totals[name] += amount
        self.by_update[update["update_id"]] = dict(flows)
        return flows

    def _visit(self, nodes: Json, event_id: str, parent: str, flows: defaultdict[str, Decimal]) -> bool:
        """Add the flows of a subtree, and return whether it has a summary."""
        node = nodes[event_id]
        choice = node.get("choice", "")
        if template_of(node).endswith(":MemberTraffic") and not choice and parent != MERGE:
            self._add(flows, "burned", "traffic", node["create_arguments"]["coinSpent"])
        if choice == "CoinRules_Mint":
            self._add(flows, "minted", "tapped", node["choice_argument"]["amount"])
        if choice in EXPIRIES:
            self._add(flows, "burned", "dust", self.coins[node["contract_id"]]["amount"])
        children = [(nodes[child], child) for child in node.get("child_event_ids", ())]
        if choice in FEES:
            for child, _ in children:
                coin = self.coins.get(child["contract_id"])
                if child.get("choice") == "Archive" and coin and coin["owner"].startswith("DSO::"):
                    self._add(flows, "burned", "names", coin["amount"])
        below = [self._visit(nodes, child, choice, flows) for _, child in children]
        if any(below):
            return True
        result = node.get("exercise_result")
        summary = result.get("summary") if isinstance(result, dict) else None
        if summary is None:
            return False
        for kind in ("App", "Validator", "Sv"):
            self._add(flows, "minted", kind.lower(), summary[f"input{kind}RewardAmount"])
        return True

    def _add(self, flows: defaultdict[str, Decimal], side: str, kind: str, amount: Any) -> None:
        flows[side] += Decimal(amount)
        flows[f"{side}_{kind}"] += Decimal(amount)
