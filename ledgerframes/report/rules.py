"""Rules that a run must not break, such as ``wasted_share > 0.2``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from ledgerframes.errors import UsageError
from ledgerframes.report.headline import HEADLINE
from ledgerframes.values.windows import Window

OPERATORS: dict[str, Callable[[Decimal, Decimal], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
LONGEST = timedelta(days=7)  # with findings, whose history is six weeks: a longer window needs four stretches of 14 days
UNKNOWN_REASONS = {"findings": ", because the window was not compared with enough whole weeks before it"}
RULE = re.compile(r"\s*([a-z_]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)\s*")


@dataclass(frozen=True)
class Rule:
    """A condition on one figure in :data:`HEADLINE`, under which a run counts as failed."""

    figure: str
    comparison: str
    limit: Decimal

    def __str__(self) -> str:
        return f"{self.figure} {self.comparison} {self.limit}"

    def explain(self, headline: Mapping[str, int | float | None]) -> str | None:
        """Return why a run breaks this rule, or None if it does not.

        A missing figure breaks every rule, because nobody can tell.
        """
        value = headline[self.figure]
        if value is None:
            return f"{self}: {self.figure} is unknown{UNKNOWN_REASONS.get(self.figure, '')}"
        is_broken = OPERATORS[self.comparison](Decimal(repr(value)), self.limit)
        text = f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
        return f"{self}: {self.figure} is {text}" if is_broken else None


def require_judged(rules: Iterable[Rule], window: Window) -> None:
    """Raise a UsageError for a rule on findings in a window that is too long for them."""
    rule = next((each for each in rules if each.figure == "findings"), None)
    if rule and window.until - window.since > LONGEST:
        reason = f"a report finds nothing in windows of more than {LONGEST.days} days"
        raise UsageError(
            f"fail_if= {str(rule)!r} would always fail, because {reason}. Choose a window of at most {LONGEST.days} days."
        )


def parse_rule(text: str) -> Rule:
    """Return the rule that a text describes."""
    match = RULE.fullmatch(text)
    if match is None:
        raise UsageError(f"fail_if= must be a figure, a comparison and a number, such as 'wasted_share > 0.2', got {text!r}.")
    if match[1] not in HEADLINE:
        raise UsageError(f"Unknown figure {match[1]!r} in fail_if=. Choose from {', '.join(HEADLINE)}.")
    return Rule(match[1], match[2], Decimal(match[3]))
