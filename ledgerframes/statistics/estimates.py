"""Estimates of a total when only a part of it is known."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

LEAST_KNOWN = 10


@dataclass(frozen=True)
class Stratum:
    """Requests of the same kind and result.

    Attributes
    ----------
    requests : int
        All requests.
    known : int
        Requests with a known cost.
    total : int
        Sum of the known costs [bytes].
    result : hashable
        Verdict result. A stratum with too few known costs joins those of the same result.
    """

    requests: int
    known: int
    total: int
    result: Hashable = None

    @property
    def is_complete(self) -> bool:
        """Whether all costs are known."""
        return self.known == self.requests

    @property
    def is_thin(self) -> bool:
        """Whether costs are unknown and too few are known to estimate them."""
        return not self.is_complete and self.known < LEAST_KNOWN

    def join(self, other: Stratum) -> Stratum:
        """Return the requests of both strata as one."""
        return Stratum(self.requests + other.requests, self.known + other.known, self.total + other.total, self.result)


def estimated_total(strata: Iterable[Stratum]) -> int | None:
    """Return the estimate of a total, or None if too few costs are known."""
    total = _total(_join_thin(list(strata)))
    return None if total is None else _rounded(total)


def _total(parts: Sequence[Stratum]) -> Fraction | None:
    if any(each.is_thin for each in parts):
        return None
    return sum((Fraction(each.requests * each.total, each.known) for each in parts if each.known), start=Fraction(0))


def _rounded(total: Fraction) -> int:
    return math.floor(total + Fraction(1, 2))


def _join_thin(parts: Sequence[Stratum]) -> list[Stratum]:
    """Return the strata, all of one result joined if one of them has too few known costs."""
    thin_results = {each.result for each in parts if each.is_thin}
    by_result: dict[Hashable, Stratum] = {}
    for each in parts:
        if each.result in thin_results:
            by_result[each.result] = by_result[each.result].join(each) if each.result in by_result else each
    return [each for each in parts if each.result not in thin_results] + list(by_result.values())
