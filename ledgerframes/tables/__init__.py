"""Every table, by name."""

from __future__ import annotations

from ledgerframes.errors import UsageError
from ledgerframes.tables.history import EVENT_TABLES
from ledgerframes.tables.spec import Column, Table

__all__ = ["EVENT_TABLES", "TABLES", "Column", "Table", "table"]

TABLES: dict[str, Table] = {table.name: table for table in EVENT_TABLES}


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
