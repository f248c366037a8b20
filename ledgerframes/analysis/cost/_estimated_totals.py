"""Estimates of costs that are partly unknown."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from ledgerframes.analysis._groupings import with_keys
from ledgerframes.analysis._groups import Flags, Groups, as_integers
from ledgerframes.frames import Frames
from ledgerframes.statistics import Stratum, estimate

MIN_KNOWN = 30


def estimated_totals(frames: Frames, rows: pd.DataFrame, groups: Groups, is_known: Flags) -> pd.Series:
    """Return the estimated total cost of each group.

    It supposes that unknown costs are like the known ones of the same kind and verdict. It is missing if every cost is known,
    or fewer than 30 are.
    """
    has_estimate = (groups.count(~is_known) > 0) & (groups.count(is_known) >= MIN_KNOWN)
    estimates: list[int | None] = [None] * len(groups)
    if has_estimate.any():
        rows = (rows if "kind" in rows else with_keys(frames, rows, ["kind"])).assign(group=groups.codes)
        for group, part in rows[has_estimate[groups.codes]].groupby("group"):
            estimates[int(str(group))] = estimate(_strata(part)).estimate
    return as_integers(estimates, "estimated_traffic_cost")


def _strata(rows: pd.DataFrame) -> Iterator[Stratum]:
    for (_, result), part in rows.groupby(["kind", "verdict_result"], dropna=False, observed=True):
        costs = part["total_traffic_cost"].dropna().tolist()
        yield Stratum.from_costs(len(part), costs, str(result))
