"""Weights of app providers, their recomputation, rewards of rounds and concentration."""

from __future__ import annotations

from ledgerframes.analysis._activity_concentration import concentration, lorenz
from ledgerframes.analysis._activity_reconcile import reconcile, reconcile_summary
from ledgerframes.analysis._activity_rounds import rounds
from ledgerframes.analysis._activity_weights import recompute, weights
from ledgerframes.analysis._activity_what_if import what_if

__all__ = ["concentration", "lorenz", "recompute", "reconcile", "reconcile_summary", "rounds", "weights", "what_if"]
