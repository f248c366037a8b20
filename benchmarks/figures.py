"""What a benchmark hands back: ratios measured inside one run, beside what they should be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One ratio, with the goal it should reach and the floor it must not fall below."""

    name: str
    ratio: float
    goal: float
    floor: float
    higher_is_better: bool = True
    note: str = ""

    @property
    def reached(self) -> str:
        """How far it got: "goal", "floor" or "neither"."""
        sign = 1 if self.higher_is_better else -1
        if sign * self.ratio >= sign * self.goal:
            return "goal"
        return "floor" if sign * self.ratio >= sign * self.floor else "neither"


def as_table(figures: Iterable[Figure]) -> str:
    """The figures as text, one a line."""
    lines = [f"{'':<58} {'ratio':>7} {'goal':>7} {'floor':>7}  reached"]
    for figure in figures:
        lines.append(
            f"{figure.name:<58} {figure.ratio:>7.2f} {figure.goal:>7.2f} {figure.floor:>7.2f}  {figure.reached:<8} {figure.note}"
        )
    return "\n".join(line.rstrip() for line in lines)
