"""Whether two nodes of a network tell the same history."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis._coverage import covered_time, window_share
from ledgerframes.analysis._groupings import group_rows
from ledgerframes.analysis._groups import (
    MICROSECONDS_PER_HOUR,
    Flags,
    Groups,
    as_integers,
    durations,
    is_true,
    known,
    microseconds,
    ratio,
)
from ledgerframes.analysis._requests import ACCEPTED, has_result, join_sorted, not_negative, requests
from ledgerframes.analysis.verdict._latency_classes import latencies
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import difference_of_percentiles
from ledgerframes.statistics.differences import LEAST_COUNT

ASPECTS = {
    "presence": "",
    "record time": "record_time",
    "verdict": "verdict_result",
    "participant": "submitting_participant_uid",
    "parties": "parties",
    "traffic cost": "total_traffic_cost",
    "activity weight": "weights",
}
COMPARABLE_SHARE = (999, 1_000)  # of the ids of every later hour are at both nodes


def _latency(name: str, description: str) -> declare.ResultColumn:
    text = description.format(f"Missing below {LEAST_COUNT} requests.")
    return declare.duration(name, text, "Difference of the median latency")


NODES = declare.Figure(
    "reconcile.nodes",
    distinct=("aspect",),
    rows="One row per period and aspect; sorted by time, then presence, record time, verdict, participant, parties, "
    "traffic cost, activity weight.",
    columns=(
        declare.choice("aspect", ASPECTS, "What is compared."),
        declare.count("equal", "Updates that are equal at both nodes."),
        declare.count("different", "Updates that both nodes have and tell differently."),
        declare.count("only_a", "Updates for which only the first node has the fact."),
        declare.count("only_b", "Updates for which only the second node has the fact."),
        declare.time("first_difference", "Record time of the first update that is not equal. Missing without any."),
        declare.time(
            "comparable_from",
            "First hour from which on both nodes have at least 99.9 % of the ids of each hour. Missing if there is none.",
        ),
        _latency(
            "latency_difference", "Median latency of common accepted requests at the second node less that at the first. {}"
        ),
        _latency("latency_low", "Low end of its 95 % interval. {}"),
        _latency("latency_high", "High end of its 95 % interval. {}"),
    ),
    condition="with a known fact at both nodes",
    unit="updates of either node",
    has_periods=True,
)


@NODES.document
def nodes(a: Frames, b: Frames, *, every: str | None = None) -> pd.DataFrame:
    """Compare the history of two nodes of one network.

    Parameters
    ----------
    a, b : Frames
        From :func:`ledgerframes.load_events` for the same window, from two hosts.

    Raises
    ------
    UsageError
        If `a` or `b` are not Frames, or their windows differ.

    Notes
    -----
    Finalization times belong to the node that is read, so only medians of the latency are compared
    (docs/facts.md#finalization-time-differs). docs/facts.md#survivorship says which requests only one of two sources can have.

    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> int(lf.reconcile.nodes(day, day)["different"].sum())
    0
    """
    NODES.check(a)
    NODES.check(b)
    if a.window != b.window:
        raise UsageError(f"lf.reconcile.nodes needs frames of one window, got {a.window} and {b.window}. Load both for one.")
    rows = _facts(a).merge(_facts(b), on="update_id", how="outer", suffixes=("_a", "_b"))
    times = rows["record_time_a"].fillna(rows["record_time_b"])
    in_a, in_b = (known(rows[f"record_time_{node}"]) for node in "ab")
    groups = group_rows(a, rows.assign(record_time=times), [], every)
    parts = [_compare(aspect, rows, in_a, in_b, groups, times) for aspect in ASPECTS]
    frame = pd.concat(parts).rename_axis("group").sort_values("group", kind="stable").reset_index()
    values = {**frame, "comparable_from": _comparable_from(times, in_a & in_b)}
    values |= _latency_differences(rows, groups, frame["group"]) | _time_at_both(a, b, frame, every)
    return NODES.build(a, values, every=every)


def _time_at_both(a: Frames, b: Frames, rows: pd.DataFrame, every: str | None) -> dict[str, Any]:
    """Return what the node that covers less of the time of each row covers of it."""
    if every is None:
        return {"coverage_time": min(map(window_share, (a, b)))}
    starts, ends = microseconds(rows["period_start"]), microseconds(rows["period_end"])
    shares = [covered_time(frames).share(starts, ends) for frames in (a, b)]
    are_partial = [covered_time(frames).is_partial(starts, ends) for frames in (a, b)]
    return {"coverage_time": np.minimum(*shares), "is_partial": np.logical_or(*are_partial)}


def _facts(frames: Frames) -> pd.DataFrame:
    """Return one row per request with all compared facts, lists as texts in a fixed order."""
    columns = ["verdict_result", "submitting_participant_uid", "submitting_parties", "finalization_time"]
    rows = requests(frames, columns).drop(columns=["migration_id", "has_verdict"])
    rows["latency"] = not_negative(latencies(rows)).where(has_result(rows, ACCEPTED))
    rows["parties"] = join_sorted(rows.pop("submitting_parties"))
    rows["verdict_result"] = rows["verdict_result"].astype("str")
    activity = frames.read("activity_records", ["update_id", "party", "weight"]).sort_values(["update_id", "party", "weight"])
    texts = activity["party"].astype("str") + " " + activity["weight"].astype("str")
    weights = texts.groupby(activity["update_id"]).agg(", ".join)
    rows["weights"] = rows["update_id"].map(weights)
    return rows


def _compare(aspect: str, rows: pd.DataFrame, in_a: Flags, in_b: Flags, groups: Groups, times: pd.Series) -> pd.DataFrame:
    """Return the numbers of updates with an equal or different fact, one row per group."""
    column, has_a, has_b, is_equal = ASPECTS[aspect], in_a, in_b, in_a & in_b
    if column:
        has_a, has_b = (known(rows[f"{column}_{node}"]) & in_a & in_b for node in "ab")
        is_equal = has_a & has_b & is_true(rows[f"{column}_a"] == rows[f"{column}_b"])
    has_one, in_both = has_a | has_b, has_a & has_b
    is_unequal = has_one & ~is_equal
    first = times[is_unequal].groupby(groups.codes[is_unequal]).min().reindex(range(len(groups)))
    return groups.keys.assign(
        aspect=aspect,
        equal=groups.count(is_equal),
        different=groups.count(in_both & ~is_equal),
        only_a=groups.count(has_a & ~has_b),
        only_b=groups.count(has_b & ~has_a),
        first_difference=pd.to_datetime(first, utc=True),
        coverage=ratio(groups.count(in_both), groups.count(has_one)),
    )


def _latency_differences(rows: pd.DataFrame, groups: Groups, row_groups: pd.Series) -> dict[str, pd.Series]:
    """Return the difference of the median latencies for each row of the result."""
    in_both = known(rows["latency_a"]) & known(rows["latency_b"])
    common = rows.loc[in_both, ["latency_a", "latency_b"]].astype("int64").groupby(groups.codes[in_both])
    empty = difference_of_percentiles([], [], 50)
    by_group = {code: difference_of_percentiles(part["latency_a"], part["latency_b"], 50) for code, part in common}
    differences = [by_group.get(code, empty) for code in row_groups]
    names = {"latency_difference": "difference", "latency_low": "low", "latency_high": "high"}
    return {
        column: durations(as_integers([getattr(each, name) for each in differences], column)) for column, name in names.items()
    }


def _comparable_from(times: pd.Series, in_both: Flags) -> pd.Timestamp | None:
    """Return the first full hour after which no hour misses more than one id in a thousand."""
    if not len(times):
        return None
    hours = microseconds(times) // MICROSECONDS_PER_HOUR
    first, index = int(hours.min()), hours - hours.min()
    total, both = np.bincount(index), np.bincount(index, weights=in_both).astype(np.int64)
    part, whole = COMPARABLE_SHARE
    bad = np.flatnonzero(both * whole < total * part)
    start = int(bad[-1]) + 1 if len(bad) else 0
    if start >= len(total):
        return None
    return pd.Timestamp((first + start) * MICROSECONDS_PER_HOUR, unit="us", tz="UTC")
