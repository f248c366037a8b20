"""Rejection rates of groups, each against all others together."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ledgerframes.analysis._groups import MICROSECONDS_PER_HOUR, Flags, Groups, microseconds, ratio
from ledgerframes.statistics import compare_groups, design_effect, difference_of_rates, wilson


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
