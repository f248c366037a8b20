"""Classes of outcomes by result and latency, and the latency figures of groups.

Accepted requests, requests rejected before the limit, and timeouts are three figures, because a timeout is not a decision
after 30 seconds. Result and latency together distinguish them. A percentile of all three mixed would say nothing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ledgerframes.analysis.groups import Flags, is_true, known, microseconds
from ledgerframes.analysis.requests import ACCEPTED, REJECTED, UNSPECIFIED, is_first_of_request

# The mediator gives up after 30 s. Clocks and rounding can make a timeout look a little shorter.
LIMIT = 29_900_000
SUSPECT_FROM = 20_000_000

ACCEPTED_IN_TIME = "accepted"
LATE = "accepted after the limit"
REJECTED_IN_TIME = "rejected"
TIMEOUT = "timed out (by latency)"
NEITHER = "unspecified"
IMPOSSIBLE = "impossible: before its record time"
UNKNOWN = "latency missing"
CLASSES = (ACCEPTED_IN_TIME, LATE, REJECTED_IN_TIME, TIMEOUT, NEITHER, IMPOSSIBLE, UNKNOWN)
REJECT_KINDS = ("contention", "timeout")


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


def timeouts_of(rows: pd.DataFrame) -> Flags | None:
    """Return which requests with a latency timed out, None where the limit is doubtful."""
    classes = outcome_classes(rows["verdict_result"], rows["latency"])
    return None if is_limit_doubtful(rows, classes, rows["latency"]) else (classes == TIMEOUT).to_numpy(dtype=bool)
