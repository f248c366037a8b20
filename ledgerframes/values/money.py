"""Prices of traffic and of the coin, as separate types.

A traffic price converts bytes to currency, and a rate converts between currency and coin. The network's own conversion rate and
a market price are two facts (docs/facts.md#two-prices), so they have two types, and no function takes one for the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import ClassVar, TypeVar

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.values import decimals
from ledgerframes.values.windows import Time, instant

__all__ = ["MarketRate", "NetworkRate", "TrafficPrice"]

# A millionth of a price with 4 decimal places has 10, as many as an amount can have.
MAX_PRICE_DECIMALS = 4
CENT = Decimal("0.01")
FIRST_TIME = datetime.min.replace(tzinfo=UTC)
UNIT = re.compile(r"([A-Z][A-Z0-9]{1,9})/([A-Za-z][A-Za-z0-9_-]*)")


def rounded(amount: Decimal, unit: Decimal = CENT) -> Decimal:
    """Return an amount in whole units, half to even.

    All totals of money are rounded once, by this rule: in bills, entries, reports and notebooks.
    """
    return amount.quantize(unit, ROUND_HALF_EVEN, decimals.EXACT)


@dataclass(frozen=True)
class _Price:
    """A price with its unit, time and source."""

    amount: Decimal
    unit: str
    as_of: datetime | None
    source: str
    currency: str = field(init=False)

    amount_example: ClassVar[str]
    unit_example: ClassVar[str]
    max_decimals: ClassVar[int] = decimals.DECIMAL_DIGITS

    def __init__(self, amount: Decimal | int | str, unit: str, *, as_of: Time | None = None, source: str = "") -> None:
        values = {
            "amount": self._amount(amount),
            "unit": unit,
            "as_of": None if as_of is None else instant(as_of, "as_of"),
            "source": source,
            "currency": self._currency(unit),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _amount(self, value: object) -> Decimal:
        number = decimals.exact_number(value, "amount", self.max_decimals)
        if not 0 < number < 10 ** (decimals.PRECISION - decimals.DECIMAL_DIGITS):
            raise UsageError(f"amount= must be above 0 and below 10^28, got {value!r}.")
        return decimals.EXACT.quantize(number, Decimal(1).scaleb(-self.max_decimals))

    def _currency(self, unit: object) -> str:
        match = UNIT.fullmatch(unit) if isinstance(unit, str) else None
        if match is None or (match[2] == "MB") != self.unit_example.endswith("/MB"):
            raise UsageError(f"unit= of {type(self).__name__} must be like {self.unit_example!r}, got {unit!r}.")
        return match[1]

    def __str__(self) -> str:
        time = "" if self.as_of is None else f", {self.as_of:%Y-%m-%d}"
        return f"{self.amount.normalize(decimals.EXACT):f} {self.unit}{time}"


class TrafficPrice(_Price):
    """Price of traffic in currency per megabyte, which is 10^6 bytes.

    It is the list price. A participant has a free base rate, so what it paid can be less.

    Parameters
    ----------
    amount : Decimal, int or str
        Price above 0, with at most 4 decimal places, so that a byte has an exact price.
    unit : str
        Currency per megabyte, such as ``"USD/MB"``.
    as_of : str, date or datetime, optional
        Time of the price.
    source : str, optional
        Origin of the price, such as the round with the price.

    Raises
    ------
    UsageError
        If the amount or the unit is not valid.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> price = lf.TrafficPrice("60", "USD/MB", as_of="2026-11-08", source="round 7")
    >>> price.of_bytes(pd.Series([1_234_567])).tolist()
    [Decimal('74.0740200000')]
    """

    amount_example = "60"
    unit_example = "USD/MB"
    max_decimals = MAX_PRICE_DECIMALS

    def of_bytes(self, values: pd.Series) -> pd.Series:
        """Return the exact price of bytes, in currency, missing where the bytes are."""
        return decimals.multiply(values, decimals.EXACT.scaleb(self.amount, -6), name="currency")


class _Rate(_Price):
    amount_example = "0.16"
    unit_example = "USD/coin"

    def coins(self, amounts: pd.Series) -> pd.Series:
        """Return amounts of currency in coin, rounded half to even to 10 decimal places."""
        return decimals.divide(amounts, self.amount, name="coin")

    def value(self, coins: pd.Series) -> pd.Series:
        """Return amounts of coin in currency, rounded half to even to 10 decimal places."""
        return decimals.multiply(coins, self.amount, name="currency")


class NetworkRate(_Rate):
    """The network's own conversion rate, in currency per coin.

    Super validators vote on it, and each round has one. It is not a market price.

    Parameters
    ----------
    amount : Decimal, int or str
        Rate above 0, with at most 10 decimal places.
    unit : str
        Currency per coin, such as ``"USD/coin"``, or with the network's own word for the coin.
    as_of : str, date or datetime, optional
        Time of the rate.
    source : str, optional
        Origin of the rate, such as the round or the observation of votes.

    Raises
    ------
    UsageError
        If the amount or the unit is not valid.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> rate = lf.NetworkRate("0.16", "USD/coin")
    >>> rate.coins(lf.TrafficPrice(60, "USD/MB").of_bytes(pd.Series([1_000_000]))).tolist()
    [Decimal('375.0000000000')]
    """


class MarketRate(_Rate):
    """A market price of the coin, in currency per coin.

    It values coins that somebody has or earns. Fees and traffic follow the network's own rate.

    Parameters
    ----------
    amount, unit, as_of, source
        As for :class:`NetworkRate`; the source is the market.

    Examples
    --------
    >>> import pandas as pd, ledgerframes as lf
    >>> str(lf.MarketRate("0.1512", "USD/coin", as_of="2026-11-08", source="exchange"))
    '0.1512 USD/coin, 2026-11-08'
    """


Price = TypeVar("Price", TrafficPrice, NetworkRate, MarketRate)


def require_price(value: Price | None, kind: type[Price], argument: str) -> Price | None:
    """Return a price of this kind or None, and refuse a price of another kind."""
    if value is None or type(value) is kind:
        return value
    if isinstance(value, _Price):
        step = "Prices of two kinds are never exchanged."
    elif isinstance(value, list | tuple):
        step = "Pass one of them."
    else:
        step = f'Pass one such as lf.{kind.__name__}("{kind.amount_example}", "{kind.unit_example}").'
    raise UsageError(f"{argument}= must be a {kind.__name__}, got {type(value).__name__}. {step}")


def require_traffic_price(price: TrafficPrice | None) -> TrafficPrice:
    """Return the price of traffic."""
    price = require_price(price, TrafficPrice, "price")
    if price is None:
        raise UsageError('price= must be a TrafficPrice, such as lf.TrafficPrice("60", "USD/MB"), got None.')
    return price


def require_traffic_prices(price: TrafficPrice | Sequence[TrafficPrice] | None) -> tuple[TrafficPrice, ...]:
    """Return one or several prices of traffic, in the order of their times."""
    if not isinstance(price, list | tuple):
        return (require_traffic_price(price),)  # type: ignore[arg-type]
    prices = [require_traffic_price(each) for each in price]
    if not prices:
        raise UsageError("price= must have at least one TrafficPrice, got none.")
    if len({each.currency for each in prices}) > 1:
        raise UsageError(f"price= must have prices of one currency, got {', '.join(map(str, prices))}.")
    if len({each.as_of for each in prices}) < len(prices):
        raise UsageError(f"price= must have prices of different times as_of=, got {', '.join(map(str, prices))}.")
    return tuple(sorted(prices, key=lambda each: each.as_of or FIRST_TIME))


def require_one_currency(price: TrafficPrice, rate: NetworkRate | None, market: MarketRate | None = None) -> None:
    """Raise a UsageError if prices are of two currencies or two coins."""
    if rate is not None and rate.currency != price.currency:
        raise UsageError(f"rate= must be in {price.currency}, the currency of price=, got {rate.unit!r}.")
    if market is None:
        return
    if rate is None:
        raise UsageError("Pass rate= too: market= values an amount of coin, which follows from the network's own rate.")
    if market.unit.partition("/")[2] != rate.unit.partition("/")[2]:
        raise UsageError(f"market= must be a price of the same coin as rate={rate.unit!r}, got {market.unit!r}.")
