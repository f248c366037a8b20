"""Second verdicts, found when segments are committed and kept in the catalog."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from ledgerframes import testing
from ledgerframes.datasets.bookkeeping import EVENT_POSITIONS
from ledgerframes.datasets.events.schema import UPDATES, VERDICTS
from ledgerframes.datasets.registry import BULK, DATASETS, EVENTS, EVENTS_BY_ID, Dataset
from ledgerframes.frames import Frames
from ledgerframes.store import Store, positions, second_verdicts
from ledgerframes.store.compact import compact
from ledgerframes.store.prune import prune
from ledgerframes.store.rebuild import rebuild
from ledgerframes.store.verify import verify
from ledgerframes.values.extents import Extent, IdSet, Migration, MigrationWindow, from_microseconds
from ledgerframes.values.windows import Window

Event = tuple[str, int]  # update id and record time


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, "net", DATASETS)


def rows(events: list[Event], table: str = "verdicts") -> pa.Table:
    """A row for each event, in the order of their times."""
    values = [
        {"update_id": update_id, "migration_id": 4, "record_time": from_microseconds(time)}
        for update_id, time in sorted(events, key=lambda event: event[1])
    ]
    return testing.table(table).fill(values)


def put(
    store: Store, start: int, stop: int, *events: Event, final: bool = True, dataset: Dataset = EVENTS, table: str = "verdicts"
) -> None:
    extent: Extent = MigrationWindow(4, start, stop)
    if dataset is EVENTS_BY_ID:
        extent = IdSet(frozenset(update_id for update_id, _ in events))
    store.commit(dataset, extent, {table: rows([*events], table)} if events else {}, final=final, source="a")


def window(start: int, stop: int) -> Window:
    return Window(from_microseconds(start), from_microseconds(stop))


def read(store: Store, start: int = 0, stop: int = 1000, dataset: Dataset = EVENTS, table: str = "verdicts") -> list[Event]:
    found = Frames(store.snapshot(dataset, window(start, stop)), [table], window=window(start, stop)).read(table)
    times = (found["record_time"] - found["record_time"].dt.normalize()).dt.microseconds
    return list(zip(found["update_id"], times, strict=True))


def saved(store: Store) -> list[Event]:
    with store.catalog.read_transaction() as connection:
        query = "SELECT update_id, record_time FROM second_verdicts ORDER BY record_time"
        return [tuple(row) for row in connection.execute(query)]


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_the_first_counts_in_any_order_of_commits(store: Store, order: list[int], final: bool) -> None:
    parts = [(0, 10, ("a", 5), ("b", 6)), (10, 20, ("a", 15)), (20, 30, ("a", 25), ("c", 26))]
    for number in order:
        start, stop, *events = parts[number]
        put(store, start, stop, *events, final=final)
    assert read(store) == [("a", 5), ("b", 6), ("c", 26)]
    assert (read(store, 10, 20), read(store, 12, 26), read(store, 25, 30)) == ([], [], [("c", 26)])
    assert saved(store) == [("a", 15), ("a", 25)]


def test_two_verdicts_in_one_segment_are_found(store: Store) -> None:
    put(store, 0, 30, ("a", 5), ("a", 25), ("b", 26))
    assert (read(store), read(store, 10, 30)) == ([("a", 5), ("b", 26)], [("b", 26)])


def test_an_update_without_a_verdict_is_an_event(store: Store) -> None:
    put(store, 0, 10, ("a", 5), table="updates")
    put(store, 10, 20, ("a", 15), ("b", 16))
    assert read(store) == [("b", 16)]


def test_final_rows_that_replace_provisional_ones_decide(store: Store) -> None:
    put(store, 0, 30, ("a", 5), ("a", 25), final=False)
    put(store, 0, 20, ("b", 6))  # the first verdict was none
    assert (read(store), saved(store)) == ([("b", 6), ("a", 25)], [])
    put(store, 20, 30, ("b", 26))
    assert (read(store), saved(store)) == ([("b", 6)], [("b", 26)])


def test_a_segment_that_is_fetched_again_without_the_first_verdict_decides(store: Store) -> None:
    put(store, 0, 10, ("a", 5))
    put(store, 10, 20, ("a", 15))
    [first] = store.segments(EVENTS, MigrationWindow(4, 0, 10))
    with store.catalog.write_transaction() as connection:
        connection.execute("DELETE FROM segments WHERE segment_id = ?", [first.segment_id])
    assert read(store, 10, 20) == [], "what was dropped may have been right"
    put(store, 0, 10, ("b", 5))
    assert read(store, 10, 20) == [("a", 15)]


def test_pruned_history_still_counts(store: Store) -> None:
    put(store, 0, 10, ("a", 5))
    put(store, 10, 20, ("a", 15), ("b", 16))
    prune(store, before=from_microseconds(10), min_age=timedelta(0))
    assert read(store) == [("b", 16)]
    compact(store)
    put(store, 20, 30, ("a", 25), ("c", 26))
    assert read(store) == [("b", 16), ("c", 26)]
    put(store, 0, 10, ("a", 5))
    assert (read(store), saved(store)) == ([("a", 5), ("b", 16), ("c", 26)], [("a", 15), ("a", 25)])


def test_compaction_changes_nothing(store: Store) -> None:
    put(store, 0, 10, ("a", 5))
    put(store, 10, 20, ("a", 15))
    put(store, 20, 30, ("b", 25))
    compact(store)
    assert len(store.segments(EVENTS)) == 1
    assert (read(store), read(store, 10, 30), saved(store)) == ([("a", 5), ("b", 25)], [("b", 25)], [("a", 15)])
    put(store, 30, 40, ("b", 35))
    assert read(store, 30, 40) == []


def test_a_rebuilt_catalog_has_the_same(store: Store) -> None:
    put(store, 10, 20, ("a", 15))
    put(store, 0, 10, ("a", 5), ("b", 6))
    put(store, 20, 30, ("b", 25), final=False)
    before = saved(store)
    store.catalog.path.unlink()
    rebuild(store)
    assert saved(store) == before == [("a", 15), ("b", 25)]


def test_damage_of_the_saved_ones_is_noticed(store: Store) -> None:
    put(store, 0, 30, ("a", 5), ("a", 25))
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.execute("DELETE FROM second_verdicts")
    assert store.catalog.database.problems() == ["its rows differ from those that were written"]


def test_a_lookup_by_id_shows_the_first_verdict_of_a_window(store: Store) -> None:
    put(store, 0, 0, ("a", 5), dataset=EVENTS_BY_ID)
    put(store, 10, 20, ("a", 15), ("b", 16))
    assert read(store) == [("b", 16)]
    put(store, 0, 0, ("b", 16), dataset=EVENTS_BY_ID)
    assert read(store) == [("b", 16)], "the same event"


def test_an_id_that_is_looked_up_has_an_answer(store: Store) -> None:
    put(store, 0, 10, ("a", 5))
    put(store, 0, 0, ("a", 15), dataset=EVENTS_BY_ID)
    frames = Frames(store.snapshot(EVENTS_BY_ID, IdSet(frozenset(["a"]))), ["verdicts"], update_ids=["a"])
    assert len(frames.verdicts) == 1


def test_bulk_objects_and_history_are_two_readings(store: Store) -> None:
    """Their comparison shows what differs, so that neither hides rows of the other."""
    assert BULK.family != EVENTS.family
    assert BULK.event_tables == (UPDATES,)
    assert EVENTS.event_tables == (VERDICTS, UPDATES)


def test_another_id_with_the_same_hash_counts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions, "FACTORS", positions.FACTORS * 0)
    put(store, 0, 10, ("a", 5), ("b", 6))
    put(store, 10, 20, ("c", 15), ("a", 16))
    assert read(store) == [("a", 5), ("b", 6), ("c", 15)]


# -- stores of earlier versions, and damage -------------------------------------------------------------------------

V4 = """
DROP TABLE second_verdicts;
ALTER TABLE segments DROP COLUMN compared;
DELETE FROM files WHERE table_name = 'event_positions';
UPDATE segments SET checksum = NULL;
DELETE FROM seal;
INSERT INTO seal VALUES ('unsealed');
PRAGMA user_version = 4
"""


@pytest.fixture
def older(store: Store) -> Store:
    """A store of an earlier version, whose segments have no positions."""
    put(store, 0, 10, ("a", 5), ("b", 6))
    put(store, 10, 20, ("a", 15))
    put(store, 20, 30, ("b", 25), ("c", 26))
    for path in (store.location.local_path / EVENT_POSITIONS.name).iterdir():  # type: ignore[operator]
        path.unlink()
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.executescript(V4)
    second_verdicts._CACHE.clear()
    return Store(store.root.uri, "net", DATASETS)


def test_a_store_of_an_earlier_version_is_compared_once(older: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (read(older), read(older, 12, 30)) == ([("a", 5), ("b", 6), ("c", 26)], [("c", 26)])
    monkeypatch.setattr(older.catalog, "write_transaction", None)
    assert read(older, 10, 20) == []


def test_segments_are_compared_in_batches(older: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_verdicts, "BATCH_ROWS", 1)
    assert read(older) == [("a", 5), ("b", 6), ("c", 26)]


def test_a_commit_to_a_store_of_an_earlier_version_is_compared_with_it(older: Store) -> None:
    put(older, 30, 40, ("c", 35), ("d", 36))
    assert read(older, 30, 40) == [("d", 36)]
    assert read(older) == [("a", 5), ("b", 6), ("c", 26), ("d", 36)]


def test_a_frozen_copy_is_compared_too(older: Store, tmp_path: Path) -> None:
    frozen = older.freeze(tmp_path / "frozen.sqlite")
    assert read(frozen, 10, 30) == [("c", 26)]


def test_a_damaged_neighbour_stops_no_commit(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    put(store, 0, 10, ("a", 5))
    [first] = store.segments(EVENTS)
    for file in first.files.values():
        (store.location.local_path / file.path).write_bytes(b"damaged")  # type: ignore[operator]
    second_verdicts._CACHE.clear()
    put(store, 10, 20, ("a", 15))
    assert "segment_not_compared" in caplog.text
    second_verdicts.UNREADABLE.clear()
    with store.catalog.read_transaction() as connection:
        assert list(second_verdicts.uncompared_segments(connection, ["events"])) == [first.segment_id]


def test_a_segment_without_events_is_compared_with_nothing(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    put(store, 0, 10, ("a", 5))
    [first] = store.segments(EVENTS)
    for file in first.files.values():
        (store.location.local_path / file.path).unlink()  # type: ignore[operator]
    second_verdicts._CACHE.clear()
    put(store, 10, 20)
    assert "segment_not_compared" not in caplog.text and "positions_read_from_rows" not in caplog.text
    assert store.segments(EVENTS, MigrationWindow(4, 10, 20))


def test_damaged_positions_are_read_from_the_rows(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    put(store, 0, 10, ("a", 5))
    [first] = store.segments(EVENTS)
    (store.location.local_path / first.files[EVENT_POSITIONS.name].path).write_bytes(b"damaged")  # type: ignore[operator]
    second_verdicts._CACHE.clear()
    put(store, 10, 20, ("a", 15), ("b", 16))
    assert (read(store), read(store, 10, 20)) == ([("a", 5), ("b", 16)], [("b", 16)])
    assert "positions_read_from_rows" in caplog.text
    assert [(each.table, each.problem) for each in verify(store)] == [(EVENT_POSITIONS.name, "size differs")]


def test_what_is_not_in_the_store_before_a_window_is_named(store: Store) -> None:
    store.save_migrations([Migration(4, 3)])
    put(store, 10, 20, ("a", 15))
    put(store, 20, 30, ("b", 25), final=False)
    snapshot = store.snapshot(EVENTS, window(25, 30))
    assert snapshot.missing_before == (MigrationWindow(4, 3, 10),)
    put(store, 0, 10)
    assert store.snapshot(EVENTS, window(25, 30)).missing_before == ()
    assert store.snapshot(EVENTS, window(0, 30)).missing_before == ()
