"""Prices of traffic next to those of the mining rounds in the window."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest
from network_world import World, at

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.report import read_prices

SIXTY, FIFTY = lf.TrafficPrice("60", "USD/MB"), lf.TrafficPrice("50", "USD/MB")
BOTH = [lf.TrafficPrice("60", "USD/MB", as_of=at(0)), lf.TrafficPrice("50", "USD/MB", as_of=at(600))]
RATE = lf.NetworkRate("0.16", "USD/coin")


def world(*prices: tuple[int, str], **named) -> World:
    """A megabyte before 10:00 and two after, and a round at these minutes with these prices."""
    made = World(**named)
    for number, (opens, price) in enumerate(prices):
        made.round(number, opens - 10, opens, extra={"trafficPrice": price})
    return made.request("early", 300, total=1_000_000).request("late", 900, total=2_000_000)


CHANGED = ((100, "60.0"), (110, "60.0"), (600, "50.0"), (610, "50.0"))


def bill_of(frames, **named):
    return lf.cost.statement(frames, **{"by": "participant", "every": None, "min_coverage": 0, **named})


def amounts_of(bill):
    return {key: amount for key, amount in zip(bill.iloc[:, 0], bill["currency"], strict=True) if isinstance(key, str)}


@pytest.mark.parametrize("coin", ["coin", "amulet"])
def test_a_price_that_the_rounds_contradict_is_refused(coin):
    frames = world((100, "50.0"), (110, "50.0"), coin=coin).frames()
    with pytest.raises(UsageError, match=r"price= is 60 USD/MB, but the rounds of this window have 50 USD/MB\. Pass the prices"):
        bill_of(frames, price=SIXTY)
    assert amounts_of(bill_of(frames, price=FIFTY)) == {"val-a": Decimal(150)}
    assert amounts_of(bill_of(frames, price=SIXTY, accept_price=True)) == {"val-a": Decimal(180)}
    with pytest.raises(UsageError, match="the rounds of this window have 50 USD/MB"):
        read_prices({"price": "60 USD/MB"}, frames)
    with pytest.raises(UsageError, match="the rounds of this window have 50 USD/MB"):
        lf.cost.compare(frames.between(at(0), at(95)), frames.between(at(95), at(1440)), price=SIXTY, rate=RATE)
    assert read_prices({"price": "50.00 USD/MB"}, frames).price == FIFTY
    with pytest.raises(UsageError, match="rate= must be in USD, the currency of the mining rounds, got 'EUR/coin'"):
        read_prices({"rate": "0.16 EUR/coin"}, frames)


def test_a_report_without_a_price_has_that_of_the_rounds():
    same, changed, without = (world(*rounds).frames() for rounds in (((100, "50.0"), (110, "50.0")), CHANGED, ()))
    assert read_prices({"price": ""}, same).price == FIFTY
    assert read_prices({"price": "", "rate": "0.16 USD/coin"}, same).of_bytes(1_000_000) == "50.00 USD or 312.50 coin"
    none = [read_prices({"price": ""}, frames) for frames in (changed, without, None)]
    none.append(read_prices({"price": "none"}, same))
    assert [prices.price for prices in none] == [None] * 4
    assert read_prices({"market": "0.15 USD/coin"}, same).price == FIFTY
    assert read_prices({"price": "", "rate": "0.16 USD/coin"}, changed).of_bytes(1_000_000) == ""
    assert [prices.obstacle for prices in none] == ["no amount, because the price of traffic changes in this window", "", "", ""]


@pytest.mark.parametrize("amount", ["16.6666666667", "0.0"])
def test_a_price_of_the_rounds_that_no_bill_can_have_is_said(amount):
    frames, price = world((100, amount)).frames(), lf.TrafficPrice("16.6667", "USD/MB")
    of_rounds = Decimal(amount).normalize()
    with pytest.raises(UsageError, match=rf"price= is 16\.6667 USD/MB, but the rounds of this window have {of_rounds} USD/MB\."):
        bill_of(frames, price=price)
    assert amounts_of(bill_of(frames, price=price, accept_price=True)) == {"val-a": Decimal("50.00")}
    prices = read_prices({"price": ""}, frames)
    assert (prices.price, prices.obstacle) == (
        None,
        "no amount, because the price of traffic in the rounds is 0 or has more than 4 decimal places",
    )


def test_a_price_is_checked_for_the_requests_of_one_participant_too():
    frames = world((100, "50.0")).frames().where("verdicts", participant="val-a")
    with pytest.raises(UsageError, match="the rounds of this window have 50 USD/MB"):
        bill_of(frames, price=SIXTY)


def test_each_part_of_a_window_over_a_change_has_its_own_price():
    frames = world(*CHANGED).frames()
    for one in (SIXTY, FIFTY):
        with pytest.raises(UsageError, match=r"have 60 USD/MB, then 50 USD/MB from 2026-11-08T10:00:00Z\."):
            bill_of(frames, price=one)
        with pytest.raises(UsageError, match=r"for a part of the window if it changes"):
            read_prices({"price": str(one)}, frames)
    bill = bill_of(frames, price=BOTH).set_index("submitting_participant_uid").loc["val-a"]
    assert bill["currency_exact"] == bill["currency"] == Decimal(60 + 100)
    assert pd.isna(bill["price"])  # it has two
    parts = [bill_of(part, price=price) for price, part in zip(BOTH, halves(frames), strict=True)]
    assert [amounts_of(part) for part in parts] == [{"val-a": Decimal(60)}, {"val-a": Decimal(100)}]
    hours = lf.cost.statement(frames, by="participant", every="1h", price=BOTH[::-1], min_coverage=0).dropna(subset="currency")
    assert hours["price"].tolist() == [Decimal(60), Decimal(50)]


def test_a_price_that_applies_a_little_too_late_is_told_from_that_of_the_rounds():
    prices = [SIXTY, lf.TrafficPrice("50", "USD/MB", as_of=at(601))]
    passed, wanted = (rf"60 USD/MB, then 50 USD/MB from 2026-11-08T10:0{minute}:00Z" for minute in (1, 0))
    with pytest.raises(UsageError, match=rf"price= is {passed}, but the rounds of this window have {wanted}\. Pass the prices"):
        bill_of(world(*CHANGED).frames(), price=prices)


def halves(frames):
    return frames.between(at(0), at(600)), frames.between(at(600), at(1440))


def test_the_last_price_before_a_time_counts_and_the_first_one_before_all():
    prices = [lf.TrafficPrice(amount, "USD/MB", as_of=at(minutes)) for amount, minutes in ((1, 300), (2, 901), (3, 900))]
    assert amounts_of(bill_of(world().frames(), price=prices)) == {"val-a": Decimal(1 + 2 * 3)}
    prices[0] = lf.TrafficPrice(1, "USD/MB", as_of=at(301))
    assert amounts_of(bill_of(world().frames(), price=prices)) == {"val-a": Decimal(1 + 2 * 3)}


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ([], "at least one TrafficPrice"),
        ([SIXTY, FIFTY], "prices of different times as_of="),
        ([BOTH[0], lf.TrafficPrice(1, "USD/MB", as_of=at(0))], "prices of different times as_of="),
        ([BOTH[0], lf.TrafficPrice(1, "EUR/MB", as_of=at(5))], "prices of one currency"),
        ([SIXTY, RATE], "price= must be a TrafficPrice, got NetworkRate"),
    ],
)
def test_prices_that_do_not_go_together_are_refused(prices, message):
    with pytest.raises(UsageError, match=message):
        bill_of(world().frames(), price=prices)


def test_what_says_nothing_about_the_price_contradicts_none():
    euro = lf.TrafficPrice("55", "EUR/MB")
    assert amounts_of(bill_of(world((100, "50.0")).frames(), price=euro)) == {"val-a": Decimal(165)}
    others = [
        world().round(1, 10, 20),  # a round of markers has no price
        world().round(1, 10, 20, extra={"trafficPrice": "50.0"}, signatories=["eve"]),
        world().round(1, 10, 20, extra={"trafficPrice": "50.0"}, package="evil"),
        world().round(1, 1435, 1445, extra={"trafficPrice": "50.0"}),  # opens after the window
        world((100, "50.0")).round(1, 10, 20, extra={"trafficPrice": "40.0", "dso": "eve"}, signatories=["eve"]),
    ]
    for each in others:
        assert amounts_of(bill_of(each.frames(), price=SIXTY)) == {"val-a": Decimal(180)}


def test_head_table_and_bill_of_one_week_agree_to_the_cent():
    """The exact amount ends between two cents, and coin follows from the rounded one."""
    made = world()
    for number, total in enumerate((37_290_109, 1_234_567, 333)):
        made.request(f"r{number}", 400 + number, total=total, participant=f"val-{number}")
    frames = made.frames()
    total = int(frames.traffic["total_traffic_cost"].sum())
    prices = read_prices({"price": "50 USD/MB", "rate": "0.16 USD/coin"}, frames)
    for every, by in ((None, "participant"), ("7d", "participant"), (None, None)):
        bill = lf.cost.statement(frames, by=by, every=every, price=prices.price, rate=prices.rate, min_coverage=0)
        currency, coin = lf.decimals.total(bill["currency"]), lf.decimals.total(bill["coin"])
        assert prices.of_bytes(total) == f"{currency:,.2f} USD or {coin:,.2f} coin"
