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
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ledgerframes.errors import UsageError

__all__ = ["cumsum", "divide", "multiply", "total", "totals"]

DECIMAL_DIGITS = 10
SCALE = 10**DECIMAL_DIGITS
PRECISION = 38
AMOUNT = pa.decimal128(PRECISION, DECIMAL_DIGITS)
DTYPE = pd.ArrowDtype(AMOUNT)
LOW_BITS = 32
INT64 = np.iinfo(np.int64)

Amount = Decimal | int | str
Integers = npt.NDArray[np.int64]


def multiply(left: pd.Series, right: pd.Series | Amount, *, rounding: str = "HE10", name: str = "product") -> pd.Series:
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
    return _apply(left, right, lambda a, b: (a * b, SCALE), rounding, name)


def divide(left: pd.Series, right: pd.Series | Amount, *, rounding: str = "HE10", name: str = "quotient") -> pd.Series:
    """Return quotients of amounts.

    Parameters
    ----------
    left : Series
        Amounts, or integers.
    right : Series, Decimal, int or str
        Amounts or integers by position, or one number. Floats are refused.
    rounding : {"HE10", "HU10", "D10", "U10"}, optional
        Half to even (default), half away from zero, toward zero, or away from zero, to 10 decimal places.
    name : str, optional
        Name of the column in an error (default: quotient).

    Returns
    -------
    Series
        ``decimal128(38, 10)``, with the index of `left`, missing where a number is missing or the divisor is 0.

    Raises
    ------
    UsageError
        If a number is a float or does not fit, or the rounding is unknown.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> lf.decimals.divide(pd.Series([2, 2]), pd.Series([3, 0])).tolist()
    [Decimal('0.6666666667'), <NA>]
    """
    return _apply(left, right, lambda a, b: (a * SCALE, b) if b else None, rounding, name)


def cumsum(values: pd.Series, *, name: str = "sum") -> pd.Series:
    """Return cumulated sums of amounts or integers, exact.

    Parameters
    ----------
    values : Series
        Amounts, or integers.
    name : str, optional
        Name of the column in an error (default: sum).

    Returns
    -------
    Series
        ``decimal128(38, 10)`` of amounts, ``Int64`` of integers, with the index of `values`. Missing where a value is
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
    is_integer = pd.api.types.is_integer_dtype(values.dtype)
    reached, sums = 0, []
    for number in _integers(values):
        reached += 0 if number is None else number
        sums.append(None if number is None else reached)
    if not is_integer:
        return _amounts(sums, values.index, name)
    known = [number for number in sums if number is not None]
    _require_int64(known, name)
    return pd.Series(pd.array(sums, dtype="Int64"), index=values.index)


def total(values: pd.Series) -> int | Decimal | None:
    """Return the exact sum of integers or amounts, of any size.

    Parameters
    ----------
    values : Series
        Amounts, or integers.

    Returns
    -------
    int, Decimal or None
        An int of integers, a Decimal of amounts, None without a known value.

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
    if pd.api.types.is_integer_dtype(values.dtype):
        known = values.dropna()
        return _halves_total(known.to_numpy("int64")) if len(known) else None
    numbers = [number for number in _integers(values) if number is not None]
    return _decimal(sum(numbers)) if numbers else None


def totals(values: pd.Series, codes: Integers, groups: int, *, name: str = "sum") -> pd.Series:
    """Return the exact sum of integers of each group.

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
    >>> import numpy as np, pandas as pd, ledgerframes as lf
    >>> lf.decimals.totals(pd.Series([1, 2, 4]), np.array([0, 0, 2]), 3).tolist()
    [3, <NA>, 4]
    """
    is_known = values.notna().to_numpy(dtype=bool)
    numbers, owners = values[is_known].to_numpy("int64"), np.asarray(codes)[is_known]
    high, low = (np.zeros(groups, dtype=np.int64) for _ in range(2))
    np.add.at(high, owners, numbers >> LOW_BITS)
    np.add.at(low, owners, numbers & (2**LOW_BITS - 1))
    high += low >> LOW_BITS
    low &= 2**LOW_BITS - 1
    limit = 2 ** (63 - LOW_BITS)
    if ((high >= limit) | (high < -limit)).any():
        raise _too_large_error(name)
    sums = pd.Series(pd.array((high << LOW_BITS) + low, dtype="Int64"))
    return sums.mask(np.bincount(owners, minlength=groups) == 0)


# -- scaled integers ------------------------------------------------------------------------------------------------------

Operation = Callable[[int, int], tuple[int, int] | None]


def _half_even(whole: int, twice_rest: int, divisor: int) -> int:
    return whole + (twice_rest > divisor or (twice_rest == divisor and whole % 2 == 1))


def _half_up(whole: int, twice_rest: int, divisor: int) -> int:
    return whole + (twice_rest >= divisor)


def _down(whole: int, _twice_rest: int, _divisor: int) -> int:
    return whole


def _up(whole: int, twice_rest: int, _divisor: int) -> int:
    return whole + (twice_rest > 0)


ROUNDINGS = {"HE10": _half_even, "HU10": _half_up, "D10": _down, "U10": _up}


