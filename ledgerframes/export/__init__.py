"""Export of tables to Parquet, CSV, JSON lines, and journals of plain-text accounting."""

from ledgerframes.export.files import write_csv, write_table
from ledgerframes.export.journals import write_journal
from ledgerframes.export.stored_table import from_store

__all__ = ["from_store", "write_csv", "write_journal", "write_table"]


def __dir__() -> list[str]:
    return __all__
