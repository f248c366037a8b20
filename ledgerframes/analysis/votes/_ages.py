"""Age of each vote on the coin price, and its deviation from the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ledgerframes.analysis import figures as declare
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis.groups import is_true
from ledgerframes.analysis.votes._observations import DAY, UNIT, median_deviation, median_price, newest_votes, require_stale_days
from ledgerframes.errors import UsageError
from ledgerframes.values.checks import is_number
from ledgerframes.values.decimals import EXACT

STALE = declare.Figure(
    "votes.stale",
    caption="Votes on the price of the coin",
    answer=lambda result: _of_stale(result),
    main_columns=("sv", "price", "age", "is_stale", "deviation", "is_outlier", "median_without"),
    without_query="it reads a table of votes, not frames. Query the stored votes with lf.sql(net, 'FROM price_votes')",
    rows="One row per observation and super validator; sorted by time of the observation, then by age, oldest first.",
    columns=(
        declare.time("observed_at", "Time of the observation."),
        declare.text("sv", "Super validator."),
        declare.amount("price", "Price of the vote. Missing for an abstention.", UNIT, "Price"),
        declare.time("last_updated_at", "Time of the vote. Missing if it is unknown."),
        declare.duration("age", "Time since the vote. Missing if its time is unknown.", "Age of the vote"),
        declare.flag("is_stale", "Whether the vote is older than stale_days=. Missing for an abstention, or without an age."),
        declare.amount("deviation", "Price minus the median. Missing for an abstention.", UNIT, "Deviation from the median"),
        declare.rate("score", "Deviation over 1.4826 median absolute deviations. Missing if these are 0, or for an abstention."),
        declare.flag(
            "is_outlier",
            "Whether the score is beyond outlier=, or most votes have another price. Missing for abstentions and below 5 votes.",
        ),
        declare.amount("median_without", "Median of all other votes. Missing if there are none.", UNIT),
    ),
    condition="with a known price",
    unit="voters of this observation",
)
MIN_VOTES_FOR_OUTLIERS = 5
DEVIATIONS_PER_MAD = 1.4826


@STALE.register
def stale(votes: pd.DataFrame, *, stale_days: float = 30.0, outlier: float = 3.0) -> pd.DataFrame:
    """Return age and deviation of each vote at each observation.

    Parameters
    ----------
    votes : DataFrame
        From :func:`ledgerframes.load_price_votes`, of one network.
    stale_days : float, optional
        Age in days above which a vote counts as stale (default: 30).
    outlier : float, optional
        Score above which a vote counts as an outlier (default: 3). If most votes have one price, any other price is one.

    Returns
    -------
    DataFrame
        One row per observation and super validator; sorted by time of the observation, then by age, oldest first.

        Columns:

        - ``observed_at`` (datetime64[us, UTC]): Time of the observation.
        - ``sv`` (str): Super validator.
        - ``price`` (decimal128(38, 10)[pyarrow], USD per coin): Price of the vote. Missing for an abstention.
        - ``last_updated_at`` (datetime64[us, UTC]): Time of the vote. Missing if it is unknown.
        - ``age`` (timedelta64[us], microseconds): Time since the vote. Missing if its time is unknown.
        - ``is_stale`` (boolean): Whether the vote is older than stale_days=. Missing for an abstention, or without an age.
        - ``deviation`` (decimal128(38, 10)[pyarrow], USD per coin): Price minus the median. Missing for an abstention.
        - ``score`` (float64): Deviation over 1.4826 median absolute deviations. Missing if these are 0, or for an abstention.
        - ``is_outlier`` (boolean): Whether the score is beyond outlier=, or most votes have another price. Missing for
          abstentions and below 5 votes.
        - ``median_without`` (decimal128(38, 10)[pyarrow], USD per coin): Median of all other votes. Missing if there are none.
        - ``coverage`` (float64, share of 1): Share of the voters of this observation with a known price. Missing if there are
          none.
        - ``coverage_bytes``, ``coverage_time``, ``population``, ``network``: docs/times-and-costs.md#columns-of-every-result

    Raises
    ------
    UsageError
        If `votes` is not a table of price votes, or has votes of two networks, or `stale_days` or `outlier` is not such a number.

    Notes
    -----
    Source: docs/facts.md#name-rules-and-price-votes. A super validator without a price abstains
    (docs/facts.md#price-vote-without-price).

    Picture, by :func:`ledgerframes.plot`: Deviation from the median [USD per coin] by age [days]; stale votes are hollow,
    outliers are squares with a name.

    Examples
    --------
    >>> import ledgerframes as lf
    >>> votes = lf.load_price_votes(lf.connect("sandbox", events=400, days=1))
    >>> ages = lf.votes.stale(votes)
    >>> bool((ages["age"].diff().dropna() <= pd.Timedelta(0)).all())
    True
    """
    require_stale_days(stale_days)
    if not is_number(outlier, 0, math.inf):
        raise UsageError(f"outlier= must be a number of at least 0, got {outlier!r}.")
    votes = newest_votes(votes, "stale")
    parts = [_deviations(part, outlier) for _, part in votes.groupby("observed_at", sort=True)]
    rows = {name: [value for part in parts for value in part[name]] for name in _deviations(votes.head(0), outlier)}
    age = votes["observed_at"] - votes["last_updated_at"]
    has_price = votes["price"].notna()
    values: dict[str, Any] = {
        **votes[["observed_at", "sv", "price", "last_updated_at"]],
        "age": age,
        "is_stale": (age > stale_days * DAY).astype("boolean").where(has_price & age.notna()),
        **{name: amounts(rows[name]) for name in ("deviation", "median_without")},
        "score": np.array(rows["score"], dtype="float64"),
        "is_outlier": pd.array(rows["is_outlier"], dtype="boolean"),
        "coverage": has_price.groupby(votes["observed_at"]).transform("mean").to_numpy("float64"),
    }
    return STALE.build(None, values)


def _deviations(votes: pd.DataFrame, outlier: float) -> dict[str, list[Any]]:
    """Return the columns that compare each vote of one observation with the others."""
    values = [None if pd.isna(value) else value for value in votes["price"]]
    prices = [value for value in values if value is not None]
    median, mad = median_price(prices), median_deviation(prices)
    deviations = [None if value is None or median is None else EXACT.subtract(value, median) for value in values]
    scores = [float(each) / (DEVIATIONS_PER_MAD * float(mad)) if each is not None and mad else np.nan for each in deviations]
    is_judged = len(prices) >= MIN_VOTES_FOR_OUTLIERS
    pairs = zip(deviations, scores, strict=True)
    return {
        "deviation": deviations,
        "score": scores,
        "is_outlier": [_is_outlier(*each, outlier) if is_judged else None for each in pairs],
        "median_without": [median_price(_without(prices, value)) for value in values],
    }


def _is_outlier(deviation: Decimal | None, score: float, outlier: float) -> bool | None:
    if deviation is None:
        return None
    return deviation != 0 if np.isnan(score) else abs(score) > outlier


def _without(prices: Sequence[Decimal], value: Decimal | None) -> list[Decimal]:
    rest = list(prices)
    if value is not None:
        rest.remove(value)
    return rest


# -- sentences ----------------------------------------------------------------------------------------------------------


def _of_stale(result: pd.DataFrame) -> str:
    """Return how many votes are old, and how outliers change the median."""
    latest = result[result["observed_at"] == result["observed_at"].max()]
    outliers = [
        f"{row['sv']} votes {row['price']:.4f} USD per coin. Without it, the median is {row['median_without']:.4f}."
        for row in latest[is_true(latest["is_outlier"])].to_dict("records")
    ]
    ages = latest.dropna(subset=["age", "price"]).nlargest(1, "age").to_dict("records")
    oldest = "".join(f" The oldest is that of {row['sv']}, {round(row['age'] / DAY)} days old." for row in ages)
    others = " ".join([f"Outliers: {len(outliers):,}.", *outliers])
    return f"Stale votes: {is_true(latest['is_stale']).sum():,}.{oldest} {others}"
