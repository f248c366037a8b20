"""The usual range of rejections, waste and spend, from five integers per period.

The integers are small enough to be kept with each run. Then a nightly job has its history without loading it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from ledgerframes import extents
from ledgerframes.analysis._coverage import covered_time, provisional_time
from ledgerframes.analysis._groupings import requests_by
from ledgerframes.analysis._groups import Flags, Groups, Rates, known, microseconds
from ledgerframes.analysis._requests import ACCEPTED, REJECTED, has_result
from ledgerframes.decimals import totals
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import UsualRange, usual_range, usual_sum, within_window
from ledgerframes.statistics.usual_ranges import MAX_WEEKS, PERIODS_PER_WEEK, SHORT_HISTORY, TOO_FEW_REQUESTS, without_limits

INTEGERS = ["requests", "rejected", "requests_with_cost", "wasted_traffic_cost", "total_traffic_cost"]
TIMES = ["period_start", "period_end"]
SERIES = ("rejection_rate", "wasted_share", "spend")
MIN_COVERAGE = 0.9
MIN_GROUP_REQUESTS = 4  # with fewer in each period, no rate can have a limit
WEEK = pd.Timedelta(7, "D")
Times: TypeAlias = "pd.Series[pd.Timestamp]"


def period_totals(frames: Frames, every: str, keys: Sequence[str] = ()) -> pd.DataFrame:
    """Return the integers of each day or hour that a usual range needs."""
    if every not in PERIODS_PER_WEEK:
        raise UsageError(f"every= must be '1d' or '1h', got {every!r}.")
    return totals_of_groups(frames, *requests_by(frames, keys, every, ["verdict_result"]))


def totals_of_groups(frames: Frames, rows: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """Return the integers of each period and group, from requests that were read before.

    The columns are the keys, ``requests`` that were accepted or rejected, ``rejected``, ``requests_with_cost`` among them,
    ``wasted_traffic_cost`` of rejected requests and ``total_traffic_cost`` of all [bytes], as in ``cost.wasted``, and
    ``is_whole``: whether the period is in the window and in the history, and final.
    """
    is_rejected = has_result(rows, REJECTED)
    is_decided = is_rejected | has_result(rows, ACCEPTED)
    costs = rows["total_traffic_cost"].astype("Int64")
    wasted, total = (
        totals(each, groups.codes, len(groups), name="total_traffic_cost").fillna(0).astype("int64")
        for each in (costs.where(is_rejected), costs)
    )
    result = groups.keys.assign(
        requests=groups.count(is_decided),
        rejected=groups.count(is_rejected),
        requests_with_cost=groups.count(is_decided & known(costs)),
        wasted_traffic_cost=wasted.to_numpy(),
        total_traffic_cost=total.to_numpy(),
    )
    return result.assign(is_whole=_is_final(frames, result) & _is_after_start(groups))


def usual_ranges(
    history: pd.DataFrame,
    report: pd.DataFrame,
    every: str,
    *,
    series: Sequence[str] = ("wasted_share",),
    omitted_weeks: Sequence[pd.Timestamp] = (),
    group_count: int = 1,
) -> dict[str, UsualRange]:
    """Return the usual range of each series of a report, from the weeks before it.

    Rows of the history from the start of the report on do not count, nor the weeks of `omitted_weeks`, such as a planned upgrade.
    All series and groups that the report shows share the chance of a false alarm. A period that is not whole, or whose costs are
    known for less than 90 % of the requests, has no limit.
    """
    if every not in PERIODS_PER_WEEK:
        raise UsageError(f"every= must be '1d' or '1h', got {every!r}.")
    for name in series:
        if name not in SERIES or (name == "spend" and every == "1h"):
            raise UsageError(f"Unknown series {name!r} for every={every!r}. Choose from {', '.join(SERIES)}, spend by day only.")
    tested = report.sort_values("period_start", ignore_index=True)
    series_count = len(series) * group_count
    return {name: _series_range(name, history, tested, every, omitted_weeks, series_count) for name in series}


def has_coverage(name: str, periods: pd.DataFrame) -> Flags:
    """Return which periods are whole, and for figures of costs know 90 % of them."""
    is_whole = periods["is_whole"].to_numpy(dtype=bool)
    if name == "rejection_rate":
        return is_whole
    result: Flags = is_whole & (periods["requests_with_cost"] >= MIN_COVERAGE * periods["requests"]).to_numpy(dtype=bool)
    return result


def history_weeks(
    name: str, history: pd.DataFrame, end: pd.Timestamp, every: str, omitted_weeks: Sequence[pd.Timestamp] = ()
) -> list[pd.DataFrame]:
    """Return the whole ones of the 6 weeks before a report.

    The oldest is first, and each starts with its Monday.
    """
    rows = history[has_coverage(name, history)]
    rows = rows.drop_duplicates("period_start", keep="last").sort_values("period_start", ignore_index=True)
    weeks = []
    for number in range(MAX_WEEKS, 0, -1):
        since, until = end - number * WEEK, end - (number - 1) * WEEK
        week = rows[(rows["period_start"] >= since) & (rows["period_start"] < until)]
        if len(week) == PERIODS_PER_WEEK[every] and not any(since <= time < until for time in omitted_weeks):
            weeks.append(_from_monday(week, every))
    return weeks


def range_within_window(name: str, report: pd.DataFrame) -> UsualRange:
    """Return limits of a share from the other periods of the window.

    They are for a history that is too short.
    """
    return within_window(_tested_pairs(name, report.sort_values("period_start", ignore_index=True)))


def waste_range(report: pd.DataFrame, history: pd.DataFrame | None, every: str) -> UsualRange:
    """Return the usual range of the wasted share.

    It is that of the weeks before, or without a history that of the other days of the window.
    """
    if history is None and every == "1d":
        return range_within_window("wasted_share", report)
    return usual_ranges(report.head(0) if history is None else history, report, every)["wasted_share"]


def waste_limits(report: pd.DataFrame, history: pd.DataFrame | None, every: str, keys: Sequence[str]) -> pd.DataFrame:
    """Return the limits of the wasted share, one row per row of the report.

    A group is compared with its own weeks before, and has no limits without them. All groups share the chance of a false alarm.
    """
    if not keys:
        return waste_range(report, history, every).periods.to_frame()
    (key,) = keys
    if history is None or key not in history:
        return without_limits(len(report), SHORT_HISTORY).to_frame()
    largest = report["requests_with_cost"].groupby(report[key].fillna("")).transform("max")
    tested = report[largest >= MIN_GROUP_REQUESTS]
    count = tested[key].nunique(dropna=False)
    past = dict(iter(history.groupby(history[key].fillna(""))))
    parts = [without_limits(len(report), TOO_FEW_REQUESTS).to_frame().drop(index=tested.index)]
    for name, rows in tested.groupby(tested[key].fillna("")):
        limits = usual_ranges(past.get(name, history.head(0)), rows, every, group_count=count)["wasted_share"]
        parts.append(limits.periods.to_frame().set_index(rows.index))
    return pd.concat(parts).sort_index()


# -- helpers --------------------------------------------------------------------------------------------------------------


def _series_range(
    name: str, history: pd.DataFrame, tested: pd.DataFrame, every: str, omitted_weeks: Sequence[pd.Timestamp], series: int
) -> UsualRange:
    starts = tested["period_start"]
    weeks = history_weeks(name, history, starts.iloc[0], every, omitted_weeks) if len(starts) else []
    start = _position(starts, every)
    if name != "spend":
        pairs = [_pairs(name, week) for week in weeks]
        return usual_range(pairs, _tested_pairs(name, tested), every, start=start, series=series)
    sums = [week["total_traffic_cost"].to_numpy(dtype=float) for week in weeks]
    spend = np.where(has_coverage(name, tested), tested["total_traffic_cost"].to_numpy(dtype=float), np.nan)
    return usual_sum(sums, spend, start=start, series=series)


def _tested_pairs(name: str, tested: pd.DataFrame) -> Rates:
    """Return hits and requests, NaN for a period that is not whole."""
    return np.where(has_coverage(name, tested)[:, None], _pairs(name, tested), np.nan)


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
    starts = microseconds(groups.keys["period_start"])
    occupied = starts[groups.count() > 0]
    if not len(occupied):
        return np.zeros(len(groups), dtype=bool)
    result: Flags = (starts > occupied.min()) | (occupied.min() == starts.min())
    return result


def _is_final(frames: Frames, periods: pd.DataFrame) -> Flags:
    """Return which periods are in the window, and final for 90 % of their time.

    No part of them may be provisional or a gap.
    """
    if frames.window is None:
        return np.zeros(len(periods), dtype=bool)
    starts, ends = (microseconds(periods[name]) for name in TIMES)
    since, until = (extents.microseconds(time) for time in (frames.window.since, frames.window.until))
    is_final = covered_time(frames).share(starts, ends) >= MIN_COVERAGE
    is_provisional = provisional_time(frames).length(starts, ends) > 0
    result: Flags = (starts >= since) & (ends <= until) & is_final & ~is_provisional
    return result
