"""Requests that waited while another one timed out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call
from ledgerframes.analysis.coverage import covered_time, has_times
from ledgerframes.analysis.groups import Flags, durations, period_length, ratio, sort_largest_first
from ledgerframes.analysis.measures import IS_REJECTED
from ledgerframes.analysis.result_frame import WINDOW
from ledgerframes.analysis.verdict import _answers as answers
from ledgerframes.analysis.verdict.limit import DOUBTFUL_LIMIT, LIMIT_COUNTS, is_limit_doubtful
from ledgerframes.engine import Query, delays, run
from ledgerframes.engine.requests import DECISIONS, NEAR_TIMEOUT, REQUESTS
from ledgerframes.errors import CoverageError
from ledgerframes.frames import Frames
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR

Tables = Mapping[str, pa.Table]

SHIFTS = [hours * MICROSECONDS_PER_HOUR for hours in range(-5, 6)]
IN_DOUBT = "Missing if the limit of the network may differ."
HEAD = (
    declare.text("update_id", "Id of the request that timed out."),
    declare.time("record_time", "Sequencing time."),
    *grouping.PARTICIPANT.keys,
)


def queries_of_culprits(frames: Frames, min_delay: str) -> list[Query]:
    """Return the queries of the requests that timed out."""
    return [REQUEST_COUNTS, culprits_query(_tables(frames, min_delay, SHIFTS))]


def queries_of_victims(frames: Frames, min_delay: str) -> list[Query]:
    """Return the queries of the requests that waited."""
    return [REQUEST_COUNTS, victims_query(_tables(frames, min_delay, [0]))]


CULPRITS = declare.Figure(
    "verdict.head_of_line",
    caption="Requests that timed out, and the time that others waited",
    answer=answers.of_head_of_line,
    main_columns=("record_time", "submitting_participant_uid", "added", "victims", "expected_victims", "latency", "update_id"),
    rows="One row per request that timed out, even without victims; sorted by added time, longest first. If the limit of the "
    "network may not be 30 s, one row per request rejected after 20 s or more.",
    columns=(
        *HEAD,
        declare.duration("latency", "Time until the rejection.", "Latency"),
        declare.integer("victims", f"Requests that probably waited for it. {IN_DOUBT}", "requests", "Victims"),
        declare.rate(
            "expected_victims",
            "Mean victims of the same interval 1 to 5 hours away. Missing outside the window, and if the limit may differ.",
        ),
        declare.rate("excess", "Victims minus expected victims. Missing where either is."),
        declare.duration("added", f"Total time that the victims waited. {IN_DOUBT}", "Added latency"),
        declare.integer(
            "parties_in_common", f"Confirming parties that the request shares with its victims. {IN_DOUBT}", "parties"
        ),
        declare.text("reason", "Reason why nobody is named a victim. Missing if there is none."),
    ),
    condition="with a known verdict",
    unit="requests of these frames",
    queries=queries_of_culprits,
)
VICTIMS = declare.Figure(
    "verdict.head_of_line_victims",
    caption="Requests that waited for one that timed out",
    rows="One row per request that waited; sorted by added time, longest first.",
    columns=(
        declare.text("culprit_id", "Id of the request that timed out."),
        declare.text("update_id", "Id of the request that waited."),
        declare.time("record_time", "Sequencing time."),
        *grouping.PARTICIPANT.keys,
        declare.duration("latency", "Latency of the request.", "Latency"),
        declare.duration("baseline", "Median latency of requests of the same size class."),
        declare.duration("added", "Latency above the baseline, while the other request was open.", "Added latency"),
    ),
    drawn="added",
    condition="with a known verdict",
    unit="requests of these frames",
    queries=queries_of_victims,
)

REQUEST_COUNTS = Query(
    f"""\
SELECT
    count(*) AS requests,
    count(*) FILTER (WHERE has_verdict) AS verdicts,
    {LIMIT_COUNTS}
FROM requests""",
    (REQUESTS,),
)
POSSIBLE_CULPRITS = Query(
    f"""\
