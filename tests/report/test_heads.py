"""Heads name what moved most, who and which day differ, and a balance that ends soon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

import ledgerframes as lf
from ledgerframes.frames import Frames
from ledgerframes.network import Network
from ledgerframes.report import describe_forecast, forecast
from ledgerframes.report.prices import Prices, read_prices
from ledgerframes.report.sentences import Statement
from ledgerframes.report.summary import summarize
from ledgerframes.report.summary.movers import Movers, largest_movers
from ledgerframes.report.summary.periods import Periods
from ledgerframes.report.summary.traffic import describe_traffic
from ledgerframes.report.summary.verdicts import describe_verdicts
from ledgerframes.testing import frames_of
from ledgerframes.values.windows import Window

from .stored import size_of

DAY = timedelta(days=1)
MONDAY = datetime(2026, 11, 2, tzinfo=UTC)
WEEK, WEEK_BEFORE = Window(MONDAY, MONDAY + 7 * DAY), Window(MONDAY - 7 * DAY, MONDAY)
Counts = dict[tuple[int, str], tuple[int, int]]  # rejected and decided requests by day of the window and participant


def decided(counts: Counts, window: Window = WEEK, cost: int = 100) -> Frames:
    """Requests spread over the hours of their day."""
    rows = [
        {
            "update_id": f"{day}-{name}-{number:04}",
            "record_time": window.since + day * DAY + number % 24 * timedelta(hours=1),
            "finalization_time": window.since + day * DAY + number % 24 * timedelta(hours=1, seconds=1),
            "verdict_result": f"VERDICT_RESULT_{'REJECTED' if number < rejected else 'ACCEPTED'}",
            "submitting_participant_uid": name,
            "total_traffic_cost": cost,
        }
        for (day, name), (rejected, trials) in counts.items()
        for number in range(trials)
    ]
    verdicts = [{name: value for name, value in row.items() if name != "total_traffic_cost"} for row in rows]
    traffic = [{name: row[name] for name in ("update_id", "record_time", "total_traffic_cost")} for row in rows]
    return frames_of(window=window, network="memory", verdicts=verdicts, traffic=traffic)


def without_cost(frames: Frames, ids: str) -> Frames:
    """The same requests, without the costs of those whose ids begin so."""
    is_known = ~frames.traffic["update_id"].str.startswith(ids)
    rows = {"verdicts": frames.verdicts.to_dict("records"), "traffic": frames.traffic[is_known].to_dict("records")}
    return frames_of(window=WEEK, network="memory", **rows)


def with_slow_parties(slow: dict[str, tuple[int, int]]) -> Frames:
    """Requests that need one party each, the first of them with a latency of 9 s and the others of 1 s."""
    ids = [(f"{party}-{number}", party, number < count) for party, (count, all_) in slow.items() for number in range(all_)]
    times = [WEEK.since + number * timedelta(minutes=1) for number in range(len(ids))]
    verdicts = [
        {
            "update_id": name,
            "record_time": time,
            "finalization_time": time + timedelta(seconds=9 if is_slow else 1),
            "verdict_result": "VERDICT_RESULT_ACCEPTED",
            "submitting_participant_uid": "PAR::x",
        }
        for (name, _, is_slow), time in zip(ids, times, strict=True)
    ]
    quorums = [
        {"update_id": name, "record_time": time, "view_id": 0, "quorum_index": 0, "threshold": 1, "parties": [party]}
        for (name, party, _), time in zip(ids, times, strict=True)
    ]
    return frames_of(window=WEEK, network="memory", verdicts=verdicts, quorums=quorums)


def test_parties_whose_requests_are_slow_are_named() -> None:
    after = with_slow_parties({"slow": (40, 100), "usual": (60, 900), "fast": (0, 1000)})
    found = statement(summarize(["verdicts"], Periods(after, None), Prices()), "Slow requests")
    assert found["text"] == (
        "40.0 % (40 of 100) of the requests that need slow to confirm were slow, against 3.2 % of those that do not name it. "
        "6.7 % (60 of 900) of the requests that need usual to confirm were slow, against 3.6 % of those that do not name it."
    )
    many = with_slow_parties({**{f"slow-{number}": (100, 300) for number in range(4)}, "fast": (0, 3000)})
    found = statement(summarize(["verdicts"], Periods(many, None), Prices()), "Slow requests")
    assert found["text"].endswith(" 2 more parties differ.")
    calm = with_slow_parties({"a": (50, 500), "b": (50, 500)})
    assert "Slow requests" not in [each["term"] for each in summarize(["verdicts"], Periods(calm, None), Prices())]


def statement(statements: list[Statement], term: str) -> Statement:
    (found,) = (each for each in statements if each["term"] == term)
    return found


def test_the_largest_changes_are_named_whatever_their_sign() -> None:
    changes = {"a": -298_085, "b": -150_000, "c": 365_653, "d": 0, "e": -3_000, "f": -15}
    assert largest_movers(changes, 2) == Movers((("c", 365_653), ("a", -298_085)), 3, -153_015)
    assert largest_movers({"a": -5, "b": -4, "c": 1}, 2) == Movers((("a", -5), ("b", -4), ("c", 1)), 0, 0)
    assert largest_movers({"a": 0}, 2) == Movers((), 0, 0)


def test_a_rise_is_named_in_a_total_that_falls() -> None:
    before = decided({(0, "big"): (0, 100), (0, "small"): (0, 10), (0, "other"): (0, 7), (0, "last"): (0, 2)}, WEEK_BEFORE)
    after = decided({(0, "big"): (0, 60), (0, "small"): (0, 30), (0, "other"): (0, 6), (0, "last"): (0, 3)})
    change = statement(describe_traffic(Periods(after, before), Prices()), "Change of the known cost")
    assert change["text"].startswith("−2.00 kB (")
    assert change["details"][-1] == (
        "Participant big: −4.00 kB. Participant small: +2.00 kB. 2 other participants: +0 bytes together."
    )


def test_no_part_is_called_a_higher_cost_where_no_kind_is_clearly_dearer() -> None:
    before = decided({(0, "a"): (0, 40)}, WEEK_BEFORE)
    costs = [(number, 100 if number % 2 else 103) for number in range(40)]
    rows = [
        {"update_id": f"u{number}", "record_time": MONDAY + number * timedelta(hours=1), "total_traffic_cost": cost}
        for number, cost in costs
    ]
    change = statement(describe_traffic(Periods(frames_of(window=WEEK, network="memory", traffic=rows), before), Prices()),
                       "Change of the known cost")  # fmt: skip
    assert change["details"][:2] == [
        "In bytes, it is made up of +60 from other costs within the kinds.",
        "Of 1 kind with enough requests, none is clearly dearer or cheaper.",
    ]
    assert not [detail for detail in change["details"] if "higher" in detail or "median" in detail]


def test_who_differs_is_named_and_not_who_is_large() -> None:
    """The largest has 43 % of all rejections, at the rate of the others. Another one is small and differs."""
    counts = {(day, f"p{number}"): (10, 100) for day in range(7) for number in range(4)}
    counts |= {(day, "large"): (40, 400) for day in range(7)} | {(day, "odd"): (12, 40) for day in range(7)}
    rejections = statement(describe_verdicts(Periods(decided(counts), None), Prices()), "Rejections")
    assert rejections["details"] == [
        "Of 6 participants with enough requests, 1 differs from the others: odd 30.0 % (84 of 280) against 10.0 % of the others."
    ]
    waste = statement(describe_verdicts(Periods(decided(counts), None), Prices()), "Cost of the rejections")
    assert waste["text"] == "64.4 kB, 11.0 % of the known cost."


def test_nobody_is_named_where_nobody_differs() -> None:
    counts = {(0, name): (10, 100) for name in ("a", "b", "c")}
    rejections = statement(describe_verdicts(Periods(decided(counts), None), Prices()), "Rejections")
    assert rejections["details"] == ["Of 3 participants with enough requests, none can be told from the others."]
    few = statement(describe_verdicts(Periods(decided({(0, "a"): (1, 9), (0, "b"): (1, 9)}), None), Prices()), "Rejections")
    assert few["details"] == ["No participant has enough requests to be told from the others."]


def test_the_day_that_explains_a_change_is_named() -> None:
    usual = {(day, name): (10, 100) for day in range(7) for name in ("a", "b")}
    bad = usual | {(2, name): (32, 100) for name in ("a", "b")}
    statements = describe_verdicts(Periods(decided(bad), decided(usual, WEEK_BEFORE)), Prices())
    assert statement(statements, "Rejections")["details"][-1] == (
        "Wednesday 2026-11-04 differs from the other days: 32.0 % (64 of 200) against 10.0 % of the others."
    )
    change = statement(statements, "Change of the rejections")
    assert change["text"].startswith("3.1 points (") or change["text"].startswith("+3.1 points (")
    (without,) = change["details"]
    assert without.startswith("Without Wednesday 2026-11-04: 0.0 points (")
    assert without.endswith("Chance can explain such a change.")


def test_a_day_with_fewer_rejections_explains_no_rise() -> None:
    usual = {(day, name): (20, 100) for day in range(7) for name in ("a", "b")}
    after = dict.fromkeys(usual, (24, 100)) | {(5, name): (3, 100) for name in ("a", "b")}
    statements = describe_verdicts(Periods(decided(after), decided(usual, WEEK_BEFORE)), Prices())
    assert "Saturday 2026-11-07 differs" in statement(statements, "Rejections")["details"][-1]
    assert statement(statements, "Change of the rejections")["details"] == []


def test_a_given_participant_reads_its_own_bill() -> None:
    after = decided({(0, "ours"): (0, 30), (0, "theirs"): (0, 90)}, cost=1_000_000)
    prices = read_prices({"price": "50 USD/MB"})
    own = summarize(["balance"], Periods(after, None, participant="ours"), prices)
    text = "Participant ours paid 30.0 MB, 1,500.00 USD: 25.0 % of the known cost."
    assert own == [{"term": "Own cost", "text": text, "details": [], "key_figure": "Own traffic cost"}]
    (unknown,) = summarize(["balance"], Periods(after, None, participant="nobody"), Prices())
    assert unknown["text"] == "Participant nobody submitted no request in this window."
    (part,) = summarize(["balance"], Periods(without_cost(after, "0-ours-0000"), None, participant="ours"), prices)
    assert part["text"] == "Participant ours paid at least 29.0 MB, 1,450.00 USD: 24.4 % of the known cost."
    (none,) = summarize(["balance"], Periods(without_cost(after, "0-ours"), None, participant="ours"), prices)
    assert none["text"] == "Participant ours has no known cost in this window."
    both = summarize(["balance"], Periods(after, None, participant="ours", balance=1), Prices())
    assert [each["term"] for each in both] == ["Traffic balance", "Own cost"]


@pytest.mark.loopback
def test_a_balance_that_ends_within_the_week_is_said_first() -> None:
    """Four weeks with busier and quieter days of two participants."""
    counts = {(day, name): (0, most - 7 * day % 11) for day in range(28) for name, most in (("payer", 30), ("other", 15))}
    weeks = decided(counts, Window(WEEK.until - 28 * DAY, WEEK.until))
    after = weeks.between(MONDAY, WEEK.until)
    costs = lf.cost.spend(after, by="participant")
    payer, burn = costs["submitting_participant_uid"][0], int(costs["total_traffic_cost"][0])
    for balance, is_soon in ((burn // 2, True), (burn * 4, False)):
        periods = Periods(after, None, weeks=weeks, balance=balance)
        first = summarize(["balance", "traffic"], periods, Prices())[0]
        (row,) = lf.cost.runway_end(weeks, participant=payer, balance=lf.TrafficBalance(balance, WEEK.until)).itertuples()
        assert first["term"] == "Traffic balance"
        since, until = (f"{end:%Y-%m-%d}" for end in (row.runs_dry_first, row.runs_dry_last))
        ends = f"on {since}" if since == until else f"between {since} and {until}"
        assert f"The given balance of {size_of(balance)} runs out {ends}, in 4 of 5 cases." in first["text"]
        assert first["next_step"] == f"Buy traffic before {row.runs_dry_first:%Y-%m-%d %H:%M} UTC."
        assert first["text"].endswith(f" {first['next_step']}")
        assert ("within 7 days" in first["text"]) == is_soon == (row.runs_dry_first <= WEEK.until + 7 * DAY)
    assert summarize(["balance"], Periods(after, None, weeks=weeks), Prices()) == []
    short = Periods(after, None, weeks=after, balance=1_000, participant=payer)
    assert "No forecast. A runway needs 4 whole weeks" in summarize(["balance"], short, Prices())[0]["text"]
    for past in (weeks, after, None):
        empty = Periods(after, None, weeks=past, balance=0, participant=payer)
        first = summarize(["balance"], empty, Prices())[0]
        assert first["text"] == f"Participant {payer}: The given balance is used up. Buy traffic now."
    without = Periods(after, None, balance=1_000)
    assert "No forecast. The store does not have the weeks" in summarize(["balance"], without, Prices())[0]["text"]


@pytest.mark.loopback
def test_a_forecast_says_whether_its_balance_was_given(net: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    weeks = decided({(day, "payer"): (0, 30) for day in range(28)}, Window(WEEK.until - 28 * DAY, WEEK.until))
    monkeypatch.setattr(forecast, "load_events", lambda *_, **__: weeks)
    after = weeks.between(MONDAY, WEEK.until)
    assert " window. The given balance of 5.00 kB runs out " in describe_forecast(net, after, weeks, balance=5_000)
    assert " Its balance is not known. Four times this burn, 84.0 kB, would last " in describe_forecast(net, after, weeks)
