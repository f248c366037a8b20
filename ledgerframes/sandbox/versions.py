"""Versions that the APIs of a sandbox can have (docs/facts.md#versions)."""

from __future__ import annotations

# The newest release of each minor version that was met in public.
RELEASES = {"3.3": "3.3.0", "3.4": "3.4.11", "3.5": "3.5.14", "3.6": "3.6.2", "3.7": "3.7.4"}
HISTORY_RELEASES = {"0.7": "0.7.4", "0.8": "0.8.1", "0.9": "0.9.0"}  # of which 0.9 is announced


def release_of(version: str) -> str:
    """Return the release of a version of the ledger API, such as 3.6."""
    return _release("ledger_version", version, RELEASES)


def history_release_of(version: str) -> str:
    """Return the release of a version of the history API, such as 0.8."""
    return _release("history_version", version, HISTORY_RELEASES)


def _release(argument: str, version: str, releases: dict[str, str]) -> str:
    minor = ".".join(str(version).split(".")[:2])
    if not isinstance(version, str) or minor not in releases:
        example = releases[list(releases)[len(releases) // 2]]
        raise ValueError(f"{argument}= must be {', '.join(releases)}, or a release such as {example}, got {version!r}.")
    return releases[minor] if version == minor else version


def minor_of(release: str) -> int:
    """Return the second number of a release."""
    return int(release.split(".")[1])
