"""The journal of offers made here: one SQLite file, on the disk before the first request goes out.

One row per tracking id, and every change of it. It never holds a token, and nothing that a service said in words.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from ledgerframes.datasets.offers.wire import OfferStatus
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.extents import from_microseconds, microseconds
from ledgerframes.store.location import not_writable_error
from ledgerframes.wallet.contents import Contents

__all__ = ["JOURNAL", "Change", "Journal", "TransferOffer"]

JOURNAL = "offers.sqlite"
SCHEMA_VERSION = 1
BUSY_SECONDS = 120.0

SCHEMA = """
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
    what TEXT NOT NULL
);
CREATE INDEX changes_by_offer ON changes (tracking_id);
"""

# What is known never goes back: an answer that lags behind, or another process, cannot undo it.
RANK = {"pending": 0, "refused": 0, "lapsed": 0, "created": 1, "accepted": 2, "completed": 3, "failed": 3}
FINISHED = 3
CONTENTS = ("receiver_party_id", "amount", "description", "expires_at", "expires_in")


@dataclass(frozen=True)
class TransferOffer:
    """One offer made here, as far as it is known.

    Attributes
    ----------
    tracking_id : str
    status : str
        ``pending``: not known to exist. ``created``, ``accepted``, ``completed``, ``failed``: what the wallet says.
        ``refused``: the wallet refused it, none exists. ``lapsed``: it expired before it was made.
    contract_id : str or None
        Contract of the offer, later of the accepted offer, then of what the transfer made (docs/facts.md#wallet-api).
    transaction_id : str or None
    failure_kind : str or None
        ``expired``, ``rejected`` or ``withdrawn``.
    withdrawn_reason : str or None
    receiver_party_id : str
    amount : Decimal
        In coin.
    description : str
    expires_at : datetime
    recorded_at : datetime
        When it was written down, before the first request.
    first_sent_at, last_checked_at : datetime or None
    attempt_count : int
        Requests that were about to be sent, answered or not.
    open_attempts : int
        Those of them that may have made the offer without our knowing.
    last_failure : str or None
        Class and status of the last failure.
    wallet, wallet_user : str, str or None
        The wallet it was sent to, and its user if the token names one.
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
    recorded_at: datetime
    first_sent_at: datetime | None
    last_checked_at: datetime | None
    attempt_count: int
    open_attempts: int
    last_failure: str | None
    wallet: str
    wallet_user: str | None

    @property
    def exists(self) -> bool:
        """Whether the wallet has said that the offer was made."""
        return rank(self.status) > 0

    @property
    def finished(self) -> bool:
        """Whether nothing more can happen to it."""
        return rank(self.status) >= FINISHED or self.status in ("refused", "lapsed")


@dataclass(frozen=True)
class Change:
    """One line of an offer's history: when, the status after it, and what happened."""

    at: datetime
    status: str
    what: str


class Journal:
    """The journal of one network; a connection is opened for each use, so that threads and processes can share it.

    Parameters
    ----------
    folder : Path
        The network's folder in the store; made at the first write.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / JOURNAL

    # -- reading ----------------------------------------------------------------------------------------------------

    def offers(self) -> list[TransferOffer]:
        """Every offer, the oldest first."""
        with self._reading() as connection:
            rows = [] if connection is None else connection.execute("SELECT * FROM offers ORDER BY rowid").fetchall()
        return [_offer(row) for row in rows]

    def get(self, tracking_id: str) -> TransferOffer:
        """One offer.

        Raises
        ------
        UsageError
            If the journal does not have it.
        """
        with self._reading() as connection:
            row = _row(connection, tracking_id)
        if row is None:
            raise UsageError(f"No offer {tracking_id!r} was made here. The journal is {self.path}.")
        return _offer(row)

    def contents(self, tracking_id: str) -> Contents | None:
        """What an offer says, or None if the journal does not have it."""
        with self._reading() as connection:
            row = _row(connection, tracking_id)
        return None if row is None else Contents(*(row[name] for name in CONTENTS))

    def history(self, tracking_id: str) -> list[Change]:
        """Everything that happened to one offer, in order."""
        with self._reading() as connection:
            query = "SELECT at, status, what FROM changes WHERE tracking_id = ? ORDER BY number"
            rows = [] if connection is None else connection.execute(query, [tracking_id]).fetchall()
        return [Change(from_microseconds(row["at"]), row["status"], row["what"]) for row in rows]

    # -- writing: each on the disk when it returns ------------------------------------------------------------------

    def begin(self, tracking_id: str, contents: Contents, wallet: str, wallet_user: str | None, now: datetime) -> Contents:
        """Write an offer down; the contents that stand in the journal afterwards, which another process may have written."""
        with self._writing() as connection:
            if _row(connection, tracking_id) is None:
                values = [tracking_id, wallet, wallet_user, *(getattr(contents, name) for name in CONTENTS), microseconds(now)]
                connection.execute(
                    "INSERT INTO offers (tracking_id, wallet, wallet_user, receiver_party_id, amount, description, expires_at, "
                    "expires_in, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    values,
                )
                _note(connection, tracking_id, now, "journalled")
            row = _row(connection, tracking_id)
            assert row is not None
        return Contents(*(row[name] for name in CONTENTS))

    def sending(self, tracking_id: str, now: datetime) -> None:
        """Write down that a request is about to go out: from here on the offer may exist."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE offers SET attempt_count = attempt_count + 1, open_attempts = open_attempts + 1, "
                "first_sent_at = coalesce(first_sent_at, ?1), status = CASE WHEN status IN ('refused', 'lapsed') "
                "THEN 'pending' ELSE status END WHERE tracking_id = ?2",
                [microseconds(now), tracking_id],
            )
            _note(connection, tracking_id, now, "sending")

    def answered(self, tracking_id: str, failure: str, now: datetime, *, refused: bool) -> TransferOffer:
        """Write down an answer after which this request surely had no effect.

        With ``refused``, the offer counts as refused unless another request may have made it.
        """
        with self._writing() as connection:
            connection.execute(
                "UPDATE offers SET open_attempts = max(open_attempts - 1, 0), last_failure = ? WHERE tracking_id = ?",
                [failure, tracking_id],
            )
            if refused:
                connection.execute(
                    "UPDATE offers SET status = 'refused' WHERE tracking_id = ? AND status = 'pending' AND open_attempts = 0",
                    [tracking_id],
                )
            _note(connection, tracking_id, now, f"answered without effect: {failure}")
            return _offer(_row(connection, tracking_id))

    def unknown(self, tracking_id: str, failure: str, now: datetime) -> None:
        """Write down a failure that leaves open whether the offer was made."""
        with self._writing() as connection:
            connection.execute("UPDATE offers SET last_failure = ? WHERE tracking_id = ?", [failure, tracking_id])
            _note(connection, tracking_id, now, f"outcome unknown: {failure}")

    def found(self, tracking_id: str, found: OfferStatus, now: datetime) -> TransferOffer:
        """Write down what the wallet says of an offer; older news than what is known changes nothing."""
        with self._writing() as connection:
            row = _row(connection, tracking_id)
            assert row is not None
            if rank(found.status) > rank(row["status"]):
                connection.execute(
                    "UPDATE offers SET status = ?, contract_id = coalesce(?, contract_id), "
                    "transaction_id = coalesce(?, transaction_id), failure_kind = ?, withdrawn_reason = ? WHERE tracking_id = ?",
                    [
                        found.status,
                        found.contract_id,
                        found.transaction_id,
                        found.failure_kind,
                        found.withdrawn_reason,
                        tracking_id,
                    ],
                )
                _note(connection, tracking_id, now, "the wallet has it")
            connection.execute("UPDATE offers SET last_checked_at = ? WHERE tracking_id = ?", [microseconds(now), tracking_id])
            return _offer(_row(connection, tracking_id))

    def not_found(self, tracking_id: str, now: datetime, *, lapsed: bool = False) -> TransferOffer:
        """Write down that the wallet does not know an offer; with ``lapsed``, that it will not be made any more."""
        with self._writing() as connection:
            connection.execute("UPDATE offers SET last_checked_at = ? WHERE tracking_id = ?", [microseconds(now), tracking_id])
            if lapsed:
                connection.execute(
                    "UPDATE offers SET status = 'lapsed' WHERE tracking_id = ? AND status IN ('pending', 'refused')",
                    [tracking_id],
                )
                _note(connection, tracking_id, now, "expired before it was made")
            return _offer(_row(connection, tracking_id))

    # -- connections ------------------------------------------------------------------------------------------------

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        if not self.path.exists():
            yield None
            return
        with self._store_errors(), closing(self._connect("ro")) as connection:
            yield connection if self._checked_version(connection) else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside one write transaction: on the disk at the end, rolled back on an error."""
        with self._store_errors():
            _durable_folder(self.path.parent)
            with closing(self._connect("rwc")) as connection:
                connection.execute("BEGIN IMMEDIATE")
                if not self._checked_version(connection):
                    for statement in SCHEMA.split(";"):
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                yield connection
                connection.execute("COMMIT")

    def _connect(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        connection.row_factory = sqlite3.Row
        # EXTRA also syncs the folder after each commit: a power cut cannot bring an older journal back.
        connection.execute("PRAGMA synchronous = EXTRA")
        return connection

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise not_writable_error(self.path.parent, error) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self.path} is not a journal of offers ({error}). Restore it from a backup: it says which offers were sent.",
                path=str(self.path),
            ) from error

    def _checked_version(self, connection: sqlite3.Connection) -> bool:
        """Whether the journal has its tables yet; a newer one is an error."""
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has schema {found}, newer than this version's {SCHEMA_VERSION}. Upgrade ledgerframes.",
                path=str(self.path),
            )
        return bool(found)


def rank(status: str) -> int:
    """How far an offer has come; a status that this version does not know means at least that it exists."""
    return RANK.get(status, RANK["created"])


def _row(connection: sqlite3.Connection | None, tracking_id: str) -> Any:
    if connection is None:
        return None
    return connection.execute("SELECT * FROM offers WHERE tracking_id = ?", [tracking_id]).fetchone()


def _note(connection: sqlite3.Connection, tracking_id: str, now: datetime, what: str) -> None:
    connection.execute(
        "INSERT INTO changes (tracking_id, at, status, what) SELECT tracking_id, ?, status, ? FROM offers WHERE tracking_id = ?",
        [microseconds(now), what, tracking_id],
    )


def _offer(row: Any) -> TransferOffer:
    values = {name: row[name] for name in TransferOffer.__dataclass_fields__}
    values["amount"] = Decimal(row["amount"])
    for name in ("expires_at", "recorded_at", "first_sent_at", "last_checked_at"):
        values[name] = None if row[name] is None else from_microseconds(row[name])
    return TransferOffer(**values)


def _durable_folder(folder: Path) -> None:
    """Make the folder, and have its name on the disk before anything in it counts."""
    if folder.is_dir():
        return
    _durable_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    if os.name == "posix":
        descriptor = os.open(folder.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
