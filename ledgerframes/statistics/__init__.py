"""Intervals, usual ranges, comparisons, estimates, concentration and runways.

The functions know nothing of frames: they take counts, costs and latencies, and return figures with intervals, or say why there
is none. No result depends on the order of rows or on a random number. Intervals are two-sided at 95 %. The submodule
:mod:`printing <ledgerframes.statistics.printing>` writes the figures as text.
"""

from __future__ import annotations

from ledgerframes.statistics import printing
from ledgerframes.statistics.comparisons import (
    ShrunkRates,
    benjamini_hochberg,
    compare_groups,
    funnel_limits,
    group_against_rest,
    holm,
    shrink,
)
from ledgerframes.statistics.concentrations import Concentration, TopMembers, concentration, lorenz, top
from ledgerframes.statistics.decompositions import Decomposition, decompose
from ledgerframes.statistics.differences import PercentileDifference, difference_of_percentiles
from ledgerframes.statistics.estimates import Estimate, Stratum, estimate
from ledgerframes.statistics.percentiles import Percentile, ecdf, ecdf_band, least_count, percentile, percentile_ranks
from ledgerframes.statistics.rates import Difference, Interval, design_effect, difference_of_rates, wilson
from ledgerframes.statistics.runways import Runway, TopUp, balances, runway, safe_interval, silent_hours
from ledgerframes.statistics.usual_ranges import Limits, UsualRange, usual_range, usual_sum, within_window

__all__ = [
    "Concentration",
    "Decomposition",
    "Difference",
    "Estimate",
    "Interval",
    "Limits",
    "Percentile",
    "PercentileDifference",
    "Runway",
    "ShrunkRates",
    "Stratum",
    "TopMembers",
    "TopUp",
    "UsualRange",
    "balances",
    "benjamini_hochberg",
    "compare_groups",
    "concentration",
    "decompose",
    "design_effect",
    "difference_of_percentiles",
    "difference_of_rates",
    "ecdf",
    "ecdf_band",
    "estimate",
    "funnel_limits",
    "group_against_rest",
    "holm",
    "least_count",
    "lorenz",
    "percentile",
    "percentile_ranks",
    "printing",
    "runway",
    "safe_interval",
    "shrink",
    "silent_hours",
    "top",
    "usual_range",
    "usual_sum",
    "wilson",
    "within_window",
]


def __dir__() -> list[str]:
    return __all__
