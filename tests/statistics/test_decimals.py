"""Arithmetic on amounts against Python's decimal, digit by digit."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

import ledgerframes as lf
from ledgerframes.analysis.groups import single_group
from ledgerframes.values.decimals import DTYPE, sum_groups

PYTHON_ROUNDINGS = {
    "HE10": decimal.ROUND_HALF_EVEN,
    "HU10": decimal.ROUND_HALF_UP,
    "D10": decimal.ROUND_DOWN,
    "U10": decimal.ROUND_UP,
}
STEP = Decimal("1e-10")
WIDE = decimal.Context(prec=200)
AMOUNTS = some.decimals(min_value=-(10**13), max_value=10**13, places=10)
SHORT = some.decimals(min_value=-1000, max_value=1000, places=5)  # products and quotients that often end in a 5
ROUNDINGS = some.sampled_from(sorted(PYTHON_ROUNDINGS))


def amounts(values: list[Decimal | None]) -> pd.Series:
    return pd.Series(values, dtype=DTYPE)


def rounded(value: Decimal, rounding: str) -> Decimal:
    return value.quantize(STEP, rounding=PYTHON_ROUNDINGS[rounding], context=WIDE)


@given(some.lists(some.tuples(AMOUNTS | SHORT, AMOUNTS | SHORT)), ROUNDINGS)
def test_products(pairs: list[tuple[Decimal, Decimal]], rounding: str) -> None:
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    result = lf.decimals.multiply(amounts(left), amounts(right), rounding=rounding)
    assert result.tolist() == [rounded(WIDE.multiply(a, b), rounding) for a, b in pairs]
    assert result.dtype == DTYPE


@given(some.lists(some.tuples(SHORT, AMOUNTS | SHORT)), ROUNDINGS)
def test_quotients(pairs: list[tuple[Decimal, Decimal]], rounding: str) -> None:
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    result = lf.decimals.divide(amounts(left), amounts(right), rounding=rounding)
    expected = [pd.NA if b == 0 else rounded(WIDE.divide(a, b), rounding) for a, b in pairs]
    assert all(one is pd.NA if other is pd.NA else one == other for one, other in zip(result, expected, strict=True))


@given(some.lists(AMOUNTS))
def test_cumulated_sums_of_amounts(values: list[Decimal]) -> None:
    result = lf.decimals.cumsum(amounts(values)).tolist()
    assert result == [sum(values[: number + 1], Decimal(0)) for number in range(len(values))]
    assert lf.decimals.total(amounts(values)) == (sum(values, Decimal(0)) if values else None)


@given(some.lists(some.integers(-(2**63), 2**63 - 1)))
def test_totals_of_integers_beyond_64_bits(values: list[int]) -> None:
    assert lf.decimals.total(pd.Series(values, dtype="int64")) == (sum(values) if values else None)
    if -(2**63) <= sum(values) < 2**63:
        result = sum_groups(pd.Series(values, dtype="int64"), np.zeros(len(values), dtype=np.int64), 1)
        assert result.tolist() == ([sum(values)] if values else [pd.NA])
    else:
        with pytest.raises(lf.UsageError, match="bytes exceeds 64 bits"):
            sum_groups(pd.Series(values), np.zeros(len(values), dtype=np.int64), 1, name="bytes")


@pytest.mark.parametrize("dtype", ["uint64", "UInt64", "uint64[pyarrow]"])
def test_unsigned_integers_keep_their_value(dtype: str) -> None:
    values = pd.Series([2**64 - 1, 1], dtype=dtype)
    assert lf.decimals.total(values) == 2**64
    assert lf.decimals.multiply(values, 2).tolist() == [Decimal(2**65 - 2), Decimal(2)]
    assert lf.decimals.cumsum(values.iloc[1:]).tolist() == [1]
    with pytest.raises(lf.UsageError, match="cost exceeds 64 bits"):
        lf.decimals.cumsum(values, name="cost")
    with pytest.raises(lf.UsageError, match="cost exceeds 64 bits"):
        sum_groups(values, np.array([0, 1]), 2, name="cost")


@pytest.mark.parametrize("value", [2**64, True, Decimal("Infinity"), Decimal(10) ** 80, "1"])
def test_objects_beyond_amounts_and_integers_are_refused(value: object) -> None:
    for function in (lf.decimals.total, lf.decimals.cumsum, lambda values: lf.decimals.multiply(values, 1)):
        with pytest.raises(lf.UsageError, match=r"values= must be (finite )?amounts"):
            function(pd.Series([value, 1], dtype=object))


@pytest.mark.parametrize(
    ("rounding", "product"),
    [("HE10", "0.0000000002"), ("HU10", "0.0000000003"), ("D10", "0.0000000002"), ("U10", "0.0000000003")],
)
def test_a_tie(rounding: str, product: str) -> None:
    result = lf.decimals.multiply(amounts([Decimal("0.0000000005"), Decimal("-0.0000000005")]), "0.5", rounding=rounding)
    assert result.tolist() == [Decimal(product), -Decimal(product)]


def test_missing_stays_missing_and_the_index_stays() -> None:
    left = pd.Series([Decimal(2), None, Decimal(3)], dtype=DTYPE, index=[5, 6, 7])
    result = lf.decimals.multiply(left, pd.Series([10, 10, None], dtype="Int64"))
    assert result.index.tolist() == [5, 6, 7]
    assert result.isna().tolist() == [False, True, True]
    assert result[5] == Decimal(20)
    assert lf.decimals.cumsum(left).dropna().tolist() == [Decimal(2), Decimal(5)]
    assert lf.decimals.cumsum(left.head(0)).empty
    assert lf.decimals.total(left.head(0)) is None


def test_a_part_of_a_series_is_read_at_its_offset() -> None:
    values = amounts([Decimal(1), None, Decimal("-2.5"), Decimal(10**20)])
    assert lf.decimals.multiply(values.iloc[2:], 2).tolist() == [Decimal(-5), Decimal(2 * 10**20)]


def test_the_context_of_decimal_does_not_matter() -> None:
    with decimal.localcontext(prec=3):
        result = lf.decimals.multiply(amounts([Decimal("123456789.0123456789")]), "1.0000000001")
    assert result.tolist() == [Decimal("123456789.0246913578")]


@pytest.mark.parametrize(
    ("left", "right", "arguments", "message"),
    [
        (pd.Series([0.5]), "1", {}, "values= must be amounts or integers, got dtype float64"),
        (pd.Series([1]), 0.5, {}, "right= must be a Series, Decimal, int or str, got float"),
        (pd.Series([1]), "NaN", {}, "right= must be a finite number, got 'NaN'"),
        (pd.Series([1]), "0.00000000001", {}, "right= must have at most 10 decimal places"),
        (pd.Series([1]), pd.Series([1, 2]), {}, "must have the same length, got 1 and 2"),
        (pd.Series([1]), "1", {"rounding": "half"}, "Unknown rounding 'half'. Choose from 'HE10', 'HU10', 'D10', 'U10'."),
        (pd.Series([10**18]), 10**11, {"name": "fee"}, "fee does not fit into 38 digits"),
    ],
)
def test_refusals(left: pd.Series, right: object, arguments: dict[str, str], message: str) -> None:
    with pytest.raises(lf.UsageError, match=message):
        lf.decimals.multiply(left, right, **arguments)


def test_a_sum_of_costs_beyond_64_bits_is_refused_by_the_analyses() -> None:
    groups = single_group(2)
    assert groups.total(pd.Series([2**62, 2**62 - 1], name="cost")).tolist() == [2**63 - 1]
    with pytest.raises(lf.UsageError, match=r"cost exceeds 64 bits\. Choose a shorter window"):
        groups.total(pd.Series([2**62, 2**62], name="cost"))


def test_cumulated_integers_beyond_64_bits_are_refused() -> None:
    assert lf.decimals.cumsum(pd.Series([2**62, 2**62 - 1])).tolist() == [2**62, 2**63 - 1]
    with pytest.raises(lf.UsageError, match="cost exceeds 64 bits"):
        lf.decimals.cumsum(pd.Series([2**62, 2**62]), name="cost")
