"""The weeks before a report, for its usual ranges.

They come from the store, or from the integers that each published run keeps of its days.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ledgerframes.analysis.groups import iter_rows
from ledgerframes.analysis.usual_range import INTEGERS, describe_waste_range, period_totals, waste_range
from ledgerframes.frames import Frames
from ledgerframes.report.run_content import DayTotals, RunContent
from ledgerframes.values.windows import Window, iso

DAY_DTYPES = {"period_start": "datetime64[us, UTC]", **dict.fromkeys(INTEGERS, "int64"), "is_whole": "bool"}


def describe_waste(frames: Frames, history: Frames | pd.DataFrame | None) -> str:
    """Return what a report may say about the wasted share of each day.

    Parameters
    ----------
    frames : Frames
        All requests of a window.
    history : Frames or DataFrame or None
        From :func:`ledgerframes.report.load_history`.

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


# -- days that runs keep --------------------------------------------------------------------------------------------------


def daily_integers(frames: Frames) -> list[DayTotals]:
    """Return the integers of each day that a usual range needs, as JSON values."""
    return [
        DayTotals(
            since=iso(row.period_start),
            requests=row.requests,
            rejected=row.rejected,
            requests_with_cost=row.requests_with_cost,
            wasted_traffic_cost=row.wasted_traffic_cost,
            total_traffic_cost=row.total_traffic_cost,
            is_whole=row.is_whole,
        )
        for row in iter_rows(period_totals(frames, "1d"))
    ]


def days_of_runs(runs: Sequence[RunContent], network: str, window: Window) -> pd.DataFrame:
    """Return the whole days of a window that runs kept, one row per day, sorted by time.

    Only runs of the network count. If several have the same day, the last one in this order counts.
    """
    rows = [day for run in runs if run["network"] == network for day in run.get("days", [])]
    days = pd.DataFrame(rows, columns=["since", *INTEGERS, "is_whole"]).rename(columns={"since": "period_start"})
    days = days.assign(period_start=pd.to_datetime(days["period_start"], utc=True)).astype(DAY_DTYPES)
    first, last = (pd.Timestamp(time).floor("D") for time in (window.since, window.until))
    is_inside = (days["period_start"] >= first) & (days["period_start"] < last) & days["is_whole"]
    return days[is_inside].drop_duplicates("period_start", keep="last").sort_values("period_start", ignore_index=True)
