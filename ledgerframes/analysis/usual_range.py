"""The usual range of the wasted share, from five integers per period.

The integers are small enough to store with each run, so a nightly job has its history without loading it again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._grouped import Call, Grouped, measure
from ledgerframes.analysis.coverage import covered_time, provisional_time
from ledgerframes.analysis.groups import Flags, Rates, is_true, microseconds, ratio
from ledgerframes.analysis.measures import COST, IS_ACCEPTED, IS_KNOWN, IS_REJECTED, Count, Expression, Measure
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics import printing
from ledgerframes.statistics.distinct_shares import distinct_decimals
from ledgerframes.statistics.usual_ranges import (
    MAX_WEEKS,
    MIN_WEEKS,
    PERIODS_PER_WEEK,
    SHORT_HISTORY,
    TOO_FEW_REQUESTS,
    UNKNOWN_HISTORY,
    UsualRange,
    range_without_limits,
    usual_range,
    within_window,
    without_limits,
)
from ledgerframes.texts.representation import describe_day
from ledgerframes.values import extents

INTEGERS = ["requests", "rejected", "requests_with_cost", "wasted_traffic_cost", "total_traffic_cost"]
TIMES = ["period_start", "period_end"]
MIN_COVERAGE = 0.9
MIN_GROUP_REQUESTS = 4  # with fewer requests in each period, no rate can have a limit
WEEK = pd.Timedelta(7, "D")
# Rises of the share of one weekday that simulations found in 8 of 10 reports, by hits per week, with 4 and with 6 weeks. The
# simulations had 12 hits in 100 requests. The precision of a smaller share depends on its hits, not on the requests.
FOUND_RISES = ((24_000, 20, 20), (2_400, 30, 30), (240, 100, 75))


IS_DECIDED = f"({IS_REJECTED} OR {IS_ACCEPTED})"
# The integers as measures. Their names differ from those of the columns of ``cost.wasted``.
MEASURES: dict[str, Measure] = {
    "range_requests": Count(where=IS_DECIDED),
    "range_rejected": Count(where=IS_REJECTED),
    "range_requests_with_cost": Count(where=f"{IS_DECIDED} AND {IS_KNOWN}"),
    "range_wasted_traffic_cost": Expression(f"coalesce(sum({COST}) FILTER (WHERE {IS_REJECTED}), 0)"),
    "range_total_traffic_cost": Expression(f"coalesce(sum({COST}), 0)"),
}
PERIODS = declare.Figure(
    "periods of a usual range",
    rows="One row per period and group.",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY},
    columns=(),
    others=MEASURES,
)


def period_totals(frames: Frames, every: str, by: str | None = None) -> pd.DataFrame:
    """Return the integers of each day or hour from which usual ranges are computed."""
    if every not in PERIODS_PER_WEEK:
        raise UsageError(f"every= must be '1d' or '1h', got {every!r}.")
    return totals_of_groups(frames, measure(Call(PERIODS, frames, by, every)))


def totals_of_groups(frames: Frames, grouped: Grouped) -> pd.DataFrame:
    """Return the integers of each period and group, from `MEASURES` of these groups.

    The columns are the keys; ``requests``, which are accepted or rejected; ``rejected``; ``requests_with_cost``;
    ``wasted_traffic_cost`` of rejected requests and ``total_traffic_cost`` of all requests [bytes], as in ``cost.wasted``;
    and ``is_whole``, which says whether the period is final, in the window and in the history.
    """
    integers = {name: grouped.values[f"range_{name}"].fillna(0).astype("int64") for name in INTEGERS}
    result = grouped.keys.assign(**integers)
    return result.assign(is_whole=_is_final(frames, result) & _is_after_start(grouped))


def waste_range(report: pd.DataFrame, history: pd.DataFrame | None, every: str, *, group_count: int = 1) -> UsualRange:
    """Return the usual range of the wasted share from the weeks before.

    Without a history, it comes from the other days of the window. Rows of the history at or after the start of the report do
    not count. All groups of a report share the chance of a false alarm. A period that is not whole, or with known costs for
    less than 90 % of its requests, has no limit.
    """
    tested = report.sort_values("period_start", ignore_index=True)
    pairs = np.where(has_coverage(tested)[:, None], _pairs(tested), np.nan)
    if history is None and every == "1d":
        return within_window(pairs)
    starts = tested["period_start"]
    weeks = history_weeks(history, starts.iloc[0], every) if history is not None and len(starts) else []
    if len(weeks) < MIN_WEEKS and history is not None and len(starts):
        whole_weeks = history_weeks(history, starts.iloc[0], every, min_coverage=0)
        if len(whole_weeks) >= MIN_WEEKS:
            return range_without_limits(len(pairs), PERIODS_PER_WEEK[every], UNKNOWN_HISTORY, len(weeks))
    return usual_range([_pairs(week) for week in weeks], pairs, every, start=_position(starts, every), series=group_count)


def has_coverage(periods: pd.DataFrame, min_coverage: float = MIN_COVERAGE) -> Flags:
    """Return which periods are whole and have enough known costs."""
    is_known = periods["requests_with_cost"] >= min_coverage * periods["requests"]
    return is_true(periods["is_whole"] & is_known)


def history_weeks(history: pd.DataFrame, end: pd.Timestamp, every: str, min_coverage: float = MIN_COVERAGE) -> list[pd.DataFrame]:
    """Return the whole weeks among the 6 weeks before a report, each from its Monday.

    Weeks with too few known costs in a day or hour are not whole.
    """
    rows = history[has_coverage(history, min_coverage)]
    rows = rows.drop_duplicates("period_start", keep="last").sort_values("period_start", ignore_index=True)
    weeks = []
    for number in range(MAX_WEEKS, 0, -1):
        since, until = end - number * WEEK, end - (number - 1) * WEEK
        week = rows[(rows["period_start"] >= since) & (rows["period_start"] < until)]
        if len(week) == PERIODS_PER_WEEK[every]:
            weeks.append(week.iloc[np.roll(np.arange(len(week)), _position(week["period_start"], every))])
    return weeks


def waste_limits(report: pd.DataFrame, history: pd.DataFrame | None, every: str, keys: Sequence[str]) -> pd.DataFrame:
    """Return the limits of the wasted share, one row per row of the report.

    A group is compared with the same group in the weeks before, and has no limits without them. All groups share the chance
    of a false alarm.
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
        limits = waste_range(rows, past.get(name, history.head(0)), every, group_count=count)
        parts.append(limits.periods.to_frame().set_index(rows.index))
    return pd.concat(parts).sort_index()


