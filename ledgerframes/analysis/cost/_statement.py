"""Bills of traffic, in bytes, currency and coin."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd

from ledgerframes import decimals
from ledgerframes.analysis import _figures as declare
from ledgerframes.analysis import _groupings as grouping
from ledgerframes.analysis._amounts import amounts
from ledgerframes.analysis._groups import Groups, Integers, known
from ledgerframes.analysis._requests import not_negative, per_party, positions, requests, take_or_missing
from ledgerframes.analysis.labels import groups_by_id
from ledgerframes.analysis.state._traffic_prices import prices_at, require_prices_of_rounds
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames
from ledgerframes.money import (
    MarketRate,
    NetworkRate,
    TrafficPrice,
    require_one_currency,
    require_price,
    require_traffic_prices,
)
from ledgerframes.statistics import printing
from ledgerframes.statistics.rounding import largest_remainder

SPLITS = ("equal", "first", "whole")
COSTS = ("total_traffic_cost", "paid")
MIN_COVERAGE = 0.99
PRICE_STEP = "Pass the prices of the rounds, each with its as_of=, or accept_price=True."
STATEMENT = declare.Figure(
    "cost.statement",
    rows="One row per period and line, periods without requests included; sorted by time and name.",
    by={"participant": grouping.PARTICIPANT, "party": grouping.PARTY, "label": grouping.LABEL_GROUP},
    columns=(
        declare.count("requests", "Requests with a part in this line. A shared request can be in several lines."),
        declare.cost("bytes", "Known cost of the line. A lower bound with a coverage below 1.", "Traffic cost"),
        declare.cost("bytes_paid", "Cost that own participants paid, divided like the bytes. Missing without ledger=."),
        declare.amount("currency_exact", "Bytes at the list price, exact. Missing like the bytes.", "currency"),
        declare.amount(
            "currency", "Rounded amount. The lines of a period add up to their total, half to even.", "currency", "Amount"
        ),
        declare.amount("rounding_difference", "Rounded less exact amount.", "currency"),
        declare.amount("coin", "Rounded amount over the rate. Missing without rate=.", "coin", "Amount"),
        declare.amount("market_value", "Coin at the market price. Missing without market=.", "currency of the market"),
        declare.label("currency_code", "Currency of the amounts, such as USD."),
        declare.amount("price", "List price of traffic. Missing if parts of the line have several.", "currency per MB"),
        declare.amount("rate", "The network's own rate. Missing without rate=.", "currency per coin"),
        declare.time("rate_as_of", "Time of the rate. Missing if unknown."),
        declare.text("rate_source", "Source of the rate. Missing if unknown."),
        declare.text("source_ids_sha256", "SHA-256 of the sorted update ids of the line, each with a line feed."),
    ),
    has_periods=True,
)


@STATEMENT.document
def statement(
    frames: Frames,
    *,
    by: Literal["participant", "party", "label"] | None = "party",
    every: str | None = "1mo",
    price: TrafficPrice | Sequence[TrafficPrice],
    rate: NetworkRate | None = None,
    market: MarketRate | None = None,
    rounding: str = "0.01",
    split: Literal["equal", "first", "whole"] | None = None,
    min_coverage: float = MIN_COVERAGE,
    accept_price: bool = False,
    ledger: Frames | None = None,
    labels: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return a bill of the traffic, with lines that add up to the rounded total.

    The total of a period is rounded half to even to `rounding`. Each line is rounded down, and the units that are missing to the
    total go to the lines with the largest remainders. Rejected requests cost as well, and are in the bill.

    Parameters
    ----------
    by : {None, "party", "participant", "label"}, optional
        Submitting party, submitting participant, label of the submitting party, or one line (default: party). Parties of one
        label share no request.
    price : TrafficPrice or list of TrafficPrice
        List price of traffic. Of several, each counts from its ``as_of`` on, and the first one also before.
    rate : NetworkRate, optional
        The network's own rate, for amounts in coin.
    market : MarketRate, optional
        Market price of the coin, for its value elsewhere.
    rounding : str, optional
        Smallest unit of the amounts [currency] (default: 0.01).
    split : {"equal", "first", "whole"}, optional
        Share of each party in a request that several parties submitted: equal parts, all for the first by name, or all for
        each, so that the lines add up to more than was spent.
    min_coverage : float, optional
        Least share of the requests with a known cost, of each period (default: 0.99).
    accept_price : bool, optional
        Accept a price that is not that of the rounds in the window, such as one of a reseller (default: False).
    ledger : Frames, optional
        From :func:`ledgerframes.load_updates` of an own participant, for the cost that it paid.

    Raises
    ------
    UsageError
        If a price is of another kind or currency, or is not that of the mining rounds in the window, the ledger is of another
        network, or several parties or labels share requests and `split` is missing.
    CoverageError
        If fewer costs of a period are known than `min_coverage`.

    Source: traffic summaries and verdicts of history events. It is the list price: each participant has a free base rate, so
    what it paid can be less (docs/facts.md#free-base-rate). The network's own rate is not a market price
    (docs/facts.md#two-prices).

    >>> price, rate = lf.TrafficPrice("50", "USD/MB"), lf.NetworkRate("0.16", "USD/coin")
    >>> evening = day.between("2026-11-08T18:00:00Z", "2026-11-09")
    >>> bill = lf.cost.statement(evening, by="participant", every="1h", price=price, rate=rate, min_coverage=0)
    >>> bool(bill["bytes"].sum() == lf.cost.spend(evening)["total_traffic_cost"].sum())
    True
    """
    keys = STATEMENT.check(frames, by).key_names
    prices, rate, market = _check(price, rate, market, split)
    if not accept_price:
        require_prices_of_rounds(frames, prices, PRICE_STEP)
    unit = _rounding_unit(rounding)
    rows = requests(frames, ["submitting_participant_uid", "submitting_parties"])
    _require_coverage(grouping.group_rows(frames, rows, [], every), rows, min_coverage)
    rows["paid"] = _paid(frames, rows["update_id"], ledger)
    if by == "party":
        rows = _split(per_party(rows), "party", split)
    elif by == "label":
        rows = _split(_per_label(per_party(rows), groups_by_id(labels)), "label", split)
    groups = grouping.group_rows(frames, rows, keys, every)
    costs = rows["total_traffic_cost"]
    total = groups.total(costs).rename("bytes")
    exact, line_prices = _exact_amounts(groups, costs, prices, prices_at(prices, rows["record_time"]))
    rounded = _rounded_lines(exact, groups.keys.get("period_start", 0), unit)
    coin = rate.coins(rounded) if rate else amounts([None] * len(groups))
    values: dict[str, Any] = {
        **groups.keys,
        "requests": groups.count(),
        "bytes": total,
        "bytes_paid": groups.total(rows["paid"]),
        "currency_exact": exact,
        "currency": rounded,
        "rounding_difference": decimals.subtract(rounded, exact, name="rounding_difference"),
        "coin": coin,
        "market_value": market.value(coin) if market else amounts([None] * len(groups)),
        "price": line_prices,
        **_constant_columns(prices[0].currency, rate, len(groups)),
        "source_ids_sha256": _digests(rows["update_id"], groups),
        "coverage": groups.coverage(known(costs)),
        "coverage_bytes": groups.coverage_bytes(costs, known(costs)),
    }
    result = STATEMENT.build(frames, values, by, every=every)
    return result.sort_values([*(["period_start"] if every else []), *keys], ignore_index=True) if keys else result


