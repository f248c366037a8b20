"""Prices as parameters of a report, and amounts of bytes as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import pandas as pd

from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.values import decimals
from ledgerframes.values.money import (
    CENT,
    MAX_PRICE_DECIMALS,
    MarketRate,
    NetworkRate,
    TrafficPrice,
    require_one_currency,
    rounded,
)

KINDS: dict[str, type[TrafficPrice | NetworkRate | MarketRate]] = {
    "price": TrafficPrice,
    "rate": NetworkRate,
    "market": MarketRate,
}
NO_PRICE = "none"
CHANGED = "no amount, because the price of traffic changes in this window"
INEXACT = f"no amount, because the price of traffic in the rounds is 0 or has more than {MAX_PRICE_DECIMALS} decimal places"
PRICE_STEP = "Set price= to that of the rounds, for a part of the window if it changes, or leave it out."


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
    obstacle : str
        Why there is no list price. Empty if there is one, or no reason to expect one.
    """

    price: TrafficPrice | None = None
    rate: NetworkRate | None = None
    market: MarketRate | None = None
    obstacle: str = ""

    @property
    def basis(self) -> str:
        """The prices that :meth:`of_bytes` uses, empty without any."""
        if self.price is None:
            return ""
        rate = f" and the network's rate of {self.rate}" if self.rate else ""
        return f"at the list price of {self.price}{rate}"

    def of_bytes(self, number: int, *, is_lower_bound: bool = False) -> str:
        """Return what traffic costs in currency and coin, an empty text without a price.

        The currency is that of the total of a bill of these bytes, rounded half to even to cents. The coin follows from it.
        Lower bounds are rounded down.

        Parameters
        ----------
        number : int
            Traffic cost [bytes].
        is_lower_bound : bool, optional
            Whether the cost is at least this number (default: False).

        Examples
        --------
        >>> read_prices({"price": "60 USD/MB", "rate": "0.16 USD/coin"}).of_bytes(1_000_000)
        '60.00 USD or 375.00 coin'
        """
        if self.price is None:
            return ""
        round_amount = _rounded_down if is_lower_bound else rounded
        currency = round_amount(self.price.of_bytes(pd.Series([number], dtype="Int64")).iloc[0])
        texts = [f"{currency:,} {self.price.currency}"]
        if self.rate:
            coins = round_amount(self.rate.coins(pd.Series([currency], dtype=decimals.DTYPE)).iloc[0])
            texts.append(f"{coins:,} {coin_of(self.rate)}")
        return f"{'≥ ' if is_lower_bound else ''}{' or '.join(texts)}"

    def describe_bytes(self, number: int, *, is_lower_bound: bool = False) -> str:
        """Return the text of :meth:`of_bytes` for a key figure.

        If other coin is at a market price, it says that this is at the network's rate. Without a price, it says why.

        Examples
        --------
        >>> prices = read_prices({"price": "60 USD/MB", "rate": "0.16 USD/coin", "market": "0.15 USD/coin"})
        >>> prices.describe_bytes(1_000_000)
        "60.00 USD or 375.00 coin at the network's rate of 0.16 USD/coin"
        """
        amount = self.of_bytes(number, is_lower_bound=is_lower_bound) or self.obstacle
        return f"{amount} at the network's rate of {self.rate}" if self.price and self.rate and self.market else amount

    def of_coins(self, amount: Decimal) -> str:
        """Return an amount of coin, with its market value if there is a market price.

        Examples
        --------
        >>> read_prices({"market": "0.15 USD/coin"}).of_coins(Decimal(1000))
        '1,000.00 coin, worth 150.00 USD at the market price of 0.15 USD/coin'
        """
        return ", worth ".join(filter(None, [self.coins(amount), self.market_value(amount)]))

    def coins(self, amount: Decimal) -> str:
        """Return an amount of coin."""
        return f"{rounded(amount):,} {coin_of(self.market or self.rate)}"

    def market_value(self, amount: Decimal) -> str:
        """Return the value of an amount of coin, an empty text without a market price."""
        if self.market is None:
            return ""
        value = self.market.value(pd.Series([amount], dtype=decimals.DTYPE))
        return f"{_cents(value)} {self.market.currency} at the market price of {self.market}"


