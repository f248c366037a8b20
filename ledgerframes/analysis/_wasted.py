"""Cost of rejected requests, with its usual range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import known, ratio
from ledgerframes.analysis._requests import is_rejected, require_rejections
from ledgerframes.analysis._usual_range import period_totals, range_within_window, usual_ranges
from ledgerframes.frames import Frames
from ledgerframes.statistics.usual_ranges import SHORT_HISTORY

__all__ = ["wasted"]

WASTED = declare.Figure(
    "cost.wasted",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "hour": grouping.HOUR},
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("rejected", "Rejected requests."),
        declare.cost("wasted_traffic_cost", "Cost of the rejected requests. 0 with known costs but no rejected request."),
        declare.cost("useful_traffic_cost", "Cost of the other requests. 0 with known costs but no other request."),
        declare.share("Wasted part of wasted and useful cost.", title="Share of the cost that was wasted"),
        declare.share("Usual share of this weekday or hour in the weeks before. Missing without a usual range.", "center"),
        declare.share("Upper end of the usual range. Missing without one.", "upper"),
        declare.ResultColumn("is_above", declare.FLAG, "Whether the share is above its usual range. Missing without one."),
        declare.ResultColumn("reason", declare.TEXT, "Reason why there is no usual range. Missing if there is one."),
    ),
    has_periods=True,
)
GROUPS = "only all requests together have a usual range"
NO_PERIODS = "only days and hours have a usual range"


@WASTED.document
def wasted(
    frames: Frames,
    *,
    by: str | None = None,
    every: str | None = "1d",
    history: Frames | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return the cost of rejected requests, with its usual range.

    Some waste is normal, a rise is not. The usual range is that of the same weekday, or of the same hour of working days or
    the weekend, in the 4 to 6 whole weeks before. The periods of the frames themselves are never part of it.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    by : {None, "participant", "party", "hour"}, optional
        Submitting participant, submitting party, or hour of the day [UTC]. Groups have no usual range.
    every : str, optional
        Length of a period, such as ``"1h"``, ``"1d"`` or ``"7d"``; None for the whole window in one row. Only
        days and hours have a usual range.
    history : Frames, optional
        All requests of the weeks before, from :func:`ledgerframes.load_events` (default: none). Without it, a window of seven
        days or more compares each day with the other days.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and group, periods without requests included; sorted by time and group.

    Raises
    ------
    CoverageError
        If the frames or the history hold committed updates, so that the waste would be 0 by construction.
    UsageError
        If the history is of another network.

    Notes
    -----
    Source: verdicts with result rejected, traffic summaries (docs/facts.md#survivorship). The usual range: docs/uncertainty.md.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> hours = lf.cost.wasted(day, every="1h")
    >>> len(hours), bool((hours["rejected"] <= hours["requests"]).all())
    (24, True)
    """
    keys = WASTED.check(frames, by).key_names
    require_rejections(frames, accept_survivorship, "the waste")
    if history is not None:
        declare.require_one_network("cost.wasted", frames, history)
        require_rejections(history, accept_survivorship, "the usual range")
    rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    wasted_cost, useful_cost = groups.masked_total(costs, rejected), groups.masked_total(costs, ~rejected)
    wasted_share = ratio(wasted_cost, wasted_cost + useful_cost)
    values = {
        **groups.keys,
        "requests": groups.count(),
        "rejected": groups.count(rejected),
        "wasted_traffic_cost": wasted_cost,
        "useful_traffic_cost": useful_cost,
        "share": wasted_share,
        **_usual_range(frames, history, by, every, len(groups)),
        "coverage": groups.coverage(known(costs)),
        "coverage_bytes": groups.coverage_bytes(costs, known(costs)),
    }
    return WASTED.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _usual_range(frames: Frames, history: Frames | None, by: str | None, every: str | None, count: int) -> dict[str, Any]:
    """Return the columns of the usual range, with a reason where there is none."""
    if by is not None or every not in ("1d", "1h"):
        return _without_range(count, GROUPS if by is not None else NO_PERIODS)
    report = period_totals(frames, every)
    if history is None:
        result = range_within_window("wasted_share", report) if every == "1d" else None
    else:
        result = usual_ranges(period_totals(history, every), report, every)["wasted_share"]
    if result is None or result.reason:
        return _without_range(count, result.reason if result else SHORT_HISTORY)
    limits = result.periods.to_frame()
    limits["reason"] = limits["reason"].replace("", pd.NA)
    return {str(name): limits[name] for name in limits}


def _without_range(count: int, reason: str) -> dict[str, Any]:
    missing = np.full(count, np.nan)
    return {
        "center": missing,
        "upper": missing,
        "is_above": pd.array([pd.NA] * count, dtype="boolean"),
        "reason": [reason] * count,
    }
