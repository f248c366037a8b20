"""Accepted and rejected requests, and which groups differ from all others."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, Grouped, covered_hours, measure
from ledgerframes.analysis.groups import Flags, Integers, ratio
from ledgerframes.analysis.measures import IS_ACCEPTED, IS_REJECTED, IS_TIMEOUT, IS_UNSPECIFIED, Count
from ledgerframes.analysis.requests import require_rejections
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict.limit import LIMIT_EVIDENCE, known_timeouts
from ledgerframes.engine import Query, Relation, run
from ledgerframes.frames import Frames
from ledgerframes.statistics.comparisons import compare_groups
from ledgerframes.statistics.rates import design_effect, difference_of_rates, wilson

OVERLAPPING = "requests of several parties are in several groups"
ONE_GROUP = "there is no other group"
PARTIAL = "not a whole period"
COMPARISON = ("difference", "difference_low", "difference_high", "p_holm", "differs")

OUTCOMES = declare.Figure(
    "verdict.outcomes",
    caption="Verdicts and rejection rate",
    answer=answers.of_outcomes,
    main_columns=("rejection_rate", "low", "high", "requests", "rejected", "timeouts", "difference", "differs"),
    distinct=(),
    rows="One row per period and group, including periods without requests; sorted by time and group, missing last.",
    by={
        "participant": grouping.PARTICIPANT,
        "party": grouping.PARTY,
        "hour": grouping.HOUR,
        "weekday_hour": grouping.WEEKDAY_HOUR,
        "day": grouping.DAY,
        "views": grouping.VIEWS,
        "size": grouping.SIZE,
    },
    misleading={"template": "rejected requests show no template"},
    columns=(
        declare.count("requests", "Confirmation requests.", measure=Count()),
        declare.count("accepted", "Accepted requests.", measure=Count(where=IS_ACCEPTED)),
        declare.count("rejected", "Rejected requests.", measure=Count(where=IS_REJECTED)),
        declare.integer(
            "timeouts",
            "Rejected requests with a latency of 29.9 s or more. Missing if the limit of the network may differ.",
            "requests",
            "Timeouts",
            measure=Count(where=IS_TIMEOUT),
        ),
        declare.count(
            "unspecified", "Requests whose verdict is neither accepted nor rejected.", measure=Count(where=IS_UNSPECIFIED)
        ),
        declare.count("no_verdict", "Requests without a verdict.", measure=Count(where="NOT has_verdict")),
        declare.share(
            "Rejected requests as a share of accepted and rejected ones. Missing if there are none.",
            "rejection_rate",
            "Rejection rate",
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.", "high"),
        declare.share(
            "Rate minus that of all other rows. Missing by party, for a single row, a partial period, or without a rate.",
            "difference",
        ),
        declare.share(
            "Lower end of the Newcombe interval of the difference, 95 %. Missing without a difference.", "difference_low"
        ),
        declare.share(
            "Upper end of the Newcombe interval of the difference, 95 %. Missing without a difference.", "difference_high"
        ),
        declare.rate("p_holm", "P-value of the difference, adjusted for all rows. Missing if not judged."),
        declare.flag("differs", "Whether more than chance explains the difference. Missing if not judged."),
        declare.text("reason", "Why the row is not judged. Missing if it is judged."),
        declare.rate(
            "dispersion",
            "Factor by which clusters of one participant in one hour widen the variance of the rate. Missing if unknown.",
        ),
    ),
    has_periods=True,
    condition="with a known verdict",
    known="has_verdict",
    others=LIMIT_EVIDENCE,
)
CLUSTERS = Relation(
    "clusters",
    "One row per participant and hour, in the order of their first requests.",
    f"""
    SELECT
        submitting_participant_uid,
        epoch_us(record_time) // 3_600_000_000 AS hour_number,
        count(*) FILTER (WHERE {IS_REJECTED}) AS hits,
        count(*) AS trials
    FROM verdicts
    WHERE {IS_REJECTED} OR {IS_ACCEPTED}
    GROUP BY ALL
    ORDER BY min({{'migration_id': migration_id, 'record_time': record_time, 'update_id': update_id}})
    """,
    tables=("verdicts",),
)


@OUTCOMES.register
def outcomes(
    frames: Frames,
    *,
    by: Literal["participant", "party", "hour", "weekday_hour", "day", "views", "size"] | None = None,
    every: str | None = None,
    accept_survivorship: bool = False,
) -> pd.DataFrame:
    """Return accepted and rejected requests, with the rejection rate and its interval.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {"participant", "party", "hour", "weekday_hour", "day", "views", "size"}, optional
        Grouping of the rows, with its columns below (default: None).
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and group, including periods without requests; sorted by time and group, missing last.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``submitting_participant_uid`` (str, with by="participant"): Participant that submits and pays. Missing without a
          verdict.
        - ``party`` (str, with by="party"): Submitting party. Missing without a verdict or a party.
        - ``hour`` (int64, UTC, with by="hour" or by="weekday_hour"): Hour of the day of the record time. All 24 hours have a
          row.
        - ``covered_hours`` (float64, hours, with by="hour" or by="weekday_hour"): Time of this hour, over all days, that final
          data cover. Divide counts by it before you compare them.
        - ``weekday`` (int64, UTC, with by="weekday_hour"): Day of the week, 0 for Monday.
        - ``day`` (datetime64[us, UTC], with by="day"): Start of the day of the record time. All days of the window have a row.
        - ``is_partial`` (boolean, with by="day"): Whether final data of the window do not cover the whole day.
        - ``view_count`` (Int64, views, with by="views"): Views of the request. Missing without a verdict.
        - ``size`` (category, bytes, with by="size"): Class of the request's cost. Missing if the cost is unknown.
        - ``requests`` (int64, requests): Confirmation requests.
        - ``accepted`` (int64, requests): Accepted requests.
        - ``rejected`` (int64, requests): Rejected requests.
        - ``timeouts`` (Int64, requests): Rejected requests with a latency of 29.9 s or more. Missing if the limit of the
          network may differ.
        - ``unspecified`` (int64, requests): Requests whose verdict is neither accepted nor rejected.
        - ``no_verdict`` (int64, requests): Requests without a verdict.
        - ``rejection_rate`` (float64, share of 1): Rejected requests as a share of accepted and rejected ones. Missing if there
          are none.
        - ``low`` (float64, share of 1): Lower end of the Wilson interval of the rate, 95 %. Missing without a rate.
        - ``high`` (float64, share of 1): Upper end of the Wilson interval of the rate, 95 %. Missing without a rate.
        - ``difference`` (float64, share of 1): Rate minus that of all other rows. Missing by party, for a single row, a partial
          period, or without a rate.
        - ``difference_low`` (float64, share of 1): Lower end of the Newcombe interval of the difference, 95 %. Missing without
          a difference.
        - ``difference_high`` (float64, share of 1): Upper end of the Newcombe interval of the difference, 95 %. Missing without
          a difference.
        - ``p_holm`` (float64): P-value of the difference, adjusted for all rows. Missing if not judged.
        - ``differs`` (boolean): Whether more than chance explains the difference. Missing if not judged.
        - ``reason`` (str): Why the row is not judged. Missing if it is judged.
        - ``dispersion`` (float64): Factor by which clusters of one participant in one hour widen the variance of the rate.
          Missing if unknown.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known verdict. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    CoverageError
        If the frames hold committed updates, which have no rejected requests.

    Notes
    -----
    Source: ``verdict_result`` of the verdicts (docs/facts.md#survivorship). Each row is compared with all other rows
    together, adjusted for the number of rows (docs/uncertainty.md). Whether two intervals overlap says nothing about that
    pair of rows. A request of several parties counts for each. There is no grouping by template, because a rejected request
    never shows its template.

    Picture, by :func:`ledgerframes.plot`: Rates [%] over time for hours, days and periods. Otherwise: one row per group,
    the 15 with the most requests, the highest rate first. Groups over time: a panel for each of the 12 groups with the most
    decided requests, all on one scale, with the rate of all groups in gray and without intervals. Periods with fewer than
    20 decided requests of a group have no point, because their rate is mostly chance. Diamonds differ from all other rows
    by more than chance, crosses have too few requests to be judged, and a line is the rate of all.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(lf.verdict.outcomes(day, by="hour"))
    24
    """
    OUTCOMES.check(frames, by)
    require_rejections(frames, accept_survivorship, "rejection rates")
    call = Call(OUTCOMES, frames, by, every)
    grouped = measure(call)
    counts = grouped.values
    values = {
        **grouped.keys,
        **covered_hours(call),
        **counts,
        "timeouts": known_timeouts(grouped),
        **_rates(grouped, cluster_effect(frames), has_overlap=by == "party"),
    }
    return OUTCOMES.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


def _rates(grouped: Grouped, effect: float | None, *, has_overlap: bool) -> dict[str, Any]:
    """Return the rate of each group, and the comparison with all others if there is one."""
    hits, accepted = (grouped.values[name].to_numpy("int64") for name in ("rejected", "accepted"))
    is_partial = grouped.keys.get("is_partial", pd.Series(False, grouped.keys.index)).to_numpy("bool")
    values = rate_values(hits, hits + accepted, effect=effect, is_compared=~is_partial)
    values["dispersion"] = np.nan if effect is None else effect
    reason = values["reason"].replace("", pd.NA)
    if has_overlap or (~is_partial).sum() <= 1:
        values |= dict.fromkeys(COMPARISON)
        reason = pd.Series(OVERLAPPING if has_overlap else ONE_GROUP, reason.index)
    values["reason"] = reason.mask(is_partial, PARTIAL)
    return values


def cluster_effect(frames: Frames) -> float | None:
    """Return the design effect of clusters of one participant in one hour, None if unknown."""
    clusters = run(frames, Query("FROM clusters", (CLUSTERS,)))
    return design_effect(clusters["submitting_participant_uid"], clusters["hits"], clusters["trials"])


def rate_values(
    hits: Integers, trials: Integers, *, effect: float | None = None, is_compared: Flags | None = None
) -> dict[str, Any]:
    """Return the rate of each group, and its difference from all others together.

    Among many groups, intervals that do not overlap are no sign of a difference. Only ``differs`` is. Groups that are not
    compared have a rate, and are among no others.
    """
    scale = effect or 1.0
    low, high = wilson(hits, trials, design_effect=scale)
    compared = (hits, trials) if is_compared is None else (hits * is_compared, trials * is_compared)
    rest = (compared[0].sum() - compared[0], compared[1].sum() - compared[1])
    difference = difference_of_rates(rest, compared, design_effect=scale)
    comparison = compare_groups(*compared, design_effect=scale)
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
