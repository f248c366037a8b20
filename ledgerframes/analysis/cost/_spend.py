"""Traffic cost by period, payer and purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, Grouped, few_requests, groups_of, measure
from ledgerframes.analysis._parameters import users_of
from ledgerframes.analysis._percentiles import FEW_REQUESTS, needs
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.groups import as_integers, sort_largest_first
from ledgerframes.analysis.measures import (
    BYTES,
    COST,
    IS_KNOWN,
    IS_REJECTED,
    Count,
    Expression,
    Largest,
    PartTotal,
    Percentile,
    Ratio,
    Total,
    TotalCount,
    UnlessCommitted,
)
from ledgerframes.engine.requests import ENVELOPES_BY_REQUEST, REQUESTS_BY_VIEW
from ledgerframes.frames import Frames
from ledgerframes.statistics.estimates import Stratum, estimated_total

SPEND = declare.Figure(
    "cost.spend",
    caption="Traffic cost",
    answer=answers.of_spend,
    answers_over_time=True,
    main_columns=("total_traffic_cost", "share", "requests", "rejected", "median", "p95", "max"),
    distinct=(),
    rows="One row per period and group, including periods without requests; sorted by time, then by total cost, highest first.",
    by={
        "participant": grouping.PARTICIPANT,
        "party": replace(
            grouping.PARTY,
            extra=(
                declare.count(
                    "single_party_requests", "Requests that the party submitted alone.", measure=Count(where="is_single_party")
                ),
                declare.cost(
                    "single_party_traffic_cost",
                    "Cost of the requests that the party submitted alone. Missing if unknown.",
                    measure=PartTotal(COST, where="is_single_party"),
                ),
                declare.cost(
                    "shared_traffic_cost",
                    "Cost of requests of several parties, each counted only for the first party by name. Missing if unknown.",
                    measure=PartTotal(COST, where="is_first AND NOT is_single_party AND party IS NOT NULL"),
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
                declare.count(
                    "envelopes",
                    "Envelopes whose lowest view is this one.",
                    "envelopes",
                    measure=TotalCount("envelopes"),
                ),
                declare.integer(
                    "confirmers",
                    f"Median number of parties that can confirm the view. {needs(50, ' envelopes')}",
                    "parties",
                    measure=Percentile("confirmers", 50),
                ),
                declare.integer(
                    "informees",
                    f"Median number of parties that see the view. {needs(50, ' envelopes')}",
                    "parties",
                    measure=Percentile("informees", 50),
                ),
            ),
            rows=REQUESTS_BY_VIEW,
            measures={"overhead_traffic_cost": Expression("CASE WHEN count(total_traffic_cost) > 0 THEN 0 END")},
        ),
        "result": grouping.RESULT,
        "label": grouping.LABEL_GROUP,
        "era": grouping.ERA,
        "user": replace(
            grouping.USER,
            extra=(
                declare.cost(
                    "paid_traffic_cost",
                    "Cost that was paid, according to completions. Missing if no completion has one.",
                    measure=Expression("sum(paid_traffic_cost)"),
                ),
                declare.count(
                    "paid_differs",
                    "Requests whose known cost differs from the cost that was paid.",
                    measure=Count(where="is_known AND paid_traffic_cost <> total_traffic_cost"),
                ),
            ),
        ),
    },
    columns=(
        declare.count("requests", "Confirmation requests.", measure=Count()),
        declare.count("requests_with_cost", "Requests with a known cost.", measure=Count(where=IS_KNOWN)),
        declare.integer(
            "rejected",
            "Rejected requests. Missing if the frames hold committed updates.",
            "requests",
            "Rejected",
            measure=UnlessCommitted(Count(where=IS_REJECTED)),
        ),
        declare.cost(
            "total_traffic_cost",
            "Known cost of the requests, or by view of the envelopes. It is a lower bound if the coverage is below 1.",
            measure=Total(COST),
        ),
        declare.cost(
            "estimated_traffic_cost", "Cost if unknown costs are like known ones. Missing if all are known, or fewer than 30 are."
        ),
        declare.cost(
            "rejected_traffic_cost",
            "Part of the cost that rejected requests caused. Missing if unknown, or if `rejected` is missing.",
            measure=UnlessCommitted(PartTotal(COST, where=IS_REJECTED)),
        ),
        declare.cost(
            "overhead_traffic_cost",
            "Part of the cost that envelopes without views caused. It is a lower bound if those of some requests are unknown.",
            measure=Expression("sum(overhead_traffic_cost) FILTER (WHERE is_known)"),
        ),
        declare.share(
            "Share of the known cost of all requests, by view of envelopes with views. By party or label, the sum can exceed 1.",
            ratio=Ratio("groups.total_traffic_cost", "overall.bytes_of_requests"),
        ),
        declare.cost("median", f"Median cost per request. {needs(50)}", "Median traffic cost", measure=Percentile(COST, 50)),
        declare.cost(
            "p95",
            f"95th percentile of the cost per request. {needs(95)}",
            "95th percentile of the traffic cost",
            measure=Percentile(COST, 95),
        ),
        declare.cost("max", "Highest cost of any request.", "Highest traffic cost", measure=Largest(COST)),
        declare.text("breaks", "Eras that begin within the time of the row, which then mixes their costs. Missing if none does."),
        FEW_REQUESTS,
    ),
    has_periods=True,
    joins=(ENVELOPES_BY_REQUEST,),
    parts=("kind", "verdict_result"),
    others={**BYTES, "bytes_of_requests": Expression("sum(total_traffic_cost) FILTER (WHERE is_first)")},
)
MAX_COVERAGE_DIFFERENCE = 0.02
MIN_KNOWN = 30


@SPEND.register
def spend(
    frames: Frames,
    *,
    by: Literal["participant", "party", "template", "view", "result", "label", "era", "user"] | None = None,
    every: str | None = None,
    labels: pd.DataFrame | None = None,
    eras: pd.DataFrame | None = None,
    completions: pd.DataFrame | None = None,
    strict: bool = False,
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return the traffic cost of all requests, per group and per period.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant", "party", "template", "view", "result", "label", "era", "user"}, optional
        Submitting participant, which pays. Submitting party: a request of several parties counts in full for each. Kind, and
        template and choice of the first root node: a rejected request never shows its template. View of each template and
        choice: an envelope counts once, for its lowest view. Verdict. Label of the participant or party: a request of several
        labels counts in full for each. Era of the network. User of the ledger API, where completions name it: a completion of
        a failed command names no update, so a rejected request has no user.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).
    labels : DataFrame, optional
        From :func:`ledgerframes.labels.read`, for ``by="label"``.
    eras : DataFrame, optional
        From :func:`ledgerframes.eras.table`, for ``by="era"`` (default: the main network's).
    completions : DataFrame, optional
        From :func:`ledgerframes.load_completions`, for ``by="user"``. It can hold the completions of several participants.
    strict : bool, optional
        Leave shares missing if the coverage of two rows differs by more than 0.02 (default: False).
    min_requests : int, optional
        Smallest number of requests for which a percentile is shown (default: as many as support it, which are 6 for a median,
        36 for p90, 72 for p95 and 368 for p99). ``few_requests_for`` names the percentiles that rest on fewer than these.

    Returns
    -------
    DataFrame
        One row per period and group, including periods without requests; sorted by time, then by total cost, highest first.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``party`` (str, with by="party"): Submitting party. Missing without a verdict or a party.
        - ``single_party_requests`` (int64, requests, with by="party"): Requests that the party submitted alone.
        - ``single_party_traffic_cost`` (Int64, bytes, with by="party"): Cost of the requests that the party submitted alone.
          Missing if unknown.
        - ``shared_traffic_cost`` (Int64, bytes, with by="party"): Cost of requests of several parties, each counted only for
          the first party by name. Missing if unknown.
        - ``kind`` (category, with by="template" or by="view"): transaction, reassignment, or not visible (rejected or private).
        - ``package_name`` (str, with by="template" or by="view"): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str, with by="template" or by="view"): Module and entity of the root node. Missing without a
          visible tree.
        - ``choice`` (str, with by="template" or by="view"): Choice that the root node exercises. Missing for a create.
        - ``view_id`` (Int64, with by="view"): Number of the view in its request, from 0.
        - ``envelopes`` (int64, envelopes, with by="view"): Envelopes whose lowest view is this one.
        - ``confirmers`` (Int64, parties, with by="view"): Median number of parties that can confirm the view. Missing below 6
          envelopes, or below min_requests=.
        - ``informees`` (Int64, parties, with by="view"): Median number of parties that see the view. Missing below 6 envelopes,
          or below min_requests=.
        - ``verdict_result`` (category, with by="result"): Verdict of the mediator. Missing without a verdict.
        - ``label`` (str, with by="label"): Group of the submitter's label, or the name of a label without a group. Missing
          without a label.
        - ``era`` (category, with by="era"): Era of the network at the record time.
        - ``user_id`` (str, with by="user"): User of the ledger API that submitted the command. Missing if it is unknown.
        - ``user_status`` (category, with by="user"): known, not sent, rejected, no completion, other participant, or submitter
          unknown.
        - ``paid_traffic_cost`` (Int64, bytes, with by="user"): Cost that was paid, according to completions. Missing if no
          completion has one.
        - ``paid_differs`` (int64, requests, with by="user"): Requests whose known cost differs from the cost that was paid.
        - ``requests`` (int64, requests): Confirmation requests.
        - ``requests_with_cost`` (int64, requests): Requests with a known cost.
        - ``rejected`` (Int64, requests): Rejected requests. Missing if the frames hold committed updates.
        - ``total_traffic_cost`` (Int64, bytes): Known cost of the requests, or by view of the envelopes. It is a lower bound if
          the coverage is below 1.
        - ``estimated_traffic_cost`` (Int64, bytes): Cost if unknown costs are like known ones. Missing if all are known, or
          fewer than 30 are.
        - ``rejected_traffic_cost`` (Int64, bytes): Part of the cost that rejected requests caused. Missing if unknown, or if
          `rejected` is missing.
        - ``overhead_traffic_cost`` (Int64, bytes): Part of the cost that envelopes without views caused. It is a lower bound if
          those of some requests are unknown.
        - ``share`` (float64, share of 1): Share of the known cost of all requests, by view of envelopes with views. By party or
          label, the sum can exceed 1.
        - ``median`` (Int64, bytes): Median cost per request. Missing below 6 requests, or below min_requests=.
        - ``p95`` (Int64, bytes): 95th percentile of the cost per request. Missing below 72 requests, or below min_requests=.
        - ``max`` (Int64, bytes): Highest cost of any request.
        - ``breaks`` (str): Eras that begin within the time of the row, which then mixes their costs. Missing if none does.
        - ``few_requests_for`` (str): Percentiles that rest on fewer requests than support them. Missing if there are none, or
          without min_requests=.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.

    Notes
    -----
    Source: verdicts, traffic summaries and tree nodes of history events. Compare costs within one network only, because they
    depend on its number of validators (docs/facts.md#costs-per-network).

    Picture, by :func:`ledgerframes.plot`: Per period: cost [bytes] with its rejected and overhead parts over record time
    [UTC], or stacked by group; a strip marks periods with unknown costs. By party or label, which can share a request: a
    panel for each of the 12 largest. Otherwise: a bar of cost [bytes] per group, those beyond 15 in one.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(lf.cost.spend(day, every="1h"))
    24
    >>> payers = lf.cost.spend(day, by="participant")
    >>> bool(payers["total_traffic_cost"].sum() == lf.cost.spend(day)["total_traffic_cost"].sum())
    True
    """
    keys = SPEND.check(frames, by).key_names
    users = users_of(completions) if by == "user" else {}
    call = Call(SPEND, frames, by, every, min_requests, labels, eras, users)
    grouped = measure(call)
    values = {
        **grouped.keys,
        **grouped.values,
        "estimated_traffic_cost": _estimated_totals(call, grouped),
        "share": _comparable_shares(grouped.values, strict=strict),
        "breaks": None if by == "era" else grouped.breaks(call),
        "few_requests_for": few_requests(grouped, call),
    }
    result = SPEND.build(frames, values, by, every=every)
    return sort_largest_first(result, "total_traffic_cost", *keys, before=["period_start"] if every else [])


