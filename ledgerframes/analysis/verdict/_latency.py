"""Latency of accepted and of rejected requests, with timeouts apart."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import known
from ledgerframes.analysis._percentiles import FEW_REQUESTS, needs, require_min_requests
from ledgerframes.analysis._requests import missing_if_committed, not_negative
from ledgerframes.analysis.verdict._latency_classes import PERCENTS, latencies, latency_values
from ledgerframes.frames import Frames


def _duration(name: str, description: str) -> declare.ResultColumn:
    return declare.duration(name, description, "Latency")


def _percentile_columns(prefix: str, noun: str) -> tuple[declare.ResultColumn, ...]:
    columns = []
    for name, percent in PERCENTS.items():
        columns += [
            _duration(f"{prefix}{name}", f"Latency that {percent} % of the {noun} do not exceed. {needs(percent, '')}"),
            _duration(f"{prefix}{name}_low", f"Lower end of the 95 % interval of `{prefix}{name}`. Missing with too few."),
            _duration(f"{prefix}{name}_high", f"Upper end of the 95 % interval of `{prefix}{name}`. Missing with too few."),
        ]
    return (*columns, _duration(f"{prefix}max", f"Highest latency of the {noun}. Missing without any."))


LATENCY = declare.Figure(
    "verdict.latency",
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
        declare.count("requests", "Confirmation requests."),
        declare.count("accepted", "Accepted requests with a latency."),
        declare.integer(
            "rejected", "Requests rejected before the limit of 29.9 s. Missing for committed updates.", "requests", "Rejected"
        ),
        declare.integer(
            "timeouts",
            "Requests rejected from 29.9 s on. Missing for committed updates, and where the limit may be another one.",
            "requests",
            "Timeouts",
        ),
        declare.share(
            "Timeouts as a share of all accepted or rejected requests. Missing without any.", "timeout_rate", "Timeout rate"
        ),
        declare.share("Lower end of the Wilson interval of the timeout rate, 95 %. Missing without a rate.", "timeout_low"),
        declare.share("Upper end of the Wilson interval of the timeout rate, 95 %. Missing without a rate.", "timeout_high"),
        declare.count("accepted_after_limit", "Accepted requests with a latency of 29.9 s or more."),
        declare.count("slow_accepted", "Accepted requests with a latency of 5 s or more."),
        declare.count("unspecified", "Requests with a verdict that is neither."),
        declare.count("impossible", "Requests with a verdict from before their record time, in no percentile."),
        *_percentile_columns("", "accepted requests"),
        *_percentile_columns("rejected_", "requests rejected before the limit"),
        FEW_REQUESTS,
        declare.text("reason", "Reasons of missing percentiles. Missing if all are there."),
    ),
    has_periods=True,
    condition="with a known verdict",
)
OF_REJECTED = ("rejected", "timeouts", "timeout_rate", "timeout_low", "timeout_high")


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
    keys = LATENCY.check(frames, by).key_names
    require_min_requests(min_requests)
    needed = ["verdict_result", "finalization_time"]
    rows, groups = grouping.requests_by(frames, keys, every, needed, cost=False, eras=eras)
    computed = latency_values(rows, groups, min_requests)
    values = {
        **groups.keys,
        **grouping.covered_hours(frames, keys, every),
        **computed,
        **{name: missing_if_committed(frames, computed[name]) for name in OF_REJECTED},
        "reason": pd.Series(computed["reason"], dtype="str").replace("", pd.NA),
        "coverage": groups.coverage(known(not_negative(latencies(rows)))),
    }
    return LATENCY.build(frames, values, by, every=every)
