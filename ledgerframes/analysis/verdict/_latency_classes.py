"""Classes of outcomes by result and latency, and the latency figures of groups.

Accepted requests, requests rejected before the limit and timeouts are three figures, because a timeout is not a decision at 30
seconds. Result and latency together tell them apart. A percentile of all of them mixed would say nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis._groups import Flags, Groups, Integers, as_integers, durations, is_true, known, microseconds, ratio
from ledgerframes.analysis._percentiles import few_requests
from ledgerframes.analysis._requests import ACCEPTED, REJECTED, UNSPECIFIED, is_first_of_request, not_negative
from ledgerframes.statistics import wilson
from ledgerframes.statistics.percentiles import group_percentiles

# The mediator gives up after 30 s. Clocks and rounding can make a timeout look a little shorter.
LIMIT = 29_900_000
SUSPECT_FROM = 20_000_000
SLOW_FROM = 5_000_000
DOUBTFUL_LIMIT = "the limit of this network may not be 30 s"

ACCEPTED_IN_TIME = "accepted"
LATE = "accepted after the limit"
REJECTED_IN_TIME = "rejected"
TIMEOUT = "timed out (by latency)"
NEITHER = "unspecified"
IMPOSSIBLE = "impossible: before its record time"
UNKNOWN = "latency missing"
CLASSES = (ACCEPTED_IN_TIME, LATE, REJECTED_IN_TIME, TIMEOUT, NEITHER, IMPOSSIBLE, UNKNOWN)
REJECT_KINDS = ("contention", "timeout")
PERCENTS = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}


def latencies(rows: pd.DataFrame) -> pd.Series:
    """Return finalization time minus record time in microseconds, missing without a verdict."""
    is_known = known(rows["finalization_time"])
    numbers = pd.Series(pd.NA, index=rows.index, dtype="Int64")
    final = rows[is_known]
    numbers[is_known] = microseconds(final["finalization_time"]) - microseconds(final["record_time"])
    return numbers


def with_latency(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the requests with a possible verdict and its latency [microseconds]."""
    numbers = latencies(rows)
    is_possible = is_true(numbers >= 0)
    return rows[is_possible].assign(latency=numbers[is_possible].astype("int64"))


def outcome_classes(results: pd.Series, numbers: pd.Series) -> pd.Series:
    """Return the class of each request by result and latency, missing without a verdict."""
    number = numbers.to_numpy(dtype="int64", na_value=0)
    has_latency, is_late = known(numbers), number >= LIMIT
    is_accepted, is_rejected, is_unspecified = (is_true(results == result) for result in (ACCEPTED, REJECTED, UNSPECIFIED))
    conditions = {
        IMPOSSIBLE: number < 0,
        NEITHER: is_unspecified,
        UNKNOWN: (is_accepted | is_rejected) & ~has_latency,
        ACCEPTED_IN_TIME: is_accepted & ~is_late,
        LATE: is_accepted,
        REJECTED_IN_TIME: is_rejected & ~is_late,
        TIMEOUT: is_rejected,
    }
    codes = np.select(list(conditions.values()), [CLASSES.index(name) for name in conditions], -1)
    return pd.Series(pd.Categorical.from_codes(codes, pd.Index(CLASSES)), index=results.index)


def is_limit_doubtful(rows: pd.DataFrame, classes: pd.Series, numbers: pd.Series) -> bool:
    """Return whether more rejections lie just below the limit than from it on.

    A request that is in several rows, one for each party, counts once.
    """
    is_first = is_first_of_request(rows)
    is_suspect = is_first & (classes == REJECTED_IN_TIME) & (numbers >= SUSPECT_FROM).fillna(False)
    return int(is_suspect.sum()) > int((is_first & (classes == TIMEOUT)).sum())


def reject_kinds(rows: pd.DataFrame) -> Integers:
    """Return the kind of each rejection, as its latency suggests.

    It is a position in `REJECT_KINDS`, or -1 if the latency suggests none.
    """
    numbers = not_negative(latencies(rows))
    classes = outcome_classes(rows["verdict_result"], numbers)
    kinds = np.select([classes == REJECTED_IN_TIME, classes == TIMEOUT], range(len(REJECT_KINDS)), -1)
    return np.where(is_limit_doubtful(rows, classes, numbers), -1, kinds)


def timeouts_of(rows: pd.DataFrame) -> Flags | None:
    """Return which requests with a latency timed out, None where the limit is doubtful."""
    classes = outcome_classes(rows["verdict_result"], rows["latency"])
    return None if is_limit_doubtful(rows, classes, rows["latency"]) else (classes == TIMEOUT).to_numpy(dtype=bool)


