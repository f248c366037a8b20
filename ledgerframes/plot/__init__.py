"""Plots: tidy DataFrame -> matplotlib Axes.

Each function draws what the analysis of the same name returns, on `ax` or on new axes, and returns the axes; none of them calls
``show()``. matplotlib is imported when something is drawn, not before. Our style holds only for our own drawing.
"""

from __future__ import annotations

from ledgerframes.plot._costs import (
    anatomy,
    cost_by_participant,
    cost_by_template,
    cost_by_view,
    cost_over_time,
    overhead,
    wasted,
)
from ledgerframes.plot._verdicts import latency, latency_distribution, outcomes, quorums, rejections

__all__ = [
    "anatomy",
    "cost_by_participant",
    "cost_by_template",
    "cost_by_view",
    "cost_over_time",
    "latency",
    "latency_distribution",
    "outcomes",
    "overhead",
    "quorums",
    "rejections",
    "wasted",
]
