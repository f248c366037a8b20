"""Parts of a window without final data."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.windows import Window, iso


def require_final_history(frames: Frames, needed: Window) -> None:
    """Raise a CoverageError unless the frames cover a window, and all of it is final."""
    missing = tuple(map(str, missing_windows(frames, needed)))
    if missing:
        raise CoverageError(
            f"The state at {iso(needed.until)} needs history that these frames do not cover: {', '.join(missing)}. "
            f'Load since="{iso(needed.since)}" until="{iso(needed.until)}", or pass a base= from a later time.',
            missing=missing,
        )
    provisional = tuple(map(str, provisional_windows(frames, needed)))
    if provisional:
        raise CoverageError(
            f"The state at {iso(needed.until)} is not final: updates can still arrive in {', '.join(provisional)}. "
            "Choose an earlier time, or load the frames again later.",
            missing=provisional,
        )


def missing_windows(frames: Frames, needed: Window) -> list[Window]:
    """Return the parts of a window that the frames do not cover.

    They end with the coverage, because the newest bulk objects may not exist yet.
    """
    return needed.difference(_covered_windows(frames))


def provisional_windows(frames: Frames, needed: Window) -> list[Window]:
    """Return the parts of a window in which updates can still arrive, each once."""
    coverage = frames.coverage
    rows = coverage[coverage["status"] != "final"]
    parts = [part for window in windows_of(rows) if (part := window.intersect(needed))]
    return list(dict.fromkeys(parts))


def _covered_windows(frames: Frames) -> list[Window]:
    coverage = frames.coverage
    if frames.window is None or coverage.empty:
        return []
    if "bulk_objects" in frames.tables:  # folders are adjacent, so a hole is an object that was not read
        unread = _folder_windows(frames.failed_objects)
        return [part for window in windows_of(coverage) for part in window.difference(unread)]
    return [Window(frames.window.since, coverage["until"].max().to_pydatetime())]


def _folder_windows(object_keys: Iterable[str]) -> list[Window]:
    """Return the windows of the folders of bulk objects.

    The coverage does not show a failed object between others.
    """
    return [Window(key.since, key.until) for key in map(ObjectKey.from_path, object_keys) if key]


def windows_of(coverage: pd.DataFrame) -> list[Window]:
    """Return the windows of segments that have one."""
    rows = coverage[coverage["since"].notna() & (coverage["since"] < coverage["until"])]
    edges = zip(rows["since"], rows["until"], strict=True)
    return [Window(since.to_pydatetime(), until.to_pydatetime()) for since, until in edges]
