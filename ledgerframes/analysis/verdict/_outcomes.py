"""Accepted and rejected requests, and which groups differ from all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Flags, Groups, ratio
from ledgerframes.analysis._requests import ACCEPTED, UNSPECIFIED, has_result, is_rejected, require_rejections
from ledgerframes.analysis.verdict._latency_classes import TIMEOUT, latencies, outcome_classes
from ledgerframes.analysis.verdict._rates import cluster_effect, rate_values
from ledgerframes.frames import Frames
from ledgerframes.statistics import wilson

OVERLAPPING = "requests of several parties are in several groups"
ONE_GROUP = "there is no other group"
COMPARISON = ("difference", "difference_low", "difference_high", "p_holm", "differs", "reason")

OUTCOMES = declare.Figure(
    "verdict.outcomes",
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
        declare.count("timeouts", "Rejected requests with a latency of 29.9 s or more."),
        declare.count("unspecified", "Requests with a verdict that is neither."),
        declare.count("no_verdict", "Requests without a verdict."),
        declare.share(
            "Rejected requests as a share of accepted and rejected. Missing without any.", "rejection_rate", "Rejection rate"
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.", "high"),
        declare.share("Rate minus the rate of all other rows together. Missing without a reason to compare.", "difference"),
        declare.share("Lower end of the Newcombe interval of the difference, 95 %. Missing without one.", "difference_low"),
        declare.share("Upper end of the Newcombe interval of the difference, 95 %. Missing without one.", "difference_high"),
        declare.rate("p_holm", "Chance of it, adjusted for all rows. Missing if not judged."),
        declare.flag("differs", "Whether more than chance explains the difference. Missing if not judged."),
        declare.text("reason", "Reason why a row is not judged. Missing if it is."),
        declare.rate(
            "dispersion",
            "Factor by which clusters of one participant in one hour widen the variance, used above. Missing if unknown.",
        ),
    ),
    has_periods=True,
    fact="verdict",
)


@OUTCOMES.document
def outcomes(
    frames: Frames, *, by: str | None = None, every: str | None = None, accept_survivorship: bool = False
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
    classes = outcome_classes(rows["verdict_result"], latencies(rows))
    values = {
        **groups.keys,
        "requests": groups.count(),
        "accepted": groups.count(is_accepted),
        "rejected": groups.count(is_hit),
        "timeouts": groups.count((classes == TIMEOUT).to_numpy(dtype=bool)),
        "unspecified": groups.count(has_result(rows, UNSPECIFIED)),
        "no_verdict": groups.count(~has_verdict),
        **_rates(rows, groups, is_hit, is_hit | is_accepted, has_overlap=by == "party"),
        "coverage": groups.coverage(has_verdict),
    }
    return OUTCOMES.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _rates(rows: pd.DataFrame, groups: Groups, is_hit: Flags, is_trial: Flags, *, has_overlap: bool) -> dict[str, Any]:
    """Return the rate of each group, and the comparison with all others where there is one."""
    effect = cluster_effect(rows["submitting_participant_uid"], rows["record_time"], is_hit, is_trial)
    dispersion = np.full(len(groups), np.nan if effect is None else effect)
    if not has_overlap and len(groups) > 1:
        values = rate_values(groups, is_hit, is_trial, effect=effect)
        names = ("rejection_rate", "low", "high", *COMPARISON)
        reason = pd.Series(values["reason"], dtype="str").replace("", pd.NA)
        return {**{name: values[name] for name in names}, "reason": reason, "dispersion": dispersion}
    hits, trials = groups.count(is_hit & is_trial), groups.count(is_trial)
    low, high = wilson(hits, trials, design_effect=effect or 1.0)
    missing = np.full(len(groups), np.nan)
    return {
        "rejection_rate": ratio(hits, trials),
        "low": low,
        "high": high,
        **dict.fromkeys(COMPARISON[:4], missing),
        "differs": pd.array([pd.NA] * len(groups), dtype="boolean"),
        "reason": [OVERLAPPING if has_overlap else ONE_GROUP] * len(groups),
        "dispersion": dispersion,
    }
