"""Outcomes, latency and rejections of verdicts, and the parties that confirm.

A request is a verdict, an update or a traffic summary, whichever of them exist. Requests without a verdict count in
``requests`` and lower the ``known_share``. They are neither accepted nor rejected here, although an update that exists was
accepted: the rejected requests of the same time are not visible, so a rate would suffer from survivorship.

Latency is ``finalization_time`` minus ``record_time``, as observed by the host that was read. Hosts differ, so compare medians
across hosts, not single rows. ``effective_at`` can be before ``record_time`` and is never used.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._groups import Integers, Rates, durations, known, microseconds, ratio
from ledgerframes.analysis._requests import (
    ACCEPTED,
    UNSPECIFIED,
    encode_texts,
    has_result,
    is_rejected,
    list_items,
    list_lengths,
    positions,
    requests,
    require_rejections,
    take_or_missing,
)
from ledgerframes.frames import Frames

__all__ = ["latency", "outcomes", "quorums", "rejections"]

OUTCOMES = declare.Figure(
    "verdict.outcomes",
    by={
        "participant": grouping.PARTICIPANT,
        "party": grouping.PARTY,
        "hour": grouping.HOUR,
        "day": grouping.DAY,
        "views": grouping.VIEWS,
        "size": grouping.SIZE,
    },
    misleading={"template": "rejected requests show no template"},
    columns=(
        declare.count("requests", "Confirmation requests."),
        declare.count("accepted", "Accepted requests."),
        declare.count("rejected", "Rejected requests."),
        declare.count("unspecified", "Requests with a verdict that is neither."),
        declare.share(
            "Rejected requests as a share of accepted and rejected. Missing without any.", "rejection_rate", "Rejection rate"
        ),
        declare.share("Lower end of the Wilson interval of the rate, 95%. Missing without a rate.", "low"),
        declare.share("Upper end of the Wilson interval of the rate, 95%. Missing without a rate.", "high"),
        declare.known_share("verdict"),
    ),
    has_periods=True,
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
        declare.known_share("verdict"),
    ),
    has_periods=True,
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
        declare.known_share("cost", "rejected requests"),
    ),
)
QUORUMS = declare.Figure(
    "verdict.quorums",
    by={"participant": grouping.PARTICIPANT, "template": grouping.TEMPLATE},
    columns=(
        declare.ResultColumn("parties", declare.TEXT, "Parties that can confirm, in alphabetical order, separated by commas."),
        declare.ResultColumn("threshold", declare.INTEGER, "Confirmations needed.", "confirmations"),
        declare.ResultColumn("party_count", declare.INTEGER, "Number of parties that can confirm.", "parties"),
        declare.count("quorums", "Quorums of these parties with this threshold.", "quorums"),
        declare.count("views", "Views with such a quorum.", "views"),
        declare.count("requests", "Confirmation requests with such a quorum."),
        declare.share("Share of all quorums."),
        declare.known_share("verdict", "requests of these frames"),
    ),
    has_periods=True,
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
    by : {None, "participant", "party", "hour", "day", "views", "size"}, optional
        Submitting participant, submitting party (a request of several parties counts for each), hour of the day [UTC],
        day [UTC], number of views, or class of cost. Not the template: a rejected request never shows its template.
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
    rows, groups = grouping.requests_by(frames, keys, every, ["verdict_result"], cost=False)
    accepted, rejected = groups.count(has_result(rows, ACCEPTED)), groups.count(is_rejected(rows))
    low, high = _wilson_interval(rejected, accepted + rejected)
    values = {
        **groups.keys,
        "requests": groups.count(),
        "accepted": accepted,
        "rejected": rejected,
        "unspecified": groups.count(has_result(rows, UNSPECIFIED)),
        "rejection_rate": ratio(rejected, accepted + rejected),
        "low": low,
        "high": high,
        "known_share": groups.known_share(rows["has_verdict"].to_numpy(dtype=bool)),
    }
    return OUTCOMES.build(values, by, every=every)


@LATENCY.document
def latency(frames: Frames, *, by: str | None = None, every: str | None = None) -> pd.DataFrame:
    """Return percentiles of the time from sequencing to finalization.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "party", "hour", "day", "result", "size", "confirmers", "views", "template"}, optional
        Submitting participant, submitting party, hour of the day [UTC], day [UTC], verdict, class of cost, number of
        different confirming parties, number of views, or template and choice of the first root node.
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
    percentiles = groups.percentiles(_latency(rows), list(PERCENTS.values()))
    values = {
        **groups.keys,
        "requests": groups.count(),
        **{name: durations(numbers) for name, numbers in zip(PERCENTS, percentiles, strict=True)},
        "known_share": groups.known_share(rows["has_verdict"].to_numpy(dtype=bool)),
    }
    return LATENCY.build(values, by, every=every)


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
    numbers, costs = _latency(rows), rows["total_traffic_cost"]
    is_timeout = (numbers >= TIMEOUT_FROM).to_numpy(dtype=bool)
    values = {
        **rows,
        "latency": durations(numbers),
        "reject_kind_heuristic": pd.Categorical.from_codes(is_timeout.astype(int), pd.Index(REJECT_KINDS)),
        "traffic_cost": costs,
        "known_share": np.full(len(rows), known(costs).mean() if len(rows) else np.nan),
    }
    return REJECTIONS.build(values)