def timeout_counts(groups: Groups, classes: pd.Series, is_doubtful: bool) -> pd.Series:
    """Return the number of timeouts of each group, missing where the limit is doubtful."""
    counts = pd.Series(groups.count((classes == TIMEOUT).to_numpy(dtype=bool)), dtype="Int64")
    return counts.mask(np.full(len(counts), is_doubtful))


def latency_values(rows: pd.DataFrame, groups: Groups, min_requests: int | None = None) -> dict[str, Any]:
    """Return the latency figures of each group, by column.

    The percentiles, and the largest latency, are of accepted requests, and with the prefix ``rejected_`` of those rejected before
    the limit. Accepted requests after the limit count among the accepted. Where the limit is doubtful, timeouts are missing.
    """
    numbers = latencies(rows)
    classes = outcome_classes(rows["verdict_result"], numbers)
    is_of = {name: (classes == name).to_numpy(dtype=bool) for name in CLASSES}
    is_accepted = is_of[ACCEPTED_IN_TIME] | is_of[LATE]
    is_slow = is_accepted & is_true(numbers >= SLOW_FROM)
    is_doubtful = is_limit_doubtful(rows, classes, numbers)
    accepted, rejected, timeouts = (groups.count(each) for each in (is_accepted, is_of[REJECTED_IN_TIME], is_of[TIMEOUT]))
    percentiles, reasons = _percentiles(numbers, is_accepted, groups, "", min_requests)
    of_rejected, rejected_reasons = _percentiles(numbers, is_of[REJECTED_IN_TIME], groups, "rejected_", min_requests)
    sides = (("", accepted), ("rejected_", rejected))
    marked = [(f"{prefix}{name}", counts, percent) for prefix, counts in sides for name, percent in PERCENTS.items()]
    doubt = [DOUBTFUL_LIMIT if is_doubtful else ""]
    return {
        "requests": groups.count(),
        "accepted": accepted,
        "rejected": rejected,
        "timeouts": timeout_counts(groups, classes, is_doubtful),
        **_timeout_rate(timeouts, accepted + rejected + timeouts, is_doubtful),
        "accepted_after_limit": groups.count(is_of[LATE]),
        "slow_accepted": groups.count(is_slow),
        "unspecified": groups.count(is_of[NEITHER]),
        "impossible": groups.count(is_of[IMPOSSIBLE]),
        "latency_missing": groups.count(is_of[UNKNOWN]),
        **percentiles,
        **of_rejected,
        "few_requests_for": few_requests(marked, min_requests),
        "reason": pd.array([_reason(*doubt, *texts) for texts in zip(reasons, rejected_reasons, strict=True)], dtype="str"),
    }


def _reason(doubt: str, *too_few: str) -> str:
    """Return why figures of a group are missing, and the argument that shows them."""
    advice = " (min_requests= shows them)" if any(too_few) else ""
    return ", ".join(filter(None, (doubt, *too_few))) + advice


def _timeout_rate(timeouts: Integers, decided: Integers, is_doubtful: bool) -> dict[str, Any]:
    """Return the rate of timeouts, missing where the limit is doubtful."""
    trials = np.zeros_like(decided) if is_doubtful else decided
    low, high = wilson(np.where(trials > 0, timeouts, 0), trials)
    return {
        "timeout_rate": ratio(timeouts, trials),
        "timeout_low": low,
        "timeout_high": high,
    }


def _percentiles(
    numbers: pd.Series, mask: Flags, groups: Groups, prefix: str, min_requests: int | None
) -> tuple[dict[str, pd.Series], list[str]]:
    """Return percentiles with intervals and the largest value, and a reason per group."""
    values, codes = numbers[mask].to_numpy("int64"), groups.codes[mask]
    columns: dict[str, pd.Series] = {}
    missing: list[list[str]] = [[] for _ in range(len(groups))]
    of_groups = group_percentiles(values, codes, len(groups), list(PERCENTS.values()), min_requests)
    for name, row in zip(PERCENTS, of_groups, strict=True):
        for end in ("value", "low", "high"):
            column = f"{prefix}{name}" + ("" if end == "value" else f"_{end}")
            columns[column] = durations(as_integers([getattr(each, end) for each in row], column))
        for names, each in zip(missing, row, strict=True):
            names += [name] if each.value is None else []
    largest = pd.Series(values, dtype="Int64").groupby(codes).max().reindex(range(len(groups)))
    columns[f"{prefix}max"] = durations(largest)
    noun = "rejected" if prefix else "accepted"
    return columns, [f"too few {noun} requests for {', '.join(names)}" if names else "" for names in missing]
