"""Traffic cost by period, payer and purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Flags, Groups, Rates, as_integers, exact_sum, is_true, known, shares, sort_largest_first
from ledgerframes.analysis._percentiles import FEW_REQUESTS, few_requests, needs, require_min_requests
from ledgerframes.analysis._requests import is_first_of_request, is_rejected, missing_if_committed
from ledgerframes.analysis._views import overhead_totals, views_by
from ledgerframes.frames import Frames
from ledgerframes.statistics import Stratum, estimate

SPEND = declare.Figure(
    "cost.spend",
    distinct=(),
    rows="One row per period and group, periods without requests included; sorted by time, then by total cost, highest first.",
    by={
        "participant": grouping.PARTICIPANT,
        "party": replace(
            grouping.PARTY,
            extra=(
                declare.count("single_party_requests", "Requests that the party submitted alone."),
                declare.cost("single_party_traffic_cost", "Cost of its requests of one party. Missing if unknown."),
                declare.cost(
                    "shared_traffic_cost",
                    "Cost of its requests of several, each counted once, for the first by name. Missing if unknown.",
                ),
            ),
        ),
        "template": grouping.TEMPLATE,
        "view": declare.Grouping(
            (
                *grouping.TEMPLATE.keys,
                declare.integer("view_id", "Number of the view in its request, from 0."),
            ),
            (
                declare.count("envelopes", "Envelopes whose lowest view is this one.", "envelopes"),
                declare.integer(
                    "confirmers", f"Median number of parties that can confirm the view. {needs(50, ' envelopes')}", "parties"
                ),
                declare.integer("informees", f"Median number of parties that see the view. {needs(50, ' envelopes')}", "parties"),
            ),
        ),
        "result": grouping.RESULT,
        "label": grouping.LABEL_GROUP,
        "era": grouping.ERA,
    },
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("requests_with_cost", "Requests with a known cost."),
        declare.integer("rejected", "Rejected requests. Missing if these are committed updates.", "requests", "Rejected"),
        declare.cost(
            "total_traffic_cost", "Known cost of the requests, or by view of envelopes. A lower bound with a coverage below 1."
        ),
        declare.cost(
            "estimated_traffic_cost", "Cost if unknown costs are like known ones. Missing if all are known, or fewer than 30."
        ),
        declare.cost("rejected_traffic_cost", "Part of the cost that rejected requests caused. Missing like their number."),
        declare.cost("overhead_traffic_cost", "Part of the cost of envelopes without views."),
        declare.share("Share of the known cost of all requests. By party, the shares can add up to more than 1."),
        declare.cost("median", f"Median cost per request. {needs(50)}", "Median traffic cost"),
        declare.cost("p95", f"95th percentile of the cost per request. {needs(95)}", "95th percentile of the traffic cost"),
        declare.cost("max", "Highest cost of a request.", "Highest traffic cost"),
        declare.text("breaks", "Eras that begin within the time of the row, so that it mixes their costs. Missing without any."),
        FEW_REQUESTS,
    ),
    has_periods=True,
)
MAX_COVERAGE_DIFFERENCE = 0.02
MIN_KNOWN = 30
PERCENTS = {"median": 50, "p95": 95}


@SPEND.document
def spend(
    frames: Frames,
    *,
    by: Literal["participant", "party", "template", "view", "result", "label", "era"] | None = None,
    every: str | None = None,
    labels: pd.DataFrame | None = None,
    eras: pd.DataFrame | None = None,
    strict: bool = False,
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return the traffic cost of all requests, per group and per period.

    Parameters
    ----------
    by : {None, "participant", "party", "template", "view", "result", "label", "era"}, optional
        Submitting participant, who pays. Submitting party, where a request of several parties counts in full for each.
        Kind, and template and choice of the first root node; a rejected request never shows its template. View of each
        template and choice, where an envelope counts once, for the lowest of its views. Verdict. Label of the
        participant or a party, where a request of several labels counts in full for each. Era of the network.
    strict : bool, optional
        Leave out shares if the coverage of two rows differs by more than 0.02 (default: False).

    Source: verdicts, traffic summaries and tree nodes of history events. Compare within one network only: costs depend on
    the number of its validators (docs/facts.md#costs-per-network).

    >>> len(lf.cost.spend(day, every="1h"))
    24
    >>> payers = lf.cost.spend(day, by="participant")
    >>> bool(payers["total_traffic_cost"].sum() == lf.cost.spend(day)["total_traffic_cost"].sum())
    True
    """
    keys = SPEND.check(frames, by).key_names
    require_min_requests(min_requests)
    if by == "view":
        rows, groups = views_by(frames, keys, every, ["verdict_result"])
        is_known = rows["is_known"].to_numpy(dtype=bool)
    else:
        rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result"], labels=labels, eras=eras)
        is_known = known(rows["total_traffic_cost"])
    costs, rejected = rows["total_traffic_cost"], is_rejected(rows)
    is_first = is_first_of_request(rows)
    total, coverage = groups.total(costs), groups.coverage(is_known)
    with_cost = groups.count(is_known)
    median, p95 = groups.percentiles(costs, list(PERCENTS.values()), min_requests)
    marked = [(name, groups.count(known(costs)), percent) for name, percent in PERCENTS.items()]
    values = {
        **groups.keys,
        "requests": groups.count(),
        "requests_with_cost": with_cost,
        "rejected": missing_if_committed(frames, groups.count(rejected)),
        "total_traffic_cost": total,
        "estimated_traffic_cost": _estimated_totals(frames, rows, groups, is_known),
        "rejected_traffic_cost": missing_if_committed(frames, groups.masked_total(costs, rejected)),
        "overhead_traffic_cost": overhead_totals(frames, rows, groups, keys, every),
        "share": _comparable_shares(shares(total, exact_sum(costs[is_first])), coverage, strict=strict),
        "median": median,
        "p95": p95,
        "max": groups.largest(costs),
        "breaks": None if by == "era" else grouping.breaks(frames, rows, groups, eras),
        "coverage": coverage,
        "coverage_bytes": groups.coverage_bytes(costs, is_known),
    }
    if by == "party":
        is_single = is_true(rows["is_single_party"])
        values["single_party_requests"] = groups.count(is_single)
        values["single_party_traffic_cost"] = groups.masked_total(costs, is_single)
        values["shared_traffic_cost"] = groups.masked_total(costs, is_first & ~is_single & known(rows["party"]))
    if by == "view":
        values["envelopes"] = groups.total(rows["envelopes"]).fillna(0)
        for name in ("confirmers", "informees"):
            (values[name],) = groups.percentiles(rows[name], [50], min_requests)
            marked.append((name, groups.count(known(rows[name])), 50))
    values["few_requests_for"] = few_requests(marked, min_requests)
    result = SPEND.build(frames, values, by, every=every)
    return sort_largest_first(result, "total_traffic_cost", *keys, before=["period_start"] if every else [])


