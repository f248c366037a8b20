"""Damaged files: an error or the same rows, never others; and `verify` ends with a verdict."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from itertools import pairwise, product
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from cases import every_nth
from equality import assert_equal
from handmade import frames, put

from ledgerframes.datasets.registry import DATASETS, EVENTS
from ledgerframes.errors import StoreError
from ledgerframes.frames import Frames
from ledgerframes.store import Store
from ledgerframes.store.verify import verify
from ledgerframes.values.extents import Migration, MigrationWindow

TABLES = ("updates", "verdicts")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two segments with the same number of rows."""
    store = Store(tmp_path, "net", {EVENTS.name: EVENTS})
    for start, stop in pairwise([0, 40, 80]):
        put(store, EVENTS, MigrationWindow(4, start, stop), list(range(start, stop)))
    return store


def paths(store: Store, table: str) -> list[Path]:
    assert store.location.local_path
    return [store.location.local_path / segment.files[table].path for segment in store.segments(EVENTS)]


def byte_classes(path: Path) -> dict[str, range]:
    """The classes of bytes of a Parquet file, by what its own footer says."""
    size, metadata = path.stat().st_size, pq.ParquetFile(path).metadata
    footer = int.from_bytes(path.read_bytes()[-8:-4], "little")
    columns = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
    dictionaries = [(column.dictionary_page_offset, column.data_page_offset) for column in columns if column.has_dictionary_page]
    return {
        "magic at the start": range(4),
        **{f"dictionary {start}": range(start, stop) for start, stop in dictionaries},
        **{f"pages {column.path_in_schema}": range(column.data_page_offset, column.data_page_offset + 64) for column in columns},
        "all pages": range(4, size - 8 - footer),
        "footer": range(size - 8 - footer, size - 8),
        "length of the footer": range(size - 8, size - 4),
        "magic at the end": range(size - 4, size),
    }


def read(store: Store, *first: str) -> dict[str, pd.DataFrame] | None:
    """Both tables, or None if one is refused."""
    linked = Frames(store.snapshot(EVENTS), TABLES)
    try:
        return {name: linked.read(name) for name in dict.fromkeys((*first, *TABLES))}
    except StoreError:
        return None


