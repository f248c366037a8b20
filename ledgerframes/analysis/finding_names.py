"""Names of what findings can be on, as in their column ``what``."""

from __future__ import annotations

REQUESTS, COST, WASTE, REJECTIONS, LATENCY = "requests", "cost per request", "wasted share", "rejection rate", "latency"
WEIGHT, RECORDS = "activity weight", "requests with activity"
NEGATIVE, EARLY, UNKNOWN = "negative costs", "verdicts before their request", "unknown costs"
ONE_COST = "cost of one request"
NOT_IN_STORE, NOT_FINAL, BALANCE, REWARDS = "not in the store", "not final yet", "balance", "rewards"
# Those that are compared with the weeks before.
COMPARED = (REQUESTS, COST, WASTE, REJECTIONS, LATENCY, WEIGHT, RECORDS, NEGATIVE, EARLY, UNKNOWN, ONE_COST)
