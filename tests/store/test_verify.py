from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ledgerframes import testing
from ledgerframes.datasets.registry import DATASETS, EVENTS
from ledgerframes.errors import StoreError
from ledgerframes.store import Location, Store
from ledgerframes.store.catalog import Segment
from ledgerframes.store.file_metadata import read_segments
from ledgerframes.store.prune import orphan_files
from ledgerframes.store.verify import check_file, verify
from ledgerframes.values.extents import MigrationWindow, from_microseconds


def commit(store: Store, start: int, stop: int) -> None:
    rows = testing.table("traffic").sample_arrow(range(start, stop), record_time=from_microseconds)
    store.commit(EVENTS, MigrationWindow(4, start, stop), {"traffic": rows}, final=True, source="test")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path, "net", DATASETS)
    commit(store, 0, 5)
    commit(store, 5, 9)
    return store


def first_file(store: Store) -> Path:
    assert store.location.local_path
    return store.location.local_path / store.segments(EVENTS)[0].files["traffic"].path


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    """One bit in the data, which the footer knows nothing of."""
    content = bytearray(path.read_bytes())
    content[6] ^= 1
    path.write_bytes(content)


def scribble(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8] + b"no foot!")


def other_rows(path: Path) -> None:
    with closing(sqlite3.connect(path.parents[1] / "catalog.sqlite")) as connection, connection:
        connection.execute("UPDATE files SET rows = rows + 1 WHERE path = ?", [f"traffic/{path.name}"])
        connection.execute("UPDATE segments SET checksum = NULL")
        connection.execute("UPDATE seal SET digest = 'unsealed'")


def other_digest(path: Path) -> None:
    with closing(sqlite3.connect(path.parents[1] / "catalog.sqlite")) as connection, connection:
        connection.execute("UPDATE files SET sha256 = '00' WHERE path = ?", [f"traffic/{path.name}"])
        connection.execute("UPDATE segments SET checksum = NULL")
        connection.execute("UPDATE seal SET digest = 'unsealed'")


DAMAGES: list[tuple[Callable[[Path], Any], str | None, str]] = [  # what is done, what is found quickly, and slowly
    (Path.unlink, "missing", "missing"),
    (cut, "size differs", "size differs"),
    (flip, None, "digest differs"),
    (scribble, "unreadable", "digest differs"),
    (other_rows, "row count differs", "row count differs"),
    (other_digest, None, "digest differs"),
]


def test_intact_files_have_no_problem(store: Store) -> None:
    assert verify(store) == verify(store, quick=True) == []


def test_an_empty_store_is_well_and_is_not_created(tmp_path: Path) -> None:
    assert verify(Store(tmp_path / "store", "net", DATASETS)) == []
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(("damage", "quickly", "slowly"), DAMAGES)
def test_every_damage_has_its_problem(store: Store, damage: Callable[[Path], Any], quickly: str | None, slowly: str) -> None:
    path, segment = first_file(store), store.segments(EVENTS)[0]
    damage(path)
    found = [(f.segment.segment_id, f.table, f.path, f.problem) for f in verify(store)]
    assert found == [(segment.segment_id, "traffic", f"traffic/{path.name}", slowly)]
    assert [finding.problem for finding in verify(store, quick=True)] == ([quickly] if quickly else [])


def test_a_directory_instead_of_a_file_is_unreadable(store: Store) -> None:
    path = first_file(store)
    path.unlink()
    path.mkdir()
    assert [finding.problem for finding in verify(store)] == ["unreadable"]


def test_a_catalog_that_cannot_be_read_is_an_error(store: Store, tmp_path: Path) -> None:
    (tmp_path / "net" / "catalog.sqlite").write_bytes(b"something else" * 100)
    with pytest.raises(StoreError, match="Cannot read the catalog"):
        verify(store)


def test_segments_that_another_process_has_replaced_are_no_damage(store: Store, tmp_path: Path) -> None:
    first_file(store).unlink()
    replaced = store.segments(EVENTS)[0].segment_id

    class Overtaken(Store):
        def all_segments(self) -> list[Segment]:
            segments = super().all_segments()
            with store.catalog.write_transaction() as connection:
                connection.execute("DELETE FROM segments WHERE segment_id = ?", [replaced])
            return segments

    assert [finding.segment.segment_id for finding in verify(store)] == [replaced]
    assert verify(Overtaken(tmp_path, "net", DATASETS)) == []


def test_an_object_store_that_does_not_respond_is_no_damage(store: Store) -> None:
    class Unreachable(Location):
        local_path = None

        def read(self, path: str) -> pa.NativeFile:
            raise OSError("no route")

    with pytest.raises(StoreError, match="Try again"):
        check_file(Unreachable(store.location.root), store.segments(EVENTS)[0].files["traffic"])


@pytest.mark.parametrize("code", [errno.EACCES, errno.EMFILE])
def test_a_file_that_the_system_refuses_is_no_damage(store: Store, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Location, "read", refuse)
    with pytest.raises(StoreError, match=f"Cannot access .*{os.strerror(code)}"):
        verify(store)
    with pytest.raises(StoreError, match="Cannot access"):
        read_segments(store.location, store.datasets, [first_file(store).relative_to(str(store.location)).as_posix()])


def test_files_that_no_catalog_names_are_orphans(store: Store, tmp_path: Path) -> None:
    assert orphan_files(store) == []
    (tmp_path / "net" / "traffic" / "half.parquet").write_bytes(b"1234")
    (tmp_path / "net" / "traffic" / "notes.txt").write_text("a person's")
    (tmp_path / "net" / "mine").mkdir()
    (tmp_path / "net" / "mine" / "own.parquet").write_bytes(b"a person's")
    assert [(file.path, file.bytes) for file in orphan_files(store)] == [("traffic/half.parquet", 4)]
