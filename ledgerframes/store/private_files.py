"""Files and directories of a store, which other users of the machine cannot read.

A root that this package creates is private to its user. Below a root, nothing is more open than its directory, so that
permissions set on an existing root, such as a team's, hold.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
import uuid
from pathlib import Path
from typing import BinaryIO

__all__ = ["make_durable_dir", "open_to_write", "restrict", "scratch_dir"]

PRIVATE = 0o700
READ_AND_WRITE = 0o666


def make_durable_dir(directory: Path, root: Path) -> None:
    """Create a directory, and sync its name to the disk before anything in it counts.

    It is private, or below an existing root as open as its parent directory.
    """
    if directory.is_dir():
        return
    make_durable_dir(directory.parent, root)
    directory.mkdir(mode=_mode(directory.parent) if root in directory.parents else PRIVATE, exist_ok=True)
    if os.name == "posix":
        descriptor = os.open(directory.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_to_write(path: Path) -> BinaryIO:
    """Open a file for writing, with permissions no more open than its directory's."""
    mode = _mode(path.parent) & READ_AND_WRITE
    return open(path, "wb", opener=lambda name, flags: os.open(name, flags, mode))


def restrict(path: Path, *, is_private: bool = False) -> None:
    """Take permissions from a file that another library has created."""
    allowed = PRIVATE if is_private else _mode(path.parent)
    path.chmod(_mode(path) & allowed & READ_AND_WRITE)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@functools.cache
def scratch_dir() -> Path:
    """Return the directory for copies of catalogs, which is deleted when the process ends."""
    directory = Path(tempfile.gettempdir()) / f"ledgerframes-{uuid.uuid4().hex}"  # created at the first write
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory
