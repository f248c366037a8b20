"""A catalog that is damaged or lost: rebuilt from its intact records and from the segments, with the same rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from equality import assert_equal
from handmade import extents, frames, put, spans
from object_stores import served

from ledgerframes.datasets.registry import DATASETS, EVENTS, LEDGER
from ledgerframes.errors import StoreError, UsageError
from ledgerframes.store import Store
from ledgerframes.store.compact import compact
from ledgerframes.store.rebuild import RebuildResult, rebuild
from ledgerframes.store.verify import verify
from ledgerframes.values.extents import IdSet, Migration, MigrationWindow, OffsetRange


def fill(store: Store) -> Store:
    """Merged, replaced, provisional and cut segments, gaps and ids."""
    spans(store, 0, 40, 60)
    put(store, EVENTS, MigrationWindow(4, 60, 90), list(range(60, 90)), final=False)
    put(store, EVENTS, MigrationWindow(4, 60, 70), list(range(60, 70)))
    compact(store)
    put(store, LEDGER, OffsetRange("PAR::one 00", 10, 20), list(range(11, 21)))
    store.commit(LEDGER, OffsetRange("PAR::one 00", 0, 10), {}, final=True, gap=True, source="a")
    put(store, DATASETS["events_by_id"], IdSet(frozenset({"id000007"})), [7])
    store.save_migrations([Migration(4, 0)])
    store.bind_participant("PAR::one")
    return store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return fill(Store(tmp_path, "net", DATASETS))


def statuses(store: Store) -> list[tuple[str, str, str]]:
    return [(segment.dataset, segment.status, str(segment.extent)) for segment in store.all_segments()]


def test_an_intact_catalog_is_left_as_it_is(store: Store, tmp_path: Path) -> None:
    content = store.catalog.path.read_bytes()
    assert rebuild(store) == RebuildResult(is_needed=False)
    assert store.catalog.path.read_bytes() == content
    assert rebuild(Store(tmp_path, "empty", DATASETS)) == RebuildResult(is_needed=False)
    assert not (tmp_path / "empty").exists()


def test_a_lost_catalog_is_rebuilt_from_the_files(store: Store) -> None:
    expected, before, ledger = frames(store), statuses(store), frames(store, LEDGER)
    store.catalog.path.unlink()
    planned = rebuild(store, dry_run=True)
    assert not store.exists()
    assert rebuild(store) == planned == RebuildResult(True, 0, planned.from_files, {})
    assert_equal(frames(store), expected)
    assert_equal(frames(store, LEDGER), ledger)
    assert statuses(store) == [each for each in before if each[1] != "gap"], "only what has no rows is lost"
    assert store.migrations() == [] and store.participant() is None
    assert verify(store) == [] and store.catalog.problems() == []


def test_a_damaged_catalog_gives_its_intact_records(store: Store) -> None:
    """Whichever page is damaged, the rows are the same, and the gap is lost only with its own record."""
    expected, before = frames(store), statuses(store)
    content = store.catalog.path.read_bytes()
    page = int.from_bytes(content[16:18], "big")
    gaps = 0
    for number in range(len(content) // page):
        damaged = bytearray(content)
        damaged[number * page : number * page + 12] = b"\xff" * 12
        store.catalog.path.write_bytes(damaged)
        store.catalog.forget_check()
        assert rebuild(store).is_needed
        assert_equal(frames(store), expected)
        after = statuses(store)
        gaps += after == before
        assert [each for each in after if each[1] != "gap"] == [each for each in before if each[1] != "gap"]
        assert rebuild(store) == RebuildResult(is_needed=False)
    assert gaps > 2


def test_a_hot_journal_of_the_old_catalog_is_moved_away(store: Store) -> None:
    expected = frames(store)
    store.catalog.path.write_bytes(b"no database" * 500)
    journal = store.catalog.path.with_name("catalog.sqlite-journal")
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(4096))
    rebuild(store)
    assert not journal.exists()
    assert_equal(frames(store), expected)
    assert [path.name[-14:] for path in (store.catalog.path.parent / "quarantine").iterdir()] == ["catalog.sqlite"]


def test_a_damaged_file_is_named_and_never_changes_a_row(store: Store) -> None:
    """A bit of each class of bytes. The files that were merged into the damaged one are still there."""
    expected = frames(store)
    path = max((store.catalog.path.parent / "verdicts").glob("*.parquet"), key=lambda each: each.stat().st_size)
    content = path.read_bytes()
    footer = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - footer
    places = [0, *range(40, start, start // 3), *range(start, len(content), footer // 5), len(content) - 1]
    named = 0
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        store.catalog.path.unlink()
        result = rebuild(store)
        named += f"verdicts/{path.name}" in result.problems
        assert_equal(frames(store), expected)
    assert named > len(places) / 2


def test_files_of_another_schema_or_without_identity_are_named(store: Store) -> None:
    path = max((store.catalog.path.parent / "updates").glob("*.parquet"), key=lambda each: each.stat().st_size)
    pq.write_table(pq.read_table(path).replace_schema_metadata(None), path)
    store.catalog.path.unlink()
    problems = rebuild(store).problems
    assert problems[f"updates/{path.name}"] == "does not say what it covers"
    assert "of a segment that misses a file" in problems.values()


def test_a_catalog_of_a_newer_version_and_a_snapshot_are_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="frozen snapshot"):
        rebuild(store.freeze(tmp_path / "frozen.sqlite"))
    with store.catalog.write_transaction() as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="schema 99"):
        rebuild(store)


@pytest.mark.loopback
def test_a_catalog_in_an_object_store() -> None:
    with served() as objects:
        store = Store(objects.uri("rebuild"), "net", DATASETS)
        spans(store, 0, 40, 60)
        expected = frames(store)
        with store.location.write("catalog.sqlite") as file:
            file.write(b"no database" * 500)
        assert rebuild(store).from_files == 2
        assert_equal(frames(store), expected)
        assert extents(store) == [(0, 40), (40, 60)]
        store.location.remove("catalog.sqlite")
        assert rebuild(store).from_files == 2
        assert_equal(frames(store), expected)
