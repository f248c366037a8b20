"""Transfer offers made exactly once: checked, recorded in a journal, sent, and resolved."""

from __future__ import annotations

from ledgerframes.wallet.journal import JOURNAL, Journal, TransferOffer
from ledgerframes.wallet.offers import OffersWallet

__all__ = ["JOURNAL", "Journal", "OffersWallet", "TransferOffer"]
