"""The largest changes of a total by group, up and down, and the sum of the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ledgerframes.statistics import printing
from ledgerframes.texts.representation import pluralize


@dataclass(frozen=True)
class Movers:
    """Groups whose totals changed most.

    Attributes
    ----------
    largest : tuple of (object, int)
        The groups with the largest changes of either sign, and their changes, largest first.
    rest_count, rest : int
        Number of the other groups that changed, and the sum of their changes.
    """

    largest: tuple[tuple[Any, int], ...]
    rest_count: int
    rest: int

    def describe_rest(self, noun: str, to_text: Callable[[int], str] = printing.signed_size) -> str:
        """Return the sum of the changes that are not named, or an empty text without any.

        >>> Movers((("a", 9),), 3, -2).describe_rest("kind")
        '3 other kinds: −2 bytes together.'
        """
        if not self.rest_count:
            return ""
        together = " together" if self.rest_count > 1 else ""
        return f"{pluralize(self.rest_count, f'other {noun}')}: {to_text(self.rest)}{together}."


def largest_movers(changes: Mapping[Any, int], count: int) -> Movers:
    """Return the largest changes, with the largest rise and the largest fall in any case.

    >>> largest_movers({"a": 9, "b": 8, "c": -1, "d": 0, "e": 2}, 2)
    Movers(largest=(('a', 9), ('b', 8), ('c', -1)), rest_count=1, rest=2)
    """
    moved = sorted(((name, change) for name, change in changes.items() if change), key=lambda each: (-abs(each[1]), each[0]))
    first = moved[:count]
    for sign in (1, -1):
        if not any(change * sign > 0 for _, change in first):
            first += [each for each in moved if each[1] * sign > 0][:1]
    rest = [change for name, change in moved if (name, change) not in first]
    return Movers(tuple(first), len(rest), sum(rest))
