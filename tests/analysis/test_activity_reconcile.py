"""Published weights against computed ones: each reason planted once, and changes to the rules of the game."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import pytest
from network_world import FINAL, SV, WINDOW, World, at, usual_world

import ledgerframes as lf
from ledgerframes.analysis.activity.reconciliation import REASONS
from ledgerframes.errors import IntegrityError, UsageError
from ledgerframes.values.windows import Window

EXAMPLE = [(1150, []), (150, []), (3000, [0]), (1001, [1])]
EXAMPLE_VIEWS = [[["A", "x"]], [["A", "B"]]]
PAIR = ["outcome", "reason"]


def rounds_world() -> World:
    """Rounds 1 to 4, of which the first three are over; A has a right that changes, B and C one each."""
    world = World().rules().right("A", weight="1.5").right("B", weight="2.2").right("C")
    world.archive("right-A", 13.5, effective=10.5).right("A", 13.5, "2.0", contract="right-A-2", effective=10.5)
    for number in range(1, 5):
        world.round(number, 0, 10 * number - 9)
        if number < 4:
            world.archive(f"round-{number}", 10 * number + 1)
    return world


PLANTED = {
    "not accepted": lambda world: world.request("u", 12, result="REJECTED", records=[("A", 5)]),
    "over the bound": lambda world: world.request("u", 12, total=104_857_601, records=[("A", 5)]),
    "no round": lambda world: world.request("u", 0.5, records=[("A", 5)]),
    "submitted by a super validator": lambda world: world.request("u", 12, participant=SV, records=[("A", 5)]),
    "no envelopes": lambda world: world.request("u", 12, total=None, records=[("A", 5)]),
    "boundary": lambda world: world.request("u", 12, total=100, records=[("A", 200)], round_number=2),
    "party not featured": lambda world: world.request("u", 12, records=[("x", 5)], views=[[["x", "y"]]]),
    "no featured confirmers": lambda world: world.request("u", 12, records=[("A", 5)], views=[[["x"]]]),
    "provisional": lambda world: world.request("u", 33, views=[[["B"]]]),
    "rounding": lambda world: world.request("u", 12, total=100, records=[("B", 219)], views=[[["B"]]], round_number=2),
    "weight factor": lambda world: world.request("u", 25, total=100, records=[("A", 150)], round_number=3),
    "unexplained": lambda world: world.request("u", 12, total=100, records=[("C", 777)], views=[[["C"]]], round_number=2),
}


@pytest.mark.parametrize("reason", PLANTED)
def test_each_reason_is_found_where_it_is_planted(reason: str) -> None:
    world = rounds_world().request("plain", 15, total=100, records=[("C", 100)], views=[[["C"]]], round_number=2)
    world.request("late", 35, total=100, records=[("C", 100)], views=[[["C"]]], round_number=4)
    rows = lf.activity.reconcile(PLANTED[reason](world).frames())
    assert rows["reason"].isna().tolist() == [False, True, True]
    assert rows[["update_id", "reason"]].iloc[0].tolist() == ["u", reason]
    assert rows["outcome"].iloc[1:].tolist() == ["equal", "equal"]


def test_records_of_whole_rounds_are_withheld() -> None:
    world = rounds_world().request("early", 5, views=[[["C"]]])
    world.request("plain", 15, total=100, records=[("C", 100)], views=[[["C"]]], round_number=2)
    world.request("late", 25, views=[[["C"]]])
    rows = lf.activity.reconcile(world.frames())
    assert rows[["update_id", *PAIR]].iloc[:2].to_numpy().tolist() == [
        ["early", "only computed", "record withheld"],
        ["late", "only computed", "record withheld"],
    ]


def test_a_round_that_opens_before_the_rules_has_no_state() -> None:
    world = World().right("A").round(1, 0, 1).rules(5).round(2, 6, 7).request("u", 6, records=[("A", 5)])
    rows = lf.activity.reconcile(world.frames())
    assert rows[PAIR].to_numpy().tolist() == [["only published", "no state"]]
    assert rows["coverage"].tolist() == [0]


def test_rights_that_ended_before_the_snapshot_are_unknown() -> None:
    """Round 1 opens before the snapshot, which does not have the right of A that ended in between."""
    world = World().rules().right("A").right("C").archive("right-A", 5).round(1, 0, 1).round(2, 0, 11).archive("round-1", 11)
    whole = Window(datetime(1, 1, 1, tzinfo=UTC), WINDOW.until)
    base = lf.contracts.active_at(world.frames(whole, [{**FINAL[0], "since": whole.since}]), at(6))
    world.request("first", 8, records=[("A", 1000)]).request("second", 15, records=[("C", 1000)], views=[[["C"]]], round_number=2)
    rows = lf.activity.reconcile(world.frames().between(at(6), WINDOW.until), base=base).set_index("update_id")
    assert rows.loc["first", PAIR].tolist() == ["only published", "no state"]
    assert rows.loc["second", "outcome"] == "equal"
    assert lf.activity.reconcile(world.frames()).set_index("update_id")["outcome"].tolist() == ["equal", "equal"]


def test_a_record_without_a_verdict_has_no_envelopes() -> None:
    world = usual_world().request("u", 12, records=[("A", 5)])
    del world.rows["verdicts"]
    rows = lf.activity.reconcile(world.frames())
    assert rows["reason"].tolist() == ["no envelopes"]
    assert rows["record_time"].tolist() == [at(12)]


def test_every_reason_has_a_test() -> None:
    assert {*PLANTED, "record withheld", "no state"} == set(REASONS)


def test_the_example() -> None:
    world = usual_world().right("C", contract="right-C").round(2, 0, 100).archive("round-1", 120)
    world.request("u", 2, total=5301, envelopes=EXAMPLE, views=EXAMPLE_VIEWS, records=[("A", 4637), ("B", 1457)])
    world.request("v", 130, total=10, views=[[["C"]]])
    frames = world.frames()
    rows = lf.activity.reconcile(frames)
    assert rows[["party", "outcome", "reason"]].astype(object).where(
        rows[["party", *PAIR]].notna(), None
    ).to_numpy().tolist() == [
        ["B", "different", "rounding"],
        ["C", "only computed", "provisional"],
        ["A", "equal", None],
    ]
    assert rows["difference"].tolist() == [-1, pd.NA, 0]
    totals = lf.activity.reconcile_totals(frames)
    assert totals[["records", "weight"]].to_numpy().tolist() == [[1, 1457], [1, 10], [1, 4637]]


def test_weights_of_the_caller_can_be_compared() -> None:
    world = usual_world().request("u", 2, records=[("A", 1000)])
    mine = pd.DataFrame({"update_id": ["u", "w"], "party": ["A", "A"], "weight": [998, 5]})
    rows = lf.activity.reconcile(world.frames(), computed=mine)
    assert rows[["update_id", "outcome", "difference"]].to_numpy().tolist() == [
        ["u", "different", 2],
        ["w", "only computed", pd.NA],
    ]
    with pytest.raises(UsageError, match="computed= must have the columns update_id, party and weight, got list"):
        lf.activity.reconcile(world.frames(), computed=[1])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"each update and party once, got \('u', 'A'\) several times"):
        lf.activity.reconcile(world.frames(), computed=pd.concat([mine, mine]))


def test_a_weight_of_the_caller_without_an_update_takes_no_row_of_another() -> None:
    world = usual_world().request("u", 2, records=[("A", 1000)])
    mine = pd.DataFrame({"update_id": [None, "u"], "party": ["A", "A"], "weight": [5, 1000]})
    rows = lf.activity.reconcile(world.frames(), computed=mine)
    assert rows[["update_id", "outcome"]].to_numpy().tolist() == [["u", "equal"]]


def test_weights_of_the_caller_may_add_up_to_more_than_64_bits() -> None:
    world = usual_world().request("u", 2, records=[("A", 1000)])
    mine = pd.DataFrame({"update_id": ["u", "v", "w"], "party": ["A"] * 3, "weight": [1000, 2**62, 2**62]})
    rows = lf.activity.reconcile(world.frames(), computed=mine)
    assert rows["outcome"].tolist() == ["only computed", "only computed", "equal"]


def test_totals_of_both_sides_are_controlled(monkeypatch: pytest.MonkeyPatch) -> None:
    from ledgerframes.analysis.activity import reconciliation as module

    relation = module.reconciled(module.OWN)
    incomplete = replace(relation, query=f"SELECT * FROM ({relation.query}) WHERE update_id <> 'u'")
    monkeypatch.setattr(module, "reconciled", lambda _: incomplete)
    with pytest.raises(IntegrityError, match="sum of weight_published"):
        lf.activity.reconcile(usual_world().request("u", 2, records=[("A", 1000)]).frames())


def test_empty_frames_compare_nothing() -> None:
    frames = usual_world().frames()
    assert lf.activity.reconcile(frames).empty
    assert lf.activity.reconcile_totals(frames).empty


def test_provisional_times() -> None:
    coverage = [{**FINAL[0], "until": at(10)}, {**FINAL[0], "since": at(10), "status": "provisional"}]
    world = rounds_world().request("u", 12, views=[[["C"]]])
    assert lf.activity.reconcile(world.frames(coverage=coverage))["reason"].tolist() == ["provisional"]
    assert lf.activity.reconcile(world.frames(WINDOW))["reason"].tolist() == ["record withheld"]


# -- what if ----------------------------------------------------------------------------------------------------------


def example() -> World:
    world = usual_world().request("u", 2, total=5301, envelopes=EXAMPLE, views=EXAMPLE_VIEWS)
    return world.root("u", 2, "App:Swap", "Settle")


@pytest.mark.parametrize("merge_views", [[("App:Swap", "Settle")], {("App:Swap", "Settle"), ("App:Swap", "Other")}])
def test_merged_views(merge_views: object) -> None:
    rows = lf.activity.what_if(example().frames(), merge_views=merge_views).set_index("party")  # type: ignore[arg-type]
    assert rows["weight_before"].to_dict() == {"A": 4637, "B": 1458}
    assert rows["weight_after"].to_dict() == {"A": 2650, "B": 5830}
    assert rows["difference"].to_dict() == {"A": -1987, "B": 4372}
    assert rows["requests_changed"].to_dict() == {"A": 1, "B": 1}
    assert rows["share_after"].to_dict() == {"A": 2650 / 8480, "B": 5830 / 8480}


def test_envelopes_with_the_same_confirmers_become_one() -> None:
    envelopes = [(100, []), (333, [0]), (334, [1]), (335, [2]), (7, [])]
    views = [[["A", "B"]], [["B"], ["A", "B"]], [["A"]]]
    world = usual_world().request("u", 2, total=1109, envelopes=envelopes, views=views)
    merged = usual_world().request("u", 2, total=1109, envelopes=[(107, []), (667, [0]), (335, [2])], views=views)
    rows = lf.activity.what_if(world.frames(), merge_views="same confirmers").set_index("party")
    expected = lf.activity.recompute(merged.frames()).set_index("party")
    assert rows["weight_after"].to_dict() == expected["weight"].to_dict()


def test_informees_as_confirmers() -> None:
    world = usual_world().request("u", 2, total=100, views=[[["A"]]], informees=[["A", "B", "x"]])
    rows = lf.activity.what_if(world.frames(), confirmers="informees").set_index("party")
    assert rows[["weight_before", "weight_after"]].to_numpy().tolist() == [[0, 110], [100, 50]]


def test_other_factors_and_rights() -> None:
    frames = example().frames()
    rows = lf.activity.what_if(frames, factors={"B": "1"}).set_index("party")
    assert rows["weight_after"].to_dict() == {"A": 4637, "B": 663}
    rights = lf.state.featured(frames)
    rows = lf.activity.what_if(frames, featured_after=rights[rights["party"] == "A"]).set_index("party")
    assert rows["weight_after"].to_dict() == {"A": 5301, "B": 0}
    later = rights.assign(**{"from": pd.Timestamp(at(1.5))})
    assert lf.activity.what_if(frames, featured_after=later)["weight_after"].tolist() == [0, 0]  # after the round opened
    by_round = lf.activity.what_if(frames, factors={"B": "1"}, every="round")
    assert by_round[["round_number", "party"]].to_numpy().tolist() == [[1, "A"], [1, "B"]]


def test_weights_stay_exact_next_to_a_missing_one() -> None:
    """A party that is on one side only would make the weights of all floats, which count exactly up to 2^53."""
    views = [[["A"]], [["B"]]]
    frames = usual_world().request("u", 2, total=104_857_599, envelopes=[(9, [0]), (1, [1])], views=views).frames()
    only_a = lf.state.featured(frames).query("party == 'A'")
    rows = lf.activity.what_if(frames, featured_after=only_a, factors={"A": "999999999"}).set_index("party")
    assert rows["weight_after"].to_dict() == {"A": 104_857_599 * 999_999_999, "B": 0}


def test_the_state_before_can_be_passed() -> None:
    world = example()
    frames = world.frames()
    state = lf.state.tables(frames)
    for name in ("updates", "tree_events"):
        del world.rows[name]
    rows = lf.activity.what_if(world.frames(), factors={"B": "1"}, **state)
    assert rows["weight_before"].tolist() == [4637, 1458]
    with pytest.raises(UsageError, match="Pass featured_after="):
        lf.activity.what_if(world.frames(), **state)


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({}, "Pass featured_after=, factors=, merge_views= or confirmers='informees'"),
        ({"factors": {"Z": "1"}}, "Unknown party 'Z'"),
        ({"featured_after": 5}, "featured_after= must be a DataFrame with the columns"),
        ({"factors": {"A": "-1"}}, "factors= must be decimals from 0 to 1,000,000,000 with at most 10 places, got '-1'"),
        ({"factors": {"A": 1.5}}, "factors= must be decimals"),
        ({"merge_views": "all"}, "merge_views= must be 'same confirmers' or pairs"),
        ({"merge_views": [("No:Such", "Choice")]}, "merge_views= must name a root template and choice"),
        ({"confirmers": "everybody"}, "Unknown confirmers='everybody'. Choose from 'quorums', 'informees'"),
        ({"factors": {"A": "1"}, "every": "1d"}, "every= must be 'round' or None, got '1d'"),
    ],
)
def test_wrong_changes_are_refused(named: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        lf.activity.what_if(example().frames(), **named)  # type: ignore[arg-type]


def test_what_if_nothing_is_there() -> None:
    rows = lf.activity.what_if(usual_world().frames(), factors={"A": "2"})
    assert rows.empty
