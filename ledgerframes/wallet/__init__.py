"""Making transfer offers exactly once: contents checked, journalled, sent, and asked about until the outcome is known."""

from __future__ import annotations

from ledgerframes.wallet.journal import JOURNAL, Journal, TransferOffer
from ledgerframes.wallet.offers import OffersWallet

__all__ = ["JOURNAL", "Journal", "OffersWallet", "TransferOffer"]
