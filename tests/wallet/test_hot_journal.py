"""A process that is killed in the middle of a write leaves a hot rollback journal, from which the next use recovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledgerframes.errors import StoreError
from ledgerframes.wallet import Journal
from ledgerframes.wallet.terms import OfferTerms

NOW = datetime(2026, 11, 9, tzinfo=UTC)

# A small cache spills changed pages into the file before the commit, which the rollback journal then has to undo.
CHILD = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE offers SET status = 'created', amount = '999'")
for number in range(2000):
    connection.execute("INSERT INTO changes (tracking_id, at, status, description) VALUES ('t-1', 0, 'created', ?)", ["x" * 500])
os.kill(os.getpid(), signal.SIGKILL)
"""


def terms() -> OfferTerms:
    return OfferTerms("bob::1220", "1.5000000000", "rent", 1_800_000_000_000_000, None)


@pytest.fixture
def killed(tmp_path: Path) -> Journal:
    """A journal of one offer, next to which a killed writer has left its rollback journal."""
    journal = Journal(tmp_path / "net")
    journal.add("t-1", terms(), "http://wallet", None, NOW)
    process = subprocess.run([sys.executable, "-c", CHILD, str(journal.path)], check=False)
    assert process.returncode == -signal.SIGKILL
    hot = journal.path.with_name(f"{journal.path.name}-journal")
    assert hot.stat().st_size > 0, "the kill must leave a hot journal"
    assert b"999" in journal.path.read_bytes(), "the kill must leave changed pages"
    return journal


def test_every_read_recovers(killed: Journal) -> None:
    (offer,) = killed.offers()
    assert (offer.status, str(offer.amount)) == ("pending", "1.5000000000")
    assert killed.get("t-1").terms == terms()
    assert [change.description for change in killed.history("t-1")] == ["recorded"]
    assert not killed.path.with_name(f"{killed.path.name}-journal").exists()
    assert killed.problems() == []


def test_the_first_write_recovers(killed: Journal) -> None:
    killed.record_attempt("t-1", NOW)
    assert [change.description for change in killed.history("t-1")] == ["recorded", "attempt started"]
    assert killed.get("t-1").status == "pending"


def test_an_integrity_check_recovers_and_names_damage(killed: Journal) -> None:
    assert killed.problems() == []
    for number in range(200):
        killed.record_refusal("t-1", f"failure {number}", NOW, is_final=False)
    content = bytearray(killed.path.read_bytes())
    assert len(content) > 3 * 4096
    content[3 * 4096 : 3 * 4096 + 64] = os.urandom(64)
    killed.path.write_bytes(content)
    try:
        problems = killed.problems()
    except StoreError as error:
        problems = [str(error)]
    assert problems
