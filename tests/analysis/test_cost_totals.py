"""Sums that add up, estimates next to them, and values that no sum can use."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.analysis import cost, verdict
from ledgerframes.analysis._groupings import PARTICIPANT
from ledgerframes.analysis.cost import _control
from ledgerframes.engine.requests import REQUESTS
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.values.windows import Window

MAX = 2**63 - 1


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


# -- spend --------------------------------------------------------------------------------------------------------------


def test_a_shared_request_counts_in_full_for_each_party_and_once_as_shared(build, event):
    frames = build(
        [
            event("1", 1, 100, participant="P", parties=["a"]),
            event("2", 2, 300, participant="P", parties=["a", "b"]),
            event("3", 3, None, participant="Q", parties=["b"]),
        ]
    )
    (whole,) = cost.spend(frames).itertuples()
    assert (whole.total_traffic_cost, whole.coverage) == (400, 2 / 3)
    parties = cost.spend(frames, by="party")
    assert column(parties, "party") == ["a", "b"]
    assert column(parties, "total_traffic_cost") == [400, 300]
    assert column(parties, "single_party_traffic_cost") == [100, None]  # of b, the cost of the only request alone is unknown
    assert column(parties, "shared_traffic_cost") == [300, 0]
    assert parties[["single_party_traffic_cost", "shared_traffic_cost"]].sum().sum() == 400
    assert column(cost.spend(frames, by="participant"), "total_traffic_cost") == [400, None]


def test_an_estimate_takes_unknown_costs_for_those_of_the_same_kind_and_verdict(build, event):
    """30 of 40 accepted cost 100 each, 10 of 12 rejected cost 200 each: 40 · 100 + 12 · 200 = 6,400."""
    rows = [event(f"a{number}", 1, 100 if number < 30 else None) for number in range(40)]
    rows += [event(f"r{number}", 1, 200 if number < 10 else None, "REJECTED") for number in range(12)]
    (whole,) = cost.spend(build(rows)).itertuples()
    assert (whole.total_traffic_cost, whole.estimated_traffic_cost) == (5_000, 6_400)
    results = cost.spend(build(rows), by="result")
    assert column(results, "total_traffic_cost") == [3_000, 2_000]
    assert column(results, "estimated_traffic_cost") == [4_000, None]  # 10 known costs are fewer than 30


def test_an_estimate_by_view_counts_a_view_in_the_envelope_of_a_lower_one_as_0(build, event):
    """View 1 has the cost 30 in 20 requests and 0 in 40, so the unknown one is likely 600 / 60 = 10."""
    views = [(["x"], [(1, ["x"])]), (["x"], [(1, ["x"])])]
    rows = [event(f"s{number}", 1, 100, envelopes=[(100, [0, 1])], views=views) for number in range(40)]
    rows += [event(f"d{number}", 2, 130, envelopes=[(100, [0]), (30, [1])], views=views) for number in range(20)]
    result = cost.spend(build([*rows, event("u", 3, None, views=views)]), by="view").set_index("view_id")
    assert column(result, "total_traffic_cost") == [6_000, 600]
    assert column(result, "estimated_traffic_cost") == [6_100, 610]


@pytest.mark.parametrize(("known", "unknown"), [(40, 0), (29, 5)])
def test_no_estimate_without_unknown_costs_or_with_too_few_known(build, event, known, unknown):
    rows = [event(f"{number}", 1, 100 if number < known else None) for number in range(known + unknown)]
    assert column(cost.spend(build(rows)), "estimated_traffic_cost") == [None]


def test_strict_shares_are_missing_where_coverage_differs(build, event):
    rows = [event("a", 1, 100, participant="x"), event("b", 1, 100, participant="y"), event("c", 1, None, participant="y")]
    assert column(cost.spend(build(rows), by="participant"), "share") == [0.5, 0.5]
    assert column(cost.spend(build(rows), by="participant", strict=True), "share") == [None, None]
    assert column(cost.spend(build(rows[:2]), by="participant", strict=True), "share") == [0.5, 0.5]


@pytest.mark.parametrize("figure", ["cost.spend", "verdict.latency", "verdict.quorums"])
def test_requests_without_a_template_have_a_kind(build, event, figure):
    """Reassignments and rejected or private requests are not one group."""
    views = [(["x"], [(1, ["alice"])])]
    rows = [event("a", 1, 1, views=views), event("b", 1, 1, kind="reassignment", views=views)]
    rows += [event("c", 1, 1, visible=False, views=views)]
    noun, _, name = figure.partition(".")
    groups = getattr(getattr(lf, noun), name)(build(rows), by="template")
    assert sorted(groups["kind"]) == ["not visible", "reassignment", "transaction"]
    assert list(groups.columns[:4]) == ["kind", "package_name", "template_name", "choice"]


# -- overhead -----------------------------------------------------------------------------------------------------------


def test_overhead_is_a_share_of_the_total(build, event):
    kinds = cost.overhead(build([event("a", 0, 5155, envelopes=[(1444, []), (146, []), (3565, [0])])]))
    assert column(kinds, "traffic_cost") == [3565, 1590, 0]
    assert [round(share, 3) for share in kinds["share"]] == [0.692, 0.308, 0]


def test_a_total_that_is_not_the_sum_of_its_envelopes_leaves_a_rest(build, event):
    rows = [event("a", 0, 100, envelopes=[(40, []), (50, [0])]), event("b", 1, 20, envelopes=[(30, [0])])]
    assert column(cost.overhead(build(rows)), "traffic_cost") == [80, 40, 0]
    assert column(cost.overhead(build(rows), every="1h").head(6), "traffic_cost") == [50, 40, 10, 30, 0, -10]


def test_envelopes_with_the_confirmers_of_a_larger_one_bound_what_merging_could_save(build, event):
    """Views 0 and 2 are confirmed by a and b, view 1 by a. The two envelopes of a and b cost 30 and 50."""
    views = [(["x"], [(1, ["b"]), (1, ["a"])]), (["x"], [(1, ["a"])]), (["x"], [(2, ["a", "b"])])]
    frames = build([event("a", 0, 104, views=views, envelopes=[(4, []), (30, [0]), (20, [1]), (50, [2])])])
    assert cost.overhead(frames)["confirmers_per_view"].isna().all()
    kinds = cost.overhead(frames, min_requests=1)
    assert column(kinds, "same_confirmers_envelopes") == [1, None, None]
    assert column(kinds, "same_confirmers_cost") == [30, None, None]
    assert column(kinds, "few_requests_for") == ["confirmers_per_view", None, None]
    assert column(kinds, "confirmers_per_view") == [2, None, None]


# -- wasted and control totals ------------------------------------------------------------------------------------------


def test_wasted_and_useful_cost(build, event):
    rows = [event(f"{number}", 1, 100, "REJECTED" if number < 2 else "ACCEPTED") for number in range(10)]
    (day,) = cost.wasted(build(rows)).itertuples()
    assert (day.wasted_traffic_cost, day.useful_traffic_cost, day.share) == (200, 800, 0.2)


def test_control_totals(sample):
    totals = cost.control(sample)
    assert column(totals, "control") == ["participant", "template", "period", "party", "envelopes", "wasted"]
    assert column(totals, "sum_of_parts") == [10_000] * 6
    assert column(totals, "difference") == [0] * 6
    assert column(totals, "reason") == [None] * 6


def test_envelopes_need_not_add_up_and_the_reason_is_named(build, event):
    odd = event("a", 1, 100, envelopes=[(40, [])])
    envelopes = cost.control(build([odd])).set_index("control").loc["envelopes"]
    assert (envelopes["sum_of_parts"], envelopes["difference"]) == (40, 60)
    assert envelopes["reason"] == "some totals are not the sum of envelopes"
    envelopes = cost.control(build([odd, event("b", 1, 7)])).set_index("control").loc["envelopes"]
    assert (envelopes["difference"], envelopes["reason"]) == (67, "the envelopes of some requests are unknown")


def test_totals_that_must_add_up_and_do_not_are_an_error(sample, monkeypatch):
    without_first = replace(REQUESTS, query="SELECT * FROM requests WHERE update_id <> 'a'", name="others", relations=(REQUESTS,))
    participant = replace(PARTICIPANT, rows=without_first)
    monkeypatch.setattr(_control, "GROUPS", replace(_control.GROUPS, by=_control.GROUPS.by | {"participant": participant}))
    with pytest.raises(IntegrityError, match="participants are 4845, the total is 10000") as failed:
        cost.control(sample)
    assert list(failed.value.failures) == ["participant"]


def test_control_totals_without_any_cost(build):
    totals = cost.control(build([]))
    assert totals["difference"].isna().all()
    assert totals["reason"].isna().all()


# -- values that no sum can use -----------------------------------------------------------------------------------------


def test_sums_are_exact_up_to_the_largest_integer(build, event):
    rows = [event("a", 1, 2**62), event("b", 1, 2**62 - 1)]
    (whole,) = cost.spend(build(rows)).itertuples()
    assert whole.total_traffic_cost == MAX
    assert cost.spend(build(rows), by="result")["total_traffic_cost"].tolist() == [MAX]


@pytest.mark.parametrize(
    ("figure", "column_name"),
    [(cost.spend, "total_traffic_cost"), (cost.wasted, "useful_traffic_cost"), (cost.control, "total_traffic_cost")],
)
def test_sums_that_would_wrap_are_refused_by_name(build, event, figure, column_name):
    frames = build([event("a", 1, 2**62), event("b", 1, 2**62)])
    with pytest.raises(UsageError, match=f"{column_name} exceeds 64 bits"):
        figure(frames)


def test_sums_of_envelopes_are_exact_and_never_wrap(build, event):
    large = 2**62 + 1
    frames = build([event("a", 0, large, envelopes=[(large, [0]), (5, [])])])
    assert cost.overhead(frames)["traffic_cost"].tolist() == [large, 5, -5]
    assert cost.spend(build([event("a", 0, large, envelopes=[(large, [])])]))["overhead_traffic_cost"].tolist() == [large]
    with pytest.raises(UsageError, match="cost_of_envelopes exceeds 64 bits"):
        cost.overhead(build([event("a", 0, 5, envelopes=[(large, [0]), (large, [])])]))


def test_groups_that_fit_are_summed_but_their_share_needs_the_whole(build, event):
    frames = build([event("a", 1, 2**62, participant="x"), event("b", 1, 2**62, participant="y")])
    with pytest.raises(UsageError, match="total_traffic_cost"):
        cost.spend(frames, by="participant")
    assert cost.spend(frames.where("verdicts", update_id="a"))["total_traffic_cost"].tolist() == [2**62]


def test_negative_costs_are_left_out_and_counted(build, event):
    rows = [event("a", 1, 100, envelopes=[(60, [0]), (40, [])]), event("b", 2, -30, envelopes=[(-30, [0])])]
    frames = build(rows)
    (whole,) = cost.spend(frames).itertuples()
    assert (whole.requests, whole.requests_with_cost, whole.total_traffic_cost, whole.coverage) == (2, 1, 100, 0.5)
    assert column(cost.overhead(frames), "traffic_cost") == [60, 40, 0]
    counts = cost.invalid_values(frames).set_index(["table", "column"])
    assert counts["rows"].to_dict() == {
        ("traffic", "total_traffic_cost"): 1,
        ("envelopes", "traffic_cost"): 1,
        ("activity_records", "weight"): 0,
        ("verdicts", "finalization_time"): 0,
    }
    assert counts["first_update_id"].dropna().tolist() == ["b", "b"]
    assert counts.loc[("traffic", "total_traffic_cost"), "coverage"] == 0.5


def test_a_verdict_before_its_request_has_no_latency(build, event):
    frames = build([event("a", 1, seconds=2), event("b", 1, seconds=-1, result="REJECTED")])
    (row,) = verdict.latency(frames).itertuples()
    assert (row.requests, row.coverage, row.max) == (2, 0.5, pd.Timedelta(seconds=2))
    assert verdict.rejections(frames)["latency"].isna().all()
    problem = cost.invalid_values(frames).set_index("table").loc["verdicts"]
    assert (problem["rows"], problem["first_update_id"], problem["problem"]) == (1, "b", "before the record time")


# -- outcomes -----------------------------------------------------------------------------------------------------------


def test_every_request_has_one_outcome(sample):
    (row,) = verdict.outcomes(sample).itertuples()
    assert (row.accepted, row.rejected, row.unspecified, row.no_verdict) == (3, 2, 0, 1)
    assert row.accepted + row.rejected + row.unspecified + row.no_verdict == row.requests
    assert row.timeouts == 1  # d, after 30.000001 s


def test_outcomes_by_hour_of_the_week(build, event):
    """2026-11-08 is a Sunday, and the window ends on the next."""
    window = Window(*(time for time in (build([]).window.since, build([]).window.since + timedelta(days=8))))
    frames = build([event("a", 3), event("b", 24 + 3), event("c", 7 * 24 + 3)], window=window)
    weekly = verdict.outcomes(frames, by="weekday_hour")
    assert len(weekly) == 168
    used = weekly[weekly["requests"] > 0]
    assert list(zip(used["weekday"], used["hour"], used["requests"], strict=True)) == [(0, 3, 1), (6, 3, 2)]
