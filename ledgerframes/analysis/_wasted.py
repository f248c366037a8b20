"""Bytes spent on rejected requests, with the limits of a control chart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis._columns import COVERAGE, FLAG, PERIOD, ResultColumn, cost, count, shaped, share
from ledgerframes.analysis._groups import Rates, known, periods, ratio
from ledgerframes.analysis._requests import is_rejected, refuse_survivors, requests
from ledgerframes.frames import Frames

WASTED = (
    *PERIOD,
    count("requests", "Confirmation requests."),
    count("rejected", "Those of them that were rejected."),
    cost("wasted_traffic_cost", "Cost of the rejected requests; 0 where costs are known and nothing was rejected."),
    cost("total_traffic_cost", "Cost of all requests."),
    share("Wasted part of the total cost."),
    share("Median share of all periods, the centre of the control chart; missing for fewer than 7 periods.", "center"),
    share("Centre less 3 median absolute deviations, at least 0.", "lower"),
    share("Centre plus 3 median absolute deviations, at most 1.", "upper"),
    ResultColumn("outside", FLAG, "Whether the share lies outside the limits; missing without share or limits."),
    COVERAGE,
)
FEWEST_PERIODS_FOR_LIMITS = 7
DEVIATIONS = 3


def wasted(frames: Frames, every: str = "1d", *, accept_survivorship: bool = False) -> pd.DataFrame:
    """Bytes spent on rejected requests, with the limits of a control chart.

    Some waste is normal; a rise is not. Limits are the median share of all periods ± 3 median absolute deviations.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    every : str
        Length of a period, such as ``"1h"``, ``"1d"`` or ``"7d"``.
    accept_survivorship : bool
        Go on although all requests were found among accepted ones.

    Returns
    -------
    DataFrame
        One row per period of the whole window, sorted by time: ``period_start`` and ``period_end`` [UTC], ``requests``,
        ``rejected``, ``wasted_traffic_cost`` [bytes], ``total_traffic_cost`` [bytes], ``share``, ``center``, ``lower`` and
        ``upper`` (the same in every row), ``outside``, ``coverage``.

    Raises
    ------
    CoverageError
        If every request was found through ids of accepted updates: the waste would be 0 by construction.
    UsageError
        If `every` is not a period, or cuts the window into more than a million.

    Notes
    -----
    Source: verdicts with result rejected, traffic summaries.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> waste = lf.cost.wasted(frames, "1h")
    >>> len(waste), bool((waste["rejected"] <= waste["requests"]).all())
    (24, True)
    """
    rows = requests(frames, ["verdict_result", "id_source"])
    refuse_survivors(rows, accept_survivorship)
    groups = periods(frames, rows["record_time"], every).group(rows["record_time"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    spent, total = groups.part_total(costs, rejected), groups.total(costs)
    share_wasted = ratio(spent, total)
    center, lower, upper = _control_limits(share_wasted)
    outside = pd.array((share_wasted < lower) | (share_wasted > upper), dtype="boolean")
    outside[np.isnan(share_wasted) | np.isnan(center)] = pd.NA
    return shaped(
        WASTED,
        {
            **groups.keys,
            "requests": groups.count(),
            "rejected": groups.count(rejected),
            "wasted_traffic_cost": spent,
            "total_traffic_cost": total,
            "share": share_wasted,
            "center": center,
            "lower": lower,
            "upper": upper,
            "outside": outside,
            "coverage": groups.share_known(known(costs)),
        },
    )


def _control_limits(values: Rates) -> tuple[float, float, float]:
    """Median, and the median ∓ 3 median absolute deviations; missing for so few values that limits would say nothing."""
    present = values[~np.isnan(values)]
    if len(present) < FEWEST_PERIODS_FOR_LIMITS:
        return np.nan, np.nan, np.nan
    center = float(np.median(present))
    spread = DEVIATIONS * float(np.median(np.abs(present - center)))
    return center, max(center - spread, 0.0), min(center + spread, 1.0)