def read_price(parameter: str, text: str) -> TrafficPrice | NetworkRate | MarketRate:
    """Return the price that a parameter in :data:`KINDS` is set to.

    >>> read_price("rate", "0.16 USD/coin")
    NetworkRate(amount=Decimal('0.1600000000'), unit='USD/coin', as_of=None, source='', currency='USD')
    """
    kind, parts = KINDS[parameter], text.split()
    if len(parts) != 2:
        example = f"{kind.amount_example} {kind.unit_example}"
        raise UsageError(f"{parameter}= must be an amount and a unit, such as {example!r}, got {text!r}.")
    try:
        return kind(parts[0], parts[1])
    except UsageError as error:
        reason = str(error).replace("amount=", "the amount").replace(f"unit= of {kind.__name__}", "the unit")
        raise UsageError(f"{parameter}= cannot be {text!r}: {reason}") from None


def read_prices(parameters: Mapping[str, Any], frames: Frames | None = None) -> Prices:
    """Return the prices among the parameters of a report.

    Parameters
    ----------
    parameters : mapping
        Those named ``price``, ``rate`` and ``market`` are texts, empty without such a price. An empty or absent ``price`` is
        that of the mining rounds of the window, and ``none`` is no price.
    frames : Frames, optional
        Those of the window of the report. Without them, and if the rounds have no price, several, or one that is not a
        TrafficPrice, an empty price is missing.

    Raises
    ------
    UsageError
        If a text is no price, ``price`` and ``rate`` are of two currencies, ``rate`` and ``market`` of two coins, or the mining
        rounds of the window have another price.
    """
    texts = {name: str(parameters.get(name) or "") for name in KINDS}
    has_price = texts["price"] != NO_PRICE
    if not has_price:
        texts["price"] = ""
    prices = Prices(**{name: read_price(name, text) for name, text in texts.items() if text})  # type: ignore[arg-type]
    if prices.rate and not has_price:
        raise UsageError("Pass price= too, because rate= converts what traffic costs at this price.")
    if has_price and frames is not None:
        prices = _with_rounds(prices, frames)
    if prices.price and prices.rate and not texts["price"] and prices.rate.currency != prices.price.currency:
        reason = f"{prices.price.currency}, the currency of the mining rounds"
        raise UsageError(f"rate= must be in {reason}, got {prices.rate.unit!r}.")
    if prices.price:
        # A price of the market needs no rate in a report: it values rewards, too.
        require_one_currency(prices.price, prices.rate, prices.market if prices.rate else None)
    return prices


def _with_rounds(prices: Prices, frames: Frames) -> Prices:
    """Return prices with the price of the mining rounds of a window, unless one is given.

    That one must not contradict them.
    """
    from ledgerframes.analysis.state import traffic_prices  # late: it needs all of the analyses

    if prices.price is None:
        amounts = {each.amount for each in traffic_prices.round_prices(frames)}
        price = traffic_prices.one_price_of_rounds(frames)
        obstacle = "" if price or not amounts else INEXACT if len(amounts) == 1 else CHANGED
        return replace(prices, price=price, obstacle=obstacle)
    traffic_prices.require_prices_of_rounds(frames, [prices.price], PRICE_STEP)
    return prices


def check_price(parameters: Mapping[str, Any], frames: Frames) -> None:
    """Raise a UsageError if the rounds of a window contradict the price that is given."""
    if parameters.get("price"):
        read_prices(parameters, frames)


def coin_of(rate: NetworkRate | MarketRate | None) -> str:
    """Return the word for the coin in the unit of a rate."""
    return rate.unit.partition("/")[2] if rate else "coin"


def _rounded_down(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_FLOOR, decimals.EXACT)


def _cents(amounts: pd.Series) -> str:
    return f"{rounded(amounts.iloc[0]):,}"