def _comparable_shares(values: Rates, coverage: Rates, *, strict: bool) -> Rates:
    """Return shares, missing in strict mode if the rows differ in coverage."""
    present = coverage[~np.isnan(coverage)]
    differ = strict and len(present) > 0 and float(present.max() - present.min()) > MAX_COVERAGE_DIFFERENCE
    return np.full(len(values), np.nan) if differ else values


def _estimated_totals(frames: Frames, rows: pd.DataFrame, groups: Groups, is_known: Flags) -> pd.Series:
    """Return total costs if unknown ones are like known ones of the same kind and verdict."""
    has_estimate = (groups.count(~is_known) > 0) & (groups.count(is_known) >= MIN_KNOWN)
    estimates: list[int | None] = [None] * len(groups)
    if has_estimate.any():
        rows = rows if "kind" in rows else grouping.with_keys(frames, rows, ["kind"])
        rows = rows.assign(group=groups.codes, is_known=is_known)
        for group, part in rows[has_estimate[groups.codes]].groupby("group"):
            estimates[int(str(group))] = estimate(_strata(part)).estimate
    return as_integers(estimates, "estimated_traffic_cost")


def _strata(rows: pd.DataFrame) -> Iterator[Stratum]:
    for (_, result), part in rows.groupby(["kind", "verdict_result"], dropna=False, observed=True):
        # The envelope of a view can count for a lower one. Its own cost is then missing and known to be 0.
        costs = part.loc[part["is_known"], "total_traffic_cost"].fillna(0).tolist()
        yield Stratum.from_costs(len(part), costs, str(result))
