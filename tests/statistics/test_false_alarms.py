"""The usual range stays quiet on noise and finds a real rise, on a thousand simulated reports."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import Numbers, noisy_weeks, raise_day

from ledgerframes.statistics import usual_ranges

REPORTS, WEDNESDAY, SUNDAY = 1_000, 2, 6


@pytest.fixture(scope="module")
def worlds() -> Numbers:
    """Six weeks of history and the week of the report."""
    return noisy_weeks(REPORTS, 7, seed=20_261_122)


def ranges_of(worlds: Numbers) -> list[usual_ranges.UsualRange]:
    return [usual_ranges.usual_range(weeks[:-1], weeks[-1], "1d") for weeks in worlds]


def test_at_most_1_in_20_weekly_reports_has_a_false_alarm(worlds: Numbers) -> None:
    results = ranges_of(worlds)
    assert all(result.reason == "" and not np.isnan(result.periods.upper).any() for result in results)
    flagged = sum(bool(result.periods.is_above.any() or result.weeks.is_above.any()) for result in results)
    assert 1 <= flagged <= 50


@pytest.mark.parametrize(("factor", "found"), [(1.5, {WEDNESDAY: 980, SUNDAY: 930}), (1.3, {WEDNESDAY: 810, SUNDAY: 540})])
def test_a_raised_day_is_found(worlds: Numbers, factor: float, found: dict[int, int]) -> None:
    for day in found:
        worlds = raise_day(worlds, day, factor, seed=7)
    results = ranges_of(worlds)  # days of the report do not count for limits, so one can be raised beside another
    for day, at_least in found.items():
        assert sum(bool(result.periods.is_above[day]) for result in results) >= at_least


def test_within_the_window_hardly_any_week_has_a_false_alarm(worlds: Numbers) -> None:
    flagged = sum(bool(usual_ranges.within_window(weeks[-1]).periods.is_above.any()) for weeks in worlds)
    assert flagged <= 30


def test_the_median_absolute_deviation_of_the_own_points_would_not_do(worlds: Numbers) -> None:
    """The limits that the usual range replaces: median ± 3 deviations of the report's own days."""
    shares = worlds[:, -1, :, 0] / worlds[:, -1, :, 1]
    center = np.median(shares, axis=1, keepdims=True)
    deviation = np.median(np.abs(shares - center), axis=1, keepdims=True)
    assert (np.abs(shares - center) > 3 * deviation).any(axis=1).sum() > 400


def test_the_order_of_the_slots_and_an_empty_day_do_not_matter(worlds: Numbers) -> None:
    weeks = worlds[0].copy()
    weeks[2, 4] = 0  # no request on one day of the history
    found = usual_ranges.usual_range(weeks[:-1], weeks[-1], "1d")
    assert found.degrees == 7 * 6 - 1 - 7
    assert found.periods.reasons == ("",) * 7
    later = usual_ranges.usual_range(weeks[:-1], weeks[-1][3:], "1d", start=3)
    assert np.allclose(later.periods.center, found.periods.center[3:])
    assert len(later.weeks.upper) == 0
