"""Calendar of what frames contain, and of days that contain less than the days before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis.coverage import CoveredTime, covered_time, failed_folders, timed_segments
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.analysis.groups import Integers, from_microseconds, microseconds, ratio
from ledgerframes.analysis.measures import COST
from ledgerframes.engine import Query, Relation, run
from ledgerframes.engine.keys import key_of
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values import extents
from ledgerframes.values.windows import Time, instant

STATUSES = ("ok", "provisional", "degraded", "gap", "missing", "before history", "future")
FEWER_COSTS, FEWER_UPDATES = "fewer known costs than before", "fewer visible updates than before"
FEWER_REQUESTS, MORE_REQUESTS = "fewer requests than before", "more requests than before"
NOT_COMPARED = "too few days before it to compare"
REASONS = (FEWER_COSTS, FEWER_UPDATES, FEWER_REQUESTS, MORE_REQUESTS, NOT_COMPARED)
# A request has a verdict, an update or a traffic summary.
TABLES_OF_REQUESTS = ("verdicts", "updates", "traffic")
# The tables whose rows count, and which of their rows.
COUNTED = {
    "requests": dict.fromkeys(TABLES_OF_REQUESTS, "true"),
    "updates": {"updates": "true"},
    "verdicts": {"verdicts": "true"},
    "with_cost": {"traffic": f"coalesce({COST} >= 0, false)"},
    "with_activity": {"activity_records": "true"},
}
TABLES = tuple(dict.fromkeys(table for tables in COUNTED.values() for table in tables))
NO_TIMES = pd.Series([], dtype="datetime64[us, UTC]")
FOREVER = np.iinfo(np.int64).max
DAYS_BEFORE = 28
MAX_SHARE_BELOW = 0.02
MAX_VOLUME_RATIO = 2

COVERAGE = declare.Figure(
    "reconcile.coverage",
    caption="Coverage of the store",
    distinct=("dataset",),
    main_columns=("requests", "status", "reason", "updates", "verdicts", "with_cost"),
    rows="One row per period; sorted by time. ``gap`` is the time of a bulk object that could not be read, ``missing`` is time "
    "between other periods that is not in the store, and ``future`` is time that has not come or is not published yet.",
    columns=(
        declare.choice("dataset", ("events", "bulk"), "events of the listing, or bulk objects."),
        declare.choice("status", STATUSES),
        declare.choice("reason", REASONS, "Why a day is degraded or not compared. Missing for other days."),
        declare.integer("requests", "Requests with a verdict, an update or a traffic summary.", "requests"),
        declare.integer("updates", "Visible updates.", "updates"),
        declare.integer("verdicts", "Verdicts. Missing for bulk objects.", "verdicts"),
        declare.integer("with_cost", "Requests with a known traffic cost. Missing for bulk objects.", "requests"),
        declare.integer("with_activity", "Requests with an activity record. Missing for bulk objects.", "requests"),
        declare.count("duplicates_dropped", "Second verdicts, which do not count.", "verdicts"),
        declare.time("last_fetched", "Latest time at which data of the period were fetched. Missing if there are none."),
    ),
    has_periods=True,
    queries=lambda frames, every, **_: _queries(frames, every),
)


@COVERAGE.register
def coverage(frames: Frames, *, every: str | None = "1d", now: Time | None = None) -> pd.DataFrame:
    """Return for each day whether the frames contain it and it is like the days before.

    Parameters
    ----------
    frames : Frames
        Loaded by time, from :func:`ledgerframes.load_events` or :func:`ledgerframes.load_bulk`.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: 1d).
    now : str, date or datetime, optional
        Present time, after which a period is in the future (default: the time of the last fetch).

    Returns
    -------
    DataFrame
        One row per period; sorted by time. ``gap`` is the time of a bulk object that could not be read, ``missing`` is time
        between other periods that is not in the store, and ``future`` is time that has not come or is not published yet.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``dataset`` (category): events of the listing, or bulk objects.
        - ``status`` (category): ok, provisional, degraded, gap, missing, before history, or future.
        - ``reason`` (category): Why a day is degraded or not compared. Missing for other days.
        - ``requests`` (Int64, requests): Requests with a verdict, an update or a traffic summary.
        - ``updates`` (Int64, updates): Visible updates.
        - ``verdicts`` (Int64, verdicts): Verdicts. Missing for bulk objects.
        - ``with_cost`` (Int64, requests): Requests with a known traffic cost. Missing for bulk objects.
        - ``with_activity`` (Int64, requests): Requests with an activity record. Missing for bulk objects.
        - ``duplicates_dropped`` (int64, verdicts): Second verdicts, which do not count.
        - ``last_fetched`` (datetime64[us, UTC]): Latest time at which data of the period were fetched. Missing if there are
          none.
        - ``coverage`` (float64, share of 1): Share of the requests of this row with a known cost. Missing if there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    UsageError
        If `frames` is not Frames, or is from a participant's ledger, which has offsets.

    Notes
    -----
    A whole, final day is degraded if its share of known costs or of visible updates is more than 0.02 below the lowest of the
    28 days before it, or its requests are fewer than half of the fewest, or more than twice the most. Periods other than days
    are not compared. Source: docs/architecture.md#the-store.

    Picture, by :func:`ledgerframes.plot`: The frame can have several datasets together (``pandas.concat``). It needs
    ``every=``: without it, the status is a sentence. One row per dataset, a cell per period in the color of its status.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> frames = lf.load_events(net, since="2026-11-08", until="2026-11-10")
    >>> lf.reconcile.coverage(frames)["status"].tolist()
    ['ok', 'provisional']
    """
    COVERAGE.check(frames)
    _require_times(frames)
    periods = _periods(frames, every)
    counts = _counts(frames, periods, every)
    status, reason = periods.status(frames, _present(frames, now)), np.full(len(periods.starts), None, dtype=object)
    if every == "1d":
        reason = _reasons(status, periods, counts)
        status = np.where(np.isin(reason, REASONS[:-1]), "degraded", status)
    is_bulk = "bulk_objects" in frames.tables and "verdicts" not in frames.tables
    values = {
        **periods.keys,
        **counts,
        "dataset": "bulk" if is_bulk else "events",
        "status": status,
        "reason": reason,
        "duplicates_dropped": periods.count_times(_second_verdict_times(frames)),
        "last_fetched": _last_fetched(frames, periods),
        "coverage": ratio(counts["with_cost"], counts["requests"]),
    }
    return COVERAGE.build(frames, values, every=every)


def _require_times(frames: Frames) -> None:
    if frames.offset_range is not None:
        raise UsageError("lf.reconcile.coverage needs frames loaded by time. Use lf.reconcile.bounds for offsets.")


def _queries(frames: Frames, every: str | None) -> list[Query]:
    _require_times(frames)
    return [_counts_query(frames, every)]


# -- periods ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Periods:
    """Periods of the result."""

    keys: pd.DataFrame  # columns that name them
    # Their edges [microseconds since 1970]
    starts: Integers
    ends: Integers

    def count_times(self, times: Integers) -> Integers:
        """Return the number of times in each period."""
        ordered = np.sort(times)
        counts: Integers = np.searchsorted(ordered, self.ends) - np.searchsorted(ordered, self.starts)
        return counts

    def total(self, first_times: pd.Series, counts: pd.Series) -> pd.Series:
        """Return the sum of the counts of the parts of each period.

        Parts are in the order of time.
        """
        times, sums = microseconds(first_times), np.append(0, np.cumsum(counts.to_numpy("int64")))
        return pd.Series(sums[np.searchsorted(times, self.ends)] - sums[np.searchsorted(times, self.starts)], dtype="Int64")

    def status(self, frames: Frames, now: int) -> npt.NDArray[np.object_]:
        """Return the status of each period in the frames."""
        final, both = covered_time(frames), covered_time(frames, accept_provisional=True)
        first, last = (both.starts[0], both.ends[-1]) if len(both.starts) else (0, 0)
        starts, ends = np.clip(self.starts, first, last), np.clip(self.ends, first, last)
        failed = CoveredTime(*(np.sort(edges) for edges in failed_folders(frames)))
        conditions = [
            failed.length(self.starts, self.ends) > 0,
            np.full(len(starts), not len(both.starts)),
            self.starts >= min(last, now),
            self.ends <= first,
            both.length(starts, ends) < ends - starts,
            final.length(starts, ends) < ends - starts,
        ]
        names = ["gap", "missing", "future", "before history", "missing", "provisional"]
        return np.select(conditions, names, "ok").astype(object)


def _counts(frames: Frames, periods: Periods, every: str | None) -> dict[str, pd.Series]:
    """Return the requests of each count in each period, missing without its table."""
    counts = dict.fromkeys(COUNTED, pd.Series(pd.NA, range(len(periods.starts)), "Int64"))
    names = _count_names(frames)
    parts = run(frames, _counts_query(frames, every)).sort_values("first_time") if names else pd.DataFrame()
    return counts | {name: periods.total(parts["first_time"], parts[name]) for name in names}


def _count_names(frames: Frames) -> list[str]:
    """Return the names of the counts of which these frames have a table."""
    return [name for name, tables in COUNTED.items() if any(table in frames.tables for table in tables)]


def _counts_query(frames: Frames, every: str | None) -> Query:
    """Return the query of the requests of each count, by parts of periods."""
    names = _count_names(frames)
    counts = [f"count(*) FILTER ({name}) AS {name}" for name in names]
    columns = ",\n    ".join(["min(first_time) AS first_time", *counts])
    select = f"SELECT\n    {columns}\nFROM counted_requests\nGROUP BY part"
    return Query(select, (_counted_requests(frames, names, every),))


def _counted_requests(frames: Frames, names: list[str], every: str | None) -> Relation:
    """Return the relation of the requests in each part of a period."""
    tables = [table for table in TABLES if table in frames.tables]
    parts = "\nUNION ALL\n".join(_rows_of(table, names) for table in tables)
    columns = ",\n    ".join(f"bool_or({name}) AS {name}" for name in names)
    query = f"""
