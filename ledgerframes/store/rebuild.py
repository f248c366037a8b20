"""Restoration of a catalog from its intact records and from the segments."""

from __future__ import annotations

import copy
import logging
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ledgerframes.errors import StoreError
from ledgerframes.store import catalog as records
from ledgerframes.store.catalog import CATALOG, Catalog, Segment
from ledgerframes.store.compact import require_live
from ledgerframes.store.file_metadata import read_segments
from ledgerframes.store.prune import QUARANTINE
from ledgerframes.store.sqlite import is_access_error
from ledgerframes.store.store import Store

__all__ = ["RebuildResult", "rebuild"]

logger = logging.getLogger("ledgerframes")


@dataclass(frozen=True)
class RebuildResult:
    """The segments of a rebuilt catalog, or of the one that a dry run would write.

    Attributes
    ----------
    is_needed : bool
        False for an intact catalog, which is left as it is.
    from_catalog : int
        Segments whose record in the old catalog is intact.
    from_files : int
        Segments read from the metadata of their files, including segments that others replaced.
    problems : dict of str to str
        Reason by path, for files that cannot be used.
    """

    is_needed: bool
    from_catalog: int = 0
    from_files: int = 0
    problems: dict[str, str] = field(default_factory=dict)


def rebuild(store: Store, *, dry_run: bool = False) -> RebuildResult:
    """Rebuild a catalog that is damaged or lost, and leave an intact one as it is.

    Intact records of the old catalog are kept. Other segments are read from the metadata of their files, after all their pages
    were read. The old catalog moves to quarantine. Run this while nothing else uses the store.

    Some facts are only in the catalog: segments without rows, gaps, complete folders of bulk objects, the bounds of
    migrations, and the participant of the ledger. If they are lost, the next load fetches them again, so it needs the
    network. Segments that were dropped return as long as their files exist.

    Parameters
    ----------
    store : Store
    dry_run : bool, default False
        Write nothing and return what would be rebuilt.

    Raises
    ------
    UsageError
        If the store is a frozen snapshot.
    StoreError
        If the store cannot be read or written, or the catalog is newer than this version.

    Notes
    -----
    Source: docs/architecture.md#the-store.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.store.rebuild import rebuild
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> rebuild(net.store)
    RebuildResult(is_needed=False, from_catalog=0, from_files=0, problems={})
    """
    require_live(store)
    paths = [file.path for file in store.table_files()]
    if _is_intact(store, paths):
        return RebuildResult(is_needed=False)
    with tempfile.TemporaryDirectory() as directory:
        old, new = Path(directory) / "old.sqlite", Path(directory) / "new.sqlite"
        salvaged = _intact_records(store, old) if store.exists() else []
        known = {file.path for segment in salvaged for file in segment.files.values()}
        unknown_paths = [path for path in paths if path not in known]
        segments, problems = read_segments(store.location, store.datasets, unknown_paths)
        if not dry_run:
            _write_catalog(store, new, salvaged, segments)
            _replace_catalog(store, new)
    logger.info("catalog_rebuilt network=%s records=%d files=%d", store.network, len(salvaged), len(segments))
    return RebuildResult(True, len(salvaged), len(segments), problems)


def _is_intact(store: Store, paths: list[str]) -> bool:
    """Return whether there is a catalog without damage, or nothing that a catalog could list."""
    if not store.exists():
        return not paths
    try:
        return not store.catalog.problems() and store.all_segments() is not None
    except StoreError as error:
        # Whether a catalog that cannot be opened is damaged is unknown.
        if is_access_error(error.__cause__) or not store.catalog.database.is_known_version():
            raise
        return False


# -- the intact part of the old catalog -----------------------------------------------------------------------------


def _intact_records(store: Store, path: Path) -> list[Segment]:
    """Return the segments of the old catalog with an intact record, and whose files exist."""
    with store.location.read(CATALOG) as source, path.open("wb") as copied:
        shutil.copyfileobj(source, copied)
    with closing(sqlite3.connect(path)) as connection:
        segments = [each for dataset in store.datasets.values() for each in records.iter_intact_segments(connection, dataset)]
    existing = {file.path for file in store.table_files()}
    return [each for each in segments if existing.issuperset(file.path for file in each.files.values())]


# -- the new catalog ------------------------------------------------------------------------------------------------


def _write_catalog(store: Store, path: Path, salvaged: list[Segment], files: list[tuple[int, Segment]]) -> None:
    """Write a catalog in which newer segments replace older ones, as their commits did."""
    new = copy.copy(store)
    new.catalog = Catalog(path, store.catalog.database.name)
    newest = [segment for _, segment in sorted(files, key=lambda each: each[0], reverse=True)]
    final = [segment for segment in (*salvaged, *newest) if segment.final]
    provisional = [segment for segment in (*salvaged, *newest) if not segment.final]
    new.create()  # also without segments
    for segment in (*final, *sorted(provisional, key=lambda each: each.fetched_at)):
        new.add_segment(store.datasets[segment.dataset], segment)


def _replace_catalog(store: Store, path: Path) -> None:
    """Move the old catalog to quarantine, and the new one to its path."""
    number = time.time_ns()
    uploaded = f"{QUARANTINE}/catalog-{number}.new"
    with store.location.write(uploaded) as sink, path.open("rb") as source:
        shutil.copyfileobj(source, sink)
    # A rollback journal belongs to the old catalog, and would damage the new one.
    for name in (f"{CATALOG}-journal", f"{CATALOG}-wal", f"{CATALOG}-shm", CATALOG):
        if store.location.exists(name):
            store.location.move(name, f"{QUARANTINE}/{number}-{name}")
    store.location.move(uploaded, CATALOG)
    store.catalog.forget_check()
