"""Costs that somebody estimated before submission, next to the costs that arose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._arguments import require_columns
from ledgerframes.analysis._groups import Groups, group_by, is_true, known
from ledgerframes.analysis._percentiles import FEW_REQUESTS, few_requests, needs, require_min_requests
from ledgerframes.analysis._requests import is_rejected, not_negative, positions, requests, take_or_missing
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.percentiles import least_count, nearest_rank

PERCENTS = (50, 95)
OUTCOMES = ("matched", "rejected", "no actual", "no estimate")
MATCHED, REJECTED, NO_ACTUAL, NO_ESTIMATE = range(len(OUTCOMES))
REQUEST = declare.Grouping((declare.text("update_id", "Id of the request. Missing for an estimate without an id."),))
ESTIMATE = declare.Figure(
    "cost.estimate",
    rows="One row per group and outcome; sorted by group and outcome.",
    by={"template": grouping.TEMPLATE, "request": REQUEST},
    columns=(
        declare.label("outcome", "matched, rejected, no actual, or no estimate."),
        declare.count("requests", "Requests of this outcome."),
        declare.cost("estimated", "Sum of the estimates of the requests. Missing without one.", "Estimated traffic cost"),
        declare.cost("actual", "Sum of the actual costs. Missing without a known one.", "Actual traffic cost"),
        declare.cost("difference", "Actual less estimated cost, of requests with both. Missing without one.", "Difference"),
        declare.rate("ratio_p50", f"Median of actual over estimated cost. {needs(50)}", "", "Actual over estimate"),
        declare.rate("ratio_p95", f"95th percentile of actual over estimated cost. {needs(95)}"),
        FEW_REQUESTS,
        declare.count("over_10_percent", "Requests whose actual cost exceeds the estimate by more than 10 %."),
    ),
    condition="with a known estimate and a known cost",
)


@ESTIMATE.document
def estimate(
    actual: Frames,
    estimates: pd.DataFrame,
    *,
    by: Literal["template", "request"] | None = "template",
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return the actual cost of requests next to the cost that was estimated for them.

    Parameters
    ----------
    actual : Frames
        From :func:`ledgerframes.load_events`, or from :func:`ledgerframes.load_updates` with the cost that an own participant
        paid.
    estimates : DataFrame
        One row per request: ``update_id``, or ``command_id`` for frames of an own participant, and ``request_bytes`` [bytes],
        which the preparation of a submission returns. Other columns do not count.

    Raises
    ------
    UsageError
        If the estimates are no such table, name a request twice, or name a command that has several updates.

    Source: traffic summaries, or the paid cost of an own participant (docs/facts.md#traffic-fields). No API keeps an estimate.
    It is of the confirmation request only, without the responses to it and without reassignments on the way
    (docs/facts.md#cost-estimates).

    >>> own = day.traffic[["update_id"]].assign(request_bytes=5_000)
    >>> bool(lf.cost.estimate(day, own, by=None)["requests"].sum() >= len(own))
    True
    """
    keys = ESTIMATE.check(actual, by).key_names
    require_min_requests(min_requests)
    costs = _actual(actual)
    key = _check(estimates, costs)
    combined = _join(costs, estimates, key)
    rows = grouping.with_keys(actual, combined, keys)
    groups = group_by(rows, [*keys, "outcome"])
    both = rows.assign(difference=rows["cost"] - rows["estimated"])
    is_over = is_true(10 * rows["cost"] > 11 * rows["estimated"])
    values: dict[str, Any] = {
        **groups.keys,
        "requests": groups.count(),
        "estimated": groups.total(rows["estimated"]),
        "actual": groups.total(rows["cost"].rename("actual")),
        "difference": groups.total(both["difference"]),
        **_ratios(rows, groups, min_requests),
        "over_10_percent": groups.count(is_over),
        "coverage": groups.coverage(known(both["difference"])),
    }
    return ESTIMATE.build(actual, values, by)


