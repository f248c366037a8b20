"""Rewards of rounds: the formula to the last digit, and the rounds whose amounts nobody can know."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from network_world import FINAL, World, at

import ledgerframes as lf
from ledgerframes.analysis.activity.reward_formula import RoundRules, round_totals, rules_of
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames

TRAFFIC = {"mintingVersion": "RewardVersion_TrafficBasedAppRewards", "appRewardCouponThreshold": "0.5"}
RULES = RoundRules(
    coin_per_year=Decimal(10**10),
    tick_microseconds=600_000_000,
    app_share=Decimal("0.62"),
    featured_cap=Decimal("1.5"),
    coin_price=Decimal("0.14877"),
    traffic_price=Decimal(60),
    reward_threshold=Decimal("0.5"),
)


@pytest.mark.parametrize(
    ("changed", "weight", "rate", "unclaimed"),
    [
        ({}, 95_129_376, "604.9606775559", "54512.8731101940"),
        ({"traffic_price": Decimal(120)}, 95_129_376, "1177.9999994354", "0"),
        ({}, 500_000, "604.9606775559", "111759.9245318460"),
        ({"coin_price": Decimal(1)}, 95_129_376, "90", "103500.7610306240"),
        ({}, 0, "604.9606775559", "112062.4048706240"),
    ],
)
def test_the_servers_order_of_operations(changed: dict[str, Decimal], weight: int, rate: str, unclaimed: str) -> None:
    totals = round_totals(RoundRules(**{**vars(RULES), **changed}), weight)
    assert totals.rate_per_mb == Decimal(rate)
    assert totals.unclaimed == Decimal(unclaimed)
    assert totals.to_issue == Decimal("112062.4048706240")
    assert totals.threshold == (Decimal("3.3608926531") if changed.get("coin_price") != 1 else Decimal("0.5"))


def closed_round(records: list[tuple[str, int]], extra: dict[str, Any] | None = None, **named: Any) -> Frames:
    """Round 1 with these records, between two others with records of their own."""
    world = World().rules().right("A")
    rules = {"trafficPrice": "60.0", "rewardConfig": TRAFFIC} if extra is None else extra
    for number, opens in ((0, 1), (1, 11), (2, 21)):
        world.round(number, 0, opens, extra=rules)
    world.archive("round-0", 15).archive("round-1", 25)
    world.request("before", 5, records=[("A", 1)], round_number=0)
    world.request("u", 17, records=records, round_number=1)
    world.request("after", 30, records=[("A", 1)], round_number=2)
    return world.frames(**named)


def test_the_example() -> None:
    frames = closed_round([("A", 9_000_000), ("B", 2_996_000), ("C", 4_000)])
    row = lf.activity.rewards(frames).set_index("round_number").loc[1]
    assert (row["weight"], row["scheme"], row["is_partial"]) == (12_000_000, "traffic", False)
    assert (row["burn"], row["rate_per_mb"], row["threshold"]) == (4500, 750, Decimal("3.125"))
    assert row["to_issue"] == Decimal("54223.7442922375")
    assert (row["amount"], row["thresholded"]) == (8997, 3)
    assert row["unclaimed"] == Decimal("45223.7442922375")
    assert row["amount"] + row["thresholded"] + row["unclaimed"] == row["to_issue"]
    assert row["threshold_bytes"] == 4167
    assert (row["opens_at"], row["closed_at"]) == (at(11), at(25))
    parties = lf.activity.rewards(frames, by="party")
    parties = parties[parties["round_number"] == 1]
    assert parties["party"].tolist() == ["A", "B", "C"]
    assert parties["amount"].tolist() == [6750, 2247, 0]
    assert parties["burn"].tolist() == [3375, Decimal("1123.5"), Decimal("1.5")]
    assert parties["allowance"].tolist() == [6750, 2247, 3]
    assert parties["below_threshold"].tolist() == [False, False, True]


def test_an_oversubscribed_round() -> None:
    row = lf.activity.rewards(closed_round([("A", 300_000_000), ("B", 100_000_000)]), party="A").set_index("round_number").loc[1]
    assert row["rate_per_mb"] == Decimal("135.559360725")
    assert row["amount"] == Decimal("40667.8082175")


@pytest.mark.parametrize(("weight", "is_below"), [(4167, False), (4166, True)])
def test_the_threshold_in_bytes_is_the_smallest_weight_that_is_paid(weight: int, is_below: bool) -> None:
    frames = closed_round([("A", 12_000_000 - weight), ("B", weight)])
    row = lf.activity.rewards(frames, party="B").iloc[0]
    assert row["threshold_bytes"] == 4167
    assert row["below_threshold"] == is_below
    assert (row["amount"] == 0) == is_below


def test_equality_with_the_threshold_pays() -> None:
    rules = {"trafficPrice": "60.0", "rewardConfig": {**TRAFFIC, "appRewardCouponThreshold": "0.48"}}  # 3 coin
    row = lf.activity.rewards(closed_round([("A", 4_000)], rules), party="A").set_index("round_number").loc[1]
    assert (row["threshold"], row["allowance"], row["amount"]) == (3, 3, 3)


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"trafficPrice": "60.0"},
        {"rewardConfig": TRAFFIC},
        {"trafficPrice": "60.0", "rewardConfig": {**TRAFFIC, "mintingVersion": "RewardVersion_FeaturedAppMarkers"}},
    ],
)
def test_rounds_without_rules_for_traffic_have_no_amounts(rules: dict[str, Any]) -> None:
    rows = lf.activity.rewards(closed_round([("A", 9_000_000)], rules))
    assert rows[["burn", "amount", "rate_per_mb", "unclaimed", "threshold_bytes"]].isna().all(axis=None)
    assert rows["weight"].tolist() == [1, 9_000_000, 1]
    assert rows["coverage"].tolist() == [0, 0, 0]


def test_rounds_with_missing_records_have_no_amounts() -> None:
    rows = lf.activity.rewards(closed_round([("A", 9_000_000)]))
    assert rows["is_partial"].tolist() == [False, False, True]  # the last round is alive
    assert rows["amount"].isna().tolist() == [False, False, True]
    assert rows["coverage"].tolist() == [2 / 3] * 3
    late = [{**FINAL[0], "until": at(16), "status": "final"}, {**FINAL[0], "since": at(16), "status": "provisional"}]
    rows = lf.activity.rewards(closed_round([("A", 9_000_000)], coverage=late))
    assert rows["is_partial"].tolist() == [False, True, True]


def test_a_part_of_the_requests_is_refused() -> None:
    frames = closed_round([("A", 9_000_000)])
    for part in (frames.where("verdicts", update_id="u"), closed_round([("A", 1)], window=None)):
        with pytest.raises(CoverageError, match="need the records of all requests") as caught:
            lf.activity.rewards(part)
        assert caught.value.missing == ("records of all requests",)


def test_an_unknown_party_is_refused_with_near_ones() -> None:
    frames = closed_round([("exchange::1220aa", 5)])
    with pytest.raises(UsageError, match=r"Unknown party 'exchange::1220ab'\. Choose from exchange::1220aa"):
        lf.activity.rewards(frames, party="exchange::1220ab")
    with pytest.raises(UsageError, match="cannot group by='template'"):
        lf.activity.rewards(frames, by="template")
    with pytest.raises(UsageError, match=r"cannot group by=\['party'\]\. Choose from"):
        lf.activity.rewards(frames, by=["party"])  # type: ignore[arg-type]


def test_concentration_of_amounts() -> None:
    frames = closed_round([("A", 9_000_000), ("B", 3_000_000)])
    rows = lf.activity.concentration(frames, of="amount", every="round").set_index("round_number")
    assert (rows.loc[1, "total"], rows.loc[1, "top_1"]) == (9000, 0.75)
    assert rows.loc[2, "coverage"] == 0
    whole = lf.activity.concentration(frames, of="amount").iloc[0]
    assert (whole["total"], whole["coverage"]) == (9000, 0.75)
    curve = lf.activity.lorenz(frames, of="amount")
    assert (curve["party"].tolist(), curve["coverage"].tolist()) == (["B", "A"], [0.75, 0.75])


def test_concentration_of_amounts_by_label_sums_the_known_ones_too() -> None:
    """Rewards of rounds 0 and 1 are known and that of the open round 2 is not, with labels as without."""
    frames = closed_round([("A", 9_000_000), ("B", 3_000_000)])
    labels = pd.DataFrame({"id": ["A", "B"], "name": ["A", "B"], "group": ["us", "us"]})
    whole = lf.activity.concentration(frames, of="amount", labels=labels).iloc[0]
    assert (whole["parties"], whole["total"], whole["coverage"]) == (1, 9000, 0.75)


def test_given_rounds_need_no_history() -> None:
    frames = closed_round([("A", 9_000_000)])
    table = lf.state.rounds(frames)
    without = World().request("u", 17, records=[("A", 9_000_000)], round_number=1)
    without.request("v", 5, records=[("A", 1)], round_number=0)
    rows = lf.activity.rewards(without.frames(), rounds=table)
    assert rows.set_index("round_number").loc[1, "amount"] == 6750
    assert not pd.isna(rows["threshold"].iloc[0])


def test_a_given_round_without_an_opening_time_is_no_row() -> None:
    frames = closed_round([("A", 9_000_000)])
    table = lf.state.rounds(frames)
    given = pd.concat([table, table.tail(1).assign(round_number=99)], ignore_index=True)
    given.loc[len(table), "opens_at"] = pd.NaT
    pd.testing.assert_frame_equal(lf.activity.rewards(frames, rounds=given), lf.activity.rewards(frames, rounds=table))


def test_the_coverage_of_a_party_is_that_of_its_rounds() -> None:
    frames = lf.load_events(lf.connect("sandbox", events=400, days=1), since="0001-01-01")
    every = lf.activity.rewards(frames, by="party")
    rounds = lf.activity.rewards(frames)
    known = rounds.loc[rounds["round_number"].isin(every["round_number"]), "amount"].notna()
    assert set(every["coverage"]) == {known.mean()}


def test_a_round_without_a_length_or_a_cap_has_no_rate() -> None:
    values = {**vars(RULES), "tick_duration": pd.Timedelta(0)}
    assert rules_of(values) is None
    assert rules_of({**values, "tick_duration": pd.Timedelta("10min")}) is not None
    totals = round_totals(RoundRules(**{**vars(RULES), "featured_cap": Decimal(0)}), 10**9)
    assert (totals.rate_per_mb, totals.threshold_bytes) == (0, None)
