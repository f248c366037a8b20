"""Parts of a change in total cost, exact to the byte."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ledgerframes.statistics.rounding import largest_remainder

Totals = Mapping[Hashable, tuple[int, int]]


@dataclass(frozen=True)
class Decomposition:
    """Parts that add up to the change of a total.

    Attributes
    ----------
    volume : int
        More or fewer requests, at the mean cost before [bytes].
    price : int
        More expensive or cheaper requests of the same kinds [bytes].
    mix : int
        Another mix of kinds, weighted by the costs before [bytes].
    new, removed : int
        Kinds with requests in only one of the periods [bytes].
    """

    volume: int
    price: int
    mix: int
    new: int
    removed: int

    @property
    def change(self) -> int:
        """Total after minus total before, the sum of the parts [bytes]."""
        return self.volume + self.price + self.mix + self.new + self.removed


def decompose(before: Totals, after: Totals) -> Decomposition:
    """Return the parts of the change in total cost between two periods.

    It is bookkeeping: the parts add up exactly, have no interval, and name no cause. Only requests with a known cost belong in
    here. If coverage differs by more than 1 point between the periods, it is part of the change.

    Parameters
    ----------
    before, after : mapping of kind to (int, int)
        Requests and bytes of each kind of request.

    Examples
    --------
    >>> parts = decompose({"A": (10, 100), "B": (10, 1000)}, {"A": (20, 220), "B": (5, 450)})
    >>> parts, parts.change
    (Decomposition(volume=275, price=-30, mix=-675, new=0, removed=0), -430)
    """
    first, second = ({kind: tuple(map(int, pair)) for kind, pair in side.items() if pair[0] > 0} for side in (before, after))
    common = first.keys() & second.keys()
    new = sum(second[kind][1] for kind in second.keys() - common)
    removed = -sum(first[kind][1] for kind in first.keys() - common)
    if not common:
        return Decomposition(0, 0, 0, new, removed)
    requests_before, requests_after = (sum(side[kind][0] for kind in common) for side in (first, second))
    bytes_before, bytes_after = (sum(side[kind][1] for kind in common) for side in (first, second))
    volume = Fraction((requests_after - requests_before) * bytes_before, requests_before)
    price = sum(
        (second[kind][1] - Fraction(second[kind][0] * first[kind][1], first[kind][0]) for kind in common),
        start=Fraction(0),
    )
    mix = bytes_after - bytes_before - volume - price
    whole_volume, whole_price, whole_mix = largest_remainder([volume, price, mix])
    return Decomposition(whole_volume, whole_price, whole_mix, new, removed)
