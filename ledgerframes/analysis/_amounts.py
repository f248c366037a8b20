"""Decimals that stay exact, in columns and with the rounding of the contract language."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation

import pandas as pd
import pyarrow as pa

from ledgerframes.values.decimals import AMOUNT, DECIMAL_DIGITS, EXACT, PRECISION, STEP

SCALE = 10**DECIMAL_DIGITS


def half_even(value: Decimal) -> Decimal:
    """Return a value with 10 places, rounded as in the contract language."""
    return value.quantize(STEP, ROUND_HALF_EVEN, EXACT)


def half_up(value: Decimal) -> Decimal:
    """Return a value with 10 places, rounded as in the services' database."""
    return value.quantize(STEP, ROUND_HALF_UP, EXACT)


def multiply(left: Decimal, right: Decimal) -> Decimal:
    """Return a product, half-even with 10 places."""
    return half_even(EXACT.multiply(left, right))


def divide(left: Decimal, right: Decimal) -> Decimal:
    """Return a quotient, half-even with 10 places."""
    return half_even(EXACT.divide(left, right))


def to_decimal(text: object) -> Decimal | None:
    """Return a value as a decimal of at most 10 places, or None if it is not one."""
    if isinstance(text, bool | float) or not isinstance(text, str | int | Decimal):
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value) < 10**28 and half_even(value) == value else None


def units(value: object) -> int | None:
    """Return an amount in units of 10^-10, or None if it is not an amount."""
    amount = to_decimal(value)
    return None if amount is None else int(EXACT.multiply(amount, Decimal(SCALE)))


def amounts(values: Iterable[Decimal | None], digits: int = DECIMAL_DIGITS) -> pd.Series:
    """Return a column of decimals with this number of places, which can be missing."""
    step = Decimal(1).scaleb(-digits)
    rounded = [None if value is None else value.quantize(step, context=EXACT) for value in values]
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(rounded, pa.decimal128(PRECISION, digits))))


def to_amounts(values: pd.Series) -> pd.Series:
    """Return decimals of the engine as a column of decimals."""
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, AMOUNT, from_pandas=True)))


def sum_if_known(numbers: Iterable[int | None]) -> int | None:
    """Return an exact sum, or None if a number is unknown."""
    known = list(numbers)
    return None if None in known else sum(filter(None, known))


def scaled(values: pd.Series) -> list[int | None]:
    """Return decimals as whole numbers of 10^-10."""
    return [None if pd.isna(value) else int(EXACT.multiply(Decimal(value), Decimal(SCALE))) for value in values]


def from_scaled(numbers: Iterable[int | None]) -> pd.Series:
    """Return a column of decimals, which can be missing, from whole numbers of 10^-10."""
    return amounts(None if pd.isna(number) else Decimal(int(number)).scaleb(-10, EXACT) for number in numbers)
