"""Weights, their recomputation and concentration: the public vectors, hand-worked figures, and other code on the sandbox."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from campaign import examples
from cases import every_nth
from hypothesis import given, settings
from hypothesis import strategies as st
from network_world import DAY, FINAL, SV, World, at, plain_weights, usual_world

import ledgerframes as lf
from ledgerframes import testing
from ledgerframes.analysis import FIGURES
from ledgerframes.errors import CoverageError, UsageError
from ledgerframes.frames import Frames

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "activity_vectors.json").read_text(encoding="utf-8"))["vectors"]
EXAMPLE = [(1150, []), (150, []), (3000, [0]), (1001, [1])]
EXAMPLE_VIEWS = [[["A", "x"]], [["A", "B"]]]


def given_state(featured: dict[str, str | None], participants: list[str] | None = None) -> dict[str, pd.DataFrame]:
    """A state from before everything on, with one round."""
    start = pd.Timestamp("2026-01-01", tz="UTC")
    never = pd.Series([pd.NaT], dtype="datetime64[us, UTC]")
    rights = pd.DataFrame({"party": list(featured), "weight": list(featured.values()), "from": start, "until": never.iloc[0]})
    validators = pd.DataFrame({"participant": participants or ["nobody"], "from": start, "until": pd.NaT})
    rounds = pd.DataFrame({"round_number": [1], "opens_at": [start], "created_at": [start], "archived_at": [pd.NaT]})
    return {"featured": rights, "sv_participants": validators, "rounds": rounds}


# -- recompute --------------------------------------------------------------------------------------------------------


def frames_of_vector(vector: dict[str, Any]) -> Frames:
    traffic = vector["traffic_summary"]
    envelopes = [(item["traffic_cost"], item["view_ids"]) for item in (traffic or {}).get("envelope_traffic_summaries", [])]
    views = [[quorum["parties"] for quorum in view["confirming_parties"]] for view in vector["views"]]
    world = World().request(
        "u",
        5,
        total=traffic and traffic["total_traffic_cost"],
        envelopes=envelopes,
        views=views,
        result=vector["verdict_result"].removeprefix("VERDICT_RESULT_"),
        participant=vector["submitting_participant_uid"],
    )
    return world.frames()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vectors(vector: dict[str, Any]) -> None:
    state = given_state(vector["featured"], vector["sv_participants"])
    rows = lf.activity.recompute(frames_of_vector(vector), **state)
    expected = vector["expected"] or {"records": []}
    assert [{"party": row.party, "weight": row.weight} for row in rows.itertuples()] == expected["records"]
    assert set(rows["round_number"]) <= {1}


def test_the_example() -> None:
    world = usual_world().request("u", 2, total=5301, envelopes=EXAMPLE, views=EXAMPLE_VIEWS)
    rows = lf.activity.recompute(world.frames())
    assert rows["party"].tolist() == ["A", "B"]
    assert rows["burn_bytes"].tolist() == [4637, 663]
    assert rows["weight"].tolist() == [4637, 1458]
    assert rows["activity_weight"].tolist() == [Decimal(1), Decimal("2.2")]
    only_a = lf.activity.recompute(world.frames(), featured=given_state({"A": None})["featured"])
    assert only_a["weight"].tolist() == [5301]


def test_the_round_is_the_lowest_open_one_and_the_state_that_of_its_opening() -> None:
    world = World().rules().right("A", 0).round(1, 0, 1).round(2, 0, 11).round(3, 5, 21)
    world.archive("right-A", 12).right("A", 12, "3.0", contract="new").archive("round-1", 15).archive("round-2", 25)
    for minutes in (0.5, 1, 14.9, 15, 24.9, 25):
        world.request(f"u{minutes}", minutes, total=100)
    rows = lf.activity.recompute(world.frames())
    assert rows[["update_id", "round_number", "weight"]].to_numpy().tolist() == [
        ["u1", 1, 100],
        ["u14.9", 1, 100],
        ["u15", 2, 100],  # round 2 opened at minute 11, before the new right
        ["u24.9", 2, 100],
        ["u25", 3, 300],
    ]
    assert rows["coverage"].tolist() == [5 / 6] * 5  # without a round in the first half minute


def test_super_validators_earn_nothing() -> None:
    world = usual_world().request("u", 2, participant=SV).request("v", 3, participant="val-a")
    assert lf.activity.recompute(world.frames())["update_id"].tolist() == ["v"]


def test_all_quorums_count_and_unknown_views_do_not() -> None:
    world = usual_world().request("u", 2, total=90, envelopes=[(30, [0, 9]), (60, [7])], views=[[["x"], ["B", "A"]]])
    rows = lf.activity.recompute(world.frames())
    assert rows["burn_bytes"].tolist() == [45, 45]


def test_a_factor_of_0_is_a_row() -> None:
    world = World().rules().right("A", weight="0.0").round(1, 0, 1).request("u", 2, total=90)
    rows = lf.activity.recompute(world.frames())
    assert rows[["burn_bytes", "weight"]].to_numpy().tolist() == [[90, 0]]


def test_sums_beyond_64_bits_are_exact() -> None:
    """Only envelopes that cost more than their request do so."""
    total, cost = 104_857_600, 2**40 + 1
    envelopes, views = [(cost, [0]), (cost, [1]), (10, [0])], [[["A", "B"]], [["A"]]]
    world = usual_world().request("u", 2, total=total, envelopes=envelopes, views=views).request("v", 3, total=7)
    rows = lf.activity.recompute(world.frames())
    plain = plain_weights("ACCEPTED", total, envelopes, {0: ["A", "B"], 1: ["A"]}, {"A": "1", "B": "2.2"})
    assert cost * total * 2 > 2**63
    assert rows[["party", "burn_bytes", "weight"]].to_numpy().tolist() == [
        ["A", *plain["A"]],
        ["B", *plain["B"]],
        ["A", 7, 7],
    ]


def test_envelopes_that_many_app_providers_share() -> None:
    parties = [f"app-{number:03}" for number in range(200)]
    envelopes, views = [(30_000, [0]), (7_001, [1]), (500, [0, 2])], [[parties], [parties[::7]], [parties[-1:]]]
    world = World().request("u", 2, total=40_000, envelopes=envelopes, views=views)
    rows = lf.activity.recompute(world.frames(), **given_state(dict.fromkeys(parties, "1.5")))
    plain = plain_weights(
        "ACCEPTED", 40_000, envelopes, dict(enumerate(view[0] for view in views)), dict.fromkeys(parties, "1.5")
    )
    expected = [[party, *plain[party]] for party in parties]
    assert rows[["party", "burn_bytes", "weight"]].to_numpy().tolist() == expected


def test_negative_costs_are_left_out_and_counted() -> None:
    world = usual_world().request("u", 2, total=10, envelopes=[(-5, [0]), (15, [0])]).request("v", 3, total=7)
    rows = lf.activity.recompute(world.frames())
    assert rows[["update_id", "coverage"]].to_numpy().tolist() == [["v", 0.5]]


def given_rounds(**named: object) -> pd.DataFrame:
    return pd.DataFrame([{"round_number": 1, "opens_at": at(0), "from": at(0), "until": None, **named}])


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (
            {"rounds": pd.DataFrame({"round_number": [1], "opens_at": [None], "from": [None], "until": [None], "network": "x"})},
            "rounds= must be of the network of the frames, memory, got x",
        ),
        ({"featured": "A"}, "featured= must be a DataFrame with the columns party, weight, from, until, got str"),
        (
            {"featured": pd.DataFrame({"party": ["A"]})},
            "the columns party, weight, from, until, got a DataFrame without column 'weight'",
        ),
        ({"featured": given_state({"A": "-1"})["featured"]}, "weights from 0 to 1,000,000,000 with at most 10 places, got '-1'"),
        ({"featured": given_state({"A": "0.00000000001"})["featured"]}, "with at most 10 places"),
        ({"rounds": pd.DataFrame({"round_number": [1]})}, "with the columns round_number, opens_at, from, until"),
        ({"rounds": given_rounds(opens_at="soon")}, "rounds= must have times in opens_at, got 'soon'"),
        ({"rounds": given_rounds(round_number="x")}, r"rounds= must have whole numbers in round_number, got \['x'\]"),
    ],
)
def test_wrong_states_are_refused(named: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        lf.activity.recompute(usual_world().frames(), **named)


FEATURED = {"A": "1", "B": "2.2", "C": "0.3333333333"}
PARTIES = st.sets(st.sampled_from(["A", "B", "C", "x", "y"]), max_size=4)
REQUESTS = st.fixed_dictionaries(
    {
        "total": st.none() | st.integers(0, 104_857_700),
        "result": st.sampled_from(["ACCEPTED", "REJECTED"]),
        "views": st.lists(st.lists(PARTIES, max_size=2), max_size=3),
        "envelopes": st.lists(st.tuples(st.integers(0, 10**8), st.lists(st.integers(0, 4), max_size=3)), max_size=4),
    }
)


@settings(max_examples=examples(10))
@given(many=st.lists(REQUESTS, max_size=5))
def test_any_request_is_computed_as_by_plain_fractions(many: list[dict[str, Any]]) -> None:
    world, expected = World(), []
    for number, facts in enumerate(many):
        world.request(f"u{number}", number, **facts)
        views = {view_id: set().union(*quorums) for view_id, quorums in enumerate(facts["views"])}
        plain = plain_weights(facts["result"], facts["total"], facts["envelopes"], views, FEATURED)
        expected += [[f"u{number}", party, *plain[party]] for party in sorted(plain)]
    rows = lf.activity.recompute(world.frames(), **given_state(dict(FEATURED)))
    assert rows[["update_id", "party", "burn_bytes", "weight"]].to_numpy().tolist() == expected


# -- the sandbox, by other code ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Frames:
    with testing.small_network(tmp_path_factory.mktemp("store"), events=1500, days=1) as net:
        return lf.load_events(net, since="0001-01-01", until="2026-11-09")


def plain_state(frames: Frames) -> Any:
    """Featured parties and participants of super validators as of a time, and the round of a time."""
    nodes = frames.tree_events
    ends = dict(zip(nodes.loc[nodes["consuming"] == True, "contract_id"], nodes["record_time"], strict=False))  # noqa: E712
    lives: dict[str, list[tuple[Any, Any, dict[str, Any]]]] = {}
    for node in nodes[nodes["event_type"] == "created_event"].itertuples():
        lives.setdefault(node.template_name, []).append((node.record_time, node.contract_id, json.loads(node.create_arguments)))
    ends = {row.contract_id: row.record_time for row in nodes[nodes["consuming"].fillna(False)].itertuples()}

    def alive(template: str, time: Any) -> list[dict[str, Any]]:
        return [
            payload
            for since, contract, payload in lives[template]
            if since <= time and (contract not in ends or time < ends[contract])
        ]

    def state_at(time: Any) -> tuple[int, dict[str, str], set[str]] | None:
        opened = [
            (int(each["round"]["number"]), pd.Timestamp(each["opensAt"])) for each in alive("Splice.Round:OpenMiningRound", time)
        ]
        opened = [pair for pair in opened if pair[1] <= time]
        if not opened:
            return None
        number, opens_at = min(opened)
        rules = alive("Splice.DsoRules:DsoRules", opens_at)
        if not rules:
            return None
        rights = {each["provider"]: each["activityWeight"] or "1" for each in alive("Splice.Coin:FeaturedAppRight", opens_at)}
        return number, rights, {info["participantId"].removeprefix("PAR::") for _, info in rules[0]["svs"]}

    return state_at


def test_the_sandbox_by_other_code(sandbox: Frames) -> None:
    state_at = plain_state(sandbox)
    totals = dict(zip(sandbox.traffic["update_id"], sandbox.traffic["total_traffic_cost"].tolist(), strict=True))
    envelopes, views = {}, {}
    for row in sandbox.envelopes.itertuples():
        envelopes.setdefault(row.update_id, []).append((row.traffic_cost, list(row.view_ids)))
    for row in sandbox.quorums.itertuples():
        views.setdefault(row.update_id, {}).setdefault(row.view_id, set()).update(row.parties)
    expected = []
    for row in sandbox.verdicts.itertuples():
        state = state_at(row.record_time)
        if state is None or row.submitting_participant_uid in state[2]:
            continue
        result = row.verdict_result.removeprefix("VERDICT_RESULT_")
        plain = plain_weights(
            result, totals.get(row.update_id), envelopes.get(row.update_id, []), views.get(row.update_id, {}), state[1]
        )
        expected += [[row.update_id, state[0], party, *plain[party]] for party in sorted(plain)]
    rows = lf.activity.recompute(sandbox)
    assert len(expected) > 500
    assert rows[["update_id", "round_number", "party", "burn_bytes", "weight"]].to_numpy().tolist() == expected


def test_weights_add_up_to_the_records(sandbox: Frames) -> None:
    records = sandbox.activity_records
    for every in ("round", "1h", None):
        rows = lf.activity.weights(sandbox, every=every)
        assert rows["weight"].sum() == records["weight"].sum()
        assert rows["requests"].sum() == len(records)
    by_hand = records.groupby(["round_number", "party"])["weight"].sum()
    rows = lf.activity.weights(sandbox).set_index(["round_number", "party"])
    assert rows["weight"].sort_index().tolist() == by_hand.sort_index().tolist()
    assert rows.groupby(level=0)["share"].sum().tolist() == pytest.approx([1] * rows.index.get_level_values(0).nunique())
    assert rows["burn_bytes"].notna().all()


# -- weights ----------------------------------------------------------------------------------------------------------


def test_weights_of_the_example() -> None:
    world = World().request("u", 1, records=[("A", 600)], round_number=7)
    world.request("v", 2, records=[("A", 300), ("B", 100)], round_number=7)
    rows = lf.activity.weights(world.frames())
    assert rows[["round_number", "party", "requests", "weight", "share"]].to_numpy().tolist() == [
        [7, "A", 2, 900, 0.9],
        [7, "B", 1, 100, 0.1],
    ]
    assert rows[["activity_weight", "burn_bytes", "is_partial"]].isna().all(axis=None)
    assert rows["coverage"].tolist() == [0, 0]


def test_burned_bytes_are_never_a_division() -> None:
    world = usual_world().request("u", 2, total=5301, envelopes=EXAMPLE, views=EXAMPLE_VIEWS, records=[("A", 4637), ("B", 1458)])
    rows = lf.activity.weights(world.frames())
    assert rows[["weight", "burn_bytes"]].to_numpy().tolist() == [[4637, 4637], [1458, 663]]
    assert rows["activity_weight"].tolist() == [Decimal(1), Decimal("2.2")]
    world.request("v", 3, total=50, views=[[["B"]]], records=[("B", 111)])  # computed: 110
    again = lf.activity.weights(world.frames()).set_index("party")
    assert pd.isna(again.loc["B", "burn_bytes"])
    assert again.loc["B", "coverage"] == 0.5
    assert again.loc["B", "weight"] == 1569


def test_a_record_of_0_is_a_row_and_an_absent_one_is_not() -> None:
    world = usual_world().request("u", 2, records=[("A", 0)]).request("v", 3)
    rows = lf.activity.weights(world.frames())
    assert rows[["party", "requests", "weight"]].to_numpy().tolist() == [["A", 1, 0]]
    assert rows["share"].isna().all()


def test_negative_weights_are_left_out_and_sums_never_wrap() -> None:
    world = usual_world().request("u", 2, records=[("A", -5), ("B", 6)])
    assert lf.activity.weights(world.frames())["party"].tolist() == ["B"]
    world.request("v", 3, records=[("A", 2**62)]).request("w", 4, records=[("A", 2**62)])
    with pytest.raises(UsageError, match="sum of column weight does not fit 64 bits"):
        lf.activity.weights(world.frames())


def test_rounds_without_all_records_are_partial() -> None:
    world = World().rules().right("A")
    for number in range(1, 6):
        world.round(number, max(0, 10 * number - 29), 10 * number - 9)
        world.request(f"u{number}", 10 * number - 5, records=[("A", 5)], round_number=number)
        if number < 5:
            world.archive(f"round-{number}", 10 * number + 1)
    covered = [{**FINAL[0], "until": at(35)}, {**FINAL[0], "since": at(35), "status": "provisional"}]
    frames = world.frames(coverage=covered)
    rows = lf.activity.weights(frames)
    assert rows["round_number"].tolist() == [1, 2, 3, 4, 5]
    assert rows["is_partial"].tolist() == [False, False, False, True, True]
    chosen = frames.where("verdicts", update_id=[f"u{number}" for number in range(1, 6)])
    rows = lf.activity.weights(chosen, **lf.state.tables(frames))
    assert rows["weight"].tolist() == [5] * 5
    assert rows["is_partial"].all()


# -- columns ----------------------------------------------------------------------------------------------------------

STATEFUL = ["state.rounds", "state.featured", "state.super_validators", "state.config", "state.ignored_contracts"]
STATEFUL += ["activity.recompute", "activity.reconcile", "activity.reconcile_totals", "activity.rewards"]


@pytest.mark.parametrize("is_empty", every_nth([False, True], 2))
@pytest.mark.parametrize("name", STATEFUL)
def test_columns_of_figures_that_need_the_state(name: str, is_empty: bool) -> None:
    world = usual_world() if is_empty else usual_world().request("u", 2, total=10, records=[("A", 9), ("B", 3)])
    module, _, function = name.partition(".")
    for by in (None, *FIGURES[name].by):
        result = getattr(getattr(lf, module), function)(world.frames(), **({"by": by} if by else {}))
        columns = FIGURES[name].result_columns(by)
        assert list(result.columns) == [column.name for column in columns]
        dtypes = [column.dtype for column in columns]
        assert [str(dtype) for dtype in result.dtypes] == dtypes


@pytest.mark.parametrize("every", ["round", "1h"])
def test_columns_of_rounds(every: str) -> None:
    world = usual_world().request("u", 2, total=10, records=[("A", 9), ("B", 3)])
    for function in (lf.activity.weights, lf.activity.concentration):
        leading = list(function(world.frames(), every=every).columns[:2])
        assert leading == (["round_number", "is_partial"] if every == "round" else ["period_start", "period_end"])


def test_without_a_state_weights_refuse_nothing_and_recompute_does() -> None:
    frames = World().request("u", 1, records=[("A", 5)]).frames()
    assert lf.activity.weights(frames)["burn_bytes"].isna().all()
    with pytest.raises(CoverageError, match=r'lf\.load_contracts\(.*or load since="0001-01-01"'):
        lf.activity.recompute(frames)


def test_the_state_of_a_window_that_starts_between_snapshots_has_advice_that_works() -> None:
    net = lf.connect("sandbox", events=400, days=1)
    cut = lf.load_events(net, since="2026-11-08T13:07Z", until="2026-11-09")
    time = "2026-11-08T12:00:00Z"
    advice = f'Load since="{time}", the time of a snapshot, and pass base=lf.load_contracts(net, at="{time}")'
    with pytest.raises(CoverageError, match=re.escape(advice)):
        lf.activity.rewards(cut)
    base = lf.load_contracts(net, at="2026-11-08T13:07Z")
    with pytest.raises(CoverageError, match=r'Load since="2026-11-08T12:00:00Z", or pass base='):
        lf.activity.rewards(cut, base=base)
    assert len(lf.activity.rewards(lf.load_events(net, since="2026-11-08T12:00Z", until="2026-11-09"), base=base))


def test_periods_start_with_the_history_of_frames_from_the_beginning(sandbox: Frames) -> None:
    rows = lf.activity.weights(sandbox, by=None, every="6h")
    assert rows["period_start"].iloc[0] == pd.Timestamp(DAY)
    assert np.array_equal(rows["share"].dropna(), np.ones(rows["share"].notna().sum()))


def test_concentration_by_round(sandbox: Frames) -> None:
    rows = lf.activity.concentration(sandbox, every="round")
    assert rows["round_number"].is_monotonic_increasing
    assert int(rows["total"].sum()) == sandbox.activity_records["weight"].sum()
    by_hour = lf.activity.concentration(sandbox, every="6h")
    assert len(by_hour) == 4
    assert by_hour["parties"].tolist()[0] <= 9
