"""Sentences of a page's head, each recomputed from the rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.report.prices import Prices, read_prices
from ledgerframes.report.summary import summarize
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.texts import NOT_VISIBLE
from ledgerframes.report.summary.traffic import Costs, _change, _highest_kind, _reason
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

from .conftest import SINCE, UNTIL, connect
from .stored import least_size_of, weight_of
from .traffic_by_hand import signed_size

NOON = "2026-11-08T12:00:00Z"


@pytest.fixture(scope="module")
def periods(store: Path) -> Periods:
    day = lf.load_events(connect(store), since=SINCE, until=UNTIL)
    return Periods(day.between(NOON, UNTIL), day.between(SINCE, NOON))


def known_cost(frames: Frames) -> int:
    costs = frames.traffic["total_traffic_cost"]
    return int(costs[costs >= 0].sum())


def text_of(term: str, periods: Periods, prices: Prices | None = None) -> str:
    statements = summarize(["traffic", "verdicts", "activity"], periods, prices or Prices())
    (statement,) = (each for each in statements if each["term"] == term)
    return " ".join([statement["text"], *statement["details"]])


def test_the_total_and_its_price(periods: Periods) -> None:
    known = known_cost(periods.after)
    text = text_of("Traffic cost", periods, read_prices({"price": "60 USD/MB", "rate": "0.16 USD/coin"}))
    assert text.startswith(f"At least {least_size_of(known)}, ")
    cents = round(Fraction(known * 60, 10**4))
    coin_cents = round(Fraction(cents) / Fraction(16, 100))  # half to even, from the currency of the bill
    assert f"{Decimal(cents) / 100:,} USD or {Decimal(coin_cents) / 100:,} coin" in text


def test_the_change_and_its_parts_add_up(periods: Periods) -> None:
    assert periods.before is not None
    change = known_cost(periods.after) - known_cost(periods.before)
    text, details = _change(periods, Costs.of(periods.after), Prices())
    assert text.startswith(f"{signed_size(change)} (")
    parts = details[0].removeprefix("In bytes, it is made up of ").rstrip(".").replace(" and ", ", ").split(", ")
    assert sum(int(part.split(" from ")[0].replace(",", "").replace("−", "-")) for part in parts) == change


def test_a_dearer_kind_is_named_with_its_change() -> None:
    row: Any = SimpleNamespace(
        judgment="dearer", requests_before=106, requests_after=108, difference=2784, median_before=15307,
        low_all=749, high_all=4405, package_ids_before="071c", package_ids_after="071c, bd3074d20f918c3c",
        coverage_before=1.0, coverage_after=1.0,
    )  # fmt: skip
    assert _reason(row) == "108 requests (106 before), median cost +18.2 % (+749 to +4,405 bytes), with the new package bd3074d2"
    for row.judgment in ("no clear change", "too few"):
        assert _reason(row) == "108 requests (106 before)"
    row.coverage_before = 0.9  # so that 106 are not all that there were
    assert _reason(row) == "108 requests with a known cost (106 before)"
    row.judgment = "new"
    assert _reason(row) == "a new kind"


def test_the_highest_visible_kind_is_named_beside_those_that_are_not_visible() -> None:
    rows = {"kind": ["not visible", "transaction"], "template_name": [None, "A:B"], "choice": [None, "Run"], "share": [0.5, 0.3]}
    text = _highest_kind(pd.DataFrame(rows, dtype="object"))
    assert text.startswith(NOT_VISIBLE) and text.endswith("The highest of the visible kinds is Run, 30.0 %.")
    assert _highest_kind(pd.DataFrame(rows, dtype="object").tail(1)) == "Run: 30.0 % of the known cost."


@pytest.mark.parametrize(
    ("length", "name"),
    [
        (timedelta(days=7), "7 days before"),
        (timedelta(days=1), "day before"),
        (timedelta(hours=36), "36 hours before"),
        (timedelta(minutes=15), "15 minutes before"),
        (timedelta(seconds=2), "2 seconds before"),
    ],
)
def test_a_period_is_named_in_its_unit(length: timedelta, name: str) -> None:
    start = datetime(2026, 11, 8, tzinfo=UTC)
    frames: Any = SimpleNamespace(window=Window(start, start + length))
    assert Periods(frames, None).name == name


def test_the_rejections(periods: Periods) -> None:
    results = periods.after.verdicts["verdict_result"].astype("str")
    rejected, accepted = (int(results.str.contains(name).sum()) for name in ("REJECTED", "ACCEPTED"))
    assert text_of("Rejections", periods).startswith(f"{rejected:,} of {rejected + accepted:,} decided requests")


@pytest.mark.parametrize(("below", "words"), [(1, "1 of them timed out."), (2, "the limit of this network may not be 30 s.")])
def test_a_doubtful_limit_names_no_timeouts(below: int, words: str) -> None:
    start = datetime(2026, 11, 8, tzinfo=UTC)
    ends = [start + timedelta(seconds=seconds) for seconds in (*[25] * below, 30)]
    rejected = [
        {"update_id": f"u{n}", "record_time": start, "finalization_time": end, "verdict_result": "VERDICT_RESULT_REJECTED"}
        for n, end in enumerate(ends)
    ]
    frames = frames_of(window=Window(start, start + timedelta(days=1)), verdicts=rejected)
    assert text_of("Rejections", Periods(frames, None)).endswith(words)
    assert text_of("Cost of the rejections", Periods(frames, None)) == "Unknown."


def test_the_weight(periods: Periods) -> None:
    records = periods.after.activity_records
    weight = int(records["weight"].sum())
    assert text_of("Activity", periods).startswith(f"{weight_of(weight)} for ")  # not bytes, because factors apply
    assert f"for {records['party'].nunique():,} app providers" in text_of("Activity", periods)


def test_a_weight_and_a_cost_from_0_have_no_percentage() -> None:
    """A record with weight 0 stays (docs/facts.md#activity-weights)."""
    since, noon, until = (datetime(2026, 11, 8, hour, tzinfo=UTC) for hour in (0, 12, 18))
    sides = [Window(since.replace(hour=6), noon), Window(noon, until)]
    rows = [{"update_id": f"u{number}", "record_time": side.since} for number, side in enumerate(sides)]
    weights = [{**row, "party": "p::1", "weight": number, "round_number": number} for number, row in enumerate(rows)]
    costs = [{**row, "total_traffic_cost": number} for number, row in enumerate(rows)]
    day = frames_of(window=Window(since, until), updates=rows, traffic=costs, activity_records=weights)
    periods = Periods(day.between(noon, until), day.between(since.replace(hour=6), noon))
    change = "+1 weighted byte (from 0) against the 6 hours before. p::1: +1 weighted byte (from 0)."
    assert text_of("Change of the activity", periods) == change
    assert text_of("Change of the known cost", periods).startswith("+1 byte (from 0) against the 6 hours before.")


def test_nothing_is_compared_with_a_part(periods: Periods) -> None:
    alone = Periods(periods.after, None)
    for term in ("Change of the known cost", "Change of the rejections", "Change of the activity"):
        assert text_of(term, alone) == "Not compared, because the store does not have the 12 hours before."


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"price": "sixty USD/MB"}, "price= cannot be 'sixty USD/MB': the amount must be a number"),
        ({"price": "60USD/MB"}, "an amount and a unit"),
        ({"market": "0.15 USD/MB"}, "the unit must be like 'USD/coin', got 'USD/MB'"),
    ],
)
def test_a_text_that_is_no_price(texts: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_prices(texts)


def test_prices_of_two_coins_are_refused() -> None:
    with pytest.raises(UsageError, match="market= must be a price of the same coin as rate="):
        read_prices({"price": "60 USD/MB", "rate": "0.16 USD/coin", "market": "0.15 USD/token"})


def test_coins_have_a_market_value() -> None:
    assert read_prices({"market": "0.5 EUR/coin"}).of_coins(Decimal("10.125")) == (
        "10.12 coin, worth 5.06 EUR at the market price of 0.5 EUR/coin"
    )
