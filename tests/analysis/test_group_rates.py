"""Rejection rates of groups against the rest."""

from __future__ import annotations

import numpy as np
import pytest

from ledgerframes.analysis.verdict import _outcomes as rates


def counts_of(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Hits and trials of groups."""
    hits, trials = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return hits, trials


def test_a_group_against_the_rest() -> None:
    """30 of 100 against 40 of 300, with the intervals of Wilson and Newcombe."""
    values = rates.rate_values(*counts_of([(30, 100), (40, 300)]))
    assert values["rejection_rate"].tolist() == [0.3, 40 / 300]
    assert np.round([values["low"][0], values["high"][0]], 4).tolist() == [0.2189, 0.3958]
    ends = [values[name][0] for name in ("difference", "difference_low", "difference_high")]
    assert np.round(ends, 4).tolist() == [0.1667, 0.0749, 0.2683]
    assert values["differs"].tolist() == [True, True]


def test_small_and_equal_groups() -> None:
    values = rates.rate_values(*counts_of([(2, 20), (40, 300), (41, 300)]))
    assert values["reason"].tolist() == ["too few requests", "", ""]
    assert values["differs"].isna().tolist() == [True, False, False]


def test_a_small_difference_is_not_told_apart() -> None:
    """2 of 20 against 40 of 300."""
    values = rates.rate_values(*counts_of([(2, 20), (40, 300)]))
    ends = [values[name][0] for name in ("difference", "difference_low", "difference_high")]
    assert np.round(ends, 4).tolist() == [-0.0333, -0.1174, 0.1705]
    assert values["differs"].isna().all()


def test_clusters_widen_intervals() -> None:
    arguments = counts_of([(30, 100), (40, 300)])
    plain, wide = rates.rate_values(*arguments), rates.rate_values(*arguments, effect=3.0)
    assert (wide["low"] < plain["low"]).all()
    assert (wide["p_holm"] > plain["p_holm"]).all()


def test_no_requests() -> None:
    values = rates.rate_values(*counts_of([]))
    assert {len(column) for column in values.values()} == {0}
    empty = rates.rate_values(*counts_of([(0, 0)]))
    assert np.isnan(empty["rejection_rate"]).all()


def test_the_effect_of_clusters_counts_hours_of_a_participant(build, event) -> None:
    """Participant a: 0 of 5, 4 of 5 and 1 of 5 in its hours. The others have one cluster each, or a rate of 0."""
    clusters = [("a", 0, 0, 5), ("a", 1, 4, 5), ("a", 2, 1, 5), ("b", 0, 3, 9), ("c", 0, 0, 4), ("c", 1, 0, 3)]
    events = [
        event(f"{name}-{hour}-{number}", hour + number / 60, result="REJECTED" if number < hits else "ACCEPTED", participant=name)
        for name, hour, hits, trials in clusters
        for number in range(trials)
    ]
    others = [event("odd", 1, result="UNSPECIFIED", participant="a"), event("old", 1, result=None)]
    p = 5 / 15
    expected = ((0 - 5 * p) ** 2 + (4 - 5 * p) ** 2 + (1 - 5 * p) ** 2) / (3 * 5 * p * (1 - p) * (1 - 5 / 15))
    assert rates.cluster_effect(build([*events, *others])) == pytest.approx(expected)
    single = [each for each in events if each.participant == "b"]
    assert rates.cluster_effect(build(single)) is None
    assert rates.cluster_effect(build([])) is None
