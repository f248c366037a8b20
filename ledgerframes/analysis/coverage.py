"""Time that frames cover with final data, and the missing parts of a window."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ledgerframes.analysis._once import once_per_frames
from ledgerframes.analysis.groups import Flags, Integers, Rates, distinct, microseconds, ratio
from ledgerframes.datasets.bulk.keys import ObjectKey
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.values import extents
from ledgerframes.values.windows import Window, iso


@dataclass(frozen=True)
class CoveredTime:
    """Separate intervals in ascending order, in microseconds since 1970."""

    starts: Integers
    ends: Integers

    def length(self, starts: Integers, ends: Integers) -> Integers:
        """Return the covered microseconds of each period."""
        return self._length_before(ends) - self._length_before(starts)

    def share(self, starts: Integers, ends: Integers) -> Rates:
        """Return the covered share of each period."""
        return ratio(self.length(starts, ends), ends - starts)

    def is_partial(self, starts: Integers, ends: Integers) -> Flags:
        """Return which periods are not fully covered."""
        is_partial: Flags = self.length(starts, ends) < ends - starts
        return is_partial

    def _length_before(self, times: Integers) -> Integers:
        if not len(self.starts):
            return np.zeros(len(times), dtype=np.int64)
        lengths = np.concatenate([[0], np.cumsum(self.ends - self.starts)])
        count = np.searchsorted(self.starts, times, side="right")
        beyond = np.maximum(self.ends[np.maximum(count - 1, 0)] - times, 0)
        result: Integers = lengths[count] - np.where(count > 0, beyond, 0)
        return result


FIRST_PERIOD = 1970  # year; a window that starts earlier counts as all history
NO_LIMIT = int(np.iinfo(np.int64).min)
NO_TIME = CoveredTime(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@once_per_frames
def covered_time(frames: Frames, *, accept_provisional: bool = False) -> CoveredTime:
    """Return the time that is final in every migration that can have rows in it.

    Frames that were loaded by id or by offset cover no time. Time before the first event of the network is not covered: the
    stored listing starts with that event, and bulk objects start with :attr:`Frames.history_start`. Nothing happens between
    two migrations, so the time between them is covered.
    """
    rows = timed_segments(frames)
    if frames.window is None or rows.empty:
        return NO_TIME
    starts, ends = microseconds(rows["since"]), microseconds(rows["until"])
    history_start = frames.history_start
    if history_start is not None:
        starts = np.maximum(starts, extents.microseconds(history_start))
        ends = np.maximum(ends, starts)
    accepted = ("final", "provisional") if accept_provisional else ("final",)
    is_final = rows["status"].isin(accepted).to_numpy(dtype=bool)
    between_starts, between_ends = _between_migrations(frames, rows["migration_id"], starts, ends)
    unread_starts, unread_ends = _edges(_unread_windows(frames))
    return _uncut(
        np.concatenate([starts[is_final], between_starts]),
        np.concatenate([ends[is_final], between_ends]),
        np.concatenate([starts[~is_final], unread_starts]),
        np.concatenate([ends[~is_final], unread_ends]),
    )


def provisional_time(frames: Frames) -> CoveredTime:
    """Return the time that is provisional, or a gap, in any migration."""
    rows = timed_segments(frames)
    rows = rows[rows["status"] != "final"]
    nothing = np.zeros(0, dtype=np.int64)
    return _uncut(microseconds(rows["since"]), microseconds(rows["until"]), nothing, nothing) if len(rows) else NO_TIME


def window_share(frames: Frames, *, accept_provisional: bool = False) -> float:
    """Return the share of the window that the frames cover, missing without a window.

    Time before the history of the network does not count, so a window from the year 1 can be fully covered.
    """
    if frames.window is None:
        return float("nan")
    return _share_since(frames, begin_of_window(frames), accept_provisional)


def begin_of_window(frames: Frames) -> int:
    """Return the start of the window, or of the history if that is later [microseconds]."""
    assert frames.window is not None
    return max(extents.microseconds(frames.window.since), _history_begin(frames))


def period_share(frames: Frames, *, accept_provisional: bool = False) -> float:
    """Return the covered share of a window that stands for a period of its length.

    An example is the week of a report. Time before the history is not covered, so a week in which the history begins is not a
    whole week. A window from before 1970 stands for all history.
    """
    if frames.window is None or frames.window.since.year < FIRST_PERIOD:
        return window_share(frames, accept_provisional=accept_provisional)
    return _share_since(frames, extents.microseconds(frames.window.since), accept_provisional)


def _share_since(frames: Frames, since: int, accept_provisional: bool) -> float:
    assert frames.window is not None
    start, end = (np.array([each]) for each in (since, extents.microseconds(frames.window.until)))
    return float(covered_time(frames, accept_provisional=accept_provisional).share(start, end)[0])


def _history_begin(frames: Frames) -> int:
    """Return the time at which the history begins in the window.

    Without segments, it is before all time, so that no time is excluded.
    """
    rows = timed_segments(frames)
    if rows.empty:
        return NO_LIMIT
    unread, _ = _edges(_unread_windows(frames))
    begin = int(np.concatenate([microseconds(rows["since"]), unread]).min())
    return begin if frames.history_start is None else max(begin, extents.microseconds(frames.history_start))


@once_per_frames
def timed_segments(frames: Frames) -> pd.DataFrame:
    """Return the coverage of segments that have a time. Callers must not modify it."""
    return frames.coverage.dropna(subset=["since", "until"])


def has_times(frames: Frames) -> bool:
    """Return whether the frames have a window and segments with a time."""
    return frames.window is not None and not timed_segments(frames).empty


def part_of_time(frames: Frames) -> str:
    """Return what frames that do not cover all of their time contain, and the next step."""
    if frames.window is not None and not frames.is_filtered and frames.coverage.empty:
        return "the store has nothing of this window. Choose one after the start of the network's history"
    return "these frames have a part of them. Load a window with since= and pass the unfiltered frames"


def _between_migrations(frames: Frames, migrations: pd.Series, starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """Return the intervals from the end of a migration to the start of the next one."""
    if "bulk_objects" in frames.tables:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    bounds = pd.DataFrame({"start": starts, "end": ends}).groupby(migrations.to_numpy()).agg({"start": "min", "end": "max"})
    before, after = bounds["end"].to_numpy()[:-1], bounds["start"].to_numpy()[1:]
    return before[before < after], after[before < after]


def failed_folders(frames: Frames) -> tuple[Integers, Integers]:
    """Return the times of bulk objects that could not be read and are not in the coverage."""
    return _edges(_failed_windows(frames))


def _edges(windows: list[Window]) -> tuple[Integers, Integers]:
    edges = [(extents.microseconds(each.since), extents.microseconds(each.until)) for each in windows]
    starts, ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return starts, ends


def _unread_windows(frames: Frames) -> list[Window]:
    """Return the times between segments of which the frames do not have all rows."""
    return [*_failed_windows(frames), *frames._source.missing_windows]


def _failed_windows(frames: Frames) -> list[Window]:
    return [Window(key.since, key.until) for key in map(ObjectKey.from_path, frames.failed_objects) if key]


def _uncut(starts: Integers, ends: Integers, cut_starts: Integers, cut_ends: Integers) -> CoveredTime:
    """Return the union of intervals minus the union of others."""
    edges = distinct(np.concatenate([starts, ends, cut_starts, cut_ends]))
    is_inside = (_depths(edges, starts, ends) > 0) & (_depths(edges, cut_starts, cut_ends) == 0)
    changes = np.diff(np.concatenate([[0], is_inside.astype(np.int64)]))
    return CoveredTime(edges[changes == 1], edges[changes == -1])


def _depths(edges: Integers, starts: Integers, ends: Integers) -> Integers:
    """Return the number of intervals that cover the time after each edge."""
    steps = np.zeros(len(edges), dtype=np.int64)
    np.add.at(steps, np.searchsorted(edges, starts), 1)
    np.add.at(steps, np.searchsorted(edges, ends), -1)
    depths: Integers = np.cumsum(steps)
    return depths


# -- windows ------------------------------------------------------------------------------------------------------------


def require_final_history(frames: Frames, needed: Window) -> None:
    """Raise a CoverageError unless the frames cover a window, and all of it is final."""
    missing, provisional = (tuple(map(str, windows)) for windows in incomplete_windows(frames, needed))
    if missing:
        raise CoverageError(
            f"The state at {iso(needed.until)} needs history that these frames do not cover: {', '.join(missing)}. "
            f'Load since="{iso(needed.since)}" until="{iso(needed.until)}", or pass a base= from a later time.',
            missing=missing,
        )
    if provisional:
        raise CoverageError(
            f"The state at {iso(needed.until)} is not final: updates can still arrive in {', '.join(provisional)}. "
            "Choose an earlier time, or load the frames again later.",
            missing=provisional,
        )


def incomplete_windows(frames: Frames, needed: Window) -> tuple[list[Window], list[Window]]:
    """Return the parts of a window that frames miss, and those that are not final."""
    coverage = timed_segments(frames)  # only once, because it is computed from all segments
    missing = needed.difference(_covered_windows(frames, coverage))  # to the end: the newest bulk objects may not exist yet
    rows = coverage[coverage["status"] != "final"]
    parts = [part for window in windows_of(rows) if (part := window.intersect(needed))]
    return missing, list(dict.fromkeys(parts))


def _covered_windows(frames: Frames, coverage: pd.DataFrame) -> list[Window]:
    if frames.window is None or coverage.empty:
        return []
    if "bulk_objects" in frames.tables:  # folders are adjacent, so a hole is an object that was not read
        covered = windows_of(coverage)
    else:
        covered = [Window(frames.window.since, coverage["until"].max().to_pydatetime())]
    unread = _unread_windows(frames)
    return [part for window in covered for part in window.difference(unread)]


def windows_of(coverage: pd.DataFrame) -> list[Window]:
    """Return the windows of segments that have one."""
    rows = coverage[coverage["since"].notna() & (coverage["since"] < coverage["until"])]
    edges = zip(rows["since"], rows["until"], strict=True)
    return [Window(since.to_pydatetime(), until.to_pydatetime()) for since, until in edges]