def _apply(left: pd.Series, right: pd.Series | Amount, operation: Operation, rounding: str, name: str) -> pd.Series:
    """Return the operation's fractions, each rounded once."""
    if rounding not in ROUNDINGS:
        raise UsageError(f"Unknown rounding {rounding!r}. Choose from {', '.join(map(repr, ROUNDINGS))}.")
    first = _scaled(left)
    second = _scaled(right) if isinstance(right, pd.Series) else [_scaled_number(right)] * len(first)
    if len(first) != len(second):
        raise UsageError(f"left= and right= must have the same length, got {len(first):,} and {len(second):,}.")
    to_integer = ROUNDINGS[rounding]
    results: list[int | None] = []
    for a, b in zip(first, second, strict=True):
        fraction = None if a is None or b is None else operation(a, b)
        results.append(None if fraction is None else _rounded(*fraction, to_integer))
    return _amounts(results, left.index, name)


def _rounded(numerator: int, denominator: int, to_integer: Callable[[int, int, int], int]) -> int:
    """Return a fraction as an integer, its magnitude rounded."""
    divisor = abs(denominator)
    whole, rest = divmod(abs(numerator), divisor)
    magnitude = to_integer(whole, 2 * rest, divisor)
    return magnitude if (numerator < 0) == (denominator < 0) else -magnitude


def _scaled(values: pd.Series) -> list[int | None]:
    """Return numbers as integers of 10 decimal places."""
    numbers = _integers(values)
    if not pd.api.types.is_integer_dtype(values.dtype):
        return numbers
    return [None if number is None else number * SCALE for number in numbers]


def _scaled_number(value: Amount) -> int:
    """Return one number as an integer of 10 decimal places."""
    if isinstance(value, float) or not isinstance(value, Decimal | int | str):
        raise UsageError(f"right= must be a Series, Decimal, int or str, got {type(value).__name__}.")
    sign, digits, exponent = Decimal(value).as_tuple()
    if not isinstance(exponent, int):
        raise UsageError(f"right= must be a finite number, got {value!r}.")
    magnitude = int("".join(map(str, digits)))
    divisor: int = 10 ** max(0, -exponent - DECIMAL_DIGITS)
    factor: int = 10 ** max(0, exponent + DECIMAL_DIGITS)
    scaled, rest = divmod(magnitude * factor, divisor)
    if rest:
        raise UsageError(f"right= must have at most {DECIMAL_DIGITS} decimal places, got {value!r}.")
    return -scaled if sign else scaled


def _integers(values: pd.Series) -> list[int | None]:
    """Return integers as they are, and amounts as integers of 10 decimal places."""
    if pd.api.types.is_integer_dtype(values.dtype):
        numbers = values.astype("Int64").astype(object)
        return [None if is_missing else int(number) for number, is_missing in zip(numbers, numbers.isna(), strict=True)]
    array = pa.array(values)
    if not pa.types.is_decimal(array.type) and not pa.types.is_null(array.type):
        raise UsageError(f"values= must be amounts or integers, got dtype {values.dtype}.")
    array = array.cast(AMOUNT)
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return [number for chunk in chunks for number in _chunk_integers(chunk)]


def _chunk_integers(chunk: Any) -> list[int | None]:
    """Return the 128-bit integers of a chunk of amounts."""
    if not len(chunk):
        return []
    halves = np.frombuffer(chunk.buffers()[1], dtype="<i8").reshape(-1, 2)[chunk.offset : chunk.offset + len(chunk)]
    low, high = halves[:, 0].view("<u8").astype(object), halves[:, 1].astype(object)
    numbers = (high * 2**64 + low).tolist()
    is_known = chunk.is_valid().to_numpy(zero_copy_only=False)
    return [number if known else None for number, known in zip(numbers, is_known, strict=True)]


def _amounts(numbers: list[int | None], index: pd.Index, name: str) -> pd.Series:
    """Return integers of 10 decimal places as amounts."""
    limit = 10**PRECISION
    if any(number is not None and abs(number) >= limit for number in numbers):
        raise UsageError(f"{name} does not fit into {PRECISION} digits. Choose smaller amounts.")
    array = pa.array([None if number is None else _decimal(number) for number in numbers], type=AMOUNT)
    return pd.Series(pd.array(array, dtype=DTYPE), index=index)


def _decimal(number: int) -> Decimal:
    """Return an integer of 10 decimal places as a Decimal, for any precision of the context."""
    sign = 1 if number < 0 else 0
    return Decimal((sign, tuple(map(int, str(abs(number)))), -DECIMAL_DIGITS))


def _halves_total(numbers: Integers) -> int:
    """Return the exact sum of 64-bit integers."""
    return (int((numbers >> LOW_BITS).sum()) << LOW_BITS) + int((numbers & (2**LOW_BITS - 1)).sum())


def _require_int64(numbers: list[int], name: str) -> None:
    if numbers and not INT64.min <= min(numbers) <= max(numbers) <= INT64.max:
        raise _too_large_error(name)


def _too_large_error(name: str) -> UsageError:
    return UsageError(f"{name} exceeds 64 bits. Choose a shorter window, or sum it with lf.decimals.total.")
