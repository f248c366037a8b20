"""Intervals, usual ranges, comparisons, concentration and runways, for the analyses.

The functions know nothing about frames: they take counts, costs and latencies, and return figures with intervals, or the reason
why there is none. No result depends on the order of rows or on random numbers. Intervals are two-sided at 95 %.
"""

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"module 'ledgerframes.statistics' has no attribute {name!r}, and is private."
        " lf.cost and lf.verdict have its results, and lf.TopUp is an argument of lf.cost.runway."
    )
