"""Normal, beta, binomial, Poisson and Student's t distribution, by scipy.

The functions take numbers or arrays of one shape, and return an array. scipy is imported only when it is needed, so that a
command that computes nothing starts faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

Z95 = 1.959963984540054


def two_sided_p(score: Any) -> Numbers:
    """Return the probability that a standard normal variable is at least this far from 0."""
    from scipy import special

    result: Numbers = 2 * special.ndtr(-np.abs(score))
    return result


def beta_regularized(x: Any, a: Any, b: Any) -> Numbers:
    """Return the regularized incomplete beta function I_x(a, b)."""
    from scipy import special

    result: Numbers = special.betainc(a, b, x)
    return result


def binomial_cdf(k: Any, n: Any, q: Any) -> Numbers:
    """Return the probability of at most `k` hits in `n` trials that each hit with `q`."""
    from scipy import special

    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=np.int64)
    inside: Numbers = special.bdtr(np.clip(k, 0, n), n, q)
    return np.where(k < 0, 0.0, inside)


def poisson_tail(k: float, mean: float) -> float:
    """Return the probability of at least `k` events, of which there are `mean` on average."""
    from scipy import special

    return float(special.gammainc(k, mean)) if k > 0 else 1.0


def t_quantile(probability: float, degrees: float) -> float:
    """Return the value that a variable of the t distribution exceeds with 1 - `probability`."""
    from scipy import special

    return float(special.stdtrit(degrees, probability))
