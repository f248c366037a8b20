"""Numbers as text never say more than they know."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as some

import ledgerframes as lf
from ledgerframes.statistics import printing, rounding

COUNTS = some.integers(0, 10**20)


@given(COUNTS, COUNTS, some.integers(0, 4))
def test_a_percentage_is_within_half_a_step_and_0_and_100_are_exact(first: int, second: int, decimals: int) -> None:
    part, whole = sorted((first, second))
    text = printing.percent(part, whole, decimals)
    if whole == 0:
        assert text == "–"
        return
    number, step = Fraction(100 * part, whole), Fraction(1, 10**decimals)
    assert (text == "0 %") == (part == 0)
    assert (text == "100 %") == (part == whole)
    if text.startswith("<"):
        assert 0 < number < step
    elif text.startswith(">"):
        assert 100 - step < number < 100
    else:
        assert abs(Fraction(text.removesuffix(" %")) - number) <= step / 2


@given(some.floats(0, 1), some.floats(0, 1))
def test_the_ends_of_an_interval_contain_it(first: float, second: float) -> None:
    low, high = sorted((first, second))
    texts = printing.interval(low, high).removesuffix(" %").split(" to ")
    least, most = texts[0].removeprefix("> "), texts[1].removeprefix("< ")
    assert Fraction(0 if least == "< 0.1" else least) <= Fraction(repr(low)) * 100
    assert Fraction(100 if most == "> 99.9" else most) >= Fraction(repr(high)) * 100
    assert [text in ("0", "0.0") for text in texts] == [value == 0 for value in (low, high)]
    assert [text in ("100", "100.0") for text in texts] == [value == 1 for value in (low, high)]


@given(some.lists(some.integers(0, 10**12), min_size=1, max_size=30).filter(any), some.integers(0, 3))
def test_shares_add_up_and_are_less_than_a_step_off(values: list[int], decimals: int) -> None:
    shares = printing.shares_to_100(values, decimals)
    step = Decimal(1).scaleb(-decimals)
    assert sum(shares) == 100
    for value, share in zip(values, shares, strict=True):
        assert abs(Fraction(share) - Fraction(100 * value, sum(values))) < Fraction(step)


@given(some.lists(some.fractions(), max_size=8))
def test_largest_remainders_keep_the_rounded_sum(values: list[Fraction]) -> None:
    rounded = rounding.largest_remainder(values)
    assert sum(rounded) == round(sum(values))
    assert all(abs(one - other) < 1 for one, other in zip(rounded, values, strict=True))


@given(some.integers(1, 10**15))
def test_a_duration_has_3_significant_digits(microseconds: int) -> None:
    seconds, text = Fraction(microseconds, 10**6), printing.duration_number(microseconds).replace(",", "")
    assert abs(Fraction(text) / seconds - 1) <= Fraction(1, 200)
    digits = text.replace(".", "").lstrip("0")
    assert len(digits.rstrip("0")) <= 3
    assert "." not in text or len(digits) == min(3, len(str(microseconds)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9996, "> 99.9"),
        (0.0004, "< 0.1"),
        (0.999, "99.9"),
        (0.1245, "12.5"),
        (0, "0"),
        (1, "100"),
        (float("nan"), "–"),
        (None, "–"),
    ],
)
def test_a_share_in_a_cell(value: float | None, text: str) -> None:
    assert printing.share_number(value) == text


def test_a_share_above_1_and_below_0_is_printed_as_it_is() -> None:
    assert printing.share(1.25) == "125.0 %"
    assert printing.share(-0.0312) == "−3.1 %"


@pytest.mark.parametrize(
    ("value", "low", "high", "rounded"),
    [(109_031_422, 108_731_200, 109_331_800, 109_000_000), (1234, 1200, 1268, 1230), (7, 7, 7, 7), (155, 145, 165, 160)],
)
def test_an_estimate_has_the_places_that_its_interval_supports(value: int, low: int, high: int, rounded: int) -> None:
    assert printing.about(value, low, high) == rounded


@pytest.mark.parametrize("values", [[], [0, 0], [2, -1]])
def test_shares_of_nothing_are_refused(values: list[int]) -> None:
    with pytest.raises(lf.UsageError, match="must be at least 0 with a sum above 0"):
        printing.shares_to_100(values)


def test_a_negative_lower_bound_is_refused() -> None:
    with pytest.raises(lf.UsageError, match="value= must be at least 0, got -1"):
        printing.at_least(-1)
