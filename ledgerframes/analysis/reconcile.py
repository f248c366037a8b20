"""Comparisons of two sources.

Rows of either source stay in the result.
"""

from __future__ import annotations

from ledgerframes.analysis._bounds import bounds
from ledgerframes.analysis._bulk import bulk, bulk_totals
from ledgerframes.analysis._coverage_calendar import coverage
from ledgerframes.analysis._digests import digests
from ledgerframes.analysis._nodes import nodes
from ledgerframes.analysis._paid_traffic import paid_traffic, paid_traffic_totals
from ledgerframes.analysis._replay import contracts, supply

__all__ = [
    "bounds",
    "bulk",
    "bulk_totals",
    "contracts",
    "coverage",
    "digests",
    "nodes",
    "paid_traffic",
    "paid_traffic_totals",
    "supply",
]
