"""Unknown costs are missing in all figures, never 0, and a negative cost is unknown."""

from __future__ import annotations

import pandas as pd
import pytest

from ledgerframes.analysis import cost, reconcile
from ledgerframes.report.headline import measure_headline

VIEW = [(["alice"], [(1, ["alice"])])]


def column(frame, name):
    return [None if pd.isna(value) else value for value in frame[name]]


def test_the_shared_and_the_single_cost_of_a_party_are_missing_if_unknown(build, event):
    events = [
        event("shared", 1, None, parties=["alice", "bob"]),
        event("single", 2, None, parties=["bob"]),
        event("of_alice", 3, 100, parties=["alice"]),
        event("of_two", 4, 900, parties=["bob", "carol"]),
    ]
    parties = cost.spend(build(events), by="party").set_index("party").loc[["alice", "bob", "carol"]]
    assert column(parties, "single_party_traffic_cost") == [100, None, 0]  # carol has no request of her own
    assert column(parties, "shared_traffic_cost") == [None, 900, 0]  # that of carol counts for bob


NEGATIVE_TOTAL = ("b", -500, [(30, []), (70, [0])])
NEGATIVE_ENVELOPE = ("c", 100, [(-40, []), (140, [0])])


@pytest.fixture
def negative(build, event):
    """A cost that is as it should be, a negative total, and a negative envelope."""
    rows = [("a", 100, [(40, []), (60, [0])]), NEGATIVE_TOTAL, NEGATIVE_ENVELOPE]
    return build([event(name, 1, total, envelopes=envelopes, views=VIEW) for name, total, envelopes in rows])


@pytest.mark.parametrize("by", [None, "participant", "party", "template", "result"])
@pytest.mark.parametrize("every", [None, "1d"])
def test_a_negative_cost_is_unknown_in_all_parts_of_the_spend(negative, by, every):
    (row,) = cost.spend(negative, by=by, every=every).to_dict("records")
    assert (row["requests"], row["requests_with_cost"], row["total_traffic_cost"]) == (3, 2, 200)
    assert row["overhead_traffic_cost"] == 40


def test_a_negative_cost_is_unknown_by_view_and_in_the_overhead(negative):
    (view,) = cost.spend(negative, by="view").to_dict("records")
    assert (view["total_traffic_cost"], view["envelopes"], view["coverage"]) == (60, 1, 1 / 3)
    overhead = cost.overhead(negative)
    assert column(overhead, "traffic_cost") == [60, 40, 100]  # what the unknown envelope leaves unassigned
    assert set(overhead["coverage"]) == {1 / 3}


def test_a_negative_cost_is_unknown_in_the_calendar(negative):
    (day,) = reconcile.coverage(negative).to_dict("records")
    assert (day["with_cost"], day["verdicts"], day["coverage"]) == (2, 3, 2 / 3)
    assert cost.invalid_values(negative)["rows"].sum() == 2


def test_a_request_with_one_negative_cost_alone_has_no_overhead(build, event):
    name, total, envelopes = NEGATIVE_TOTAL
    frames = build([event(name, 1, total, envelopes=envelopes, views=VIEW)])
    for by in (None, "participant"):
        assert column(cost.spend(frames, by=by), "overhead_traffic_cost") == [None]


def test_no_cause_wasted_more_if_the_cost_of_one_is_unknown(build, event):
    timeout = event("timeout", 1, 100, "REJECTED", seconds=30.1)
    (only,) = cost.wasted(build([timeout]), every=None)["top_cause"]
    assert only == "timeout"
    unknown = event("contention", 1, None, "REJECTED", seconds=0.2)
    assert column(cost.wasted(build([timeout, unknown]), every=None), "top_cause") == [None]


def test_the_waste_of_a_run_is_missing_if_no_rejected_cost_is_known(build, event):
    frames = build([event("a", 1, 100), event("b", 1, None, "REJECTED")])
    headline = measure_headline(frames)
    assert (headline["total_traffic_cost"], headline["wasted_traffic_cost"], headline["wasted_share"]) == (100, None, None)
    headline = measure_headline(build([event("a", 1, 100)]))
    assert (headline["wasted_traffic_cost"], headline["wasted_share"]) == (0, 0.0)


def test_a_quorum_without_parties_has_no_confirmers_and_no_quorum_an_unknown_number(build, event):
    views = {"some": VIEW, "nobody": [(["alice"], [(1, [])])], "no quorum": [(["alice"], [])]}
    frames = build([event(name, 1, 100 - number, views=each) for number, (name, each) in enumerate(views.items())])
    assert cost.requests(frames)["update_id"].tolist() == list(views)
    assert column(cost.requests(frames), "confirmers") == [1, 0, None]
