"""The journal of transfer offers, on disk before the first HTTP request.

It is one SQLite file with a row per tracking id and one per change. It never contains a token or the text of a response.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from ledgerframes.datasets.offers.wire import OfferStatus
from ledgerframes.errors import UsageError
from ledgerframes.store.sqlite import NO_SEAL_YET, SEAL_TABLE, Database, Schema, integrity_problems
from ledgerframes.values.extents import from_microseconds, microseconds
from ledgerframes.values.windows import MICROSECOND
from ledgerframes.wallet.terms import OfferTerms

__all__ = ["JOURNAL", "Change", "Journal", "TransferOffer"]

JOURNAL = "offers.sqlite"
SCHEMA_VERSION = 4
# Whole tables in the order of their rows, so that no index is trusted.
SEALED = ("SELECT rowid, * FROM offers NOT INDEXED ORDER BY rowid", "SELECT * FROM changes NOT INDEXED ORDER BY number")

SCHEMA = f"""
{SEAL_TABLE};
CREATE TABLE offers (
    tracking_id TEXT PRIMARY KEY,
    wallet TEXT NOT NULL,
    wallet_user TEXT,
    receiver_party_id TEXT NOT NULL,
    amount TEXT NOT NULL,
    description TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    expires_in INTEGER,
    recorded_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending',
    contract_id TEXT,
    transaction_id TEXT,
    failure_kind TEXT,
    withdrawn_reason TEXT,
    attempt_count INTEGER NOT NULL DEFAULT 0,
    open_attempts INTEGER NOT NULL DEFAULT 0,
    first_sent_at INTEGER,
    last_checked_at INTEGER,
    last_failure TEXT
);
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tracking_id TEXT NOT NULL REFERENCES offers,
    at INTEGER NOT NULL,
    status TEXT NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX changes_by_offer ON changes (tracking_id);
"""

# Statements that bring a journal from a version to the next. Without its journal an offer could be made twice.
MIGRATIONS = {
    1: """
