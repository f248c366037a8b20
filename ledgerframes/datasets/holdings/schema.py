"""Tables of the sums of coin at snapshots, and of contracts of the token standard."""

from __future__ import annotations

from ledgerframes.datasets.events import schema as history
from ledgerframes.datasets.header import MIGRATION_ID
from ledgerframes.datasets.ledger import schema as ledger
from ledgerframes.datasets.schema import AMOUNT, FLAG, JSON, SMALL, TEXT, TEXTS, TIME, Column, Table
from ledgerframes.datasets.state.schema import LEDGER_ACTIVE_CONTRACTS

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
        MIGRATION_ID,
        Column("total_unlocked_coin", AMOUNT, "Coin that is not locked, by initial amounts.", missing=WITHOUT_COIN, unit="coin"),
        Column("total_locked_coin", AMOUNT, "Coin that is locked, by initial amounts.", missing=WITHOUT_COIN, unit="coin"),
        Column("total_coin_holdings", AMOUNT, "All coin of the party, by initial amounts.", missing=WITHOUT_COIN, unit="coin"),
        history.unknown_members("summary"),
    ),
)

# -- the token standard -------------------------------------------------------------------------------------------------

TOKENS = "docs/facts.md#token-standard"
NO_VIEW = "if the view failed, or does not have it"
CONTRACT = (
    ledger.PARTICIPANT_ID,
    LEDGER_ACTIVE_CONTRACTS["active_at_offset"],
    history.CONTRACT_ID,
    *history.TEMPLATE_COLUMNS,
)
AMOUNT_COLUMNS = (
    Column("instrument_admin", TEXT, "Party that administers the instrument.", missing=NO_VIEW),
    Column("instrument_id", TEXT, "Name of the instrument, as its administrator calls it.", missing=NO_VIEW),
    Column("amount", AMOUNT, "Amount of the instrument.", missing=NO_VIEW),
)
PARTIES = (
    Column("sender", TEXT, "Party that sends.", missing=NO_VIEW),
    Column("receiver", TEXT, "Party that receives.", missing=NO_VIEW),
)
VIEW = (
    Column("view_code", SMALL, "gRPC code of the view, 0 for success.", "docs/facts.md#ledger-event-fields"),
    Column(
        "view_message", TEXT, "Text of the error, or empty.", "docs/facts.md#ledger-event-fields", missing="if it is not sent"
    ),
    Column("view", JSON, "All members of the view.", missing="if the view failed", unit="JSON"),
)


def _token_table(name: str, row_description: str, *columns: Column) -> Table:
    return Table(
        name=name,
        row_description=row_description,
        reference=TOKENS,
        family="ledger_state",
        key=("participant_id", "contract_id"),
        columns=(*CONTRACT, *columns, *VIEW),
    )


TOKEN_HOLDINGS = _token_table(
    "token_holdings",
    "active contract with tokens that a party owns",
    Column("owner", TEXT, "Party that owns the tokens.", missing=NO_VIEW),
    *AMOUNT_COLUMNS,
    Column("is_locked", FLAG, "Whether the holding has a lock, which can have expired.", missing="if the view failed"),
    Column("lock_holders", TEXTS, "Parties that hold the lock.", missing="without a lock"),
    Column("lock_expires_at", TIME, "Time at which the lock expires.", missing="without a lock, or if it has no time"),
)
TOKEN_TRANSFERS = _token_table(
    "token_transfers",
    "active contract with a transfer of tokens that is not complete",
    *PARTIES,
    *AMOUNT_COLUMNS,
    Column("requested_at", TIME, "Time at which the transfer was requested.", missing=NO_VIEW),
    Column("execute_before", TIME, "Time until which it can be executed.", missing=NO_VIEW),
    Column("transfer_status", JSON, "What the transfer waits for.", missing=NO_VIEW, unit="JSON"),
)
TOKEN_ALLOCATIONS = _token_table(
    "token_allocations",
    "active contract with tokens that are reserved for a settlement",
    *PARTIES,
    *AMOUNT_COLUMNS,
    Column("executor", TEXT, "Party that settles.", missing=NO_VIEW),
    Column("transfer_leg_id", TEXT, "Name of the transfer in its settlement.", missing=NO_VIEW),
    Column("requested_at", TIME, "Time at which the settlement was requested.", missing=NO_VIEW),
    Column("allocate_before", TIME, "Time until which tokens can be reserved.", missing=NO_VIEW),
    Column("settle_before", TIME, "Time until which the settlement can be executed.", missing=NO_VIEW),
)
TOKEN_TABLES = (TOKEN_HOLDINGS, TOKEN_TRANSFERS, TOKEN_ALLOCATIONS)
