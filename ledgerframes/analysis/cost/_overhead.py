"""Cost of envelopes with views, of envelopes without views, and of neither."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, few_requests, measure
from ledgerframes.analysis._percentiles import FEW_REQUESTS, needs
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.groups import ratio
from ledgerframes.analysis.measures import COST, Expression, Percentile, Total
from ledgerframes.engine import Query
from ledgerframes.engine.envelopes import ENVELOPES_OF_KINDS, REQUESTS_BY_REQUEST_KIND, SAME_CONFIRMERS
from ledgerframes.frames import Frames

KINDS = ("with views", "without views", "unassigned")
REQUEST_KIND = replace(grouping.KIND, name="request_kind")
IS_COVERED = "is_known AND has_envelopes"
OF_COVERED = f"FILTER (WHERE {IS_COVERED})"


def _queries(frames: Frames, by: str | None, every: str | None, min_requests: int | None) -> list[Query]:
    return [_call(frames, by, every, min_requests).query]


OVERHEAD = declare.Figure(
    "cost.overhead",
    caption="Traffic cost of envelopes with and without views",
    answer=answers.of_overhead,
    answers_over_time=True,
    main_columns=("kind", "traffic_cost", "share", "envelopes", "confirmers_per_view"),
    distinct=("kind",),
    rows="Three rows per period and group; sorted by time and group, envelopes with views first, unassigned last.",
    by={
        "participant": grouping.PARTICIPANT,
        "template": declare.Grouping((REQUEST_KIND, *grouping.TEMPLATE.keys[1:]), rows=REQUESTS_BY_REQUEST_KIND),
        "view_count": grouping.VIEWS,
    },
    columns=(
        declare.choice(
            "kind", KINDS, "with views, without views (to the mediator, root hashes), or unassigned (in no envelope)."
        ),
        declare.integer("envelopes", "Envelopes of this kind. Missing if those of no request are known.", "envelopes"),
        declare.cost(
            "traffic_cost",
            "Cost of these envelopes. The unassigned cost is the total of the requests minus that of all envelopes.",
        ),
        declare.share("Share of the total cost of the requests."),
        declare.integer(
            "confirmers_per_view",
            f"Most parties that can confirm one envelope, as the median of requests. {needs(50)}",
            "parties",
            measure=Percentile("CASE WHEN is_known THEN confirmers END", 50),
        ),
        declare.integer(
            "same_confirmers_envelopes",
            "Envelopes with the same confirmers as a larger one of their request. Missing for the other kinds.",
            "envelopes",
            measure=Expression(f"sum(coalesce(same_confirmers_envelopes, 0)) {OF_COVERED}"),
        ),
        declare.cost(
            "same_confirmers_cost",
            "Cost of these envelopes. Missing for the other kinds.",
            measure=Expression(f"sum(coalesce(same_confirmers_cost, 0)) {OF_COVERED}"),
        ),
        FEW_REQUESTS,
    ),
    has_periods=True,
    condition="with a known cost, in total and by envelope",
    joins=(ENVELOPES_OF_KINDS, SAME_CONFIRMERS),
    known=IS_COVERED,
    queries=_queries,
    others={
        "envelopes_with_views": Expression(f"sum(envelopes_with_views) {OF_COVERED}"),
        "envelopes_without_views": Expression(f"sum(envelopes_without_views) {OF_COVERED}"),
        "with_views": Expression(f"sum(cost_with_views) {OF_COVERED}"),
        "without_views": Expression(f"sum(cost_without_views) {OF_COVERED}"),
        "cost_of_envelopes": Expression(f"sum(cost_with_views + cost_without_views) {OF_COVERED}"),
        "unassigned": Expression(f"sum({COST} - coalesce(cost_with_views + cost_without_views, 0))"),
        COST: Total(COST),
    },
)


@OVERHEAD.register
def overhead(
    frames: Frames,
    *,
    by: Literal["participant", "template", "view_count"] | None = None,
    every: str | None = None,
    min_requests: int | None = None,
) -> pd.DataFrame:
    """Return the cost of envelopes with views, of envelopes without views, and of neither.

    Envelopes without views are messages to the mediator and root hashes. If a total differs from the sum of its envelopes,
    the rest is unassigned and can be negative.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant", "template", "view_count"}, optional
        Grouping of the rows, with its columns below (default: None).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).
    min_requests : int, optional
        Smallest number of requests for which a percentile is shown (default: as many as support it, which are 6 for a median,
        36 for p90, 72 for p95 and 368 for p99). ``few_requests_for`` names the percentiles that rest on fewer than these.

    Returns
    -------
    DataFrame
        Three rows per period and group; sorted by time and group, envelopes with views first, unassigned last.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``request_kind`` (category, with by="template"): transaction, reassignment, or not visible (rejected or private).
        - ``package_name`` (str, with by="template"): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str, with by="template"): Module and entity of the root node. Missing without a visible tree.
        - ``choice`` (str, with by="template"): Choice that the root node exercises. Missing for a create.
        - ``view_count`` (Int64, views, with by="view_count"): Views of the request. Missing without a verdict.
        - ``kind`` (category): with views, without views (to the mediator, root hashes), or unassigned (in no envelope).
        - ``envelopes`` (Int64, envelopes): Envelopes of this kind. Missing if those of no request are known.
        - ``traffic_cost`` (Int64, bytes): Cost of these envelopes. The unassigned cost is the total of the requests minus that
          of all envelopes.
        - ``share`` (float64, share of 1): Share of the total cost of the requests.
        - ``confirmers_per_view`` (Int64, parties): Most parties that can confirm one envelope, as the median of requests.
          Missing below 6 requests, or below min_requests=.
        - ``same_confirmers_envelopes`` (Int64, envelopes): Envelopes with the same confirmers as a larger one of their request.
          Missing for the other kinds.
        - ``same_confirmers_cost`` (Int64, bytes): Cost of these envelopes. Missing for the other kinds.
        - ``few_requests_for`` (str): Percentiles that rest on fewer requests than support them. Missing if there are none, or
          without min_requests=.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost, in total and by envelope.
          Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.

    Notes
    -----
    Source: the envelopes of traffic summaries. An envelope whose views the history service could not match looks like one
    without views, so the overhead is an upper bound (docs/facts.md#envelopes-without-views). The ``same_confirmers`` columns
    are an upper bound of what merging views could save. The data do not tell what it would save.

    Picture, by :func:`ledgerframes.plot`: Bars of cost [bytes], a stacked bar per group, those beyond 15 in one, or the
    cost of both kinds of envelopes over record time [UTC], where a strip marks periods with unknown costs. Groups over
    time: the share [%] of envelopes without views, a panel for each of the 12 largest.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> lf.cost.overhead(day)["kind"].tolist()
    ['with views', 'without views', 'unassigned']
    """
    OVERHEAD.check(frames, by)
    call = _call(frames, by, every, min_requests)
    grouped = measure(call)
    measured, totals = grouped.values, grouped.values[COST]
    kinds = _by_kind(measured.assign(few_requests_for=few_requests(grouped, call)))
    of_rows = kinds["group"].to_numpy()
    coverage = measured["coverage"].to_numpy()[of_rows]
    coverage_bytes = ratio(measured["cost_of_envelopes"].fillna(0).mask(totals.isna()), totals).clip(max=1)
    values = {
        **grouped.keys.take(of_rows).reset_index(drop=True),
        **kinds,
        "envelopes": kinds["envelopes"].fillna(0).mask((coverage == 0) & (kinds["kind"] != "unassigned")),
        "share": ratio(kinds["traffic_cost"], totals.take(of_rows)),
        "coverage": coverage,
        "coverage_bytes": coverage_bytes[of_rows],
    }
    return OVERHEAD.build(frames, values, by, every=every)


def _call(frames: Frames, by: str | None, every: str | None, min_requests: int | None) -> Call:
    return Call(OVERHEAD, frames, by, every, min_requests)


def _by_kind(measured: pd.DataFrame) -> pd.DataFrame:
    """Return a row per group and kind of envelopes.

    The column ``group`` is the position of the group.
    """
    of_views = ("confirmers_per_view", "same_confirmers_envelopes", "same_confirmers_cost", "few_requests_for")
    parts: tuple[dict[str, Any], ...] = (
        {
            "envelopes": measured["envelopes_with_views"],
            "traffic_cost": measured["with_views"],
            **{name: measured[name] for name in of_views},
        },
        {"envelopes": measured["envelopes_without_views"], "traffic_cost": measured["without_views"]},
        {"traffic_cost": measured["unassigned"]},
    )
    tables = [pd.DataFrame(columns).assign(kind=kind) for kind, columns in zip(KINDS, parts, strict=True)]
    return pd.concat(tables).rename_axis("group").sort_values("group", kind="stable").reset_index()
