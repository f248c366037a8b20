"""Exact arithmetic on amounts, ``decimal128(38, 10)``, and on integers beyond 64 bits.

Each operation rounds once, by a rounding that its caller can name:

=========  ===================================================================
rounding   to 10 decimal places
=========  ===================================================================
``HE10``   half to even, as the contract language does after each operation
``HU10``   half away from zero, as databases do
``D10``    toward zero
``U10``    away from zero
=========  ===================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_UP, Context, Decimal, InvalidOperation, localcontext
from typing import TYPE_CHECKING, Literal, NoReturn

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ledgerframes.errors import UsageError
from ledgerframes.texts.earlier_names import missing_name_error

__all__ = ["cumsum", "divide", "multiply", "total"]

EARLIER_NAMES = {"totals": "lf.decimals.total(part) for each part of values.groupby(keys)"}


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # for which every name would exist

    def __getattr__(name: str) -> NoReturn:
        raise missing_name_error("lf.decimals", name, EARLIER_NAMES)


DECIMAL_DIGITS = 10
PRECISION = 38
AMOUNT = pa.decimal128(PRECISION, DECIMAL_DIGITS)
DTYPE = pd.ArrowDtype(AMOUNT)
STEP = Decimal(1).scaleb(-DECIMAL_DIGITS)
ROUNDINGS = {"HE10": ROUND_HALF_EVEN, "HU10": ROUND_HALF_UP, "D10": ROUND_DOWN, "U10": ROUND_UP}
# Products have every digit, and quotients enough that rounding them to an amount is rounding the exact quotient.
EXACT = Context(prec=4 * PRECISION)
AS_AMOUNT = Context(prec=PRECISION)  # which refuses a result with more digits
LOW_BITS = 32

Amount = Decimal | int | str
Integers = npt.NDArray[np.int64]


def multiply(
    left: pd.Series, right: pd.Series | Amount, *, rounding: Literal["HE10", "HU10", "D10", "U10"] = "HE10", name: str = "product"
) -> pd.Series:
    """Return products of amounts.

    Parameters
    ----------
    left : Series
        Amounts, or integers.
    right : Series, Decimal, int or str
        Amounts or integers by position, or one number. Floats are refused.
    rounding : {"HE10", "HU10", "D10", "U10"}, optional
        Half to even (default), half away from zero, toward zero, or away from zero, to 10 decimal places.
    name : str, optional
        Name of the column in an error (default: product).

    Returns
    -------
    Series
        ``decimal128(38, 10)``, with the index of `left`, missing where a factor is missing.

    Raises
    ------
    UsageError
        If a number is a float or does not fit, or the rounding is unknown.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> lf.decimals.multiply(pd.Series([3, None], dtype="Int64"), "0.1234567890").tolist()
    [Decimal('0.3703703670'), <NA>]
    """
    return _apply(left, right, EXACT.multiply, rounding, name)


def divide(
    left: pd.Series,
    right: pd.Series | Amount,
    *,
    rounding: Literal["HE10", "HU10", "D10", "U10"] = "HE10",
    name: str = "quotient",
) -> pd.Series:
    """Return quotients of amounts.

    Parameters
    ----------
    left, right, rounding, name
        As for :func:`multiply`; the default name is quotient.

    Returns
    -------
    Series
        ``decimal128(38, 10)``, with the index of `left`, missing where a number is missing or the divisor is 0.

    Raises
    ------
    UsageError
        As for :func:`multiply`.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> lf.decimals.divide(pd.Series([2, 2]), pd.Series([3, 0])).tolist()
    [Decimal('0.6666666667'), <NA>]
    """
    return _apply(left, right, lambda a, b: EXACT.divide(a, b) if b else None, rounding, name)


def subtract(left: pd.Series, right: pd.Series, *, name: str) -> pd.Series:
    """Return exact differences of amounts, with the index of `left`, missing where either is."""
    return _apply(left, right, EXACT.subtract, "HE10", name)


def cumsum(values: pd.Series, *, name: str = "sum") -> pd.Series:
    """Return cumulative sums of amounts or integers, exact.

    Parameters
    ----------
    values : Series
        Amounts, or integers.
    name : str, optional
        Name of the column in an error (default: sum).

    Returns
    -------
    Series
        ``decimal128(38, 10)`` for amounts, ``Int64`` for integers, with the index of `values`. Missing where a value is
        missing, which the later sums do not count.

    Raises
    ------
    UsageError
        If a value is a float, or a sum does not fit.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> lf.decimals.cumsum(pd.Series([1, None, 2], dtype="Int64")).tolist()
    [1, <NA>, 3]
    """
    reached, sums = Decimal(0), []
    for number in _numbers(values):
        reached = reached if number is None else EXACT.add(reached, number)
        sums.append(None if number is None else reached)
    if not pd.api.types.is_integer_dtype(values.dtype):
        return _amounts(sums, values.index, name)
    try:
        integers = pa.array([None if number is None else int(number) for number in sums], pa.int64())
    except OverflowError:
        raise too_large_error(name) from None
    return pd.Series(pd.array(integers, dtype="Int64"), index=values.index)


def total(values: pd.Series) -> int | Decimal | None:
    """Return the exact sum of integers or amounts, of any size.

    Parameters
    ----------
    values : Series
        Amounts, or integers.

    Returns
    -------
    int, Decimal or None
        An int for integers, a Decimal for amounts, or None without a known value.

    Raises
    ------
    UsageError
        If a value is a float.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> lf.decimals.total(pd.Series([2**63 - 1, 2**63 - 1])) == 2**64 - 2
    True
    """
    if not isinstance(values, pd.Series):
        raise UsageError(f"values must be a Series of integers or amounts, got {type(values).__name__}. Pass a column.")
    if pd.api.types.is_integer_dtype(values.dtype):
        high, low = _halves(values.dropna())
        return (int(high.sum()) << LOW_BITS) + int(low.sum()) if len(high) else None
    amounts = [number for number in _numbers(values) if number is not None]
    with localcontext(EXACT):
        return sum(amounts, Decimal(0)) if amounts else None


def sum_groups(values: pd.Series, codes: Integers, groups: int, *, name: str = "sum") -> pd.Series:
    """Return the exact sum of the integers in each group.

    Parameters
    ----------
    values : Series
        Integers.
    codes : array of int64
        Position of the group of each value, from 0.
    groups : int
        Number of groups.
    name : str, optional
        Name of the column in an error (default: sum).

    Returns
    -------
    Series
        ``Int64``, one sum per group in order, missing for a group without a known value.

    Raises
    ------
    UsageError
        If a sum exceeds 64 bits.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> sum_groups(pd.Series([1, 2, 4]), np.array([0, 0, 2]), 3).tolist()
    [3, <NA>, 4]
    """
    is_known = values.notna().to_numpy(dtype=bool)
    owners = np.asarray(codes)[is_known]
    high, low = (np.zeros(groups, dtype=np.int64) for _ in range(2))
    for sums_of_halves, halves in zip((high, low), _halves(values[is_known]), strict=True):
        np.add.at(sums_of_halves, owners, halves)
    high += low >> LOW_BITS
    low &= 2**LOW_BITS - 1
    limit = 2 ** (63 - LOW_BITS)
    if ((high >= limit) | (high < -limit)).any():
        raise too_large_error(name)
    sums = pd.Series(pd.array((high << LOW_BITS) + low, dtype="Int64"))
    return sums.mask(np.bincount(owners, minlength=groups) == 0)


def _halves(values: pd.Series) -> tuple[Integers, Integers]:
    """Return the upper and the lower 32 bits of signed or unsigned integers.

    A sum of either fits 64 bits.
    """
    integers = values.to_numpy("uint64" if pd.api.types.is_unsigned_integer_dtype(values.dtype) else "int64")
    return (integers >> LOW_BITS).astype(np.int64), (integers & (2**LOW_BITS - 1)).astype(np.int64)


# -- numbers --------------------------------------------------------------------------------------------------------


def exact_number(
    value: object, argument: str, max_decimals: int = DECIMAL_DIGITS, *, types: str = "a Decimal, int or str"
) -> Decimal:
    """Return the number that an argument is set to, without any rounding."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int | str):
        raise UsageError(f"{argument}= must be {types}, got {type(value).__name__}.")
    try:
        number = Decimal(value)
        has_fraction = number.is_finite() and EXACT.remainder(number, Decimal(1).scaleb(-max_decimals))
    except InvalidOperation:
        raise UsageError(f"{argument}= must be a number, got {value!r}.") from None
    if not number.is_finite():
        raise UsageError(f"{argument}= must be a finite number, got {value!r}.")
    if has_fraction:
        raise UsageError(f"{argument}= must have at most {max_decimals} decimal places, got {value!r}.")
    return number


