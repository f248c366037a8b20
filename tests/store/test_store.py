from __future__ import annotations

import errno
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes import testing
from ledgerframes.datasets.registry import DATASETS, EVENTS, EVENTS_BY_ID
from ledgerframes.errors import StoreError
from ledgerframes.frames import Frames
from ledgerframes.long_waits import shown_by
from ledgerframes.store import Segment, Store, sqlite
from ledgerframes.store.catalog_schema import SCHEMA
from ledgerframes.store.location import not_writable_error
from ledgerframes.values.extents import IdSet, Migration, MigrationWindow, from_microseconds
from ledgerframes.values.windows import Window

ALWAYS = Window(from_microseconds(0), from_microseconds(1000))


def traffic(rows: list[tuple[int, int]], migration_id: int = 4) -> dict[str, pa.Table]:
    """A traffic table with one row per (record time, cost)."""
    times, costs = [time for time, _ in rows], [cost for _, cost in rows]
    columns = {"record_time": from_microseconds, "update_id": lambda time: f"id{time}", "total_traffic_cost": costs}
    return {"traffic": testing.table("traffic").sample_arrow(times, **columns, migration_id=migration_id)}


def every_row(store: Store) -> dict[int, int]:
    """Record time → cost of all that a reader sees."""
    frame = Frames(store.snapshot(EVENTS, ALWAYS), ["traffic"]).traffic
    assert not frame.duplicated("record_time").any()
    assert frame["record_time"].is_monotonic_increasing
    return dict(zip(frame["record_time"].astype("int64"), frame["total_traffic_cost"], strict=True))


def commit(store: Store, start: int, stop: int, cost: int, *, final: bool = True) -> None:
    store.commit(
        EVENTS,
        MigrationWindow(4, start, stop),
        traffic([(time, cost) for time in range(start, stop)]),
        final=final,
        source="test",
    )


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8), st.booleans()), max_size=6))
def test_any_order_of_commits_gives_what_a_dictionary_would(commits: list[tuple[int, int, bool]]) -> None:
    """Final rows are never changed; provisional ones give way to whatever comes later; nothing else is lost or doubled."""
    import tempfile

    final: dict[int, int] = {}
    provisional: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), "net", DATASETS)
        for cost, (start, length, is_final) in enumerate(commits):
            commit(store, start, start + length, cost, final=is_final)
            for time in range(start, start + length):
                if time not in final:
                    (final if is_final else provisional)[time] = cost
                    if is_final:
                        provisional.pop(time, None)
        assert every_row(store) == {**provisional, **final}
        store.save_migrations([Migration(4, 0)])
        missing = {
            time
            for span in store.missing(EVENTS, Window(from_microseconds(0), from_microseconds(25)))
            for time in range(span.start, span.stop)
        }
        assert missing == set(range(25)) - set(final)


def test_all_tables_of_a_commit_appear_at_once_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ledgerframes.store.catalog.add_segment", fail)
    with pytest.raises(KeyboardInterrupt):
        commit(store, 5, 9, 2)
    assert every_row(store) == dict.fromkeys(range(5), 1)


def test_a_snapshot_does_not_change_when_the_store_does(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1, final=False)
    before = store.snapshot(EVENTS, ALWAYS)
    commit(store, 0, 5, 2)
    assert Frames(before, ["traffic"]).traffic["total_traffic_cost"].tolist() == [1] * 5
    assert before.digest != store.snapshot(EVENTS, ALWAYS).digest


def test_a_frozen_catalog_reads_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1, final=False)
    store.freeze(tmp_path / "frozen.sqlite")
    commit(store, 0, 9, 2)
    assert every_row(Store(tmp_path, "net", DATASETS, tmp_path / "frozen.sqlite")) == dict.fromkeys(range(5), 1)


@pytest.mark.parametrize(("target", "number"), [("/dev/full", errno.ENOSPC), ("/dev/null/frozen.sqlite", errno.EACCES)])
def test_a_copy_that_cannot_be_written_is_no_fault_of_the_store(tmp_path: Path, target: str, number: int) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)
    with pytest.raises(OSError, match=target) as caught:
        store.freeze(Path(target))
    assert caught.value.errno == number


def test_a_full_disk_of_the_catalog_needs_space() -> None:
    with closing(sqlite3.connect("/dev/full")) as connection, pytest.raises(sqlite3.OperationalError, match="is full") as full:
        connection.execute("CREATE TABLE segments (id)")
    assert "(database or disk is full). Free space there, or set LEDGERFRAMES_STORE" in str(
        not_writable_error(Path("store"), full.value)
    )


def test_freezing_an_empty_store_gives_an_empty_snapshot(tmp_path: Path) -> None:
    Store(tmp_path, "net", DATASETS).freeze(tmp_path / "frozen.sqlite")
    assert every_row(Store(tmp_path, "net", DATASETS, tmp_path / "frozen.sqlite")) == {}