def _comparable_shares(values: pd.DataFrame, *, strict: bool) -> pd.Series | float:
    """Return shares, which in strict mode are missing if the coverage of rows differs."""
    present = values["coverage"].dropna()
    differ = strict and len(present) > 0 and float(present.max() - present.min()) > MAX_COVERAGE_DIFFERENCE
    return np.nan if differ else values["share"]


def _estimated_totals(call: Call, grouped: Grouped) -> pd.Series:
    """Return total costs if unknown costs are like known ones of their kind and verdict."""
    unknown = grouped.values["row_count"] - grouped.values["known_rows"]
    has_estimate = (unknown > 0) & (grouped.values["known_rows"] >= MIN_KNOWN)
    strata: dict[int, list[Stratum]] = {group: [] for group in np.flatnonzero(has_estimate).tolist()}
    columns = (grouped.parts[name].tolist() for name in ("row_count", "known_rows", "known_bytes", "verdict_result"))
    for group, rows, known_rows, cost, result in zip(groups_of(call, grouped.parts).codes.tolist(), *columns, strict=True):
        if group in strata:
            # The envelope of a view can count for a lower view. The cost of the view is then missing, and known to be 0.
            strata[group].append(Stratum(rows, known_rows, 0 if pd.isna(cost) else int(cost), result=str(result)))
    estimates = [estimated_total(strata[group]) if group in strata else None for group in range(len(grouped))]
    return as_integers(estimates, "estimated_traffic_cost")
