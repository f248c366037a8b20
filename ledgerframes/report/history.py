"""The weeks before a report, for its usual ranges."""

from __future__ import annotations

from datetime import timedelta

from ledgerframes.analysis._usual_range import INTEGERS, period_totals
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.windows import iso

HISTORY_WEEKS = 6


def load_history(net: Network, frames: Frames, *, weeks: int = HISTORY_WEEKS, progress: bool | None = None) -> Frames | None:
    """Load the weeks before the window of frames.

    Parameters
    ----------
    net : Network
    frames : Frames
        Loaded from it for a window.
    weeks : int, optional
        Number of weeks (default: 6, the most that a usual range uses).
    progress : bool, optional
        Whether to show a progress bar (default: in terminals and notebooks).

    Returns
    -------
    Frames or None
        All requests of these weeks, None offline if the store does not have them.

    Raises
    ------
    UsageError
        If the frames have no window.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import load_history
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> history = load_history(net, day, weeks=1)
    >>> len(history.verdicts)
    0
    """
    if frames.window is None:
        raise UsageError("load_history needs frames of a window. Load them with since= and until=.")
    since = frames.window.since - timedelta(weeks=weeks)
    try:
        return load_events(net, since=iso(since), until=iso(frames.window.since), progress=progress)
    except CoverageError:
        if not net.offline:
            raise
        return None


def daily_integers(frames: Frames) -> list[dict[str, object]]:
    """Return the integers of each day that a usual range needs, as JSON values."""
    totals = period_totals(frames, "1d")
    starts = [iso(time) for time in totals["period_start"].dt.to_pydatetime()]
    integers = totals[INTEGERS].astype("int64").to_dict("records")
    whole = totals["is_whole"].tolist()
    return [
        {"since": start, **{str(name): value for name, value in row.items()}, "is_whole": is_whole}
        for start, row, is_whole in zip(starts, integers, whole, strict=True)
    ]
