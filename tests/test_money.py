"""Prices are exact, have a unit, and are never exchanged for each other."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.values.money import require_one_currency, require_price, require_traffic_price

TRAFFIC = lf.TrafficPrice("60", "USD/MB")
RATE = lf.NetworkRate("0.16", "USD/coin")
MARKET = lf.MarketRate("0.15", "EUR/coin")


def test_bytes_have_an_exact_price():
    values = pd.Series([1_234_567, 2_345_678, 345_678, None, 0, 1, 10**15], dtype="Int64")
    exact = ["74.07402", "140.74068", "20.74068", None, "0", "0.00006", "60000000000"]
    assert [None if pd.isna(each) else each for each in TRAFFIC.of_bytes(values)] == [each and Decimal(each) for each in exact]
    assert lf.TrafficPrice("16.6667", "USD/MB").of_bytes(pd.Series([1])).tolist() == [Decimal("0.0000166667")]


def test_coins_are_rounded_half_to_even():
    coins = RATE.coins(lf.decimals.multiply(pd.Series([7408, 14074, 2074]), "0.01"))
    assert coins.tolist() == [Decimal("463"), Decimal("879.625"), Decimal("129.625")]
    assert lf.NetworkRate(3, "USD/coin").coins(pd.Series([2])).tolist() == [Decimal("0.6666666667")]
    assert MARKET.value(coins).tolist() == [Decimal("69.45"), Decimal("131.94375"), Decimal("19.44375")]


def test_prices_of_two_kinds_are_never_equal():
    assert lf.NetworkRate("0.16", "USD/coin") == RATE
    assert lf.MarketRate("0.16", "USD/coin") != RATE
    assert hash(lf.NetworkRate("0.160", "USD/coin")) == hash(RATE)


@pytest.mark.parametrize(("value", "kind"), [(RATE, lf.MarketRate), (MARKET, lf.NetworkRate), (TRAFFIC, lf.NetworkRate)])
def test_prices_are_never_exchanged(value, kind):
    with pytest.raises(UsageError, match=rf"rate= must be a {kind.__name__}, got {type(value).__name__}\. Prices of two kinds"):
        require_price(value, kind, "rate")


def test_several_rates_are_no_rate():
    with pytest.raises(UsageError, match=r"rate= must be a NetworkRate, got list\. Pass one of them\."):
        require_price([RATE, RATE], lf.NetworkRate, "rate")


@pytest.mark.parametrize("value", [60, "60", Decimal(60)])
def test_a_number_is_no_price(value):
    step = r'Pass one such as lf\.TrafficPrice\("60", "USD/MB"\)\.'
    with pytest.raises(UsageError, match=rf"^price= must be a TrafficPrice, got {type(value).__name__}\. {step}$"):
        require_traffic_price(value)
    with pytest.raises(UsageError, match=r'such as lf\.TrafficPrice\("60", "USD/MB"\), got None'):
        require_traffic_price(None)


def test_currencies_and_coins_are_never_mixed():
    require_one_currency(TRAFFIC, RATE, MARKET)
    require_one_currency(TRAFFIC, None)
    with pytest.raises(UsageError, match="rate= must be in USD, the currency of price=, got 'EUR/coin'"):
        require_one_currency(TRAFFIC, lf.NetworkRate("0.16", "EUR/coin"))
    with pytest.raises(UsageError, match="Pass rate= too"):
        require_one_currency(TRAFFIC, None, MARKET)
    with pytest.raises(UsageError, match="the same coin as rate='USD/coin', got 'USD/gold'"):
        require_one_currency(TRAFFIC, RATE, lf.MarketRate("0.16", "USD/gold"))


@pytest.mark.parametrize("kind", [lf.TrafficPrice, lf.NetworkRate, lf.MarketRate])
@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "Infinity", "sixty", 0.16, True, None, "1e28", "0.00000000001"])
def test_an_amount_that_is_no_price_is_refused(kind, amount):
    with pytest.raises(UsageError, match="amount= must"):
        kind(amount, kind.unit_example)


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (lf.TrafficPrice, "USD/coin"),
        (lf.NetworkRate, "USD/MB"),
        (lf.MarketRate, "USD"),
        (lf.MarketRate, ""),
        (lf.NetworkRate, None),
    ],
)
def test_a_unit_of_another_kind_is_refused(kind, unit):
    with pytest.raises(UsageError, match=rf"unit= of {kind.__name__} must be like"):
        kind("1", unit)


def test_a_price_of_a_byte_that_no_amount_can_hold_is_refused():
    with pytest.raises(UsageError, match=r"at most 4 decimal places, got '60\.00001'"):
        lf.TrafficPrice("60.00001", "USD/MB")
    assert lf.TrafficPrice("60.0000000000", "USD/MB") == TRAFFIC


def test_prices_know_their_time_and_source():
    price = lf.TrafficPrice("60.50", "USD/MB", as_of="2026-11-08T12:00:00Z", source="round 7")
    assert price.as_of == pd.Timestamp("2026-11-08T12:00Z")
    assert price.source == "round 7"
    assert str(price) == "60.5 USD/MB, 2026-11-08"
    assert str(lf.TrafficPrice("100", "USD/MB")) == "100 USD/MB"
    assert str(lf.NetworkRate("1234567890123456789012345678.1234567891", "USD/coin")) == (
        "1234567890123456789012345678.1234567891 USD/coin"
    )
    with pytest.raises(UsageError, match="as_of="):
        lf.TrafficPrice("60", "USD/MB", as_of="a while ago")
