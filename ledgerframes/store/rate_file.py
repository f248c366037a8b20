"""Request rates of hosts in a small file, which processes of this machine share."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import astuple, fields
from pathlib import Path
from typing import TypeVar

from ledgerframes.api.host_rates import MemoryRecord, RateState
from ledgerframes.errors import StoreError
from ledgerframes.store.sqlite import Database, Schema

__all__ = ["RateFile"]

T = TypeVar("T")

logger = logging.getLogger("ledgerframes")

NAMES = tuple(field.name for field in fields(RateState))
TABLE = f"CREATE TABLE rates (host TEXT PRIMARY KEY, {', '.join(NAMES)})"
SCHEMA = Schema(version=2, tables=TABLE, upgrades={1: f"DROP TABLE rates; {TABLE}"})
SECONDS_PER_DAY = 86_400


class RateFile:
    """The file of the request rates.

    If the file cannot be used, the rates are in the memory of the process: a load must not fail because of this file.
    """

    def __init__(self, path: Path) -> None:
        self.database = Database(path, SCHEMA, "request rates", "Delete the file.", synchronous="OFF")
        self.lock = threading.Lock()  # because SQLite waits for other threads in steps of milliseconds
        self.is_usable = True

    def record(self, host: str) -> FileRecord:
        """Return the record of a host."""
        return FileRecord(self, host)


class FileRecord(MemoryRecord):
    """The state of a host in the file."""

    def __init__(self, file: RateFile, host: str) -> None:
        super().__init__()
        self._file, self._host = file, host

    def update(self, change: Callable[[RateState], T]) -> T:
        """Call a function that changes the state, and return what it returns."""
        if self._file.is_usable:
            try:
                with self._file.lock, self._file.database.write_transaction() as connection:
                    return self._update(connection, change)
            except StoreError as error:
                self._file.is_usable = False
                logger.info("host_rates_not_shared path=%s error=%s", self._file.database.path, error)
        return super().update(change)

    def _update(self, connection: sqlite3.Connection, change: Callable[[RateState], T]) -> T:
        row = connection.execute(f"SELECT {', '.join(NAMES)} FROM rates WHERE host = ?", (self._host,)).fetchone()  # noqa: S608
        state = RateState(*row) if row else RateState()
        before = astuple(state)
        result = change(state)
        if astuple(state) != before:
            marks = ", ".join("?" * (1 + len(NAMES)))
            connection.execute(f"INSERT OR REPLACE INTO rates VALUES ({marks})", (self._host, *astuple(state)))  # noqa: S608
        if row is None:
            connection.execute("DELETE FROM rates WHERE abs(used_at - ?) > ?", (state.used_at, SECONDS_PER_DAY))
        return result
