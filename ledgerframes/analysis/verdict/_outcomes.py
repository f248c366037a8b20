"""Accepted and rejected requests, and which groups differ from all others."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import MICROSECONDS_PER_HOUR, Flags, Groups, microseconds, ratio
from ledgerframes.analysis._requests import (
    ACCEPTED,
    UNSPECIFIED,
    has_result,
    is_first_of_request,
    is_rejected,
    require_rejections,
)
from ledgerframes.analysis.verdict._latency_classes import is_limit_doubtful, latencies, outcome_classes, timeout_counts
from ledgerframes.frames import Frames
from ledgerframes.statistics import compare_groups, design_effect, difference_of_rates, wilson

OVERLAPPING = "requests of several parties are in several groups"
ONE_GROUP = "there is no other group"
COMPARISON = ("difference", "difference_low", "difference_high", "p_holm", "differs")

OUTCOMES = declare.Figure(
    "verdict.outcomes",
    distinct=(),
    rows="One row per period and group, periods without requests included; sorted by time and group, missing last.",
    by={
        "participant": grouping.PARTICIPANT,
        "party": grouping.PARTY,
        "hour": grouping.HOUR,
        "weekday_hour": grouping.WEEKDAY_HOUR,
        "day": grouping.DAY,
        "views": grouping.VIEWS,
        "size": grouping.SIZE,
    },
    misleading={"template": "rejected requests show no template"},
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("accepted", "Accepted requests."),
        declare.count("rejected", "Rejected requests."),
        declare.integer(
            "timeouts",
            "Rejected requests with a latency of 29.9 s or more. Missing where the limit may be another one.",
            "requests",
            "Timeouts",
        ),
        declare.count("unspecified", "Requests with a verdict that is neither."),
        declare.count("no_verdict", "Requests without a verdict."),
        declare.share(
            "Rejected requests as a share of accepted and rejected. Missing without any.", "rejection_rate", "Rejection rate"
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.", "high"),
        declare.share(
            "Rate minus the rate of all other rows together. Missing by party, for a single row, or without a rate.", "difference"
        ),
        declare.share("Lower end of the Newcombe interval of the difference, 95 %. Missing without one.", "difference_low"),
        declare.share("Upper end of the Newcombe interval of the difference, 95 %. Missing without one.", "difference_high"),
        declare.rate("p_holm", "P-value of the difference, adjusted for all rows. Missing if not judged."),
        declare.flag("differs", "Whether more than chance explains the difference. Missing if not judged."),
        declare.text("reason", "Reason why a row is not judged. Missing if it is."),
        declare.rate(
            "dispersion",
            "Factor by which clusters of one participant in one hour widen the variance of the rate. Missing if unknown.",
        ),
    ),
    has_periods=True,
    condition="with a known verdict",
)


@OUTCOMES.document
def outcomes(
    frames: Frames,
    *,
    by: Literal["participant", "party", "hour", "weekday_hour", "day", "views", "size"] | None = None,
    every: str | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return accepted and rejected requests, with the rejection rate and its interval.

    Source: ``verdict_result`` of the verdicts (docs/facts.md#survivorship). Each row is compared with all other rows together,
    adjusted for their number (docs/uncertainty.md). Intervals that overlap, or do not, say nothing about a pair of rows. A
    request of several parties counts for each. There is no grouping by template, which a rejected request never shows.

    >>> len(lf.verdict.outcomes(day, by="hour"))
    24
    """
    keys = OUTCOMES.check(frames, by).key_names
    require_rejections(frames, accept_survivorship, "rejection rates")
    needed = ["verdict_result", "finalization_time", "submitting_participant_uid"]
    rows, groups = grouping.requests_by(frames, keys, every, needed, cost=False)
    has_verdict = rows["has_verdict"].to_numpy(dtype=bool)
    is_hit, is_accepted = is_rejected(rows), has_result(rows, ACCEPTED)
    numbers = latencies(rows)
    classes = outcome_classes(rows["verdict_result"], numbers)
    values = {
        **groups.keys,
        **grouping.covered_hours(frames, keys, every),
        "requests": groups.count(),
        "accepted": groups.count(is_accepted),
        "rejected": groups.count(is_hit),
        "timeouts": timeout_counts(groups, classes, is_limit_doubtful(rows, classes, numbers)),
        "unspecified": groups.count(has_result(rows, UNSPECIFIED)),
        "no_verdict": groups.count(~has_verdict),
        **_rates(rows, groups, is_hit, is_hit | is_accepted, has_overlap=by == "party"),
        "coverage": groups.coverage(has_verdict),
    }
    return OUTCOMES.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _rates(rows: pd.DataFrame, groups: Groups, is_hit: Flags, is_trial: Flags, *, has_overlap: bool) -> dict[str, Any]:
    """Return the rate of each group, and the comparison with all others where there is one."""
    is_first_trial = is_trial & is_first_of_request(rows)
    effect = cluster_effect(rows["submitting_participant_uid"], rows["record_time"], is_hit, is_first_trial)
    values = rate_values(groups, is_hit, is_trial, effect=effect)
    values["dispersion"] = np.nan if effect is None else effect
    values["reason"] = values["reason"].replace("", pd.NA)
    if has_overlap or len(groups) <= 1:
        values |= dict.fromkeys(COMPARISON)
        values["reason"] = OVERLAPPING if has_overlap else ONE_GROUP
    return values


def cluster_effect(participants: pd.Series, times: pd.Series, is_hit: Flags, is_trial: Flags) -> float | None:
    """Return the design effect of clusters of one participant in one hour, None if unknown."""
    rows = pd.DataFrame(
        {
            "participant": pd.factorize(participants, use_na_sentinel=False)[0],
            "hour": microseconds(times) // MICROSECONDS_PER_HOUR,
            "hits": is_hit & is_trial,
            "trials": is_trial,
        }
    )
    clusters = rows.groupby(["participant", "hour"], sort=False)[["hits", "trials"]].sum().reset_index()
    return design_effect(clusters["participant"], clusters["hits"], clusters["trials"])


def rate_values(groups: Groups, is_hit: Flags, is_trial: Flags, *, effect: float | None = None) -> dict[str, Any]:
    """Return the rate of each group, and its difference to all others together.

    Rates whose intervals do not overlap are no sign of a difference among many groups. Only ``differs`` is.
    """
    hits, trials = groups.count(is_hit & is_trial), groups.count(is_trial)
    scale = effect or 1.0
    low, high = wilson(hits, trials, design_effect=scale)
    rest = (hits.sum() - hits, trials.sum() - trials)
    difference = difference_of_rates(rest, (hits, trials), design_effect=scale)
    comparison = compare_groups(hits, trials, design_effect=scale)
    return {
        "rejection_rate": ratio(hits, trials),
        "low": low,
        "high": high,
        "difference": difference.difference,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "p_holm": comparison["holm"].to_numpy(),
        "differs": comparison["differs"],
        "reason": comparison["reason"],
    }
