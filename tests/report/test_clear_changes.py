"""The change of a key figure is clear if its week is outside the usual range, which loops make again."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ledgerframes.report.clear_changes import is_clear_cost, is_clear_median, is_clear_sum, is_clear_waste
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers
from ledgerframes.report.key_figure import KeyFigure
from ledgerframes.report.key_figures import _rewards_by_day, measure_key_figures
from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.periods import Periods
from ledgerframes.testing import frames_of
from ledgerframes.values import decimals
from ledgerframes.values.windows import Window, iso

from .test_heads import DAY, MONDAY, WEEK, WEEK_BEFORE, decided

T995 = {3: 5.8409, 4: 4.6041, 5: 4.0321}  # Student's t, 99.5 %, by degrees of freedom, from a table
SUMS = [700, 770, 630, 735, 665, 707]
DAYS_OF_WEEK = 7


def usual_range(sums: list[int]) -> tuple[float, float]:
    """The range of a week's sum, from its logarithms."""
    logarithms = [math.log(total) for total in sums]
    mean = sum(logarithms) / len(sums)
    variance = sum((each - mean) ** 2 for each in logarithms) / (len(sums) - 1)
    half = T995[len(sums) - 1] * math.sqrt(variance * (1 + 1 / len(sums)))
    return math.exp(mean - half), math.exp(mean + half)


def days_of(sums: list[int]) -> list[float | None]:
    return [total / DAYS_OF_WEEK for total in sums for _ in range(DAYS_OF_WEEK)]


@pytest.mark.parametrize("count", [4, 5, 6])
def test_a_sum_is_clear_outside_the_usual_range(count: int) -> None:
    low, high = usual_range(SUMS[-count:])
    before = days_of(SUMS[-count:])
    for total, is_clear in ((high * 1.001, True), (high * 0.999, False), (low * 1.001, False), (low * 0.999, True)):
        assert is_clear_sum(before, [total / DAYS_OF_WEEK] * DAYS_OF_WEEK) == is_clear


def test_six_weeks_count_and_fewer_than_four_do_not() -> None:
    _, high = usual_range(SUMS)
    week: list[float | None] = [high * 1.001 / DAYS_OF_WEEK] * DAYS_OF_WEEK
    assert is_clear_sum(days_of([70_000, *SUMS]), week), "the seventh week before does not count"
    assert not is_clear_sum(days_of(SUMS[-3:]), [1e9] * DAYS_OF_WEEK)
    assert not is_clear_sum([], [1e9] * DAYS_OF_WEEK)


def test_unknown_days_and_other_windows_are_not_tested() -> None:
    before, week = days_of(SUMS), [1e9] * DAYS_OF_WEEK
    assert is_clear_sum(before, week)
    assert not is_clear_sum(before, [*week[:-1], None]) and not is_clear_sum(before, week[:-1])
    assert not is_clear_sum([*before[:-1], None], week), "there is no change against an unknown week"
    assert is_clear_sum([None, *before[1:]], week), "five weeks are enough"
    assert not is_clear_sum([None if number % 7 == 0 and number < 21 else day for number, day in enumerate(before)], week)
    assert not is_clear_sum(days_of([0, *SUMS[1:]]), week), "0 has no logarithm"


