"""Costs that were estimated before submission, next to the actual costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from textwrap import dedent
from typing import Literal

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, few_requests, measure
from ledgerframes.analysis._percentiles import FEW_REQUESTS, needs
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.groups import MAX_INTEGER
from ledgerframes.analysis.measures import Count, Percentile, Total
from ledgerframes.engine import Query, run
from ledgerframes.engine.estimates import LEDGER_COSTS, REQUEST_COSTS, outcomes
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

OUTCOMES = ("matched", "rejected", "no actual", "no estimate")
RATIO = "CASE WHEN request_bytes > 0 THEN cost::DOUBLE / request_bytes::DOUBLE END"
OUTCOME_NUMBER = declare.integer("outcome_number", "Position of the outcome among all outcomes.")
REQUEST = declare.Grouping((declare.text("update_id", "Id of the request. Missing for an estimate without an id."),))


def _queries(actual: Frames, estimates: pd.DataFrame, by: str | None, min_requests: int | None) -> list[Query]:
    return [_call(actual, estimates, by, min_requests).query]


ESTIMATE = declare.Figure(
    "cost.estimate",
    caption="Actual and estimated traffic cost",
    answer=answers.of_estimate,
    rows="One row per group and outcome; sorted by group and outcome.",
    by={"template": grouping.TEMPLATE, "request": REQUEST},
    columns=(
        declare.label("outcome", "matched, rejected, no actual, or no estimate."),
        declare.count("requests", "Requests of this outcome.", measure=Count()),
        declare.cost(
            "estimated",
            "Sum of the estimates of the requests. Missing if there is none.",
            "Estimated traffic cost",
            measure=Total("request_bytes"),
        ),
        declare.cost(
            "actual", "Sum of the actual costs. Missing if none is known.", "Actual traffic cost", measure=Total("cost")
        ),
        declare.cost(
            "difference",
            "Actual minus estimated cost of the requests with both. Missing if there are none.",
            "Difference",
            measure=Total("cost - request_bytes"),
        ),
        declare.rate(
            "ratio_p50",
            f"Median of actual divided by estimated cost. {needs(50)}",
            "",
            "Actual over estimate",
            measure=Percentile(RATIO, 50),
        ),
        declare.rate(
            "ratio_p95", f"95th percentile of actual divided by estimated cost. {needs(95)}", measure=Percentile(RATIO, 95)
        ),
        FEW_REQUESTS,
        declare.count(
            "over_10_percent",
            "Requests whose actual cost exceeds the estimate by more than 10 %.",
            measure=Count(where="10::HUGEINT * cost > 11::HUGEINT * request_bytes"),
        ),
    ),
    condition="with a known estimate and a known cost",
    queries=_queries,
    known="cost IS NOT NULL AND request_bytes IS NOT NULL",
)


@ESTIMATE.register
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
        From :func:`ledgerframes.load_events`, or from :func:`ledgerframes.load_updates` with the cost that your own
        participant paid.
    estimates : DataFrame
        One row per request: ``update_id``, or ``command_id`` for frames of your participant, and ``request_bytes``
        [bytes], which the preparation of a submission returns. Other columns are ignored.
    by : {None, "template", "request"}, optional
        Grouping of the rows, with its columns below (default: template).
    min_requests : int, optional
        Smallest number of requests for which a percentile is shown (default: as many as support it, which are 6 for a median,
        36 for p90, 72 for p95 and 368 for p99). ``few_requests_for`` names the percentiles that rest on fewer than these.

    Returns
    -------
    DataFrame
        One row per group and outcome; sorted by group and outcome.

        Columns:

        - ``kind`` (category, with by="template"): transaction, reassignment, or not visible (rejected or private).
        - ``package_name`` (str, with by="template"): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str, with by="template"): Module and entity of the root node. Missing without a visible tree.
        - ``choice`` (str, with by="template"): Choice that the root node exercises. Missing for a create.
        - ``update_id`` (str, with by="request"): Id of the request. Missing for an estimate without an id.
        - ``outcome`` (category): matched, rejected, no actual, or no estimate.
        - ``requests`` (int64, requests): Requests of this outcome.
        - ``estimated`` (Int64, bytes): Sum of the estimates of the requests. Missing if there is none.
        - ``actual`` (Int64, bytes): Sum of the actual costs. Missing if none is known.
        - ``difference`` (Int64, bytes): Actual minus estimated cost of the requests with both. Missing if there are none.
        - ``ratio_p50`` (float64): Median of actual divided by estimated cost. Missing below 6 requests, or below min_requests=.
        - ``ratio_p95`` (float64): 95th percentile of actual divided by estimated cost. Missing below 72 requests, or below
          min_requests=.
        - ``few_requests_for`` (str): Percentiles that rest on fewer requests than support them. Missing if there are none, or
          without min_requests=.
        - ``over_10_percent`` (int64, requests): Requests whose actual cost exceeds the estimate by more than 10 %.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known estimate and a known cost. Missing
          if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    UsageError
        If `estimates` is not such a table, names a request twice, or names a command that has several updates.

    Notes
    -----
    Source: traffic summaries, or the cost that your own participant paid (docs/facts.md#traffic-fields). No API stores an
    estimate. An estimate covers the confirmation request only, without the responses to it and without reassignments on the
    way (docs/facts.md#cost-estimates).

    Picture, by :func:`ledgerframes.plot`: Actual cost [bytes] by estimated cost [bytes], one point per row, with the line
    on which they are equal. By request: one point per request.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> own = day.traffic[["update_id"]].assign(request_bytes=5_000)
    >>> bool(lf.cost.estimate(day, own, by=None)["requests"].sum() >= len(own))
    True
    """
    ESTIMATE.check(actual, by)
    call = _call(actual, estimates, by, min_requests)
    grouped = measure(call)
    numbers = grouped.keys["outcome_number"].to_numpy("int64")
    values = {
        **grouped.keys,
        **grouped.values,
        "outcome": pd.Categorical.from_codes(numbers, pd.Index(OUTCOMES), ordered=True),
        "few_requests_for": few_requests(grouped, call),
    }
    return ESTIMATE.build(actual, values, by)


