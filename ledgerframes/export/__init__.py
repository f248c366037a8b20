"""Export of tables to Parquet, CSV, JSON lines, and journals of plain-text accounting."""

from ledgerframes.export.files import from_store, write_csv, write_table
from ledgerframes.export.journals import write_journal

__all__ = ["from_store", "write_csv", "write_journal", "write_table"]


def __dir__() -> list[str]:
    return __all__