def rows(requests: int, cost: int, wasted: int, *, known: int | None = None, since: Any = MONDAY, count: int = 7) -> list[Any]:
    """Days with the same integers."""
    integers = {"requests": requests, "rejected": requests // 10, "requests_with_cost": requests if known is None else known}
    integers |= {"wasted_traffic_cost": wasted, "total_traffic_cost": cost}
    return [{"since": iso(since + number * DAY), **integers, "is_whole": True} for number in range(count)]


def weeks_of(*weeks: tuple[int, int, int], known: int | None = None) -> list[Any]:
    start = MONDAY - len(weeks) * timedelta(weeks=1)
    return [
        day for number, week in enumerate(weeks) for day in rows(*week, known=known, since=start + number * timedelta(weeks=1))
    ]


def test_a_cost_is_compared_with_weeks_of_the_same_coverage() -> None:
    weeks = [(100, total, 10) for total in SUMS]
    high = usual_range(SUMS)[1]
    for total, is_clear in ((math.ceil(high), True), (math.floor(high), False)):
        assert is_clear_cost(weeks_of(*weeks), rows(100, total, 10)) == is_clear
    assert not is_clear_cost(weeks_of(*weeks, known=90), rows(100, math.ceil(high), 10)), "fewer costs were known"
    assert not is_clear_cost([], [])


def limit_of_the_waste(requests: int, shares: list[float]) -> float:
    """The limit of a whole week, whose weeks before have as many requests each."""
    n = requests * DAYS_OF_WEEK
    q = sum(shares) / len(shares)
    spread = sum((share - q) ** 2 * n for share in shares) / (q * (1 - q)) / (len(shares) - 1)
    error = math.sqrt(max(1.0, spread) * q * (1 - q) * (1 / n + 1 / (n * len(shares))))
    return q + T995[len(shares) - 1] * error


def test_a_rise_of_the_waste_is_clear_above_its_usual_range() -> None:
    before = [(200, 100_000, wasted) for wasted in (10_000, 12_000, 11_000, 13_000, 12_000)]
    limit = limit_of_the_waste(200, [wasted / 100_000 for *_, wasted in before])
    assert 0.13 < limit < 0.3
    for share, is_clear in ((limit * 1.001, True), (limit * 0.999, False), (0.0, False)):
        assert is_clear_waste(weeks_of(*before), rows(200, 100_000, round(share * 100_000))) == is_clear
    high = rows(200, 100_000, 40_000)
    assert not is_clear_waste(weeks_of(*before[:3]), high) and not is_clear_waste([], high)
    assert not is_clear_waste(weeks_of(*before), high[:-1])
    assert not is_clear_waste(weeks_of(*before[1:], (200, 100_000, 41_000)), high), "a week that is as high is in its range"


@pytest.mark.parametrize(
    ("before", "after", "is_clear"),
    [((10, 20), (21, 30), True), ((21, 30), (10, 20), True), ((10, 20), (20, 30), False), ((pd.NaT, pd.NaT), (20, 30), False)],
)
def test_a_median_is_clear_if_the_intervals_exclude_each_other(before: Any, after: Any, is_clear: bool) -> None:
    sides = [SimpleNamespace(p50_low=low, p50_high=high) for low, high in (before, after)]
    assert is_clear_median(*sides) == is_clear


def figures_of(rejected: int, cost: int) -> dict[str, KeyFigure]:
    """The figures of a week after five weeks with 40 to 44 requests a day, of which 4 are rejected."""
    usual = {(day, "payer"): (4, 40 + day // 7) for day in range(35)}
    first, second = Window(WEEK.since - timedelta(weeks=5), WEEK.since), {(day, "payer"): (rejected, 42) for day in range(7)}
    parts = decided(usual, first), decided(second, cost=cost)
    tables = {name: pd.concat([part.read(name) for part in parts]) for name in ("verdicts", "traffic")}
    numbered = {name: table.assign(update_id=range(len(table))).astype({"update_id": "str"}) for name, table in tables.items()}
    records = {name: table.to_dict("records") for name, table in numbered.items()}
    weeks = frames_of(window=Window(first.since, WEEK.until), network="memory", **records)
    after, before = (weeks.between(window.since, window.until) for window in (WEEK, WEEK_BEFORE))
    periods = Periods(after, before, weeks=weeks)
    found = measure_key_figures(periods, Prices(), measure_headline(after), daily_integers(after), ("traffic",))
    return {figure["label"]: figure for figure in found}


def test_chips_of_a_page_are_clear_only_if_they_were_tested() -> None:
    usual, unusual = figures_of(4, 100), figures_of(20, 200)
    assert [name for name, figure in usual.items() if figure["is_clear"]] == []
    assert [name for name, figure in unusual.items() if figure["is_clear"]] == [
        "Traffic cost",
        "Wasted on rejections",
        "Rejected",
    ]


def test_rewards_of_a_day_are_those_of_the_rounds_that_open_on_it() -> None:
    opens = [MONDAY - timedelta(minutes=5), *(MONDAY + number * timedelta(minutes=10) for number in range(288))]
    amounts = [None, *([Decimal("1.5")] * 287), None]
    rounds = pd.DataFrame({"opens_at": pd.Series(opens), "amount": pd.Series(amounts, dtype=decimals.DTYPE)})
    days = [{"since": iso(MONDAY + number * DAY), "is_whole": True} for number in range(3)]
    assert _rewards_by_day(rounds, days) == [216.0, 214.5, None], "one of 144 rounds may be unknown"
    assert _rewards_by_day(rounds.drop(range(150, 160)).assign(amount=rounds["amount"].mask(rounds.index < 3)), days)[0] is None
    assert _rewards_by_day(rounds, [{**days[0], "is_whole": False}]) == [None] and _rewards_by_day(None, days) == []
