"""Differences of costs, worked out by hand or by another algorithm."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import cost
from ledgerframes.errors import UsageError
from ledgerframes.statistics import differences
from ledgerframes.values.windows import Window

PRICE, RATE = lf.TrafficPrice("60", "USD/MB"), lf.NetworkRate("0.16", "USD/coin")
TRANSFER, ISSUE = [(0, "Main:Asset", "Transfer")], [(0, "Main:Iou", None)]


@pytest.fixture
def side(build, event):
    """Frames with one request for each cost, per kind."""

    def frames(kinds, **named):
        events = [
            event(f"{number}-{index}", index / 1000, each, nodes=nodes)
            for number, (nodes, costs) in enumerate(kinds)
            for index, each in enumerate(costs)
        ]
        return build(events, **named)

    return frames


def row(result, template="Main:Asset"):
    (found,) = result[result["template_name"] == template].to_dict("records")
    return found


def test_a_rise_is_dearer(side):
    (only,) = cost.compare(side([(TRANSFER, [100] * 30)]), side([(TRANSFER, [118] * 30)])).to_dict("records")
    assert (only["difference"], only["low"], only["high"], only["judgment"]) == (18, 18, 18, "dearer")
    assert (only["relative"], only["low_all"], only["contribution"]) == (0.18, 18, 1.0)
    assert (only["median_before"], only["median_after"], only["change"]) == (100, 118, 540)
    assert pd.isna(only["p95_before"])  # needs 72 requests
    assert pd.isna(only["coin_difference"])


def test_a_fall_is_cheaper(side):
    (only,) = cost.compare(side([(TRANSFER, [118] * 72)]), side([(TRANSFER, [100] * 72)])).to_dict("records")
    assert (only["difference"], only["judgment"], only["contribution"]) == (-18, "cheaper", 1.0)
    assert (only["p95_before"], only["p95_after"]) == (118, 100)


@pytest.mark.parametrize(("first", "second"), [(29, 29), (30, 29), (29, 30)])
def test_less_than_thirty_requests_are_too_few(side, first, second):
    only = row(cost.compare(side([(TRANSFER, [100] * first)]), side([(TRANSFER, [118] * second)])))
    assert only["judgment"] == "too few"
    assert all(pd.isna(only[name]) for name in ("difference", "low", "high", "relative", "low_all", "high_all"))
    assert only["median_before"] == 100


def test_more_requests_can_be_demanded(side):
    frames = side([(TRANSFER, [100] * 30)])
    assert row(cost.compare(frames, frames, min_requests=31))["judgment"] == "too few"
    for number in (0, True, 2.5):
        with pytest.raises(UsageError, match="min_requests= must be a whole number of at least 1"):
            cost.compare(frames, frames, min_requests=number)


def test_percentiles_of_few_requests_have_a_mark_and_no_difference(side):
    few = row(cost.compare(side([(TRANSFER, [100] * 3)]), side([(TRANSFER, [118] * 40)]), min_requests=3))
    assert [few[name] for name in ("median_before", "median_after", "p95_before", "p95_after")] == [100, 118, 100, 118]
    assert few["few_requests_for"] == "median_before, p95_before, p95_after"
    assert few["judgment"] == "too few" and pd.isna(few["difference"])
    firm = row(cost.compare(side([(TRANSFER, [100] * 3)]), side([(TRANSFER, [118] * 40)])))
    assert all(pd.isna(firm[name]) for name in ("median_before", "p95_before", "p95_after", "few_requests_for"))


def test_a_difference_within_its_interval_is_no_clear_change(side):
    first = [100 + 10 * (index % 7) for index in range(40)]
    second = [101 + 10 * (index % 7) for index in range(40)]
    only = row(cost.compare(side([(TRANSFER, first)]), side([(TRANSFER, second)])))
    assert only["judgment"] == "no clear change"
    assert only["low"] < 0 < only["high"]
    random = np.random.default_rng(7)
    medians = [np.sort(random.choice(np.array(each), (40_000, 40)), axis=1)[:, 19] for each in (first, second)]
    low, high = np.quantile(medians[1] - medians[0], [0.025, 0.975])
    assert (only["difference"], only["low"], only["high"]) == (1, low, high)


def test_a_break_between_the_sides_is_named(side):
    before, after = side([(TRANSFER, [100] * 30)]), side([(TRANSFER, [118] * 30)])
    eras = lf.eras.table().assign(at=pd.Timestamp("2026-11-08T12:00Z")).tail(1)
    assert cost.compare(before, after, eras=eras)["era"].tolist() == ["free responses"]
    assert cost.compare(before, after, eras=eras.assign(at=pd.Timestamp("2026-11-08T00:00Z")))["era"].isna().all()
    assert cost.compare(before, after)["era"].isna().all()


def test_kinds_of_one_side_are_new_or_gone(side):
    result = cost.compare(side([(TRANSFER, [100] * 2)]), side([(ISSUE, [50] * 3)]))
    assert dict(zip(result["template_name"], result["judgment"], strict=True)) == {"Main:Asset": "gone", "Main:Iou": "new"}
    assert dict(zip(result["template_name"], result["change"], strict=True)) == {"Main:Asset": -200, "Main:Iou": 150}


def test_contributions_add_up_and_sort_the_rows(side):
    before = side([(TRANSFER, [100] * 30), (ISSUE, [50] * 30)])
    after = side([(TRANSFER, [118] * 30), (ISSUE, [48] * 30)])
    result = cost.compare(before, after)
    assert result["template_name"].tolist() == ["Main:Asset", "Main:Iou"]
    assert result["change"].tolist() == [540, -60]
    assert result["contribution"].tolist() == [1.125, -0.125]
    assert cost.compare(before, before)["contribution"].isna().all()


def test_all_kinds_together_need_a_wider_interval(side):
    # At 95% the interval excludes 0 by a hair; with 20 kinds it does not.
    first, second = [100] * 20 + [103] * 20, [100] * 12 + [103] * 28
    others = [([(0, f"Main:Other{number}", None)], [7] * 30) for number in range(19)]
    alone = row(cost.compare(side([(TRANSFER, first)]), side([(TRANSFER, second)])))
    among = row(cost.compare(side([(TRANSFER, first), *others]), side([(TRANSFER, second), *others])))
    assert (alone["low"], alone["high"]) == (among["low"], among["high"])
    wide = differences.difference_of_percentiles(first, second, 50, confidence=1 - 0.05 / 20)
    assert (among["low_all"], among["high_all"]) == (wide.low, wide.high)
    assert wide.low <= alone["low"]


def test_a_judgment_never_contradicts_the_interval_for_all_kinds(side):
    """The interval of this kind alone excludes 0, the one for all twenty kinds does not."""
    first, second = [100] * 30 + [103] * 10, [100] * 11 + [103] * 29
    others = [([(0, f"Main:Other{number}", None)], [7] * 30) for number in range(19)]
    alone = row(cost.compare(side([(TRANSFER, first)]), side([(TRANSFER, second)])))
    among = row(cost.compare(side([(TRANSFER, first), *others]), side([(TRANSFER, second), *others])))
    assert alone["low"] == among["low"]
    assert (alone["judgment"], alone["low_all"] > 0) == ("dearer", True)
    assert (among["judgment"], among["low_all"] > 0) == ("no clear change", False)


DAY = datetime(2026, 11, 8, tzinfo=UTC)


def window_of(days, costs):
    """Frames whose window has this many days, all of them final, with these costs."""
    window = Window(DAY, DAY + timedelta(days=days))
    traffic = [
        {"update_id": f"u{n}", "record_time": DAY + timedelta(minutes=n), "total_traffic_cost": each}
        for n, each in enumerate(costs)
    ]
    return testing.frames_of(window=window, network="memory", traffic=traffic)


def test_windows_of_unequal_length_are_named_and_compared_per_day():
    only = row_of_all(cost.compare(window_of(7, [100] * 70), window_of(3, [100] * 31)))
    assert only["not_comparable"] == "windows of 7 days and 3 days"
    assert pd.isna(only["change"]) and pd.isna(only["contribution"])
    assert only["change_per_day"] == 33  # 3,100 / 3 - 7,000 / 7, rounded
    assert (only["length_before"], only["length_after"]) == (pd.Timedelta(days=7), pd.Timedelta(days=3))
    assert only["coverage_time"] == pytest.approx(3 / 7)
    same = row_of_all(cost.compare(window_of(3, [100] * 30), window_of(3, [100] * 31)))
    assert (same["change"], same["change_per_day"], same["contribution"], same["coverage_time"]) == (100, 33, 1.0, 1.0)
    assert pd.isna(same["not_comparable"])


def test_a_window_that_the_history_begins_in_is_no_whole_one():
    """Two days of which the history has one cost half of two whole days, and nothing got dearer."""
    whole = window_of(2, [100] * 70)
    facts = {"status": "final", "rows": 35, "source": "file", "since": DAY + timedelta(days=1), "until": whole.window.until}
    begun = testing.frames_of(window=whole.window, coverage=[facts], network="memory", traffic=whole.traffic.tail(35))
    only = row_of_all(cost.compare(begun, whole))
    assert only["not_comparable"] == "final: 50.0 % before and 100 % after"
    assert pd.isna(only["contribution"])
    assert only["coverage_time"] == 0.5
    assert pd.isna(row_of_all(cost.compare(begun, begun))["not_comparable"])


def row_of_all(result):
    (only,) = result.to_dict("records")
    return only


def test_unequal_coverage_is_named(side):
    only = row(cost.compare(side([(TRANSFER, [100] * 30 + [None] * 10)]), side([(TRANSFER, [118] * 30)])))
    assert (only["coverage_before"], only["coverage_after"]) == (0.75, 1.0)
    assert only["not_comparable"] == "known costs: 75.0 % before and 100 % after"


def test_differences_have_a_price(side):
    only = row(cost.compare(side([(TRANSFER, [100] * 30)]), side([(TRANSFER, [118] * 30)]), price=PRICE, rate=RATE))
    assert only["coin_difference"] == Decimal("0.00675")  # 18 bytes × 0.00006 USD ÷ 0.16
    frames = side([(TRANSFER, [100] * 30)])
    with pytest.raises(UsageError, match="Pass rate= too"):
        cost.compare(frames, frames, price=PRICE)
    with pytest.raises(UsageError, match="rate= must be a NetworkRate, got MarketRate"):
        cost.compare(frames, frames, price=PRICE, rate=lf.MarketRate("0.16", "USD/coin"))


def test_unknown_costs_lower_the_coverage_and_leave_no_contribution(side):
    result = cost.compare(side([(TRANSFER, [100] * 30 + [None] * 10)]), side([(TRANSFER, [118] * 30)]))
    only = row(result)
    assert (only["requests_before"], only["requests_after"], only["coverage"]) == (30, 30, 60 / 70)
    assert only["judgment"] == "dearer"
    assert pd.isna(only["contribution"])


def test_versions_are_compared_in_pairs():
    def frames(costs):
        ids = [f"u{number}" for number in range(len(costs))]
        rows = {
            "updates": [{"update_id": each, "kind": "transaction"} for each in ids],
            "traffic": [{"update_id": each, "total_traffic_cost": amount} for each, (_, amount) in zip(ids, costs, strict=True)],
            "tree_events": [
                {"update_id": each, "event_id": f"{each}:0", "package_id": package, "choice": "Transfer", "depth": 0}
                for each, (package, _) in zip(ids, costs, strict=True)
            ],
        }
        return testing.frames_of(network="memory", population="all", **rows)

    first = frames([("p1", 100)] * 30)
    second = frames([("p1", 100)] * 30 + [("p2", 118)] * 30)
    result = cost.compare(first, second, by="version").sort_values("package_id_after")
    assert result["package_id_before"].tolist() == ["p1", "p1"]
    assert result["package_id_after"].tolist() == ["p1", "p2"]
    assert result["difference"].tolist() == [0, 18]
    assert result["judgment"].tolist() == ["no clear change", "dearer"]
    assert cost.compare(first, second)["package_ids_after"].tolist() == ["p1, p2"]


def test_the_order_of_rows_does_not_matter(side):
    first, second = [100, 110, 120] * 11, [105, 115, 90] * 11
    forward = cost.compare(side([(TRANSFER, first), (ISSUE, second)]), side([(TRANSFER, second), (ISSUE, first)]))
    backward = cost.compare(
        side([(ISSUE, second[::-1]), (TRANSFER, first[::-1])]), side([(ISSUE, first[::-1]), (TRANSFER, second[::-1])])
    )
    pd.testing.assert_frame_equal(forward, backward)


def test_a_side_without_a_window_leaves_no_covered_time(side):
    day = Window(datetime(2026, 11, 8, tzinfo=UTC), datetime(2026, 11, 9, tzinfo=UTC))
    one, other = (testing.frames_of(window=window, traffic=[{"update_id": "a"}]) for window in (day, None))
    for before, after in ((one, other), (other, one)):
        assert cost.compare(before, after)["coverage_time"].isna().all()
    assert cost.compare(one, one)["coverage_time"].tolist() == [1.0]


def test_frames_without_requests(side):
    assert cost.compare(side([]), side([])).empty


def test_what_cannot_be_compared_is_refused(side):
    frames = side([(TRANSFER, [100])])
    with pytest.raises(UsageError, match="one population, got 'all' and 'committed'"):
        cost.compare(frames, side([(TRANSFER, [100])], population="committed"))
    with pytest.raises(UsageError, match="frames of one network, got devnet and memory"):
        cost.compare(frames, testing.frames_of(network="devnet", verdicts=[], updates=[], traffic=[], tree_events=[]))
    with pytest.raises(UsageError, match=r"Pass Frames to lf\.cost\.compare"):
        cost.compare(frames, pd.DataFrame())
    with pytest.raises(UsageError, match=r"by='party'\. Choose from 'template', 'version'"):
        cost.compare(frames, frames, by="party")
    with pytest.raises(UsageError, match=r"by=None\. Choose from 'template', 'version'"):
        cost.compare(frames, frames, by=None)


def test_a_kind_without_a_known_cost_covers_no_bytes(build, event):
    unknown = event("a", 1, None, nodes=[(0, "Main:Iou", "Split")])
    frames = build([unknown, event("b", 1, 100)])
    rows = cost.compare(frames, frames).set_index("template_name")["coverage_bytes"]
    assert rows.to_dict() == {"Main:Iou": 0.0, "Main:Asset": 1.0}
    assert cost.compare(build([unknown]), build([unknown]))["coverage_bytes"].isna().all()
