"""A journal of version 0.1 stays valid, because without its journal an offer could be made twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from wallet_service import EXPIRY, OFFER, URL, Connect, WalletService

import ledgerframes as lf
from ledgerframes.errors import OfferUnresolvedError, StoreError
from ledgerframes.values.extents import microseconds
from ledgerframes.wallet import JOURNAL, Journal

VERSION_1 = """
CREATE TABLE offers (
    tracking_id TEXT PRIMARY KEY,
    wallet TEXT NOT NULL,
    wallet_user TEXT,
    receiver_party_id TEXT NOT NULL,
    amount TEXT NOT NULL,
    description TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    expires_in INTEGER,
    journalled_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending',
    contract_id TEXT,
    transaction_id TEXT,
    failure_kind TEXT,
    withdrawn_reason TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
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
PRAGMA user_version = 1;
"""
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def write_version_1(directory: Path, last_failure: str = "HostUnreachable") -> Path:
    """Write a journal as 0.1 did, with one offer whose outcome is unknown."""
    directory.mkdir(parents=True)
    with closing(sqlite3.connect(directory / JOURNAL)) as connection:
        connection.executescript(VERSION_1)
        connection.execute(
            "INSERT INTO offers (tracking_id, wallet, wallet_user, receiver_party_id, amount, description, expires_at, "
            "journalled_at, attempts, open_attempts, first_sent_at, last_failure) "
            "VALUES ('t-1', ?, 'alice', 'bob::1220bb', '5.0', 'lunch', ?, ?, 2, 1, ?, ?)",
            [URL, microseconds(EXPIRY), microseconds(NOW), microseconds(NOW), last_failure],
        )
        connection.execute("INSERT INTO changes (tracking_id, at, status, what) VALUES ('t-1', ?, 'pending', 'sending')", [0])
        connection.commit()
    return directory


def schema(directory: Path) -> tuple[int, set[str]]:
    with closing(sqlite3.connect(directory / JOURNAL)) as connection:
        columns = {row[1] for table in ("offers", "changes") for row in connection.execute(f"PRAGMA table_info({table})")}
        return connection.execute("PRAGMA user_version").fetchone()[0], columns


def test_a_journal_of_version_1_is_migrated_in_place(tmp_path: Path) -> None:
    journal = Journal(write_version_1(tmp_path / "net"))
    (offer,) = journal.offers()
    assert (offer.tracking_id, offer.recorded_at, offer.attempt_count, offer.open_attempts) == ("t-1", NOW, 2, 1)
    assert (offer.amount, offer.expires_at) == (Decimal("5.0"), EXPIRY)
    assert [(change.status, change.description) for change in journal.history("t-1")] == [("pending", "sending")]
    version, columns = schema(tmp_path / "net")
    assert version == 4
    assert {"recorded_at", "attempt_count"} <= columns
    assert not {"journalled_at", "attempts", "what"} & columns


def test_the_schema_is_the_same_as_that_of_a_new_journal(net: lf.Network, tmp_path: Path) -> None:
    net.wallet.offer_transfer(**OFFER)
    Journal(write_version_1(tmp_path / "old")).offers()
    assert schema(tmp_path / "old") == schema(net.local_dir)


def test_an_offer_of_version_1_is_resumed_and_not_made_twice(net: lf.Network, connect: Connect, service: WalletService) -> None:
    service.post_plan = ["drop after"]
    service.status_plan = ["404"] * 99
    with pytest.raises(OfferUnresolvedError):  # made by another store, as 0.1 did before it was killed
        connect(network="elsewhere", retries=0).wallet.offer_transfer(**OFFER, tracking_id="t-1")
    service.status_plan.clear()
    write_version_1(net.local_dir)
    assert net.wallet.offer_transfer(**OFFER, tracking_id="t-1").exists
    assert service.count("t-1") == 1
    assert len(service.posts) == 1


def test_a_conflict_recorded_by_version_1_is_recognized(net: lf.Network, connect: Connect, service: WalletService) -> None:
    connect(network="elsewhere").wallet.offer_transfer(**{**OFFER, "amount": 6}, tracking_id="t-1")
    write_version_1(net.local_dir, last_failure="Conflict 409")
    with pytest.raises(OfferUnresolvedError, match="used elsewhere"):
        net.wallet.resume("t-1")
    assert len(service.made) == 1


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    directory = write_version_1(tmp_path / "net")
    with closing(sqlite3.connect(directory / JOURNAL)) as connection:
        connection.execute("ALTER TABLE changes RENAME COLUMN what TO something_else")
    before = schema(directory)
    with pytest.raises(StoreError):
        Journal(directory).offers()
    assert schema(directory) == before