def _call(actual: Frames, estimates: pd.DataFrame, by: str | None, min_requests: int | None) -> Call:
    """Return the call for requests and estimates by outcome."""
    is_ledger = "ledger_updates" in actual.tables and bool(actual.count_rows("ledger_updates"))
    key = _check(estimates, ["update_id", "command_id"] if is_ledger else ["update_id"])
    costs = LEDGER_COSTS if is_ledger else REQUEST_COSTS
    tables = {"estimates": _table(estimates, key)}
    if is_ledger:
        if by == "template" and "updates" not in actual.tables:
            advice = "Pass by=None or by='request'"
            raise UsageError(f"by='template' needs history events, and these frames have ledger updates. {advice}.")
        _require_one_update(actual, key, tables)
    rows = outcomes(costs, key, has_kinds=by == "template")
    figure = replace(ESTIMATE, by={"outcome": declare.Grouping((*ESTIMATE.grouping(by).keys, OUTCOME_NUMBER), rows=rows)})
    return Call(figure, actual, "outcome", min_requests=min_requests, tables=tables)


def _check(estimates: object, names: Sequence[str]) -> str:
    """Return the column that links estimates to requests."""
    advice = "estimates= must be a DataFrame with update_id or command_id, and request_bytes"
    estimates = require_columns(estimates, ["request_bytes"], advice)
    key = next((name for name in ("update_id", "command_id") if name in estimates and name in names), None)
    if key is None:
        raise UsageError(f"{advice}. Frames of history events have update_id only.")
    numbers = estimates["request_bytes"]
    if not pd.api.types.is_integer_dtype(numbers.dtype) or not numbers.dropna().between(0, MAX_INTEGER).all():
        raise UsageError("estimates= must have request_bytes as integers of at least 0 and below 2^63, got others.")
    repeated = estimates[key][estimates[key].duplicated() & estimates[key].notna()]
    if len(repeated):
        raise UsageError(f"estimates= must name each request once, got {key} {repeated.iloc[0]!r} twice.")
    return key


def _table(estimates: pd.DataFrame, key: str) -> pa.Table:
    """Return the estimates as the query reads them.

    The column ``id`` has the text that links them to requests.
    """
    estimates = estimates.dropna(subset="request_bytes")  # Without a size, a row estimates nothing.
    ids = pa.array(estimates[key].astype("str"), pa.string())
    update_ids = ids if key == "update_id" else pa.nulls(len(estimates), pa.string())
    sizes = pa.array(estimates["request_bytes"].astype("Int64"), pa.int64())
    return pa.table({"id": ids, "estimated_update_id": update_ids, "request_bytes": sizes})


def _require_one_update(frames: Frames, key: str, tables: Mapping[str, pa.Table]) -> None:
    """Raise a UsageError if several updates share one estimate."""
    repeated = run(frames, _repeated_query(key, tables))["id"].iloc[0]
    if not pd.isna(repeated):
        raise UsageError(f"estimates= must name each request once, but {key} {repeated!r} has several. Use update_id.")


def _repeated_query(key: str, tables: Mapping[str, pa.Table]) -> Query:
    """Return the query of the first id with an estimate that repeats."""
    select = f"""
    SELECT arg_min(id, (participant_id, "offset")) AS id
    FROM (
        SELECT {key} AS id, participant_id, "offset",
            row_number() OVER (PARTITION BY {key} ORDER BY participant_id, "offset") AS number
        FROM ledger_costs
    )
    WHERE number = 2 AND id IN (SELECT id FROM estimates)
    """
    return Query(dedent(select).strip(), (LEDGER_COSTS,), tables)