@QUORUMS.document
def quorums(frames: Frames, *, by: str | None = None, every: str | None = None) -> pd.DataFrame:
    """Return the parties that confirm together, and the number of confirmations needed.

    Parameters
    ----------
    frames : Frames
        With the tables of :func:`ledgerframes.load_events`.
    by : {None, "participant", "template"}, optional
        Submitting participant, or template and choice of the first root node.
    every : str, optional
        Length of a period, such as ``"1h"`` or ``"1d"``.

    Returns
    -------
    DataFrame
        One row per period, group, set of parties and threshold; sorted by time, then by quorums, most frequent first.

    Notes
    -----
    Source: ``confirming_parties`` of the views of verdicts. The order in which a verdict lists the parties does not matter.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> groups = lf.verdict.quorums(day)
    >>> bool((groups["threshold"] <= groups["party_count"]).all())
    True
    """
    by_keys = QUORUMS.check(frames, by).key_names
    rows = frames.read("quorums", ["update_id", "record_time", "view_id", "threshold", "parties"])
    rows["party_count"] = list_lengths(rows["parties"])
    rows["parties"] = _join_sorted(rows["parties"])
    all_requests = requests(frames, [name for name in by_keys if name == "submitting_participant_uid"], cost=False)
    if by == "participant":
        indexes = positions(rows["update_id"], all_requests["update_id"])
        rows["submitting_participant_uid"] = take_or_missing(all_requests["submitting_participant_uid"], indexes)
    keys = [*by_keys, "parties", "threshold", "party_count"]
    groups = grouping.group_rows(frames, grouping.with_keys(frames, rows, keys), keys, every)
    numbers = pd.DataFrame({"group": groups.codes, "request": pd.factorize(rows["update_id"])[0], "view": rows["view_id"]})
    values = {
        **groups.keys,
        "quorums": groups.count(),
        "views": groups.count((~numbers.duplicated()).to_numpy()),
        "requests": groups.count((~numbers.duplicated(["group", "request"])).to_numpy()),
        "share": np.where(groups.count() > 0, ratio(groups.count(), np.full(len(groups), len(rows))), np.nan),
        "known_share": np.full(len(groups), all_requests["has_verdict"].mean() if len(all_requests) else np.nan),
    }
    periods = ["period_start"] if every else []
    order = [*periods, "quorums", *by_keys, "parties", "threshold"]
    return QUORUMS.build(values, by, every=every).sort_values(
        order, ascending=[name != "quorums" for name in order], ignore_index=True
    )


# -- helpers ------------------------------------------------------------------------------------------------------------


def _latency(rows: pd.DataFrame) -> pd.Series:
    """Return microseconds as integers, missing without a verdict."""
    is_known = known(rows["finalization_time"])
    numbers = pd.Series(pd.NA, index=rows.index, dtype="Int64")
    decided = rows[is_known]
    numbers[is_known] = microseconds(decided["finalization_time"]) - microseconds(decided["record_time"])
    return numbers


def _wilson_interval(hits: Integers, trials: Integers) -> tuple[Rates, Rates]:
    """Return the 95% Wilson interval of each rate, missing without trials."""
    rate, z2 = ratio(hits, trials), WILSON_Z**2
    number = np.where(trials > 0, trials, 1)
    center = (rate + z2 / (2 * number)) / (1 + z2 / number)
    half = WILSON_Z / (1 + z2 / number) * np.sqrt(rate * (1 - rate) / number + z2 / (4 * number**2))
    # At a rate of 0 or 1 the interval ends exactly there, which floats would miss by a hair.
    return np.clip(np.minimum(center - half, rate), 0, 1), np.clip(np.maximum(center + half, rate), 0, 1)


def _join_sorted(lists: pd.Series) -> pd.Series:
    """Return each list as one text, its items in alphabetical order."""
    owners, texts = list_items(lists)
    codes, names = encode_texts(texts)
    ordered = names.take(pa.array(codes[np.lexsort((codes, owners))]))
    ends = np.concatenate([[0], np.cumsum(list_lengths(lists))])
    texts_by_list = pc.binary_join(pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), ordered), ", ")
    return pd.Series(pd.array(texts_by_list, dtype="str"))
