"""Cost of rejected requests, with its usual range."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, Grouped, covered_hours, measure
from ledgerframes.analysis.arguments import require_columns, require_one_network
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.measures import (
    BYTES,
    COST,
    IS_REJECTED,
    IS_REJECTED_IN_TIME,
    IS_TIMEOUT,
    Count,
    Measure,
    PartTotal,
    Ratio,
)
from ledgerframes.analysis.requests import require_rejections, require_same_requests
from ledgerframes.analysis.usual_range import MEASURES, period_totals, totals_of_groups, waste_limits
from ledgerframes.analysis.verdict.limit import LIMIT_EVIDENCE, REJECT_KINDS, is_limit_doubtful
from ledgerframes.frames import Frames
from ledgerframes.statistics.usual_ranges import PERIODS_PER_WEEK, without_limits

OF_HISTORY = ["period_start", "is_whole", "requests", "requests_with_cost", "wasted_traffic_cost", "total_traffic_cost"]
WASTED_AND_USEFUL: dict[str, Measure] = {
    "wasted_traffic_cost": PartTotal(COST, where=IS_REJECTED),
    "useful_traffic_cost": PartTotal(COST, where=f"({IS_REJECTED}) IS NOT TRUE"),
}
WASTED = declare.Figure(
    "cost.wasted",
    caption="Traffic cost of rejected requests",
    answer=answers.of_wasted,
    main_columns=("wasted_traffic_cost", "share", "center", "upper", "is_above", "requests", "rejected", "top_cause"),
    distinct=(),
    rows="One row per period and group, including periods without requests; sorted by time and group.",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "hour": grouping.HOUR},
    columns=(
        declare.count("requests", "Confirmation requests.", measure=Count()),
        declare.count("rejected", "Rejected requests.", measure=Count(where=IS_REJECTED)),
        declare.cost(
            "wasted_traffic_cost",
            "Cost of the rejected requests. 0 if none was rejected and other costs are known. Missing if unknown.",
            measure=WASTED_AND_USEFUL["wasted_traffic_cost"],
        ),
        declare.cost(
            "useful_traffic_cost",
            "Cost of the other requests. 0 if there are none and rejected costs are known. Missing if unknown.",
            measure=WASTED_AND_USEFUL["useful_traffic_cost"],
        ),
        declare.label(
            "top_cause",
            "Kind of rejection that wasted more bytes, guessed from latency. Missing if neither wasted more.",
        ),
        declare.share(
            "Wasted cost as a share of wasted and useful cost.",
            title="Share of the cost that was wasted",
            ratio=Ratio("groups.wasted_traffic_cost", "(groups.wasted_traffic_cost + groups.useful_traffic_cost)"),
        ),
        declare.share("Usual share of this weekday or hour in the weeks before. Missing without a usual range.", "center"),
        declare.share("Upper end of the usual range. Missing without a usual range.", "upper"),
        declare.flag("is_above", "Whether the share is above its usual range. Missing without a usual range."),
        declare.text("reason", "Reason why there is no usual range. Missing if there is one."),
    ),
    has_periods=True,
    others={
        **BYTES,
        **MEASURES,
        **LIMIT_EVIDENCE,
        "contention_cost": PartTotal(COST, where=IS_REJECTED_IN_TIME),
        "timeout_cost": PartTotal(COST, where=IS_TIMEOUT),
    },
)
NO_PERIODS = "only days and hours have a usual range"
LIMITS = ["center", "upper", "is_above", "reason"]


@WASTED.register
def wasted(
    frames: Frames,
    *,
    by: Literal["participant", "party", "hour"] | None = None,
    every: str | None = "1d",
    history: Frames | pd.DataFrame | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return the cost of rejected requests, with its usual range.

    Some waste is normal, but a rise is not. The usual range is that of the same weekday, or of the same hour of working days
    or the weekend, in the 4 to 6 whole weeks before. Without them, see `history` for what a day is compared with.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant", "party", "hour"}, optional
        Submitting participant, submitting party, or hour of the day [UTC]. The usual range of a participant or a party is
        that of the same group in the weeks before. Hours of the day have no usual range.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1d).
    history : Frames or DataFrame, optional
        All requests of the weeks before, from :func:`ledgerframes.load_events`, or the days that earlier reports kept, from
        :func:`ledgerframes.report.load_history` (default: none). Without it, each day of a window of seven days or more is
        compared with the other days. Days that earlier reports kept cover all requests together.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and group, including periods without requests; sorted by time and group.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``party`` (str, with by="party"): Submitting party. Missing without a verdict or a party.
        - ``hour`` (int64, UTC, with by="hour"): Hour of the day of the record time. All 24 hours have a row.
        - ``covered_hours`` (float64, hours, with by="hour"): Time of this hour, over all days, that final data cover. Divide
          counts by it before you compare them.
        - ``requests`` (int64, requests): Confirmation requests.
        - ``rejected`` (int64, requests): Rejected requests.
        - ``wasted_traffic_cost`` (Int64, bytes): Cost of the rejected requests. 0 if none was rejected and other costs are
          known. Missing if unknown.
        - ``useful_traffic_cost`` (Int64, bytes): Cost of the other requests. 0 if there are none and rejected costs are known.
          Missing if unknown.
        - ``top_cause`` (category): Kind of rejection that wasted more bytes, guessed from latency. Missing if neither wasted
          more.
        - ``share`` (float64, share of 1): Wasted cost as a share of wasted and useful cost.
        - ``center`` (float64, share of 1): Usual share of this weekday or hour in the weeks before. Missing without a usual
          range.
        - ``upper`` (float64, share of 1): Upper end of the usual range. Missing without a usual range.
        - ``is_above`` (boolean): Whether the share is above its usual range. Missing without a usual range.
        - ``reason`` (str): Reason why there is no usual range. Missing if there is one.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames or the history hold committed updates, so that the waste would be 0 by construction.
    UsageError
        If the history is neither Frames nor such days, is of another network, or only one of the two is filtered.

    Notes
    -----
    Source: verdicts with result rejected, traffic summaries (docs/facts.md#survivorship). The usual range: docs/uncertainty.md.

    Picture, by :func:`ledgerframes.plot`: Share [%] over record time [UTC] with the usual range from 0 to its upper limit
    and its center; diamonds are above it, partial periods are open. Groups over time: a panel for each of the 12 with the
    highest cost. Otherwise: one bar of share [%] per group.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> hours = lf.cost.wasted(day, every="1h")
    >>> len(hours), bool((hours["rejected"] <= hours["requests"]).all())
    (24, True)
    """
    WASTED.check(frames, by)
    require_rejections(frames, accept_survivorship, "the waste")
    if isinstance(history, Frames):
        require_one_network("cost.wasted", frames, history)
        require_same_requests("cost.wasted", frames, history)
        require_rejections(history, accept_survivorship, "the usual range")
    elif history is not None:
        require_columns(history, OF_HISTORY, "history= must be Frames, or the days that ledgerframes.report.load_history returns")
    call = Call(WASTED, frames, by, every)
    grouped = measure(call)
    values = {
        **grouped.keys,
        **grouped.values,
        **covered_hours(call),
        "top_cause": _top_causes(grouped),
        **_usual_range(frames, grouped, by, every, history),
    }
    return WASTED.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _top_causes(grouped: Grouped) -> pd.Series:
    """Return the kind of rejection that wasted more bytes, for each group.

    If more rejections lie just below the limit than at or above it, the limit may differ, so the latency tells nothing.
    """
    contention, timeout = grouped.values["contention_cost"], grouped.values["timeout_cost"]
    is_unknown = (timeout == contention) | is_limit_doubtful(grouped.overall)
    codes = (timeout > contention).astype("Int64").mask(is_unknown)
    return pd.Series(pd.Categorical.from_codes(codes.fillna(-1).to_numpy("int64"), pd.Index(REJECT_KINDS)))


def _usual_range(
    frames: Frames, grouped: Grouped, by: str | None, every: str | None, history: Frames | pd.DataFrame | None
) -> dict[str, Any]:
    """Return the columns of the usual range, with a reason where there is none."""
    if every not in PERIODS_PER_WEEK or by == "hour":
        limits = without_limits(len(grouped), NO_PERIODS).to_frame()
    else:
        report = totals_of_groups(frames, grouped)
        past = period_totals(history, every, by) if isinstance(history, Frames) else history
        limits = waste_limits(report, past, every, WASTED.grouping(by).key_names)
    limits["reason"] = limits["reason"].replace("", pd.NA)
    return {name: limits[name] for name in LIMITS}
