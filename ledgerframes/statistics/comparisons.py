"""Comparisons of each of many groups with all others together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd

from ledgerframes.statistics.distributions import Flags, Integers, Numbers, two_sided_p
from ledgerframes.statistics.rates import _numbers

LEVEL = 0.05
LEAST_EXPECTED = 5
TOO_FEW_REQUESTS = "too few requests"


def group_against_rest(
    hits: npt.ArrayLike,
    trials: npt.ArrayLike,
    all_hits: npt.ArrayLike,
    all_trials: npt.ArrayLike,
    *,
    design_effect: float = 1.0,
) -> tuple[Numbers, Numbers]:
    """Return the score and p-value of each group against all others together.

    Parameters
    ----------
    hits, trials : int or array of int
        Hits among trials of each group.
    all_hits, all_trials : int or array of int
        Hits among trials of all groups, or of each group and those that it is compared with.
    design_effect : float, optional
        Factor by which clusters widen the variance (default: 1). Less than 1 counts as 1.

    Returns
    -------
    tuple of (array of float, array of float)
        Score in standard deviations, corrected for skewness, and two-sided p-value. Missing (NaN) for a group with too few
        requests, or with all of them.

    Raises
    ------
    UsageError
        If there are more hits than trials, or less than 0.

    Examples
    --------
    >>> score, p_value = group_against_rest(53, 228, 2565, 21276)
    >>> round(float(score), 2)
    4.55
    """
    x, n = _numbers(hits, trials)
    effect = max(1.0, design_effect)
    all_x, all_n = _numbers(all_hits, all_trials)
    rest = all_n - n
    with np.errstate(invalid="ignore", divide="ignore"):
        p = all_x / all_n
        has_enough = np.minimum(n, rest) * np.minimum(p, 1 - p) / effect >= LEAST_EXPECTED
        score = (x / n - (all_x - x) / rest) / np.sqrt(effect * p * (1 - p) * (1 / n + 1 / rest))
        skewness = (1 - 2 * p) * np.sqrt(effect / (n * p * (1 - p))) * (1 - n / all_n) ** 1.5
        # From here on the correction would grow faster than the score, so that more hits would count for less.
        turn = 3 / np.abs(skewness)
        bent = np.where(skewness > 0, np.minimum(score, turn), np.maximum(score, -turn))
        corrected = bent - (bent**2 - 1) * skewness / 6
    result = np.where(has_enough, corrected, np.nan)
    return result, np.where(has_enough, two_sided_p(np.where(has_enough, result, 0.0)), np.nan)


def compare_groups(hits: npt.ArrayLike, trials: npt.ArrayLike, *, design_effect: float = 1.0) -> pd.DataFrame:
    """Return which groups differ from all others together.

    Parameters
    ----------
    hits, trials : array of int
        Hits among trials of each group. The groups together are all requests.
    design_effect : float, optional
        Factor by which clusters widen the variance (default: 1).

    Returns
    -------
    DataFrame
        One row per group, in the order of the groups: ``score`` (standard deviations), ``p_value``, ``holm`` and
        ``benjamini_hochberg`` (p-values, adjusted for all groups that have enough requests), ``differs`` (whether the rate
        differs from the others by Holm at 5 %, missing without enough requests), ``is_notable`` (the longer list by Benjamini
        and Hochberg, of which about 1 in 20 is chance) and ``reason`` ("too few requests", otherwise empty).

    Raises
    ------
    UsageError
        If there are more hits than trials, or less than 0.

    Examples
    --------
    >>> groups = compare_groups([53, 2512, 0], [228, 21038, 10])
    >>> groups["differs"].tolist(), groups["reason"].tolist()
    ([True, True, <NA>], ['', '', 'too few requests'])
    """
    x, n = _numbers(hits, trials)
    score, p_value = group_against_rest(x, n, x.sum(), n.sum(), design_effect=design_effect)
    by_holm, by_rate = holm(p_value), benjamini_hochberg(p_value)
    is_judged = ~np.isnan(p_value)
    return pd.DataFrame(
        {
            "score": score,
            "p_value": p_value,
            "holm": by_holm,
            "benjamini_hochberg": by_rate,
            "differs": _flags(by_holm <= LEVEL, is_judged),
            "is_notable": _flags(by_rate <= LEVEL, is_judged),
            "reason": pd.array(np.where(is_judged, "", TOO_FEW_REQUESTS), dtype="str"),
        }
    )


def holm(p_values: npt.ArrayLike) -> Numbers:
    """Return p-values adjusted by Holm, which limits the chance of any false name.

    Parameters
    ----------
    p_values : array of float
        Missing values (NaN) do not count.

    Returns
    -------
    array of float
        In the order of the p-values.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjust(p_values, lambda p, _: np.maximum.accumulate(np.minimum(1, p * np.arange(len(p), 0, -1))))


def holm_by_group(p_values: npt.ArrayLike, groups: npt.ArrayLike) -> Numbers:
    """Return p-values adjusted by Holm, with an equal part of the chance for each group.

    The chance of any false name is at most the level, as without groups. Many comparisons in one group do not hide
    those of another.

    Parameters
    ----------
    p_values : array of float
        Missing values (NaN) do not count.
    groups : array
        Group of each p-value.

    Returns
    -------
    array of float
        In the order of the p-values.

    Examples
    --------
    >>> holm_by_group([0.01, 0.04, 0.03], ["days", "hours", "hours"]).tolist()
    [0.02, 0.06, 0.06]
    """
    values = pd.Series(np.asarray(p_values, dtype=float))
    counts = values.groupby(np.asarray(groups)).transform("count").to_numpy(dtype=float)

    def adjust(scaled: Numbers, order: Integers) -> Numbers:
        left = np.cumsum(1 / counts[order[::-1]])[::-1]  # parts of the chance that are not used up
        return np.maximum.accumulate(np.minimum(1, scaled * left))

    return _adjust(values.to_numpy() * counts, adjust)


def benjamini_hochberg(p_values: npt.ArrayLike) -> Numbers:
    """Return p-values adjusted by Benjamini and Hochberg, for lists with few false names.

    Parameters
    ----------
    p_values : array of float
        Missing values (NaN) do not count.

    Returns
    -------
    array of float
        In the order of the p-values.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.5]).tolist()
    [0.02, 0.5]
    """
    return _adjust(p_values, _limit_false_share)


def _flags(values: Flags, is_known: Flags) -> pd.Series:
    return pd.Series(pd.array(values, dtype="boolean")).where(is_known)


def _adjust(p_values: npt.ArrayLike, adjust: Callable[[Numbers, Integers], Numbers]) -> Numbers:
    """Adjust the known p-values in ascending order, and return them in their own order."""
    values = np.asarray(p_values, dtype=float)
    (known,) = np.nonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    result = np.full(len(values), np.nan)
    result[order] = adjust(values[order], order)
    return result


def _limit_false_share(ascending: Numbers, _: Integers) -> Numbers:
    scaled = ascending * len(ascending) / np.arange(1, len(ascending) + 1)
    result: Numbers = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return result