def flips(path: Path, distance: int) -> list[tuple[int, int]]:
    """A bit of every other byte of the headers or fewer, of some bytes elsewhere, and every bit of what is around the file."""
    classes, size = byte_classes(path), path.stat().st_size
    flipped = {(place, place // distance % 8) for place in range(0, size, distance)}
    for name, places in classes.items():
        if name.startswith(("magic", "length")):
            flipped |= {(place, bit) for place in places for bit in range(8)}
        elif name.startswith(("pages", "dictionary")):
            flipped |= {(place, place // 2 % 8) for place in places[: 18 : distance // 40]}
    return sorted(flipped)


@pytest.mark.parametrize(("table", "distance"), every_nth(product(TABLES, [640, 80]), 4))
def test_a_flipped_bit_is_refused_or_changes_no_row(store: Store, table: str, distance: int) -> None:
    expected, path = frames(store), paths(store, table)[0]
    content, refused, unnoticed = path.read_bytes(), set(), []
    for place, bit in flips(path, distance):
        damaged = bytearray(content)
        damaged[place] ^= 1 << bit
        path.write_bytes(damaged)
        rows = read(store, table)  # the other one need not be read if this one is refused
        if rows is None:
            refused.add(place)
        else:
            assert_equal(rows, {name: expected[name] for name in TABLES})
        if not verify(store):
            unnoticed.append(place)
    assert not unnoticed, "the digest of a file covers all of its bytes"
    classes = byte_classes(path) if path.write_bytes(content) else {}
    assert all(refused & set(places) for name, places in classes.items() if name != "magic at the start")
    assert len(classes) > 10
    assert_equal(frames(store), expected)


def test_a_single_column_is_never_shorter_or_longer(store: Store) -> None:
    """The header of a page can say less values than there are, which no other column contradicts in a read of one."""
    column, path = "finalization_time", paths(store, "verdicts")[0]
    expected = Frames(store.snapshot(EVENTS), ["verdicts"]).read("verdicts", [column])
    content, start = path.read_bytes(), byte_classes(path)[f"pages {column}"].start
    refused = 0
    for place in range(start, start + 18):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            linked = Frames(store.snapshot(EVENTS), ["verdicts"])
            try:
                pd.testing.assert_frame_equal(linked.read("verdicts", [column]), expected)
                assert sum(batch.num_rows for batch in linked.iter_batches("verdicts", [column])) == len(expected)
            except StoreError:
                refused += 1
    assert refused > 50


@pytest.mark.parametrize("table", TABLES)
def test_files_in_each_other_s_place_are_refused(store: Store, table: str) -> None:
    one, another = paths(store, table)
    contents = one.read_bytes(), another.read_bytes()
    assert len(frames(store)[table]) == 80
    one.write_bytes(contents[1])
    another.write_bytes(contents[0])
    assert read(store) is None
    assert len(verify(store)) == len(verify(store, quick=True)) == 2


def test_a_file_of_the_same_rows_but_another_extent_is_refused(tmp_path: Path) -> None:
    """The footer has the extent, so that even a copy with equal rows is not taken for the file."""
    stores = [Store(tmp_path / name, "net", DATASETS) for name in ("one", "other")]
    for store, stop in zip(stores, (40, 41), strict=True):
        put(store, EVENTS, MigrationWindow(4, 0, stop), list(range(40)))
    (one,), (other,) = (paths(store, "verdicts") for store in stores)
    assert pq.read_table(one).equals(pq.read_table(other))
    one.write_bytes(other.read_bytes())
    assert read(stores[0]) is None


def test_a_file_that_changes_after_its_first_read_is_compared_again(store: Store) -> None:
    path = paths(store, "verdicts")[0]
    assert read(store) is not None
    content, times = path.read_bytes(), path.stat()
    path.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert read(store) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE segments SET stop = stop + 1 WHERE start = 0",
        "UPDATE segments SET status = 'gap' WHERE start = 0",
        "UPDATE files SET path = (SELECT path FROM files ORDER BY path DESC LIMIT 1) WHERE table_name = 'verdicts'",
        "UPDATE files SET rows = rows + 1",
        "DELETE FROM files WHERE table_name = 'verdicts'",
        "INSERT INTO ids SELECT segment_id, 'id' FROM segments",
    ],
)
def test_a_changed_record_of_the_catalog_is_noticed(store: Store, statement: str) -> None:
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.execute(statement)
    with pytest.raises(StoreError, match=r"record of segment .* in the catalog is damaged"):
        store.segments(EVENTS)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE migrations SET first = first + 1",
        "UPDATE migrations SET ended = 7",
        "DELETE FROM migrations",
        "UPDATE facts SET value = 'another'",
        "INSERT INTO facts VALUES ('new', 'value')",
        "DELETE FROM segments WHERE start = 0",
        "UPDATE segments SET checksum = checksum + 1 WHERE start = 0",
        "DELETE FROM seal",
    ],
)
def test_a_row_that_no_commit_wrote_is_noticed(store: Store, statement: str) -> None:
    store.save_migrations([Migration(4, 0)])
    store.bind_participant("PAR::one")
    store.segments(EVENTS)
    with closing(sqlite3.connect(store.catalog.path)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(statement)
    for use in (store.migrations, store.catalog.problems):
        with pytest.raises(StoreError, match=r"rows differ .* Run `ledgerframes store rebuild`"):
            use()
    with pytest.raises(StoreError, match="rows differ"):
        put(store, EVENTS, MigrationWindow(4, 80, 90), list(range(80, 90)))


def test_a_damaged_record_that_hides_a_segment_is_noticed(store: Store) -> None:
    """Another fingerprint hides a segment, which no checksum would be compared for."""
    content = store.catalog.path.read_bytes()
    fingerprint = EVENTS.schema_fingerprint.encode()
    place = content.index(fingerprint)
    store.catalog.path.write_bytes(content[:place] + b"0" + content[place + 1 :])
    store.catalog.forget_check()
    with pytest.raises(StoreError, match="Cannot read the catalog"):
        store.segments(EVENTS)


def test_a_page_of_the_catalog_that_is_overwritten_is_noticed(store: Store) -> None:
    content = bytearray(store.catalog.path.read_bytes())
    page = int.from_bytes(content[16:18], "big")
    for number in range(1, len(content) // page):
        damaged = bytearray(content)
        damaged[number * page : number * page + 12] = b"\xff" * 12
        store.catalog.path.write_bytes(damaged)
        with pytest.raises(StoreError, match="catalog"):
            problems = Store(store.root.root, "net", DATASETS).catalog.problems()
            raise StoreError(f"the catalog has problems: {problems}" if problems else "unnoticed")
    store.catalog.path.write_bytes(content)
    assert store.catalog.problems() == []