SELECT update_id, record_time, submitting_participant_uid, latency
FROM decisions
WHERE {IS_REJECTED} AND latency >= {NEAR_TIMEOUT:_}
ORDER BY record_time, update_id""",
    (DECISIONS,),
)


@CULPRITS.register
def head_of_line(frames: Frames, *, min_delay: str = "1s") -> pd.DataFrame:
    """Return the requests that timed out, with the requests that probably waited for them.

    **This is a heuristic.** A victim shares the submitting participant or a confirming party, was sequenced while the other
    request was open, and took longer than usual. The expected number of victims is counted in the same intervals at other
    hours.

    Parameters
    ----------
    frames : Frames
        All requests of a window, with ``verdicts`` and ``quorums``.
    min_delay : str, optional
        Minimum latency above the baseline (default: 1s).

    Returns
    -------
    DataFrame
        One row per request that timed out, even without victims; sorted by added time, longest first. If the limit of the
        network may not be 30 s, one row per request rejected after 20 s or more.

        Columns:

        - ``update_id`` (str): Id of the request that timed out.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``submitting_participant_uid`` (str): Participant that submits and pays. Missing without a verdict.
        - ``latency`` (timedelta64[us], microseconds): Time until the rejection.
        - ``victims`` (Int64, requests): Requests that probably waited for it. Missing if the limit of the network may differ.
        - ``expected_victims`` (float64): Mean victims of the same interval 1 to 5 hours away. Missing outside the window, and
          if the limit may differ.
        - ``excess`` (float64): Victims minus expected victims. Missing where either is.
        - ``added`` (timedelta64[us], microseconds): Total time that the victims waited. Missing if the limit of the network may
          differ.
        - ``parties_in_common`` (Int64, parties): Confirming parties that the request shares with its victims. Missing if the
          limit of the network may differ.
        - ``reason`` (str): Reason why nobody is named a victim. Missing if there is none.
        - ``coverage`` (float64, share of 1): Share of the requests of these frames with a known verdict. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames do not hold all requests of a window.

    Notes
    -----
    Source: times, submitters and quorums of the verdicts (docs/facts.md#no-rejection-reason). The baseline is the median
    latency of accepted requests of the same size class outside all these intervals, or of all size classes if there are fewer
    than 30. A victim of several requests counts for the one whose interval it overlaps longest. If more rejections lie from
    20 s to below 29.9 s than at 29.9 s or more, no request is called a timeout, and none a victim.

    Picture, by :func:`ledgerframes.plot`: An interval of 30 s is too short to be seen in a window of hours, so a circle
    stands for each request. Record time [UTC], one row for each of the 15 participants with the most added time. The area
    of a circle grows with the added time, and a cross has no victims.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> culprits = lf.verdict.head_of_line(day)
    >>> int(culprits["victims"].sum()) == len(lf.verdict.head_of_line_victims(day))
    True
    """
    CULPRITS.check(frames)
    tables = _tables(frames, min_delay, SHIFTS)
    search = run(frames, REQUEST_COUNTS).iloc[0]
    columns = _possible_culprits(frames) if is_limit_doubtful(search) else _culprits(frames, tables)
    columns["coverage"] = _coverage(search)
    result = sort_largest_first(CULPRITS.build(frames, columns), "added", "record_time", "update_id")
    if frames.window is not None:
        result.attrs[WINDOW] = [*Call(CULPRITS, frames).bounds]  # a list, which a file keeps as it is
    return result


@VICTIMS.register
def head_of_line_victims(frames: Frames, *, min_delay: str = "1s") -> pd.DataFrame:
    """Return the requests that probably waited while another one timed out.

    **This is a heuristic**, the same as in :func:`ledgerframes.verdict.head_of_line`, which says whether the limit of the
    network is in doubt. If it is, the result is empty.

    Parameters
    ----------
    frames : Frames
        All requests of a window, with ``verdicts`` and ``quorums``.
    min_delay : str, optional
        Minimum latency above the baseline (default: 1s).

    Returns
    -------
    DataFrame
        One row per request that waited; sorted by added time, longest first.

        Columns:

        - ``culprit_id`` (str): Id of the request that timed out.
        - ``update_id`` (str): Id of the request that waited.
        - ``record_time`` (datetime64[us, UTC]): Sequencing time.
        - ``submitting_participant_uid`` (str): Participant that submits and pays. Missing without a verdict.
        - ``latency`` (timedelta64[us], microseconds): Latency of the request.
        - ``baseline`` (timedelta64[us], microseconds): Median latency of requests of the same size class.
        - ``added`` (timedelta64[us], microseconds): Latency above the baseline, while the other request was open.
        - ``coverage`` (float64, share of 1): Share of the requests of these frames with a known verdict. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `frames` is not Frames.
    CoverageError
        If the frames do not hold all requests of a window.

    Notes
    -----
    Source: times, submitters and quorums of the verdicts (docs/facts.md#no-rejection-reason).

    Picture, by :func:`ledgerframes.plot`: One bar of ``added`` per row, or one line per group over time.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> victims = lf.verdict.head_of_line_victims(day)
    >>> bool((victims["added"] <= victims["latency"]).all())
    True
    >>> ax = lf.plot(victims)
    """
    VICTIMS.check(frames)
    tables = _tables(frames, min_delay, [0])
    search = run(frames, REQUEST_COUNTS).iloc[0]
    rows = run(frames, victims_query(tables))
    rows = rows.head(0) if is_limit_doubtful(search) else rows
    values = {**rows, **{name: durations(rows[name]) for name in ("latency", "baseline", "added")}, "coverage": _coverage(search)}
    return sort_largest_first(VICTIMS.build(frames, values), "added", "record_time", "update_id")


def culprits_query(tables: Tables) -> Query:
    """Return a query of the victims of each timeout, with its interval moved by each shift."""
    select = """\
SELECT
    update_id,
    record_time,
    submitting_participant_uid,
    latency,
    opens,
    closes,
    shift,
    coalesce(victims, 0) AS victims,
    coalesce(added, 0) AS added,
    coalesce(parties_in_common, 0) AS parties_in_common
FROM timeouts
LEFT JOIN (
    SELECT
        number,
        shift,
        count(*) AS victims,
        sum(added) AS added,
        len(list_distinct(flatten(list(parties_in_common)))) AS parties_in_common
    FROM victims
    GROUP BY ALL
) USING (number, shift)
ORDER BY number, shift"""
    return Query(select, (delays.TIMEOUTS, delays.VICTIMS), tables)


def victims_query(tables: Tables) -> Query:
    """Return a query of the requests that waited for one that timed out."""
    select = """\
SELECT
    timeouts.update_id AS culprit_id,
    late_requests.update_id,
    late_requests.record_time,
    late_requests.submitting_participant_uid,
    late_requests.latency,
    baseline,
    added
FROM victims
JOIN late_requests USING (late_number)
JOIN timeouts USING (shift, number)
ORDER BY late_requests.record_time, late_requests.update_id"""
    return Query(select, (delays.VICTIMS, delays.LATE_REQUESTS, delays.TIMEOUTS), tables)


def _culprits(frames: Frames, tables: Tables) -> dict[str, Any]:
    """Return the columns of the requests that timed out."""
    rows = run(frames, culprits_query(tables))
    at_its_time = rows[rows["shift"] == 0].reset_index(drop=True)
    inside = rows[(rows["shift"] != 0) & _is_inside(frames, rows)]
    others = inside.groupby("update_id")["victims"].agg(["sum", "size"]).reindex(at_its_time["update_id"], fill_value=0)
    expected = ratio(others["sum"], others["size"])
    return {
        **at_its_time,
        "latency": durations(at_its_time["latency"]),
        "added": durations(at_its_time["added"]),
        "expected_victims": expected,
        "excess": at_its_time["victims"].to_numpy("int64") - expected,
        "reason": None,
    }


def _is_inside(frames: Frames, rows: pd.DataFrame) -> Flags:
    """Return which intervals are in the window and covered."""
    opens, closes = (rows[name].to_numpy("int64") for name in ("opens", "closes"))
    since, until = Call(CULPRITS, frames).bounds
    is_inside: Flags = (opens >= since) & (closes <= until)
    if not has_times(frames):
        return is_inside
    return is_inside & ~covered_time(frames, accept_provisional=True).is_partial(opens, closes)


def _possible_culprits(frames: Frames) -> dict[str, Any]:
    """Return the columns of the requests that may have timed out."""
    rows = run(frames, POSSIBLE_CULPRITS)
    unknown = dict.fromkeys(("victims", "expected_victims", "excess", "added", "parties_in_common"), [None] * len(rows))
    return {**rows, "latency": durations(rows["latency"]), **unknown, "reason": DOUBTFUL_LIMIT}


def _tables(frames: Frames, min_delay: str, shifts: Sequence[int]) -> Tables:
    """Return the small tables of a query, if the frames have all requests of a window."""
    if frames.population != "all" or frames.is_filtered:
        raise CoverageError(
            "Cannot compute delays of requests because these frames do not hold all requests of a window. "
            "Load a window with since=, and do not filter it.",
            missing=("requests of the window",),
        )
    least = period_length(min_delay, "min_delay") * 1_000_000
    return {"shifts": pa.table({"shift": pa.array(shifts, pa.int64())}), "delays": pa.table({"least_delay": pa.array([least])})}


def _coverage(search: pd.Series) -> float:
    return float(ratio([search["verdicts"]], [search["requests"]])[0])