SELECT
    {period_of(every)} AS part,
    min(record_time) AS first_time,
    {columns}
FROM (
{indent(parts, "    ")}
)
GROUP BY update_id, part"""
    return Relation(
        "counted_requests", "One row per request and part of a period, with the counts that it adds to.", query, tuple(tables)
    )


def _rows_of(table: str, names: list[str]) -> str:
    """Return a query of the rows of a table, with whether each count has them."""
    counts = [f"{COUNTED[name].get(table, 'false')} AS {name}" for name in names]
    columns = ",\n    ".join([f"{key_of('update_id')} AS update_id", "record_time", *counts])
    return f"SELECT\n    {columns}\nFROM {table}"


def _periods(frames: Frames, every: str | None) -> Periods:
    if every is not None:
        keys = periods_of(frames, NO_TIMES, every).keys
        return Periods(keys, microseconds(keys["period_start"]), microseconds(keys["period_end"]))
    window = frames.window
    edges = (window.since, window.until) if window else (extents.EPOCH, extents.EPOCH)
    starts, ends = (np.array([extents.microseconds(time)]) for time in edges)
    return Periods(pd.DataFrame(index=[0]), starts, ends)


def _present(frames: Frames, now: Time | None) -> int:
    """Return the present, or else the time of the last fetch."""
    if now is not None:
        return extents.microseconds(instant(now, "now"))
    fetched = frames.coverage["fetched_at"].dropna()
    return int(microseconds(fetched).max()) if len(fetched) else FOREVER


def _second_verdict_times(frames: Frames) -> Integers:
    """Return the record time of each event that the frames leave out."""
    events = frames._filter.dropped_events(frames._source, frames.tables)
    rows = events.select(["record_time", "update_id"]).to_pandas().drop_duplicates()
    return microseconds(rows["record_time"])


def _last_fetched(frames: Frames, periods: Periods) -> pd.Series:
    rows = timed_segments(frames)
    since, until = microseconds(rows["since"]), microseconds(rows["until"])
    fetched = microseconds(rows["fetched_at"])
    edges = zip(periods.starts, periods.ends, strict=True)
    inside = [fetched[(since < end) & (until > start)] for start, end in edges]
    return from_microseconds([int(times.max()) if len(times) else None for times in inside])


# -- days that hold less ------------------------------------------------------------------------------------------------


def _reasons(status: npt.NDArray[np.object_], periods: Periods, counts: Mapping[str, pd.Series]) -> npt.NDArray[np.object_]:
    """Return why each whole day is degraded, or that too few days precede it."""
    volume = counts["requests"].fillna(0).to_numpy("int64")
    known, visible = ratio(counts["with_cost"], volume), ratio(counts["updates"], volume)
    is_whole = (status == "ok") & ~periods.keys["is_partial"].to_numpy(dtype=bool)
    reasons = np.full(len(status), None, dtype=object)
    for day in np.flatnonzero(is_whole).tolist():
        before = np.flatnonzero(is_whole[max(0, day - DAYS_BEFORE) : day]) + max(0, day - DAYS_BEFORE)
        if len(before) < DAYS_BEFORE:
            reasons[day] = NOT_COMPARED
            continue
        conditions = {
            FEWER_COSTS: known[day] < pd.Series(known[before]).min() - MAX_SHARE_BELOW,
            FEWER_UPDATES: visible[day] < pd.Series(visible[before]).min() - MAX_SHARE_BELOW,
            FEWER_REQUESTS: volume[day] * MAX_VOLUME_RATIO < volume[before].min(),
            MORE_REQUESTS: volume[day] > MAX_VOLUME_RATIO * volume[before].max(),
        }
        reasons[day] = next((reason for reason, is_met in conditions.items() if is_met), None)
    return reasons
