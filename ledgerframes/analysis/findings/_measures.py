"""The measures that findings compare, each with its subjects and the call that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ledgerframes.analysis.finding_names import (
    COST,
    EARLY,
    LATENCY,
    NEGATIVE,
    RECORDS,
    REJECTIONS,
    REQUESTS,
    UNKNOWN,
    WASTE,
    WEIGHT,
)
from ledgerframes.analysis.findings._comparisons import (
    Comparison,
    compare_counts,
    compare_medians,
    compare_rates,
    ratio_of,
)
from ledgerframes.analysis.findings._weeks import Subjects
from ledgerframes.analysis.groups import Flags, Rates


@dataclass(frozen=True)
class Measure:
    """A measure of subjects that findings compare with the weeks before.

    Attributes
    ----------
    name : str
        Value of the column ``what``.
    unit : str
        Unit of its values.
    subjects : tuple of str
        The kinds of subjects that have it.
    call : str
        The call that shows it, over ``{frames}`` and with further arguments ``{by}``.
    compare : callable
        Compares it for subjects, of which some flags say whether their time is covered.
    """

    name: str
    unit: str
    subjects: tuple[str, ...]
    call: str
    compare: Callable[[Subjects, Flags], Comparison]


# -- rates --------------------------------------------------------------------------------------------------------------


def _compare_waste(subjects: Subjects, is_covered: Flags) -> Comparison:
    """Compare the wasted share, which counts as often as there are requests with a cost."""
    trials = np.where((subjects["cost"] > 0) & (subjects["decided"] > 0), subjects["known"], 0)
    wasted = ratio_of(subjects["wasted_cost"], subjects["cost"], 0) * trials
    return compare_rates(wasted, trials, subjects["cost"][:, 0])


def _compare_rejections(subjects: Subjects, is_covered: Flags) -> Comparison:
    cost = ratio_of(subjects["wasted_cost"], subjects["rejected_known"])[:, 0]
    return compare_rates(subjects["rejected"], subjects["decided"], subjects["decided"][:, 0] * cost)


def _compare_unknown_costs(subjects: Subjects, is_covered: Flags) -> Comparison:
    unknown = subjects["requests"] - subjects["known"]
    return compare_rates(unknown, subjects["requests"], np.full(len(subjects), np.nan))


# -- sums ---------------------------------------------------------------------------------------------------------------


def _compare_weights(subjects: Subjects, is_covered: Flags) -> Comparison:
    return compare_counts(subjects, "weight", is_covered, units=_unit(subjects))


def _unit(subjects: Subjects) -> Rates:
    """Return the unit of a sum of weights, by which the sum counts as a number of units."""
    weights, squares = (subjects[name].sum(axis=1) for name in ("weight", "weight_square"))
    return np.where(weights > 0, ratio_of(squares, weights, 1), 1)


# -- all measures -------------------------------------------------------------------------------------------------------

# Rejected requests show no kind, so a kind has no rejections.
OF_REJECTED = ("day", "hour", "participant", "party")
OF_REQUESTS = (*OF_REJECTED, "kind")
PROVIDER, DATA = ("app provider",), ("data",)
WEIGHTS, PROBLEMS = 'lf.activity.weights({frames}, every="1d")', "lf.cost.invalid_values({frames})"
SPEND = "lf.cost.spend({frames}{by})"
MEASURES = (
    Measure(
        REQUESTS,
        "requests",
        OF_REQUESTS,
        SPEND,
        lambda subjects, is_covered: compare_counts(subjects, "requests", is_covered, has_cost=True),
    ),
    Measure(COST, "bytes", OF_REQUESTS, SPEND, lambda subjects, _: compare_medians(subjects, "cost", has_effect=True)),
    Measure(WASTE, "share of 1", OF_REJECTED, "lf.cost.wasted({frames}{by})", _compare_waste),
    Measure(REJECTIONS, "share of 1", OF_REJECTED, "lf.verdict.outcomes({frames}{by})", _compare_rejections),
    Measure(
        LATENCY,
        "microseconds",
        (*OF_REQUESTS, "confirming party"),
        "lf.verdict.latency({frames}{by})",
        lambda subjects, _: compare_medians(subjects, "latency", has_effect=False),
    ),
    Measure(WEIGHT, "weighted bytes", PROVIDER, WEIGHTS, _compare_weights),
    Measure(
        RECORDS,
        "requests",
        PROVIDER,
        WEIGHTS,
        lambda subjects, is_covered: compare_counts(subjects, "records", is_covered),
    ),
    Measure(
        NEGATIVE,
        "requests",
        DATA,
        PROBLEMS,
        lambda subjects, is_covered: compare_counts(subjects, "negative_costs", is_covered, only_rises=True),
    ),
    Measure(
        EARLY,
        "requests",
        DATA,
        PROBLEMS,
        lambda subjects, is_covered: compare_counts(subjects, "early_verdicts", is_covered, only_rises=True),
    ),
    Measure(UNKNOWN, "share of 1", DATA, 'lf.cost.spend({frames}, every="1d")', _compare_unknown_costs),
)
NAMES = tuple(measure.name for measure in MEASURES)
