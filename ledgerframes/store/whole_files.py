"""Files that DuckDB opens by itself, compared with the catalog as a whole.

DuckDB does not verify the checksums of pages. So each process compares all bytes of a file with its digest in the catalog before
the first query reads it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from ledgerframes.store.footers import paths_to_open
from ledgerframes.store.location import Location, digest_of
from ledgerframes.store.scan import damaged_file_error
from ledgerframes.store.segments import SegmentFile

PATTERN_CHARACTERS = frozenset("*?[")
THREADS = os.cpu_count() or 1


class LocalFiles(NamedTuple):
    """Absolute paths of files in one directory or below it."""

    folder: str
    paths: tuple[str, ...]


class FileState(NamedTuple):
    """A file at a moment, and its digest in the catalog."""

    path: Path
    bytes: int
    changed_at: int  # nanoseconds since 1970
    sha256: str


_COMPARED: set[FileState] = set()  # by this process
MAX_REMEMBERED = 1_000_000


def local_files(folder: Path, paths: Sequence[str]) -> LocalFiles | None:
    """Return files that DuckDB can open, or None if it would take their paths for patterns."""
    return None if PATTERN_CHARACTERS & set(str(folder)) else LocalFiles(str(folder), tuple(paths))


def require_whole(location: Location, files: Sequence[SegmentFile]) -> None:
    """Compare local files with their digests in the catalog, unless this process has done so.

    Raises
    ------
    StoreError
        If one of them is lost or damaged.
    """
    paths_to_open(location, files, allow_damage=False)
    states = [state for file in files if (state := _state_of(location, file)) not in _COMPARED]
    with ThreadPoolExecutor(THREADS, thread_name_prefix="digest") as pool:
        digests = list(pool.map(digest_of, [state.path for state in states]))
    for state, digest in zip(states, digests, strict=True):
        if digest != state.sha256:
            raise damaged_file_error(f"{files[0].table} of {location}", f"{state.path} is not the file in the catalog")
    if len(_COMPARED) + len(states) > MAX_REMEMBERED:
        _COMPARED.clear()
    _COMPARED.update(states)


def _state_of(location: Location, file: SegmentFile) -> FileState:
    path = Path(location.root, file.path)
    state = path.stat()
    return FileState(path, state.st_size, state.st_mtime_ns, file.sha256)
