"""The state of the network from tree events: lifetimes, look-alikes, bases, and what cannot be read."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from itertools import product

import pandas as pd
import pytest
from network_world import DSO, FINAL, WINDOW, World, at, usual_world

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.errors import CoverageError, IntegrityError, UsageError
from ledgerframes.values.windows import Window


def test_lifetimes_last_from_the_create_to_the_first_consuming_exercise() -> None:
    world = World().rules().round(1, 0, 1).round(2, 0, 11).archive("round-1", 11, choice="Splice_Other", effective=10.9)
    world.archive("round-1", 12)
    rounds = lf.state.rounds(world.frames())
    assert rounds["round_number"].tolist() == [1, 2]
    assert rounds["from"].tolist() == [at(0), at(0)]
    assert rounds["until"].isna().tolist() == [False, True]
    assert rounds["until"].iloc[0] == at(11)
    assert rounds["effective_until"].iloc[0] == at(10.9)
    assert set(rounds["source"]) == {"history"}
    assert rounds["coin_price"].tolist() == [Decimal("0.16"), Decimal("0.16")]
    assert rounds["coverage"].tolist() == [1, 1]


def test_state_at_a_time_is_half_open() -> None:
    world = World().rules().round(1, 0, 1).round(2, 0, 11).archive("round-1", 11)
    rounds = lf.state.rounds(world.frames())
    numbers = [lf.state.at(rounds, at(minutes))["round_number"].tolist() for minutes in (-1, 0, 10.99, 11)]
    assert numbers == [[], [1, 2], [1, 2], [2]]
    with pytest.raises(UsageError, match=r"lf\.state\.at, got str"):
        lf.state.at("rounds", at(0))  # type: ignore[arg-type]
    naive = pd.DataFrame({"from": [pd.Timestamp("2026-11-08")], "until": [pd.NaT]})
    with pytest.raises(UsageError, match=r"table= must have times in UTC in from and until, got datetime64\[us\]"):
        lf.state.at(naive, at(0))


def test_a_contract_that_is_archived_in_its_own_update_never_lived() -> None:
    world = World().rules().right("A", 5).archive("right-A", 5)
    assert lf.state.featured(world.frames()).empty


@pytest.mark.parametrize("coin", ["coin", "amulet"])
def test_payloads_are_read_in_the_words_of_the_network(coin: str) -> None:
    rewards = {"mintingVersion": "RewardVersion_TrafficBasedAppRewards", "appRewardCouponThreshold": "0.5"}
    world = World(coin).rules().right("A").round(7, 0, 1, extra={"trafficPrice": "60.0", "rewardConfig": rewards})
    fees = {
        "extraTrafficPrice": "16.67",
        "minTopupAmount": "200000",
        "baseRateTrafficLimits": {"burstAmount": "400000", "burstWindow": {"microseconds": "1200000000"}},
    }
    config = {"configSchedule": {"initialValue": {"decentralizedSynchronizer": {"fees": fees}, "rewardConfig": rewards}}}
    world.create("Splice.{Coin}Rules:{Coin}Rules", config, 0, contract="coin-rules")
    frames = world.frames()
    row = lf.state.rounds(frames).iloc[0]
    assert (row["round_number"], row["opens_at"], row["coin_price"]) == (7, at(1), Decimal("0.16"))
    assert (row["traffic_price"], row["reward_threshold"], row["coin_per_year"]) == (60, Decimal("0.5"), 5_000_000_000)
    assert row["tick_duration"] == pd.Timedelta(minutes=10)
    assert lf.state.featured(frames)["weight"].tolist() == [1]
    rules = lf.state.config(frames).iloc[0]
    assert (rules["traffic_price"], rules["min_topup"], rules["burst_amount"]) == (Decimal("16.67"), 200_000, 400_000)
    assert rules["burst_window"] == pd.Timedelta(minutes=20)
    assert rules["minting_version"] == "RewardVersion_TrafficBasedAppRewards"


def test_super_validators_are_those_of_each_lifetime_of_the_rules() -> None:
    world = World().rules(svs={"x": "px", "y": "py"})
    world.archive("rules", 5, choice="DsoRules_OffboardSv")
    node = world.rows["tree_events"][-1]
    world.rules(5, svs={"x": "px"}, contract="rules-2")
    world.rows["tree_events"][-1]["update_id"] = node["update_id"]
    rows = lf.state.super_validators(world.frames())
    assert rows[["participant", "contract_id"]].to_numpy().tolist() == [["px", "rules"], ["py", "rules"], ["px", "rules-2"]]
    assert lf.state.at(rows, at(5))["participant"].tolist() == ["px"]
    assert rows["reward_weight"].tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ({"package": "splice-coinz"}, "other package"),
        ({"package": "other"}, "other package"),
        ({"signatories": ["someone::1220"]}, "not signed by the network"),
        ({"signatories": []}, "not signed by the network"),
    ],
)
def test_look_alikes_do_not_count(named: dict[str, object], reason: str) -> None:
    world = usual_world().right("false", 1, **named)
    frames = world.frames()
    assert lf.state.featured(frames)["party"].tolist() == ["A", "B"]
    problems = lf.state.ignored_contracts(frames)
    assert problems["contract_id"].tolist() == ["right-false"]
    assert problems["reason"].tolist() == [reason]


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "not json",
        "[]",
        '{"error":"too deep","value":null}',
        '{"record":{"fields":[{"value":{"party":"A"}}]}}',
        json.dumps({"dso": DSO, "provider": 5}),
        json.dumps({"dso": DSO, "provider": "A", "activityWeight": "much"}),
        json.dumps({"dso": DSO, "provider": "A", "activityWeight": "-1.0"}),
        json.dumps({"dso": DSO, "provider": "A", "activityWeight": "0.12345678901"}),
    ],
)
def test_payloads_that_cannot_be_read_are_counted_and_not_guessed(payload: str) -> None:
    world = World().rules().right("B").create("Splice.{Coin}:FeaturedAppRight", payload, 1, contract="odd")
    world.round(1, 2, 3).round(2, 0, 1)
    world.request("u", 4, views=[[["B"]]])
    frames = world.frames()
    rights = lf.state.featured(frames)
    assert rights["party"].isna().tolist() == [False, True]
    assert rights["coverage"].tolist() == [0.5, 0.5]
    assert lf.activity.recompute(frames).empty  # nobody knows whose right it is while it lives


def test_two_rights_of_a_provider_are_counted_and_the_last_one_wins() -> None:
    world = World().rules().right("A", weight="2.0", contract="r1").right("A", 0.5, weight="3.0", contract="r2").round(1, 0, 1)
    world.request("u", 2, total=100)
    frames = world.frames()
    assert lf.state.ignored_contracts(frames)[["contract_id", "reason"]].to_numpy().tolist() == [
        ["r2", "second right of a provider"]
    ]
    assert lf.activity.recompute(frames)["weight"].tolist() == [300]


def test_a_window_alone_does_not_hold_the_state() -> None:
    world = World().right("A").round(1, 0, 1)
    with pytest.raises(CoverageError, match="before 2026-11-08T00:00:00Z is unknown") as caught:
        lf.state.featured(world.frames())
    assert 'Pass base=lf.load_contracts(net, at="2026-11-08T00:00:00Z")' in str(caught.value)
    assert str(caught.value).endswith('or load since="0001-01-01".')
    assert caught.value.missing == ("history before 2026-11-08T00:00:00Z",)


def test_rules_that_replace_others_are_no_start() -> None:
    world = World().archive("earlier", 0, choice="DsoRules_AddSv").rules()
    world.rows["tree_events"][0].update(template_name="Splice.DsoRules:DsoRules", package_name="splice-dso-governance")
    world.rows["tree_events"][1]["update_id"] = world.rows["tree_events"][0]["update_id"]
    with pytest.raises(CoverageError, match="rights live for years"):
        lf.state.super_validators(world.frames())


def test_a_hole_after_the_start_is_refused() -> None:
    coverage = [{**FINAL[0], "until": at(60)}, {**FINAL[0], "since": at(90)}]
    with pytest.raises(CoverageError) as caught:
        lf.state.rounds(usual_world().frames(coverage=coverage))
    assert caught.value.missing == (str(Window(at(60), at(90))),)
    assert 'Load since="2026-11-08T00:00:00Z", or pass base=' in str(caught.value)


def test_the_pause_between_two_migrations_of_a_listing_is_no_hole() -> None:
    coverage = [{**FINAL[0], "migration_id": 3, "until": at(60)}, {**FINAL[0], "migration_id": 4, "since": at(90)}]
    listing = usual_world().frames(coverage=coverage)
    listing._tables = tuple(name for name in listing.tables if name != "bulk_objects")
    rounds = lf.state.rounds(usual_world().frames())
    pd.testing.assert_frame_equal(lf.state.rounds(listing), rounds)


def snapshot(world: World, minutes: float) -> pd.DataFrame:
    names = ["contract_id", "template_name", "package_name", "signatories", "create_arguments", "created_at"]
    nodes = [{name: node[name] for name in names} for node in world.rows["tree_events"]]
    return testing.frames_of(active_contracts=[{**node, "snapshot_time": at(minutes)} for node in nodes]).active_contracts


def test_a_snapshot_is_a_base() -> None:
    earlier = World().rules(-900).right("A", -800, "2.0").right("B", -800).round(1, -20, -10)
    world = World().archive("right-B", 5).round(2, 1, 2).request("u", 1, total=10)
    base, frames = snapshot(earlier, 0), world.frames()
    rights = lf.state.featured(frames, base=base)
    assert rights["until"].isna().tolist() == [True, False]
    assert set(rights["source"]) == {"snapshot"}
    assert set(lf.state.rounds(frames, base=base)["source"]) == {"snapshot", "history"}
    state = {
        "featured": rights,
        "rounds": lf.state.rounds(frames, base=base),
        "sv_participants": lf.state.super_validators(frames, base=base),
    }
    assert lf.activity.recompute(frames, **state)["weight"].tolist() == [20]
    as_frames = testing.frames_of(active_contracts=base)
    pd.testing.assert_frame_equal(lf.state.featured(frames, base=as_frames), rights)


def test_a_snapshot_from_after_the_start_of_the_frames_is_refused() -> None:
    base = snapshot(World().rules(-900).round(1, -20, -10), 60)
    frames = World().round(2, 1, 2).frames()
    with pytest.raises(UsageError, match=r"from 2026-11-08T00:00:00Z, the start of the frames, or before, got .*T01:00:00Z"):
        lf.state.rounds(frames, base=base)
    assert len(lf.state.rounds(frames.between(at(60), WINDOW.until), base=base)) == 1


STATES = (lf.state.rounds, lf.state.featured, lf.state.super_validators, lf.state.config, lf.state.ignored_contracts)


@pytest.mark.parametrize("has_base", [False, True])
def test_chosen_updates_do_not_hold_the_state(has_base: bool) -> None:
    """The update that archives the right of B is not chosen, so that B would be featured forever."""
    earlier = World().rules(-900).right("A", -800).right("B", -800).round(1, -20, -10)
    world = (World() if has_base else usual_world()).archive("right-B", 5).request("u", 6, total=10)
    base, frames = snapshot(earlier, 0) if has_base else None, world.frames()
    chosen = frames.where("verdicts", update_id="u")
    by_id = frames._filtered(replace(frames._filter, window=None, is_chosen=True))
    calls = [*STATES, lf.activity.recompute, lf.activity.reconcile, lf.activity.reconcile_totals]
    for call, part in product(calls, (chosen, by_id)):
        with pytest.raises(
            CoverageError, match=r"Chosen updates do not hold .* lf\.state\.tables\(frames\) from before where\(\)"
        ):
            call(part, base=base)
    with pytest.raises(CoverageError, match="Chosen updates"):
        lf.query(lf.state.rounds, chosen, base=base)
    assert lf.activity.recompute(chosen, **lf.state.tables(frames, base=base))["weight"].tolist() == [10]


def test_two_networks_in_one_history_are_refused() -> None:
    other = json.dumps({"dso": "other::1220", "svs": []})
    world = usual_world().create(
        "Splice.DsoRules:DsoRules", other, 3, contract="x", package="splice-dso-governance", signatories=["other::1220"]
    )
    with pytest.raises(IntegrityError, match="signed by 2 parties"):
        lf.state.rounds(world.frames())


def test_two_rules_alive_at_one_time_are_refused() -> None:
    world = usual_world().rules(3, contract="again").request("u", 5)
    with pytest.raises(IntegrityError, match="Two contracts with the network's rules are alive"):
        lf.activity.recompute(world.frames())


def test_empty_frames_know_no_state() -> None:
    for figure in STATES:
        with pytest.raises(CoverageError, match="before the first update is unknown"):
            figure(testing.frames_of())