ALTER TABLE offers RENAME COLUMN journalled_at TO recorded_at;
ALTER TABLE offers RENAME COLUMN attempts TO attempt_count;
ALTER TABLE changes RENAME COLUMN what TO description;
UPDATE offers SET last_failure = replace(last_failure, 'Conflict ', 'ConflictError ') WHERE last_failure LIKE 'Conflict %';
""",
    2: f"{SEAL_TABLE}; {NO_SEAL_YET}",
    3: f"DELETE FROM seal; {NO_SEAL_YET}",  # noqa: S608 - since version 4 a seal also covers the declared tables
}

# An offer's rank never falls, so that a late response or another process cannot undo a status.
RANK = {"pending": 0, "refused": 0, "lapsed": 0, "created": 1, "accepted": 2, "completed": 3, "failed": 3}
SELECT_OFFER = "SELECT * FROM offers NOT INDEXED WHERE tracking_id = ?"
TERMS = ("receiver_party_id", "amount", "description", "expires_at", "expires_in")


@dataclass(frozen=True)
class TransferOffer:
    """One transfer offer of this journal.

    Attributes
    ----------
    tracking_id : str
    status : str
        ``pending``: not known to exist. ``created``, ``accepted``, ``completed``, ``failed``: as the wallet reports.
        ``refused``: the wallet refused it. ``lapsed``: it expired before it was made.
    contract_id : str or None
        Contract of the offer, later of the accepted offer, then of the transfer (docs/facts.md#wallet-api).
    transaction_id : str or None
    failure_kind : str or None
        ``expired``, ``rejected`` or ``withdrawn``.
    withdrawn_reason : str or None
    receiver_party_id : str
    amount : Decimal
        In coin.
    description : str
    expires_at : datetime
    expires_in : timedelta or None
        From the first call until the offer expires, if that was passed instead of a time.
    recorded_at : datetime
        Time of the journal entry, before the first request.
    first_sent_at, last_checked_at : datetime or None
    attempt_count : int
        Number of requests, with or without a response.
    open_attempts : int
        Number of requests that have made the offer, or may have: all but those whose response excludes it.
    last_failure : str or None
        Class and status of the last failure.
    wallet, wallet_user : str, str or None
        URL of the wallet, and its user if the token names one.
    """

    tracking_id: str
    status: str
    contract_id: str | None
    transaction_id: str | None
    failure_kind: str | None
    withdrawn_reason: str | None
    receiver_party_id: str
    amount: Decimal
    description: str
    expires_at: datetime
    expires_in: timedelta | None
    recorded_at: datetime
    first_sent_at: datetime | None
    last_checked_at: datetime | None
    attempt_count: int
    open_attempts: int
    last_failure: str | None
    wallet: str
    wallet_user: str | None

    @property
    def terms(self) -> OfferTerms:
        """The terms of the offer, as on the wire."""
        return OfferTerms(
            self.receiver_party_id,
            format(self.amount, "f"),
            self.description,
            microseconds(self.expires_at),
            None if self.expires_in is None else self.expires_in // MICROSECOND,
        )

    @property
    def exists(self) -> bool:
        """True if the wallet confirmed that the offer was made."""
        return rank(self.status) > 0

    @property
    def finished(self) -> bool:
        """True if the status is final."""
        return self.status in ("completed", "failed", "refused", "lapsed")


@dataclass(frozen=True)
class Change:
    """One change of an offer, with its time and the status after it."""

    at: datetime
    status: str
    description: str


class Journal:
    """The journal of one network, which threads and processes can share.

    Its directory is created at the first write.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / JOURNAL
        schema = Schema(SCHEMA_VERSION, SCHEMA, MIGRATIONS, {SCHEMA_VERSION: SEALED})
        step = "Restore the file from a backup. Without it, an offer could be made twice."
        # EXTRA also syncs the directory after each commit: a power cut cannot bring an older journal back.
        self._database = Database(self.path, schema, "journal of offers", step, synchronous="EXTRA", root=directory.parent)

    def problems(self) -> list[str]:
        """Return what an integrity check reports of the journal, empty if it is intact."""
        return self._database.problems()

    @contextmanager
    def _write_transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a write transaction on a file that is intact, also its indexes."""
        with self._database.write_transaction() as connection:
            if problems := integrity_problems(connection):
                raise self._database.damage_error(problems[0])
            yield connection

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._database.read_transaction() as connection:
            return connection.execute(query, values).fetchall()

    def offers(self) -> list[TransferOffer]:
        """Return all offers, the oldest first."""
        return [_offer(row) for row in self._read("SELECT * FROM offers ORDER BY rowid")]

    def find(self, tracking_id: str) -> TransferOffer | None:
        """Return one offer, or None if the journal does not have it."""
        rows = self._read(SELECT_OFFER, tracking_id)
        return _offer(rows[0]) if rows else None

    def get(self, tracking_id: str) -> TransferOffer:
        """Return one offer, or raise UsageError if the journal does not have it."""
        offer = self.find(tracking_id)
        if offer is None:
            raise UsageError(f"Unknown offer {tracking_id!r}. Choose from the tracking ids in {self.path}.")
        return offer

    def history(self, tracking_id: str) -> list[Change]:
        """Return the changes of one offer in order."""
        query = "SELECT at, status, description FROM changes NOT INDEXED WHERE tracking_id = ? ORDER BY number"
        rows = self._read(query, tracking_id)
        return [Change(from_microseconds(row["at"]), row["status"], row["description"]) for row in rows]

    # -- writing: on the disk when the method returns ------------------------------------------------------------------

    def add(self, tracking_id: str, terms: OfferTerms, wallet: str, wallet_user: str | None, now: datetime) -> TransferOffer:
        """Add an offer unless another process did, and return the one in the journal."""
        with self._write_transaction() as connection:
            if _row(connection, tracking_id) is None:
                values = [tracking_id, wallet, wallet_user, *(getattr(terms, name) for name in TERMS), microseconds(now)]
                connection.execute(
                    "INSERT INTO offers (tracking_id, wallet, wallet_user, receiver_party_id, amount, description, expires_at, "
                    "expires_in, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    values,
                )
                _add_change(connection, tracking_id, now, "recorded")
            return _offer(_row(connection, tracking_id))

    def record_attempt(self, tracking_id: str, now: datetime) -> None:
        """Record that a request is about to be sent, after which the offer may exist."""
        with self._write_transaction() as connection:
            _set(connection, tracking_id, "attempt_count = attempt_count + 1, open_attempts = open_attempts + 1")
            _set(connection, tracking_id, "first_sent_at = coalesce(first_sent_at, ?)", microseconds(now))
            _set(connection, tracking_id, "status = CASE WHEN status IN ('refused', 'lapsed') THEN 'pending' ELSE status END")
            _add_change(connection, tracking_id, now, "attempt started")

    def record_refusal(self, tracking_id: str, failure: str, now: datetime, *, is_final: bool) -> TransferOffer:
        """Record a response to a request that certainly had no effect.

        With ``is_final``, the status becomes refused unless another request may have made the offer.
        """
        with self._write_transaction() as connection:
            _set(connection, tracking_id, "open_attempts = max(open_attempts - 1, 0), last_failure = ?", failure)
            offer = _row(connection, tracking_id)
            if is_final and offer["status"] == "pending" and not offer["open_attempts"]:
                _set(connection, tracking_id, "status = 'refused'")
            _add_change(connection, tracking_id, now, f"no effect: {failure}")
            return _offer(_row(connection, tracking_id))

    def record_unknown_outcome(self, tracking_id: str, failure: str, now: datetime) -> None:
        """Record a failure that leaves open whether the offer was made."""
        with self._write_transaction() as connection:
            _set(connection, tracking_id, "last_failure = ?", failure)
            _add_change(connection, tracking_id, now, f"outcome unknown: {failure}")

    def update_status(self, tracking_id: str, status: OfferStatus, now: datetime) -> TransferOffer:
        """Record the wallet's status of an offer, unless the journal has a later one."""
        with self._write_transaction() as connection:
            if rank(status.status) > rank(_row(connection, tracking_id)["status"]):
                ids = "contract_id = coalesce(?, contract_id), transaction_id = coalesce(?, transaction_id)"
                _set(connection, tracking_id, ids, status.contract_id, status.transaction_id)
                end = (status.status, status.failure_kind, status.withdrawn_reason)
                _set(connection, tracking_id, "status = ?, failure_kind = ?, withdrawn_reason = ?", *end)
                _add_change(connection, tracking_id, now, "wallet reported the status")
            _set(connection, tracking_id, "last_checked_at = ?", microseconds(now))
            return _offer(_row(connection, tracking_id))

    def record_absence(self, tracking_id: str, now: datetime, *, has_lapsed: bool = False) -> TransferOffer:
        """Record that the wallet does not know an offer, or that the offer lapsed."""
        with self._write_transaction() as connection:
            _set(connection, tracking_id, "last_checked_at = ?", microseconds(now))
            if has_lapsed:
                _set(connection, tracking_id, "status = CASE WHEN status IN ('pending', 'refused') THEN 'lapsed' ELSE status END")
                _add_change(connection, tracking_id, now, "expired before it was made")
            return _offer(_row(connection, tracking_id))


def rank(status: str) -> int:
    """Return the rank of a status, where an unknown status means that the offer exists."""
    return RANK.get(status, RANK["created"])


def _row(connection: sqlite3.Connection, tracking_id: str) -> Any:
    return connection.execute(SELECT_OFFER, [tracking_id]).fetchone()


def _set(connection: sqlite3.Connection, tracking_id: str, changes: str, *values: object) -> None:
    connection.execute(f"UPDATE offers SET {changes} WHERE tracking_id = ?", [*values, tracking_id])  # noqa: S608


def _add_change(connection: sqlite3.Connection, tracking_id: str, now: datetime, description: str) -> None:
    connection.execute(
        "INSERT INTO changes (tracking_id, at, status, description) "
        "SELECT tracking_id, ?, status, ? FROM offers WHERE tracking_id = ?",
        [microseconds(now), description, tracking_id],
    )


def _offer(row: Any) -> TransferOffer:
    values = {name: row[name] for name in TransferOffer.__dataclass_fields__}
    values["amount"] = Decimal(row["amount"])
    values["expires_in"] = None if row["expires_in"] is None else row["expires_in"] * MICROSECOND
    for name in ("expires_at", "recorded_at", "first_sent_at", "last_checked_at"):
        values[name] = None if row[name] is None else from_microseconds(row[name])
    return TransferOffer(**values)
