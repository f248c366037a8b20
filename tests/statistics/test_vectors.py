"""Every function of the statistics on reference values that other code computed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ledgerframes.statistics import (
    comparisons,
    concentrations,
    decompositions,
    differences,
    distributions,
    estimates,
    percentiles,
    printing,
    rates,
    runways,
    usual_ranges,
)
from ledgerframes.statistics.usual_ranges import Limits, UsualRange

CASES = {
    case["id"]: case for case in json.loads((Path(__file__).parents[1] / "data" / "statistics_vectors.json").read_text())["cases"]
}
LATENCIES = CASES["nearest_rank-1"]["input"]["values"]


def or_none(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def rows_of(limits: Limits) -> list[list[Any]]:
    frame = limits.to_frame()
    return [
        [or_none(center), or_none(upper), None if np.isnan(upper) else bool(above)]
        for center, upper, above in zip(frame["center"], frame["upper"], limits.is_above, strict=True)
    ]


def usual_range(every: str, history: Any, periods: Any) -> Any:
    if isinstance(history, str):
        return usual_hours()
    past = history
    assert [position for position, *_ in periods] == list(range(len(periods)))
    return described(usual_ranges.usual_range(past, [pair for _, *pair in periods], every))


def described(result: UsualRange) -> Any:
    if result.reason:
        return {"reason": result.reason}
    weeks = rows_of(result.weeks)
    return {
        "weeks": result.history_weeks,
        "dropped": result.omitted,
        "phi": result.dispersion,
        "df": result.degrees,
        "c": result.factor,
        "rows": rows_of(result.periods),
        "week": weeks[0] if weeks else None,
    }


def usual_hours() -> Any:
    def week(w: int) -> list[list[int]]:
        return [[n * (3 + (w + i // 24 + i) % 3) // 25, n] for i in range(168) for n in [100 + 10 * (i % 24)]]

    report = week(9)
    report[60][0] *= 3
    report[61][0] += 8
    found = described(usual_ranges.usual_range([week(w) for w in range(4)], report, "1h"))
    rows = found.pop("rows")
    return found | {f"row_{i}": rows[i] for i in (60, 61, 150)} | {"above": [i for i, row in enumerate(rows) if row[2]]}


def within_window(periods: Any) -> Any:
    found = usual_ranges.within_window(periods)
    return {"reason": found.reason} if found.reason else {"c": found.factor, "rows": rows_of(found.periods)}


def percentile_ranks(n: int, percentile: float, confidence: float) -> Any:
    low, high = percentiles.percentile_ranks(n, percentile, confidence=confidence)
    is_printed = n > 0 and percentiles.percentile(range(n), percentile).reason == ""
    return {"low_rank": low, "high_rank": high, "printed": is_printed}


def nearest_rank(values: list[int], percent: str) -> int | None:
    return sorted(values)[percentiles.nearest_rank(len(values), percent) - 1] if values else None


def latency_interval(values: str, percentile: float) -> Any:
    assert values == "the latencies of nearest_rank-1"
    found = percentiles.percentile(LATENCIES, percentile)
    return {"value": found.value, "low": found.low, "high": found.high}


def wilson(hits: int, trials: int, design_effect: float = 1.0) -> Any:
    return [or_none(end) for end in rates.wilson(hits, trials, design_effect=design_effect)]


def group_against_rest(**arguments: Any) -> Any:
    score, p_value = comparisons.group_against_rest(**arguments)
    return {"z": or_none(score), "p": or_none(p_value)}


def difference_of_percentiles(before: list[int], after: list[int], percentile: int) -> Any:
    found = differences.difference_of_percentiles(before, after, percentile)
    return found.reason or {"difference": found.difference, "low": found.low, "high": found.high}


def decompose(before: Any, after: Any) -> Any:
    found = decompositions.decompose(before, after)
    names = {"volume": "volume", "price": "price", "mix": "mix", "new": "new", "gone": "removed", "change": "change"}
    return {name: getattr(found, field) for name, field in names.items()}


def estimate(strata: Any) -> int | None:
    return estimates.estimated_total(estimates.Stratum(count, len(costs), sum(costs)) for count, costs in strata)


def concentration(values: list[int]) -> Any:
    found = concentrations.concentration(values)
    return {"gini": found.gini, "hhi": found.hhi}


def top(values: list[int], n: int) -> Any:
    found = concentrations.top(values, n)
    return found and {"count": found.count, "share": found.share}


WEEKS = [
    [math.floor(Fraction((100 if h < 12 else 200) * (2 if d < 5 else 1)) * factor) for d in range(7) for h in range(24)]
    for factor in map(Fraction, ("1.0", "1.1", "0.9", "1.05", "0.95"))
]
MEAN_WEEK = [Fraction(sum(hours), 5) for hours in zip(*WEEKS, strict=True)]


def runway(history: str, start_slot: int, balance: int, free_per_hour: int) -> Any:
    weeks = WEEKS[:3] if "first three" in history else WEEKS
    found = runways.runway(weeks, balance, start=start_slot, free_per_hour=free_per_hour)
    if found.reason:
        return {"reason": found.reason}
    return {"factor": found.factor, "high": found.high, "middle": found.middle, "low": found.low}


def safe_interval(hourly: str, amount: int, high: float, free_per_hour: int) -> int:
    assert hourly == "mean of the five weeks above"
    return runways.safe_interval(MEAN_WEEK, amount, factor=high, free_per_hour=free_per_hour)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "at_least": printing.at_least,
    "benjamini_hochberg": lambda p: comparisons.benjamini_hochberg(p).tolist(),
    "binomial_cdf": lambda k, n, q: float(distributions.binomial_cdf(k, n, q)),
    "concentration": concentration,
    "decompose": decompose,
    "design_effect": lambda clusters: rates.design_effect(*zip(*clusters, strict=True)),
    "difference_of_percentiles": difference_of_percentiles,
    "difference_of_rates": lambda first, second, meaning: [float(each) for each in rates.difference_of_rates(first, second)],
    "ecdf": lambda decided, all_requests: percentiles.ecdf(decided, all_requests).to_numpy().tolist(),
    "estimate": estimate,
    "group_against_rest": group_against_rest,
    "holm": lambda p: comparisons.holm(p).tolist(),
    "latency_interval": latency_interval,
    "lorenz": lambda values: concentrations.lorenz(values).to_numpy().tolist(),
    "nearest_rank": nearest_rank,
    "percent": lambda part, whole, places: printing.percent(part, whole, places),
    "percentile_ranks": percentile_ranks,
    "runway": runway,
    "safe_interval": safe_interval,
    "shares_to_100": lambda values, places: [float(each) for each in printing.shares_to_100(values, places)],
    "t_quantile": lambda p, df: distributions.t_quantile(p, df),
    "top": top,
    "usual_range": usual_range,
    "wilson": wilson,
    "within_window": within_window,
}


def assert_equal(actual: Any, expected: Any, tolerance: Any) -> None:
    if isinstance(expected, dict):
        assert actual.keys() == expected.keys()
        for key in expected:
            assert_equal(actual[key], expected[key], tolerance)
    elif isinstance(expected, list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_equal(one, other, tolerance)
    elif isinstance(expected, float) and tolerance != "exact":
        assert actual is not None
        assert abs(actual - expected) <= tolerance * max(1.0, abs(expected))
    else:
        assert actual == expected
        assert isinstance(actual, bool) == isinstance(expected, bool)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case["function"] in FUNCTIONS])
def test_vector(name: str) -> None:
    case = CASES[name]
    assert_equal(FUNCTIONS[case["function"]](**case["input"]), case["expected"], case["tolerance"])


def test_every_vector_is_tested() -> None:
    """The classes of outcomes belong to the analyses, and are tested there."""
    assert {case["function"] for case in CASES.values()} == {*FUNCTIONS, "outcome_class"}
    assert len(CASES) > 120
