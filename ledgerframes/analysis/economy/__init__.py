"""Coin that the network issues, mints and burns, what is bought with it, and who gets it."""

from __future__ import annotations

from ledgerframes.analysis.economy._balance import balance
from ledgerframes.analysis.economy._leaderboard import leaderboard
from ledgerframes.analysis.economy._names import names
from ledgerframes.analysis.economy._purchases import purchases
from ledgerframes.analysis.economy._reward_split import reward_split
from ledgerframes.analysis.economy._transfers import transfers
from ledgerframes.analysis.economy.coin_sums import burn_mint, rounds

__all__ = ["balance", "burn_mint", "leaderboard", "names", "purchases", "reward_split", "rounds", "transfers"]


def __dir__() -> list[str]:
    return __all__
