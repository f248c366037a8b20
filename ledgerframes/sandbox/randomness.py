"""Keyed hashes and seeded draws that are the same on every machine.

Of the standard generator, only ``random.Random.random`` is used, because its sequence is promised to stay the same.
Those of ``choice``, ``gauss`` and the others are not. Bell curves come from tables rounded to integers, so that the
last bit of a machine's logarithm does not matter.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")
STEPS = 1024
MAX_CACHED_NUMBERS = 50_000


def digest(*parts: object, size: int = 32) -> str:
    """Return `size` bytes of hash over the parts, in hexadecimal."""
    text = "/".join(map(str, parts))
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()


@lru_cache(MAX_CACHED_NUMBERS, typed=True)  # the times of scheduled events are looked up again and again
def number(*parts: object) -> int:
    """Return a 64-bit number that depends only on the parts."""
    return int(digest(*parts, size=8), 16)


@cache
def log_normal_table(sigma: float) -> tuple[int, ...]:
    """Return the quantiles of a log-normal distribution with median 1, in thousandths."""
    normal = NormalDist()
    steps = ((step + 0.5) / STEPS for step in range(STEPS))
    return tuple(round(1000 * math.exp(sigma * normal.inv_cdf(step))) for step in steps)


def lookup_table(values: Sequence[T], weights: Sequence[int]) -> list[T]:
    """Return a list of which a uniform pick is a pick from `values` by positive weights."""
    total = sum(weights)
    table: list[T] = []
    for value, weight in zip(values, weights, strict=True):
        table.extend([value] * max(1, weight * STEPS // total))
    return table


class Draws:
    """A stream of draws that depends only on its seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to `bound` - 1."""
        return int(self.random() * bound)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.random() < probability

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values, all equally likely."""
        return values[int(self.random() * len(values))]

    def around(self, median: int, sigma: float) -> int:
        """Return a log-normal draw with the given median, rounded down."""
        return median * log_normal_table(sigma)[int(self.random() * STEPS)] // 1000
