"""A report for a participant opens with its own cost, and one on a balance with how long it lasts."""

from __future__ import annotations

import math
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers
from ledgerframes.report.key_figure import KeyFigure
from ledgerframes.report.key_figures import _rewards, change_of_rewards, measure_key_figures
from ledgerframes.report.own_figures import _end, balance_left, own_cost
from ledgerframes.report.prices import Prices, read_prices
from ledgerframes.report.summary.periods import Periods, Rewards
from ledgerframes.testing import frames_of
from ledgerframes.values import decimals
from ledgerframes.values.windows import Window

from .stored import middle, size_of
from .test_heads import DAY, MONDAY, WEEK, WEEK_BEFORE, decided, without_cost

PRICES = read_prices({"price": "50 USD/MB"})
OPERATIONS = ("balance", "traffic", "verdicts")
COUNTS = {(day, name): (1, most - 7 * day % 11) for day in range(28) for name, most in (("payer", 30), ("other", 15))}


def figures_of(periods: Periods, subjects: tuple[str, ...]) -> list[KeyFigure]:
    days = daily_integers(periods.after)
    return measure_key_figures(periods, Prices(), measure_headline(periods.after), days, subjects)


def labels(periods: Periods, subjects: tuple[str, ...]) -> list[str]:
    return [each["label"] for each in figures_of(periods, subjects)]


def test_the_own_cost_is_that_of_the_participant_by_day() -> None:
    after = decided({(0, "ours"): (0, 30), (2, "ours"): (0, 10), (2, "theirs"): (0, 80)}, cost=1_000_000)
    before = decided({(0, "theirs"): (0, 10), (1, "ours"): (0, 50)}, WEEK_BEFORE, cost=1_000_000)
    figure = own_cost(Periods(after, before, participant="ours"), PRICES, daily_integers(before), daily_integers(after))
    assert (figure["label"], figure["value"], figure["change"]) == ("Own traffic cost", "40.0 MB", "−20.0 %")
    assert figure["note"] == "2,000.00 USD · 33.3 % of all known · paid by ours"
    assert figure["days"] == [30_000_000, 0, 10_000_000, 0, 0, 0, 0]
    assert figure["before"] == [0, 50_000_000, 0, 0, 0, 0, 0]


def test_a_participant_without_a_known_cost_has_none() -> None:
    after = without_cost(decided({(0, "ours"): (0, 3), (0, "theirs"): (0, 30)}), "0-ours")
    figure = own_cost(Periods(after, None, participant="ours"), PRICES, [], daily_integers(after))
    assert (figure["value"], figure["note"], figure["days"]) == ("–", "no cost of ours is known", [])
    figure = own_cost(Periods(after, None, participant="quiet"), PRICES, [], daily_integers(after))
    assert (figure["value"], figure["note"], figure["days"]) == ("0 bytes", "no request of quiet", [])


def test_a_balance_of_0_is_used_up_and_not_unknown() -> None:
    after = decided({(0, "ours"): (0, 30)})
    assert balance_left(Periods(after, None)) is None
    figure = balance_left(Periods(after, None, balance=0))
    assert figure is not None
    assert (figure["value"], figure["note"]) == ("0 days", "0 bytes given for ours · buy traffic now")


def test_a_cost_says_why_it_has_no_amount() -> None:
    prices = Prices(obstacle="no amount, because the price of traffic changes in this window")
    after = decided({(0, "ours"): (0, 30), (2, "theirs"): (0, 10)}, cost=1_000_000)
    periods = (Periods(after, None, participant=each) for each in ("", "ours"))
    heads = [measure_key_figures(each, prices, measure_headline(after), daily_integers(after))[0] for each in periods]
    assert [each["label"] for each in heads] == ["Traffic cost", "Own traffic cost"]
    assert all(each["note"].startswith(f"{prices.obstacle} · ") for each in heads)


def test_a_day_whose_costs_are_all_unknown_is_not_a_day_without_cost() -> None:
    known = decided({(0, "ours"): (0, 30), (2, "ours"): (0, 10), (4, "theirs"): (0, 5)}, cost=1_000_000)
    traffic = known.traffic[~known.traffic["update_id"].str.startswith(("2-", "4-"))]
    rows = {"verdicts": known.verdicts.to_dict("records"), "traffic": traffic.to_dict("records")}
    after = frames_of(window=WEEK, network="memory", **rows)
    figure = own_cost(Periods(after, None, participant="ours"), PRICES, [], daily_integers(after))
    assert figure["days"] == [30_000_000, 0, None, 0, 0, 0, 0]
    assert (figure["value"], figure["note"]) == ("≥ 30.0 MB", "≥ 1,500.00 USD · 100 % of all known · paid by ours")


@pytest.mark.parametrize("part", [2, 4_000_000])
def test_a_balance_lasts_as_the_forecast_says(part: int) -> None:
    weeks = decided(COUNTS, Window(WEEK.until - 28 * DAY, WEEK.until))
    after = weeks.between(MONDAY, WEEK.until)
    burn = int(lf.cost.spend(after, by="participant")["total_traffic_cost"][0])
    balance = burn * part // 4
    periods = Periods(after, None, weeks=weeks, balance=balance)
    (row,) = lf.cost.runway_end(weeks, participant="payer", balance=lf.TrafficBalance(balance, WEEK.until)).itertuples()
    figure = balance_left(periods)
    assert figure is not None and figure["label"] == "Traffic balance lasts"
    if part > 2:
        assert (figure["value"], figure["note"]) == ("more than a year", f"{size_of(balance)} given for payer · in 9 of 10 cases")
        return
    first, last = ((end - row.balance_at).days for end in (row.runs_dry_first, row.runs_dry_last))
    assert figure["value"] == (f"{first} to {last} days" if first != last else f"{first} days")
    since, until = (f"{end:%Y-%m-%d}" for end in (row.runs_dry_first, row.runs_dry_last))
    ends = f"runs out {f'on {since}' if since == until else f'between {since} and {until}'}, in 4 of 5 cases"
    step = f"buy traffic before {row.runs_dry_first:%Y-%m-%d %H:%M} UTC"
    assert figure["note"] == f"{size_of(balance)} given for payer · {ends} · {step}"


