"""Pure functions from ``Frames`` to tidy DataFrames.

Each module has one subject, and each function computes one figure.
"""

from __future__ import annotations

from ledgerframes.analysis import contracts, cost, eras, labels, reconcile, trees, verdict, votes
from ledgerframes.analysis._figures import CALLS, FIGURES, SHARE, Figure, ResultColumn

__all__ = [
    "CALLS",
    "FIGURES",
    "SHARE",
    "Figure",
    "ResultColumn",
    "contracts",
    "cost",
    "eras",
    "labels",
    "reconcile",
    "trees",
    "verdict",
    "votes",
]
