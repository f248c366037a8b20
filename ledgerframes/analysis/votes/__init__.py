"""Median, spread and age of the votes on the coin price, per stored observation."""

from __future__ import annotations

from ledgerframes.analysis.votes._ages import stale
from ledgerframes.analysis.votes._prices import price

__all__ = ["price", "stale"]


def __dir__() -> list[str]:
    return __all__
