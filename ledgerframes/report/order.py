"""The order of the rows of a table, which its caption says."""

from __future__ import annotations

import pandas as pd

PARTICIPANT = "submitting_participant_uid"
ORDER = "order"  # in attrs, of rows that are in the order of another result


def order_by_cost(result: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a result by participant, those with the highest cost first.

    Tables of participants then have one order.

    Parameters
    ----------
    result : DataFrame
        With one row per participant.
    costs : DataFrame
        Result of ``lf.cost.spend(frames, by="participant")``. Participants that it does not have come last.

    Returns
    -------
    DataFrame
        The same rows. The caption of its table says the order.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> from ledgerframes.report import order_by_cost
    >>> net = lf.connect("sandbox", events=400, days=1)
    >>> day = lf.load_events(net, since="2026-11-08", until="2026-11-09")
    >>> costs = lf.cost.spend(day, by="participant")
    >>> outcomes = order_by_cost(lf.verdict.outcomes(day, by="participant"), costs)
    >>> outcomes["requests"].tolist() == costs["requests"].tolist()
    True
    """
    ranks = {name: rank for rank, name in enumerate(costs[PARTICIPANT].fillna(""))}
    ordered = result.sort_values(
        PARTICIPANT, key=lambda names: names.fillna("").map(ranks).fillna(len(ranks)), kind="stable", ignore_index=True
    )
    ordered.attrs[ORDER] = "highest cost first"
    return ordered


def describe_order(rows: pd.DataFrame, values: pd.Series | None, *, has_differing: bool) -> str:
    """Return the order of rows, as the end of a caption.

    It is empty if a reader sees none.

    Parameters
    ----------
    rows : DataFrame
    values : Series or None
        The first column of numbers.
    has_differing : bool
        Whether rows that differ from the others come first.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a", "b"], "cost": [2, 1]})
    >>> describe_order(rows, rows["cost"], has_differing=False)
    ', highest first'
    """
    order = rows.attrs.get(ORDER, "")
    if has_differing:
        return ", those that differ first" + (f", then the {order}" if order else "")
    if order:
        return f", {order}"
    is_falling = values is not None and values.nunique() > 1 and values.dropna().is_monotonic_decreasing
    return ", highest first" if is_falling else ""
