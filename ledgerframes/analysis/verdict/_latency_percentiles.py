"""Percentiles of the latency with their intervals, by group.

A percentile and both ends of its interval are values at ranks that depend on the number of values. So the engine first counts
the values of each group, and then returns the values at the ranks that any group needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._grouped import Call, Grouped
from ledgerframes.analysis._percentiles import few_requests
from ledgerframes.analysis.groups import Integers, as_integers, durations
from ledgerframes.engine import Query, run
from ledgerframes.statistics.percentiles import Ranks, supported_ranks

PERCENTS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
NOUNS = {"": "accepted", "rejected_": "rejected"}  # columns of counts, by the prefix of their percentiles
RANKS = {"": "value", "_low": "low", "_high": "high"}  # by the end of a column's name

Values = dict[tuple[str, int, int], int]  # latency by noun, group and rank


def percentile_values(call: Call, grouped: Grouped) -> dict[str, Any]:
    """Return the percentiles of accepted requests and of those rejected before the limit.

    The result includes ``few_requests_for`` and ``reasons``, which are lists of why percentiles are missing.
    """
    counts = {noun: grouped.values[noun].fillna(0).to_numpy("int64") for noun in NOUNS.values()}
    ranks = {noun: _ranks_of_groups(each, call.options.min_requests) for noun, each in counts.items()}
    values = _values_at_ranks(call, grouped, counts, ranks)
    columns = {
        f"{prefix}{name}{end}": [
            values.get((noun, group, getattr(each, attribute))) for group, each in enumerate(ranks[noun][name])
        ]
        for prefix, noun in NOUNS.items()
        for name in PERCENTS
        for end, attribute in RANKS.items()
    }
    marked = [(f"{prefix}{name}", counts[noun], percent) for prefix, noun in NOUNS.items() for name, percent in PERCENTS.items()]
    return {
        **{name: durations(as_integers(numbers, name)) for name, numbers in columns.items()},
        "few_requests_for": few_requests(marked, call.options.min_requests),
        "reasons": [_too_few(ranks, group) for group in range(len(grouped))],
    }


def ordered_values_query(call: Call, needed_ranks: pa.Table) -> Query:
    """Return a query of the latencies of each group at the ranks for its number of latencies."""
    names = ", ".join([*call.group_names, "noun"])
    select = f"""\
SELECT {names}, rank, latency
FROM (
    SELECT
        {names},
        latency,
        row_number() OVER in_order AS rank,
        count(*) OVER (in_order ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS value_count
    FROM (
        SELECT
            *,
            CASE
                WHEN outcome IN ('accepted', 'accepted after the limit') THEN 'accepted'
                WHEN outcome = 'rejected' THEN 'rejected'
            END AS noun
        FROM {call.rows}
    )
    WHERE noun IS NOT NULL
    WINDOW in_order AS (PARTITION BY {names} ORDER BY latency)
)
-- One row per number of values and rank.
SEMI JOIN needed_ranks USING (value_count, rank)"""
    return Query(select, (call.grouping.rows,), {**call.parameters, "needed_ranks": needed_ranks})


def _ranks_of_groups(counts: Integers, min_requests: int | None) -> dict[str, list[Ranks]]:
    """Return the ranks of each group, by percentile."""
    numbers, indexes = np.unique(counts, return_inverse=True)  # many groups have the same number of values
    ranks = {}
    for name, percent in PERCENTS.items():
        of_numbers = [supported_ranks(number, percent, min_count=min_requests) for number in numbers.tolist()]
        ranks[name] = [of_numbers[index] for index in indexes.tolist()]
    return ranks


def _values_at_ranks(
    call: Call, grouped: Grouped, counts: dict[str, Integers], ranks: dict[str, dict[str, list[Ranks]]]
) -> Values:
    pairs = {
        (count, rank)
        for noun, by_name in ranks.items()
        for of_groups in by_name.values()
        for count, each in zip(counts[noun].tolist(), of_groups, strict=True)
        for rank in (each.value, each.low, each.high)
        if rank is not None
    }
    if not pairs:
        return {}
    rows = run(call.frames, ordered_values_query(call, _table_of(pairs)))
    groups = grouped.codes(call, rows)
    keys = zip(rows["noun"], groups.tolist(), rows["rank"].tolist(), strict=True)
    return dict(zip(keys, rows["latency"].tolist(), strict=True))


def _table_of(pairs: Iterable[tuple[int, int]]) -> pa.Table:
    value_counts, ranks = zip(*sorted(pairs), strict=True)
    return pa.table({"value_count": pa.array(value_counts, pa.int64()), "rank": pa.array(ranks, pa.int64())})


def _too_few(ranks: dict[str, dict[str, list[Ranks]]], group: int) -> Sequence[str]:
    """Return why percentiles of a group are missing."""
    missing = {noun: [name for name, each in by_name.items() if each[group].value is None] for noun, by_name in ranks.items()}
    return [f"too few {noun} requests for {', '.join(names)}" for noun, names in missing.items() if names]


def reason(doubt: str, too_few: Sequence[str]) -> str | Any:
    """Return why figures of a group are missing, and which argument shows them."""
    advice = " (min_requests= shows them)" if too_few else ""
    return ", ".join(filter(None, (doubt, *too_few))) + advice or pd.NA