def _apply(
    left: pd.Series,
    right: pd.Series | Amount,
    operation: Callable[[Decimal, Decimal], Decimal | None],
    rounding: str,
    name: str,
) -> pd.Series:
    """Return the operation's results, each rounded once."""
    if rounding not in ROUNDINGS:
        raise UsageError(f"Unknown rounding {rounding!r}. Choose from {', '.join(map(repr, ROUNDINGS))}.")
    first = _numbers(left)
    if isinstance(right, pd.Series):
        second = _numbers(right)
    else:
        second = [exact_number(right, "right", types="a Series, Decimal, int or str")] * len(first)
    if len(first) != len(second):
        raise UsageError(f"left= and right= must have the same length, got {len(first):,} and {len(second):,}.")
    results = [None if a is None or b is None else operation(a, b) for a, b in zip(first, second, strict=True)]
    return _amounts(results, left.index, name, ROUNDINGS[rounding])


def _numbers(values: pd.Series) -> list[Decimal | None]:
    """Return amounts or integers as decimals."""
    try:
        array = pa.array(values)
    except (TypeError, ValueError, OverflowError) as error:  # for a column of Python objects
        raise UsageError(
            f"values= must be finite amounts, or integers of at most 64 bits, got others in dtype {values.dtype}. "
            "Convert larger integers to Decimal."
        ) from error
    if not (pa.types.is_integer(array.type) or pa.types.is_decimal(array.type) or pa.types.is_null(array.type)):
        raise UsageError(f"values= must be amounts or integers, got dtype {values.dtype}.")
    return [None if number is None else Decimal(number) for number in array.to_pylist()]


def _amounts(numbers: list[Decimal | None], index: pd.Index, name: str, rounding: str = ROUND_HALF_EVEN) -> pd.Series:
    """Return numbers as amounts."""
    try:
        rounded = [None if number is None else number.quantize(STEP, rounding, AS_AMOUNT) for number in numbers]
    except InvalidOperation:
        raise UsageError(f"{name} does not fit into {PRECISION} digits. Choose smaller amounts.") from None
    return pd.Series(pd.array(pa.array(rounded, AMOUNT), dtype=DTYPE), index=index)


def too_large_error(name: str) -> UsageError:
    """Return the error for a sum beyond 64 bits."""
    return UsageError(f"{name} exceeds 64 bits. Choose a shorter window, or sum it with lf.decimals.total.")
