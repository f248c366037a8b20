"""Footers of committed files, compared with the catalog when a process first opens a file.

The pages of a file have checksums, and the footer says where the pages are. So if the footer matches the catalog, the file is
the right one for its table and extent.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.fs as fs

from ledgerframes.errors import StoreError
from ledgerframes.store.file_states import iter_infos, remember_intact, state_of
from ledgerframes.store.location import Location
from ledgerframes.store.scan import DAMAGED_SUFFIX, damaged_file_error
from ledgerframes.store.segments import SegmentFile, read_footer_digest


def paths_to_open(location: Location, files: Sequence[SegmentFile], *, allow_damage: bool) -> list[str]:
    """Return the path of each file, and refuse those that are not the files in the catalog.

    With `allow_damage`, a damaged file gets a path that does not exist, so that only scans that open it fail.
    """
    paths = []
    for file, info in iter_infos(location, files):
        error = _damage(location, file, info)
        if error and not allow_damage:
            raise error
        paths.append(f"{file.path}{DAMAGED_SUFFIX}" if error else file.path)
    return paths


def _damage(location: Location, file: SegmentFile, info: fs.FileInfo) -> StoreError | None:
    """Return the error for a file with another size or footer. Older versions saved no footer."""
    state = state_of(location, info, file, file.footer)
    if not file.footer or state.is_intact:
        return None
    table = f"{file.table} of {location}"
    if info.size != file.bytes:
        return damaged_file_error(table, f"{file.path} has {info.size:,} bytes instead of {file.bytes:,}")
    with location.read(file.path) as source:
        if read_footer_digest(source, info.size) != file.footer:
            return damaged_file_error(table, f"the footer of {file.path} is not the one in the catalog")
    remember_intact([state])
    return None
