"""Table of the sums of coin at snapshots."""

from __future__ import annotations

from ledgerframes.datasets._schema import AMOUNT, TEXT, TIME, Column, Table
from ledgerframes.datasets.events import schema as history

WITHOUT_COIN = "if the party has no coin"

HOLDINGS_SUMMARY = Table(
    name="holdings_summary",
    row_description="party and snapshot, with the sums of its coin",
    reference="docs/facts.md#holdings-at-snapshot",
    family="holdings_summary",
    key=("snapshot_time", "party"),
    columns=(
        Column("snapshot_time", TIME, "Time of the snapshot."),
        Column("party", TEXT, "Owner of the coin."),
        history.MIGRATION_ID,
        Column("total_unlocked_coin", AMOUNT, "Coin that is not locked, by initial amounts.", missing=WITHOUT_COIN, unit="coin"),
        Column("total_locked_coin", AMOUNT, "Coin that is locked, by initial amounts.", missing=WITHOUT_COIN, unit="coin"),
        Column("total_coin_holdings", AMOUNT, "All its coin, by initial amounts.", missing=WITHOUT_COIN, unit="coin"),
        history.unknown_members("summary"),
    ),
)