def test_many_threads_commit_the_same_ranges_without_doubling(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    threads = [threading.Thread(target=commit, args=(store, start, start + 6, 7)) for start in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert every_row(store) == dict.fromkeys(range(15), 7)


def test_provisional_ids_are_replaced_and_the_others_stay(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    store.commit(EVENTS_BY_ID, IdSet(frozenset({"id1", "id2"})), traffic([(1, 10), (2, 20)]), final=False, source="test")
    store.commit(EVENTS_BY_ID, IdSet(frozenset({"id2", "id3"})), traffic([(2, 21), (3, 30)]), final=True, source="test")
    asked = IdSet(frozenset({"id3", "id1", "id2", "id9"}))
    frame = Frames(store.snapshot(EVENTS_BY_ID, asked), ["traffic"], update_ids=sorted(asked.keys)).traffic
    assert frame["total_traffic_cost"].tolist() == [10, 21, 30]
    assert store.missing_parts(EVENTS_BY_ID, asked) == [IdSet(frozenset({"id1", "id9"}))]
    assert store.missing_parts(EVENTS_BY_ID, asked, accept_provisional=True) == [IdSet(frozenset({"id9"}))]


def test_a_provisional_window_is_missing_unless_it_is_accepted(tmp_path: Path) -> None:
    store, window = Store(tmp_path, "net", DATASETS), Window(from_microseconds(0), from_microseconds(9))
    store.save_migrations([Migration(4, 0)])
    store.commit(EVENTS, MigrationWindow(4, 0, 5), {}, final=True, source="test")
    store.commit(EVENTS, MigrationWindow(4, 5, 7), {}, final=False, source="test")
    assert store.missing(EVENTS, window) == [MigrationWindow(4, 5, 9)]
    assert store.missing(EVENTS, window, accept_provisional=True) == [MigrationWindow(4, 7, 9)]


def test_an_end_once_seen_is_not_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    store.save_migrations([Migration(3, 10, 50)])
    store.save_migrations([Migration(3, 5)])
    assert store.migrations() == [Migration(3, 5, 50)]


def test_nothing_stays_provisional_after_the_end_of_a_migration(tmp_path: Path) -> None:
    """The service stops for hours between two migrations, while loads go on and do not know yet that the first has ended."""
    store = Store(tmp_path, "net", DATASETS)
    store.save_migrations([Migration(4, 0)])
    commit(store, 0, 5, 1)
    commit(store, 5, 8, 2, final=False)
    for extent in (MigrationWindow(4, 8, 20), MigrationWindow(4, 30, 40)):
        store.commit(EVENTS, extent, {}, final=False, source="test")
    before = every_row(store)
    store.save_migrations([Migration(4, 0, 8), Migration(5, 50)])
    assert [(each.extent, each.status) for each in store.segments(EVENTS)] == [
        (MigrationWindow(4, 0, 5), "final"),
        (MigrationWindow(4, 5, 8), "provisional"),
    ]
    store.save_migrations([Migration(4, 0, 7)])
    assert every_row(store) == {time: cost for time, cost in before.items() if time < 7}
    assert store.missing(EVENTS, ALWAYS)[0] == MigrationWindow(4, 5, 7)


def test_files_of_another_shape_are_fetched_again(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    store.save_migrations([Migration(4, 0)])
    commit(store, 0, 5, 1)
    with closing(sqlite3.connect(tmp_path / "net" / "catalog.sqlite")) as connection, connection:
        connection.execute("UPDATE segments SET fingerprint = 'older'")
    assert every_row(store) == {}
    assert store.missing(EVENTS, Window(from_microseconds(0), from_microseconds(5))) == [MigrationWindow(4, 0, 5)]
    commit(store, 0, 5, 2)
    assert every_row(store) == dict.fromkeys(range(5), 2)


def test_a_newer_schema_is_refused_with_the_next_step(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)
    with closing(sqlite3.connect(tmp_path / "net" / "catalog.sqlite")) as connection, connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
    with pytest.raises(StoreError, match="Upgrade ledgerframes"):
        every_row(store)
    with pytest.raises(StoreError, match="Upgrade ledgerframes"):
        commit(store, 5, 6, 1)


V1 = """
DROP TABLE second_verdicts;
ALTER TABLE segments DROP COLUMN compared;
DROP TABLE seal;
ALTER TABLE segments DROP COLUMN checksum;
ALTER TABLE files DROP COLUMN footer;
DROP INDEX segments_by_position;
ALTER TABLE segments RENAME COLUMN dataset TO stream;
ALTER TABLE segments RENAME COLUMN partition TO lane;
ALTER TABLE segments RENAME COLUMN start TO low;
ALTER TABLE segments RENAME COLUMN stop TO high;
CREATE INDEX segments_by_place ON segments (stream, lane, low);
PRAGMA user_version = 1
"""


def schema(store: Store) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").fetchall()


def columns(store: Store) -> dict[str, set[tuple[object, ...]]]:
    """The columns of each table, whose order an upgrade changes."""
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: {row[1:] for row in connection.execute(f"PRAGMA table_info({name})")} for name in tables}


def without_footers(segments: list[Segment]) -> list[Segment]:
    """Segments as a catalog of an older schema has them."""
    old = [{name: file._replace(footer="") for name, file in segment.files.items()} for segment in segments]
    return [replace(segment, files=files) for segment, files in zip(segments, old, strict=True)]


@pytest.mark.parametrize("first_use", ["read", "write", "freeze"])
def test_a_catalog_of_the_first_schema_is_upgraded_where_it_is(tmp_path: Path, first_use: str) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)
    store.commit(EVENTS_BY_ID, IdSet(frozenset({"id7"})), traffic([(7, 3)]), final=True, source="test")
    store.save_migrations([Migration(4, 0)])
    store.bind_participant("PAR::one")
    segments, tables = without_footers(store.all_segments()), columns(store)
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.executescript(V1)
    (statement,) = [sql for _, name, sql in schema(store) if name == "segments"]
    assert all(column in statement for column in ("stream TEXT NOT NULL", "lane TEXT", "low INTEGER", "high INTEGER"))

    if first_use == "write":
        commit(store, 5, 6, 2)
    elif first_use == "freeze":
        store = store.freeze(tmp_path / "frozen.sqlite")
    assert [segment for segment in store.all_segments() if segment.extent != MigrationWindow(4, 5, 6)] == segments
    assert columns(store) == tables
    assert (store.migrations(), store.participant()) == ([Migration(4, 0)], "PAR::one")
    assert every_row(store) == dict.fromkeys(range(5), 1) | ({5: 2} if first_use == "write" else {})


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.executescript(V1)
        connection.execute("CREATE TABLE seal (other TEXT)")  # the third upgrade creates it, too
    old = schema(store)
    with pytest.raises(StoreError, match="already exists"):
        every_row(store)
    assert schema(store) == old
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.execute("DROP TABLE seal")
    assert every_row(store) == dict.fromkeys(range(5), 1)


def test_a_file_that_is_no_catalog_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "catalog.sqlite").write_bytes(b"something else" * 100)
    with pytest.raises(StoreError, match="Cannot read the catalog"):
        Store(tmp_path, "net", DATASETS).migrations()


def test_a_root_that_cannot_be_written_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="LEDGERFRAMES_STORE"):
        commit(Store(tmp_path / "file", "net", DATASETS), 0, 5, 1)


