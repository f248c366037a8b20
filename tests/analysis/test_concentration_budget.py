"""Concentration and budgets of costs, worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ledgerframes.analysis import cost, verdict
from ledgerframes.errors import UsageError

KIND = "Main:Asset/Transfer"


def test_concentration_of_participants(build, event):
    frames = build([event(name, 0, size, participant=name) for name, size in (("a", 600), ("b", 300), ("c", 100))])
    (row,) = cost.concentration(frames).to_dict("records")
    assert (row["hhi"], row["top_1"], row["top_3"], row["top_10"]) == (0.46, 0.6, 1.0, 1.0)
    assert row["gini"] == pytest.approx(1 / 3)
    assert (row["members"], row["total_traffic_cost"], row["member"], row["top_10_members"]) == (3, 1000, "participant", 3)


def test_concentration_counts_ties_in_full(build, event):
    frames = build([event(str(number), 0, size, participant=str(number)) for number, size in enumerate((5, 4, 3, 3, 3, 2))])
    (row,) = cost.concentration(frames).to_dict("records")
    assert (row["top_3"], row["top_3_members"]) == (18 / 20, 5)


def test_concentration_of_parties_takes_what_they_submitted_alone(build, event):
    events = [
        event("a", 0, 100, parties=["alice"]),
        event("b", 0, 300, parties=["alice", "bob"]),
        event("c", 0, 100, parties=["bob"]),
        event("d", 0, 700, parties=None),
        event("e", 0, None, parties=["carol"]),
    ]
    (row,) = cost.concentration(build(events), by="party").to_dict("records")
    assert (row["members"], row["total_traffic_cost"], row["hhi"], row["gini"]) == (2, 200, 0.5, 0.0)
    assert row["coverage"] == 0.8  # each request counts once
    assert row["left_out_traffic_cost"] == 300 + 700


def test_concentration_of_templates_takes_visible_transactions(sample):
    (row,) = cost.concentration(sample, by="template").to_dict("records")
    assert (row["members"], row["total_traffic_cost"]) == (2, 5155 + 1000)
    assert row["left_out_traffic_cost"] == cost.spend(sample)["total_traffic_cost"].iloc[0] - row["total_traffic_cost"] > 0
    assert row["hhi"] == pytest.approx((5155**2 + 1000**2) / 6155**2)


def test_concentration_over_time_has_every_period(sample):
    hours = cost.concentration(sample, every="1h").head(4)
    assert hours["members"].tolist() == [1, 0, 1, 0]
    assert hours["top_1"].isna().tolist() == [False, True, False, True]
    assert hours["gini"].isna().all()  # of one member it says nothing
    assert hours["coverage"].isna().tolist() == [False, True, False, False]


def test_a_budget_that_is_exceeded(build, event):
    frames = build(
        [event("a", 0, 4000), event("b", 1, 5155), event("c", 2, 5155), event("d", 3, 9000, nodes=[(0, "Main:Iou", None)])]
    )
    (row,) = cost.budget(frames, {KIND: 5000}, network="memory", statistic="max").to_dict("records")
    assert (row["requests"], row["value"], row["budget"], row["is_within"]) == (3, 5155, 5000, False)
    assert row["worst_update_id"] == "b"
    with pytest.raises(AssertionError, match=r"(?s)1 of 1 budgets is not kept:.*Main:Asset.*5155.*5000.*b$"):
        cost.assert_budget(frames, {KIND: 5000}, network="memory", statistic="max")
    cost.assert_budget(frames, {KIND: 5155, "Main:Iou": 9000}, network="memory", statistic="max")


@pytest.mark.parametrize(("statistic", "count"), [("median", 6), ("p90", 36), ("p95", 72), ("p99", 368), ("max", 1)])
def test_a_statistic_needs_enough_requests(build, event, statistic, count):
    events = [event(str(number), number / 100, 1000 + number) for number in range(count)]
    (row,) = cost.budget(build(events), {KIND: 10_000}, network="memory", statistic=statistic).to_dict("records")
    percent = {"median": 50, "max": 100}.get(statistic) or int(statistic[1:])
    assert row["value"] == 1000 + -(-percent * count // 100) - 1
    assert row["is_within"]
    (row,) = cost.budget(build(events[1:]), {KIND: 10_000}, network="memory", statistic=statistic).to_dict("records")
    assert pd.isna(row["value"])
    assert pd.isna(row["is_within"])
    with pytest.raises(AssertionError, match="1 of 1 budgets is not kept"):
        cost.assert_budget(build(events[1:]), {KIND: 10_000}, network="memory", statistic=statistic)


def test_budgets_without_requests_have_rows_in_order(sample):
    result = cost.budget(sample, {"Main:Zero/Do": 1, "Main:Iou": 2, "Main:Asset/Transfer": 3}, network="memory")
    assert result["template_name"].tolist() == ["Main:Asset", "Main:Iou", "Main:Zero"]
    assert result["choice"].isna().tolist() == [False, True, False]
    assert result["requests"].tolist() == [2, 1, 0]
    assert result["coverage"].isna().tolist() == [False, False, True]
    assert cost.budget(sample, {}, network="memory").empty


def test_integers_of_numpy_are_integers(sample):
    budget = cost.budget(sample, {KIND: np.int64(1)}, network="memory", statistic="max")
    pd.testing.assert_frame_equal(budget, cost.budget(sample, {KIND: 1}, network="memory", statistic="max"))
    assert len(cost.requests(sample, top=np.int32(1))) == 1
    pd.testing.assert_frame_equal(verdict.latency(sample, min_requests=np.int64(2)), verdict.latency(sample, min_requests=2))


def test_budgets_that_are_none_are_refused(sample):
    with pytest.raises(UsageError, match="network= must be the network of the frames, 'memory', got 'mainnet'"):
        cost.budget(sample, {KIND: 1}, network="mainnet")
    with pytest.raises(UsageError, match="Choose from 'median', 'p90', 'p95', 'p99', 'max'"):
        cost.budget(sample, {KIND: 1}, network="memory", statistic="mean")
    for limit in (-1, 5.5, True, None):
        with pytest.raises(UsageError, match="budgets= must be bytes of at least 0"):
            cost.budget(sample, {KIND: limit}, network="memory")
    for name in ("Asset", "Main:Asset/", "/Transfer", ":Asset"):
        with pytest.raises(UsageError, match="names like 'Module:Entity/Choice'"):
            cost.budget(sample, {name: 1}, network="memory")


@pytest.mark.parametrize("budgets", [["M:A"], {1: 2}, None])
def test_budgets_that_are_no_mapping_of_kinds_are_refused(sample, budgets):
    with pytest.raises(UsageError, match="budgets= must be bytes by kind"):
        cost.budget(sample, budgets, network="memory")


def test_a_choice_without_a_name_is_none_of_a_budget(build, event):
    frames = build([event("a", 0, 9000, nodes=[(0, "Main:Iou", "")]), event("b", 1, 100, nodes=[(0, "Main:Iou", None)])])
    (row,) = cost.budget(frames, {"Main:Iou": 5000}, network="memory", statistic="max").to_dict("records")
    assert (row["value"], row["requests"], row["is_within"]) == (100, 1, True)
