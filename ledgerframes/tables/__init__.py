"""Every table, by name."""

from __future__ import annotations

from ledgerframes.errors import UsageError
from ledgerframes.tables.bulk import BULK_TABLES
from ledgerframes.tables.history import EVENT_TABLES
from ledgerframes.tables.ledger import LEDGER_TABLES
from ledgerframes.tables.ledger_state import LEDGER_STATE_TABLES
from ledgerframes.tables.reference import NAME_RULES, PRICE_VOTES
from ledgerframes.tables.spec import Column, Table
from ledgerframes.tables.wallet import TRANSFER_OFFERS

__all__ = ["EVENT_TABLES", "LEDGER_TABLES", "TABLES", "Column", "Table", "table"]

TABLES: dict[str, Table] = {
    table.name: table
    for table in (*EVENT_TABLES, *BULK_TABLES, *LEDGER_TABLES, *LEDGER_STATE_TABLES, PRICE_VOTES, NAME_RULES, TRANSFER_OFFERS)
}


def table(name: str) -> Table:
    """The declaration of one table.

    Raises
    ------
    UsageError
        If there is no table of that name.
    """
    if name not in TABLES:
        raise UsageError(f"There is no table {name!r}. Tables: {', '.join(sorted(TABLES))}.")
    return TABLES[name]
