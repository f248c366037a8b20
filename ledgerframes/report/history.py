"""The weeks before a report, for its usual ranges.

They come from the store, or from the integers that each published run keeps of its days.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pandas as pd

from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis._usual_range import INTEGERS, describe_waste_range, period_totals, totals_of_groups, waste_range
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.loaders.events import load_events
from ledgerframes.network import Network
from ledgerframes.windows import Window, iso

HISTORY_WEEKS = 6
HISTORY_VARIABLE = "LEDGERFRAMES_REPORT_HISTORY"
DAY_DTYPES = {"period_start": "datetime64[us, UTC]", **dict.fromkeys(INTEGERS, "int64"), "is_whole": "bool"}


def load_history(
    net: Network, frames: Frames, *, weeks: int = HISTORY_WEEKS, progress: bool | None = None
) -> Frames | pd.DataFrame | None:
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
    Frames or DataFrame or None
        All requests of these weeks. Offline, if the store does not have them, the days that published runs kept, one row per
        day, sorted by time. None if there are none.

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
    window = history_window(frames.window, weeks)
    if window is None:
        return None
    try:
        return load_events(net, since=iso(window.since), until=iso(window.until), progress=progress)
    except CoverageError:
        if not net.offline:
            raise
        path = os.environ.get(HISTORY_VARIABLE)  # set for the notebook of a run
        return read_days(Path(path)) if path else None


def describe_waste(frames: Frames, history: Frames | pd.DataFrame | None) -> str:
    """Return what a report may say about the wasted share of each day.

    Parameters
    ----------
    frames : Frames
        All requests of a window.
    history : Frames or DataFrame or None
        From :func:`load_history`.

    Returns
    -------
    str
        A sentence per day above its usual range, or that there is none.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import describe_waste
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> describe_waste(lf.load_events(net, since="2026-11-08", until="2026-11-09"), None)
    'No usual range: fewer than 7 periods.'
    """
    report = period_totals(frames, "1d")
    past = period_totals(history, "1d") if isinstance(history, Frames) else history
    return describe_waste_range(waste_range(report, past, "1d"), report)


def history_window(window: Window, weeks: int = HISTORY_WEEKS) -> Window | None:
    """Return the weeks before a window, None before the first year."""
    return window.before(timedelta(weeks=weeks))


# -- days that runs keep --------------------------------------------------------------------------------------------------


def daily_integers(frames: Frames, requests: pd.DataFrame) -> list[dict[str, object]]:
    """Return the integers of each day that a usual range needs, as JSON values.

    Parameters
    ----------
    frames : Frames
    requests : DataFrame
        Their requests, with ``verdict_result`` and ``total_traffic_cost``.
    """
    totals = totals_of_groups(frames, requests, group_rows(frames, requests, [], "1d"))
    starts = [iso(time) for time in totals["period_start"].dt.to_pydatetime()]
    integers = totals[INTEGERS].astype("int64").to_dict("records")
    whole = totals["is_whole"].tolist()
    return [
        {"since": start, **{str(name): value for name, value in row.items()}, "is_whole": is_whole}
        for start, row, is_whole in zip(starts, integers, whole, strict=True)
    ]


def days_of_runs(runs: Sequence[dict[str, object]], network: str, window: Window) -> pd.DataFrame:
    """Return the whole days of a window that runs kept.

    Parameters
    ----------
    runs : sequence of dict
        Content of ``run.json`` of each run. Of two runs over the same day, the later in this order counts.
    network : str
        Runs of other networks do not count.
    window : Window

    Returns
    -------
    DataFrame
        One row per day, sorted by time: ``period_start``, the five integers of :func:`daily_integers` and ``is_whole``.
    """
    rows = [day for run in runs if run["network"] == network for day in run.get("days", [])]  # type: ignore[attr-defined]
    days = pd.DataFrame(rows, columns=["since", *INTEGERS, "is_whole"]).rename(columns={"since": "period_start"})
    days = days.assign(period_start=pd.to_datetime(days["period_start"], utc=True)).astype(DAY_DTYPES)
    first, last = (pd.Timestamp(time).floor("D") for time in (window.since, window.until))
    is_inside = (days["period_start"] >= first) & (days["period_start"] < last) & days["is_whole"]
    return days[is_inside].drop_duplicates("period_start", keep="last").sort_values("period_start", ignore_index=True)


def write_days(days: pd.DataFrame, path: Path) -> None:
    """Write the days that a notebook reads with :func:`load_history`."""
    days.to_parquet(path, index=False)


def read_days(path: Path) -> pd.DataFrame:
    """Return the days of :func:`write_days`."""
    return pd.read_parquet(path).astype(DAY_DTYPES)
