"""The digest files of saved objects, which ``sha256sum --check`` can also read.

Without a digest file, a flipped bit on a disk can change rows without an error, because not all compression frames have a
checksum.
"""

from __future__ import annotations

import re
from pathlib import Path

from ledgerframes.errors import UsageError

SUFFIX = ".sha256"
LINE = re.compile(r"([0-9a-f]{64})(\s|$)")


def save_digest(path: Path, sha256: str) -> None:
    """Write the digest file of an object."""
    _digest_file(path).write_text(f"{sha256}  {path.name}\n", encoding="utf-8")


def saved_digest(path: Path) -> str | None:
    """Return the digest in the digest file of an object, None if there is none."""
    file = _digest_file(path)
    try:
        match = LINE.match(file.read_text(encoding="utf-8", errors="replace"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"Cannot read {file}: {error.strerror}. Check the file.") from error
    if match is None:
        raise UsageError(f"{file} has no SHA-256 digest. Delete it, or download the object again.")
    return match[1]


def _digest_file(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)
