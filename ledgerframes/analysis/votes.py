"""Median, spread and age of the votes on the coin price, per stored observation."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pandas as pd
import pyarrow as pa

from ledgerframes.analysis import _figures as declare
from ledgerframes.errors import UsageError

__all__ = ["price"]

DAY = pd.Timedelta(days=1)
UNIT = "USD per coin"
PRICE = declare.Figure(
    "votes.price",
    columns=(
        declare.ResultColumn("observed_at", declare.TIME, "Time of the observation.", "UTC"),
        declare.count("voters", "Super validators with a vote contract.", "voters"),
        declare.count("votes", "Voters with a price.", "votes"),
        declare.count("stale_votes", "Prices older than allowed.", "votes"),
        declare.ResultColumn(
            "median", declare.AMOUNT, "Median price, the mean of the middle two of an even number. Missing without votes.", UNIT
        ),
        declare.ResultColumn("lowest", declare.AMOUNT, "Lowest price. Missing without votes.", UNIT),
        declare.ResultColumn("highest", declare.AMOUNT, "Highest price. Missing without votes.", UNIT),
        declare.ResultColumn("spread", declare.AMOUNT, "Highest minus lowest price. Missing without votes.", UNIT),
    ),
    fact="price",
    unit="voters of this row",
)


@PRICE.document
def price(votes: pd.DataFrame, *, stale_days: float = 30.0) -> pd.DataFrame:
    """Return median and spread of the price votes at each observation.

    This is the network's own conversion rate, never a market price (docs/facts.md#two-prices).

    Parameters
    ----------
    votes : DataFrame
        From :func:`ledgerframes.load_price_votes`.
    stale_days : float, optional
        Age in days from which a vote counts as stale (default: 30).

    Returns
    -------
    DataFrame
        One row per observation; sorted by time.

    Raises
    ------
    UsageError
        If `votes` is not a table of price votes.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes. The service returns only the latest votes, so the history consists of
    stored observations (docs/facts.md#latest-votes-only).

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> summary = lf.votes.price(votes)
    >>> bool((summary["lowest"] <= summary["median"]).all())
    True
    """
    if not isinstance(votes, pd.DataFrame) or not {"observed_at", "last_updated_at", "price"} <= set(votes.columns):
        raise UsageError(f"Pass the result of lf.load_price_votes(net) to lf.votes.price, got {type(votes).__name__}.")
    with_price = votes[votes["price"].notna()]
    is_stale = with_price["last_updated_at"] < with_price["observed_at"] - stale_days * DAY
    voters = votes.groupby("observed_at", sort=True).size()
    by_time = with_price.groupby("observed_at")
    vote_count = by_time.size().reindex(voters.index, fill_value=0)
    prices = [values if isinstance(values, list) else [] for values in by_time["price"].apply(list).reindex(voters.index)]
    values = {
        "observed_at": voters.index,
        "voters": voters.to_numpy(),
        "votes": vote_count.to_numpy(),
        "stale_votes": is_stale.groupby(with_price["observed_at"]).sum().reindex(voters.index, fill_value=0).to_numpy(),
        "median": _amounts([_median(each) if each else None for each in prices]),
        "lowest": _amounts([min(each, default=None) for each in prices]),
        "highest": _amounts([max(each, default=None) for each in prices]),
        "spread": _amounts([max(each) - min(each) if each else None for each in prices]),
        "coverage": (vote_count / voters).to_numpy(),
    }
    return PRICE.build(None, values)


def _median(prices: Sequence[Decimal]) -> Decimal:
    """Return the median as a decimal, where pandas would return a float."""
    ordered, middle = sorted(prices), len(prices) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def _amounts(values: Sequence[Decimal | None]) -> pd.array:  # type: ignore[valid-type]
    rounded = [None if value is None else value.quantize(Decimal("1e-10")) for value in values]
    return pd.arrays.ArrowExtensionArray(pa.array(rounded, pa.decimal128(38, 10)))
