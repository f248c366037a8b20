"""Findings of weeks made by hand, where chance has no part: what is unusual is found, with its subject, cost and sentence."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from events_by_hand import DAY, Event, frames_of

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.analysis.finding_names import BALANCE, NOT_FINAL, NOT_IN_STORE
from ledgerframes.analysis.findings import _sentences
from ledgerframes.analysis.findings._measures import MEASURES
from ledgerframes.analysis.findings._next_steps import next_step_of
from ledgerframes.analysis.findings._rejections import most_excess
from ledgerframes.errors import UsageError
from ledgerframes.frames import Frames
from ledgerframes.report.headline import measure_headline
from ledgerframes.report.measurement import find_for_report
from ledgerframes.report.rules import parse_rule
from ledgerframes.statistics import printing
from ledgerframes.values.windows import Window

MONDAY = DAY - timedelta(days=6)
WEEK = timedelta(weeks=1)
WEEKS = Window(MONDAY - 6 * WEEK, MONDAY + WEEK)
PER_HOUR = 6
HOURS = range(7 * 24)
QUORUM = [(["bank"], [(1, ["bank"])])]
AT_OTHER_TIMES = "at its rate in the rest of the window"
Change = Callable[[Event], list[Event]]


def requests(change: Change = lambda event: [event], weeks: int = 7) -> Iterator[Event]:
    """Requests of so many weeks, 6 in each hour of which one is rejected; those of the last week are changed."""
    for week in range(weeks):
        for hour in HOURS:
            for number in range(PER_HOUR):
                position = hour * PER_HOUR + number
                event = Event(
                    f"{week}-{position:04}",
                    at=(hour - 6 * 24) + 0.1 * number - 168 * week,
                    cost=1_000 + 10 * ((position * 7 + week * 3) % 40),
                    result="REJECTED" if number == 5 else "ACCEPTED",
                    participant=f"val-{position % 4}",
                    parties=[f"party-{position % 3}"],
                    seconds=0.4 + 0.01 * ((position * 11 + week) % 30),
                    views=QUORUM if position % 2 else [],
                    nodes=[(0, "Main:Asset", "Transfer" if number % 2 else "Split")],
                    activity=[("app", 500)] if number == 0 else [],
                )
                yield from change(event) if week == 0 else [event]


@functools.cache
def history() -> Frames:
    """The six weeks before the last, which no test changes."""
    return frames_of([event for event in requests() if not is_new(event)], window=Window(WEEKS.since, MONDAY))


def week(change: Change = lambda event: [event]) -> Frames:
    return frames_of(list(requests(change, 1)), window=Window(MONDAY, MONDAY + WEEK))


@functools.cache
def found(change: Change) -> pd.DataFrame:
    """What is found in a changed week, which several tests look at."""
    return lf.findings(week(change), history=history())


def is_new(event: Event) -> bool:
    return event.id.startswith("0-")


def hour_of(event: Event) -> int:
    return int(event.at + 6 * 24)


# -- changes that several tests look at -----------------------------------------------------------------------------------


def six_empty_hours(event: Event) -> list[Event]:
    return [] if 50 <= hour_of(event) < 56 else [event]


def slower(event: Event) -> list[Event]:
    return [replace(event, seconds=3 * event.seconds) if event.views else event]


def dearer(event: Event) -> list[Event]:
    return [replace(event, cost=round(1.3 * (event.cost or 0))) if event.nodes[0][2] == "Split" else event]


def with_a_giant(event: Event) -> list[Event]:
    return [replace(event, cost=600_000) if event.id == "0-0300" else event]


NEW = "PAR::<b>new\x1b[31m"


def with_a_new_participant(event: Event) -> list[Event]:
    return [replace(event, participant=NEW) if event.id[-2:] == "30" else event]


@functools.cache
def giant_week() -> Frames:
    return week(with_a_giant)


@functools.cache
def committed_weeks() -> Frames:
    return frames_of(list(requests()), window=WEEKS, population="committed")


@pytest.fixture(scope="module")
def quiet() -> Frames:
    """All seven weeks."""
    return frames_of(list(requests()), window=WEEKS)


@pytest.fixture(scope="module")
def found_in_quiet(quiet: Frames) -> pd.DataFrame:
    return lf.findings(quiet)


def only(result: pd.DataFrame, subject: str, what: str) -> pd.Series:
    (row,) = result[(result["subject"] == subject) & (result["what"] == what)].to_dict("records")
    return pd.Series(row)


def test_nothing_unusual_is_an_empty_frame_and_a_sentence(found_in_quiet: pd.DataFrame) -> None:
    result = found_in_quiet
    columns = FIGURES["findings"].result_columns()
    assert result.empty
    assert [str(dtype) for dtype in result.dtypes] == [column.dtype for column in columns]
    assert result.attrs["weeks"] == 6
    assert result.attrs["looked_at"] > 400
    text = f"{result.attrs['looked_at']:,} figures were compared with the 6 weeks before: nothing unusual."
    assert result.attrs["sentence"] == text


def test_figures_of_a_whole_history_share_its_rows_with_the_findings(quiet: Frames, monkeypatch: pytest.MonkeyPatch) -> None:
    weeks = quiet.between(WEEKS.since, WEEKS.until)
    lf.findings(weeks.between(MONDAY, MONDAY + WEEK), history=weeks)
    scans: list[str] = []
    scan = Frames.scan
    monkeypatch.setattr(Frames, "scan", lambda self, table, **options: (scans.append(table), scan(self, table, **options))[1])
    lf.cost.spend(weeks, by="template")
    assert not {"traffic", "updates", "tree_events"} & set(scans)


def test_a_window_with_its_history_is_what_the_last_week_of_all_is() -> None:
    change = lambda event: [event] if hour_of(event) // 24 != 2 else [replace(event, result="REJECTED")]  # noqa: E731
    weeks = frames_of(list(requests(change)), window=WEEKS)
    expected = lf.findings(weeks)
    for before in (weeks, weeks.between(WEEKS.since, MONDAY)):
        result = lf.findings(weeks.between(MONDAY, MONDAY + WEEK), history=before)
        pd.testing.assert_frame_equal(result.drop(columns="figure"), expected.drop(columns="figure"))
        assert result.attrs == expected.attrs
        assert result["figure"].str.contains("(frames", regex=False).all()
    assert len(expected)


def test_each_call_shows_what_its_sentence_says() -> None:
    """Without a history, the frames are longer than the week that is looked at."""
    change: Change = lambda event: [event, replace(event, id=f"{event.id}x", participant="val-0")]  # noqa: E731
    frames = frames_of(list(requests(change)), window=WEEKS)
    found = lf.findings(frames)
    row = only(found, "participant", "requests")
    shown = eval(row["figure"], {"lf": lf, "frames": frames})
    assert shown.set_index("submitting_participant_uid").loc[row["name"], "requests"] == row["value"]
    assert all(len(eval(call, {"lf": lf, "frames": frames})) for call in set(found["figure"]))


def test_the_share_of_known_costs_is_that_of_the_window() -> None:
    bad = lambda event: [replace(event, result="REJECTED", cost=None if event.id[-1] in "13" else event.cost)]  # noqa: E731
    events = list(requests(bad, weeks=1))
    known = sum(event.cost is not None for event in events)
    assert found(bad)["coverage"].unique().tolist() == [known / len(events)]


def test_hours_that_are_not_final_are_those_of_the_history() -> None:
    """The window begins before the history of the network, whose last hour can still change."""
    events = list(requests(weeks=1))
    segments = [
        {"migration_id": 4, "since": MONDAY, "until": MONDAY + WEEK - timedelta(hours=2), "status": "final"},
        {"migration_id": 4, "since": MONDAY + WEEK - timedelta(hours=2), "until": MONDAY + WEEK, "status": "provisional"},
    ]
    rows = {name: frames_of(events, window=WEEKS).read(name).to_dict("records") for name in ("verdicts", "traffic")}
    window = Window(MONDAY - WEEK, MONDAY + WEEK)
    frames = testing.frames_of(window=window, network="memory", coverage=segments, **rows)
    row = only(lf.findings(frames, history=history()), "data", "not final yet")
    assert row["value"] == pytest.approx(2)


def test_a_history_without_rejections_is_refused() -> None:
    week = frames_of(list(requests(weeks=1)), window=Window(MONDAY, MONDAY + WEEK))
    with pytest.raises(UsageError, match="of the same population, got 'all' and 'committed'"):
        lf.findings(week, history=committed_weeks(), accept_survivorship=True)
    with pytest.raises(UsageError, match="of the same population, got 'all' and 'committed'"):
        lf.cost.wasted(week, every="1d", history=committed_weeks(), accept_survivorship=True)


# -- planted ------------------------------------------------------------------------------------------------------------


def test_a_bad_day_costs_what_its_requests_cost() -> None:
    events = [event for event in requests(weeks=1) if hour_of(event) // 24 == 2]
    is_bad = {event.id for event in events if event.id[-1] in "1379"}
    frames = week(lambda event: [replace(event, result="REJECTED") if event.id in is_bad else event])
    result = lf.findings(frames, history=history(), price=lf.TrafficPrice("50", "USD/MB"))
    row = only(result, "day", "rejection rate")
    rejected = [event for event in events if event.id in is_bad or event.result == "REJECTED"]
    usual = len(events) // PER_HOUR
    effect = round((len(rejected) - usual) * sum(event.cost or 0 for event in rejected) / len(rejected))
    assert (row["value"], row["before"]) == pytest.approx((len(rejected) / len(events), 1 / 6))
    assert row["effect_bytes"] == effect
    assert row["effect_usd"] == Decimal(effect) * 50 / 10**6
    assert row["since"] == pd.Timestamp(MONDAY + timedelta(days=2))
    assert row["until"] - row["since"] == timedelta(days=1)
    low, high = (f"{100 * row[name]:.1f} %" for name in ("usual_low", "usual_high"))
    assert row["sentence"] == (
        f"Wednesday 2026-11-04: {100 * row['value']:.1f} % of the decided requests were rejected, usually {low} to {high}. "
        f"The additional rejections cost {printing.size(effect)} "
        f"({effect * 50 / 10**6:,.2f} USD on the bills of the submitting participants)."
    )
    assert row["usual_low"] < 1 / 6 < row["usual_high"] < row["value"]


def test_the_wasted_share_of_a_finding_is_that_of_the_figure() -> None:
    """Requests without a verdict have a cost, too."""

    def bad(event: Event) -> list[Event]:
        if event.id[-1] == "0":
            return [replace(event, result=None)]
        return [replace(event, result="REJECTED") if hour_of(event) // 24 == 2 and event.id[-1] in "1379" else event]

    frames = week(bad)
    row = only(lf.findings(frames, history=history()), "day", "wasted share")
    days = lf.cost.wasted(frames, every="1d", history=history())
    assert row["value"] == pytest.approx(days["share"].iloc[2])
    assert measure_headline(frames)["wasted_share"] == pytest.approx(lf.cost.wasted(frames, every=None)["share"].iloc[0])
    limit = f"above the limit of {printing.share(days['upper'].iloc[2])} that allows for 7 tested periods"
    assert f"Wednesday 2026-11-04 ({printing.share(row['value'])} wasted, {limit})" in lf.show(days).statement
    assert f"{printing.share(row['value'])} of the cost was wasted, usually " in row["sentence"]


def test_empty_hours_are_one_finding() -> None:
    row = only(found(six_empty_hours), "hour", "requests")
    assert (row["since"], row["until"]) == (
        pd.Timestamp(MONDAY + timedelta(hours=50)),
        pd.Timestamp(MONDAY + timedelta(hours=56)),
    )
    assert (row["value"], row["before"]) == (0, PER_HOUR)
    start = "The time from 2026-11-04 02:00 to 08:00 has no request, usually "
    assert row["sentence"].startswith(start) and " in its first hour. That is " in row["sentence"]
    mean = np.mean([event.cost for event in requests() if not is_new(event)])
    assert row["effect_bytes"] == pytest.approx(-6 * PER_HOUR * mean, rel=0.05)


def test_empty_hours_of_two_days_end_with_their_date() -> None:
    row = only(found(lambda event: [] if 50 <= hour_of(event) < 74 else [event]), "hour", "requests")
    assert row["sentence"].startswith("The time from 2026-11-04 02:00 to 2026-11-05 02:00 has no request, usually ")


@pytest.mark.parametrize(
    ("hours", "text"), [(1e-4, "1 minute"), (0.0573, "4 minutes"), (1.0, "1 hour"), (5.5, "5.5 hours"), (1_480.0, "61.7 days")]
)
def test_a_time_that_is_missing_has_a_unit_to_read(hours: float, text: str) -> None:
    assert _sentences._time_span(hours) == text


def test_hours_that_are_not_in_the_store_are_not_empty() -> None:
    window = Window(MONDAY, MONDAY + WEEK)
    whole = week(six_empty_hours)
    tables = {name: whole.scan(name).to_table() for name in ("updates", "tree_events", "verdicts", "traffic")}
    parts = [(window.since, MONDAY + timedelta(hours=50)), (MONDAY + timedelta(hours=56), window.until)]
    coverage = [{"since": since, "until": until, "status": "final", "rows": 1} for since, until in parts]
    frames = testing.frames_of(window=window, coverage=coverage, network="memory", **tables)
    result = lf.findings(frames, history=history())
    assert result["what"].tolist() == ["not in the store"]
    assert result["value"].tolist() == pytest.approx([6])
    assert result["sentence"].tolist() == ["6 hours of the window are not in the store."]
    assert result[["p", "p_holm", "effect_bytes"]].isna().all(axis=None)


def test_a_slow_party_is_named() -> None:
    row = only(found(slower), "confirming party", "latency")
    accepted = [event for event in requests(weeks=1) if event.views and event.result == "ACCEPTED"]
    slow = sorted(round(3_000_000 * event.seconds) for event in accepted)
    assert row["name"] == "bank"
    assert row["value"] == pytest.approx(slow[(len(slow) - 1) // 2], rel=1e-6)
    assert row["sentence"].startswith("Confirming party bank: the median latency of accepted requests is 1.6")
    assert pd.isna(row["effect_bytes"])
    assert row["figure"] == "lf.verdict.waited_for(frames)"


def test_a_costly_kind_is_named() -> None:
    row = only(found(dearer), "kind", "cost per request")
    accepted = [event for event in requests() if event.nodes[0][2] == "Split" and event.result == "ACCEPTED"]
    now = [round(1.3 * (event.cost or 0)) for event in accepted if is_new(event)]
    before = [event.cost or 0 for event in accepted if not is_new(event)]
    assert row["name"] == "Main:Asset/Split"
    assert row["value"] == sorted(now)[(len(now) - 1) // 2]
    assert row["effect_bytes"] == round(sum(now) - len(now) * sum(before) / len(before))
    assert row["figure"] == 'lf.cost.spend(frames, by="template")'
    low, high = int(np.floor(row["usual_low"])), int(np.ceil(row["usual_high"]))
    assert row["sentence"] == (
        f"Kind Main:Asset/Split: the median request costs {row['value']:,.0f} bytes, usually {low:,} to {high:,}. "
        f"That is {printing.size(row['effect_bytes'])} more than usual."
    )


def test_the_bill_of_a_finding_on_one_participant_is_its_own() -> None:
    giant = lf.findings(giant_week(), history=history(), price=lf.TrafficPrice("50", "USD/MB")).iloc[0]
    assert f"({giant['effect_usd']:,.2f} USD on the bill of its participant) more." in giant["sentence"]


def test_a_giant_request_comes_first() -> None:
    row = lf.findings(giant_week(), history=history()).iloc[0]
    assert (row["subject"], row["name"], row["value"]) == ("request", "0-0300", 600_000)
    accepted = [event for event in requests() if event.nodes[0][2] == "Split" and event.result == "ACCEPTED"]
    before = sorted(event.cost or 0 for event in accepted if not is_new(event))
    assert (row["usual_high"], row["before"]) == (before[-1], before[(len(before) - 1) // 2])
    assert row["effect_bytes"] == 600_000 - row["before"]
    (event,) = [event for event in requests(weeks=1) if event.id == "0-0300"]
    time, times = f"{DAY + timedelta(hours=event.at):%Y-%m-%d %H:%M}", f"{600_000 / row['before']:,.0f} times"
    assert row["sentence"] == (
        f"A request cost 600 kB on {time}, {times} the median of its kind in the 6 weeks before. "
        f"That is {printing.size(row['effect_bytes'])} more. "
        f"The largest of its kind cost {printing.size(before[-1])} in these weeks. "
        f"Its id is 0-0300, its kind Main:Asset/Split, and participant {event.participant} paid for it."
    )
    assert row["figure"] == "lf.cost.anatomy(frames, '0-0300')"
    assert row["next_step"] == f"Ask participant {event.participant} what it was for."


def test_a_new_participant_is_named_whatever_its_name() -> None:
    row = only(found(with_a_new_participant), "participant", "requests")
    count = sum(event.id.endswith("30") for event in requests(weeks=1))
    assert (row["name"], row["value"], row["before"]) == (NEW, count, 0)
    assert row["sentence"].startswith(
        f"Participant PAR::<b>new\\x1b[31m is new: {count} requests, and none in the 6 weeks before."
    )


def test_a_provider_that_falls_is_named() -> None:
    result = found(lambda event: [replace(event, activity=[] if hour_of(event) % 3 else event.activity)])
    row = only(result, "app provider", "activity weight")
    assert (row["name"], row["value"], row["before"]) == ("app", 56 * 500, 168 * 500)
    low, high = int(np.floor(row["usual_low"])), int(np.ceil(row["usual_high"]))
    assert row["sentence"] == f"App provider app earned an activity weight of 28,000 weighted bytes, usually {low:,} to {high:,}."
    records = only(result, "app provider", "requests with activity")
    assert records["sentence"].startswith("App provider app earned activity from 56 requests, usually ")


def test_values_that_contradict_themselves_are_found() -> None:
    result = found(lambda event: [replace(event, cost=-1, seconds=-1) if event.id[-2:] == "30" else event])
    count = sum(event.id.endswith("30") for event in requests(weeks=1))
    for what in ("negative costs", "verdicts before their request"):
        row = only(result, "data", what)
        assert (row["value"], row["before"], row["figure"]) == (count, 0, "lf.cost.invalid_values(frames)")
        assert row["sentence"].startswith(f"{count} requests have {what}, usually 0 to ")
    result = found(lambda event: [replace(event, cost=None if event.id[-1] == "3" else event.cost)])
    unknown = only(result, "data", "unknown costs")
    assert unknown["sentence"].startswith("10.0 % of the requests have no known cost, usually ")


def test_a_balance_that_ends_is_a_fact(quiet: Frames) -> None:
    balance = lf.TrafficBalance(100_000, MONDAY + WEEK)
    row = only(lf.findings(quiet, participant="val-0", balance=balance), "balance", "balance")
    (end,) = lf.cost.runway_end(quiet, participant="val-0", balance=balance)["runs_dry_first"]
    assert (row["name"], row["value"], row["until"]) == ("val-0", 100_000, end)
    assert row["sentence"] == f"The balance of participant val-0, 100 kB, can run out on {end:%Y-%m-%d %H:%M}."
    lasts = lf.findings(quiet, participant="val-0", balance=lf.TrafficBalance(10**12, MONDAY + WEEK))
    assert lasts.empty


def test_a_balance_of_0_is_a_fact_without_a_forecast() -> None:
    row = only(lf.findings(week(), participant="val-0", balance=lf.TrafficBalance(0, MONDAY + WEEK)), "balance", "balance")
    assert row["sentence"] == "The balance of participant val-0 is used up." and row["next_step"] == "Buy traffic now."


def test_a_balance_without_enough_weeks_has_no_forecast() -> None:
    result = lf.findings(week(), participant="val-0", balance=lf.TrafficBalance(100_000, MONDAY + WEEK))
    assert "balance" not in set(result["subject"])
    assert "The balance has no forecast. A runway needs 4 whole weeks" in result.attrs["sentence"]


# -- order, and what is not judged ----------------------------------------------------------------------------------------


def test_findings_are_in_the_order_of_bytes_and_then_of_surprise() -> None:
    def change(event: Event) -> list[Event]:
        changed = replace(event, cost=500_000) if event.id == "0-0300" else event
        return [replace(changed, seconds=3 * changed.seconds)]

    result = found(change)
    sizes = result["effect_bytes"].abs().astype("float64")
    assert sizes.dropna().is_monotonic_decreasing
    assert sizes.isna().to_numpy()[sizes.notna().sum() :].all()
    assert result.loc[sizes.isna(), "p"].is_monotonic_increasing
    assert (result["p_holm"] >= result["p"]).all()
    assert (result["p_holm"] <= 0.05).all()


@pytest.mark.parametrize("weeks", [1, 4])
def test_too_little_history_is_said(weeks: int) -> None:
    window = Window(MONDAY - (weeks - 1) * WEEK, MONDAY + WEEK)
    frames = frames_of(list(requests(lambda event: [replace(event, result="REJECTED")], weeks)), window=window)
    result = lf.findings(frames)
    assert result.empty
    assert result.attrs["sentence"] == (
        f"Too little history: 4 whole weeks before the window are needed, {weeks - 1} are here. "
        "Only what needs no history was looked at: nothing unusual."
    )


@pytest.mark.parametrize(("days", "step", "weeks"), [(8, 14, 2), (14, 14, 2), (15, 21, 1)])
def test_a_long_window_is_compared_with_stretches_of_its_length(quiet: Frames, days: int, step: int, weeks: int) -> None:
    end = MONDAY + WEEK
    sentence = lf.findings(quiet.between(end - timedelta(days=days), end), history=quiet).attrs["sentence"]
    assert sentence.startswith(
        f"Too little history: 4 stretches of {step} days before the window are needed, {weeks} are here. "
        "Choose a window of at most 7 days, which is compared with weeks. Only what needs no history"
    )


def test_empty_frames_have_no_findings() -> None:
    assert lf.findings(frames_of([], window=WEEKS)).empty
    by_id = lf.findings(frames_of([Event("a", 1, 100)], window=None))
    assert by_id.empty
    assert by_id.attrs["sentence"].endswith("Frames without a window have no weeks before.")


def test_committed_updates_are_refused_or_accepted(found_in_quiet: pd.DataFrame) -> None:
    with pytest.raises(lf.CoverageError, match="no rejected requests"):
        lf.findings(committed_weeks())
    result = lf.findings(committed_weeks(), accept_survivorship=True)
    assert result.attrs["looked_at"] < found_in_quiet.attrs["looked_at"]


def test_wrong_arguments_are_refused(quiet: Frames) -> None:
    with pytest.raises(lf.UsageError, match=r"Pass Frames to lf\.findings"):
        lf.findings(quiet.traffic)  # type: ignore[arg-type]
    with pytest.raises(lf.UsageError, match=r"Pass Frames to lf\.findings"):
        lf.findings(quiet, history=quiet.traffic)  # type: ignore[arg-type]
    with pytest.raises(lf.UsageError, match="price= must be in USD/MB"):
        lf.findings(quiet, price=lf.TrafficPrice("50", "EUR/MB"))
    with pytest.raises(lf.UsageError, match="Pass participant= and balance= together"):
        lf.findings(quiet, participant="val-0")


def test_every_call_of_a_finding_runs() -> None:
    frames = week(lambda event: [replace(event, cost=600_000, seconds=5 * event.seconds) if event.id[-1] in "13" else event])
    result = lf.findings(frames, history=history())
    for call in set(result["figure"]):
        names = {"lf": lf, "frames": frames, "history": history()}
        assert isinstance(eval(call, names), pd.DataFrame)
    assert len(result) > 5


def test_a_rule_of_a_report_counts_them() -> None:
    frames, usual = giant_week(), week()
    rule = parse_rule("findings > 0")
    results = [lf.findings(each, history=history()) for each in (frames, usual)]
    counts = [measure_headline(*each)["findings"] for each in zip((frames, usual), results, strict=True)]
    assert counts[1] == 0
    assert counts[0] == len(results[0])
    assert rule.explain({"findings": counts[0]}) == f"findings > 0: findings is {counts[0]}"
    assert rule.explain({"findings": counts[1]}) is None
    unknown = measure_headline(frames, lf.findings(frames, history=frames))  # without the weeks before
    reason = "findings > 0: findings is unknown, because the window was not compared with enough whole weeks before it"
    assert rule.explain(unknown) == rule.explain(measure_headline(frames)) == reason


def test_the_queries_run_without_this_package(quiet: Frames, tmp_path: Path) -> None:
    lf.save_frames(quiet.between(MONDAY, MONDAY + WEEK), tmp_path)
    text = lf.query(lf.findings, lf.open_frames(tmp_path))
    with duckdb.connect() as connection:
        statements = connection.extract_statements(text)
        results = [connection.sql(each.query) for each in statements]
        assert [len(result) for result in results if result is not None][-1] > 0
    assert len(statements) == 6  # the time zone, and a query of each group of subjects


def test_a_history_that_is_not_filtered_alike_is_refused(quiet: Frames) -> None:
    filtered = quiet.where("verdicts", participant=quiet.verdicts["submitting_participant_uid"].iloc[0])
    costly = quiet.where("traffic", lambda rows: rows["total_traffic_cost"] > 1)
    assert filtered.is_filtered and costly.population != quiet.population
    for frames, past in ((filtered, quiet), (quiet, filtered), (costly, quiet)):
        for analysis in (lf.findings, lf.cost.wasted):
            with pytest.raises(lf.errors.UsageError, match="of which one is filtered"):
                analysis(frames, history=past)
    lf.cost.wasted(filtered, history=filtered)


@pytest.mark.parametrize(("price", "text"), [("50 USD/MB", "(29.9"), ("50 EUR/MB", "more. "), ("", "more. ")])
def test_findings_of_a_report_are_at_its_list_price(price: str, text: str) -> None:
    frames = giant_week()
    inputs: Any = SimpleNamespace(parameters={"price": price}, window=frames.window)
    sentence = find_for_report(frames, history(), inputs)["sentence"].iloc[0]
    assert sentence.partition("That is 59")[2].partition(" kB ")[2].startswith(text)


# -- next steps ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "subject", "what", "step"),
    [
        (
            lambda event: [replace(event, result="REJECTED")] if hour_of(event) // 24 == 2 else [event],
            "day",
            "rejection rate",
            (
                f"Ask participant val-0 why 36 of its 36 decided requests were rejected, instead of 0 {AT_OTHER_TIMES}. "
                "It has 36 of about 120 additional rejections, so look for what the others have in common with it, too."
            ),
        ),
        (
            six_empty_hours,
            "hour",
            "requests",
            "Check whether the network or the host stood still.",
        ),
        (
            slower,
            "confirming party",
            "latency",
            "See how often requests waited for this party, and ask its participants.",
        ),
        (
            dearer,
            "kind",
            "cost per request",
            "Ask the developers of its package why its requests cost more.",
        ),
        (
            lambda event: [replace(event, cost=(event.cost or 0) // 2) if event.nodes[0][2] == "Split" else event],
            "kind",
            "cost per request",
            "None, if this change was planned.",
        ),
        (
            with_a_new_participant,
            "participant",
            "requests",
            "Ask its operator what these requests are for.",
        ),
        (
            lambda event: [] if event.participant == "val-1" else [event],
            "participant",
            "requests",
            "Ask its operator whether this was meant to end.",
        ),
        (
            lambda event: [replace(event, activity=[])],
            "app provider",
            "activity weight",
            "Ask this app provider why the weight is lower.",
        ),
    ],
    ids=["bad day", "empty hours", "slow party", "costly kind", "cheaper kind", "new", "gone", "app provider"],
)
def test_each_finding_has_a_next_step(change: Change, subject: str, what: str, step: str) -> None:
    result = found(change)
    assert step in result[(result["subject"] == subject) & (result["what"] == what)]["next_step"].tolist()


def test_each_subject_of_each_measure_has_a_next_step() -> None:
    frames, times = week(), {"since": pd.Timestamp(MONDAY), "until": pd.Timestamp(MONDAY + timedelta(days=1))}
    for measure in MEASURES:
        for subject, value, before in itertools.product(measure.subjects, (0.0, 1.0, 3.0), (0.0, 2.0)):
            step = next_step_of(SimpleNamespace(subject=subject, what=measure.name, value=value, before=before, **times), frames)
            assert step.endswith(".") and len(step) > 20, (measure.name, subject)


def test_facts_have_a_next_step() -> None:
    until = pd.Timestamp("2026-11-12T08:30Z")
    rows = [SimpleNamespace(what=what, until=until, value=1.0) for what in (NOT_IN_STORE, NOT_FINAL, BALANCE)]
    assert {row.what: next_step_of(row, week()) for row in rows} == {
        NOT_IN_STORE: "Load these hours with ledgerframes sync events, and look again.",
        NOT_FINAL: "Look again when these hours are final.",
        BALANCE: "Buy traffic before 2026-11-12 08:30 UTC.",
    }
    assert next_step_of(SimpleNamespace(what=BALANCE, until=until, value=0.0), week()) == "Buy traffic now."


def test_the_participant_with_the_most_rejections_above_its_rate_is_named() -> None:
    """One has the most rejections as always, another has no request at other times, and a third has more than usual."""
    day = [Event(f"a{n}", at=n / 100, participant="always", result="REJECTED") for n in range(30)]
    day += [Event(f"n{n}", at=n / 100, participant="new", result="REJECTED" if n < 12 else "ACCEPTED") for n in range(20)]
    day += [Event(f"m{n}", at=n / 100, participant="more", result="REJECTED" if n < 9 else "ACCEPTED") for n in range(10)]
    rest = [replace(event, id=f"x{event.id}", at=event.at - 24) for event in day if event.participant != "new"]
    rest = [replace(event, result="ACCEPTED") if event.participant == "more" else event for event in rest]
    window = Window(DAY - timedelta(days=1), DAY + timedelta(days=1))
    since, until = pd.Timestamp(DAY), pd.Timestamp(DAY + timedelta(days=1))
    assert most_excess(frames_of(day + rest, window=window), since, until) == ("more", 9, 10, 9.0, 9.0)
    alone = most_excess(frames_of(day, window=window), since, until)
    assert alone[:3] == ("always", 30, 30) and np.isnan(alone.excess) and np.isnan(alone.excess_of_all)


def test_a_participant_with_a_minority_of_the_rejections_is_not_named_alone() -> None:
    """On the day, three participants have more rejections than at other times: 5, 4 and 3."""
    names = {"one": 5, "two": 4, "three": 3}
    day = [
        Event(f"{name}{n}", at=n / 100, participant=name, result="REJECTED" if n < rejected else "ACCEPTED")
        for name, rejected in names.items()
        for n in range(10)
    ]
    rest = [replace(event, id=f"x{event.id}", at=event.at - 24, result="ACCEPTED") for event in day]
    frames = frames_of(day + rest, window=Window(DAY - timedelta(days=1), DAY + timedelta(days=1)))
    times = {"since": pd.Timestamp(DAY), "until": pd.Timestamp(DAY + timedelta(days=1))}
    step = next_step_of(SimpleNamespace(subject="day", what="rejection rate", **times), frames)
    assert step == (
        f"Ask participant one why 5 of its 10 decided requests were rejected, instead of 0 {AT_OTHER_TIMES}. "
        "It has 5 of about 12 additional rejections, so look for what the others have in common with it, too."
    )


def test_a_participant_without_rejections_is_not_asked_about_them() -> None:
    """On the day, one participant has fewer rejections than usual, and the other has none, as always."""
    day = [Event(f"f{n}", at=n / 100, participant="fewer", result="REJECTED" if n < 1 else "ACCEPTED") for n in range(10)]
    day += [Event(f"n{n}", at=n / 100, participant="none") for n in range(10)]
    rest = [replace(event, id=f"x{event.id}", at=event.at - 24) for event in day]
    rest = [replace(event, result="REJECTED") if event.participant == "fewer" else event for event in rest]
    frames = frames_of(day + rest, window=Window(DAY - timedelta(days=1), DAY + timedelta(days=1)))
    times = {"since": pd.Timestamp(DAY), "until": pd.Timestamp(DAY + timedelta(days=1))}
    assert most_excess(frames, **times) == ("fewer", 1, 10, -9.0, 0.0)
    step = next_step_of(SimpleNamespace(subject="day", what="rejection rate", **times), frames)
    assert step == "Ask participant fewer why 1 of its 10 decided requests was rejected."
    accepted = frames_of([replace(event, result="ACCEPTED") for event in day] + rest, window=frames.window)
    assert most_excess(accepted, **times) == ("fewer", 0, 10, -10.0, 0.0)
