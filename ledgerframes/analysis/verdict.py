"""Outcomes, latency and rejections of verdicts, and the parties that confirm.

A request is a verdict, an update or a traffic summary, whichever of them exist. Requests without a verdict count in
``requests`` and lower the ``coverage``. They are neither accepted nor rejected here, although an update that exists was
accepted: the rejected requests of the same time are not visible, so a rate would suffer from survivorship.

Latency is ``finalization_time`` minus ``record_time``, as observed by the host that was read. Hosts differ, so compare medians
across hosts, not single rows. ``effective_at`` can be before ``record_time`` and is never used.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Flags, Integers, Rates, durations, known, microseconds, ratio
from ledgerframes.analysis._head_of_line import head_of_line, head_of_line_victims
from ledgerframes.analysis._quorums import quorums
from ledgerframes.analysis._requests import (
    ACCEPTED,
    UNSPECIFIED,
    has_result,
    is_rejected,
    not_negative,
    requests,
    require_rejections,
)
from ledgerframes.analysis._waited_for import waited_for
from ledgerframes.frames import Frames

__all__ = ["head_of_line", "head_of_line_victims", "latency", "outcomes", "quorums", "rejections", "waited_for"]

OUTCOMES = declare.Figure(
    "verdict.outcomes",
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
        declare.count("requests", "Confirmation requests."),
        declare.count("accepted", "Accepted requests."),
        declare.count("rejected", "Rejected requests."),
        declare.count("timeouts", "Rejected requests with a latency of 29.9 s or more."),
        declare.count("unspecified", "Requests with a verdict that is neither."),
        declare.count("no_verdict", "Requests without a verdict."),
        declare.share(
            "Rejected requests as a share of accepted and rejected. Missing without any.", "rejection_rate", "Rejection rate"
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95%. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95%. Missing without a rate.", "high"),
    ),
    has_periods=True,
    fact="verdict",
)
PERCENTS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}
LATENCY = declare.Figure(
    "verdict.latency",
    by={
        "participant": grouping.PARTICIPANT,
        "party": grouping.PARTY,
        "hour": grouping.HOUR,
        "day": grouping.DAY,
        "result": grouping.RESULT,
        "size": grouping.SIZE,
        "confirmers": grouping.CONFIRMERS,
        "views": grouping.VIEWS,
        "template": grouping.TEMPLATE,
    },
    columns=(
        declare.count("requests", "Confirmation requests."),
        *(
            declare.ResultColumn(
                name,
                declare.DURATION,
                f"Latency that {percent}% of the requests do not exceed. Missing without a verdict.",
                "microseconds",
                "Latency",
            )
            for name, percent in PERCENTS.items()
        ),
    ),
    has_periods=True,
    fact="verdict",
)
REJECTIONS = declare.Figure(
    "verdict.rejections",
    columns=(
        declare.ResultColumn("update_id", declare.TEXT, "Id of the rejected request."),
        declare.ResultColumn("migration_id", "int64", "Migration of the synchronizer."),
        declare.ResultColumn("record_time", declare.TIME, "Sequencing time.", "UTC"),
        *grouping.PARTICIPANT.keys,
        declare.ResultColumn("latency", declare.DURATION, "Finalization time minus record time.", "microseconds", "Latency"),
        declare.ResultColumn(
            "reject_kind_heuristic", declare.LABEL, "Guess from the latency alone: timeout from 29.9 s, contention below."
        ),
        declare.cost("traffic_cost", "Cost of the request. Missing without a traffic summary."),
        declare.ResultColumn("view_count", "int64", "Views of the request.", "views"),
    ),
    unit="rejected requests",
)
REJECT_KINDS = ("contention", "timeout")

# The mediator gives up after 30 s. Clocks and rounding can make a timeout look a little shorter.
TIMEOUT_FROM = 29_900_000
WILSON_Z = 1.959963984540054


@OUTCOMES.document
def outcomes(
    frames: Frames, *, by: str | None = None, every: str | None = None, accept_survivorship: bool = False
) -> pd.DataFrame:
    """Return accepted and rejected requests, with the rejection rate and its interval.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    by : {None, "participant", "party", "hour", "weekday_hour", "day", "views", "size"}, optional
        Submitting participant, submitting party (a request of several parties counts for each), hour of the day [UTC], hour
        of the week [UTC], day [UTC], number of views, or class of cost. Not the template, which a rejected request never
        shows.
    every : str, optional
        Length of a period, such as ``"1h"`` or ``"1d"``.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per period and group, periods without requests included; sorted by time and group, missing last.

    Raises
    ------
    CoverageError
        If the frames hold committed updates, so that the rate would be 0 by construction.

    Notes
    -----
    Source: ``verdict_result`` of the verdicts (docs/facts.md#survivorship).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(lf.verdict.outcomes(day, by="hour"))
    24
    """
    keys = OUTCOMES.check(frames, by).key_names
    require_rejections(frames, accept_survivorship, "rejection rates")
    rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result", "finalization_time"], cost=False)
    has_verdict = rows["has_verdict"].to_numpy(dtype=bool)
    accepted, rejected = groups.count(has_result(rows, ACCEPTED)), groups.count(is_rejected(rows))
    low, high = _wilson_interval(rejected, accepted + rejected)
    values = {
        **groups.keys,
        "requests": groups.count(),
        "accepted": accepted,
        "rejected": rejected,
        "timeouts": groups.count(is_rejected(rows) & _is_late(rows)),
        "unspecified": groups.count(has_result(rows, UNSPECIFIED)),
        "no_verdict": groups.count(~has_verdict),
        "rejection_rate": ratio(rejected, accepted + rejected),
        "low": low,
        "high": high,
        "coverage": groups.coverage(has_verdict),
    }
    return OUTCOMES.build(frames, values, by, every=every, accept_survivorship=accept_survivorship)


@LATENCY.document
def latency(frames: Frames, *, by: str | None = None, every: str | None = None) -> pd.DataFrame:
    """Return percentiles of the time from sequencing to finalization.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "party", "hour", "day", "result", "size", "confirmers", "views", "template"}, optional
        Submitting participant, submitting party, hour of the day [UTC], day [UTC], verdict, class of cost, number of
        different confirming parties, number of views, or kind, template and choice of the first root node.
    every : str, optional
        Length of a period, such as ``"1h"`` or ``"1d"``.

    Returns
    -------
    DataFrame
        One row per period and group, periods without requests included; sorted by time and group, missing last.

    Notes
    -----
    Source: ``record_time`` and ``finalization_time`` of the verdicts (docs/facts.md#finalization-time-differs). Percentiles
    are by nearest rank.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> overall = lf.verdict.latency(day)
    >>> bool((overall["p50"] <= overall["p99"]).all())
    True
    """
    keys = LATENCY.check(frames, by).key_names
    rows, groups = grouping.requests_by(frames, keys, every, ["finalization_time"], cost=False)
    latencies = _latency(rows)
    percentiles = groups.percentiles(latencies, list(PERCENTS.values()))
    values = {
        **groups.keys,
        "requests": groups.count(),
        **{name: durations(numbers) for name, numbers in zip(PERCENTS, percentiles, strict=True)},
        "coverage": groups.coverage(known(latencies)),
    }
    return LATENCY.build(frames, values, by, every=every)


@REJECTIONS.document
def rejections(frames: Frames, *, accept_survivorship: bool = False) -> pd.DataFrame:
    """Return the rejected requests, with a guess at the cause.

    A verdict has no reason. The latency separates requests that reached the mediator's limit of 30 s:
    ``reject_kind_heuristic`` is ``timeout`` from 29.9 s and ``contention`` below. **This is a heuristic.**

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    accept_survivorship : bool, optional
        Continue with committed updates, which have no rejected requests (default: False).

    Returns
    -------
    DataFrame
        One row per rejected request; sorted by migration and record time.

    Raises
    ------
    CoverageError
        If the frames hold committed updates, so that there would be no row by construction.

    Notes
    -----
    Source: verdicts with result rejected, and their traffic summaries (docs/facts.md#no-rejection-reason,
    docs/facts.md#survivorship).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> rejected = lf.verdict.rejections(day)
    >>> bool(rejected["reject_kind_heuristic"].isin(["contention", "timeout"]).all())
    True
    """
    REJECTIONS.check(frames)
    require_rejections(frames, accept_survivorship, "rejections")
    rows = requests(frames, ["finalization_time", "verdict_result", "submitting_participant_uid", "view_count"])
    rows = rows[is_rejected(rows)].sort_values(["migration_id", "record_time", "update_id"], ignore_index=True)
    costs = rows["total_traffic_cost"]
    values = {
        **rows,
        "latency": durations(_latency(rows)),
        "reject_kind_heuristic": pd.Categorical.from_codes(_is_late(rows).astype(int), pd.Index(REJECT_KINDS)),
        "traffic_cost": costs,
        "coverage": np.full(len(rows), known(costs).mean() if len(rows) else np.nan),
    }
    return REJECTIONS.build(frames, values, accept_survivorship=accept_survivorship)


# -- helpers ------------------------------------------------------------------------------------------------------------


def _is_late(rows: pd.DataFrame) -> Flags:
    """Return which requests have the latency of a timeout."""
    is_late: Flags = (_latency(rows) >= TIMEOUT_FROM).fillna(value=False).to_numpy(dtype=bool)
    return is_late


def _latency(rows: pd.DataFrame) -> pd.Series:
    """Return microseconds as integers.

    They are missing without a verdict, or with one from before the request.
    """
    is_known = known(rows["finalization_time"])
    numbers = pd.Series(pd.NA, index=rows.index, dtype="Int64")
    decided = rows[is_known]
    numbers[is_known] = microseconds(decided["finalization_time"]) - microseconds(decided["record_time"])
    return not_negative(numbers)


def _wilson_interval(hits: Integers, trials: Integers) -> tuple[Rates, Rates]:
    """Return the 95% Wilson interval of each rate, missing without trials."""
    rate, z2 = ratio(hits, trials), WILSON_Z**2
    number = np.where(trials > 0, trials, 1)
    center = (rate + z2 / (2 * number)) / (1 + z2 / number)
    half = WILSON_Z / (1 + z2 / number) * np.sqrt(rate * (1 - rate) / number + z2 / (4 * number**2))
    # At a rate of 0 or 1 the interval ends exactly there, which floats would miss by a hair.
    return np.clip(np.minimum(center - half, rate), 0, 1), np.clip(np.maximum(center + half, rate), 0, 1)
