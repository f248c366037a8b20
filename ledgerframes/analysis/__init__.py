"""Analyses: pure functions from ``Frames`` to a tidy DataFrame, one module per noun and one function per figure."""

from __future__ import annotations

from ledgerframes.analysis import contracts, cost, reconcile, verdict, votes
from ledgerframes.analysis._figures import CALLS, FIGURES, SHARE, Figure, ResultColumn

__all__ = ["CALLS", "FIGURES", "SHARE", "Figure", "ResultColumn", "contracts", "cost", "reconcile", "verdict", "votes"]
