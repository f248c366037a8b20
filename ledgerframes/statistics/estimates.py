"""An estimate of a total of which a part is known, and its lower bound."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ledgerframes.errors import UsageError
from ledgerframes.statistics.distributions import Z95

LEAST_KNOWN = 10


@dataclass(frozen=True)
class Stratum:
    """Requests of one kind and one result.

    Attributes
    ----------
    requests : int
        All requests.
    known : int
        Requests with a known cost.
    total, squares : int
        Sum of the known costs, and of their squares [bytes, bytes squared].
    result : hashable
        Verdict result. A stratum with too few known costs joins those of the same result.
    """

    requests: int
    known: int
    total: int
    squares: int
    result: Hashable = None

    @classmethod
    def from_costs(cls, requests: int, costs: Sequence[int], result: Hashable = None) -> Stratum:
        """Return the stratum with these known costs."""
        known = [int(cost) for cost in costs]
        if len(known) > requests:
            raise UsageError(f"requests= must be at least the number of known costs, {len(known):,}, got {requests!r}.")
        return cls(int(requests), len(known), sum(known), sum(cost * cost for cost in known), result)

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
        return Stratum(
            self.requests + other.requests,
            self.known + other.known,
            self.total + other.total,
            self.squares + other.squares,
            self.result,
        )


@dataclass(frozen=True)
class Estimate:
    """An estimate of a total, and the lower bound that is known.

    Attributes
    ----------
    at_least : int
        Sum of the known costs [bytes].
    estimate, low, high : int or None
        Estimate and its 95 % interval [bytes], if the unknown are like the known. None if too few are known.
    coverage : float or None
        Requests with a known cost, as a share of all requests. None without requests.
    reason : str
        Reason of a missing estimate, otherwise empty.
    """

    at_least: int
    estimate: int | None
    low: int | None
    high: int | None
    coverage: float | None
    reason: str = ""


def estimate(strata: Iterable[Stratum | tuple[int, Sequence[int]]]) -> Estimate:
    """Return an estimate of the total cost, for requests whose cost is partly unknown.

    It assumes that within a stratum the unknown requests are like the known. If a stretch of time is missing, no estimate is
    possible.

    Parameters
    ----------
    strata : iterable of Stratum or (int, sequence of int)
        Requests and known costs [bytes] of each kind and result. A stratum with unknown costs and less than 10 known ones
        joins all others of its result.

    Returns
    -------
    Estimate
        Without an estimate if less than 10 costs are known after that.

    Raises
    ------
    UsageError
        If a stratum has more known costs than requests.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> lf.statistics.estimate([(22, [100, 120] * 10), (3, [50, 50, 50])])
    Estimate(at_least=2350, estimate=2570, low=2540, high=2600, coverage=0.92, reason='')
    """
    parts = [each if isinstance(each, Stratum) else Stratum.from_costs(*each) for each in strata]
    at_least, requests = sum(each.total for each in parts), sum(each.requests for each in parts)
    coverage = sum(each.known for each in parts) / requests if requests else None
    parts = _join_thin(parts)
    total = _total(parts)
    if total is None:
        return Estimate(at_least, None, None, None, coverage, f"fewer than {LEAST_KNOWN} known costs")
    half = Fraction(Z95 * math.sqrt(sum((_variance(each) for each in parts), start=Fraction(0))))
    low, high = max(at_least, math.floor(total - half)), math.ceil(total + half)
    return Estimate(at_least, _rounded(total), low, high, coverage)


def estimated_total(strata: Iterable[Stratum]) -> int | None:
    """Return the estimate alone, or None if too few costs are known. It needs no squares."""
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


def _variance(stratum: Stratum) -> Fraction:
    """Return the variance of the estimated total, 0 for a complete stratum."""
    n, k = stratum.requests, stratum.known
    if stratum.is_complete:
        return Fraction(0)
    sample_variance = (stratum.squares - Fraction(stratum.total**2, k)) / (k - 1)
    return n * n * (1 - Fraction(k, n)) * sample_variance / k
