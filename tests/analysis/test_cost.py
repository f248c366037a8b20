"""Costs, worked out by hand from the six requests of `sample`."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from cases import every_nth

from ledgerframes.analysis import cost
from ledgerframes.errors import CoverageError, UsageError


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def test_spend_over_time_has_every_period_of_the_window(sample):
    hours = cost.spend(sample, every="1h", min_requests=1)
    assert len(hours) == 24
    assert hours["period_start"].iloc[0] == pd.Timestamp("2026-11-08", tz="UTC")
    assert hours["period_end"].iloc[-1] == pd.Timestamp("2026-11-09", tz="UTC")
    first = hours.head(4)
    assert column(first, "requests") == [3, 0, 2, 1]
    assert column(first, "requests_with_cost") == [3, 0, 1, 0]
    assert column(first, "total_traffic_cost") == [7000, None, 3000, None]
    assert column(first, "median") == [1000, None, 3000, None]
    assert column(first, "few_requests_for") == ["median, p95", None, "median, p95", None]
    assert column(first, "coverage") == [1.0, None, 0.5, 0.0]


def test_spend_over_time_overhead_is_the_envelopes_without_views(sample):  # T13
    assert column(cost.spend(sample, every="1h").head(4), "overhead_traffic_cost") == [1444 + 146 + 400 + 845, None, 1000, None]


def test_rejected_cost_is_missing_when_unknown_and_zero_when_nothing_was_rejected(build, event):  # T10
    frames = build(
        [event("a", 0, 10), event("b", 1, 10), event("c", 1, None, "REJECTED"), event("d", 2, 10), event("e", 2, 7, "REJECTED")]
    )
    assert column(cost.spend(frames, every="1h").head(3), "rejected_traffic_cost") == [0, None, 7]


def test_periods_are_aligned_not_counted_from_the_window(build, event):
    frames = build([event("a", 1.5, 10)]).between("2026-11-08T01:10:00Z", "2026-11-08T03:20:00Z")
    assert cost.spend(frames, every="1h")["period_start"].dt.hour.tolist() == [1, 2, 3]
    assert cost.spend(frames, every="1w")["period_start"].tolist() == [pd.Timestamp("2026-11-02", tz="UTC")]  # a Monday


def test_periods_of_frames_loaded_by_id_run_from_first_to_last(build, event):
    frames = build([event("a", 1.5, 10, envelopes=[(10, [])]), event("b", 4, 1)], window=None)
    hours = cost.spend(frames, every="1h")
    assert hours["period_start"].dt.hour.tolist() == [1, 2, 3, 4]
    assert column(hours, "overhead_traffic_cost") == [10, None, None, None]


@pytest.mark.parametrize("every", ["", "1", "hour", "0h", "-1h", "1y", "1us", "1.5h", "0mo", 5])
def test_a_period_that_is_none_is_refused(sample, every):
    with pytest.raises(UsageError, match="must be a period"):
        cost.spend(sample, every=every)


def test_too_many_periods_are_refused(build):
    from ledgerframes.values.windows import instant

    window = type(build([]).window)(instant("2026-01-01"), instant("2026-02-01"))
    with pytest.raises(UsageError, match="2,678,400 periods"):
        cost.spend(build([], window=window), every="1s")
    with pytest.raises(UsageError, match="44,640 periods of 24 groups"):
        cost.wasted(build([], window=window), by="hour", every="1min")


def test_months_start_on_their_first_day(build, event):
    from ledgerframes.values.windows import instant

    frames = build([event("a", 0, 10)], window=type(build([]).window)(instant("2026-10-15"), instant("2026-12-02")))
    months = cost.spend(frames, every="1mo")
    assert months["period_start"].dt.strftime("%m-%d").tolist() == ["10-01", "11-01", "12-01"]
    assert months["period_end"].dt.strftime("%m-%d").tolist() == ["11-01", "12-01", "01-01"]
    assert column(months, "requests") == [0, 1, 0]
    assert len(cost.spend(frames, every="3mo")) == 1


def test_spend_by_participant(sample):
    payers = cost.spend(sample, by="participant", min_requests=1)
    assert column(payers, "submitting_participant_uid") == ["val-a", "val-b", None]
    assert column(payers, "requests") == [3, 2, 1]
    assert column(payers, "rejected") == [1, 1, 0]
    assert column(payers, "rejected_traffic_cost") == [845, None, None]
    assert column(payers, "total_traffic_cost") == [7000, 3000, None]
    assert column(payers, "share") == [0.7, 0.3, None]
    assert column(payers, "median") == [1000, 3000, None]
    assert column(payers, "p95") == [5155, 3000, None]
    assert column(payers, "max") == [5155, 3000, None]
    assert column(payers, "coverage") == [1.0, 0.5, 0.0]


def test_spend_by_party_counts_shared_requests_in_full_for_each(sample):
    parties = cost.spend(sample, by="party")
    assert column(parties, "party") == ["alice", None, "bob"]
    assert column(parties, "requests") == [3, 2, 2]
    assert column(parties, "single_party_requests") == [2, 0, 1]
    assert column(parties, "total_traffic_cost") == [6155, 3000, 1845]  # 11,000 in all, of 10,000 spent
    assert column(parties, "single_party_traffic_cost") == [5155, 0, 845]


def test_spend_by_party_counts_a_party_named_twice_once(build, event):
    parties = cost.spend(build([event("a", 0, 10, parties=["bob", "bob"])]), by="party")
    assert column(parties, "requests") == [1]
    assert column(parties, "single_party_traffic_cost") == [10]


def test_spend_by_template_keeps_requests_without_a_visible_update(sample):  # T2
    templates = cost.spend(sample, by="template")
    assert column(templates, "kind") == ["transaction", "not visible", "transaction"]
    assert column(templates, "template_name") == ["Main:Asset", None, "Main:Iou"]
    assert column(templates, "choice") == ["Transfer", None, None]
    assert column(templates, "requests") == [2, 3, 1]
    assert column(templates, "total_traffic_cost") == [5155, 3845, 1000]
    assert column(templates, "coverage") == [0.5, pytest.approx(2 / 3), 1.0]
    assert templates["requests"].sum() == 6


def test_spend_by_template_takes_the_first_root(build, event):
    frames = build([event("a", 0, 10, nodes=[(0, "A:A", "First"), (1, "B:B", "Child"), (0, "C:C", "Second")])])
    assert column(cost.spend(frames, by="template"), "choice") == ["First"]


def test_spend_by_template_has_reassignments_as_a_group(build, event):
    templates = cost.spend(build([event("a", 0, 10, kind="reassignment"), event("b", 0, 5)]), by="template")
    assert column(templates, "kind") == ["reassignment", "transaction"]
    assert column(templates, "template_name") == [None, "Main:Asset"]


def test_spend_by_result(sample):
    results = cost.spend(sample, by="result")
    assert column(results, "verdict_result") == ["VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED", None]
    assert column(results, "total_traffic_cost") == [9155, 845, None]


def test_spend_by_group_over_time_has_every_group_in_every_period(sample):
    hours = cost.spend(sample, by="participant", every="1h")
    assert len(hours) == 24 * 3
    first, third = hours.iloc[:3], hours.iloc[6:9]
    assert column(first, "submitting_participant_uid") == ["val-a", "val-b", None]
    assert column(first, "total_traffic_cost") == [7000, None, None]
    assert column(third, "submitting_participant_uid") == ["val-b", "val-a", None]
    assert column(third, "requests") == [2, 0, 0]


def test_every_grouping_has_all_of_the_cost_and_its_parts(sample):
    for by in (None, "participant", "template", "result"):
        groups = cost.spend(sample, by=by)
        assert groups["total_traffic_cost"].sum() == 10_000
        assert groups["overhead_traffic_cost"].sum() == 3835
        assert groups["rejected_traffic_cost"].sum() == 845
    assert column(cost.spend(sample, by="party"), "share") == [0.6155, 0.3, 0.1845]  # of 10,000, so more than 1 together


def test_overhead_by_group(sample):
    rows = cost.overhead(sample, by="participant")
    assert column(rows, "submitting_participant_uid") == [each for each in ("val-a", "val-b", None) for _ in range(3)]
    assert column(rows, "traffic_cost") == [4165, 2835, 0, 2000, 1000, 0, None, None, None]
    assert column(rows, "share") == [0.595, 0.405, 0, pytest.approx(2 / 3), pytest.approx(1 / 3), 0, None, None, None]
    counts = cost.overhead(sample, by="view_count")
    assert column(counts[counts["kind"] != "unassigned"], "envelopes") == [0, 1, 2, 2, 1, 2, None, None]


def test_wasted_of_the_whole_window_by_group(sample):
    rows = cost.wasted(sample, by="participant", every=None)
    assert column(rows, "wasted_traffic_cost") == [845, None, None]
    assert column(rows, "share") == [845 / 7000, None, None]


def test_groups_and_periods_without_a_usual_range(build, event):
    frames = build([event("a", participant="x"), event("b", participant="y")])
    rows = cost.wasted(frames, by="participant", every="1h")
    assert rows["upper"].isna().all() and set(rows["reason"]) == {"history is too short"}
    assert set(cost.wasted(frames, by="hour")["reason"]) == {"only days and hours have a usual range"}
    assert set(cost.wasted(frames, every="7d")["reason"]) == {"only days and hours have a usual range"}


def test_spend_by_view_counts_an_envelope_once_under_its_lowest_view(sample):
    views = cost.spend(sample, by="view", min_requests=1)
    assert column(views, "template_name") == ["Main:Asset", None, "Main:Iou", "Main:Asset"]
    assert column(views, "view_id") == [0, 0, 0, 1]
    assert column(views, "requests") == [1, 1, 1, 1]
    assert column(views, "envelopes") == [1, 1, 1, 0]
    assert column(views, "confirmers") == [2, 1, 2, 1]  # bank is in two quorums of view 0
    assert column(views, "informees") == [2, 1, 2, 1]
    assert column(views, "total_traffic_cost") == [3565, 2000, 600, None]
    assert views["share"].sum() == pytest.approx(1)


def test_overhead(sample):  # T13
    both = cost.overhead(sample)
    assert column(both, "kind") == ["with views", "without views", "unassigned"]
    assert column(both, "envelopes") == [3, 5, 0]
    assert column(both, "traffic_cost") == [6165, 3835, 0]
    assert column(both, "share") == [0.6165, 0.3835, 0]
    assert column(both, "coverage") == [pytest.approx(4 / 6)] * 3


def test_overhead_of_the_published_sample(build, event):
    both = cost.overhead(build([event("a", 0, 5155, envelopes=[(1444, []), (146, []), (3565, [0])])]))
    assert column(both, "traffic_cost") == [3565, 1590, 0]
    assert round(both["share"].iloc[1], 3) == 0.308


@pytest.mark.parametrize(("history", "value"), [(5, "int"), ("x", "str"), (pd.DataFrame(), "a DataFrame without column '")])
def test_a_history_that_is_none_is_refused(sample, history, value):
    with pytest.raises(UsageError, match=rf"^history= must be Frames, or the days that .*load_history returns, got {value}"):
        cost.wasted(sample, history=history)


def test_wasted(sample):
    (day,) = cost.wasted(sample).itertuples()
    assert (day.requests, day.rejected, day.wasted_traffic_cost, day.useful_traffic_cost) == (6, 2, 845, 9_155)
    assert day.share == 0.0845
    assert np.isnan(day.upper) and day.is_above is pd.NA and day.reason == "fewer than 7 periods"


@pytest.mark.parametrize(
    ("rejections", "cause"),
    [
        ([(500, 0.5), (501, 30.1)], "timeout"),
        ([(500, 0.5), (400, 30.1)], "contention"),
        ([(500, 0.5), (500, 30.1)], None),  # both wasted as much
        ([(None, 30.1)], None),  # an unknown cost wastes nothing that is known
        ([(500, 25.0), (400, 25.0), (9_000, 30.1)], None),  # the limit may not be 30 s
        ([(500, -1.0)], None),  # a verdict before its request tells nothing
        ([], None),
    ],
)
def test_the_top_cause_of_waste_is_the_kind_of_rejections_that_cost_more(build, event, rejections, cause):
    rejected = [event(f"r{n}", 1, cost, "REJECTED", seconds=seconds) for n, (cost, seconds) in enumerate(rejections)]
    (day,) = cost.wasted(build([event("a", 0, 90_000, seconds=31), *rejected])).itertuples()
    assert day.top_cause == cause or (cause is None and pd.isna(day.top_cause))


def test_wasted_refuses_survivors(build, event):  # T1
    frames = build([event("a", 0, 10), event("b", 0, 10)], population="committed")
    with pytest.raises(CoverageError, match="Cannot compute the waste") as refused:
        cost.wasted(frames)
    assert refused.value.missing == ("rejected requests",)
    accepted = cost.wasted(frames, accept_survivorship=True)
    assert column(accepted, "wasted_traffic_cost") == [0]
    assert column(accepted, "population") == ["committed, accepted"]


@pytest.mark.parametrize("every", every_nth([None, "6h"], 2))
@pytest.mark.parametrize("by", every_nth([None, "participant", "party", "template", "view", "result"], 2))
def test_rejections_among_committed_updates_are_missing_not_0(build, event, by, every):
    views = [(["alice"], [(1, ["alice"])])]
    rows = [event("a", 1, 10, views=views, envelopes=[(10, [0])]), event("b", 7, 30, views=views, envelopes=[(30, [0])])]
    of_all = cost.spend(build(rows), by=by, every=every)
    committed = cost.spend(build(rows, population="committed"), by=by, every=every)
    assert of_all["rejected"].sum() == 0
    assert of_all["rejected"].notna().all()
    for name in ("rejected", "rejected_traffic_cost"):
        assert committed[name].isna().all()
        assert committed[name].dtype == of_all[name].dtype == "Int64"
    rest = [name for name in of_all.columns if name not in ("rejected", "rejected_traffic_cost", "population")]
    pd.testing.assert_frame_equal(committed[rest], of_all[rest])


def test_anatomy(sample):
    parts = cost.anatomy(sample, "a")
    assert column(parts, "part") == ["node", "view", "view", "envelope", "envelope", "envelope", "activity", "activity"]
    assert column(parts, "position") == [0, 0, 1, 0, 1, 2, 0, 1]
    assert column(parts, "parent") == [None, None, 0, None, None, None, None, None]
    assert column(parts, "depth") == [0, 0, 1, None, None, None, None, None]
    assert column(parts, "parties") == ["alice", "alice, bank", "alice", None, None, None, "app", "bank"]
    assert column(parts, "traffic_cost") == [None, None, None, 1444, 146, 3565, None, None]
    assert column(parts, "weight") == [None] * 6 + [0, 11]
    assert column(parts, "label")[0] == "exercise Main:Asset.Transfer"
    assert column(parts, "label")[5] == "views 1, 0"


def test_anatomy_of_a_tree(build, event):
    nodes = [(0, "A:A", "Run"), (1, "B:B", "Split"), (2, "C:C", None), (1, "D:D", None), (0, "E:E", None)]
    parts = cost.anatomy(build([event("a", 0, nodes=nodes)]), "a")
    assert column(parts, "parent") == [None, 0, 1, 0, None]
    assert column(parts, "depth") == [0, 1, 2, 1, 0]
    assert column(parts, "label")[2] == "create C:C"
    assert column(parts, "parties")[2] == "bob, carol"
    assert column(parts, "coverage") == [0.0] * 5


def test_anatomy_of_a_rejected_request_has_envelopes_only(sample):
    assert column(cost.anatomy(sample, "c"), "part") == ["envelope"]


def test_anatomy_of_an_unknown_update_says_what_to_do(sample):
    with pytest.raises(UsageError, match=r"update_ids=\['nope'\]"):
        cost.anatomy(sample, "nope")


def test_costs_stay_exact_beyond_floats(build, event):
    large = 2**60 + 1
    frames = build([event("a", 0, large), event("b", 0, None)])
    assert cost.spend(frames, by="participant")["total_traffic_cost"].iloc[0] == large
    assert cost.spend(frames, every="1h", min_requests=1)["median"].iloc[0] == large


@pytest.mark.parametrize(("count", "median", "p95"), [(5, None, None), (6, 3, None), (71, 36, None), (72, 36, 69)])
def test_a_percentile_of_too_few_requests_is_missing_unless_asked_for(build, event, count, median, p95):
    frames = build([event(f"u{number}", number / 10, number) for number in range(1, count + 1)])
    (row,) = cost.spend(frames).to_dict("records")
    assert [None if pd.isna(row[name]) else row[name] for name in ("median", "p95", "max")] == [median, p95, count]
    assert pd.isna(row["few_requests_for"])
    (few,) = cost.spend(frames, min_requests=5).to_dict("records")
    expected = [name for name, value in (("median", median), ("p95", p95)) if value is None]
    assert (few["few_requests_for"] if expected else None) == (", ".join(expected) or None)
    assert few["p95"] == -(-95 * count // 100)
    assert pd.isna(cost.spend(frames, min_requests=73)["median"].iloc[0])


def test_two_migrations_may_overlap_in_time(build, event):  # T7
    frames = build([event("a", 1, 10, migration=3), event("b", 1, 5, migration=4)])
    assert cost.spend(frames, every="1h")["total_traffic_cost"].iloc[1] == 15


def test_window_is_half_open(build, event):
    frames = build([event("a", 24 - 1e-9, 10)])
    assert cost.spend(frames, every="1d")["period_end"].iloc[-1] - frames.window.until == timedelta(0)
