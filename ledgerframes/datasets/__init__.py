"""All tables, by name."""

from __future__ import annotations

from ledgerframes.datasets.bookkeeping import DROPPED_ROWS
from ledgerframes.datasets.bulk.schema import BULK_TABLES
from ledgerframes.datasets.events.schema import EVENT_TABLES
from ledgerframes.datasets.holdings.schema import HOLDINGS_SUMMARY, TOKEN_TABLES
from ledgerframes.datasets.ledger.schema import LEDGER_TABLES
from ledgerframes.datasets.offers.schema import TRANSFER_OFFERS
from ledgerframes.datasets.reference.network_schema import NETWORK_TABLES
from ledgerframes.datasets.reference.schema import NAME_RULES, PRICE_VOTES
from ledgerframes.datasets.schema import Column, Table
from ledgerframes.datasets.state.schema import LEDGER_STATE_TABLES
from ledgerframes.errors import UsageError

__all__ = ["EVENT_TABLES", "LEDGER_TABLES", "TABLES", "Column", "Table", "table"]

REFERENCE_TABLES = (PRICE_VOTES, NAME_RULES, *NETWORK_TABLES)
TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        *EVENT_TABLES,
        *BULK_TABLES,
        *LEDGER_TABLES,
        *LEDGER_STATE_TABLES,
        *TOKEN_TABLES,
        *REFERENCE_TABLES,
        HOLDINGS_SUMMARY,
        TRANSFER_OFFERS,
    )
}


def table(name: str) -> Table:
    """Return the declaration of one table.

    Parameters
    ----------
    name : str
        Name of the table, such as ``traffic``.

    Returns
    -------
    Table

    Raises
    ------
    UsageError
        If the table is unknown.
    """
    if name == DROPPED_ROWS.name:
        return DROPPED_ROWS
    if name not in TABLES:
        raise UsageError(f"Unknown table {name!r}. Choose from {', '.join(sorted(TABLES))}.")
    return TABLES[name]
