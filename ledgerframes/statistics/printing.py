"""Numbers as text that cannot mislead.

Cells of tables, sentences and heads of reports all use these functions. A share that is neither 0 nor 1 never reads as 0 % or
100 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from ledgerframes.errors import UsageError
from ledgerframes.statistics.rounding import half_up, shares_to_100

__all__ = [
    "about",
    "at_least",
    "duration",
    "duration_number",
    "interval",
    "percent",
    "points",
    "points_interval",
    "rate",
    "share",
    "share_number",
    "shares_to_100",
    "shares_to_100_texts",
    "size",
    "weight",
]

MISSING = "–"
FULL_COUNT = 100
DIGITS = 3
MICROSECONDS = 1_000_000
AMOUNT_DECIMALS = 4  # of small amounts
LEAST_AMOUNT = Decimal(1).scaleb(-AMOUNT_DECIMALS)
BYTE_UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def percent(part: int, whole: int, decimals: int = 1) -> str:
    """Return part over whole as a percentage, rounded half up.

    Parameters
    ----------
    part, whole : int
        Of the same unit.
    decimals : int, optional
        Decimal places (default: 1).

    Returns
    -------
    str
        ``"0 %"`` and ``"100 %"`` are exact. Close to them it says ``"< 0.1 %"`` and ``"> 99.9 %"``. A dash if the whole is 0.

    Examples
    --------
    >>> percent(1, 3), percent(9996, 10000), percent(4, 10000), percent(0, 5)
    ('33.3 %', '> 99.9 %', '< 0.1 %', '0 %')
    """
    return share(Fraction(part, whole) if whole else None, decimals)


def share(value: Fraction | float | None, decimals: int = 1) -> str:
    """Return a share as a percentage, by the rules of :func:`percent`.

    Parameters
    ----------
    value : Fraction or float or None
        Share of 1. A float has the value that it prints. None or NaN is a dash.
    decimals : int, optional
        Decimal places (default: 1).

    Examples
    --------
    >>> share(0.9996), share(0.0004), share(0.112), share(None)
    ('> 99.9 %', '< 0.1 %', '11.2 %', '–')
    """
    number = share_number(value, decimals)
    return number if number == MISSING else f"{number} %"


def share_number(value: Fraction | float | None, decimals: int = 1) -> str:
    """Return a share as a percentage without its sign, for a column whose head has the unit.

    Parameters
    ----------
    value : Fraction or float or None
        Share of 1.
    decimals : int, optional
        Decimal places (default: 1).

    Examples
    --------
    >>> share_number(0.9996), share_number(1.0), share_number(0.5)
    ('> 99.9', '100', '50.0')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    hundredfold, step = _exact(value) * 100, Fraction(1, 10**decimals)
    if hundredfold in (0, 100):
        return str(int(hundredfold))
    if 0 < hundredfold < step:
        return f"< {_fixed(step, decimals)}"
    if 100 - step < hundredfold < 100:
        return f"> {_fixed(100 - step, decimals)}"
    return _fixed(hundredfold, decimals)


def interval(low: Fraction | float, high: Fraction | float, decimals: int = 1) -> str:
    """Return the ends of an interval of shares, the low end rounded down and the high end up.

    Parameters
    ----------
    low, high : Fraction or float
        Shares of 1.
    decimals : int, optional
        Decimal places, those of the value (default: 1).

    Examples
    --------
    >>> interval(0.09339, 0.13301), interval(0.0004, 0.5)
    ('9.3 to 13.4 %', '< 0.1 to 50.0 %')
    """
    return f"{interval_end(low, 'low', decimals)} to {interval_end(high, 'high', decimals)} %"


def interval_end(value: Fraction | float | None, end: str, decimals: int = 1) -> str:
    """Return one end of an :func:`interval` of shares, without the sign of the unit.

    >>> interval_end(0.12172, "low"), interval_end(0.13791, "high"), interval_end(0.0004, "low")
    ('12.1', '13.8', '< 0.1')
    """
    number = share_number(value, decimals)
    if value is None or number == MISSING or number.startswith(("<", ">")):
        return number
    return _end(value, decimals, math.floor if end == "low" else math.ceil)


