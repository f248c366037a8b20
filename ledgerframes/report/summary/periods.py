"""The window of a report and the period before, and whether they compare."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict

from ledgerframes.analysis._coverage import window_share
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.report.state import State
from ledgerframes.statistics import printing
from ledgerframes.windows import Window, iso

MIN_FINAL_SHARE = 0.99  # a part of a period is compared with no whole one
UNITS = {noun: timedelta(**{f"{noun}s": 1}) for noun in ("day", "hour", "minute", "second")}


class Statement(TypedDict):
    """A statement of a summary, with its details."""

    term: str
    text: str
    details: list[str]


@dataclass(frozen=True)
class Periods:
    """The requests of a window, and of the period of the same length before it.

    Attributes
    ----------
    after : Frames
        The window of the report.
    before : Frames or None
        The period before, None if the store does not have it.
    state : dict of str to DataFrame, or None
        The network's state, None if the report does not need it or the store does not have it.
    """

    after: Frames
    before: Frames | None
    state: State | None = None

    @property
    def name(self) -> str:
        """The period before in words, such as ``7 days before``."""
        assert self.after.window is not None
        length = self.after.window.until - self.after.window.since
        noun, unit = next((noun, unit) for noun, unit in UNITS.items() if length % unit == timedelta(0) or noun == "second")
        number = round(length / unit)
        return f"{number} {noun}s before" if number != 1 else f"{noun} before"

    @property
    def obstacle(self) -> str:
        """Why the two do not compare, empty if they do."""
        if self.before is None:
            return f"Not compared, because the store does not have the {self.name}."
        for frames, name in ((self.after, "this window"), (self.before, f"the {self.name}")):
            share = window_share(frames)
            if not share >= MIN_FINAL_SHARE:
                return f"Not compared, because only {printing.share(share)} of {name} is final and in the history."
        return ""


def window_before(window: Window) -> Window | None:
    """Return the window of the same length before a window, None before the first year.

    >>> from datetime import datetime, UTC
    >>> print(window_before(Window(datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))))
    2026-11-07T00:00:00Z … 2026-11-08T00:00:00Z
    """
    return window.before(window.until - window.since)


def load_before(net: Network, frames: Frames, *, progress: bool | None = None) -> Frames | None:
    """Load the period before the window of frames, which has the same length.

    Parameters
    ----------
    net : Network
    frames : Frames
        Loaded from it for a window.
    progress : bool, optional
        Whether to show a progress bar (default: in terminals and notebooks).

    Returns
    -------
    Frames or None
        All requests of the period, None offline if the store does not have it.

    Raises
    ------
    UsageError
        If the frames have no window.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import load_before
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> evening = lf.load_events(net, since="2026-11-08T18:00Z", until="2026-11-09")
    >>> print(load_before(net, evening).window)
    2026-11-08T12:00:00Z … 2026-11-08T18:00:00Z
    """
    if frames.window is None:
        raise UsageError("load_before needs frames of a window. Load them with since= and until=.")
    before = window_before(frames.window)
    if before is None:
        return None
    try:
        return load_events(net, since=iso(before.since), until=iso(before.until), progress=progress)
    except CoverageError:
        if not net.offline:
            raise
        return None