# -- sentences ----------------------------------------------------------------------------------------------------------


def describe_waste_range(result: UsualRange, tested: pd.DataFrame) -> str:
    """Return a sentence for each day above its limit, or one that says that there is none.

    It says nothing about falls, and names no cause.
    """
    if result.reason == SHORT_HISTORY:
        return f"Too little history for a usual range: {MIN_WEEKS} whole weeks are needed, {result.history_weeks} are here."
    if result.reason:
        return f"No usual range: {result.reason}."
    if not np.isfinite(result.periods.upper).any():
        return f"No day has a usual range: {', '.join(sorted(set(result.periods.reasons)))}."
    basis = f"the {result.history_weeks} weeks before" if result.history_weeks else "the other days of this window"
    shares = ratio(tested["wasted_traffic_cost"], tested["total_traffic_cost"])
    sentences = [
        f"{describe_day(start)}: wasted share {_share_above(share, upper, basis)}"
        for start, share, upper, is_above in zip(
            tested["period_start"], shares.tolist(), result.periods.upper.tolist(), result.periods.is_above, strict=True
        )
        if is_above
    ]
    if result.weeks.is_above.any():
        sentences.append("The wasted share of the whole week is above its usual range.")
    if not sentences:
        none = f"No day is above its usual range{_found_rise(result, tested)}."
        sentences = [none if result.history_weeks else "No day stands out from the others of this window."]
    untested = int(np.isnan(result.periods.upper).sum())
    if untested:
        sentences.append(f"{untested} of {len(tested)} days {'has' if untested == 1 else 'have'} no usual range.")
    return " ".join(sentences)


def _share_above(share: float, upper: float, basis: str) -> str:
    decimals = distinct_decimals(share, upper)
    return f"{printing.share(share, decimals)}, above its usual range (up to {printing.share(upper, decimals)}, from {basis})."


def _found_rise(result: UsualRange, tested: pd.DataFrame) -> str:
    """Return the rise of one day that would have been noticed, or empty if no simulation fits."""
    has_limit = np.isfinite(result.periods.upper)
    weekly = float((tested["requests"] * result.periods.center)[has_limit].mean()) * 7
    rise = next((rises for hits, *rises in FOUND_RISES if weekly >= hits), None)
    if rise is None:
        return ""
    percent = rise[0] if result.history_weeks < MAX_WEEKS else rise[1]
    return f", and a rise of about {percent} % of one day would have been noticed in 4 of 5 cases"


# -- helpers --------------------------------------------------------------------------------------------------------------


def _pairs(rows: pd.DataFrame) -> Rates:
    """Return the share times the requests with a cost, as hits, and the number of these."""
    requests, whole = (rows[each].to_numpy(dtype=float) for each in ("requests_with_cost", "total_traffic_cost"))
    share = np.divide(rows["wasted_traffic_cost"].to_numpy(dtype=float), whole, out=np.zeros(len(rows)), where=whole > 0)
    return np.stack([share * requests, np.where(whole > 0, requests, 0)], axis=-1)


def _position(starts: pd.Series, every: str) -> int:
    """Return the position of the first period in its week."""
    if starts.empty:
        return 0
    first = starts.iloc[0]
    return int(first.weekday()) if every == "1d" else int(first.weekday() * 24 + first.hour)


def _is_after_start(grouped: Grouped) -> Flags:
    """Return which periods come after the first one with requests.

    The first period counts only if it is the first of the window. An empty period before the history of a network begins says
    nothing.
    """
    starts = microseconds(grouped.keys["period_start"])
    occupied = starts[is_true(grouped.values["row_count"] > 0)]
    if not len(occupied):
        return np.zeros(len(grouped), dtype=bool)
    result: Flags = (starts > occupied.min()) | (occupied.min() == starts.min())
    return result


def _is_final(frames: Frames, periods: pd.DataFrame) -> Flags:
    """Return which periods are in the window, without gaps and final for 90 % of their time."""
    if frames.window is None:
        return np.zeros(len(periods), dtype=bool)
    starts, ends = (microseconds(periods[name]) for name in TIMES)
    since, until = (extents.microseconds(time) for time in (frames.window.since, frames.window.until))
    is_final = covered_time(frames).share(starts, ends) >= MIN_COVERAGE
    is_provisional = provisional_time(frames).length(starts, ends) > 0
    result: Flags = (starts >= since) & (ends <= until) & is_final & ~is_provisional
    return result