def rate(hits: int, trials: int, decimals: int = 1) -> str:
    """Return a rate with its counts, without decimals below 100 trials.

    Parameters
    ----------
    hits, trials : int
        Hits among trials.
    decimals : int, optional
        Decimal places from 100 trials on (default: 1).

    Examples
    --------
    >>> rate(14, 90), rate(111, 990)
    ('16 % (14 of 90)', '11.2 % (111 of 990)')
    """
    return f"{percent(hits, trials, rate_decimals(trials, decimals))} ({hits:,} of {trials:,})"


def rate_decimals(trials: int, decimals: int = 1) -> int:
    """Return the decimal places of a rate and its interval, none below 100 trials."""
    return decimals if trials >= FULL_COUNT else 0


def points(difference: Fraction | float, decimals: int = 1) -> str:
    """Return a difference of shares in points, rounded half up.

    Parameters
    ----------
    difference : Fraction or float
        Share of 1.
    decimals : int, optional
        Decimal places (default: 1).

    Examples
    --------
    >>> points(-0.0342), points(0.2)
    ('−3.4 points', '20.0 points')
    """
    return f"{_fixed(_exact(difference) * 100, decimals)} points"


def points_interval(low: Fraction | float, high: Fraction | float, decimals: int = 1) -> str:
    """Return the ends of an interval of differences in points, the low end rounded down.

    Parameters
    ----------
    low, high : Fraction or float
        Shares of 1.
    decimals : int, optional
        Decimal places, those of the value (default: 1).

    Examples
    --------
    >>> points_interval(-0.00353, 0.01081)
    '−0.4 to 1.1 points'
    """
    return f"{_end(low, decimals, math.floor)} to {_end(high, decimals, math.ceil)} points"


def at_least(value: int, digits: int = DIGITS) -> int:
    """Return a lower bound, rounded down to significant digits.

    Parameters
    ----------
    value : int
        At least 0, of any size.
    digits : int, optional
        Significant digits (default: 3).

    Raises
    ------
    UsageError
        If the value is negative.

    Examples
    --------
    >>> at_least(105643567)
    105000000
    """
    if value < 0:
        raise UsageError(f"value= must be at least 0, got {value!r}.")
    step: int = 10 ** max(0, len(str(value)) - digits)
    return value // step * step


def about(value: int, low: int, high: int) -> int:
    """Return an estimate, rounded to the first digit of its interval's half width.

    Parameters
    ----------
    value, low, high : int
        Estimate and the ends of its interval.

    Examples
    --------
    >>> about(109_031_422, 108_731_200, 109_331_800)
    109000000
    """
    half = Fraction(high - low, 2)
    step: int = 10 ** max(0, len(str(int(half))) - 1)
    return half_up(Fraction(value, step)) * step


