"""The votes of an observation that count, and their median."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import half_even
from ledgerframes.analysis.arguments import require_columns
from ledgerframes.errors import UsageError
from ledgerframes.values.checks import is_number
from ledgerframes.values.decimals import EXACT

UNIT = "USD per coin"
DAY = pd.Timedelta(days=1)
MAX_DAYS = 36_500


def require_stale_days(value: object) -> None:
    """Raise a UsageError unless `stale_days` is an age in days."""
    if not is_number(value, 0, MAX_DAYS):
        raise UsageError(f"stale_days= must be a number of days from 0 to {MAX_DAYS:,}, got {value!r}.")


def newest_votes(votes: object, name: str) -> pd.DataFrame:
    """Return the newest vote of each super validator at each observation, oldest votes first."""
    columns = ("observed_at", "last_updated_at", "price", "sv", "dso")
    votes = require_columns(votes, columns, f"Pass the result of lf.load_price_votes(net) to lf.votes.{name}")
    networks = sorted(votes["dso"].dropna().unique())
    if len(networks) > 1:
        raise UsageError(f"lf.votes.{name} needs votes of one network, got those of {' and '.join(networks)}.")
    votes = votes.astype(dict.fromkeys(("observed_at", "last_updated_at"), declare.TIME))
    order = ["observed_at", "last_updated_at", "sv"]
    newest = votes.sort_values(order, na_position="first").drop_duplicates(["observed_at", "sv"], keep="last")
    return newest.sort_values(order, ignore_index=True)


def median_price(prices: Sequence[Decimal]) -> Decimal | None:
    """Return the median as an amount. For an even number, it is the mean of the middle two."""
    if not prices:
        return None
    ordered, middle = sorted(prices), len(prices) // 2
    if len(ordered) % 2:
        return half_even(ordered[middle])
    return half_even(EXACT.divide(EXACT.add(ordered[middle - 1], ordered[middle]), Decimal(2)))


def median_deviation(prices: Sequence[Decimal]) -> Decimal | None:
    """Return the median of the distances from the median."""
    median = median_price(prices)
    return None if median is None else median_price([abs(EXACT.subtract(each, median)) for each in prices])
