"""Outcomes and latencies, worked out by hand from the six requests of `sample`."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest
from events_by_hand import DAY

from ledgerframes import show
from ledgerframes.analysis import cost, verdict
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.values.windows import Window


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def seconds(frame, name):
    return [None if pd.isna(value) else value.total_seconds() for value in frame[name]]


def test_outcomes_of_all(sample):
    (row,) = verdict.outcomes(sample).itertuples()
    assert (row.requests, row.accepted, row.rejected, row.unspecified) == (6, 3, 2, 0)
    assert row.rejection_rate == 0.4
    assert (row.low, row.high) == (pytest.approx(0.1176, abs=1e-4), pytest.approx(0.7693, abs=1e-4))
    assert row.coverage == pytest.approx(5 / 6)


def test_a_request_without_verdict_is_not_accepted(build, event):
    (row,) = verdict.outcomes(build([event("old", result=None), event("a")])).itertuples()
    assert (row.requests, row.accepted, row.coverage) == (2, 1, 0.5)


def test_unspecified_counts_in_no_rate(build, event):
    (row,) = verdict.outcomes(build([event("a", result="UNSPECIFIED")])).itertuples()
    assert row.unspecified == 1
    assert pd.isna(row.rejection_rate)


def test_outcomes_by_participant(sample):
    rates = verdict.outcomes(sample, by="participant")
    assert column(rates, "submitting_participant_uid") == ["val-a", "val-b", None]
    assert column(rates, "rejection_rate") == [pytest.approx(1 / 3), 0.5, None]
    assert column(rates, "coverage") == [1, 1, 0]


def test_outcomes_by_party_count_for_each_party(sample):
    rates = verdict.outcomes(sample, by="party")
    assert column(rates, "party") == ["alice", "bob", None]
    assert column(rates, "rejected") == [1, 1, 0]
    assert column(rates, "requests") == [3, 2, 2]


def test_outcomes_by_hour_and_day(sample):
    hours = verdict.outcomes(sample, by="hour")
    assert column(hours, "hour") == list(range(24))
    assert column(hours.head(4), "requests") == [3, 0, 2, 1]
    assert column(verdict.outcomes(sample, by="day"), "day") == [pd.Timestamp("2026-11-08", tz="UTC")]


@pytest.mark.parametrize("by", ["template", "result", "", "Hour"])
def test_other_groupings_are_refused(sample, by):
    with pytest.raises(UsageError, match="Choose from"):
        verdict.outcomes(sample, by=by)


def test_survivors_are_refused(build, event):  # T1
    frames = build([event("a"), event("b")], population="committed")
    for figure in (verdict.outcomes, verdict.rejections):
        with pytest.raises(CoverageError, match="committed updates have no rejected requests") as refused:
            figure(frames)
        assert refused.value.missing == ("rejected requests",)
    assert verdict.outcomes(frames, accept_survivorship=True)["rejection_rate"].tolist() == [0.0]
    assert verdict.rejections(frames, accept_survivorship=True).empty


def test_a_label_on_rows_decides_nothing(build, event):
    """What the first load called the ids says nothing about the question."""
    rows = [event("a", source="ledger"), event("b", source="ledger"), event("c", result="REJECTED", source="ledger")]
    assert verdict.outcomes(build(rows))["rejected"].tolist() == [1]
    listed = [event("a", source="listing"), event("b", source="user")]
    with pytest.raises(CoverageError):
        verdict.outcomes(build(listed, population="committed"))


def test_chosen_requests_have_a_rate_of_their_own(build, event):
    frames = build([event("a"), event("b", result="REJECTED")], population="chosen")
    assert verdict.outcomes(frames)["rejection_rate"].tolist() == [0.5]
    assert len(verdict.rejections(frames)) == 1


def test_wilson_interval_against_the_published_formula(build, event):
    events = [event(f"{n}", result="REJECTED" if n < 14 else "ACCEPTED") for n in range(100)]
    (row,) = verdict.outcomes(build(events)).itertuples()
    assert (row.low, row.high) == (pytest.approx(0.08526, abs=1e-5), pytest.approx(0.22137, abs=1e-5))


def test_latency_is_nearest_rank(build, event):
    frames = build([event(f"{n}", seconds=n / 10) for n in range(1, 101)])
    (row,) = verdict.latency(frames).itertuples()
    assert [each / pd.Timedelta(1, "s") for each in (row.p50, row.p90, row.p95, row.max)] == [5.0, 9.0, 9.5, 10.0]
    assert row.p99 is pd.NaT and row.reason.startswith("too few accepted requests for p99")


def test_latency_is_exact_to_the_microsecond(build, event):
    (row,) = verdict.latency(build([event(f"{n}", seconds=0.500_001) for n in range(6)])).itertuples()
    assert row.max == row.p50 == row.p50_low == row.p50_high == pd.Timedelta(500_001, "us")


def test_timeouts_are_in_no_percentile(build, event):
    """Slow success and timeout are told apart by result as well as by latency."""
    rows = [event(f"a{n}", seconds=1) for n in range(6)] + [event("late", seconds=30.5)]
    rows += [event(f"t{n}", seconds=30.000001, result="REJECTED") for n in range(3)]
    rows += [event(f"r{n}", seconds=0.2, result="REJECTED") for n in range(2)]
    (row,) = verdict.latency(build(rows)).itertuples()
    assert (row.requests, row.accepted, row.rejected, row.timeouts) == (12, 7, 2, 3)
    assert (row.accepted_after_limit, row.slow_accepted, row.timeout_rate) == (1, 1, 0.25)
    assert row.p50 == pd.Timedelta(1, "s") and row.max == pd.Timedelta(30.5, "s") and row.rejected_max == pd.Timedelta(0.2, "s")


def test_percentiles_that_so_many_requests_support(build, event):
    """Of 154 requests that took 1 to 154 s, the 95th percentile is value 147. The 99th needs 368."""
    row = verdict.latency(build([event(f"u{number}", number / 60, seconds=number + 1.0) for number in range(154)])).iloc[0]
    assert (row["accepted"], row["p95"], row["max"]) == (154, pd.Timedelta(seconds=147), pd.Timedelta(seconds=154))
    assert pd.isna(row["p99"]) and row["reason"].startswith("too few accepted requests for p99")


def test_latency_of_committed_updates_has_no_timeouts(build, event):
    (row,) = verdict.latency(build([event("a")], population="committed")).itertuples()
    assert pd.isna(row.timeouts) and pd.isna(row.rejected) and pd.isna(row.timeout_rate) and row.accepted == 1


def test_a_group_that_differs_from_all_others(build, event):
    def of(name, rejected, trials):
        results = ["REJECTED"] * rejected + ["ACCEPTED"] * (trials - rejected)
        return [event(f"{name}{n}", n % 24, result=result, participant=name) for n, result in enumerate(results)]

    rows = verdict.outcomes(build([*of("a", 30, 100), *of("b", 40, 300)]), by="participant")
    first = rows.iloc[0]
    assert (first.rejection_rate, round(first.difference, 4)) == (0.3, 0.1667)
    assert first.differs and first.p_holm < 0.01
    few = verdict.outcomes(build([*of("a", 2, 20), *of("b", 40, 300)]), by="participant")
    assert few["reason"].tolist() == ["too few requests"] * 2 and few["differs"].isna().all()
    parties = verdict.outcomes(build(of("a", 1, 4)), by="party")
    assert set(parties["reason"]) == {"requests of several parties are in several groups"}


def test_a_doubtful_limit_does_not_depend_on_the_number_of_parties(build, event):
    """Three rejections below the limit outnumber two from it on, which several parties submitted."""
    below = [event(f"b{n}", seconds=25, result="REJECTED", parties=["alice"]) for n in range(3)]
    late = [event(f"t{n}", seconds=30.1, result="REJECTED", parties=["alice", "bob"]) for n in range(2)]
    frames = build(below + late)
    for by in (None, "party"):
        for figure in (verdict.latency, verdict.outcomes):
            assert figure(frames, by=by)["timeouts"].isna().all()
        assert cost.wasted(frames, by=by, every=None)["top_cause"].isna().all()
    assert column(verdict.outcomes(build(below[:2] + late), by="party"), "timeouts") == [2, 2]


def test_the_dispersion_counts_a_request_of_several_parties_once(build, event):
    """Clusters of one participant: 2 of 2 and 0 of 2 rejected, so that the spread is 4 / 1."""
    rejected = [event(f"r{n}", 0.1, result="REJECTED", parties=["alice", "bob"]) for n in range(2)]
    frames = build(rejected + [event(f"a{n}", 1.1, parties=["alice"]) for n in range(2)])
    for by in (None, "party"):
        assert set(verdict.outcomes(frames, by=by)["dispersion"]) == {4.0}


def test_latency_does_not_look_at_effective_time(build, event):  # T6
    early = verdict.latency(build([event("a", effective=-1.52)]))
    late = verdict.latency(build([event("a", effective=1.50)]))
    pd.testing.assert_frame_equal(early, late)


def test_latency_by_result(sample):
    rows = verdict.latency(sample, by="result")
    assert column(rows, "verdict_result") == ["VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED", None]
    assert column(rows, "requests") == [2, 2, 2] or rows["requests"].sum() == 6
    assert seconds(rows, "max")[0] == 0.5 and seconds(rows, "rejected_max")[1] == 0.2
    assert column(rows, "coverage") == [1, 1, 0]


def test_latency_by_size(sample):
    rows = verdict.latency(sample, by="size")
    assert column(rows, "size") == ["under 2 kB", "2 to 5 kB", "5 to 10 kB", None]
    assert column(rows, "requests") == [2, 1, 1, 2]


def test_size_classes_begin_at_their_lower_edge(build, event):
    rows = verdict.latency(build([event("a", cost=1_999), event("b", cost=2_000), event("c", cost=50_000)]), by="size")
    assert column(rows, "size") == ["under 2 kB", "2 to 5 kB", "50 kB and more"]


def test_latency_by_confirmers_counts_each_party_once(sample):
    rows = verdict.latency(sample, by="confirmers")
    assert column(rows, "confirmers") == [1, 2, None]  # alice and bank over all quorums of a
    assert column(rows, "requests") == [1, 2, 3]


def test_latency_by_template(sample):
    rows = verdict.latency(sample, by="template")
    assert column(rows, "template_name") == ["Main:Asset", "Main:Iou", None]
    assert column(rows, "requests") == [2, 1, 3]


def test_latency_by_hour_and_participant(sample):
    hours, participants = verdict.latency(sample, by="hour").head(4), verdict.latency(sample, by="participant")
    assert column(hours, "timeouts") == [0, 0, 1, 0] and column(participants, "timeouts") == [0, 1, 0]
    assert seconds(hours, "max")[0] == 0.5


def test_rejections(sample):  # T3
    rows = verdict.rejections(sample)
    assert column(rows, "update_id") == ["c", "d"]
    assert column(rows, "reject_kind_heuristic") == ["contention", "timeout"]
    assert column(rows, "traffic_cost") == [845, None]
    assert seconds(rows, "latency") == [0.2, 30.000001]
    assert column(rows, "coverage") == [0.5, 0.5]


@pytest.mark.parametrize(("latency", "kind"), [(29.899999, "contention"), (29.9, "timeout"), (31, "timeout")])
def test_time_out_begins_at_29_9_seconds(build, event, latency, kind):
    rejected = [event(name, result="REJECTED", seconds=each) for name, each in (("a", latency), ("b", 30))]
    assert column(verdict.rejections(build(rejected)), "reject_kind_heuristic") == [kind, "timeout"]


@pytest.mark.parametrize("latency", [25, 29.899999, -1])
def test_a_latency_that_does_not_tell_the_cause_names_none(build, event, latency):
    """More rejections just below the limit than from it on, or a verdict before its request."""
    frames = build([event("a", result="REJECTED", seconds=latency)])
    assert column(verdict.rejections(frames), "reject_kind_heuristic") == [None]
    assert column(verdict.outcomes(frames), "timeouts") == ([0] if latency < 0 else [None])


def test_rejections_are_sorted_by_migration_first(build, event):  # T7
    events = [event("b", 1, result="REJECTED", migration=4), event("a", 2, result="REJECTED", migration=3)]
    assert column(verdict.rejections(build(events)), "update_id") == ["a", "b"]


def test_quorums(sample):
    rows = verdict.quorums(sample)
    assert column(rows, "parties") == ["alice", "alice, bank", "bank"]
    assert column(rows, "party_count") == [1, 2, 1]
    assert column(rows, "quorums") == [2, 2, 2]
    assert column(rows, "requests") == [2, 2, 2]
    assert column(rows, "share") == [pytest.approx(1 / 3)] * 3


def test_quorums_ignore_the_order_of_parties_and_count_views_once(build, event):
    views = [(["x"], [(2, ["bank", "alice"]), (2, ["alice", "bank"])]), (["x"], [(2, ["alice", "bank"])])]
    (row,) = verdict.quorums(build([event("a", views=views)])).itertuples()
    assert (row.parties, row.threshold, row.quorums, row.views, row.requests) == ("alice, bank", 2, 3, 2, 1)


def test_a_party_that_a_quorum_lists_twice_counts_once(build, event):
    views = [(["x"], [(2, ["bank", "alice", "bank"]), (2, ["alice", "bank"])])]
    (row,) = verdict.quorums(build([event("a", views=views)])).itertuples()
    assert (row.parties, row.party_count, row.quorums) == ("alice, bank", 2, 2)


@pytest.mark.parametrize(("days_as", "noun"), [({"every": "1d"}, "periods"), ({"by": "day"}, "days")])
def test_a_partial_period_has_a_rate_but_no_comparison(build, event, days_as, noun):
    """40 of 400 requests are rejected on two whole days, and 20 of 40 in an hour of the third."""
    days = [
        event(f"{day}-{n}", 24 * day + n / 400, result="ACCEPTED" if n % every else "REJECTED")
        for day, every, count in ((0, 10, 400), (1, 10, 400), (2, 2, 40))
        for n in range(count)
    ]
    frames = build(days, Window(DAY, DAY + timedelta(hours=49)))
    rates = verdict.outcomes(frames, **days_as)
    assert column(rates, "is_partial") == [False, False, True]
    assert column(rates, "rejection_rate") == [0.1, 0.1, 0.5]
    assert column(rates, "difference") == [0, 0, None]
    assert column(rates, "differs") == [False, False, None]
    assert column(rates, "reason") == [None, None, "not a whole period"]
    statement = show(rates).statement
    assert statement == f"2 of 2 whole {noun} have enough requests to be judged, and none can be told from the others."
    one = verdict.outcomes(frames.between(DAY + timedelta(days=1), DAY + timedelta(hours=49)), **days_as)
    assert column(one, "difference") == [None, None]
    assert show(one).statement == "There is nothing to compare with."
    assert column(one, "reason") == ["there is no other group", "not a whole period"]


def test_timeouts_by_template_have_no_rate(sample):
    latencies = verdict.latency(sample, by="template")
    assert column(latencies, "timeouts").count(1) == 1
    assert column(verdict.latency(sample), "timeout_rate") == [0.2]
    for name in ("timeout_rate", "timeout_low", "timeout_high"):
        assert latencies[name].isna().all()
