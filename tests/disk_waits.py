"""No waits for the disk: no test cuts the power, and a process that is killed leaves what it wrote.

Each load would wait dozens of times.
"""

from __future__ import annotations

import os
import sqlite3

from ledgerframes.store import sqlite

connect_to_file = sqlite.Database._connect


def connect_without_waits(database: sqlite.Database, mode: str) -> sqlite3.Connection:
    connection = connect_to_file(database, mode)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def skip_disk_waits() -> None:
    """Let this process go on while the disk is still writing."""
    os.fsync = lambda descriptor: None
    sqlite.Database._connect = connect_without_waits  # type: ignore[method-assign]
