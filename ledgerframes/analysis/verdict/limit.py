"""The limit after which the mediator gives up, and whether it applies to this network.

A verdict has no reason. Result and latency together distinguish a timeout from a decision if the limit is the usual one of 30
s.
"""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis._grouped import Grouped
from ledgerframes.analysis.measures import IS_REJECTED_IN_TIME, IS_TIMEOUT, Count, Measure
from ledgerframes.engine.requests import NEAR_TIMEOUT

DOUBTFUL_LIMIT = "the limit of this network may not be 30 s"
REJECT_KINDS = ("contention", "timeout")
IS_SUSPECT = f"{IS_REJECTED_IN_TIME} AND latency >= {NEAR_TIMEOUT:_}"
LIMIT_COUNTS = f"""\
count(*) FILTER (WHERE {IS_SUSPECT}) AS requests_below_limit,
    count(*) FILTER (WHERE {IS_TIMEOUT}) AS requests_from_limit_on"""
# A request that is in several rows, one for each party, counts once.
LIMIT_EVIDENCE: dict[str, Measure] = {
    "requests_below_limit": Count(where=f"is_first AND {IS_SUSPECT}"),
    "requests_from_limit_on": Count(where=f"is_first AND {IS_TIMEOUT}"),
}


def is_limit_doubtful(overall: pd.Series) -> bool:
    """Return whether more rejections lie just below the limit than from it on."""
    return int(overall["requests_below_limit"]) > int(overall["requests_from_limit_on"])


def known_timeouts(grouped: Grouped) -> pd.Series:
    """Return the counts of timeouts, which are missing if the limit is doubtful."""
    counts = grouped.values["timeouts"].astype("Int64")
    return counts.mask(pd.Series(is_limit_doubtful(grouped.overall), counts.index))
