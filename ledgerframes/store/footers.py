"""Footers of committed files, compared with the catalog when a process first opens a file.

The pages of a file have checksums, and the footer says where the pages are. So if the footer matches the catalog, the file is
the right one for its table and extent.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.fs as fs

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.scan import DAMAGED_SUFFIX, LOST_FILE_STEP, damaged_file_error
from ledgerframes.store.segments import SegmentFile, read_footer_digest

# Root, path, size, time of change and digest of each file that this process has compared.
_INTACT: set[tuple[str, str, int, int, str]] = set()
MAX_REMEMBERED = 1_000_000


def paths_to_open(location: Location, files: Sequence[SegmentFile], *, allow_damage: bool) -> list[str]:
    """Return the path of each file, and refuse those that are not the files in the catalog.

    With `allow_damage`, a damaged file gets a path that does not exist, so that only scans that open it fail.
    """
    paths = []
    with location.translate_errors():
        infos = location.filesystem.get_file_info([file.path for file in files])
    for file, info in zip(files, infos, strict=True):
        if info.type != fs.FileType.File:
            path = f"{location}/{file.path}"
            raise StoreError(f"The file {file.path} of {location} was pruned or lost. {LOST_FILE_STEP}", path=path)
        error = _damage(location, file, info)
        if error and not allow_damage:
            raise error
        paths.append(f"{file.path}{DAMAGED_SUFFIX}" if error else file.path)
    return paths


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
