"""Latency of accepted and of rejected requests, with timeouts apart."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._grouped import Call, Grouped, covered_hours, measure, options_of
from ledgerframes.analysis._groups import durations, ratio
from ledgerframes.analysis._measures import IS_REJECTED_IN_TIME, IS_TIMEOUT, Count, Largest, Measure, UnlessCommitted
from ledgerframes.analysis._percentiles import FEW_REQUESTS, needs
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict._latency_percentiles import PERCENTS, percentile_values, reason
from ledgerframes.analysis.verdict._limit import DOUBTFUL_LIMIT, LIMIT_EVIDENCE, is_limit_doubtful, named_timeouts
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


LATENCY = declare.Figure(
    "verdict.latency",
    answer=answers.of_latency,
    main_columns=("p50", "p90", "p95", "p99", "max", "requests", "timeouts", "slow_accepted"),
    distinct=(),
    rows="One row per period and group, periods without requests included; sorted by time and group, missing last.",
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
            "Requests rejected from 29.9 s on. Missing for committed updates, and where the limit may be another one.",
            "requests",
            "Timeouts",
            measure=UnlessCommitted(Count(where=IS_TIMEOUT)),
        ),
        declare.share(
            "Timeouts as a share of all accepted or rejected requests. Missing without any.", "timeout_rate", "Timeout rate"
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
        declare.count("unspecified", "Requests with a verdict that is neither.", measure=Count(where="outcome = 'unspecified'")),
        declare.count(
            "impossible",
            "Requests with a verdict from before their record time, in no percentile.",
            measure=Count(where="outcome = 'impossible: before its record time'"),
        ),
        *_percentile_columns("", "accepted requests", IS_ACCEPTED_WITH_LATENCY),
        *_percentile_columns("rejected_", "requests rejected before the limit", IS_REJECTED_IN_TIME),
        FEW_REQUESTS,
        declare.text("reason", "Reasons of missing percentiles. Missing if all are there."),
    ),
    has_periods=True,
    condition="with a known verdict",
    known="latency >= 0",
    others=LIMIT_EVIDENCE,
)


@LATENCY.document
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

    Source: ``record_time`` and ``finalization_time`` of the verdicts (docs/facts.md#finalization-time-differs). A timeout is
    not a decision at 30 seconds, so it is in no percentile. Percentiles are by nearest rank: of an even number of requests,
    the median is the lower of the two middle values. One that too few requests support is missing (docs/uncertainty.md). With
    `min_requests`, it is there without an interval.

    >>> overall = lf.verdict.latency(day)
    >>> bool((overall["p50_low"] <= overall["p50"]).all())
    True
    >>> hours = lf.verdict.latency(day, every="1h", min_requests=5)
    >>> bool(hours.loc[hours["p95"].notna(), "few_requests_for"].str.contains("p95").all())
    True
    """
    LATENCY.check(frames, by)
    call = Call(LATENCY, frames, by, every, options_of(frames, min_requests), eras=eras)
    grouped = measure(call)
    percentiles = percentile_values(call, grouped)
    doubt = DOUBTFUL_LIMIT if is_limit_doubtful(grouped.overall) else ""
    values = {
        **grouped.keys,
        **covered_hours(call),
        **grouped.values,
        **percentiles,
        **{name: durations(grouped.values[name]) for name in ("max", "rejected_max")},
        "timeouts": named_timeouts(grouped, "timeouts"),
        **_timeout_rate(grouped),
        "reason": pd.Series([reason(doubt, each) for each in percentiles["reasons"]], dtype="str"),
    }
    return LATENCY.build(frames, values, by, every=every)


def _timeout_rate(grouped: Grouped) -> dict[str, Any]:
    """Return the rate of timeouts, missing with their number."""
    timeouts = named_timeouts(grouped, "timeouts")
    decided = grouped.values["accepted"] + grouped.values["rejected"] + timeouts
    hits, trials = (each.fillna(0).to_numpy("int64") for each in (timeouts, decided))
    low, high = wilson(hits, trials)
    return {"timeout_rate": ratio(hits, trials), "timeout_low": low, "timeout_high": high}
