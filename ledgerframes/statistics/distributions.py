"""Normal, beta, binomial and Student's t distribution, without scipy.

The functions take numbers or arrays of one shape, and return an array.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

Z95 = 1.959963984540054
PRECISION = 1e-15
HALVINGS = 200
_log_gamma = np.vectorize(math.lgamma, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])


def two_sided_p(score: Any) -> Numbers:
    """Return the probability that a standard normal variable is at least this far from 0."""
    result: Numbers = _erfc(np.abs(np.asarray(score, dtype=float)) / math.sqrt(2))
    return result


def beta_regularized(x: Any, a: Any, b: Any) -> Numbers:
    """Return the regularized incomplete beta function I_x(a, b)."""
    x, a, b = (np.array(each, dtype=float) for each in np.broadcast_arrays(x, a, b))
    is_right = x > (a + 1) / (a + b + 2)
    tail = _beta_left(np.where(is_right, 1 - x, x), np.where(is_right, b, a), np.where(is_right, a, b))
    result: Numbers = np.where(x <= 0, 0.0, np.where(x >= 1, 1.0, np.where(is_right, 1 - tail, tail)))
    return result


def _beta_left(x: Numbers, a: Numbers, b: Numbers) -> Numbers:
    """Return I_x(a, b) by its continued fraction.

    It converges fast for x up to (a + 1) / (a + b + 2).
    """
    x = np.clip(x, np.finfo(float).tiny, 1 - PRECISION)
    front = np.exp(a * np.log(x) + b * np.log1p(-x) + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)) / a
    fraction, c, d = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    for i in count():
        m = i // 2
        if i == 0:
            term = np.ones_like(x)
        elif i % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + term * d)
        c = 1 + term / c
        fraction *= c * d
        if i and np.all(np.abs(1 - c * d) < PRECISION):
            break
    result: Numbers = front * (fraction - 1)
    return result


def binomial_cdf(k: Any, n: Any, q: Any) -> Numbers:
    """Return the probability of at most `k` hits in `n` trials that each hit with `q`."""
    k, n, q = (np.array(each, dtype=float) for each in np.broadcast_arrays(k, n, q))
    is_inside = (k >= 0) & (k < n)
    inside = beta_regularized(1 - q, np.where(is_inside, n - k, 1), np.where(is_inside, k + 1, 1))
    result: Numbers = np.where(k < 0, 0.0, np.where(k >= n, 1.0, inside))
    return result


def t_cdf(t: float, degrees: float) -> float:
    """Return the probability that a variable of Student's t distribution is at most `t`."""
    square = t * t
    if abs(t) < 1:
        half = float(beta_regularized(square / (degrees + square), 0.5, degrees / 2)) / 2
        return 0.5 + math.copysign(half, t)
    tail = float(beta_regularized(degrees / (degrees + square), degrees / 2, 0.5)) / 2
    return 1 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(probability: float, degrees: float) -> float:
    """Return the value that a variable of the t distribution exceeds with 1 - `probability`."""
    high = 1.0
    while t_cdf(high, degrees) < probability or t_cdf(-high, degrees) > probability:
        high *= 2
    low = -high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if t_cdf(middle, degrees) >= probability else (middle, high)
    return (low + high) / 2
