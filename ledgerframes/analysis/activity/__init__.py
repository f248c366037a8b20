"""Weights of app providers, their recomputation, rewards of rounds and concentration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ledgerframes.analysis.activity._concentration import concentration, lorenz
from ledgerframes.analysis.activity._rewards import rewards
from ledgerframes.analysis.activity._weights import recompute, weights
from ledgerframes.analysis.activity._what_if import what_if
from ledgerframes.analysis.activity.reconciliation import reconcile, reconcile_totals
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = ["concentration", "lorenz", "recompute", "reconcile", "reconcile_totals", "rewards", "weights", "what_if"]

EARLIER_NAMES = {"rounds": "lf.activity.rewards", "reconcile_summary": "lf.activity.reconcile_totals"}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.activity", name, EARLIER_NAMES)
