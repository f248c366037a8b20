"""The seal of a SQLite file, a digest over its rows that tells damage."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass

SEAL_TABLE = "CREATE TABLE seal (digest TEXT NOT NULL)"
UNSEALED = "unsealed"
NO_SEAL_YET = f"INSERT INTO seal VALUES ('{UNSEALED}')"  # noqa: S608 - of rows that an earlier version wrote
TABLES = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
BROKEN_SEAL = "its rows differ from those that were written"


@dataclass(frozen=True)
class Seal:
    """A digest over the declared tables and the results of queries.

    Attributes
    ----------
    queries : tuple of str
        What the seal covers, in a fixed order. Without rows in the file they have no results.
    """

    queries: tuple[str, ...]

    def is_intact(self, connection: sqlite3.Connection) -> bool:
        """Return whether the rows are those of the last write.

        A file of an earlier version is believed until its first write.
        """
        seals = [digest for (digest,) in connection.execute("SELECT digest FROM seal")]
        if not seals:
            return all(connection.execute(query).fetchone() is None for query in self.queries)
        return seals in ([self._digest(connection)], [UNSEALED])

    def write(self, connection: sqlite3.Connection) -> None:
        """Seal the rows as they are now."""
        digest = self._digest(connection)
        connection.execute("DELETE FROM seal")
        connection.execute("INSERT INTO seal VALUES (?)", [digest])

    def _digest(self, connection: sqlite3.Connection) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for query in (TABLES, *self.queries):
            for row in connection.execute(query):
                digest.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()
