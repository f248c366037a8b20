"""The wallet API: transfer offers as a state machine, in memory, apart from the seeded world."""

from .api import WalletService, wallet_api
from .book import OfferBook
from .offers import Offer

__all__ = ["Offer", "OfferBook", "WalletService", "wallet_api"]
