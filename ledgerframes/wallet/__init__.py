"""Transfer offers that are made exactly once, with the help of a journal."""

from __future__ import annotations

from ledgerframes.wallet.journal import JOURNAL, Journal, TransferOffer
from ledgerframes.wallet.offers import OffersWallet

__all__ = ["JOURNAL", "Journal", "OffersWallet", "TransferOffer"]
