"""State of the network over time, from rounds to rights, super validators and prices.

Each row is the lifetime of a contract, read from the history's own transaction trees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ledgerframes.analysis.state._alive import at
from ledgerframes.analysis.state._contracts import config, featured, ignored_contracts, rounds, super_validators, tables
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = ["at", "config", "featured", "ignored_contracts", "rounds", "super_validators", "tables"]

EARLIER_NAMES = {"problems": "lf.state.ignored_contracts"}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.state", name, EARLIER_NAMES)
