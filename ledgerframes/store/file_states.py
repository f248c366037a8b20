"""States of committed files, and those that this process has compared with the catalog."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import pyarrow.fs as fs

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location
from ledgerframes.store.scan import LOST_FILE_STEP
from ledgerframes.store.segments import SegmentFile

MAX_REMEMBERED = 1_000_000


class FileState(NamedTuple):
    """A file at a moment, with the digest of the file or of its footer in the catalog."""

    root: str
    path: str
    bytes: int
    changed_at: int  # nanoseconds since 1970, 0 if unknown
    digest: str

    @property
    def is_intact(self) -> bool:
        """Whether this process has compared the file in this state."""
        return self in _INTACT


_INTACT: set[FileState] = set()


def remember_intact(states: Collection[FileState]) -> None:
    """Remember that files match their digests."""
    if len(_INTACT) + len(states) > MAX_REMEMBERED:
        _INTACT.clear()
    _INTACT.update(states)


def iter_infos(location: Location, files: Sequence[SegmentFile]) -> Iterator[tuple[SegmentFile, fs.FileInfo]]:
    """Yield committed files with their sizes and times.

    Raises
    ------
    StoreError
        If one of them is lost.
    """
    with location.translate_errors():
        infos = location.filesystem.get_file_info([file.path for file in files])
    for file, info in zip(files, infos, strict=True):
        if info.type != fs.FileType.File:
            path = f"{location}/{file.path}"
            raise StoreError(f"The file {file.path} of {location} was pruned or lost. {LOST_FILE_STEP}", path=path)
        yield file, info


def state_of(location: Location, info: fs.FileInfo, file: SegmentFile, digest: str) -> FileState:
    """Return the state of a file with one of its digests."""
    return FileState(location.root, file.path, info.size, info.mtime_ns or 0, digest)
