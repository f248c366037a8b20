"""Prices as parameters of a report, and amounts of bytes as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

import pandas as pd

from ledgerframes import decimals
from ledgerframes.errors import UsageError
from ledgerframes.money import MarketRate, NetworkRate, TrafficPrice, require_one_currency

KINDS: dict[str, type[TrafficPrice | NetworkRate | MarketRate]] = {
    "price": TrafficPrice,
    "rate": NetworkRate,
    "market": MarketRate,
}
CENT = Decimal("0.01")


@dataclass(frozen=True)
class Prices:
    """The prices of a report, each of them missing if the report has no such parameter.

    Attributes
    ----------
    price : TrafficPrice or None
        List price of traffic.
    rate : NetworkRate or None
        The network's own rate.
    market : MarketRate or None
        Market price of the coin.
    """

    price: TrafficPrice | None = None
    rate: NetworkRate | None = None
    market: MarketRate | None = None

    @property
    def basis(self) -> str:
        """The prices that :meth:`of_bytes` uses, empty without any."""
        if self.price is None:
            return ""
        rate = f" and the network's rate of {self.rate}" if self.rate else ""
        return f"at the list price of {self.price}{rate}"

    def of_bytes(self, number: int, *, is_at_least: bool = False) -> str:
        """Return what traffic costs in currency and coin, an empty text without a price.

        Parameters
        ----------
        number : int
            Traffic cost [bytes].
        is_at_least : bool, optional
            Whether to round down instead of half to even (default: False).

        Examples
        --------
        >>> read_prices({"price": "60 USD/MB", "rate": "0.16 USD/coin"}).of_bytes(1_000_000)
        '60.00 USD or 375.00 coin'
        """
        if self.price is None:
            return ""
        rounding = ROUND_FLOOR if is_at_least else ROUND_HALF_EVEN
        currency = self.price.of_bytes(pd.Series([number], dtype="Int64"))
        amounts = [f"{_cents(currency.iloc[0], rounding)} {self.price.currency}"]
        if self.rate:
            amounts.append(f"{_cents(self.rate.coins(currency).iloc[0], rounding)} {coin_of(self.rate)}")
        return " or ".join(amounts)

    def of_coins(self, amount: Decimal) -> str:
        """Return an amount of coin, with its market value if there is a market price.

        Examples
        --------
        >>> read_prices({"market": "0.15 USD/coin"}).of_coins(Decimal(1000))
        '1,000.00 coin, worth 150.00 USD on the market'
        """
        coins = f"{_cents(amount, ROUND_HALF_EVEN)} {coin_of(self.market or self.rate)}"
        if self.market is None:
            return coins
        value = self.market.value(pd.Series([amount], dtype=decimals.DTYPE)).iloc[0]
        return f"{coins}, worth {_cents(value, ROUND_HALF_EVEN)} {self.market.currency} on the market"


def read_price(parameter: str, text: str) -> TrafficPrice | NetworkRate | MarketRate:
    """Return the price that a parameter in :data:`KINDS` is set to.

    >>> read_price("rate", "0.16 USD/coin")
    NetworkRate(amount=Decimal('0.1600000000'), unit='USD/coin', as_of=None, source='', currency='USD')
    """
    kind, parts = KINDS[parameter], text.split()
    if len(parts) != 2:
        raise UsageError(f"{parameter}= must be an amount and a unit, such as '60 {kind.unit_example}', got {text!r}.")
    return kind(parts[0], parts[1])


def read_prices(parameters: Mapping[str, Any]) -> Prices:
    """Return the prices among the parameters of a report.

    Parameters
    ----------
    parameters : mapping
        Those named ``price``, ``rate`` and ``market`` are texts, empty without such a price.

    Raises
    ------
    UsageError
        If a text is no price, or the prices are of two currencies or coins.
    """
    texts = {name: str(parameters.get(name) or "") for name in KINDS}
    prices = Prices(**{name: read_price(name, text) for name, text in texts.items() if text})  # type: ignore[arg-type]
    if prices.price:
        require_one_currency(prices.price, prices.rate)
    elif prices.rate:
        raise UsageError("Pass price= too, because rate= converts what traffic costs at this price.")
    return prices


def coin_of(rate: NetworkRate | MarketRate | None) -> str:
    """Return the word for the coin in the unit of a rate."""
    return rate.unit.partition("/")[2] if rate else "coin"


def _cents(amount: Decimal, rounding: str) -> str:
    return f"{amount.quantize(CENT, rounding):,}"
