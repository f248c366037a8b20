"""Budgets of kinds of request as a parameter of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerframes.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from ledgerframes.frames import Frames


def read_budgets(text: str) -> dict[str, int]:
    """Return the budgets to which a parameter is set.

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
        If a part of the text is not such a pair, or a kind has two budgets.

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


def usual_budgets(history: Frames | pd.DataFrame | None) -> dict[str, int]:
    """Return the 95th percentile of the cost of each kind of request, plus a tenth.

    Parameters
    ----------
    history : Frames or DataFrame or None
        From :func:`ledgerframes.report.load_history`.

    Returns
    -------
    dict of str to int
        As :func:`ledgerframes.cost.budget` takes them. Kinds with too few requests have none. Days of earlier runs have no kinds.

    Examples
    --------
    >>> usual_budgets(None)
    {}
    """
    from ledgerframes.analysis import cost  # late: most reports have no budgets
    from ledgerframes.frames import Frames

    if not isinstance(history, Frames):
        return {}
    kinds = cost.spend(history, by="template").dropna(subset=["template_name", "p95"])
    names = kinds["template_name"] + ("/" + kinds["choice"]).fillna("")
    return {name: int(p95) * 11 // 10 for name, p95 in zip(names, kinds["p95"], strict=True)}


def _pair(text: str) -> tuple[str, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.strip().isdecimal():
        raise UsageError(f"budgets= must be pairs like 'Module:Entity/Choice=9000', separated by commas, got {text!r}.")
    from ledgerframes.analysis.cost.budgets import kind_of  # late: most reports have no budgets

    name = name.strip()
    kind_of(name)
    return name, int(number)
