"""Comparison of the history that two nodes of a network return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._groupings import periods_of
from ledgerframes.analysis.coverage import covered_time, window_share
from ledgerframes.analysis.economy.periods import period_of
from ledgerframes.analysis.groups import (
    Groups,
    as_integers,
    durations,
    microseconds,
    ratio,
    single_group,
)
from ledgerframes.analysis.reconcile import _answers as answers
from ledgerframes.engine import Query, run
from ledgerframes.engine.comparisons import ASPECTS, BOTH_NODES, COMPARED_FACTS, FACTS
from ledgerframes.engine.query import other_sources
from ledgerframes.engine.relation import tables_of
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.statistics.differences import LEAST_COUNT, difference_of_percentiles
from ledgerframes.values.extents import MICROSECONDS_PER_HOUR

FACTS_TABLES = tables_of([FACTS])
COUNTS = ("equal", "different", "only_a", "only_b")
COMPARABLE_SHARE = (999, 1_000)  # share of the ids of every later hour that both nodes have


def _latency(name: str, description: str) -> declare.ResultColumn:
    text = description.format(f"Missing below {LEAST_COUNT} requests.")
    return declare.duration(name, text, "Difference of the median latency")


NODES = declare.Figure(
    "reconcile.nodes",
    caption="History at two nodes",
    answer=answers.of_nodes,
    main_columns=("aspect", "equal", "different", "only_a", "only_b", "first_difference"),
    distinct=("aspect",),
    rows="One row per period and aspect; sorted by time, then presence, record time, verdict, participant, parties, "
    "traffic cost, activity weight.",
    columns=(
        declare.choice("aspect", ASPECTS, "What is compared."),
        declare.count("equal", "Updates that are equal at both nodes."),
        declare.count("different", "Updates that both nodes have, but that differ."),
        declare.count("only_a", "Updates for which only the first node has the fact."),
        declare.count("only_b", "Updates for which only the second node has the fact."),
        declare.time("first_difference", "Record time of the first update that is not equal. Missing if there is none."),
        declare.time(
            "comparable_from",
            "First hour from which both nodes have at least 99.9 % of the ids of every hour. Missing if there is none.",
        ),
        _latency(
            "latency_difference", "Median latency of common accepted requests at the second node minus that at the first. {}"
        ),
        _latency("latency_low", "Low end of its 95 % interval. {}"),
        _latency("latency_high", "High end of its 95 % interval. {}"),
    ),
    condition="with a known fact at both nodes",
    unit="updates of either node",
    has_periods=True,
    queries=lambda **arguments: _queries(**arguments),
)


@NODES.register
def nodes(a: Frames, b: Frames, *, every: str | None = None) -> pd.DataFrame:
    """Compare the history of two nodes of one network.

    Parameters
    ----------
    a, b : Frames
        From :func:`ledgerframes.load_events` for the same window, from two hosts.
    every : str, optional
        Length of a period, such as ``"15min"``, ``"1h"``, ``"1d"``, ``"7d"`` or ``"1mo"``. Periods start on full hours, days,
        Mondays or months (default: None).

    Returns
    -------
    DataFrame
        One row per period and aspect; sorted by time, then presence, record time, verdict, participant, parties, traffic cost,
        activity weight.

        Columns:

        - ``period_start`` (datetime64[us, UTC], with every=): Start of the period.
        - ``period_end`` (datetime64[us, UTC], with every=): End of the period, exclusive. The last period can end after the
          window.
        - ``is_partial`` (boolean, with every=): Whether final data of the window do not cover the whole period.
        - ``aspect`` (category): What is compared.
        - ``equal`` (int64, requests): Updates that are equal at both nodes.
        - ``different`` (int64, requests): Updates that both nodes have, but that differ.
        - ``only_a`` (int64, requests): Updates for which only the first node has the fact.
        - ``only_b`` (int64, requests): Updates for which only the second node has the fact.
        - ``first_difference`` (datetime64[us, UTC]): Record time of the first update that is not equal. Missing if there is
          none.
        - ``comparable_from`` (datetime64[us, UTC]): First hour from which both nodes have at least 99.9 % of the ids of every
          hour. Missing if there is none.
        - ``latency_difference`` (timedelta64[us], microseconds): Median latency of common accepted requests at the second node
          minus that at the first. Missing below 30 requests.
        - ``latency_low`` (timedelta64[us], microseconds): Low end of its 95 % interval. Missing below 30 requests.
        - ``latency_high`` (timedelta64[us], microseconds): High end of its 95 % interval. Missing below 30 requests.
        - ``coverage`` (float64, share of 1): Share of the updates of either node with a known fact at both nodes. Missing if
          there are none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `by` is not a grouping of this figure, `every` is not a period, or periods times groups exceed a million.
    UsageError
        If `a` or `b` are not Frames, or their windows differ.

    Notes
    -----
    Each node has different finalization times, so only medians of the latency are compared
    (docs/facts.md#finalization-time-differs). Some requests can be in only one of two sources (docs/facts.md#survivorship).

    Picture, by :func:`ledgerframes.plot`: The picture is easiest to read with ``every="1h"``. One row per aspect, a cell
    per period in the color of its worst outcome. Without periods, the number of updates of each outcome.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> day = lf.load_events(lf.connect("sandbox", events=400, days=1), since="2026-11-08", until="2026-11-09")
    >>> int(lf.reconcile.nodes(day, day)["different"].sum())
    0
    """
    NODES.check(a)
    NODES.check(b)
    _require_one_window(a, b)
    hours = run(a, _facts_query(b, every))
    times = pd.concat([hours["first_time"], hours["last_time"]], ignore_index=True)
    groups = single_group(len(times)) if every is None else periods_of(a, times, every)
    frame = _compared(hours, groups)
    values = {**frame, "comparable_from": _comparable_from(hours[hours["aspect"] == "presence"])}
    group_of_part = dict(zip(hours["part"], groups.codes, strict=False))
    common = run(a, _latencies_query(b, every))
    values |= _latency_differences(common, common["part"].map(group_of_part), frame["group"]) | _time_at_both(a, b, frame, every)
    return NODES.build(b if a.population == "all" else a, values, every=every)  # of the node that has fewer requests


def _require_one_window(a: Frames, b: Frames) -> None:
    if a.window != b.window:
        raise UsageError(f"lf.reconcile.nodes needs frames of one window, got {a.window} and {b.window}. Load both for one.")


def _queries(a: Frames, b: Frames, every: str | None) -> list[Query]:
    NODES.check(b)
    _require_one_window(a, b)
    return [_facts_query(b, every)]


def _facts_query(b: Frames, every: str | None) -> Query:
    """Return the query of equal and different facts, by hour and parts of periods."""
    select = f"""
SELECT
    aspect,
    {period_of(every)} AS part,
    date_trunc('hour', record_time) AS hour,
    min(record_time) AS first_time,
    max(record_time) AS last_time,
    count(*) AS requests,
    count(*) FILTER (is_equal) AS equal,
    count(*) FILTER (has_a AND has_b AND NOT is_equal) AS different,
    count(*) FILTER (has_a AND NOT has_b) AS only_a,
    count(*) FILTER (has_b AND NOT has_a) AS only_b,
    min(record_time) FILTER ((has_a OR has_b) AND NOT is_equal) AS first_difference
FROM compared_facts
GROUP BY ALL"""
    return Query(select.lstrip(), (COMPARED_FACTS,), sources=other_sources(FACTS_TABLES, b))


def _latencies_query(b: Frames, every: str | None) -> Query:
    """Return the query of the latencies of requests that both nodes accepted."""
    select = f"""
SELECT {period_of(every)} AS part, latency_a, latency_b
FROM both_nodes
WHERE latency_a IS NOT NULL AND latency_b IS NOT NULL"""
    return Query(select.lstrip(), (BOTH_NODES,), sources=other_sources(FACTS_TABLES, b))


def _time_at_both(a: Frames, b: Frames, rows: pd.DataFrame, every: str | None) -> dict[str, Any]:
    """Return the smaller of the shares of each row's time that the two nodes cover."""
    if every is None:
        return {"coverage_time": min(map(window_share, (a, b)))}
    starts, ends = microseconds(rows["period_start"]), microseconds(rows["period_end"])
    shares = [covered_time(frames).share(starts, ends) for frames in (a, b)]
    are_partial = [covered_time(frames).is_partial(starts, ends) for frames in (a, b)]
    return {"coverage_time": np.minimum(*shares), "is_partial": np.logical_or(*are_partial)}


def _compared(hours: pd.DataFrame, groups: Groups) -> pd.DataFrame:
    """Return equal and different facts, one row per period and aspect."""
    codes = groups.codes[: len(hours)]
    parts = []
    for aspect in ASPECTS:
        is_aspect = (hours["aspect"] == aspect).to_numpy(dtype=bool)
        rows, by_group = hours[is_aspect], Groups(groups.keys, codes[is_aspect])
        counts = {name: by_group.total(rows[name]).fillna(0).to_numpy("int64") for name in COUNTS}
        first = rows["first_difference"].groupby(by_group.codes).min().reindex(range(len(groups)))
        in_both = counts["equal"] + counts["different"]
        coverage = ratio(in_both, in_both + counts["only_a"] + counts["only_b"])
        facts: dict[str, Any] = {
            "aspect": aspect,
            **counts,
            "first_difference": pd.to_datetime(first, utc=True),
            "coverage": coverage,
        }
        parts.append(groups.keys.assign(**facts))
    return pd.concat(parts).rename_axis("group").sort_values("group", kind="stable").reset_index()


def _latency_differences(common: pd.DataFrame, codes: pd.Series, row_groups: pd.Series) -> dict[str, pd.Series]:
    """Return the difference of the median latencies for each row of the result."""
    empty = difference_of_percentiles([], [], 50)
    by_group = {
        code: difference_of_percentiles(part["latency_a"].to_numpy("int64"), part["latency_b"].to_numpy("int64"), 50)
        for code, part in common.groupby(codes)
    }
    differences = [by_group.get(code, empty) for code in row_groups]
    names = {"latency_difference": "difference", "latency_low": "low", "latency_high": "high"}
    return {
        column: durations(as_integers([getattr(each, name) for each in differences], column)) for column, name in names.items()
    }


def _comparable_from(rows: pd.DataFrame) -> pd.Timestamp | None:
    """Return the first hour from which no hour misses more than 1 in 1,000 ids."""
    if rows.empty:
        return None
    hours = microseconds(rows["hour"]) // MICROSECONDS_PER_HOUR
    first, index = int(hours.min()), hours - hours.min()
    total, both = (np.bincount(index, rows[name].to_numpy("int64")).astype(np.int64) for name in ("requests", "equal"))
    part, whole = COMPARABLE_SHARE
    bad = np.flatnonzero(both * whole < total * part)
    start = int(bad[-1]) + 1 if len(bad) else 0
    if start >= len(total):
        return None
    return pd.Timestamp((first + start) * MICROSECONDS_PER_HOUR, unit="us", tz="UTC")
