"""The proof of a round with 10,000 rewarded providers, from records to coupons.

``python benchmarks/reward_round.py`` makes the round by the code of the tests, which shares none with the library, and prints
the seconds of the tree alone, of all links, of the links with the answers of a node, of every party's own proof, and of one
path. All links must hold.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

import ledgerframes as lf

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "analysis"))

reward_world = importlib.import_module("reward_world")
RewardWorld, tree_of = reward_world.RewardWorld, reward_world.tree_of

PROVIDERS, BATCH_SIZE = 10_000, 100


def batches_of(node: Any) -> dict[str, Any]:
    """Return batches by hash as a node serves them."""
    if not node.children:
        pairs = [{"provider": party, "amount": amount} for party, amount in node.allowances]
        return {node.digest: {"batch_type": "BatchOfMintingAllowances", "minting_allowances": pairs}}
    below = {digest: batch for child in node.children for digest, batch in batches_of(child).items()}
    return {node.digest: {"batch_type": "BatchOfBatches", "child_hashes": [each.digest for each in node.children]}, **below}


def amounts_of(frames: lf.Frames) -> list[tuple[str, str]]:
    """Return the amounts of so many providers, whose weights use up all coin of a round."""
    rows = lf.activity.rewards(frames, by="party").dropna(subset="amount")
    rows = rows[(rows["round_number"] == 1) & ~rows["below_threshold"]].sort_values("party")
    return [(party, f"{amount:.10f}") for party, amount in zip(rows["party"], rows["amount"], strict=True)]


def answers(tree: Any) -> pd.DataFrame:
    """Return the answers of a node about the round, without totals."""
    row = dict.fromkeys(lf.TABLES["reward_accounting"].column_names)
    row |= {"observed_at": pd.Timestamp("2026-11-09", tz="UTC"), "round_number": 1, "totals_status": "Undetermined"}
    row |= {"root_status": "Ok", "root_hash": tree.digest, "batches": json.dumps(batches_of(tree))}
    return pd.DataFrame([row])


def timed(name: str, call: Callable[[], Any]) -> Any:
    """Print the seconds of a call, and return its result."""
    began = time.perf_counter()
    result = call()
    sys.stdout.write(f"{name}: {time.perf_counter() - began:.2f} s\n")
    return result


def main() -> None:
    """Measure, and require that all links hold."""
    weights = {f"app-{number:05}::1220": 10_000 + number for number in range(PROVIDERS)}
    allowances = amounts_of(RewardWorld(weights, BATCH_SIZE).frames())
    frames = RewardWorld(weights, BATCH_SIZE, allowances=allowances).frames()
    tree = timed(
        "reward_tree", lambda: lf.reconcile.reward_tree([(name, Decimal(each)) for name, each in allowances], BATCH_SIZE)
    )
    links = timed("rewards", lambda: lf.reconcile.rewards(frames))
    service = answers(tree_of(allowances, BATCH_SIZE))
    compared = timed("rewards with service=", lambda: lf.reconcile.rewards(frames, service=service))
    proofs = timed("rewards by party", lambda: lf.reconcile.rewards(frames, by="party"))
    proof = timed("reward_proof", lambda: lf.reconcile.reward_proof(frames, 1, allowances[-1][0]))
    for rows in (links, compared):
        of_round = rows[rows["round_number"] == 1]
        if set(of_round["status"]) != {"equal"}:
            raise SystemExit(f"A link does not hold: {of_round[['link', 'status', 'reason']].to_dict('records')}")
    is_proven = proof.verify() and proof.root == tree.root and set(proofs["status"]) == {"equal"}
    if len(proofs) != len(allowances) or not is_proven:
        raise SystemExit("A party has no proof.")


if __name__ == "__main__":
    main()
