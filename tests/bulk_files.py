"""Bulk objects as files."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from ledgerframes.sandbox import Sandbox


def write_bulk_files(box: Sandbox, folder: Path) -> Path:
    """Write every object of a sandbox's updates as a file that is named by its key."""
    for day in box.bulk.folders():
        for key in box.bulk.keys(day):
            (folder / quote(key, safe="~:")).write_bytes(box.bulk.get(key) or b"")
    return folder
