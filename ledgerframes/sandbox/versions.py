"""Versions of the ledger API that a sandbox can have (docs/facts.md#versions)."""

from __future__ import annotations

# The newest release of each minor version that was met in public.
RELEASES = {"3.3": "3.3.0", "3.4": "3.4.11", "3.5": "3.5.14", "3.6": "3.6.2", "3.7": "3.7.4"}


def release_of(version: str) -> str:
    """Return the release of a version, which may be a minor version such as 3.6."""
    minor = ".".join(version.split(".")[:2])
    if minor not in RELEASES:
        raise ValueError(f"ledger_version= must be {', '.join(RELEASES)}, or a release such as 3.5.14, got {version!r}.")
    return RELEASES[minor] if version == minor else version


def minor_of(release: str) -> int:
    """Return the second number of a release."""
    return int(release.split(".")[1])
