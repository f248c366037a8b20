"""Table of the sums of coin from responses of the history API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pyarrow as pa

from ledgerframes.datasets.arrays import parse_amounts
from ledgerframes.datasets.boundary import decode_boundary
from ledgerframes.datasets.bulk.wire import HoldingsSummary
from ledgerframes.datasets.extras import encode_extras
from ledgerframes.datasets.holdings.schema import HOLDINGS_SUMMARY

SnapshotPosition = tuple[int, datetime]  # migration and time of a snapshot
TOTALS = ("total_unlocked_coin", "total_locked_coin", "total_coin_holdings")


@decode_boundary()
def holdings_summary_table(summaries: Mapping[SnapshotPosition, Mapping[str, HoldingsSummary | None]]) -> pa.Table:
    """Build the table of sums of coin by snapshot and party, None for a party without coin.

    Raises
    ------
    DecodeError
        If a sum is not an amount.
    """
    rows = [(*position, party, summary) for position, each in summaries.items() for party, summary in each.items()]
    extras = iter(encode_extras([summary for *_, summary in rows if summary]).to_pylist())
    values = {
        "migration_id": [migration_id for migration_id, *_ in rows],
        "snapshot_time": [time for _, time, *_ in rows],
        "party": [party for *_, party, _ in rows],
        **{name: parse_amounts([summary and getattr(summary, name) for *_, summary in rows], name) for name in TOTALS},
        "extra": [next(extras) if summary else None for *_, summary in rows],
    }
    return HOLDINGS_SUMMARY.sorted(HOLDINGS_SUMMARY.from_arrays(values))
