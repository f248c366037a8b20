"""Sentences in place of costs that are not there."""

from __future__ import annotations

NO_COST = "No request with a known cost in this window."
ONLY_ZERO = "All known costs in this window are 0 bytes."
