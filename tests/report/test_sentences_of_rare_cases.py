"""Sentences of the shipped notebooks, and of a page's head, where their figures are missing, tied or of few requests."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.analysis.cost._compare import COMPARE
from ledgerframes.analysis.cost.runway_sentences import days_left, describe_band, describe_length
from ledgerframes.analysis.economy._answers import of_burn_mint, of_flows
from ledgerframes.analysis.verdict._answers import of_head_of_line, of_waited_for
from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.report import describe_forecast, describe_runway, forecast_runway, load_before, load_history, usual_budgets
from ledgerframes.report.cells import shorten
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.history import daily_integers
from ledgerframes.report.key_figures import measure_key_figures
from ledgerframes.report.prices import Prices
from ledgerframes.report.summary.activity import describe_activity
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.traffic import describe_traffic
from ledgerframes.report.summary.verdicts import describe_verdicts
from ledgerframes.report.titles import title_of_window
from ledgerframes.statistics import printing
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

START = datetime(2026, 11, 8, tzinfo=UTC)
DAY = Window(START, START + timedelta(days=1))
HOUR = timedelta(hours=1)
Request = tuple[str, float, timedelta, int | None]  # result, latency in seconds, time after the start, cost


def made_of(requests: list[Request], window: Window = DAY) -> Frames:
    heads = [{"update_id": f"u{n:03}", "record_time": START + at} for n, (_, _, at, _) in enumerate(requests)]
    verdicts = [
        {
            **head,
            "verdict_result": f"VERDICT_RESULT_{result}",
            "finalization_time": START + at + timedelta(seconds=latency),
            "submitting_participant_uid": "val-a",
            "submitting_parties": ["alice"],
        }
        for head, (result, latency, at, _) in zip(heads, requests, strict=True)
    ]
    traffic = [{**head, "total_traffic_cost": cost} for head, (*_, cost) in zip(heads, requests, strict=True) if cost is not None]
    return frames_of(window=window, network="memory", verdicts=verdicts, traffic=traffic)


def doubtful() -> Frames:
    """Rejections at 25 s, which look as if the limit of the network were 25 s."""
    return made_of([("REJECTED", 25, n * HOUR, 10) for n in range(3)] + [("ACCEPTED", 1, n * HOUR, 10) for n in range(7)])


def test_a_doubtful_limit_names_no_timeouts_anywhere() -> None:
    frames = doubtful()
    unnamed = "not named, because the limit of this network may not be 30 s."
    assert lf.show(lf.verdict.latency(frames)).statement.endswith(f" Timeouts: {unnamed}")
    assert lf.show(lf.verdict.head_of_line(frames)).statement == f"Timeouts are {unnamed}"
    text = "By the heuristic, 0 rejections are contention and 0 are timeouts. The latency of 3 does not tell."
    assert lf.show(lf.verdict.rejections(frames)).statement == text
    statement = describe_verdicts(Periods(frames, None), Prices())[0]
    assert statement["text"] == f"3 of 10 decided requests, 30 % (10 to 61 %). Timeouts are {unnamed}"


def test_a_rate_of_less_than_100_requests_has_no_decimals() -> None:
    few = made_of([("REJECTED" if n < 14 else "ACCEPTED", 1, n % 24 * HOUR, 10) for n in range(90)])
    assert lf.show(lf.verdict.outcomes(few)).statement == "14 of 90 decided requests were rejected: 16 % (9 to 25 %)."
    (first, *_) = describe_verdicts(Periods(few, None), Prices())
    assert first["text"] == "14 of 90 decided requests, 16 % (9 to 25 %). 0 of them timed out."


def test_one_rejection_is_singular() -> None:
    two = made_of([("REJECTED", 1, HOUR, 10), ("ACCEPTED", 1, 2 * HOUR, 10)])
    assert lf.show(lf.verdict.outcomes(two)).statement.startswith("1 of 2 decided requests was rejected: 50 %")


def test_fewer_requests_of_a_kind_are_not_fewer_requests_in_all() -> None:
    before = made_of([("ACCEPTED", 1, n * HOUR, 100) for n in range(3)])
    after = made_of([("ACCEPTED", 1, n * HOUR, 100) for n in range(2)])
    details = [detail for each in describe_traffic(Periods(after, before), Prices()) for detail in each["details"]]
    assert "In bytes, it is made up of −100 from fewer requests of the same kinds." in details


def test_the_cost_of_no_rejection_is_known() -> None:
    frames = made_of([("ACCEPTED", 1, HOUR, 100), ("REJECTED", 1, 2 * HOUR, None)])
    statements = describe_verdicts(Periods(frames, None), Prices())
    assert [each["text"] for each in statements if each["term"] == "Cost of the rejections"] == ["Unknown."]
    text = "The cost of rejected requests is not known."
    assert lf.show(lf.cost.wasted(frames, every=None)).statement == text


def test_the_largest_payers_are_participants_that_are_known() -> None:
    """A request without a verdict, which costs most, is of no known participant."""
    known = [{"update_id": f"x{n}", "record_time": START + HOUR} for n in range(10)]
    traffic = [{**each, "total_traffic_cost": 10} for each in known] + [
        {"update_id": "u", "record_time": START + HOUR, "total_traffic_cost": 900}
    ]
    verdicts = [{**each, "submitting_participant_uid": f"P{n}"} for n, each in enumerate(known)]
    frames = frames_of(window=DAY, network="memory", verdicts=verdicts, traffic=traffic)
    assert lf.show(lf.cost.spend(frames, by="participant")).statement == (
        "10 participants submitted requests. The five with the highest cost account for 5.0 % of the known cost. "
        "The participant of 1 request without a verdict is unknown."
    )


def test_sentences_on_one_request_of_each_kind() -> None:
    updates = [{"update_id": kind, "record_time": START + HOUR, "kind": kind} for kind in ("transaction", "reassignment")]
    verdicts = [{"update_id": name, "record_time": START + HOUR} for name in ("transaction", "reassignment", "rejected")]
    frames = frames_of(window=DAY, network="memory", verdicts=verdicts, updates=updates)
    assert lf.show(lf.cost.spend(frames, by="template")).statement == (
        "0 kinds of transactions. 1 request is not visible, and 1 is a reassignment. The kind of 1 transaction is unknown."
    )


def test_sentences_on_costs_of_0_bytes() -> None:
    frames = made_of([("ACCEPTED", 1, HOUR, 0)])
    text = "All known costs in this window are 0 bytes."
    for result in (lf.cost.requests(frames), lf.cost.spend(frames, every="6h")):
        assert lf.show(result).statement == text
    two = frames_of(
        window=DAY,
        network="memory",
        verdicts=[{**row, "submitting_parties": ["a", "b"]} for row in frames.verdicts.to_dict("records")],
        traffic=frames.traffic,
    )
    assert lf.show(lf.cost.spend(two, by="party")).statement == "2 parties. All known costs are 0 bytes."


def test_sentences_without_known_costs() -> None:
    unknown, nothing = made_of([("ACCEPTED", 1, HOUR, None)]), made_of([])
    for frames in (unknown, nothing):
        for result in (lf.cost.control(frames), lf.cost.wasted(frames, every=None)):
            assert lf.show(result).statement == "No request with a known cost in this window."


def test_sentences_on_costs_say_what_is_not_known() -> None:
    """Of two requests, one has envelopes. Of three, one has no known cost."""
    verdicts = [{"record_time": START + HOUR, "update_id": name} for name in ("a", "b")]
    traffic = [{**each, "total_traffic_cost": 5_155} for each in verdicts]
    parts = enumerate([(1_590, []), (3_565, [0])])
    envelopes = [{**verdicts[0], "envelope_index": n, "traffic_cost": size, "view_ids": views} for n, (size, views) in parts]
    frames = frames_of(window=DAY, network="memory", verdicts=verdicts, traffic=traffic, envelopes=envelopes)
    text = (
        "Envelopes without views account for 30.8 % of the cost of envelopes. 50.0 % of the known cost is in no known envelope."
    )
    assert lf.show(lf.cost.overhead(frames)).statement == text
    without = frames_of(window=DAY, network="memory", verdicts=verdicts, traffic=traffic)
    assert lf.show(lf.cost.overhead(without)).statement == "The known cost is in no known envelope."
    partly = made_of([("REJECTED", 1, HOUR, 10**6), ("ACCEPTED", 1, HOUR, 10**6), ("ACCEPTED", 1, HOUR, None)])
    text = "Rejected requests have a known cost of 1.00 MB, 50.0 % of the known cost."
    assert lf.show(lf.cost.wasted(partly, every=None)).statement.startswith(text)
    bill = lf.cost.statement(partly, price=lf.TrafficPrice("60", "USD/MB"), every=None, min_coverage=0)
    assert lf.show(bill).statement.startswith("1 line adds up to 120.00 USD, for the costs that are known. ")
    of_party = {"by": "party", "split": "equal", "min_coverage": 0}
    bill = lf.cost.statement(partly, every="1h", price=lf.TrafficPrice("60", "USD/MB"), **of_party)
    assert " up to 120.00 USD, for the costs that are known. " in lf.show(bill, picture=False).statement


def test_hours_outside_the_window_are_not_counted() -> None:
    window = Window(START, START + 2 * HOUR)
    frames = made_of([("ACCEPTED", 1, HOUR / 2, 10), ("REJECTED", 1, HOUR, 10)], window)
    statement = lf.show(lf.verdict.outcomes(frames, by="hour")).statement
    assert statement == "0 of 2 hours of the day have enough requests to be judged."


def test_no_participant_is_judged() -> None:
    statement = lf.show(lf.verdict.outcomes(doubtful(), by="participant")).statement
    assert statement == "There is nothing to compare with."


def test_a_burn_that_is_not_known(net: Network) -> None:
    frames = made_of([("ACCEPTED", 1, HOUR, None)])
    assert describe_forecast(net, frames, None) == "The burn of this window is not known."
    assert forecast_runway(net, frames, None) is None
    used_up = "The burn of this window is not known. The given balance is used up. Buy traffic now."
    assert describe_forecast(net, frames, None, balance=0) == used_up


def test_a_balance_of_0_is_used_up_without_a_forecast(net: Network) -> None:
    frames = made_of([("ACCEPTED", 1, HOUR, 100)])
    text = "Participant val-a burned 100 bytes of known cost in this window. The given balance is used up. Buy traffic now."
    assert describe_forecast(net, frames, None, balance=0) == text
    assert describe_runway(pd.DataFrame([{"balance": 0}])) == "The balance is used up. Buy traffic now."


def test_the_days_of_earlier_runs_have_no_participant_to_forecast(net: Network) -> None:
    days = pd.DataFrame({"requests": [1, 2]})
    text = describe_forecast(net, made_of([("ACCEPTED", 1, HOUR, 100)]), days)
    assert text.startswith("Participant val-a burned 100 bytes of known cost in this window.")
    assert usual_budgets(days) == {}
    text = lf.show(lf.cost.budget(doubtful(), {}, network="memory")).statement
    assert text == "No kind of request has a limit and enough requests."


def test_a_participant_that_submits_nothing_is_refused(net: Network) -> None:
    with pytest.raises(lf.UsageError, match="nobody"):
        describe_forecast(net, made_of([("ACCEPTED", 1, HOUR, 100)]), None, participant="nobody")


def test_one_provider_is_singular() -> None:
    row = {"record_time": START, "round_number": 1, "update_id": "u", "party": "p", "weight": 1}
    frames = frames_of(window=DAY, network="memory", activity_records=[row])
    text = lf.show(lf.activity.concentration(frames)).statement
    assert text == "One app provider has all of the total."
    assert describe_activity(Periods(frames, None), Prices())[0]["text"].startswith("1 weighted byte for 1 app provider. p has")


BUY = "Buy traffic before 2026-11-08 00:00 UTC."
NO_BAND = "A week of the history has no burn, so there is no band."


@pytest.mark.parametrize(
    ("middle", "factor", "text"),
    [
        (pd.Timestamp(START), math.nan, f"runs out on 2026-11-08 at mean burn. {NO_BAND} {BUY}"),
        (pd.NaT, math.nan, f"lasts more than a year at mean burn. {NO_BAND}"),
        (pd.NaT, 1.2, "lasts more than a year, in 9 of 10 cases."),
    ],
)
def test_a_forecast_without_a_first_end(middle: Any, factor: float, text: str) -> None:
    end = {"runs_dry_first": pd.NaT, "runs_dry_middle": middle, "runs_dry_last": pd.NaT, "factor": factor}
    end |= {"balance": 5_000, "balance_at": pd.Timestamp(START) - timedelta(days=8)}
    assert describe_runway(pd.DataFrame([end])) == f"A balance of 5.00 kB {text}"


@pytest.mark.parametrize(("days", "is_soon"), [(7, True), (8, False)])
def test_an_end_within_a_week_is_said(days: int, is_soon: bool) -> None:
    first = pd.Timestamp(START) + timedelta(days=days)
    ends = {"runs_dry_first": first, "runs_dry_middle": first, "runs_dry_last": pd.NaT, "factor": 1.2}
    text = describe_runway(pd.DataFrame([{**ends, "balance": 5_000, "balance_at": pd.Timestamp(START)}]))
    assert text.startswith(f"A balance of 5.00 kB runs out on {first:%Y-%m-%d} at the earliest, in 4 of 5 cases.")
    assert ("within 7 days" in text) == is_soon


@pytest.mark.parametrize(
    ("first", "last", "left", "ends"),
    [
        (0.5, 0.9, "less than an hour", "runs out on 2026-11-08"),
        (3, 4.5, "3 to 4 hours", "runs out on 2026-11-08"),
        (1, 1.5, "1 hour", "runs out on 2026-11-08"),
        (20, 47, "20 to 47 hours", "runs out between 2026-11-08 and 2026-11-09"),
        (20, 48, "0 to 2 days", "runs out between 2026-11-08 and 2026-11-10"),
    ],
)
def test_a_balance_that_ends_soon_lasts_some_hours(first: float, last: float, left: str, ends: str) -> None:
    start = pd.Timestamp("2026-11-08T00:00Z")
    times = {f"runs_dry_{name}": start + timedelta(hours=hours) for name, hours in (("first", first), ("last", last))}
    row = SimpleNamespace(**times, factor=1.2, balance_at=start)
    assert days_left(row) == left
    assert describe_band(row) == f"{ends}, in 4 of 5 cases"


def test_victims_of_a_short_window_have_no_expected_number() -> None:
    rows: list[Request] = [("ACCEPTED", 1, timedelta(seconds=n), 10) for n in range(30)]
    rows += [("REJECTED", 30, timedelta(minutes=1), 10), ("ACCEPTED", 20, timedelta(minutes=1, seconds=5), 10)]
    frames = made_of(rows, Window(START, START + HOUR))
    text = "1 request timed out. 1 other probably waited for it, 19.0 s in total."
    unknown = "The window is too short to say how many of them chance explains."
    assert lf.show(lf.verdict.head_of_line(frames)).statement == f"{text} {unknown}"


@pytest.mark.parametrize(
    ("victims", "waiting", "verdict"),
    [
        (4, "4 others may have waited", ", so this number is no surprise"),
        (9, "9 others probably waited", ""),
        (0, "0 others probably waited", ""),
    ],
)
def test_victims_that_chance_explains_are_no_surprise(victims: int, waiting: str, verdict: str) -> None:
    row = {"reason": None, "victims": victims, "expected_victims": 3.0, "added": timedelta(seconds=19)}
    text = f"1 request timed out. {waiting} for it, 19.0 s in total. Chance alone explains 3.0 of them{verdict}."
    assert of_head_of_line(pd.DataFrame([row])) == text


@pytest.mark.parametrize(
    ("slower", "verdict"), [(0.05, "Chance can explain the difference."), (5, "Not all of their intervals overlap.")]
)
def test_medians_of_groups_have_a_verdict(slower: float, verdict: str) -> None:
    early: list[Request] = [("ACCEPTED", 1 + n / 100, timedelta(minutes=n), 10) for n in range(30)]
    late: list[Request] = [(result, latency + slower, HOUR + at, cost) for result, latency, at, cost in early]
    text = lf.show(lf.verdict.latency(made_of(early + late), by="hour")).statement
    assert text == f"The medians of 2 groups range from 1.14 s to {1.14 + slower:.2f} s. {verdict}"


def test_small_groups_with_the_lowest_and_the_highest_median_hide_no_difference() -> None:
    """Chance can explain the extremes, whose intervals are wide, but not the two large groups between them."""
    few: list[Request] = [("ACCEPTED", 0.5 + n, timedelta(minutes=n), 10) for n in range(7)]
    early: list[Request] = [("ACCEPTED", 4 + n / 1000, HOUR + timedelta(minutes=n), 10) for n in range(30)]
    late: list[Request] = [(result, latency + 0.1, HOUR + at, cost) for result, latency, at, cost in early]
    last: list[Request] = [(result, latency + 1, 3 * HOUR + at, cost) for result, latency, at, cost in few]
    text = lf.show(lf.verdict.latency(made_of(few + early + late + last), by="hour")).statement
    assert text == "The medians of 4 groups range from 3.50 s to 4.50 s. Not all of their intervals overlap."


def test_the_largest_providers_include_ties() -> None:
    head = {"record_time": START, "round_number": 1}
    rows = [{**head, "update_id": "u", "party": f"p{n}", "weight": 1 if n > 4 else 10} for n in range(12)]
    frames = frames_of(window=DAY, network="memory", activity_records=rows)
    text = lf.show(lf.activity.concentration(frames)).statement
    assert text.startswith("The 3 largest (5 with ties) of 12 app providers have 87.7 % of the total.")


@pytest.mark.parametrize(
    ("length", "known", "weights"),
    [
        (
            timedelta(minutes=10),
            "The only period has a known cost of 300 bytes.",
            "This window has no whole period.",
        ),
        (
            timedelta(days=1),
            "The only period has a known cost of 300 bytes.",
            "The share of a was 75.0 % in the only whole period.",
        ),
    ],
)
def test_a_window_of_one_period_is_compared_with_no_other(length: timedelta, known: str, weights: str) -> None:
    window = Window(START, START + length)
    frames = made_of([("ACCEPTED", 1, timedelta(minutes=1), 100), ("REJECTED", 1, timedelta(minutes=2), 200)], window)
    assert lf.show(lf.cost.spend(frames, every="1d")).statement == known
    record = {"update_id": "u", "record_time": START, "round_number": 1}
    records = [{**record, "party": party, "weight": weight} for party, weight in (("a", 3), ("b", 1))]
    earned = frames_of(window=window, network="memory", activity_records=records)
    assert lf.show(lf.activity.weights(earned, every="1d")).statement == weights


def test_one_period_with_a_usual_range_is_singular() -> None:
    result = lf.cost.wasted(made_of([("REJECTED", 1, HOUR, 100)]), every="1d").assign(upper=0.2, share=0.1, is_above=False)
    assert lf.show(result).statement == "The only period with a usual range is not above it."
    partial = lf.show(result.assign(upper=float("nan"), reason="not a whole period")).statement
    assert partial == "This window has no whole period, so there is no usual range."
    close = lf.show(result.assign(share=0.2004, is_above=True)).statement
    assert close.endswith("Sunday 2026-11-08 (20.04 % wasted, above the limit of 20.00 %).")
    above = lf.show(result.assign(share=0.3, is_above=True)).statement
    assert (
        above == "The only period with a usual range is above it: Sunday 2026-11-08 (30.0 % wasted, above the limit of 20.0 %)."
    )


def test_the_burn_of_an_hour_suggests_no_balance(net: Network) -> None:
    end = "2026-11-08T13:00:00Z"
    hour, history = (lf.load_events(net, since=since, until=end) for since in ("2026-11-08T12:00:00Z", "2026-11-08"))
    text = describe_forecast(net, hour, history)
    assert text.endswith(" Its balance is not known. No forecast. A window of less than a day suggests no balance.")
    assert forecast_runway(net, hour, history) is None


def test_a_balance_that_lasts_long_has_no_dates() -> None:
    start = pd.Timestamp(START)
    end = {"balance": 5_000, "balance_at": start, "runs_dry_first": pd.NaT, "runs_dry_middle": pd.NaT, "runs_dry_last": pd.NaT}
    mean = describe_length(pd.DataFrame([{**end, "factor": math.nan}]))
    assert mean == "Four times this burn, 5.00 kB, would last more than a year at mean burn."
    ends = {**end, "factor": 1.2, "runs_dry_first": start + timedelta(days=300)}
    assert describe_length(pd.DataFrame([ends])) == (
        "Four times this burn, 5.00 kB, would last 300 days to more than a year, in 4 of 5 cases."
    )


def test_activity_that_has_no_records_before_is_not_compared() -> None:
    noon = START + 12 * HOUR
    row = {"update_id": "u", "record_time": noon, "round_number": 1, "party": "a", "weight": 3}
    frames = frames_of(window=DAY, network="memory", activity_records=[row])
    periods = Periods(frames.between(noon, DAY.until), frames.between(START, noon))
    (*_, change) = describe_activity(periods, Prices())
    assert change["text"].startswith("Not compared, because no activity record of the ")


def test_a_window_without_history_and_frames_without_a_window(net: Network) -> None:
    first = frames_of(window=Window(datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 2, tzinfo=UTC)), network="memory")
    assert load_history(net, first) is None
    assert load_before(net, first) is None
    with pytest.raises(lf.UsageError, match="load_history needs frames of a window"):
        load_history(net, frames_of(network="memory"))


def test_a_forecast_starts_with_the_balance_that_is_left(net_of_weeks: Network) -> None:
    """A participant keeps its whole balance on a day without a request of it, and nothing if it burned all of it."""
    net, day = net_of_weeks, ("2026-11-08", "2026-11-09")
    frames = lf.load_events(net, since=day[0], until=day[1])
    history = load_history(net, frames)
    payer, *_ = lf.cost.spend(frames, by="participant")["submitting_participant_uid"]
    burned = int(lf.cost.spend(frames, by="participant")["total_traffic_cost"].iloc[0])
    text = describe_forecast(net, frames, history, balance=10**9)
    assert text.startswith(f"Participant {shorten(payer)} burned {printing.size(burned)} of known cost in this window.")
    runway = forecast_runway(net, frames, history, balance=10**9)
    assert runway is not None and runway["balance_middle"].iloc[0] <= 10**9
    quiet = frames.between("2026-11-08", "2026-11-08T00:10:00Z")
    absent = sorted({*frames.verdicts["submitting_participant_uid"]} - {*quiet.verdicts["submitting_participant_uid"]})[0]
    text = describe_forecast(net, quiet, history, participant=absent, balance=10**9)
    assert text.startswith(f"Participant {shorten(absent)} burned 0 bytes of known cost in this window.")


def test_key_figures_of_a_window_without_costs_decisions_and_records() -> None:
    frames = made_of([("UNSPECIFIED", 1, HOUR, None)])
    subjects = [("traffic", "verdicts"), ("activity",)]
    shown = [
        each
        for names in subjects
        for each in measure_key_figures(Periods(frames, None), Prices(), measure_headline(frames), daily_integers(frames), names)
    ]
    assert {each["value"] for each in shown} == {printing.MISSING}
    assert {each["label"]: each["note"] for each in shown} == {
        "Traffic cost": "no cost is known",
        "Wasted on rejections": "no cost of a decided request is known",
        "Rejected": "no request has a decision",
        "Latency, median": "too few accepted requests",
        "Activity weight": "no activity record",
    }


@pytest.mark.parametrize(("days", "title"), [(7, "The week"), (1, "The day"), (2, "The period")])
def test_a_weekly_page_has_the_title_of_its_window(days: int, title: str) -> None:
    assert title_of_window("The week", Window(START, START + timedelta(days=days))) == title
    assert title_of_window("Verdicts", Window(START, START + timedelta(days=days))) == "Verdicts"


def test_a_cut_period_has_no_share_of_the_leader() -> None:
    weights = {12: (9, 1), 30: (7, 3), 60: (6, 4)}  # by hours after the start, of days of which the window cuts the first
    rows = [
        {"update_id": f"u{hours}", "record_time": START + hours * HOUR, "round_number": 1, "party": party, "weight": weight}
        for hours, pair in weights.items()
        for party, weight in zip("ab", pair, strict=True)
    ]
    window = Window(START + 12 * HOUR, START + 72 * HOUR)
    frames = frames_of(window=window, network="memory", activity_records=rows)
    text = lf.show(lf.activity.weights(frames, every="1d")).statement
    ends = ("60.0 % (Tuesday 2026-11-10)", "70.0 % (Monday 2026-11-09)")
    assert text == f"The share of a was between {ends[0]} and {ends[1]}, with weight in 2 of 2 whole periods."


def test_only_changes_that_hold_for_all_kinds_are_named() -> None:
    kinds = pd.DataFrame(
        {
            "template_name": "A:B",
            "choice": ["Clear", "Chance", "New"],
            "requests_before": [40, 40, 0],
            "judgment": pd.Categorical(["dearer", "no clear change", "new"], COMPARE.column("judgment").choices),
            "relative": [0.2, 0.1, math.nan],
            "change": pd.array([-5, 1_200, None], dtype="Int64"),
            "requests_after": [40, 1, 3],
        }
    )
    counts = "0 cheaper, 1 without a clear change, 1 new."
    assert COMPARE.answer is not None
    text = f"Kinds of request: 1 dearer (Clear +20.0 %), {counts}"
    largest = "Largest change: Chance, +1.20 kB (1 request with a known cost, 40 before)."
    assert COMPARE.answer(kinds) == f"{largest} {text}"
    unknown = kinds.assign(change=pd.array([None] * 3, dtype="Int64"))
    assert COMPARE.answer(unknown) == text, "windows that differ in length"
    unclear = COMPARE.answer(unknown.iloc[1:])
    assert unclear == "No kind of request is clearly dearer or cheaper: 1 without a clear change, 1 new."


@pytest.mark.parametrize(("weight", "change"), [(2**53 + 1, "+9,010,000"), (2**60 + 1, "+1,150,000,000")])
def test_a_change_of_a_large_weight_has_three_digits(weight: int, change: str) -> None:
    noon = START + 12 * HOUR
    sides = {START: [("a", 3), ("gone", 1)], noon: [("a", weight), ("new", 1)]}
    rows = [
        {"update_id": str(time), "record_time": time, "round_number": 1, "party": party, "weight": number}
        for time, parties in sides.items()
        for party, number in parties
    ]
    frames = frames_of(window=DAY, network="memory", activity_records=rows)
    periods = Periods(frames.between(noon, DAY.until), frames.between(START, noon))
    assert f"a: {change} weighted GB (" in describe_activity(periods, Prices())[1]["text"]


def test_a_window_without_requests_has_an_answer_to_each_question() -> None:
    frames = made_of([])
    answers = [
        lf.show(lf.cost.spend(frames)),
        lf.show(lf.cost.spend(frames, every="1h")),
        *(lf.show(lf.cost.spend(frames, by=by)) for by in ("participant", "party", "template", "view", "result")),
        lf.show(lf.cost.overhead(frames)),
        lf.show(lf.cost.wasted(frames, every=None)),
        lf.show(lf.cost.requests(frames)),
        lf.show(lf.cost.control(frames)),
        *(lf.show(lf.verdict.outcomes(frames, by=by)) for by in (None, "participant", "hour")),
        *(lf.show(lf.verdict.latency(frames, by=by)) for by in (None, "size")),
        lf.show(lf.verdict.rejections(frames)),
        lf.show(lf.verdict.quorums(frames)),
        lf.show(lf.verdict.waited_for(frames)),
        lf.show(lf.verdict.head_of_line(frames)),
    ]
    for answer in answers:
        assert answer.statement.endswith(".") and "nan" not in answer.statement.lower()
        assert answer._repr_html_() and repr(answer)


def test_unknown_amounts_of_coin_are_not_zero() -> None:
    known = {"burned": Decimal(4), "minted": Decimal(8), "unexplained": Decimal(0)}
    unknown = {"burned": None, "minted": Decimal(8), "unexplained": None}
    text = "4.00 coin were burned and 8.00 minted: 0.500 burned for each coin minted. Unexplained: 0.00 coin."
    assert of_burn_mint(pd.DataFrame([known])) == text
    assert of_burn_mint(pd.DataFrame([known, unknown])) == f"In the 1 of 2 periods whose amounts are known, {text}"
    opposite = pd.DataFrame([{**known, "unexplained": Decimal(amount)} for amount in ("5", "-5", "0", "0.004")])
    assert of_burn_mint(opposite).endswith("Unexplained: 10.00 coin in 3 of 4 periods.")
    assert of_burn_mint(pd.DataFrame([{**known, "unexplained": Decimal("-0.004")}])).endswith("Unexplained: −0.0040 coin.")
    nothing = "How much coin was burned for each coin minted is unknown, because some amounts are."
    assert of_burn_mint(pd.DataFrame([unknown])) == nothing
    assert of_burn_mint(pd.DataFrame([{**known, "minted": Decimal(0)}])) == "4.00 coin were burned, and none were minted."
    row = {"issued_app": Decimal(1), "issued_validator": None, "issued_sv": Decimal(2), "traffic_bought": 7}
    rows = pd.DataFrame([row, {**row, "issued_sv": None}]).astype({"traffic_bought": "Int64"})
    issued = "2.00 coin for apps, an unknown amount of coin for validators, at least 2.00 coin for super validators"
    assert of_flows(rows) == f"2 periods issued {issued}. Traffic bought in them: 14 bytes."


def test_no_rows_of_a_total_say_nothing() -> None:
    spent = lf.cost.spend(doubtful())
    assert lf.show(spent.head(0)).statement == ""


def test_a_picture_that_cannot_be_drawn_says_nothing_that_is_not_so() -> None:
    undecided = made_of([("UNSPECIFIED", 1, HOUR, 100)])
    zeros = made_of([("ACCEPTED", 1, HOUR, 0)])
    for result, text in (
        (lf.verdict.outcomes(undecided), "No decided request in this window."),
        (lf.cost.concentration(zeros), "The shares of the known cost cannot be computed in this window."),
    ):
        axes = lf.plot(result)
        assert [each.get_text() for each in axes.texts] == [text]
        plt.close(axes.figure)


def test_percentiles_of_few_requests_have_no_interval() -> None:
    frames = made_of([("ACCEPTED", 1 + n, n * HOUR, 100 if n < 2 else 30_000) for n in range(4)])
    text = "Accepted requests: 50 % within 2.00 s, 95 % within 4.00 s. Rejected before the limit: too few for a percentile."
    assert lf.show(lf.verdict.latency(frames, min_requests=1), picture=False).statement.startswith(text)
    sizes = lf.verdict.latency(frames, by="size", min_requests=1)
    assert lf.show(sizes, picture=False).statement == "The medians of 2 groups range from 1.00 s to 3.00 s."


def test_slow_participants_are_named() -> None:
    rows = [{"party": pd.NA, "participant": "p1", "slow": 9, "required": 10, "differs": True, "difference": 0.5, "reason": None}]
    text = "Participants that stand out among 1 with enough requests: p1 (9 of 10 requests were slow)."
    assert of_waited_for(pd.DataFrame(rows)) == text
    assert of_waited_for(pd.DataFrame(rows).assign(differs=None)) == "No participant has enough requests to be judged."


def test_more_slow_parties_than_three_are_counted() -> None:
    rows = [{"party": f"p{n}", "slow": 9, "required": 10, "differs": True, "difference": 0.5, "reason": None} for n in range(5)]
    assert of_waited_for(pd.DataFrame(rows)).endswith("p2 (9 of 10 requests were slow), and 2 more.")
