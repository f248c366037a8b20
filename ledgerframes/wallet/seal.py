"""The seal of the journal of offers, a digest over its rows that tells damage."""

from __future__ import annotations

import hashlib
import sqlite3

__all__ = ["NO_SEAL_YET", "SEAL_TABLE", "is_intact", "write_seal"]

SEAL_TABLE = "CREATE TABLE seal (digest TEXT NOT NULL)"
UNSEALED = "unsealed"
NO_SEAL_YET = f"INSERT INTO seal VALUES ('{UNSEALED}')"  # noqa: S608 - of rows that an earlier version wrote
# Whole tables in the order of their rows, so that no index is trusted.
CONTENT = ("SELECT rowid, * FROM offers NOT INDEXED ORDER BY rowid", "SELECT * FROM changes NOT INDEXED ORDER BY number")


def is_intact(connection: sqlite3.Connection) -> bool:
    """Return whether the rows are those of the last write.

    A journal of an earlier version is believed until its first write.
    """
    seals = [digest for (digest,) in connection.execute("SELECT digest FROM seal")]
    if not seals:
        return connection.execute("SELECT 1 FROM offers NOT INDEXED").fetchone() is None
    return seals in ([_digest(connection)], [UNSEALED])


def write_seal(connection: sqlite3.Connection) -> None:
    """Seal the rows as they are now."""
    digest = _digest(connection)
    connection.execute("DELETE FROM seal")
    connection.execute("INSERT INTO seal VALUES (?)", [digest])


def _digest(connection: sqlite3.Connection) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for query in CONTENT:
        for row in connection.execute(query):
            digest.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
