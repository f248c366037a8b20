"""Footers of committed files, compared with the catalog when a process first opens a file.

The pages of a file have checksums, and the footer says where they are. So a footer that is the one in the catalog makes sure that
a file is the one of its table and extent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow.fs as fs

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.scan import LOST_FILE_STEP, damaged_file_error
from ledgerframes.store.segments import SegmentFile, read_footer_digest

# Root, path, size, time of change and digest of each file that this process has compared.
_INTACT: set[tuple[str, str, int, int, str]] = set()
MAX_REMEMBERED = 1_000_000
DAMAGED_SUFFIX = " (damaged)"


def require_intact(location: Location, files: Sequence[SegmentFile]) -> None:
    """Refuse files of a directory that are missing, or are not those in the catalog."""
    for error in _iter_errors(location, files):
        if error:
            raise error


def paths_to_open(location: Location, files: Sequence[SegmentFile]) -> list[str]:
    """Return the path of each file, which does not exist for a damaged one.

    Whoever skips a damaged file is not concerned, and whoever opens it fails. A missing file is an error.
    """
    errors = list(_iter_errors(location, files))
    for error in errors:
        if error and error.path:  # a lost file
            raise error
    return [f"{file.path}{DAMAGED_SUFFIX}" if error else file.path for file, error in zip(files, errors, strict=True)]


def _iter_errors(location: Location, files: Sequence[SegmentFile]) -> Iterator[StoreError | None]:
    """Yield an error for each file that is not the one in the catalog, None for the others."""
    infos = location.filesystem.get_file_info([file.path for file in files])
    for file, info in zip(files, infos, strict=True):
        if info.type != fs.FileType.File:
            path = f"{location}/{file.path}"
            yield StoreError(f"The file {file.path} of {location} was pruned or lost. {LOST_FILE_STEP}", path=path)
        else:
            yield _damage(location, file, info)


def _damage(location: Location, file: SegmentFile, info: fs.FileInfo) -> StoreError | None:
    """Return the error for a file with another size or footer. Older versions saved no footer."""
    key = (location.root, file.path, info.size, info.mtime_ns or 0, file.footer)
    if not file.footer or key in _INTACT:
        return None
    table = f"{file.table} of {location}"
    if info.size != file.bytes:
        return damaged_file_error(table, f"{file.path} has {info.size:,} bytes instead of {file.bytes:,}")
    with location.read(file.path) as source:
        if read_footer_digest(source, info.size) != file.footer:
            return damaged_file_error(table, f"the footer of {file.path} is not the one in the catalog")
    if len(_INTACT) >= MAX_REMEMBERED:
        _INTACT.clear()
    _INTACT.add(key)
    return None
