"""Budgets of kinds of request as a parameter of a report."""

from __future__ import annotations

from ledgerframes.errors import UsageError


def read_budgets(text: str) -> dict[str, int]:
    """Return the budgets that a parameter is set to.

    Parameters
    ----------
    text : str
        Pairs of a kind and its bytes, separated by commas; empty for none.

    Returns
    -------
    dict of str to int
        As :func:`ledgerframes.cost.budget` takes them.

    Raises
    ------
    UsageError
        If a part of the text is no such pair, or a kind has two budgets.

    Examples
    --------
    >>> read_budgets("Splice.CoinRules:CoinRules/CoinRules_Transfer=9000, Meadow.Token:Token=4000")
    {'Splice.CoinRules:CoinRules/CoinRules_Transfer': 9000, 'Meadow.Token:Token': 4000}
    """
    pairs = [_pair(part.strip()) for part in text.split(",") if part.strip()]
    budgets = dict(pairs)
    if len(budgets) < len(pairs):
        raise UsageError(f"budgets= must have one budget for each kind, got {text!r}.")
    return budgets


def _pair(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.strip().isdecimal():
        raise UsageError(f"budgets= must be pairs like 'Module:Entity/Choice=9000', separated by commas, got {text!r}.")
    from ledgerframes.analysis.cost._budget import kind_of  # late: most reports have no budgets

    name = name.strip()
    kind_of(name)
    return name, int(number)
