"""Coin that the network issues, mints and burns, what is bought with it, and who gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ledgerframes.analysis.economy._balance import balance
from ledgerframes.analysis.economy._leaderboard import leaderboard
from ledgerframes.analysis.economy._names import names
from ledgerframes.analysis.economy._purchases import purchases
from ledgerframes.analysis.economy._reward_split import reward_split
from ledgerframes.analysis.economy._transfers import transfers
from ledgerframes.analysis.economy.coin_sums import burn_mint, flows
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = ["balance", "burn_mint", "flows", "leaderboard", "names", "purchases", "reward_split", "transfers"]

EARLIER_NAMES = {"rounds": "lf.economy.flows"}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.economy", name, EARLIER_NAMES)
