"""Rejection rates of groups, each against all others together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._groups import MICROSECONDS_PER_HOUR, Flags, Groups, microseconds, ratio
from ledgerframes.statistics import compare_groups, design_effect, difference_of_rates, shrink, wilson


def cluster_effect(participants: pd.Series, times: pd.Series, is_hit: Flags, is_trial: Flags) -> float | None:
    """Return the design effect of a rate over clusters of one participant in one hour.

    It is None if unknown. Hits are requests such as the rejected ones, trials such as the accepted or rejected ones.
    """
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

    Each request is in one group. Rates whose intervals do not overlap are no sign of a difference among many groups. Only
    ``differs`` is. ``is_notable`` is a longer list, and ``shrunk_rate`` for the order and the colors only.
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
        "is_notable": comparison["is_notable"],
        "shrunk_rate": shrink(hits, trials).rates if len(hits) else np.zeros(0),
        "reason": comparison["reason"],
    }


def describe_comparison(values: dict[str, Any], names: list[str]) -> str:
    """Return the sentence that a comparison of groups by :func:`rate_values` supports."""
    differs = values["differs"]
    judged = int(differs.notna().sum())
    total = f"{judged:,} of {len(names):,} groups had enough requests to be judged"
    if not judged:
        return "No group has enough requests to be judged."
    selected = np.flatnonzero(differs.fillna(False).to_numpy(dtype=bool))
    if not len(selected):
        return f"{total}, and none of them can be told from the others."
    directions = ["higher" if values["difference"][position] > 0 else "lower" for position in selected]
    texts = [f"{names[position]} ({direction})" for position, direction in zip(selected, directions, strict=True)]
    return f"{total}, and {len(selected):,} of them differ from the others: {', '.join(texts)}."
