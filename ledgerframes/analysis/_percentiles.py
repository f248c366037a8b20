"""The number of requests that a percentile in a result needs, and its mark.

The rule itself is :func:`ledgerframes.statistics.percentiles.least_count`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis.groups import Integers
from ledgerframes.statistics.percentiles import least_count
from ledgerframes.values.checks import require_integer

FEW_REQUESTS = declare.text(
    "few_requests_for",
    "Percentiles that rest on fewer requests than support them. Missing if there are none, or without min_requests=.",
)


def needs(percent: int, unit: str = " requests") -> str:
    """Return the sentence on when a percentile is missing.

    >>> needs(95)
    'Missing below 72 requests, or below min_requests=.'
    """
    return f"Missing below {least_count(percent):,}{unit}, or below min_requests=."


def require_min_requests(min_requests: int | None) -> None:
    """Raise a UsageError unless `min_requests` is None or a count of at least 1."""
    if min_requests is not None:
        require_integer("min_requests", min_requests, 1)


def few_requests(columns: Iterable[tuple[str, Integers, int]], min_requests: int | None) -> pd.Series | None:
    """Return the names of the percentiles with too few requests, for each row.

    Parameters
    ----------
    columns : iterable of (str, array of int, int)
        Name of a column, the number of values of each row, and the percent.
    min_requests : int or None
        As the caller passed it. If it is None, no percentile is named.
    """
    if min_requests is None:
        return None
    marks = {name: (counts >= min_requests) & (counts < least_count(percent)) for name, counts, percent in columns}
    rows = np.stack([*marks.values()], axis=1)
    return pd.Series([", ".join(np.array([*marks])[is_few]) or None for is_few in rows], dtype="str")
