"""Rows of a state at a time."""

from __future__ import annotations

import pandas as pd

from ledgerframes.analysis.arguments import require_columns
from ledgerframes.errors import UsageError
from ledgerframes.values.windows import Time, instant


def at(table: pd.DataFrame, time: Time) -> pd.DataFrame:
    """Return the rows of a state that are alive at a time.

    Parameters
    ----------
    table : DataFrame
        Result of a function of this module, or a DataFrame with ``from`` and ``until`` [UTC].
    time : str, date or datetime
        Rows with ``from <= time < until`` are alive, UTC.

    Returns
    -------
    DataFrame
        One row per row of `table` that is alive; sorted as in `table`.

    Raises
    ------
    UsageError
        If `table` has no lifetimes, or their times are not in UTC.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> import pandas as pd
    >>> begin, end = pd.to_datetime(["2026-11-01", "2026-11-02"], utc=True)
    >>> rights = pd.DataFrame({"party": ["app"], "from": [begin], "until": [end]})
    >>> len(lf.state.at(rights, "2026-11-01")), len(lf.state.at(rights, "2026-11-02"))
    (1, 0)
    """
    require_columns(table, ("from", "until"), "Pass the result of lf.state.rounds(frames) to lf.state.at")
    time_alive = pd.Timestamp(instant(time))
    try:
        is_alive = (table["from"] <= time_alive) & (table["until"].isna() | (table["until"] > time_alive))
    except TypeError:  # of times without a zone, or of texts
        step = "Convert them with pd.to_datetime(…, utc=True)."
        raise UsageError(
            f"table= must have times in UTC in from and until, got {table['from'].dtype} and {table['until'].dtype}. {step}"
        ) from None
    return table[is_alive].reset_index(drop=True)
