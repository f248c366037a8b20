"""Requests that waited for a timeout, worked out by hand and by plain loops."""

from __future__ import annotations

import random
import statistics
from datetime import timedelta

import pandas as pd
import pytest
from events_by_hand import DAY, WINDOW

from ledgerframes import testing
from ledgerframes.analysis import verdict
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.values.windows import Window, instant

SECOND = 1 / 3600
TEN = 10.0


def seconds(values):
    return [value.total_seconds() for value in values]


def view(*parties):
    return [(list(parties), [(1, list(parties))])]


@pytest.fixture
def example(build, event):
    """A timeout at 10:00, two victims, and three requests that are none."""
    quiet = [event(f"quiet-{number}", number / 60, 100, seconds=1.0) for number in range(30)]
    return build(
        [
            *quiet,
            event("culprit", TEN, 100, "REJECTED", seconds=30.0),
            event("early", TEN + 5 * SECOND, 100, seconds=26.0),
            event("late", TEN + 29 * SECOND, 100, seconds=3.0),
            event("fast", TEN + 10 * SECOND, 100, seconds=1.5),
            event("after", TEN + 31 * SECOND, 100, seconds=9.0),
            event("elsewhere", TEN + 6 * SECOND, 100, seconds=9.0, participant="val-b", parties=["bob"]),
        ]
    )


def test_victims_of_one_timeout(example):
    (row,) = verdict.head_of_line(example).to_dict("records")
    assert (row["update_id"], row["submitting_participant_uid"], row["victims"]) == ("culprit", "val-a", 2)
    assert row["added"].total_seconds() == 26.0
    assert row["latency"].total_seconds() == 30.0
    assert (row["expected_victims"], row["excess"], row["parties_in_common"]) == (0.0, 2.0, 0)
    victims = verdict.head_of_line_victims(example)
    assert victims["update_id"].tolist() == ["early", "late"]
    assert set(victims["culprit_id"]) == {"culprit"}
    assert seconds(victims["latency"]) == [26.0, 3.0]
    assert seconds(victims["baseline"]) == [1.0, 1.0]
    assert seconds(victims["added"]) == [25.0, 1.0]


def test_a_longer_least_delay_leaves_out_short_ones(example):
    assert verdict.head_of_line(example, min_delay="2s")["victims"].tolist() == [1]
    with pytest.raises(UsageError, match="min_delay= must be a period such as '15min', '1h', '1d' or '1w', got 'a bit'"):
        verdict.head_of_line(example, min_delay="a bit")
    with pytest.raises(UsageError, match="min_delay= must not be in months"):
        verdict.head_of_line(example, min_delay="1mo")


def test_a_common_confirming_party_links_two_participants(build, event):
    def frames(*parties):
        return build(
            [
                event("quiet", 0, 100, seconds=1.0),
                event("culprit", TEN, 100, "REJECTED", seconds=30.0, views=view("bank", "app")),
                event("other", TEN + SECOND, 100, seconds=9.0, participant="val-b", views=view(*parties)),
            ]
        )

    (row,) = verdict.head_of_line(frames("app", "bank", "eve")).to_dict("records")
    assert (row["victims"], row["parties_in_common"]) == (1, 2)
    assert verdict.head_of_line(frames("eve"))["victims"].tolist() == [0]


def test_a_victim_of_two_belongs_to_the_larger_overlap(build, event):
    frames = build(
        [
            event("quiet", 0, 100, seconds=1.0),
            event("first", TEN, 100, "REJECTED", seconds=30.0),
            event("second", TEN + 5 * SECOND, 100, "REJECTED", seconds=30.0),
            event("both", TEN + 10 * SECOND, 100, seconds=40.0),
        ]
    )
    victims = verdict.head_of_line_victims(frames).set_index("update_id")
    assert victims["culprit_id"].to_dict() == {"both": "second", "second": "first"}  # a culprit can be a victim
    assert seconds(victims.loc[["both", "second"], "added"]) == [25.0, 25.0]


def test_nobody_waited_longer_than_a_baseline_that_is_unknown(build, event):
    frames = build([event("culprit", TEN, 100, "REJECTED", seconds=30.0), event("slow", TEN + SECOND, 100, seconds=9.0)])
    assert verdict.head_of_line(frames)["victims"].tolist() == [0]
    assert verdict.head_of_line_victims(frames).empty


def test_expected_victims_are_those_of_other_hours(build, event):
    slow = [event(f"slow-{hour}", TEN + hour + 2 * SECOND, 100, seconds=5.0) for hour in (-3, 0, 2)]
    quiet = [event(f"quiet-{number}", number / 60, 100, seconds=1.0) for number in range(30)]
    (row,) = verdict.head_of_line(build([event("culprit", TEN, 100, "REJECTED", seconds=30.0), *slow, *quiet])).to_dict("records")
    assert (row["victims"], row["expected_victims"], row["excess"]) == (1, 0.2, 0.8)  # at 2 of 10 other hours


def test_shifts_outside_the_window_do_not_count(build, event):
    slow = [event("slow", 1 + 2 * SECOND, 100, seconds=5.0)]
    (row,) = verdict.head_of_line(build([event("culprit", 0.5, 100, "REJECTED", seconds=30.0), *slow])).to_dict("records")
    assert row["expected_victims"] == 0.0  # of the five hours after it
    late = build([event("culprit", 0.5, 100, "REJECTED", seconds=30.0)]).between("2026-11-08", "2026-11-08T01:00:00Z")
    assert pd.isna(verdict.head_of_line(late)["expected_victims"].iloc[0])


