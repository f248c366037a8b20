"""A store whose catalog is lost is refused by all that reads or writes it, and an empty directory is a new store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from equality import assert_equal
from handmade import frames, spans
from object_stores import served

from ledgerframes.datasets.registry import DATASETS, EVENTS
from ledgerframes.errors import StoreError
from ledgerframes.store import Store
from ledgerframes.store.catalog import Catalog
from ledgerframes.store.compact import compact
from ledgerframes.store.prune import prune
from ledgerframes.store.rebuild import rebuild
from ledgerframes.store.verify import verify
from ledgerframes.values.extents import Migration, MigrationWindow

LOST = r"catalog.sqlite is lost.* Run `ledgerframes store rebuild`\."

USES: dict[str, Callable[[Store], Any]] = {
    "read": lambda store: store.segments(EVENTS),
    "read values": lambda store: store.participant(),
    "plan": lambda store: store.migrations(),
    "create": lambda store: store.create(),
    "commit": lambda store: store.commit(EVENTS, MigrationWindow(4, 900, 901), {}, final=True, source="a"),
    "save": lambda store: store.save_migrations([Migration(4, 0)]),
    "bind": lambda store: store.bind_participant("PAR::one"),
    "freeze": lambda store: store.freeze(Path(str(store.location)).parent / "frozen.sqlite"),
    "compact": compact,
    "prune": lambda store: prune(store, before="2026-11-01"),
    "verify": verify,
}


def lose(path: Path, how: str) -> None:
    if how == "deleted":
        path.unlink()
    else:
        path.write_bytes(b"")


@pytest.mark.parametrize("how", ["deleted", "emptied"])
@pytest.mark.parametrize("use", USES)
def test_a_lost_catalog_is_refused(use: str, how: str, tmp_path: Path) -> None:
    store = Store(tmp_path, "net", DATASETS)
    spans(store, 0, 5)
    expected = frames(store)
    lose(store.catalog.path, how)
    with pytest.raises(StoreError, match=LOST) as caught:
        USES[use](Store(tmp_path, "net", DATASETS))
    assert caught.value.path == str(store.catalog.path)
    assert store.catalog.path.exists() == (how == "emptied"), "no new catalog was started"
    assert rebuild(store).is_needed
    assert_equal(frames(store), expected)


@pytest.mark.parametrize("use", [name for name in USES if name != "freeze"])
def test_an_empty_directory_is_a_new_store(use: str, tmp_path: Path) -> None:
    (tmp_path / "net" / "quarantine").mkdir(parents=True)
    (tmp_path / "net" / "quarantine" / "verdicts.parquet").write_bytes(b"not a segment")
    USES[use](Store(tmp_path, "net", DATASETS))


def test_the_catalog_is_created_before_the_first_file(tmp_path: Path) -> None:
    """A process that is killed between the two leaves a store that the next one continues."""

    class Killed(Store):
        def add_segment(self, *_: object) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spans(Killed(tmp_path, "net", DATASETS), 0, 5)
    store = Store(tmp_path, "net", DATASETS)
    assert store.table_files() and store.all_segments() == []
    spans(store, 0, 5)
    assert len(store.all_segments()) == 1


def test_a_catalog_that_appears_with_its_files_is_not_lost(tmp_path: Path) -> None:
    """Another process creates it between the look at the catalog and the look at the files."""
    path = tmp_path / "catalog.sqlite"

    def create() -> list[str]:
        with Catalog(path).write_transaction():
            return ["updates/1.parquet"]

    with Catalog(path, list_files=create).read_transaction() as connection:
        assert connection.execute("SELECT count(*) FROM segments").fetchone()[0] == 0


@pytest.mark.loopback
def test_a_lost_catalog_of_an_object_store_is_refused() -> None:
    with served() as objects:
        store = Store(objects.uri("lost"), "net", DATASETS)
        assert store.all_segments() == [], "a new store"
        spans(store, 0, 5)
        store.location.remove("catalog.sqlite")
        for use in ("read", "create", "commit", "save", "compact", "prune", "verify"):
            with pytest.raises(StoreError, match=LOST):
                USES[use](Store(objects.uri("lost"), "net", DATASETS))
        assert rebuild(store).is_needed and len(store.all_segments()) == 1
