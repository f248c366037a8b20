"""State of the network over time, from rounds to rights, super validators and prices.

Each row is the lifetime of a contract, read from the history's own transaction trees.
"""

from __future__ import annotations

from ledgerframes.analysis.state._alive import at
from ledgerframes.analysis.state._contracts import config, featured, problems, rounds, super_validators, tables

__all__ = ["at", "config", "featured", "problems", "rounds", "super_validators", "tables"]


def __dir__() -> list[str]:
    return __all__