def _actual(frames: Frames) -> pd.DataFrame:
    """Return one row per request, with its actual cost and the command of an own participant."""
    if "ledger_updates" in frames.tables and frames.count_rows("ledger_updates"):
        paid = frames.read("ledger_updates", ["update_id", "command_id", "paid_traffic_cost"])
        costs = not_negative(paid["paid_traffic_cost"])
        return paid.assign(cost=costs, is_rejected=False)
    rows = requests(frames, ["verdict_result"])
    return rows.assign(cost=rows["total_traffic_cost"], is_rejected=is_rejected(rows))


def _check(estimates: object, costs: pd.DataFrame) -> str:
    """Return the column that links estimates to requests."""
    advice = "estimates= must be a DataFrame with update_id or command_id, and request_bytes"
    estimates = require_columns(estimates, ["request_bytes"], advice)
    key = next((name for name in ("update_id", "command_id") if name in estimates and name in costs), None)
    if key is None:
        raise UsageError(f"{advice}. Frames of history events have update_id only.")
    numbers = estimates["request_bytes"]
    if not pd.api.types.is_integer_dtype(numbers.dtype) or (numbers < 0).any():
        raise UsageError("estimates= must have request_bytes as integers of at least 0, got others.")
    repeated = estimates[key][estimates[key].duplicated() & estimates[key].notna()]
    if len(repeated):
        raise UsageError(f"estimates= must name each request once, got {key} {repeated.iloc[0]!r} twice.")
    shared = costs[key][costs[key].duplicated() & costs[key].isin(estimates[key].dropna())]
    if len(shared):
        raise UsageError(f"estimates= must name each request once, but {key} {shared.iloc[0]!r} has several. Use update_id.")
    return key


def _join(costs: pd.DataFrame, estimates: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return all requests and all estimates, each once."""
    indexes = positions(costs[key], estimates[key].astype("str"))
    indexes[costs[key].isna()] = -1
    rows = costs[["update_id", "cost", "is_rejected"]].assign(
        estimated=take_or_missing(estimates["request_bytes"], indexes).to_numpy()
    )
    rest = estimates[~np.isin(np.arange(len(estimates)), indexes)]
    alone = pd.DataFrame(
        {
            "update_id": rest["update_id"].to_numpy() if key == "update_id" else None,
            "cost": pd.NA,
            "is_rejected": False,
            "estimated": rest["request_bytes"].to_numpy(),
        }
    )
    dtypes = {"update_id": "str", "cost": "Int64", "is_rejected": "bool", "estimated": "Int64"}
    combined = pd.concat([rows.astype(dtypes), alone.astype(dtypes)], ignore_index=True)
    has_cost, has_estimate = known(combined["cost"]), known(combined["estimated"])
    is_refused = combined["is_rejected"].to_numpy(dtype=bool)
    numbers = np.select([~has_estimate, is_refused, has_cost], [NO_ESTIMATE, REJECTED, MATCHED], NO_ACTUAL)
    return combined.assign(outcome=pd.Categorical.from_codes(numbers, pd.Index(OUTCOMES), ordered=True))


def _ratios(rows: pd.DataFrame, groups: Groups, min_requests: int | None) -> dict[str, Any]:
    """Return percentiles of the ratio by nearest rank, which are ratios that occurred."""
    above, below = (rows[name].to_numpy(dtype="float64", na_value=np.nan) for name in ("cost", "estimated"))
    ratios = np.divide(above, below, out=np.full(len(rows), np.nan), where=below > 0)
    ordered = pd.Series(ratios).groupby(groups.codes).agg(lambda values: sorted(values.dropna()))
    counts = np.array([len(each) for each in ordered], dtype=np.int64)
    names = {f"ratio_p{percent}": percent for percent in PERCENTS}
    return {
        **{name: [_percentile(each, percent, min_requests) for each in ordered] for name, percent in names.items()},
        "few_requests_for": few_requests([(name, counts, percent) for name, percent in names.items()], min_requests),
    }


def _percentile(ordered: Sequence[float], percent: int, min_requests: int | None) -> float:
    """Return a percentile of ratios in ascending order, missing with too few of them."""
    least = least_count(percent) if min_requests is None else min_requests
    return ordered[nearest_rank(len(ordered), percent) - 1] if len(ordered) >= least else np.nan
