"""Usual ranges, decompositions, estimates, concentration and runways: edges and refusals, worked by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

import ledgerframes as lf
from ledgerframes.statistics import concentrations, decompositions, estimates, runways, usual_ranges

STEADY = [[[12, 100]] * 7] * 4


def test_more_series_in_a_report_have_wider_limits() -> None:
    one, two = (usual_ranges.usual_range(STEADY, [[12, 100]] * 7, "1d", series=series) for series in (1, 2))
    assert (two.periods.upper > one.periods.upper).all()
    assert two.weeks.upper[0] > one.weeks.upper[0]


def test_only_the_latest_six_weeks_count() -> None:
    wild = [[[90, 100]] * 7] * 3
    assert usual_ranges.usual_range(wild + STEADY + STEADY[:2], [[12, 100]], "1d").periods.center.tolist() == [0.12]


def test_a_history_with_many_outlying_periods_is_not_steady() -> None:
    weeks = np.array([[[500, 1_000]] * 7] * 6, dtype=float)
    weeks[0, :3, 0], weeks[1, 3:6, 0] = 950, 50  # 6 of 42, on both sides
    found = usual_ranges.usual_range(weeks, [[12, 100]], "1d")
    assert found.reason == "history is not steady"
    assert found.periods.reasons == ("history is not steady",)
    assert np.isnan(found.periods.upper).all()


def test_a_weekday_without_history_and_too_few_requests_have_no_limit() -> None:
    weeks = np.array(STEADY, dtype=float)
    weeks[:, 6] = 0
    found = usual_ranges.usual_range(weeks, [[0, 5]] + [[12, 100]] * 6, "1d")
    assert found.periods.reasons == ("too few requests", "", "", "", "", "", "no history of this period")
    assert found.periods.to_frame()["is_above"].isna().tolist() == [True, *[False] * 5, True]


def test_history_and_report_without_requests() -> None:
    nothing = np.zeros((4, 7, 2))
    found = usual_ranges.usual_range(nothing, nothing[0], "1d")
    assert set(found.periods.reasons) == {"no history of this period"}
    assert found.weeks.reasons == ("no history of this period",)
    assert usual_ranges.usual_range(STEADY, [], "1d").periods.to_frame().empty


def test_weeks_are_counted_from_the_first_day_of_the_report() -> None:
    found = usual_ranges.usual_range(STEADY, [[12, 100]] * 16, "1d", start=5)
    assert len(found.weeks.upper) == 2
    assert len(usual_ranges.usual_range(STEADY, [[12, 100]] * 13, "1d", start=1).weeks.upper) == 1
    assert len(usual_ranges.usual_range(STEADY, [[12, 100]] * 6, "1d").weeks.upper) == 0


def test_slots_of_hours() -> None:
    slots = usual_ranges.slot_of_positions("1h")
    assert slots[[0, 24, 119]].tolist() == [0, 0, 23]
    assert slots[[120, 144, 167]].tolist() == [24, 24, 47]


@pytest.mark.parametrize(
    ("history", "periods", "every", "message"),
    [
        (STEADY, [[1, 2]], "1w", "every= must be '1d' or '1h', got '1w'"),
        (STEADY, [[1, 2]], "1h", r"arrays of \(n x 168 x 2\), got shape \(4, 7, 2\)"),
        (STEADY, [1, 2], "1d", r"arrays of \(n x 2\), got shape \(2,\)"),
    ],
)
def test_wrong_shapes_are_refused(history: object, periods: object, every: str, message: str) -> None:
    with pytest.raises(lf.UsageError, match=message):
        usual_ranges.usual_range(history, periods, every)


def test_the_order_of_other_periods_does_not_matter_within_a_window() -> None:
    days = [[10, 100], [12, 110], [9, 90], [14, 120], [11, 100], [10, 95], [40, 100], [0, 0]]
    found, turned = usual_ranges.within_window(days), usual_ranges.within_window(days[::-1])
    assert np.array_equal(found.periods.upper, turned.periods.upper[::-1], equal_nan=True)
    assert found.periods.is_above.tolist() == [*[False] * 6, True, False]
    assert found.periods.reasons[-1] == "no requests"
    assert usual_ranges.within_window([[0, 100]] * 7).periods.reasons == ("none in the history",) * 7


# -- decomposition and estimate -------------------------------------------------------------------------------------------

TOTALS = some.dictionaries(some.sampled_from("ABCDE"), some.tuples(some.integers(0, 50), some.integers(0, 10**15)))


@given(TOTALS, TOTALS)
def test_the_parts_of_a_change_add_up(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> None:
    sums = [sum(bytes_ for count, bytes_ in side.values() if count) for side in (before, after)]
    assert decompositions.decompose(before, after).change == sums[1] - sums[0]


def test_a_thin_stratum_joins_those_of_its_result() -> None:
    accepted = [estimates.Stratum(20, 12, 1_200, "accepted"), estimates.Stratum(5, 3, 150, "accepted")]
    rejected = estimates.Stratum(30, 15, 150, "rejected")
    assert (
        estimates.estimated_total([*accepted, rejected]) == 25 * 1_350 // 15 + 300
    )  # 15 known of 25 accepted, 15 of 30 rejected


def test_no_estimate_without_enough_known_costs() -> None:
    assert (
        estimates.estimated_total([estimates.Stratum(20, 9, 63, "accepted"), estimates.Stratum(40, 40, 40, "rejected")]) is None
    )
    assert estimates.estimated_total([]) == 0


# -- concentration --------------------------------------------------------------------------------------------------------


def test_missing_members_are_counted_and_zeros_are_members() -> None:
    values = pd.Series([5, None, 0, 2**62], dtype="Int64", index=list("abcd"))
    found = concentrations.concentration(values)
    assert (found.members, found.zeros, found.missing, found.total) == (3, 1, 1, 2**62 + 5)
    assert found.gini == float(Fraction(2 * 2**62, 3 * (2**62 + 5)))
    assert concentrations.lorenz(values)["cumulative_share"].iloc[-1] == 1
    assert concentrations.lorenz([0, 0]).empty
    assert concentrations.concentration([0]).hhi is None
    assert concentrations.concentration([2, 2]).hhi == 1 / 2


def test_a_negative_value_is_refused_with_its_key() -> None:
    with pytest.raises(lf.UsageError, match="values= must be at least 0, got -3 for 'bob'"):
        concentrations.concentration({"alice": 1, "bob": -3})
    with pytest.raises(lf.UsageError, match="count= must be at least 1, got 0"):
        concentrations.top([1], 0)


@given(some.lists(some.integers(0, 10**6), min_size=1, max_size=40).filter(any))
def test_gini_is_twice_the_area_above_the_lorenz_curve(values: list[int]) -> None:
    curve = concentrations.lorenz(values)
    below = np.trapezoid(curve["cumulative_share"], curve["cumulative_members"])
    found = concentrations.concentration(values)
    assert found.gini == pytest.approx(1 - 2 * below, abs=1e-9)
    assert found.hhi is not None
    assert 1 / len(values) - 1e-12 <= found.hhi <= 1


# -- runway ---------------------------------------------------------------------------------------------------------------

FLAT = [[100] * 168] * 4


def test_purchases_extend_a_runway_for_ever() -> None:
    assert runways.runway(FLAT, 1_000).middle == 10
    assert runways.runway(FLAT, 1_000, top_up=runways.TopUp(below=500, amount=300)).middle is None
    # The rule buys at the end of an hour, which is too late for a balance of less than one hour.
    assert runways.runway(FLAT, 150, top_up=runways.TopUp(below=20, amount=10)).middle == 1


def test_purchases_are_whole() -> None:
    rule = runways.TopUp(below=500, amount=300)
    assert [rule.apply(balance) for balance in (500, 499, 200, 199, -1)] == [500, 799, 500, 799, 599]
    for below, amount, message in [
        (1, 0, "amount= must be a whole number of at least 1, got 0"),
        (1, 2.5, "amount= must be a whole number of at least 1, got 2.5"),
        (-1, 1, "below= must be a whole number of at least 0, got -1"),
    ]:
        with pytest.raises(lf.UsageError, match=message):
            runways.TopUp(below=below, amount=amount)  # type: ignore[arg-type]


def test_a_week_without_burn_has_no_band() -> None:
    found = runways.runway([[0] * 168, *FLAT], 1_000)
    assert (found.high, found.middle, found.low, found.factor) == (None, 12, None, None)


def test_equal_weeks_have_one_path() -> None:
    found = runways.runway(FLAT, 5_050, start=167)
    assert (found.high, found.middle, found.low) == (50, 50, 50)


def test_silent_hours_are_those_below_zero() -> None:
    assert runways.silent_hours(FLAT, 168 * 400) == 0
    assert runways.silent_hours(FLAT[:1], 0) == 168
    assert runways.silent_hours(FLAT[:1], 0, free_per_hour=100) == 0


def test_a_week_must_have_its_hours() -> None:
    with pytest.raises(lf.UsageError, match="A week must have 168 hours, got 167"):
        runways.runway([[1] * 167], 5)
    with pytest.raises(lf.UsageError, match="A week must have 168 hours, got 1"):
        runways.safe_interval([5], 5)
