"""Cost of rejected requests, with the limits of a control chart."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Groups, Rates, known, ratio
from ledgerframes.analysis._requests import is_rejected, require_rejections
from ledgerframes.frames import Frames

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
        declare.share("Median share of all whole periods of the group. Missing with fewer than 7 periods.", "center"),
        declare.share("Center minus 3 median absolute deviations, at least 0.", "lower"),
        declare.share("Center plus 3 median absolute deviations, at most 1.", "upper"),
        declare.ResultColumn(
            "is_outside",
            declare.FLAG,
            "Whether the share is outside the limits. Missing without share or limits, and for partial periods.",
        ),
    ),
    has_periods=True,
)
MIN_PERIODS_FOR_LIMITS = 7
DEVIATIONS = 3


@WASTED.document
def wasted(frames: Frames, *, by: str | None = None, every: str | None = "1d", accept_survivorship: bool = False) -> pd.DataFrame:
    """Return the cost of rejected requests, with the limits of a control chart.

    Some waste is normal, a rise is not. The limits are the median share of all periods ± 3 median absolute deviations.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    by : {None, "participant", "party", "hour"}, optional
        Submitting participant, submitting party, or hour of the day [UTC]. Each group has its own limits.
    every : str, optional
        Length of a period, such as ``"1h"``, ``"1d"`` or ``"7d"``; None for the whole window in one row, without limits.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and group, periods without requests included; sorted by time and group.

    Raises
    ------
    CoverageError
        If the frames hold committed updates, so that the waste would be 0 by construction.

    Notes
    -----
    Source: verdicts with result rejected, traffic summaries (docs/facts.md#survivorship).

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
    rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    wasted_cost, useful_cost = groups.masked_total(costs, rejected), groups.masked_total(costs, ~rejected)
    wasted_share = ratio(wasted_cost, wasted_cost + useful_cost)
    is_partial = groups.keys["is_partial"].to_numpy(dtype=bool) if every else np.zeros(len(groups), dtype=bool)
    whole_shares = np.where(is_partial, np.nan, wasted_share)
    center, lower, upper = _control_limits(whole_shares, groups, every)
    is_outside = pd.array((whole_shares < lower) | (whole_shares > upper), dtype="boolean")
    is_outside[np.isnan(whole_shares) | np.isnan(center)] = pd.NA
    values = {
        **groups.keys,
        "requests": groups.count(),
        "rejected": groups.count(rejected),
        "wasted_traffic_cost": wasted_cost,
        "useful_traffic_cost": useful_cost,
        "share": wasted_share,
        "center": center,
        "lower": lower,
        "upper": upper,
        "is_outside": is_outside,
        "coverage": groups.coverage(known(costs)),
        "coverage_bytes": groups.coverage_bytes(costs, known(costs)),
    }
    return WASTED.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _control_limits(values: Rates, groups: Groups, every: str | None) -> tuple[Rates, Rates, Rates]:
    """Return center, lower and upper limit of each row.

    They are those of its group, over all periods.
    """
    period_count = groups.keys["period_start"].nunique() if every else 1
    by_group = values.reshape(period_count, -1).T if len(values) else values.reshape(0, 0)
    limits = np.array([_limits(group) for group in by_group]).reshape(-1, 3)
    center, lower, upper = np.tile(limits, (period_count, 1)).T if len(values) else np.empty((3, 0))
    return center, lower, upper


def _limits(values: Rates) -> tuple[float, float, float]:
    present = values[~np.isnan(values)]
    if len(present) < MIN_PERIODS_FOR_LIMITS:
        return np.nan, np.nan, np.nan
    center = float(np.median(present))
    spread = DEVIATIONS * float(np.median(np.abs(present - center)))
    return center, max(center - spread, 0.0), min(center + spread, 1.0)