def size(number: int) -> str:
    """Return bytes in a readable unit, with 3 significant digits.

    Parameters
    ----------
    number : int
        At least 0, of any size. For a lower bound, pass the result of :func:`at_least`.

    Examples
    --------
    >>> size(37_290_109), size(at_least(37_290_109)), size(1_000_499), size(999_600), size(999), size(1)
    ('37.3 MB', '37.2 MB', '1.00 MB', '1.00 MB', '999 bytes', '1 byte')
    """
    number = int(number)  # of NumPy, too, whose integers no fraction takes
    if number < BYTE_UNITS[-1][0]:
        return f"{number:,} byte{'s' * (number != 1)}"
    step: int = 10 ** (len(str(number)) - DIGITS)
    rounded = (2 * number + step) // (2 * step) * step
    scale, unit = next(pair for pair in BYTE_UNITS if rounded >= pair[0])
    decimals = max(0, DIGITS - len(str(rounded // scale)))
    return f"{_fixed(Fraction(rounded, scale), decimals)} {unit}"


def signed_size(number: int) -> str:
    """Return a change of bytes with its sign.

    >>> signed_size(1200), signed_size(-3)
    ('+1.20 kB', '−3 bytes')
    """
    return f"{'−' if number < 0 else '+'}{size(abs(number))}"


def weight(number: int) -> str:
    """Return an activity weight, which is bytes times a factor, not bytes that somebody paid.

    Parameters
    ----------
    number : int
        At least 0, of any size.

    Examples
    --------
    >>> weight(21_428_507), weight(1)
    ('21.4 weighted MB', '1 weighted byte')
    """
    value, _, unit = size(number).partition(" ")
    return f"{value} weighted {unit}"


def amount(value: Decimal, decimals: int = 2) -> str:
    """Return an amount with fixed decimal places, of which a small one has more.

    >>> amount(Decimal("1234.5")), amount(Decimal("0E-10")), amount(Decimal("-0.004")), amount(Decimal("0.0000000001"))
    ('1,234.50', '0.00', '−0.0040', '< 0.0001')
    """
    if value and abs(value) < LEAST_AMOUNT:
        return f"< {LEAST_AMOUNT}" if value > 0 else f"> −{LEAST_AMOUNT}"
    is_small = bool(value) and abs(value) < Decimal(1).scaleb(-decimals)
    return f"{value:,.{AMOUNT_DECIMALS if is_small else decimals}f}".replace("-", "−")


def duration(microseconds: int | None) -> str:
    """Return a duration in seconds with 3 significant digits.

    Parameters
    ----------
    microseconds : int or None
        None is a dash.

    Examples
    --------
    >>> duration(764_123), duration(8_100_000), duration(22_212_345), duration(None)
    ('0.764 s', '8.10 s', '22.2 s', '–')
    """
    return MISSING if microseconds is None else f"{duration_number(microseconds)} s"


def duration_number(microseconds: int) -> str:
    """Return a duration in seconds with 3 significant digits, without its unit.

    Parameters
    ----------
    microseconds : int

    Examples
    --------
    >>> duration_number(1_234_567_890), duration_number(9_999_000), duration_number(0)
    ('1,230', '10.0', '0')
    """
    if microseconds == 0:
        return "0"
    step = 10 ** max(0, len(str(abs(microseconds))) - DIGITS)
    rounded = half_up(Fraction(microseconds, step)) * step
    step = 10 ** max(0, len(str(abs(rounded))) - DIGITS)  # 9.999 s has a digit more once it is rounded
    decimals = max(0, len(str(MICROSECONDS // step)) - 1) if step <= MICROSECONDS else 0
    return _fixed(Fraction(rounded, MICROSECONDS), decimals)


def shares_to_100_texts(values: Sequence[int], decimals: int = 1) -> list[str]:
    """Return shares that add up to 100 as text, without the sign of percent.

    Parameters
    ----------
    values : sequence of int
        At least 0, with a sum above 0.
    decimals : int, optional
        Decimal places (default: 1).

    Returns
    -------
    list of str
        A share that would read 0 or 100 without being so is written by the rule of :func:`percent`.

    Raises
    ------
    UsageError
        If a value is negative, or their sum is 0.

    Examples
    --------
    >>> shares_to_100_texts([1, 99_999])
    ['< 0.1', '> 99.9']
    """
    total = sum(values)
    rounded = shares_to_100(values, decimals)
    return [
        share_number(Fraction(value, total), decimals) if each in (0, 100) else f"{each:,.{decimals}f}"
        for value, each in zip(values, rounded, strict=True)
    ]


# -- helpers ------------------------------------------------------------------------------------------------------------


def _exact(value: Fraction | float) -> Fraction:
    """Return a number as a fraction. A float has the value that it prints."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))


def _fixed(value: Fraction, decimals: int) -> str:
    """Return a number with fixed decimal places, rounded half up, and a true minus sign."""
    rounded = half_up(value * 10**decimals)
    text = f"{Decimal(abs(rounded)).scaleb(-decimals):,.{decimals}f}"
    return f"−{text}" if rounded < 0 else text


def _end(value: Fraction | float, decimals: int, to_integer: Callable[[Fraction], int]) -> str:
    hundredfold = _exact(value) * 100
    if hundredfold in (0, 100):
        return str(int(hundredfold))
    return _fixed(Fraction(to_integer(hundredfold * 10**decimals), 10**decimals), decimals)