def test_a_lost_file_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)
    for path in (tmp_path / "net" / "traffic").iterdir():
        path.unlink()
    with pytest.raises(StoreError, match=r"was pruned or lost. Load again: another process may have pruned it"):
        every_row(store)


def test_a_root_that_no_directory_can_be_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path / ("x" * 300), "net", DATASETS)
    uses = [store.exists, store.create, store.table_files, store.other_networks, store.all_segments]
    for use in uses:
        with pytest.raises(StoreError, match=r"Cannot access .*File name too long") as caught:
            use()
        assert caught.value.path.startswith(str(tmp_path))


def test_a_catalog_that_another_process_uses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 10, 1)
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.01)
    with closing(sqlite3.connect(store.catalog.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (store.all_segments, lambda: commit(store, 10, 20, 1)):
            with pytest.raises(StoreError, match=r"Another process .* Wait until it ends"):
                use()


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_a_long_wait_for_another_process_is_told_once(lock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 10, 1)
    monkeypatch.setattr(sqlite, "MIN_SECONDS", 0.1)
    told: list[str] = []
    other = sqlite3.connect(store.catalog.path, isolation_level=None, check_same_thread=False)
    with closing(other), shown_by(told.append):
        other.execute(f"BEGIN {lock}")
        timer = threading.Timer(0.5, other.execute, ["COMMIT"])
        timer.start()
        commit(store, 10, 20, 1)
        timer.join()
    assert len(told) == 1 and told[0].startswith("ledgerframes waits 120 s: another process uses the catalog ")
    assert set(every_row(store)) == set(range(20))


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"no Parquet")])
def test_a_provisional_file_that_must_be_cut_but_cannot_be_read_is_named(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 20, 1, final=False)
    (segment,) = store.segments(EVENTS)
    damage(Path(str(store.location)) / segment.files["traffic"].path)
    with pytest.raises(StoreError, match="table traffic"):
        commit(store, 0, 10, 2)
    commit(store, 0, 20, 2)
    assert every_row(store) == dict.fromkeys(range(20), 2)


def test_a_copy_onto_another_file_or_into_no_directory_is_no_fault_of_the_store(tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5, 1)
    (tmp_path / "notes.txt").write_text("of somebody else " * 500)
    with pytest.raises(FileExistsError, match=r"is not a catalog: .*notes\.txt"):
        store.freeze(tmp_path / "notes.txt")
    with pytest.raises(FileNotFoundError, match="no-directory"):
        store.freeze(tmp_path / "no-directory" / "frozen.sqlite")
