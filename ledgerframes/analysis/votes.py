"""The coin price as its voters see it: median, spread and who has not voted for long, from the snapshots kept."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis._columns import AMOUNT, TIME, ResultColumn, count, coverage, shaped

DAY = pd.Timedelta(days=1)

OVER_TIME = (
    ResultColumn("observed_at", TIME, "When the snapshot was taken.", "UTC"),
    count("voters", "Super validators with a vote contract.", "voters"),
    count("votes", "Of those, how many have named a price.", "votes"),
    count("stale_votes", "Prices named longer ago than allowed.", "votes"),
    ResultColumn("median_price", AMOUNT, "Median of the prices; of an even number the mean of the middle two.", "USD per coin"),
    ResultColumn("lowest_price", AMOUNT, "Lowest price.", "USD per coin"),
    ResultColumn("highest_price", AMOUNT, "Highest price.", "USD per coin"),
    ResultColumn("spread", AMOUNT, "Highest less lowest price.", "USD per coin"),
    coverage("price", "voters of this row"),
)
COLUMNS = {"over_time": OVER_TIME}

__all__ = ["COLUMNS", "over_time"]


def over_time(votes: pd.DataFrame, stale_days: float = 30.0) -> pd.DataFrame:
    """Median and spread of the price votes at each snapshot, and how many are stale.

    This is the network's own conversion rate, never a market price (docs/facts.md#two-prices).

    Parameters
    ----------
    votes : DataFrame
        From :func:`ledgerframes.load_price_votes`.
    stale_days : float
        Days after which a vote counts as stale.

    Returns
    -------
    DataFrame
        One row per snapshot, sorted by time: ``observed_at``, ``voters``, ``votes``, ``stale_votes``, ``median_price``,
        ``lowest_price``, ``highest_price``, ``spread``, ``coverage``.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes; only the latest votes are served, so the history is that of the
    snapshots kept (docs/facts.md#latest-votes-only).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> summary = lf.votes.over_time(votes)
    >>> bool((summary["lowest_price"] <= summary["median_price"]).all())
    True
    """
    named = votes[votes["price"].notna()]
    old = named["last_updated_at"] < named["observed_at"] - stale_days * DAY
    moments = votes.groupby("observed_at", sort=True)
    prices = named.groupby("observed_at")["price"].apply(list).reindex(moments.size().index)
    sizes = moments.size()
    voted = named.groupby("observed_at").size().reindex(sizes.index, fill_value=0)
    values = {
        "observed_at": sizes.index,
        "voters": sizes.to_numpy(),
        "votes": voted.to_numpy(),
        "stale_votes": old.groupby(named["observed_at"]).sum().reindex(sizes.index, fill_value=0).to_numpy(),
        "median_price": _prices([_median(found) if isinstance(found, list) else None for found in prices]),
        "lowest_price": _prices([min(found) if isinstance(found, list) else None for found in prices]),
        "highest_price": _prices([max(found) if isinstance(found, list) else None for found in prices]),
        "spread": _prices([max(found) - min(found) if isinstance(found, list) else None for found in prices]),
        "coverage": (voted / sizes).to_numpy(),
    }
    return shaped(OVER_TIME, values)


def _median(prices: Sequence[Decimal]) -> Decimal:
    """The median as a decimal; pandas would answer with a float."""
    ordered, middle = sorted(prices), len(prices) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _prices(values: Sequence[Decimal | None]) -> pd.array:  # type: ignore[valid-type]
    rounded = [None if value is None else value.quantize(Decimal("1e-10")) for value in values]
    return pd.arrays.ArrowExtensionArray(pa.array(rounded, pa.decimal128(38, 10)))
