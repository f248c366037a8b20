"""Estimates next to actual costs, worked out by hand."""

from __future__ import annotations

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import cost
from ledgerframes.errors import UsageError

ISSUE = [(0, "Main:Iou", None)]


def estimates(**sizes):
    return pd.DataFrame({"update_id": list(sizes), "request_bytes": pd.array(list(sizes.values()), dtype="Int64")})


@pytest.fixture
def three(build, event):
    return build([event(name, 1, size) for name, size in (("a", 5155), ("b", 7900), ("c", 2600))])


def test_estimates_next_to_actual_costs(three):
    assert cost.estimate(three, estimates(a=5000, b=8000, c=2000))[["ratio_p50", "ratio_p95"]].isna().all(axis=None)
    (row,) = cost.estimate(three, estimates(a=5000, b=8000, c=2000), min_requests=1).to_dict("records")
    assert row["few_requests_for"] == "ratio_p50, ratio_p95"
    assert (row["outcome"], row["requests"], row["estimated"], row["actual"]) == ("matched", 3, 15_000, 15_655)
    assert row["difference"] == 155 - 100 + 600
    assert (row["ratio_p50"], row["ratio_p95"], row["over_10_percent"]) == (1.031, 1.3, 1)
    assert row["coverage"] == 1.0
    rows = cost.estimate(three, estimates(a=5000, b=8000, c=2000), by="request", min_requests=1)
    assert rows["difference"].tolist() == [155, -100, 600]
    assert rows["ratio_p50"].tolist() == [1.031, 0.9875, 1.3]


def test_exactly_ten_percent_more_is_not_over(build, event):
    frames = build([event("a", 1, 1100), event("b", 1, 1101)])
    assert cost.estimate(frames, estimates(a=1000, b=1000), by="request")["over_10_percent"].tolist() == [0, 1]


def test_every_request_and_every_estimate_has_one_outcome(build, event):
    events = [
        event("matched", 1, 100),
        event("refused", 1, 300, "REJECTED"),
        event("unknown", 1, None),
        event("alone", 1, 50),
        event("other", 1, 70, nodes=ISSUE),
    ]
    own = estimates(matched=90, refused=310, unknown=20, elsewhere=40, other=70)
    rows = cost.estimate(build(events), own, by="request").set_index("update_id")["outcome"]
    assert rows.to_dict() == {
        "matched": "matched",
        "refused": "rejected",
        "unknown": "no actual",
        "elsewhere": "no actual",
        "alone": "no estimate",
        "other": "matched",
    }
    whole = cost.estimate(build(events), own, by=None)
    assert whole["outcome"].tolist() == ["matched", "rejected", "no actual", "no estimate"]
    assert whole["requests"].tolist() == [2, 1, 2, 1]
    assert whole["estimated"].tolist() == [160, 310, 60, pd.NA]
    assert whole["actual"].tolist() == [170, 300, pd.NA, 50]
    assert whole["difference"].tolist() == [10, -10, pd.NA, pd.NA]
    by_template = cost.estimate(build(events), own)
    assert by_template["requests"].sum() == 6
    assert by_template[by_template["template_name"] == "Main:Iou"]["difference"].tolist() == [0]


def test_an_estimate_of_zero_has_no_ratio(three):
    row = cost.estimate(three, estimates(a=0)).iloc[0]
    assert row["difference"] == 5155
    assert pd.isna(row["ratio_p50"])
    assert row["over_10_percent"] == 1


def test_commands_of_an_own_participant():
    ledger = testing.frames_of(
        network="memory",
        ledger_updates=[
            {"update_id": "u1", "offset": 1, "command_id": "c1", "paid_traffic_cost": 120},
            {"update_id": "u2", "offset": 2, "command_id": None, "paid_traffic_cost": 80},
        ],
    )
    own = pd.DataFrame({"command_id": ["c1", None], "request_bytes": [100, 10]})
    rows = cost.estimate(ledger, own, by=None)
    assert rows["outcome"].tolist() == ["matched", "no actual", "no estimate"]
    assert rows["difference"].tolist() == [20, pd.NA, pd.NA]


def test_an_estimate_of_a_command_with_two_updates_is_refused():
    """It would count twice, once for each of them."""
    updates = [
        {"update_id": f"u{n}", "offset": n, "command_id": name, "paid_traffic_cost": 100} for n, name in enumerate("aabb", 1)
    ]
    ledger = testing.frames_of(network="memory", ledger_updates=updates)
    own = pd.DataFrame({"command_id": ["b"], "request_bytes": [90]})
    with pytest.raises(UsageError, match="command_id 'b' has several"):
        cost.estimate(ledger, own, by=None)
    by_update = pd.DataFrame({"update_id": ["u3"], "request_bytes": [90]})
    assert cost.estimate(ledger, by_update, by=None)["estimated"].fillna(0).tolist() == [90, 0]


def test_no_requests_and_no_estimates(build):
    assert cost.estimate(build([]), estimates()).empty
    assert cost.estimate(build([]), estimates(a=1))["outcome"].tolist() == ["no actual"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "got NoneType"),
        (pd.DataFrame({"update_id": ["a"]}), "got a DataFrame without column 'request_bytes'"),
        (pd.DataFrame({"command_id": ["a"], "request_bytes": [1]}), "Frames of history events have update_id only"),
        (pd.DataFrame({"update_id": ["a"], "request_bytes": [1.5]}), "as integers of at least 0"),
        (pd.DataFrame({"update_id": ["a"], "request_bytes": [-1]}), "as integers of at least 0"),
        (pd.DataFrame({"update_id": ["a", "a"], "request_bytes": [1, 2]}), "got update_id 'a' twice"),
    ],
)
def test_estimates_that_are_none_are_refused(three, table, message):
    with pytest.raises(UsageError, match=message):
        cost.estimate(three, table)


def test_ledger_updates_have_no_kinds():
    frames = lf.load_updates(lf.connect("sandbox", events=400, days=1))
    with pytest.raises(UsageError, match="needs history events"):
        cost.estimate(frames, estimates(a=90))
    assert set(cost.estimate(frames, estimates(a=90), by=None)["outcome"]) == {"no actual", "no estimate"}


def test_an_estimate_beyond_64_bits_is_refused(three):
    large = pd.DataFrame({"update_id": ["a"], "request_bytes": pd.array([2**63], dtype="UInt64")})
    with pytest.raises(UsageError, match="below 2\\^63"):
        cost.estimate(three, large)
