"""Rows, changes, lists and names for sentences."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ledgerframes.report.cells import shorten
from ledgerframes.statistics import printing

BOUNDS = {"< ": "less than ", "> ": "more than "}
NO_POINTS = printing.points(0)
NO_TEMPLATE = {"reassignment": "Reassignments", "transaction": "Transactions without a tree"}
NOT_VISIBLE = "Requests that are not visible (rejected or private)"


def signed(number: int) -> str:
    """Return a change with its sign.

    >>> signed(1200), signed(-3)
    ('+1,200', '−3')
    """
    return f"{number:+,}".replace("-", "−")


def signed_weight(number: int) -> str:
    """Return a change of an activity weight with its sign.

    >>> signed_weight(1200), signed_weight(-3)
    ('+1.20 weighted kB', '−3 weighted bytes')
    """
    return f"{'−' if number < 0 else '+'}{printing.weight(abs(number))}"


def signed_percent(change: int | Fraction, before: int | Fraction) -> str:
    """Return a change as a percentage of the number before, with its sign.

    A change from 0 has no percentage.

    >>> signed_percent(18, 100), signed_percent(-1, 3), signed_percent(1, 10000), signed_percent(5, 0)
    ('+18.0 %', '−33.3 %', 'less than +0.1 %', 'from 0')
    """
    if not before:
        return "from 0"
    sign, text = "+" if change >= 0 else "−", printing.share(abs(Fraction(change) / before))
    for mark, bound in BOUNDS.items():
        if text.startswith(mark):
            return f"{bound}{sign}{text.removeprefix(mark)}"
    return f"{sign}{text}"


def signed_points(difference: Fraction | float) -> str:
    """Return a difference of shares in points, with its sign.

    >>> signed_points(-0.0342), signed_points(0.2), signed_points(0), signed_points(-0.0004)
    ('−3.4 points', '+20.0 points', '+0.0 points', 'less than −0.1 points')
    """
    sign, text = ("+", printing.points(difference)) if difference >= 0 else ("−", printing.points(-difference))
    return f"less than {sign}0.1 points" if difference and text == NO_POINTS else f"{sign}{text}"


def listing(texts: Sequence[str]) -> str:
    """Return texts as a list in a sentence.

    >>> listing(["a", "b", "c"]), listing(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def kind_name(kind: object, template_name: object, choice: object) -> str:
    """Return the choice, the template, or else the kind of a request.

    >>> kind_name("transaction", "Splice.CoinRules:CoinRules", "CoinRules_Transfer"), kind_name("reassignment", None, None)
    ('CoinRules_Transfer', 'Reassignments')
    """
    if isinstance(choice, str):
        return shorten(choice)
    if isinstance(template_name, str):
        return shorten(f"{template_name.rpartition(':')[2]} (create)")
    return NO_TEMPLATE.get(str(kind), NOT_VISIBLE)