def test_no_request_waits_for_itself(build, event):
    """Its own interval of two hours, an hour earlier, has the request in it."""
    quiet = [event(f"quiet-{number}", number / 60, 100, seconds=1.0) for number in range(30)]
    (row,) = verdict.head_of_line(build([event("culprit", TEN, 100, "REJECTED", seconds=7200.0), *quiet])).to_dict("records")
    assert (row["victims"], row["expected_victims"]) == (0, 0.0)


def test_an_accepted_slow_request_is_no_culprit(build, event):
    frames = build([event("slow", TEN, 100, seconds=40.0), event("next", TEN + SECOND, 100, seconds=9.0)])
    assert verdict.head_of_line(frames).empty
    assert verdict.head_of_line_victims(frames).empty


def test_random_requests_agree_with_loops(build, event):
    random.seed(3)
    parties = [f"p{number}" for number in range(5)]
    events = [
        event(
            f"e{number}",
            random.uniform(0, 1),
            100,
            "REJECTED" if (late := random.random() < 0.1) else "ACCEPTED",
            seconds=30.0 if late else round(random.expovariate(0.3), 6),
            participant=f"val-{random.randrange(4)}",
            views=view(*random.sample(parties, 2)),
        )
        for number in range(500)
    ]
    start = {each.id: each.at * 3600 for each in events}
    culprits = [each for each in events if each.result == "REJECTED"]
    quiet = [
        each.seconds
        for each in events
        if each.result == "ACCEPTED" and not any(start[c.id] < start[each.id] < start[c.id] + 30 for c in culprits)
    ]
    baseline = statistics.median_low(quiet)
    expected = {}
    for each in events:
        choices = []
        for culprit in culprits:
            end = start[culprit.id] + 30
            inside = start[culprit.id] < start[each.id] < end
            linked = each.participant == culprit.participant or set(each.views[0][0]) & set(culprit.views[0][0])
            if each is not culprit and inside and linked and min(each.seconds - baseline, end - start[each.id]) >= 1:
                choices.append((-min(each.seconds, end - start[each.id]), start[culprit.id], culprit.id))
        if choices:
            expected[each.id] = min(choices)[2]
    victims = verdict.head_of_line_victims(build(events))
    assert len(expected) > 20
    assert dict(zip(victims["update_id"], victims["culprit_id"], strict=True)) == expected


@pytest.mark.parametrize("population", ["committed", "chosen"])
def test_frames_without_all_requests_are_refused(build, event, population):
    for figure in (verdict.head_of_line, verdict.head_of_line_victims):
        with pytest.raises(CoverageError, match="do not hold all requests of a window"):
            figure(build([event("a")], population=population))


def test_filtered_frames_are_refused(example):
    """A victim of another participant would be missing, and the coverage would not tell."""
    for figure in (verdict.head_of_line, verdict.head_of_line_victims):
        with pytest.raises(CoverageError, match="do not filter it"):
            figure(example.where("verdicts", participant="val-a"))


def test_the_time_before_all_history_has_no_expected_victims(build, event):
    """Of the ten other hours, those before the first event do not count."""
    events = [event("quiet", 0, 100), event("culprit", 2.0, 100, "REJECTED", seconds=30.0)]
    events += [event("slow", 1 + SECOND, 100, seconds=40.0), event("last", 2.0 + SECOND, 100, seconds=1.0)]
    until = build([]).window.until
    first, all_history = build(events), build(events, window=Window(instant("0001-01-01"), until))
    expected = verdict.head_of_line(first)["expected_victims"]
    assert expected.item() > 0
    assert verdict.head_of_line(all_history)["expected_victims"].tolist() == expected.tolist()


def test_no_timeout_is_named_where_the_limit_is_doubtful(build, event):
    """Two rejections at 25 s and one at 30 s: which of them timed out is unknown."""
    rejected = [
        event(name, TEN + n, 100, "REJECTED", seconds=s) for n, (name, s) in enumerate({"a": 25.0, "b": 25.0, "c": 30.0}.items())
    ]
    quiet = [event(f"quiet-{number}", number / 60, 100, seconds=1.0) for number in range(30)]
    frames = build([*rejected, *quiet, event("slow", TEN + 2 + SECOND, 100, seconds=20.0)])
    result = verdict.head_of_line(frames)
    assert result["update_id"].tolist() == ["a", "b", "c"]
    assert result[["victims", "expected_victims", "excess", "added", "parties_in_common"]].isna().all(axis=None)
    assert set(result["reason"]) == {"the limit of this network may not be 30 s"}
    assert verdict.head_of_line_victims(frames).empty
    named = verdict.head_of_line(build([rejected[0], rejected[2], *quiet, event("slow", TEN + 2 + SECOND, 100, seconds=20.0)]))
    assert (named["victims"].tolist(), named["reason"].isna().all()) == ([1], True)


def test_time_that_is_not_covered_has_no_expected_victims(build, event):
    def row_of(since):
        coverage = [{"source": "events", "since": since, "until": WINDOW.until, "status": "final", "migration_id": 4}]
        requests = [event("culprit", 14, 100, "REJECTED", seconds=30.0)]
        requests += [event(f"steady-{n}", 12 + n / 4 + 2 * SECOND, 100, seconds=5.0 if n % 4 == 0 else 1.0) for n in range(48)]
        frames = build(requests)
        tables = {name: frames.read(name).to_dict("records") for name in ("verdicts", "traffic", "updates")}
        whole = testing.frames_of(window=WINDOW, network="memory", coverage=coverage, **tables)
        return verdict.head_of_line(whole)["expected_victims"].iloc[0]

    assert row_of(DAY + timedelta(hours=12)) == 1.0 > row_of(DAY)
