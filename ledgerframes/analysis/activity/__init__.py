"""Weights of app providers, their recomputation, rewards of rounds and concentration."""

from __future__ import annotations

from ledgerframes.analysis.activity._concentration import concentration, lorenz
from ledgerframes.analysis.activity._rounds import rounds
from ledgerframes.analysis.activity._weights import recompute, weights
from ledgerframes.analysis.activity._what_if import what_if
from ledgerframes.analysis.activity.reconciliation import reconcile, reconcile_summary

__all__ = ["concentration", "lorenz", "recompute", "reconcile", "reconcile_summary", "rounds", "weights", "what_if"]


def __dir__() -> list[str]:
    return __all__
