"""Rejected requests, with a guess at the cause."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.groups import durations, known
from ledgerframes.analysis.measures import IS_REJECTED, IS_REJECTED_IN_TIME, IS_TIMEOUT
from ledgerframes.analysis.requests import require_rejections
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict.limit import IS_SUSPECT, REJECT_KINDS
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.requests import DECISIONS
from ledgerframes.frames import Frames


def queries(frames: Frames, accept_survivorship: bool) -> list[Query]:
    """Return the queries of the figure."""
    return [REJECTED_REQUESTS]


REJECTIONS = declare.Figure(
    "verdict.rejections",
    caption="Rejected requests",
    answer=answers.of_rejections,
    main_columns=("record_time", "latency", "reject_kind_heuristic", "traffic_cost", "submitting_participant_uid", "view_count"),
    rows="One row per rejected request; sorted by migration and record time.",
    columns=(
        declare.text("update_id", "Id of the rejected request."),
        declare.ResultColumn("migration_id", "int64", "Migration of the synchronizer."),
        declare.time("record_time", "Sequencing time."),
        *grouping.PARTICIPANT.keys,
        declare.duration("latency", "Finalization time minus record time.", "Latency"),
        declare.label(
            "reject_kind_heuristic",
            "Guess from latency: timeout from 29.9 s, contention below. Missing without latency, or if the limit may differ.",
        ),
        declare.cost("traffic_cost", "Cost of the request. Missing without a traffic summary."),
        declare.ResultColumn("view_count", "int64", "Views of the request.", "views"),
    ),
    unit="rejected requests",
    queries=queries,
)

LIMIT_EVIDENCE = Relation(
    "limit_evidence",
    "One row: whether more rejections lie just below the limit than from it on.",
    f"""
    SELECT count(*) FILTER (WHERE {IS_SUSPECT}) > count(*) FILTER (WHERE {IS_TIMEOUT}) AS is_doubtful
    FROM decisions
    WHERE {IS_REJECTED}
    """,
    relations=(DECISIONS,),
)
REJECTED_REQUESTS = Query(
    "FROM rejected_requests\nORDER BY migration_id, record_time, update_id",
    (
        Relation(
            "rejected_requests",
            "One row per rejected request, with the kind of rejection that its latency suggests.",
            f"""
            SELECT
                update_id,
                decisions.migration_id,
                decisions.record_time,
                submitting_participant_uid,
                CASE WHEN latency >= 0 THEN latency END AS latency,
                CASE
                    WHEN is_doubtful THEN NULL
                    WHEN {IS_REJECTED_IN_TIME} THEN 'contention'
                    WHEN {IS_TIMEOUT} THEN 'timeout'
                END AS reject_kind_heuristic,
                CASE WHEN total_traffic_cost >= 0 THEN total_traffic_cost END AS traffic_cost,
                view_count
            FROM decisions
            LEFT JOIN traffic USING (update_id)
            CROSS JOIN limit_evidence
            WHERE {IS_REJECTED}
            """,
            tables=("traffic",),
            relations=(DECISIONS, LIMIT_EVIDENCE),
        ),
    ),
)


@REJECTIONS.register
def rejections(frames: Frames, *, accept_survivorship: bool = False) -> pd.DataFrame:
    """Return the rejected requests, with a guess at the cause.

    A verdict has no reason. The latency identifies requests that reached the mediator's limit of 30 s:
    ``reject_kind_heuristic`` is ``timeout`` from 29.9 s and ``contention`` below. **This is a heuristic.** If more rejections
    lie from 20 s to below 29.9 s than at 29.9 s or more, the limit of the network may differ, and no kind is named.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per rejected request; sorted by migration and record time.

        Columns:

        - ``update_id`` (str): Id of the rejected request.
        - ``migration_id`` (int64): Migration of the synchronizer.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``submitting_participant_uid`` (str): Participant that submits and pays. Missing without a verdict.
        - ``latency`` (timedelta64[us], microseconds): Finalization time minus record time.
        - ``reject_kind_heuristic`` (category): Guess from latency: timeout from 29.9 s, contention below. Missing without
          latency, or if the limit may differ.
        - ``traffic_cost`` (Int64, bytes): Cost of the request. Missing without a traffic summary.
        - ``view_count`` (int64, views): Views of the request.
        - ``coverage`` (float64, share of 1): Share of the rejected requests with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames hold committed updates, which have no rejected requests.

    Notes
    -----
    Source: verdicts with result rejected, and their traffic summaries (docs/facts.md#no-rejection-reason,
    docs/facts.md#survivorship).

    Picture, by :func:`ledgerframes.plot`: A number says nothing about a participant, because those with more requests have
    more rejections. The picture of :func:`ledgerframes.verdict.outcomes` has rates. Stacked bars of rejected requests by
    hour of the day [UTC], one color for each kind, which is a heuristic.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> rejected = lf.verdict.rejections(day)
    >>> bool(rejected["reject_kind_heuristic"].dropna().isin(["contention", "timeout"]).all())
    True
    """
    REJECTIONS.check(frames)
    require_rejections(frames, accept_survivorship, "rejections")
    rows = run(frames, REJECTED_REQUESTS)
    values = {
        **rows,
        "latency": durations(rows["latency"]),
        "reject_kind_heuristic": pd.Categorical(rows["reject_kind_heuristic"], REJECT_KINDS),
        "coverage": known(rows["traffic_cost"]).mean() if len(rows) else np.nan,
    }
    return REJECTIONS.build(frames, values, accept_survivorship=accept_survivorship)
