"""Comparisons of two sources.

Rows that only one source has stay in the result.
"""

from __future__ import annotations

from ledgerframes.analysis.reconcile._bounds import bounds
from ledgerframes.analysis.reconcile._bulk import bulk, bulk_totals
from ledgerframes.analysis.reconcile._coverage import coverage
from ledgerframes.analysis.reconcile._digests import digests
from ledgerframes.analysis.reconcile._nodes import nodes
from ledgerframes.analysis.reconcile._paid_traffic import paid_traffic, paid_traffic_totals
from ledgerframes.analysis.reconcile._replay import contracts, supply
from ledgerframes.analysis.reconcile._reward_tree import RewardProof, RewardTree, reward_tree
from ledgerframes.analysis.reconcile._rewards import reward_proof, rewards

__all__ = [
    "RewardProof",
    "RewardTree",
    "bounds",
    "bulk",
    "bulk_totals",
    "contracts",
    "coverage",
    "digests",
    "nodes",
    "paid_traffic",
    "paid_traffic_totals",
    "reward_proof",
    "reward_tree",
    "rewards",
    "supply",
]


def __dir__() -> list[str]:
    return __all__
