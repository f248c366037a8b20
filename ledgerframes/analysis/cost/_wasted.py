"""Cost of rejected requests, with its usual range."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Groups, known, ratio
from ledgerframes.analysis._requests import is_rejected, require_rejections
from ledgerframes.analysis._usual_range import period_totals, totals_of_groups, waste_limits
from ledgerframes.analysis.verdict._latency_classes import REJECT_KINDS, reject_kinds
from ledgerframes.frames import Frames
from ledgerframes.statistics.usual_ranges import PERIODS_PER_WEEK, without_limits

WASTED = declare.Figure(
    "cost.wasted",
    distinct=(),
    rows="One row per period and group, periods without requests included; sorted by time and group.",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "hour": grouping.HOUR},
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("rejected", "Rejected requests."),
        declare.cost("wasted_traffic_cost", "Cost of the rejected requests. 0 with known costs but no rejected request."),
        declare.cost("useful_traffic_cost", "Cost of the other requests. 0 with known costs but no other request."),
        declare.label(
            "top_cause",
            "Kind of rejections that wasted more, guessed from latency: contention or timeout. Missing if neither is known to.",
        ),
        declare.share("Wasted part of wasted and useful cost.", title="Share of the cost that was wasted"),
        declare.share("Usual share of this weekday or hour in the weeks before. Missing without a usual range.", "center"),
        declare.share("Upper end of the usual range. Missing without one.", "upper"),
        declare.flag("is_above", "Whether the share is above its usual range. Missing without one."),
        declare.text("reason", "Reason why there is no usual range. Missing if there is one."),
    ),
    has_periods=True,
)
NO_PERIODS = "only days and hours have a usual range"
LIMITS = ["center", "upper", "is_above", "reason"]


@WASTED.document
def wasted(
    frames: Frames,
    *,
    by: Literal["participant", "party", "hour"] | None = None,
    every: str | None = "1d",
    history: Frames | pd.DataFrame | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return the cost of rejected requests, with its usual range.

    Some waste is normal, a rise is not. The usual range is that of the same weekday, or of the same hour of working days or
    the weekend, in the 4 to 6 whole weeks before. The periods of the frames themselves are never part of it.

    Parameters
    ----------
    by : {None, "participant", "party", "hour"}, optional
        Submitting participant, submitting party, or hour of the day [UTC]. The usual range of a participant or a party is
        that of the same group in the weeks before. Hours of the day have no usual range.
    history : Frames or DataFrame, optional
        All requests of the weeks before, from :func:`ledgerframes.load_events`, or the days that earlier reports kept, from
        :func:`ledgerframes.report.load_history` (default: none). Without it, a window of seven days or more compares each day
        with the other days. Kept days are of all requests together.

    Raises
    ------
    CoverageError
        If the frames or the history hold committed updates, so that the waste would be 0 by construction.
    UsageError
        If the history is of another network.

    Source: verdicts with result rejected, traffic summaries (docs/facts.md#survivorship). The usual range: docs/uncertainty.md.

    >>> hours = lf.cost.wasted(day, every="1h")
    >>> len(hours), bool((hours["rejected"] <= hours["requests"]).all())
    (24, True)
    """
    keys = WASTED.check(frames, by).key_names
    require_rejections(frames, accept_survivorship, "the waste")
    if isinstance(history, Frames):
        declare.require_one_network("cost.wasted", frames, history)
        require_rejections(history, accept_survivorship, "the usual range")
    rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result", "finalization_time"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    wasted_cost, useful_cost = groups.masked_total(costs, rejected), groups.masked_total(costs, ~rejected)
    wasted_share = ratio(wasted_cost, wasted_cost + useful_cost)
    values = {
        **groups.keys,
        **grouping.covered_hours(frames, keys, every),
        "requests": groups.count(),
        "rejected": groups.count(rejected),
        "wasted_traffic_cost": wasted_cost,
        "useful_traffic_cost": useful_cost,
        "top_cause": _top_causes(rows, groups),
        "share": wasted_share,
        **_usual_range(frames, rows, groups, keys, every, history),
        "coverage": groups.coverage(known(costs)),
        "coverage_bytes": groups.coverage_bytes(costs, known(costs)),
    }
    return WASTED.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _top_causes(rows: pd.DataFrame, groups: Groups) -> pd.Series:
    """Return the kind of rejections of each group that wasted more bytes."""
    kinds, costs = reject_kinds(rows), rows["total_traffic_cost"]
    contention, timeout = (groups.masked_total(costs, kinds == code) for code in range(len(REJECT_KINDS)))
    codes = (timeout > contention).astype("Int64").mask(timeout == contention).fillna(-1).to_numpy("int64")
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(REJECT_KINDS)))


def _usual_range(
    frames: Frames,
    rows: pd.DataFrame,
    groups: Groups,
    keys: list[str],
    every: str | None,
    history: Frames | pd.DataFrame | None,
) -> dict[str, Any]:
    """Return the columns of the usual range, with a reason where there is none."""
    if every not in PERIODS_PER_WEEK or keys == ["hour"]:
        limits = without_limits(len(groups), NO_PERIODS).to_frame()
    else:
        report = totals_of_groups(frames, rows, groups)
        past = period_totals(history, every, keys) if isinstance(history, Frames) else history
        limits = waste_limits(report, past, every, keys)
    limits["reason"] = limits["reason"].replace("", pd.NA)
    return {name: limits[name] for name in LIMITS}
