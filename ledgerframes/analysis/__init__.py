"""Pure functions from ``Frames`` to tidy DataFrames.

Each package or module has the figures of one noun. What several of them share starts with an underscore.
"""

from __future__ import annotations

from ledgerframes.analysis import activity, contracts, cost, economy, eras, grant, labels, reconcile, state, trees, verdict, votes
from ledgerframes.analysis._figures import CALLS, FIGURES, SHARE, Figure, ResultColumn

__all__ = [
    "CALLS",
    "FIGURES",
    "SHARE",
    "Figure",
    "ResultColumn",
    "activity",
    "contracts",
    "cost",
    "economy",
    "eras",
    "grant",
    "labels",
    "reconcile",
    "state",
    "trees",
    "verdict",
    "votes",
]
