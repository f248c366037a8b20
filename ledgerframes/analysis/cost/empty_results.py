"""Sentences for results without costs."""

from __future__ import annotations

NO_COST = "No request with a known cost in this window."
ONLY_ZERO = "All known costs in this window are 0 bytes."
