"""Comparisons of two sources.

Rows that only one source has stay in the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ledgerframes.analysis.reconcile._bounds import bounds
from ledgerframes.analysis.reconcile._bulk import bulk, bulk_totals
from ledgerframes.analysis.reconcile._coverage import coverage
from ledgerframes.analysis.reconcile._digests import digests
from ledgerframes.analysis.reconcile._nodes import nodes
from ledgerframes.analysis.reconcile._paid_traffic import paid_traffic, paid_traffic_totals
from ledgerframes.analysis.reconcile._replay import contracts, supply
from ledgerframes.analysis.reconcile._reward_tree import reward_tree
from ledgerframes.analysis.reconcile._rewards import reward_proof, rewards
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = [
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

EARLIER_NAMES = {
    "RewardProof": "lf.reconcile.reward_proof(…), which returns one",
    "RewardTree": "lf.reconcile.reward_tree(…), which returns one",
}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.reconcile", name, EARLIER_NAMES)
