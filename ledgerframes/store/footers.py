"""Footers of committed files, compared with the catalog when a process first opens a file.

The pages of a file have checksums, and the footer says where they are. So a footer that is the one in the catalog makes sure that
a file is the one of its table and extent.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.fs as fs

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.scan import LOST_FILE_STEP, damaged_file_error
from ledgerframes.store.segments import SegmentFile, read_footer_digest

# Root, path, size, time of change and digest of each file that this process has compared.
_INTACT: set[tuple[str, str, int, int, str]] = set()
MAX_REMEMBERED = 1_000_000


def require_intact(location: Location, files: Sequence[SegmentFile]) -> None:
    """Refuse files of a directory that are missing, or are not those in the catalog.

    Raises
    ------
    StoreError
        If a file is missing, or differs in its size or footer.
    """
    infos = location.filesystem.get_file_info([file.path for file in files])
    for file, info in zip(files, infos, strict=True):
        if info.type != fs.FileType.File:
            raise StoreError(
                f"The file {file.path} of {location} was pruned or lost. {LOST_FILE_STEP}", path=f"{location}/{file.path}"
            )
        if file.footer:  # empty if an earlier version has written the file
            key = (location.root, file.path, info.size, info.mtime_ns or 0, file.footer)
            if key not in _INTACT:
                _compare(location, file, info.size)
                if len(_INTACT) >= MAX_REMEMBERED:
                    _INTACT.clear()
                _INTACT.add(key)


def _compare(location: Location, file: SegmentFile, size: int) -> None:
    if size != file.bytes:
        raise damaged_file_error(f"{file.table} of {location}", f"{file.path} has {size:,} bytes instead of {file.bytes:,}")
    with location.read(file.path) as source:
        if read_footer_digest(source, size) != file.footer:
            raise damaged_file_error(f"{file.table} of {location}", f"the footer of {file.path} is not the one in the catalog")
