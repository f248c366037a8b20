"""The requests with the highest cost, and why it is so high."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.cost import _answers as answers
from ledgerframes.analysis.groups import ratio
from ledgerframes.engine import Query, run
from ledgerframes.engine.largest import largest_requests
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.statistics.percentiles import least_count
from ledgerframes.texts.representation import pluralize
from ledgerframes.values.checks import require_integer

MAX_TOP = 10_000
LEAST_OF_KIND = int(least_count(50))


def _queries(frames: Frames, top: int) -> list[Query]:
    return [largest_requests(top, LEAST_OF_KIND)]


REQUESTS = declare.Figure(
    "cost.requests",
    caption="Requests with the highest traffic cost",
    answer=answers.of_requests,
    main_columns=(
        *("update_id", "total_traffic_cost", "times_median", "record_time", "submitting_participant_uid"),
        *("template_name", "choice", "view_count", "confirmers"),
    ),
    rows="One row per request with a known cost, at most `top`; sorted by cost, the highest first.",
    columns=(
        declare.text("update_id", "Id of the request."),
        declare.time("record_time", "Sequencing time."),
        *grouping.PARTICIPANT.keys,
        *grouping.TEMPLATE.keys,
        declare.label("verdict_result", "Verdict of the mediator. Missing without a verdict."),
        declare.cost("total_traffic_cost", "Cost of the request."),
        declare.share("Share of all known cost."),
        declare.cost(
            "median_of_kind",
            f"Median cost of the kind. Missing with fewer than {LEAST_OF_KIND} requests of the kind.",
            "Median cost",
        ),
        declare.rate("times_median", "Cost as a multiple of the median of the kind. Missing where that median is.", "times"),
        declare.count("requests_of_kind", "Requests of the same kind with a known cost."),
        declare.integer("view_count", "Views of the request. Missing without a verdict.", "views"),
        declare.integer("confirmers", "Different parties that can confirm. Missing without a quorum.", "parties"),
        declare.integer("envelopes", "Envelopes with a known cost. Missing if there are none.", "envelopes"),
        declare.cost("largest_envelope", "Cost of the largest of these envelopes. Missing if there are none."),
        declare.text("why", "The numbers that explain the cost, in words."),
    ),
    queries=_queries,
)


@REQUESTS.register
def requests(frames: Frames, *, top: int = 10) -> pd.DataFrame:
    """Return the requests with the highest cost, and why it is so high.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    top : int, optional
        Number of requests, at most 10,000 (default: 10).

    Returns
    -------
    DataFrame
        One row per request with a known cost, at most `top`; sorted by cost, the highest first.

        Columns:

        - ``update_id`` (str): Id of the request.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``submitting_participant_uid`` (str): Participant that submits and pays. Missing without a verdict.
        - ``kind`` (category): transaction, reassignment, or not visible (rejected or private).
        - ``package_name`` (str): Package of the root node. Missing without a visible tree.
        - ``template_name`` (str): Module and entity of the root node. Missing without a visible tree.
        - ``choice`` (str): Choice that the root node exercises. Missing for a create.
        - ``verdict_result`` (category): Verdict of the mediator. Missing without a verdict.
        - ``total_traffic_cost`` (Int64, bytes): Cost of the request.
        - ``share`` (float64, share of 1): Share of all known cost.
        - ``median_of_kind`` (Int64, bytes): Median cost of the kind. Missing with fewer than 6 requests of the kind.
        - ``times_median`` (float64, times): Cost as a multiple of the median of the kind. Missing where that median is.
        - ``requests_of_kind`` (int64, requests): Requests of the same kind with a known cost.
        - ``view_count`` (Int64, views): Views of the request. Missing without a verdict.
        - ``confirmers`` (Int64, parties): Different parties that can confirm. Missing without a quorum.
        - ``envelopes`` (Int64, envelopes): Envelopes with a known cost. Missing if there are none.
        - ``largest_envelope`` (Int64, bytes): Cost of the largest of these envelopes. Missing if there are none.
        - ``why`` (str): The numbers that explain the cost, in words.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    UsageError
        If `top` is not a whole number from 1 to 10,000.

    Notes
    -----
    Source: traffic summaries, verdicts and trees (docs/facts.md#traffic-fields). :func:`ledgerframes.cost.anatomy` shows one
    request, envelope by envelope.

    Picture, by :func:`ledgerframes.plot`: A bar of cost [bytes] per request, the first 15, with its multiple of the median
    of its kind.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> largest = lf.cost.requests(day, top=3)
    >>> bool(largest["total_traffic_cost"].is_monotonic_decreasing)
    True
    """
    REQUESTS.check(frames)
    rows = run(frames, largest_requests(require_integer("top", top, 1, MAX_TOP), LEAST_OF_KIND))
    values = {
        **rows,
        "verdict_result": grouping.category_of("verdict_result", rows["verdict_result"], None),
        "kind": grouping.category_of("kind", rows["kind"], None),
        "share": ratio(rows["total_traffic_cost"], rows["known_cost"]),
        "times_median": ratio(rows["total_traffic_cost"], rows["median_of_kind"]),
        "coverage": ratio(rows["known_requests"], rows["all_requests"]),
    }
    values["why"] = list(_reasons(pd.DataFrame(values)))
    return REQUESTS.build(frames, values)


def _reasons(rows: pd.DataFrame) -> Iterator[str]:
    for row in rows.itertuples():
        yield "; ".join(_parts(row))


def _parts(row: Any) -> Iterator[str]:
    """Yield what explains the cost of a request, where it is known."""
    if not pd.isna(row.times_median):
        yield f"{row.times_median:,.1f} times the median of {pluralize(row.requests_of_kind, 'request')} of its kind"
    sizes = {"view": row.view_count, "confirmer": row.confirmers, "envelope": row.envelopes}
    known = [pluralize(int(number), noun) for noun, number in sizes.items() if not pd.isna(number)]
    if known:
        yield ", ".join(known)
    if not pd.isna(row.largest_envelope) and row.total_traffic_cost:
        yield f"the largest envelope has {printing.percent(int(row.largest_envelope), int(row.total_traffic_cost))}"
    if row.verdict_result == "VERDICT_RESULT_REJECTED":
        yield "rejected"
