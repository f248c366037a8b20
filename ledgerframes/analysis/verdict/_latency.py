"""Latency of accepted and of rejected requests, with timeouts separate."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, Grouped, covered_hours, measure
from ledgerframes.analysis._percentiles import FEW_REQUESTS, needs
from ledgerframes.analysis.groups import durations, ratio
from ledgerframes.analysis.measures import IS_REJECTED_IN_TIME, IS_TIMEOUT, Count, Largest, Measure, UnlessCommitted, Values
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict._latency_percentiles import PERCENTS, percentile_values, reason
from ledgerframes.analysis.verdict.limit import DOUBTFUL_LIMIT, LIMIT_EVIDENCE, is_limit_doubtful, known_timeouts
from ledgerframes.frames import Frames
from ledgerframes.statistics.rates import wilson

IS_ACCEPTED_WITH_LATENCY = "outcome IN ('accepted', 'accepted after the limit')"


def _duration(name: str, description: str, largest: Measure | None = None) -> declare.ResultColumn:
    return declare.duration(name, description, "Latency", measure=largest)


def _percentile_columns(prefix: str, noun: str, where: str) -> tuple[declare.ResultColumn, ...]:
    columns = []
    for name, percent in PERCENTS.items():
        columns += [
            _duration(f"{prefix}{name}", f"Latency that {percent} % of the {noun} do not exceed. {needs(percent, '')}"),
            _duration(f"{prefix}{name}_low", f"Lower end of the 95 % interval of `{prefix}{name}`. Missing with too few."),
            _duration(f"{prefix}{name}_high", f"Upper end of the 95 % interval of `{prefix}{name}`. Missing with too few."),
        ]
    highest = _duration(f"{prefix}max", f"Highest latency of the {noun}. Missing without any.", Largest("latency", where))
    return (*columns, highest)


LATENCIES_OF = "Latencies of the {}. A percentile is the value at a rank among them."
LATENCY = declare.Figure(
    "verdict.latency",
    caption="Latency of accepted requests",
    answer=answers.of_latency,
    main_columns=("p50", "p90", "p95", "p99", "max", "requests", "timeouts", "slow_accepted"),
    distinct=(),
    rows="One row per period and group, including periods without requests; sorted by time and group, missing last.",
    by={
        "participant": grouping.PARTICIPANT,
        "party": grouping.PARTY,
        "hour": grouping.HOUR,
        "day": grouping.DAY,
        "result": grouping.RESULT,
        "size": grouping.SIZE,
        "confirmers": grouping.CONFIRMERS,
        "views": grouping.VIEWS,
        "template": grouping.TEMPLATE,
        "source": grouping.SOURCE,
        "era": grouping.ERA,
    },
    columns=(
        declare.count("requests", "Confirmation requests.", measure=Count()),
        declare.count("accepted", "Accepted requests with a latency.", measure=Count(where=IS_ACCEPTED_WITH_LATENCY)),
        declare.integer(
            "rejected",
            "Requests rejected before the limit of 29.9 s. Missing for committed updates.",
            "requests",
            "Rejected",
            measure=UnlessCommitted(Count(where=IS_REJECTED_IN_TIME)),
        ),
        declare.integer(
            "timeouts",
            "Requests rejected after 29.9 s or more. Missing for committed updates, and if the limit may differ.",
            "requests",
            "Timeouts",
            measure=UnlessCommitted(Count(where=IS_TIMEOUT)),
        ),
        declare.share(
            "Timeouts as a share of decided requests with a latency. Missing if there are none, or by template.",
            "timeout_rate",
            "Timeout rate",
        ),
        declare.share("Lower end of the Wilson interval of the timeout rate, 95 %. Missing without a rate.", "timeout_low"),
        declare.share("Upper end of the Wilson interval of the timeout rate, 95 %. Missing without a rate.", "timeout_high"),
        declare.count(
            "accepted_after_limit",
            "Accepted requests with a latency of 29.9 s or more.",
            measure=Count(where="outcome = 'accepted after the limit'"),
        ),
        declare.count(
            "slow_accepted",
            "Accepted requests with a latency of 5 s or more.",
            measure=Count(where=f"{IS_ACCEPTED_WITH_LATENCY} AND latency >= 5_000_000"),
        ),
        declare.count(
            "unspecified",
            "Requests whose verdict is neither accepted nor rejected.",
            measure=Count(where="outcome = 'unspecified'"),
        ),
        declare.count(
            "impossible",
            "Requests whose verdict is earlier than their record time. They are in no percentile.",
            measure=Count(where="outcome = 'impossible: before its record time'"),
        ),
        *_percentile_columns("", "accepted requests", IS_ACCEPTED_WITH_LATENCY),
        *_percentile_columns("rejected_", "requests rejected before the limit", IS_REJECTED_IN_TIME),
        FEW_REQUESTS,
        declare.text("reason", "Why percentiles are missing. Missing if none is."),
    ),
    has_periods=True,
    condition="with a verdict that is not earlier than their record time",
    known="latency >= 0",
    others={
        **LIMIT_EVIDENCE,
        "accepted_latencies": Values("latency", IS_ACCEPTED_WITH_LATENCY, LATENCIES_OF.format("accepted requests")),
        "rejected_latencies": Values("latency", IS_REJECTED_IN_TIME, LATENCIES_OF.format("requests rejected before the limit")),
    },
)


@LATENCY.register
def latency(
    frames: Frames,
    *,
    by: Literal["participant", "party", "hour", "day", "result", "size", "confirmers", "views", "template", "source", "era"]
    | None = None,
    every: str | None = None,
    eras: pd.DataFrame | None = None,
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return percentiles of the time from sequencing to finalization, with their intervals.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant", "party", "hour", "day", "result", "size", "confirmers", "views", "template", "source", "era"}, optional
        Grouping of the rows, with its columns below (default: None).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).
    eras : DataFrame, optional
        From :func:`ledgerframes.eras.table`, for ``by="era"`` (default: the main network's).
    min_requests : int, optional
        Smallest number of requests for which a percentile is shown (default: as many as support it, which are 6 for a median,
        36 for p90, 72 for p95 and 368 for p99). ``few_requests_for`` names the percentiles that rest on fewer than these.

    Returns
    -------
    DataFrame
        One row per period and group, including periods without requests; sorted by time and group, missing last.

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
        - ``day`` (datetime64[us, UTC], with by="day"): Start of the day of the record time. All days of the window have a row.
        - ``is_partial`` (boolean, with by="day"): Whether final data of the window do not cover the whole day.
        - ``verdict_result`` (category, with by="result"): Verdict of the mediator. Missing without a verdict.
        - ``size`` (category, bytes, with by="size"): Class of the request's cost. Missing if the cost is unknown.
        - ``confirmers`` (Int64, parties, with by="confirmers"): Different parties that can confirm. Missing without a quorum.
        - ``view_count`` (Int64, views, with by="views"): Views of the request. Missing without a verdict.
        - ``kind`` (category, with by="template"): transaction, reassignment, or not visible (rejected or private).
        - ``package_name`` (str, with by="template"): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str, with by="template"): Module and entity of the root node. Missing without a visible tree.
        - ``choice`` (str, with by="template"): Choice that the root node exercises. Missing for a create.
        - ``source`` (category, with by="source"): Host that returned the request, or file. Missing if it is unknown.
        - ``era`` (category, with by="era"): Era of the network at the record time.
        - ``requests`` (int64, requests): Confirmation requests.
        - ``accepted`` (int64, requests): Accepted requests with a latency.
        - ``rejected`` (Int64, requests): Requests rejected before the limit of 29.9 s. Missing for committed updates.
        - ``timeouts`` (Int64, requests): Requests rejected after 29.9 s or more. Missing for committed updates, and if the
          limit may differ.
        - ``timeout_rate`` (float64, share of 1): Timeouts as a share of decided requests with a latency. Missing if there are
          none, or by template.
        - ``timeout_low`` (float64, share of 1): Lower end of the Wilson interval of the timeout rate, 95 %. Missing without a
          rate.
        - ``timeout_high`` (float64, share of 1): Upper end of the Wilson interval of the timeout rate, 95 %. Missing without a
          rate.
        - ``accepted_after_limit`` (int64, requests): Accepted requests with a latency of 29.9 s or more.
        - ``slow_accepted`` (int64, requests): Accepted requests with a latency of 5 s or more.
        - ``unspecified`` (int64, requests): Requests whose verdict is neither accepted nor rejected.
        - ``impossible`` (int64, requests): Requests whose verdict is earlier than their record time. They are in no percentile.
        - ``p50`` (timedelta64[us], microseconds): Latency that 50 % of the accepted requests do not exceed. Missing below 6, or
          below min_requests=.
        - ``p50_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `p50`. Missing with too few.
        - ``p50_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `p50`. Missing with too few.
        - ``p90`` (timedelta64[us], microseconds): Latency that 90 % of the accepted requests do not exceed. Missing below 36,
          or below min_requests=.
        - ``p90_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `p90`. Missing with too few.
        - ``p90_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `p90`. Missing with too few.
        - ``p95`` (timedelta64[us], microseconds): Latency that 95 % of the accepted requests do not exceed. Missing below 72,
          or below min_requests=.
        - ``p95_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `p95`. Missing with too few.
        - ``p95_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `p95`. Missing with too few.
        - ``p99`` (timedelta64[us], microseconds): Latency that 99 % of the accepted requests do not exceed. Missing below 368,
          or below min_requests=.
        - ``p99_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `p99`. Missing with too few.
        - ``p99_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `p99`. Missing with too few.
        - ``max`` (timedelta64[us], microseconds): Highest latency of the accepted requests. Missing without any.
        - ``rejected_p50`` (timedelta64[us], microseconds): Latency that 50 % of the requests rejected before the limit do not
          exceed. Missing below 6, or below min_requests=.
        - ``rejected_p50_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `rejected_p50`. Missing with
          too few.
        - ``rejected_p50_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `rejected_p50`. Missing with
          too few.
        - ``rejected_p90`` (timedelta64[us], microseconds): Latency that 90 % of the requests rejected before the limit do not
          exceed. Missing below 36, or below min_requests=.
        - ``rejected_p90_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `rejected_p90`. Missing with
          too few.
        - ``rejected_p90_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `rejected_p90`. Missing with
          too few.
        - ``rejected_p95`` (timedelta64[us], microseconds): Latency that 95 % of the requests rejected before the limit do not
          exceed. Missing below 72, or below min_requests=.
        - ``rejected_p95_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `rejected_p95`. Missing with
          too few.
        - ``rejected_p95_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `rejected_p95`. Missing with
          too few.
        - ``rejected_p99`` (timedelta64[us], microseconds): Latency that 99 % of the requests rejected before the limit do not
          exceed. Missing below 368, or below min_requests=.
        - ``rejected_p99_low`` (timedelta64[us], microseconds): Lower end of the 95 % interval of `rejected_p99`. Missing with
          too few.
        - ``rejected_p99_high`` (timedelta64[us], microseconds): Upper end of the 95 % interval of `rejected_p99`. Missing with
          too few.
        - ``rejected_max`` (timedelta64[us], microseconds): Highest latency of the requests rejected before the limit. Missing
          without any.
        - ``few_requests_for`` (str): Percentiles that rest on fewer requests than support them. Missing if there are none, or
          without min_requests=.
        - ``reason`` (str): Why percentiles are missing. Missing if none is.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a verdict that is not earlier than their
          record time. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.

    Notes
    -----
    Source: ``record_time`` and ``finalization_time`` of the verdicts (docs/facts.md#finalization-time-differs). A timeout is
    not a decision after 30 seconds, so it is in no percentile. Percentiles are by nearest rank: for an even number of
    requests, the median is the lower of the two middle values. A percentile that too few requests support is missing
    (docs/uncertainty.md). With `min_requests`, it is shown without an interval.

    Picture, by :func:`ledgerframes.plot`: Latency [s]: two bars per group, the 15 with the most requests, or points over
    hours and days. Over record time [UTC]: a line per percentile, also of the 99th, on a logarithmic axis with a line at
    the timeout of 30 s. Groups over time: a panel with the medians for each of the 12 largest.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> overall = lf.verdict.latency(day)
    >>> bool((overall["p50_low"] <= overall["p50"]).all())
    True
    >>> hours = lf.verdict.latency(day, every="1h", min_requests=5)
    >>> bool(hours.loc[hours["p95"].notna(), "few_requests_for"].str.contains("p95").all())
    True
    """
    LATENCY.check(frames, by)
    call = Call(LATENCY, frames, by, every, min_requests, eras=eras)
    grouped = measure(call)
    percentiles = percentile_values(call, grouped)
    doubt = DOUBTFUL_LIMIT if is_limit_doubtful(grouped.overall) else ""
    values = {
        **grouped.keys,
        **covered_hours(call),
        **grouped.values,
        **percentiles,
        **{name: durations(grouped.values[name]) for name in ("max", "rejected_max")},
        "timeouts": known_timeouts(grouped),
        **_timeout_rate(grouped, hides_rejected=by == "template"),
        "reason": pd.Series([reason(doubt, each) for each in percentiles["reasons"]], dtype="str"),
    }
    return LATENCY.build(frames, values, by, every=every)


def _timeout_rate(grouped: Grouped, *, hides_rejected: bool) -> dict[str, Any]:
    """Return the rate of timeouts.

    It is missing if their number is, or if rejected requests do not show to which group they belong.
    """
    if hides_rejected:
        return dict.fromkeys(("timeout_rate", "timeout_low", "timeout_high"), None)
    timeouts = known_timeouts(grouped)
    decided = grouped.values["accepted"] + grouped.values["rejected"] + timeouts
    hits, trials = (each.fillna(0).to_numpy("int64") for each in (timeouts, decided))
    low, high = wilson(hits, trials)
    return {"timeout_rate": ratio(hits, trials), "timeout_low": low, "timeout_high": high}
