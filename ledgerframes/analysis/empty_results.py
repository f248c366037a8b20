"""Sentences for results without rows or values, in answers and pictures."""

from __future__ import annotations

NO_COST = "No request with a known cost in this window."
ONLY_ZERO = "All known costs in this window are 0 bytes."
ONLY_ZERO_WASTED = "No known cost in this window was wasted."
ONLY_ZERO_WEIGHTS = "All known activity weights in this window are 0 weighted bytes."
ONLY_ZERO_COIN = "All known balances in this window are 0 coin."
ONLY_ZERO_AMOUNTS = "All known amounts are 0."
NO_VERDICT = "No verdict in this window."
NO_QUORUM = "No quorum in this window."
NO_RECORD = "No activity record in this window."
NO_PROVIDER = "No app provider has a weight in this window."