def _check(
    price: TrafficPrice | Sequence[TrafficPrice], rate: NetworkRate | None, market: MarketRate | None, split: str | None
) -> tuple[tuple[TrafficPrice, ...], NetworkRate | None, MarketRate | None]:
    prices = require_traffic_prices(price)
    rate, market = require_price(rate, NetworkRate, "rate"), require_price(market, MarketRate, "market")
    require_one_currency(prices[0], rate, market)
    if split is not None and split not in SPLITS:
        raise UsageError(f"Unknown split {split!r}. Choose from {', '.join(map(repr, SPLITS))}.")
    return prices, rate, market


def _rounding_unit(rounding: str) -> Decimal:
    """Return the smallest unit of an amount."""
    if not isinstance(rounding, str) or rounding not in ("1", *(f"0.{'0' * zeros}1" for zeros in range(decimals.DECIMAL_DIGITS))):
        raise UsageError(f"rounding= must be '1', '0.1', '0.01' or a smaller power of ten, got {rounding!r}.")
    return Decimal(rounding)


def _require_coverage(periods: Groups, rows: pd.DataFrame, min_coverage: float) -> None:
    """Raise a CoverageError for periods with too few known costs."""
    coverage = periods.coverage(known(rows["total_traffic_cost"]))
    (positions_below,) = np.nonzero(coverage < min_coverage)
    if not len(positions_below):
        return
    starts = periods.keys.get("period_start")
    names = ["the window"] if starts is None else [f"{start:%Y-%m-%d %H:%M}" for start in starts.iloc[positions_below]]
    lowest = printing.share(float(coverage[positions_below[0]]))
    raise CoverageError(
        f"Cannot bill {names[0]} because the cost of only {lowest} of its requests is known. "
        "Choose another window, or pass a lower min_coverage=.",
        missing=tuple(names),
    )


