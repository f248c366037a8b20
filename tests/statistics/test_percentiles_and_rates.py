"""Percentiles, rates and groups: edges, refusals, and properties that do not depend on the reference values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import ledgerframes as lf
from ledgerframes.statistics import comparisons, differences, distributions, percentiles, rates


def binomial_cdf(k: int, n: int, q: Fraction) -> Fraction:
    return sum((math.comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(k + 1)), start=Fraction(0))


@settings(max_examples=40)
@given(some.integers(1, 90), some.sampled_from(["25", "50", "90", "95", "99.9"]))
def test_ranks_are_those_of_exact_fractions(n: int, percent: str) -> None:
    q, tail = Fraction(percent) / 100, Fraction(25, 1000)
    below = [binomial_cdf(rank - 1, n, q) for rank in range(1, n + 1)]
    low = max((rank for rank, share in enumerate(below, 1) if share <= tail), default=None)
    high = min((rank for rank, share in enumerate(below, 1) if share >= 1 - tail), default=None)
    assert percentiles.percentile_ranks(n, percent) == (low, high)


@pytest.mark.parametrize(("percent", "least"), [(50, 6), (90, 36), ("95", 72), (99, 368), (99.9, 3688), (10, 36)])
def test_the_least_count_of_a_percentile(percent: percentiles.Percent, least: int) -> None:
    assert percentiles.least_count(percent) == least
    assert percentiles.percentile(range(least - 1), percent) == percentiles.Percentile(None, None, None, least - 1, "too few")
    assert percentiles.percentile(range(least), percent).reason == ""


@pytest.mark.parametrize("percent", [0, 100])
def test_no_count_supports_the_least_or_the_largest_value(percent: percentiles.Percent) -> None:
    values = range(1_000)
    assert (
        percentiles.percentile(values, percent).reason
        == differences.difference_of_percentiles(values, values, percent).reason
        == "too few"
    )


def test_the_median_of_an_even_count_is_the_lower_middle_value_in_any_order() -> None:
    values = [9, 2, 7, 4, 1, 8]
    assert percentiles.percentile(values, 50) == percentiles.percentile(sorted(values), 50) == percentiles.Percentile(4, 1, 9, 6)


def test_equal_values_have_an_interval_of_one_value() -> None:
    assert percentiles.percentile([5] * 400, 99) == percentiles.Percentile(5, 5, 5, 400)


def test_clusters_widen_the_ranks() -> None:
    assert percentiles.percentile_ranks(86, 50) == (34, 53)
    assert percentiles.percentile_ranks(86, 50, design_effect=4) == (43 - 2 * 9, 43 + 2 * 10)
    assert percentiles.percentile_ranks(86, 95, design_effect=4) == (82 - 2 * 5, None)
    assert percentiles.percentile_ranks(6, 50, design_effect=4) == (None, None)
    assert percentiles.percentile_ranks(86, 50, design_effect=0.5) == (34, 53)


@pytest.mark.parametrize("percent", [-1, 101, "most", "nan"])
def test_an_unknown_percentile_is_refused(percent: percentiles.Percent) -> None:
    with pytest.raises(lf.UsageError, match="percent= must be between 0 and 100, got"):
        percentiles.percentile([1, 2, 3], percent)


@pytest.mark.parametrize(
    ("count", "min_count", "ranks"),
    [
        (6, None, (3, 1, 6)),
        (5, None, (None, None, None)),
        (5, 5, (3, None, None)),
        (6, 6, (3, 1, 6)),
        (6, 7, (None, None, None)),
        (0, 1, (None, None, None)),
    ],
)
def test_ranks_that_a_count_supports(count: int, min_count: int | None, ranks: tuple[int | None, ...]) -> None:
    assert percentiles.supported_ranks(count, 50, min_count=min_count) == percentiles.Ranks(*ranks)


def test_a_long_empirical_distribution_keeps_its_last_steps() -> None:
    curve = percentiles.ecdf(range(5_000), 10_000)
    assert curve["value"].tolist()[-50:] == list(range(4_950, 5_000))
    assert curve["share"].iloc[-1] == 0.5
    assert 1_000 <= len(curve) <= 1_050
    assert curve["value"].is_monotonic_increasing
    with pytest.raises(lf.UsageError, match="total= must be at least the number of values, 3, got 2"):
        percentiles.ecdf([1, 2, 3], 2)


# -- rates and groups -----------------------------------------------------------------------------------------------------


@given(some.integers(0, 10**6), some.integers(0, 10**6))
def test_a_wilson_interval_contains_its_rate_and_mirrors(first: int, second: int) -> None:
    hits, trials = sorted((first, second))
    low, high = rates.wilson(hits, trials)
    if trials == 0:
        assert np.isnan([low, high]).all()
        return
    assert 0 <= low <= hits / trials <= high <= 1
    mirrored = rates.wilson(trials - hits, trials)
    assert np.allclose([low, high], [1 - mirrored.high, 1 - mirrored.low], atol=1e-12)


def test_rates_are_vectorized() -> None:
    low, high = rates.wilson([0, 14, 0], [10, 100, 0])
    assert np.allclose(low[:2], [0, 0.0852634366])
    assert np.isnan(low[2])
    assert np.isnan(high[2])
    change = rates.difference_of_rates(([48, 0], [80, 0]), ([56, 1], [70, 2]))
    assert np.isnan(change.difference[1])
    assert np.allclose(change.low[0], 0.0524314724)


@pytest.mark.parametrize(("hits", "trials"), [(3, 2), (-1, 2), ([1, 5], [2, 4])])
def test_impossible_rates_are_refused(hits: object, trials: object) -> None:
    with pytest.raises(lf.UsageError, match="hits= must be between 0 and trials="):
        rates.wilson(hits, trials)


def test_equal_groups_of_different_size_are_rarely_told_apart() -> None:
    """As many reports name a group as the level allows, with a small margin for 400 trials."""
    rng = np.random.default_rng(15)
    sizes = np.geomspace(56, 4_868, 30).astype(int)
    named = sum(bool(comparisons.compare_groups(rng.binomial(sizes, 0.12), sizes)["differs"].any()) for _ in range(400))
    assert named <= 32  # 5% of 400 plus 2.75 standard deviations
    raised = np.where(np.arange(30) == 20, 0.18, 0.12)
    found = sum(bool(comparisons.compare_groups(rng.binomial(sizes, raised), sizes)["differs"][20]) for _ in range(200))
    assert found >= 150


def test_groups_without_enough_requests_are_not_judged() -> None:
    groups = comparisons.compare_groups([0, 120, 60, 0], [20, 1000, 1000, 0])
    assert groups["reason"].tolist() == ["too few requests", "", "", "too few requests"]
    assert groups["differs"].isna().tolist() == [True, False, False, True]
    assert groups["holm"].isna().tolist() == [True, False, False, True]
    assert groups["score"][1] > 0 > groups["score"][2]
    assert comparisons.compare_groups([], []).empty
    assert comparisons.compare_groups([5], [50])["reason"].tolist() == ["too few requests"]


@given(some.lists(some.floats(0, 1), max_size=20))
def test_with_one_group_holm_by_group_is_holm(p_values: list[float]) -> None:
    by_group = comparisons.holm_by_group([*p_values, float("nan")], ["days"] * (len(p_values) + 1))
    assert np.allclose(by_group[:-1], comparisons.holm(p_values), rtol=1e-12)
    assert np.isnan(by_group[-1])


def test_a_group_of_few_is_not_lost_beside_one_of_many() -> None:
    values, groups = [0.004, *[0.5] * 999], ["days", *["hours"] * 999]
    assert comparisons.holm(values)[0] == 1
    assert comparisons.holm_by_group(values, groups)[0] == pytest.approx(0.008)


def test_the_level_holds_by_group() -> None:
    draw = np.random.default_rng(1)
    groups = np.repeat([0, 1, 2], [5, 50, 500])
    false = sum((comparisons.holm_by_group(draw.random(len(groups)), groups) <= 0.05).any() for _ in range(2_000))
    assert false <= 0.05 * 2_000 + 3 * (0.05 * 0.95 * 2_000) ** 0.5


@given(some.lists(some.floats(0, 1), max_size=20))
def test_adjusted_p_values_keep_the_order_and_ignore_missing_ones(p_values: list[float]) -> None:
    by_holm, by_rate = comparisons.holm(p_values), comparisons.benjamini_hochberg(p_values)
    assert np.all(by_holm >= np.asarray(p_values) - 1e-15)
    assert np.all(by_rate <= by_holm + 1e-12)
    with_missing = comparisons.holm([*p_values, float("nan")])
    assert np.array_equal(with_missing[:-1], by_holm)
    assert np.isnan(with_missing[-1])


# -- differences of percentiles -------------------------------------------------------------------------------------------


def test_the_exact_bootstrap_is_the_limit_of_a_random_one() -> None:
    rng = np.random.default_rng(4)
    before, after = rng.lognormal(8, 0.5, 40).astype(int), rng.lognormal(8.1, 0.5, 35).astype(int)
    resampled = [np.sort(rng.choice(side, (100_000, len(side))), axis=1) for side in (before, after)]
    medians = [rows[:, percentiles.nearest_rank(rows.shape[1], 50) - 1] for rows in resampled]
    simulated = np.sort(medians[1] - medians[0])
    found = differences.difference_of_percentiles(before, after, 50)
    reached = [np.searchsorted(simulated, end, side="right") / len(simulated) for end in (found.low, found.high)]
    assert reached[0] == pytest.approx(0.025, abs=0.003)
    assert reached[1] == pytest.approx(0.975, abs=0.003)


def test_a_large_sample_has_a_narrow_window_of_weights_that_add_up() -> None:
    values, weights = differences._bootstrap_weights(np.arange(100_000), 50)
    assert len(values) < 5_000
    assert weights.sum() == pytest.approx(1, abs=1e-8)
    found = differences.difference_of_percentiles(range(100_000), range(7, 100_007), 50)
    assert found.difference == 7
    assert found.low is not None
    assert found.high is not None
    assert -900 < found.low < 7 < found.high < 900


def test_values_too_far_apart_are_refused() -> None:
    with pytest.raises(lf.UsageError, match=r"must span less than 2\*\*62"):
        differences.difference_of_percentiles([0] * 30, [2**62] * 30, 50)


# -- distributions --------------------------------------------------------------------------------------------------------


def test_the_beta_function_at_its_ends_and_as_arrays() -> None:
    assert distributions.beta_regularized([0, 0.5, 1], 2, 2).tolist() == [0, 0.5, 1]
    assert distributions.beta_regularized(0.3, 1, 1) == pytest.approx(0.3)
    assert distributions.binomial_cdf([-1, 0, 5, 9], 5, 0.5).tolist() == pytest.approx([0, 1 / 32, 1, 1])
    assert distributions.two_sided_p(distributions.Z95) == pytest.approx(0.05)


@given(k=some.integers(0, 30), mean=some.floats(0.01, 40))
def test_a_poisson_tail_is_a_sum(k: int, mean: float) -> None:
    below = math.fsum(math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in range(k))
    assert distributions.poisson_tail(k, mean) == pytest.approx(1 - below, abs=1e-9)
