"""Percentiles of the latency with their intervals, by group.

A percentile and both ends of its interval are values at ranks that depend on the number of values. So the engine returns the
values of each group, and those at the ranks are picked from them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._grouped import Call, Grouped
from ledgerframes.analysis._percentiles import few_requests
from ledgerframes.analysis.groups import Integers, as_integers, durations
from ledgerframes.statistics.percentiles import Ranks, supported_ranks

PERCENTS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}
NOUNS = {"": "accepted", "rejected_": "rejected"}  # columns of counts, by the prefix of their percentiles
ADVICE = " (min_requests= shows them)"
RANKS = {"": "value", "_low": "low", "_high": "high"}  # by the end of a column's name


def percentile_values(call: Call, grouped: Grouped) -> dict[str, Any]:
    """Return the percentiles of accepted requests and of those rejected before the limit.

    The result includes ``few_requests_for`` and ``reasons`` why percentiles are missing.
    """
    latencies = {noun: _in_order(grouped.values[f"{noun}_latencies"]) for noun in NOUNS.values()}
    counts = {noun: np.array([len(each) for each in of_groups], np.int64) for noun, of_groups in latencies.items()}
    ranks = {noun: _ranks_of_groups(each, call.options.min_requests) for noun, each in counts.items()}
    columns = {
        f"{prefix}{name}{end}": _at_ranks(latencies[noun], (getattr(each, attribute) for each in ranks[noun][name]))
        for prefix, noun in NOUNS.items()
        for name in PERCENTS
        for end, attribute in RANKS.items()
    }
    marked = [(f"{prefix}{name}", counts[noun], percent) for prefix, noun in NOUNS.items() for name, percent in PERCENTS.items()]
    return {
        **{name: durations(as_integers(numbers, name)) for name, numbers in columns.items()},
        "few_requests_for": few_requests(marked, call.options.min_requests),
        "reasons": [_too_few(ranks, counts, group) for group in range(len(grouped))],
    }


def _in_order(lists: pd.Series) -> list[Integers]:
    """Return the latencies of each group in ascending order."""
    return [np.sort(each) if isinstance(each, np.ndarray) else np.array([], np.int64) for each in lists]


def _at_ranks(latencies: Sequence[Integers], ranks: Iterable[int | None]) -> list[int | None]:
    """Return the latency of each group at its rank, which counts from 1."""
    return [None if rank is None else int(each[rank - 1]) for each, rank in zip(latencies, ranks, strict=True)]


def _ranks_of_groups(counts: Integers, min_requests: int | None) -> dict[str, list[Ranks]]:
    """Return the ranks of each group, by percentile."""
    numbers, indexes = np.unique(counts, return_inverse=True)  # many groups have the same number of values
    ranks = {}
    for name, percent in PERCENTS.items():
        of_numbers = [supported_ranks(number, percent, min_count=min_requests) for number in numbers.tolist()]
        ranks[name] = [of_numbers[index] for index in indexes.tolist()]
    return ranks


def _too_few(ranks: dict[str, dict[str, list[Ranks]]], counts: dict[str, Integers], group: int) -> str:
    """Return why percentiles of a group are missing, and what shows those of few requests."""
    missing = {noun: [name for name, each in by_name.items() if each[group].value is None] for noun, by_name in ranks.items()}
    few = [f"too few {noun} requests for {', '.join(names)}" for noun, names in missing.items() if names and counts[noun][group]]
    none = " and ".join(noun for noun in missing if not counts[noun][group])
    texts = (", ".join(few) + ADVICE if few else "", f"no latency of {none} requests" if none else "")
    return ", ".join(filter(None, texts))


def reason(doubt: str, too_few: str) -> str | Any:
    """Return why figures of a group are missing."""
    return ", ".join(filter(None, (doubt, too_few))) or pd.NA