def test_what_a_report_is_for_comes_first() -> None:
    weeks = decided(COUNTS, Window(WEEK.until - 28 * DAY, WEEK.until))
    after = weeks.between(MONDAY, WEEK.until)
    usual = ["Traffic cost", "Wasted on rejections", "Rejected", "Latency, median"]
    own = Periods(after, None, weeks=weeks, participant="payer", balance=1_000_000)
    assert labels(own, OPERATIONS) == ["Traffic balance lasts", "Own traffic cost", *usual[1:3]]
    notes = [each["note"] for each in figures_of(own, OPERATIONS)]
    assert [note.endswith("· of all participants") for note in notes] == [False, False, True, True]
    assert labels(own, ("traffic", "balance")) == ["Own traffic cost", *usual[1:]], "the week is about all that was paid"
    assert labels(Periods(after, None, weeks=weeks), OPERATIONS) == usual
    assert labels(Periods(after, None, balance=1_000_000), OPERATIONS) == usual, "without the weeks before, there is no forecast"


@pytest.mark.parametrize(("participant", "note"), [("", "1 of 1 round"), ("ours", "1 of 1 round · of all app providers")])
def test_rewards_next_to_a_single_participant_say_whose_they_are(participant: str, note: str) -> None:
    days = daily_integers(decided({(0, "ours"): (0, 30), (1, "ours"): (0, 30)}))
    rounds = pd.DataFrame({"opens_at": [MONDAY], "amount": pd.Series([Decimal("1.5")], dtype=decimals.DTYPE)})
    rewards = {"rewards": Rewards(1, 1, Decimal("1.5")), "rounds": rounds, "rewards_before": None, "rounds_before": None}
    periods: Any = SimpleNamespace(**rewards, weeks=None, state=None, participant=participant)
    figure = _rewards(periods, Prices(), [], days)
    assert figure is not None
    assert (figure["value"], figure["note"], figure["days"][:2]) == ("1.50 coin", note, [1.5, None])


@pytest.mark.parametrize(
    ("before", "change"),
    [
        (Rewards(100, 100, Decimal("8.0")), "+25.0 %"),
        (Rewards(100, 100, Decimal(15)), "−33.3 %"),
        (Rewards(98, 100, Decimal(8)), ""),  # more rounds of it are unknown
        (Rewards(100, 100, Decimal(0)), ""),
        (Rewards(0, 100, None), ""),
        (None, ""),
    ],
)
def test_rewards_change_against_as_many_known_rounds(before: Rewards | None, change: str) -> None:
    assert change_of_rewards(before, Rewards(1_000, 1_000, Decimal("10.0000000000"))) == change


def accepted_seconds(day: int) -> list[int]:
    """The latencies of a day in seconds, which are the hours of its requests."""
    return [number % 24 for (each, _), counts in COUNTS.items() if each == day for number in range(*counts)]


@pytest.mark.parametrize("has_weeks", [True, False])
def test_the_days_before_end_before_the_day_in_which_a_window_begins(has_weeks: bool) -> None:
    """The window begins and ends at noon, so that its first and its last day are no whole days."""
    weeks = decided(COUNTS, Window(WEEK.until - 28 * DAY, WEEK.until))
    noon = WEEK.until - 3.5 * DAY
    after, before, past = (weeks.between(noon + start * DAY, noon + end * DAY) for start, end in ((0, 2), (-2, 0), (-20, 2)))
    periods = Periods(after, None, weeks=past) if has_weeks else Periods(after, before)
    cost, waste, _, latency = figures_of(periods, ("traffic",))
    costs = [sum(100 * decisions for (day, _), (_, decisions) in COUNTS.items() if day == each) for each in range(28)]
    assert cost["before"] == [None, *costs[5 if has_weeks else 23 : 24]]
    assert cost["days"] == [None, costs[25], None]
    medians = [middle(accepted_seconds(day)) * 1_000_000 for day in range(28)]
    assert latency["days"] == [None, medians[25], None], "a part of a day is no day"
    assert latency["before"] == [None, *medians[5 if has_weeks else 23 : 24]]
    assert len(waste["before"]) == len(cost["before"])


def test_an_amount_that_is_a_lower_bound_is_rounded_down() -> None:
    prices = read_prices({"price": "50 USD/MB", "rate": "0.16 USD/coin"})
    assert prices.of_bytes(1_000_110, is_lower_bound=True) == "≥ 50.00 USD or 312.50 coin"
    assert prices.of_bytes(1_000_110) == "50.01 USD or 312.56 coin"


def test_the_end_of_a_balance_can_be_without_a_band() -> None:
    start = pd.Timestamp("2026-11-08", tz="UTC")
    row = SimpleNamespace(factor=math.nan, runs_dry_first=pd.NaT, runs_dry_middle=pd.NaT, runs_dry_last=pd.NaT)
    assert _end(row) == "at mean burn"
    assert _end(SimpleNamespace(**{**vars(row), "runs_dry_middle": start})) == "runs out on 2026-11-08 at mean burn"
    assert _end(SimpleNamespace(**{**vars(row), "factor": 1.2})) == "in 9 of 10 cases"
