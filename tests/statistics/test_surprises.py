"""Scores of weeks against the weeks before: exact where it can be, monotone, and wide where weeks differ."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ledgerframes.statistics.comparisons import group_against_rest
from ledgerframes.statistics.surprises import count_scores, largest_p, rank_scores, rate_scores, surprises, t_tail


def test_a_count_is_binomial_given_the_total() -> None:
    (scores,) = count_scores([[14, 2, 3, 1, 2, 3, 1]])
    total, chance = 26, 1 / 7
    tail = sum(math.comb(total, k) * chance**k * (1 - chance) ** (total - k) for k in range(14, total + 1))
    assert math.erfc(scores[0] / math.sqrt(2)) / 2 == pytest.approx(tail, rel=1e-9)


def test_a_week_of_nothing_is_a_fall_and_a_first_one_a_rise() -> None:
    scores = count_scores([[0, 40, 40, 40, 40], [9, 0, 0, 0, 0], [0, 0, 0, 0, 0]])[:, 0]
    assert scores[0] < -5
    assert scores[1] > 4
    assert scores[2] == 0


def test_more_hits_never_count_for_less() -> None:
    hits = np.arange(0, 1001)
    scores, _ = group_against_rest(hits, np.full(1001, 1000), hits + 5, np.full(1001, 7000))
    judged = scores[~np.isnan(scores)]
    assert len(judged) > 900
    assert (np.diff(judged) >= -1e-9).all()
    assert judged[-1] > 5


def test_ranks_do_not_see_how_far_a_value_is() -> None:
    near, far = np.zeros((1, 7, 50)), np.zeros((1, 7, 50))
    near[:, :, 10] = far[:, :, 10] = 10
    near[:, 0, 11] = far[:, 0, 49] = 3
    assert rank_scores(near)[0, 0] == rank_scores(far)[0, 0] > 0
    assert np.isnan(rank_scores(near[:, :, :1])).all()


def test_weeks_that_differ_widen_what_is_usual() -> None:
    steady = surprises(count_scores([[160, 100, 101, 99, 100, 102, 98]] * 10))
    swinging = surprises(count_scores([[160, 60, 150, 90, 130, 70, 140]] * 10))
    assert (steady.p < 1e-4).all()
    assert (swinging.p > 0.01).all()
    assert (steady.dispersion == 1).all()
    assert (swinging.width > 2 * steady.width).all()


def test_a_fall_is_no_surprise_where_only_rises_count() -> None:
    scores = rate_scores([[0, 20, 20, 20, 20]], [[100] * 5])
    assert surprises(scores).p[0] < 0.001
    assert surprises(scores, only_rises=True).p[0] > 0.99


def test_the_first_hits_ever_are_judged() -> None:
    scores = rate_scores([[30, 0, 0, 0, 0], [0, 0, 0, 0, 0]], [[200] * 5] * 2)
    assert scores[0, 0] > 4
    assert (scores[0, 1:] == 0).all()
    assert surprises(scores).p[0] < 0.001
    assert np.isnan(surprises(scores).p[1])


def test_nothing_is_judged_without_weeks() -> None:
    assert np.isnan(surprises(np.full((3, 5), np.nan)).p).all()


def test_p_values_of_independent_counts_are_honest() -> None:
    draw = np.random.default_rng(3)
    p = surprises(count_scores(draw.poisson(30, (4_000, 7)))).p
    for level in (0.05, 0.01, 0.001):
        assert (p <= level).mean() <= 1.3 * level


def test_p_values_of_swinging_counts_are_honest() -> None:
    draw = np.random.default_rng(4)
    p = surprises(count_scores(draw.poisson(draw.gamma(8, 50 / 8, (4_000, 7))))).p
    for level in (0.05, 0.01, 0.001):
        assert (p <= level).mean() <= 1.5 * level


def test_the_tail_of_student_is_that_of_its_definition() -> None:
    assert t_tail(np.array([2.228138851986274, -2.228138851986274]), np.array([10.0, 10.0])).tolist() == pytest.approx(
        [0.025, 0.975]
    )


def test_the_largest_of_more_values_surprises_less() -> None:
    one, many = largest_p(
        np.array([3.0, 3.0]), np.array([1, 100]), np.array([20, 20]), np.array([200, 200]), np.array([0.2, 0.2])
    )
    assert 0 < one < many <= 100 * one
