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

from ledgerframes.store.file_states import iter_infos, remember_intact, state_of
from ledgerframes.store.location import Location, digest_of
from ledgerframes.store.scan import damaged_file_error
from ledgerframes.store.segments import SegmentFile

PATTERN_CHARACTERS = frozenset("*?[")
THREADS = os.cpu_count() or 1


class LocalFiles(NamedTuple):
    """Absolute paths of files in one directory or below it."""

    directory: str
    paths: tuple[str, ...]


def local_files(directory: Path, paths: Sequence[str]) -> LocalFiles | None:
    """Return files that DuckDB can open, or None if it would take their paths for patterns."""
    return None if PATTERN_CHARACTERS & set(str(directory)) else LocalFiles(str(directory), tuple(paths))


def require_whole(location: Location, files: Sequence[SegmentFile]) -> None:
    """Compare local files with their digests in the catalog, unless this process has done so.

    Raises
    ------
    StoreError
        If one of them is lost or damaged.
    """
    states = [state_of(location, info, file, file.sha256) for file, info in iter_infos(location, files)]
    changed = [state for state in states if not state.is_intact]
    with ThreadPoolExecutor(THREADS, thread_name_prefix="digest") as pool:
        digests = list(pool.map(digest_of, [Path(state.root, state.path) for state in changed]))
    for state, digest in zip(changed, digests, strict=True):
        if digest != state.digest:
            raise damaged_file_error(f"{files[0].table} of {location}", f"{state.path} is not the file in the catalog")
    remember_intact(changed)