def _per_label(parties: pd.DataFrame, group_of: pd.Series) -> pd.DataFrame:
    """Return one row per request and label by name, one for all parties without a label."""
    rows = parties.assign(label=parties["party"].astype("str").map(group_of).astype("str"))
    return rows.sort_values(["request", "label"], kind="stable").drop_duplicates(["request", "label"], ignore_index=True)


def _split(rows: pd.DataFrame, key: str, split: str | None) -> pd.DataFrame:
    """Return each request once per party or label, with its part of the costs."""
    is_shared = rows["request"].duplicated(keep=False)
    if is_shared.any() and split is None:
        number, noun = rows.loc[is_shared, "request"].nunique(), {"party": "parties", "label": "labels"}[key]
        raise UsageError(f"Several {noun} share {number:,} requests. Pass split= 'equal', 'first' or 'whole'.")
    if split == "whole" or not is_shared.any():
        return rows
    # The parties or labels of a request are in the order of their names.
    rank, count = rows.groupby("request").cumcount(), rows.groupby("request")["request"].transform("size")
    if split == "first":
        return rows[rank == 0].reset_index(drop=True)
    return rows.assign(**{name: rows[name] // count + (rank < rows[name] % count).astype("Int64") for name in COSTS})


def _paid(frames: Frames, update_ids: pd.Series, ledger: Frames | None) -> pd.Series:
    """Return the cost that a participant paid for each update, missing for updates of others."""
    if ledger is None:
        return pd.Series(pd.NA, index=update_ids.index, dtype="Int64")
    STATEMENT.check(ledger)
    declare.require_one_network(STATEMENT.name, frames, ledger)
    paid = ledger.read("ledger_updates", ["update_id", "paid_traffic_cost"])
    return take_or_missing(not_negative(paid["paid_traffic_cost"]), positions(update_ids, paid["update_id"]))


def _exact_amounts(
    groups: Groups, costs: pd.Series, prices: Sequence[TrafficPrice], numbers: Integers
) -> tuple[pd.Series, pd.Series]:
    """Return the exact amount of each line, with each part at its own price.

    The second column is the price of the lines that have only one.
    """
    parts = [price.of_bytes(groups.total(costs.where(numbers == number))) for number, price in enumerate(prices)]
    exact: list[Decimal | None] = []
    line_prices: list[Decimal | None] = []
    for line in zip(*parts, strict=True):
        billed = {number: amount for number, amount in enumerate(line) if not pd.isna(amount)}
        amount = decimals.total(pd.Series(list(billed.values()), dtype=decimals.DTYPE))
        exact.append(amount if isinstance(amount, Decimal) else None)
        first, *others = billed or range(len(prices))
        line_prices.append(None if others else prices[first].amount)
    return amounts(exact), amounts(line_prices)


def _rounded_lines(exact: pd.Series, periods: pd.Series | int, unit: Decimal) -> pd.Series:
    """Return amounts in whole units, those of each period with the sum of the rounded total."""
    rounded: list[Decimal | None] = [None] * len(exact)
    lines = pd.DataFrame({"amount": exact.to_numpy(object), "period": periods})
    for _, part in lines[exact.notna().to_numpy()].groupby("period"):
        exact_units = [Fraction(each) / Fraction(unit) for each in part["amount"]]
        for position, units in zip(part.index, largest_remainder(exact_units), strict=True):
            rounded[position] = units * unit
    return amounts(rounded)


def _constant_columns(currency: str, rate: NetworkRate | None, count: int) -> dict[str, Any]:
    """Return currency and rate, the same in every line."""
    return {
        "currency_code": pd.Categorical([currency] * count, categories=[currency]),
        "rate": amounts([rate.amount if rate else None] * count),
        "rate_as_of": rate.as_of if rate else None,
        "rate_source": rate.source if rate and rate.source else None,
    }


def _digests(update_ids: pd.Series, groups: Groups) -> pd.Series:
    """Return the digest of each group's ids, missing for a group without any."""
    ids = pd.Series(update_ids.to_numpy()).sort_values()
    texts = (ids + "\n").groupby(groups.codes[ids.index]).agg("".join)
    digests = {int(str(code)): hashlib.sha256(text.encode()).hexdigest() for code, text in texts.items()}
    return pd.Series([digests.get(code) for code in range(len(groups))], dtype="str")
