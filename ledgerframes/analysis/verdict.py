"""How requests are decided, how fast, and by whom: ``Frames`` -> tidy DataFrame, pure.

A request is a verdict, an update whose verdict is missing (old history), or both. Requests without a verdict count in
``requests`` and lower the ``coverage``; they are neither accepted nor rejected here, although an update that exists was accepted:
the rejected requests of the same time cannot be seen, and a rate made of survivors would mislead.

Latency is ``finalization_time`` less ``record_time``, as the answering node saw it. Nodes differ, so compare medians across
nodes, not single rows. ``effective_at`` may lie before ``record_time`` and is never used.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis._columns import COST, DURATION, LABEL, RATE, TEXT, TIME, ResultColumn, count, coverage, shaped, share
from ledgerframes.analysis._groups import (
    Groups,
    Integers,
    Rates,
    by_columns,
    by_hour_of_day,
    durations,
    everything,
    known,
    microseconds,
    periods,
    ratio,
)
from ledgerframes.analysis._quorums import QUORUMS, quorums
from ledgerframes.analysis._requests import (
    ACCEPTED,
    UNSPECIFIED,
    distinct_per_owner,
    first_roots,
    has_result,
    is_rejected,
    per_party,
    positions,
    refuse_survivors,
    requests,
)
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames

__all__ = ["COLUMNS", "LATENCY_BY", "OUTCOMES_BY", "latency", "outcomes", "quorums", "rejections"]

PARTICIPANT = ResultColumn("submitting_participant_uid", TEXT, "Validator that submitted; missing where no verdict is known.")
HOUR = ResultColumn("hour", "int64", "Hour of the day of the record time, all 24 of them.", "UTC")

# What results can be grouped by, and the columns that each way puts in front.
OUTCOMES_BY: dict[str | None, tuple[ResultColumn, ...]] = {
    None: (),
    "participant": (PARTICIPANT,),
    "party": (
        ResultColumn("party", TEXT, "Submitting party; a request of several counts for each; missing where none is known."),
    ),
    "hour": (HOUR,),
    "day": (ResultColumn("day", TIME, "Start of the day of the record time, all days of the window.", "UTC"),),
}
LATENCY_BY: dict[str | None, tuple[ResultColumn, ...]] = {
    None: (),
    "participant": (PARTICIPANT,),
    "hour": (HOUR,),
    "result": (ResultColumn("verdict_result", LABEL, "What the mediator decided."),),
    "size": (ResultColumn("size", LABEL, "Class of the request's cost; missing where it is not known.", "bytes"),),
    "confirmers": (ResultColumn("confirmers", COST, "Different parties that may confirm, over all quorums.", "parties"),),
    "template": (
        ResultColumn("template_name", TEXT, "Module and entity of the root node's template; missing where no tree is visible."),
        ResultColumn("choice", TEXT, "Choice that the root node exercises; missing for a create."),
    ),
}
OUTCOMES = (
    count("requests", "Confirmation requests."),
    count("accepted", "Those of them that were accepted."),
    count("rejected", "Those that were rejected."),
    count("unspecified", "Those whose verdict says neither."),
    share("Rejected requests as a share of those accepted or rejected; missing if there are none.", "rejection_rate"),
    share("Lower end of the rate's Wilson interval, 95 %.", "low"),
    share("Upper end of the rate's Wilson interval, 95 %.", "high"),
    coverage("verdict"),
)
PERCENTS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}
LATENCY = (
    count("requests", "Confirmation requests."),
    *(
        ResultColumn(name, DURATION, f"Latency that {percent} % of the requests do not exceed; nearest rank.", "microseconds")
        for name, percent in PERCENTS.items()
    ),
    coverage("verdict"),
)
REJECTIONS = (
    ResultColumn("update_id", TEXT, "Id of the rejected request."),
    ResultColumn("migration_id", "int64", "Migration of the synchronizer."),
    ResultColumn("record_time", TIME, "Sequencing time.", "UTC"),
    PARTICIPANT,
    ResultColumn("latency", DURATION, "Finalization time less record time.", "microseconds"),
    ResultColumn("reject_kind_heuristic", LABEL, "Guess from the latency alone: timeout from 29.9 s on, contention below."),
    ResultColumn("traffic_cost", COST, "Cost of the request; missing where it is not known.", "bytes"),
    ResultColumn("view_count", "int64", "Views of the request.", "views"),
    ResultColumn("coverage", RATE, "Share of all rejected requests whose cost is known; the same in every row.", "share of 1"),
)
COLUMNS: dict[str, tuple[ResultColumn, ...]] = {
    "outcomes": OUTCOMES,
    "latency": LATENCY,
    "rejections": REJECTIONS,
    "quorums": QUORUMS,
}
REJECT_KINDS = ("contention", "timeout")

# The mediator gives up after 30 s; clocks and rounding let a time-out look a little shorter.
TIMEOUT_FROM = 29_900_000
SIZE_EDGES = (0, 2_000, 5_000, 10_000, 20_000, 50_000)
SIZES = ("under 2 kB", "2 to 5 kB", "5 to 10 kB", "10 to 20 kB", "20 to 50 kB", "50 kB and more")
WILSON_Z = 1.959963984540054


def outcomes(frames: Frames, by: str | None = None, *, accept_survivorship: bool = False) -> pd.DataFrame:
    """How many requests were accepted and rejected, with the rejection rate and its uncertainty.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.
    by : {None, "participant", "party", "hour", "day"}
        One row for all, per submitting validator, per submitting party, per hour of the day [UTC], or per day [UTC]. Not by
        template: a rejected request never shows its template, so each template's rate would be 0.
    accept_survivorship : bool
        Go on although all requests were found among accepted ones.

    Returns
    -------
    DataFrame
        One row per group, sorted by it, missing last. The group's column (``submitting_participant_uid``, ``party``, ``hour``,
        ``day``; none if `by` is None), then ``requests``, ``accepted``, ``rejected``, ``unspecified``, ``rejection_rate``,
        ``low``, ``high`` (Wilson interval, 95 %), ``coverage``.

    Raises
    ------
    CoverageError
        If every request was found through ids of accepted updates: the rate would be 0 by construction.
    UsageError
        If `by` is not one of the above.

    Notes
    -----
    Source: ``verdict_result`` of the verdicts.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> len(lf.verdict.outcomes(frames, by="hour"))
    24
    """
    _check(by, OUTCOMES_BY, "Rejected requests show no template, so a rate by template is refused." if by == "template" else "")
    columns = {"participant": ["submitting_participant_uid"], "party": ["submitting_parties"]}.get(by or "", [])
    rows = requests(frames, ["verdict_result", "id_source", *columns], cost=False)
    refuse_survivors(rows, accept_survivorship)
    if by == "party":
        rows, _ = per_party(rows)
    groups = _grouped(frames, rows, by)
    accepted, rejected = groups.count(has_result(rows, ACCEPTED)), groups.count(is_rejected(rows))
    low, high = _wilson(rejected, accepted + rejected)
    return shaped(
        (*OUTCOMES_BY[by], *OUTCOMES),
        {
            **groups.keys,
            "requests": groups.count(),
            "accepted": accepted,
            "rejected": rejected,
            "unspecified": groups.count(has_result(rows, UNSPECIFIED)),
            "rejection_rate": ratio(rejected, accepted + rejected),
            "low": low,
            "high": high,
            "coverage": groups.share_known(rows["has_verdict"].to_numpy(dtype=bool)),
        },
    )


def latency(frames: Frames, by: str | None = None) -> pd.DataFrame:
    """How long requests take from being ordered to being decided.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``; for some groups also ``quorums`` or ``tree_events``.
    by : {None, "participant", "hour", "result", "size", "confirmers", "template"}
        One row for all, per submitting validator, per hour of the day [UTC], per verdict, per class of cost [bytes], per number
        of different confirming parties over all quorums, or per template and choice of the first root.

    Returns
    -------
    DataFrame
        One row per group, sorted by it, missing last. The group's columns (``submitting_participant_uid``, ``hour``,
        ``verdict_result``, ``size``, ``confirmers``, ``template_name`` and ``choice``; none if `by` is None), then ``requests``,
        ``p50``, ``p90``, ``p95``, ``p99``, ``max`` [timedelta, microseconds, nearest rank], ``coverage``.

    Raises
    ------
    UsageError
        If `by` is not one of the above.

    Notes
    -----
    Source: ``record_time`` and ``finalization_time`` of the verdicts, the latter as the answering node saw it.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> speed = lf.verdict.latency(frames)
    >>> bool((speed["p50"] <= speed["p99"]).all())
    True
    """
    _check(by, LATENCY_BY)
    columns = {"participant": ["submitting_participant_uid"], "result": ["verdict_result"]}.get(by or "", [])
    rows = requests(frames, ["finalization_time", *columns], cost=by == "size")
    groups = _grouped(frames, rows, by)
    percentiles = groups.nearest_rank(_latency(rows), list(PERCENTS.values()))
    return shaped(
        (*LATENCY_BY[by], *LATENCY),
        {
            **groups.keys,
            "requests": groups.count(),
            **{name: durations(values) for name, values in zip(PERCENTS, percentiles, strict=True)},
            "coverage": groups.share_known(rows["has_verdict"].to_numpy(dtype=bool)),
        },
    )


def rejections(frames: Frames) -> pd.DataFrame:
    """The rejected requests, with a guess at why.

    A verdict has no reason. Requests that ran into the mediator's limit of 30 s are told from the others by their latency:
    ``reject_kind_heuristic`` is ``timeout`` from 29.9 s on and ``contention`` below. **It is a heuristic.** Frames whose requests
    were found through ids of accepted updates have no rows here; that says nothing about the network.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``.

    Returns
    -------
    DataFrame
        One row per rejected request, sorted by migration and record time: ``update_id``, ``migration_id``, ``record_time`` [UTC],
        ``submitting_participant_uid``, ``latency`` [timedelta, microseconds], ``reject_kind_heuristic``, ``traffic_cost``
        [bytes], ``view_count``, ``coverage``.

    Notes
    -----
    Source: verdicts with result rejected; costs from their traffic summaries.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> rejected = lf.verdict.rejections(frames)
    >>> bool(rejected["reject_kind_heuristic"].isin(["contention", "timeout"]).all())
    True
    """
    rows = requests(frames, ["finalization_time", "verdict_result", "submitting_participant_uid", "view_count"])
    rows = rows[is_rejected(rows)].sort_values(["migration_id", "record_time", "update_id"], ignore_index=True)
    numbers = _latency(rows)
    is_timeout = (numbers >= TIMEOUT_FROM).to_numpy(dtype=bool)
    costs = rows["total_traffic_cost"]
    return shaped(
        REJECTIONS,
        {
            **rows,
            "latency": durations(numbers),
            "reject_kind_heuristic": pd.Categorical.from_codes(is_timeout.astype(int), pd.Index(REJECT_KINDS)),
            "traffic_cost": costs,
            "coverage": np.full(len(rows), known(costs).mean() if len(rows) else np.nan),
        },
    )


# -- helpers ----------------------------------------------------------------------------------------------------------


def _check(by: str | None, ways: dict[str | None, tuple[ResultColumn, ...]], reason: str = "") -> None:
    if by not in ways:
        choices = ", ".join(repr(way) for way in ways)
        raise UsageError(f"by={by!r} is not a way to group. Choose one of: {choices}. {reason}".rstrip())


def _grouped(frames: Frames, rows: pd.DataFrame, by: str | None) -> Groups:
    """The rows in groups; every way that both analyses know is here once."""
    if by is None:
        return everything(len(rows))
    if by == "hour":
        return by_hour_of_day(rows["record_time"])
    if by == "day":
        days = periods(frames, rows["record_time"], "1d").group(rows["record_time"])
        return Groups(days.keys.rename(columns={"period_start": "day"}), days.codes)
    if by == "template":
        return by_columns(first_roots(frames, rows["update_id"]), ["template_name", "choice"])
    if by == "size":
        rows = rows.assign(size=_sizes(rows["total_traffic_cost"]))
    if by == "confirmers":
        rows = rows.assign(confirmers=_confirmers(frames, rows))
    names = {"participant": "submitting_participant_uid", "result": "verdict_result"}
    return by_columns(rows, [names.get(by, by)])


def _latency(rows: pd.DataFrame) -> pd.Series:
    """Microseconds as integers; missing without a verdict."""
    is_known = known(rows["finalization_time"])
    numbers = pd.Series(pd.NA, index=rows.index, dtype="Int64")
    decided = rows[is_known]
    numbers[is_known] = microseconds(decided["finalization_time"]) - microseconds(decided["record_time"])
    return numbers


def _sizes(costs: pd.Series) -> pd.Series:
    codes = np.searchsorted(SIZE_EDGES, costs.to_numpy(dtype="int64", na_value=-1), side="right") - 1
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(SIZES), ordered=True))


def _confirmers(frames: Frames, rows: pd.DataFrame) -> pd.Series:
    """How many different parties may confirm each request; missing where no quorum is known."""
    quorum_rows = frames.read("quorums", ["update_id", "parties"])
    owners: Integers = positions(quorum_rows["update_id"], rows["update_id"])
    return distinct_per_owner(owners, quorum_rows["parties"]).reindex(rows.index)


def _wilson(hits: Integers, trials: Integers) -> tuple[Rates, Rates]:
    """Wilson's interval for a rate, 95 %; missing without trials."""
    rate, z2 = ratio(hits, trials), WILSON_Z**2
    number = np.where(trials > 0, trials, 1)
    center = (rate + z2 / (2 * number)) / (1 + z2 / number)
    half = WILSON_Z / (1 + z2 / number) * np.sqrt(rate * (1 - rate) / number + z2 / (4 * number**2))
    # At a rate of 0 or 1 the interval ends exactly there; floats would miss it by a hair.
    return np.clip(np.minimum(center - half, rate), 0, 1), np.clip(np.maximum(center + half, rate), 0, 1)
