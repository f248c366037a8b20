"""The catalog is read once for each change of its file, and no change is missed."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from handmade import put

from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import StoreError
from ledgerframes.store import Store, catalog
from ledgerframes.values.extents import Migration, MigrationWindow

TICK = 0.05  # seconds: more than the resolution of times of files


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, "net", {EVENTS.name: EVENTS})
    put(store, EVENTS, MigrationWindow(4, 0, 40), list(range(40)))
    return store


@pytest.fixture
def old_store(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store that was written long ago, as far as it can tell."""
    monkeypatch.setattr(catalog, "MIN_AGE", 0.0)
    time.sleep(TICK)
    return store


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modes in which the catalog is opened from now on."""
    modes: list[str] = []
    connect = sqlite3.connect

    def record(database: str, **options: Any) -> sqlite3.Connection:
        modes.append(database.rpartition("?mode=")[2])
        return connect(database, **options)

    monkeypatch.setattr(sqlite3, "connect", record)
    return modes


def test_a_catalog_without_a_change_is_not_opened_again(old_store: Store, opened: list[str]) -> None:
    before = old_store.segments(EVENTS)
    assert opened == ["rw"]
    assert old_store.segments(EVENTS) == before
    assert opened == ["rw"]


def test_a_catalog_that_has_just_changed_is_opened_each_time(store: Store, opened: list[str]) -> None:
    """Another change in the same tick of the clock would not show."""
    assert store.segments(EVENTS) == store.segments(EVENTS)
    assert opened == ["rw", "rw"]


def test_a_caller_that_changes_its_list_changes_no_other(old_store: Store) -> None:
    before = old_store.segments(EVENTS)
    old_store.segments(EVENTS).clear()
    old_store.migrations().append(Migration(9, 9))
    assert old_store.segments(EVENTS) == before
    assert old_store.migrations() == []


def test_a_commit_through_another_store_is_seen(old_store: Store) -> None:
    old_store.segments(EVENTS)
    put(Store(old_store.root.root, "net", old_store.datasets), EVENTS, MigrationWindow(4, 40, 80), list(range(40, 80)))
    assert [segment.extent for segment in old_store.segments(EVENTS)] == [MigrationWindow(4, 0, 40), MigrationWindow(4, 40, 80)]


@pytest.mark.parametrize(
    "statement", ["UPDATE segments SET stop = stop + 1", "DELETE FROM segments", "UPDATE seal SET digest = ''"]
)
def test_damage_between_two_reads_is_noticed(old_store: Store, statement: str) -> None:
    old_store.segments(EVENTS)
    with closing(sqlite3.connect(old_store.catalog.path)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(StoreError, match=r"catalog"):
        old_store.segments(EVENTS)


def test_a_catalog_that_is_lost_between_two_reads_is_noticed(old_store: Store) -> None:
    old_store.segments(EVENTS)
    old_store.catalog.path.unlink()
    with pytest.raises(StoreError, match="is lost"):
        old_store.segments(EVENTS)
