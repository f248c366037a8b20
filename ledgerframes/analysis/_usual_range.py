"""The usual range of rejections, waste and spend, from five integers per period.

The integers are small enough to be kept with each run. Then a nightly job has its history without loading it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from ledgerframes.analysis._groupings import requests_by
from ledgerframes.analysis._groups import Flags, Groups, Integers, Rates, known, microseconds
from ledgerframes.analysis._requests import ACCEPTED, REJECTED, has_result
from ledgerframes.decimals import totals
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import UsualRange, usual_range, usual_sum, within_window
from ledgerframes.statistics.usual_ranges import MAX_WEEKS, PERIODS_PER_WEEK

INTEGERS = ["requests", "rejected", "requests_with_cost", "wasted_traffic_cost", "total_traffic_cost"]
TIMES = ["period_start", "period_end"]
SERIES = ("rejection_rate", "wasted_share", "spend")
MIN_COVERAGE = 0.9
WEEK = pd.Timedelta(7, "D")
Times: TypeAlias = "pd.Series[pd.Timestamp]"


def period_totals(frames: Frames, every: str) -> pd.DataFrame:
    """Return the integers of each period that a usual range needs.

    Parameters
    ----------
    frames : Frames
        With ``verdicts``, ``updates`` and ``traffic``, loaded by window.
    every : {"1d", "1h"}
        Length of a period.

    Returns
    -------
    DataFrame
        One row per period of the window, sorted by time: ``period_start``, ``period_end``, ``requests`` that were accepted or
        rejected, ``rejected``, ``requests_with_cost``, ``wasted_traffic_cost`` of rejected requests and ``total_traffic_cost``
        [bytes], and ``is_whole``: whether the period is in the window and the history, final, and its costs are known for 90%
        of the requests.
    """
    if every not in PERIODS_PER_WEEK:
        raise UsageError(f"every= must be '1d' or '1h', got {every!r}.")
    rows, groups = requests_by(frames, [], every, ["verdict_result"])
    is_rejected = has_result(rows, REJECTED)
    is_decided = is_rejected | has_result(rows, ACCEPTED)
    costs = rows["total_traffic_cost"].astype("Int64")
    has_cost = is_decided & known(costs)
    requests, with_cost = groups.count(is_decided), groups.count(has_cost)
    wasted, total = (
        totals(costs.where(mask), groups.codes, len(groups), name="total_traffic_cost").fillna(0).astype("int64")
        for mask in (has_cost & is_rejected, has_cost)
    )
    result = groups.keys[TIMES].assign(
        requests=requests,
        rejected=groups.count(is_rejected),
        requests_with_cost=with_cost,
        wasted_traffic_cost=wasted.to_numpy(),
        total_traffic_cost=total.to_numpy(),
    )
    is_whole = _is_final(frames, result) & _is_after_start(groups) & (with_cost >= MIN_COVERAGE * requests)
    return result.assign(is_whole=is_whole)


def usual_ranges(
    history: pd.DataFrame,
    report: pd.DataFrame,
    every: str,
    *,
    series: Sequence[str] = ("wasted_share",),
    omitted_weeks: Sequence[pd.Timestamp] = (),
) -> dict[str, UsualRange]:
    """Return the usual range of each series of a report, from the weeks before it.

    Parameters
    ----------
    history, report : DataFrame
        From :func:`period_totals`, or rows of it that were kept. Rows of the history from the start of the report on do not
        count. Of the report, the whole periods in a row from the first one count.
    every : {"1d", "1h"}
        Length of a period.
    series : sequence of {"rejection_rate", "wasted_share", "spend"}
        All series that the report shows with a usual range. They share the chance of a false alarm. No spend per hour.
    omitted_weeks : sequence of Timestamp, optional
        Times in weeks that are no part of the history, such as a planned upgrade.

    Returns
    -------
    dict of str to UsualRange
        One per series. Its periods are those of :func:`tested_periods`.
    """
    if every not in PERIODS_PER_WEEK:
        raise UsageError(f"every= must be '1d' or '1h', got {every!r}.")
    for name in series:
        if name not in SERIES or (name == "spend" and every == "1h"):
            raise UsageError(f"Unknown series {name!r} for every={every!r}. Choose from {', '.join(SERIES)}, spend by day only.")
    tested = tested_periods(report)
    start = _position(tested["period_start"], every)
    weeks = history_weeks(history, tested, every, omitted_weeks)
    return {name: _series_range(name, weeks, tested, every, start, len(series)) for name in series}


def tested_periods(report: pd.DataFrame) -> pd.DataFrame:
    """Return the first whole periods in a row of a report."""
    ordered = report.sort_values("period_start", ignore_index=True)
    is_whole = ordered["is_whole"].to_numpy(dtype=bool)
    ordered = ordered.iloc[int(np.argmax(is_whole)) if is_whole.any() else len(ordered) :]
    partial = np.flatnonzero(~ordered["is_whole"].to_numpy(dtype=bool))
    return ordered.iloc[: partial[0] if len(partial) else len(ordered)].reset_index(drop=True)


def history_weeks(
    history: pd.DataFrame, tested: pd.DataFrame, every: str, omitted_weeks: Sequence[pd.Timestamp] = ()
) -> list[pd.DataFrame]:
    """Return the whole ones of the 6 weeks before the tested periods.

    The oldest is first, and each starts with its Monday.
    """
    if tested.empty:
        return []
    end, rows = tested["period_start"].iloc[0], history[history["is_whole"].to_numpy(dtype=bool)]
    rows = rows.drop_duplicates("period_start", keep="last").sort_values("period_start", ignore_index=True)
    weeks = []
    for number in range(MAX_WEEKS, 0, -1):
        since, until = end - number * WEEK, end - (number - 1) * WEEK
        week = rows[(rows["period_start"] >= since) & (rows["period_start"] < until)]
        if len(week) == PERIODS_PER_WEEK[every] and not any(since <= time < until for time in omitted_weeks):
            weeks.append(_from_monday(week, every))
    return weeks


# -- helpers --------------------------------------------------------------------------------------------------------------


def _series_range(name: str, weeks: list[pd.DataFrame], tested: pd.DataFrame, every: str, start: int, series: int) -> UsualRange:
    if name == "spend":
        sums = [week["total_traffic_cost"].to_numpy(dtype=float) for week in weeks]
        return usual_sum(sums, tested["total_traffic_cost"].to_numpy(dtype=float), start=start, series=series)
    pairs = [_pairs(name, week) for week in weeks]
    return usual_range(pairs, _pairs(name, tested), every, start=start, series=series)


def range_within_window(name: str, report: pd.DataFrame) -> UsualRange:
    """Return limits of a share from the other periods of the window.

    They are for a history that is too short.
    """
    return within_window(_pairs(name, tested_periods(report)))


def _pairs(name: str, rows: pd.DataFrame) -> Rates:
    """Return hits and requests.

    Of a share of bytes, hits are the share times the requests with a cost.
    """
    if name == "rejection_rate":
        return rows[["rejected", "requests"]].to_numpy(dtype=float)
    requests, whole = (rows[each].to_numpy(dtype=float) for each in ("requests_with_cost", "total_traffic_cost"))
    share = np.divide(rows["wasted_traffic_cost"].to_numpy(dtype=float), whole, out=np.zeros(len(rows)), where=whole > 0)
    return np.stack([share * requests, np.where(whole > 0, requests, 0)], axis=-1)


def _from_monday(week: pd.DataFrame, every: str) -> pd.DataFrame:
    """Return the periods of seven days in the order of a week."""
    return week.iloc[np.roll(np.arange(len(week)), _position(week["period_start"], every))]


def _position(starts: Times, every: str) -> int:
    """Return the position of the first period in its week."""
    if starts.empty:
        return 0
    first = starts.iloc[0]
    return int(first.weekday()) if every == "1d" else int(first.weekday() * 24 + first.hour)


def _is_after_start(groups: Groups) -> Flags:
    """Return which periods are after the first with requests.

    The first itself counts only if it opens the window. Before the history of a network begins, an empty period says nothing.
    """
    occupied = np.flatnonzero(groups.count())
    first = int(occupied[0]) if len(occupied) else len(groups)
    return np.arange(len(groups)) > (first if first else -1)


def _is_final(frames: Frames, periods: pd.DataFrame) -> Flags:
    """Return which periods are in the window, and final for 90% of their time.

    No part of them may be provisional or a gap.
    """
    if frames.window is None:
        return np.zeros(len(periods), dtype=bool)
    starts, ends = (microseconds(periods[name]) for name in TIMES)
    since, until = (pd.Timestamp(time).value // 1_000 for time in (frames.window.since, frames.window.until))
    is_final = frames.coverage["status"] == "final"
    final, other = (_covered(_ranges(frames.coverage[mask.to_numpy(dtype=bool)]), starts, ends) for mask in (is_final, ~is_final))
    result: Flags = (starts >= since) & (ends <= until) & (final >= MIN_COVERAGE * (ends - starts)) & (other == 0)
    return result


def _covered(ranges: list[tuple[int, int]], starts: Integers, ends: Integers) -> Integers:
    """Return the microseconds of each period in the ranges."""
    covered = np.zeros(len(starts), dtype=np.int64)
    for since, until in ranges:
        covered += np.maximum(0, np.minimum(ends, until) - np.maximum(starts, since))
    return covered


def _ranges(coverage: pd.DataFrame) -> list[tuple[int, int]]:
    """Return the times of segments, of any migration, as ranges that do not overlap."""
    timed = coverage[known(coverage["since"])]
    merged: list[tuple[int, int]] = []
    for since, until in sorted(zip(*(microseconds(timed[name]).tolist() for name in ("since", "until")), strict=True)):
        if merged and since <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], until))
        else:
            merged.append((since, until))
    return merged
