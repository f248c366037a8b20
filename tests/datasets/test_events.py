from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.datasets import TABLES
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.events.build import event_tables
from ledgerframes.datasets.events.build_updates import node_numbers
from ledgerframes.datasets.events.wire import Event, EventsPage
from ledgerframes.errors import DecodeError

TIME = "2026-11-01T00:00:00.000000Z"


def node(number: int, *children: int, update_id: str = "1220aa", **members: Any) -> dict[str, Any]:
    """An exercised event, or with create_arguments a created one."""
    base: dict[str, Any] = {
        "event_id": f"{update_id}:{number}",
        "contract_id": f"00{number}",
        "template_id": "pkg:Mod.Sub:Entity",
        "package_name": "app",
    }
    if "create_arguments" in members:
        return {**base, "event_type": "created_event", "created_at": TIME, "signatories": ["s"], "observers": [], **members}
    children_ids = [f"{update_id}:{child}" for child in children]
    exercised = {
        "choice": "Go",
        "choice_argument": {},
        "consuming": False,
        "acting_parties": ["a"],
        "child_event_ids": children_ids,
    }
    return {**base, "event_type": "exercised_event", **exercised, "exercise_result": {}, "interface_id": None, **members}


def transaction(*nodes: dict[str, Any], update_id: str = "1220aa", record_time: str = TIME, **members: Any) -> dict[str, Any]:
    return {
        "update": {
            "update_id": update_id,
            "migration_id": 4,
            "workflow_id": "",
            "record_time": record_time,
            "synchronizer_id": "sync::1220",
            "effective_at": "2026-11-01T00:00:00.5Z",
            "root_event_ids": [f"{update_id}:0"],
            "events_by_id": {node["event_id"]: node for node in nodes},
            **members,
        }
    }


def verdict(update_id: str = "1220aa", views: list[dict[str, Any]] | None = None, **members: Any) -> dict[str, Any]:
    return {
        "verdict": {
            "update_id": update_id,
            "migration_id": 4,
            "domain_id": "sync::1220",
            "record_time": TIME,
            "finalization_time": "2026-11-01T00:00:00.700001Z",
            "submitting_parties": ["alice"],
            "submitting_participant_uid": "validator::1",
            "verdict_result": "VERDICT_RESULT_REJECTED",
            "mediator_group": 0,
            "transaction_views": {"views": views or [], "root_views": [0]},
            **members,
        }
    }


def tables(*items: dict[str, Any]) -> dict[str, pa.Table]:
    return event_tables(decode(json.dumps({"events": items}).encode(), EventsPage, "test").events, "listing")


def frames(*items: dict[str, Any]) -> dict[str, pd.DataFrame]:
    return {name: TABLES[name].to_pandas(rows) for name, rows in tables(*items).items() if name in TABLES}


def test_no_events_give_every_table_empty() -> None:
    for name, frame in frames().items():
        pd.testing.assert_frame_equal(frame, TABLES[name].empty())


def test_tree_is_in_pre_order_with_parents_and_depths() -> None:
    # As on the wire: ids in string order, 10 before 2.
    nodes = [
        node(0, 1, 9),
        node(1, 2),
        *(node(number, number + 1) for number in range(2, 8)),
        node(8),
        node(9, 10),
        node(10, create_arguments={}),
    ]
    tree = frames(transaction(*sorted(nodes, key=lambda item: item["event_id"])))["tree_events"]
    assert tree["node_index"].tolist() == list(range(11))
    assert tree["depth"].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2]
    assert tree["parent_event_id"].tolist()[1:] == [f"1220aa:{number}" for number in (0, 1, 2, 3, 4, 5, 6, 7, 0, 9)]
    assert pd.isna(tree["parent_event_id"][0])


def test_leading_hash_of_old_event_ids_is_stripped() -> None:
    item = json.loads(json.dumps(transaction(node(0, 1), node(1))).replace('"1220aa:', '"#1220aa:'))
    tables = frames(item)
    assert tables["tree_events"]["event_id"].tolist() == ["1220aa:0", "1220aa:1"]
    assert tables["tree_events"]["parent_event_id"][1] == "1220aa:0"
    assert tables["updates"]["root_event_ids"][0] == ["1220aa:0"]


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ("Done_Result", '"Done_Result"'),
        ([], "[]"),
        ({}, "{}"),
        ({"x": "0E-10"}, '{"x": "0E-10"}'),
        ("1.50", '"1.50"'),
        (None, None),
    ],
)
def test_exercise_result_of_any_type_is_kept_as_text(result: object, kept: str | None) -> None:
    value = frames(transaction(node(0, exercise_result=result)))["tree_events"]["exercise_result"][0]
    assert value == kept if kept is not None else pd.isna(value)


def test_template_id_splits_at_the_first_colon_only() -> None:
    row = frames(transaction(node(0, template_id="ab12:A.B.C:Entity")))["tree_events"].iloc[0]
    assert (row["package_id"], row["template_name"]) == ("ab12", "A.B.C:Entity")


@pytest.mark.parametrize("fraction", ["", ".1", ".12", ".123", ".1234", ".12345", ".123456", ".123456789"])
def test_times_with_any_number_of_digits(fraction: str) -> None:
    created_at = f"2026-11-01T00:00:00{fraction}Z"
    value = frames(transaction(node(0, create_arguments={}, created_at=created_at)))["tree_events"]["created_at"][0]
    assert value == pd.Timestamp(created_at[:26].rstrip("Z") + "Z")


def test_year_one_does_not_overflow() -> None:
    early = "0001-01-01T00:00:00.000000Z"
    assert frames(transaction(node(0), record_time=early))["updates"]["record_time"][0].year == 1


def test_rejected_request_has_a_verdict_and_nothing_else() -> None:
    tables = frames({**verdict(), "update": None, "traffic_summary": None, "app_activity_records": None})
    assert {name: len(frame) for name, frame in tables.items() if len(frame)} == {"verdicts": 1}
    assert not tables["verdicts"]["update_visible"][0]
    assert tables["verdicts"]["id_source"][0] == "listing"


def without(name: str, content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key != name}


def test_null_and_absent_mean_the_same() -> None:
    item = verdict(mediator_group=None)
    absent = {"verdict": without("mediator_group", item["verdict"])}
    null = frames({**item, "app_activity_records": {"round_number": 3, "records": None}})
    for name, frame in frames({**absent, "app_activity_records": {"round_number": 3}}).items():
        pd.testing.assert_frame_equal(frame, null[name])
    assert null["verdicts"]["mediator_group"].tolist() == [0]
    assert null["activity_records"].empty


def test_of_two_verdicts_at_one_record_time_the_first_decided_counts_and_the_other_is_named() -> None:
    early = {"verdict_result": "VERDICT_RESULT_ACCEPTED", "finalization_time": "2026-11-01T00:00:00.7Z"}
    later = {**verdict(), "traffic_summary": {"total_traffic_cost": 9, "envelope_traffic_summaries": [{"traffic_cost": 9}] * 3}}
    for items in permutations([later, verdict(**early), verdict("1220bb")]):
        built = frames(*items)
        assert built["verdicts"]["verdict_result"].tolist() == ["VERDICT_RESULT_ACCEPTED", "VERDICT_RESULT_REJECTED"]
        assert len(built["traffic"]) == len(built["envelopes"]) == 0
        dropped = tables(*items)["dropped_rows"].to_pylist()
        expected = [("envelopes", 3), ("traffic", 1), ("verdicts", 1)]
        assert [(row["table"], row["rows"]) for row in dropped] == expected
        assert {(row["update_id"], row["problem"]) for row in dropped} == {("1220aa", "second verdict")}


def test_of_copies_of_an_event_the_one_with_more_parts_counts() -> None:
    traffic = {"traffic_summary": {"total_traffic_cost": 9, "envelope_traffic_summaries": []}}
    for items in permutations([verdict(), {**verdict(), **traffic}, {**transaction(node(0)), **verdict(), **traffic}]):
        built = frames(*items)
        assert built["verdicts"]["update_visible"].tolist() == [True]
        assert (len(built["updates"]), len(built["traffic"])) == (1, 1)


def test_equal_finalization_times_are_told_apart_by_the_result() -> None:
    for items in permutations([verdict(), verdict(verdict_result="VERDICT_RESULT_ACCEPTED")]):
        assert frames(*items)["verdicts"]["verdict_result"].tolist() == ["VERDICT_RESULT_ACCEPTED"]


def test_old_history_without_verdict_has_an_update_only() -> None:
    tables = frames({**transaction(node(0)), "verdict": None})
    assert (len(tables["updates"]), len(tables["verdicts"]), len(tables["traffic"])) == (1, 0, 0)


def test_views_know_their_parents_and_quorums_their_number() -> None:
    quorum = {"parties": ["a", "b"], "threshold": 2}
    views = [
        {"view_id": 1, "informees": ["b"], "confirming_parties": None, "sub_views": [2], "view_hash": ""},
        {
            "view_id": 0,
            "informees": ["a"],
            "confirming_parties": [quorum, {"parties": ["c"], "threshold": 1}],
            "sub_views": [1],
            "view_hash": "",
        },
        {"view_id": 2, "informees": [], "confirming_parties": [quorum], "sub_views": [], "view_hash": ""},
    ]
    tables = frames(
        verdict(views=views), verdict("1220bb", [{"view_id": 0, "sub_views": None}], record_time="2026-11-01T00:00:01.000000Z")
    )
    assert tables["views"]["view_id"].tolist() == [0, 1, 2, 0]
    assert tables["views"]["parent_view_id"].tolist() == [pd.NA, 0, 1, pd.NA]
    assert tables["views"]["quorum_count"].tolist() == [2, 0, 1, 0]
    assert tables["quorums"][["view_id", "quorum_index", "threshold"]].to_numpy().tolist() == [[0, 0, 2], [0, 1, 1], [2, 0, 2]]
    assert tables["verdicts"]["view_count"].tolist() == [3, 1]


@pytest.mark.parametrize("name", ["envelope_traffic_summaries", "envelope_traffic_costs"])
def test_envelopes_under_their_old_and_new_name(name: str) -> None:
    summary = {
        "total_traffic_cost": 5155,
        name: [{"traffic_cost": 1444, "view_ids": []}, {"traffic_cost": 3711, "view_ids": [0]}],
    }
    tables = frames({**verdict(), "traffic_summary": summary})
    assert tables["traffic"]["total_traffic_cost"].tolist() == [5155]
    assert tables["envelopes"]["traffic_cost"].tolist() == [1444, 3711]
    assert [list(ids) for ids in tables["envelopes"]["view_ids"]] == [[], [0]]


def test_activity_of_weight_zero_is_a_row() -> None:
    records = {"round_number": 7, "records": [{"party": "b", "weight": 0}, {"party": "a", "weight": 3}]}
    rows = frames({**verdict(), "app_activity_records": records})["activity_records"]
    assert rows[["round_number", "party", "weight"]].to_numpy().tolist() == [[7, "a", 3], [7, "b", 0]]


def test_reassignments_are_told_apart_without_a_discriminator() -> None:
    shared = {
        "submitter": "s",
        "source_synchronizer": "x",
        "target_synchronizer": "y",
        "migration_id": 4,
        "unassign_id": "00ab",
        "reassignment_counter": 1,
    }
    created = node(0, update_id="1220bb", create_arguments={"a": 1})
    out = {"update": {"update_id": "1220aa", "offset": "1", "record_time": TIME, "event": {**shared, "contract_id": "00c"}}}
    into = {"update": {"update_id": "1220bb", "offset": "1", "record_time": TIME, "event": {**shared, "created_event": created}}}
    tables = frames(into, out)
    rows = tables["reassignments"]
    assert rows["kind"].tolist() == ["unassignment", "assignment"]
    assert rows["contract_id"].tolist() == ["00c", "000"]
    assert rows["create_arguments"].tolist()[1] == '{"a": 1}'
    assert pd.isna(rows["template_id"][0])
    assert tables["updates"]["kind"].tolist() == ["reassignment", "reassignment"]
    assert len(tables["tree_events"]) == 0


def test_unknown_members_land_in_extra() -> None:
    tables = frames({**transaction(node(0, mood="good"), flavour="sweet"), **verdict(colour=1)})
    assert tables["tree_events"]["extra"].tolist() == ['{"mood":"good"}']
    assert tables["updates"]["extra"].tolist() == ['{"flavour":"sweet"}']
    assert tables["verdicts"]["extra"].tolist() == ['{"colour":1}']


def test_unknown_members_of_objects_without_a_row_stand_at_their_owner() -> None:
    accepted = {**transaction(node(0)), **verdict(), "mood": 1}
    accepted["verdict"]["transaction_views"]["colour"] = 2
    accepted["app_activity_records"] = {"round_number": 7, "records": [{"party": "a", "weight": 3}], "taste": 3}
    tables = frames(accepted, {**verdict("1220bb"), "weather": 4})
    assert json.loads(tables["updates"]["extra"][0]) == {"event": {"mood": 1}}
    assert [json.loads(text) for text in tables["verdicts"]["extra"]] == [
        {"transaction_views": {"colour": 2}},
        {"event": {"weather": 4}},
    ]
    assert json.loads(tables["activity_records"]["extra"][0]) == {"app_activity_records": {"taste": 3}}


@pytest.mark.parametrize("item", [verdict(mediator_group=2**31), transaction(node(0, event_id="1220aa:99999999999"))])
def test_a_number_that_no_column_can_hold_is_a_decode_error(item: dict[str, Any]) -> None:
    with pytest.raises(DecodeError, match="larger than the API allows"):
        frames(item)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"traffic_summary": {"total_traffic_cost": 1}}, "neither update nor verdict"),
        ({"update": {"update_id": "a", "record_time": TIME}}, "neither a transaction"),
        (transaction(node(0, 5)), "not in its tree"),
        (transaction(node(0), node(1, 0)), "not in pre-order"),
        *(
            (transaction({**node(0), "event_id": event_id}), "does not end in the number")
            for event_id in ("no-number", "", "7", ":", "1220aa:", "1220aa:x", "1220aa:1x", "1220aa:-1", "1220aa: 1", "1220aa:1é")
        ),
        (transaction({**node(0), "event_id": f"1220aa:{10**18}"}), "does not end in the number"),
        (transaction({**node(0), "event_id": f"1220aa:{10**10}"}), "larger than the API allows"),
        (transaction(node(0), record_time="yesterday"), "not a time"),
        (verdict(views=[{"view_id": 0, "sub_views": [3]}]), "sub-view"),
        ({**transaction(node(0)), **verdict("1220bb")}, "and the verdict on"),
    ],
)
def test_what_contradicts_itself_is_refused(item: dict[str, Any], reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        frames(item)


RECORDS = {"round_number": 7, "records": [{"party": "a", "weight": 5}, {"party": "b", "weight": 1}, {"party": "a", "weight": 5}]}


@pytest.mark.parametrize(
    ("item", "table", "key"),
    [
        ({**verdict(), "app_activity_records": RECORDS}, "activity_records", "party a"),
        (verdict(views=[{"view_id": 3}, {"view_id": 0}, {"view_id": 3}]), "views", "view_id 3"),
        (
            transaction(events_by_id={"x": node(0, 1), "y": node(1), "z": node(1)}),
            "tree_events",
            "event_id 1220aa:1",
        ),
    ],
)
def test_two_parts_of_one_key_are_refused(item: dict[str, Any], table: str, key: str) -> None:
    with pytest.raises(DecodeError, match=f"Table {table}: two rows have the key .*{key}, where the API promises one"):
        frames(verdict("1220bb"), item)


def test_neighbors_of_one_key_at_two_times_are_left_to_the_frames() -> None:
    views = [{"view_id": 0, "informees": ["b"]}]
    later = verdict(views=views, record_time="2026-11-02T00:00:00.000000Z")
    assert len(frames(verdict(views=views), later)["views"]) == 2


def test_a_child_must_be_in_the_tree_of_its_own_update() -> None:
    other = transaction(node(0, update_id="1220bb"), update_id="1220bb")
    with pytest.raises(DecodeError, match=r"lists the child 1220bb:0, which is not in its tree"):
        frames(transaction({**node(0), "child_event_ids": ["1220bb:0"]}), other)


@settings(max_examples=20)
@given(st.permutations(range(6)))
def test_order_of_items_does_not_matter(order: list[int]) -> None:
    items = [
        {
            **transaction(node(0, 1, update_id=f"1220{n}"), node(1, update_id=f"1220{n}"), update_id=f"1220{n}"),
            **verdict(f"1220{n}"),
        }
        for n in range(6)
    ]
    for n, item in enumerate(items):
        time = f"2026-11-01T00:00:{n // 2:02}.000000Z"  # pairs share a record time
        item["update"]["record_time"] = item["verdict"]["record_time"] = time
    assert tables(*(items[n] for n in order)) == tables(*items)


@given(st.lists(st.integers(0, 10**9), unique=True, max_size=30))
def test_node_numbers_are_read_whatever_their_length(numbers: list[int]) -> None:
    event_ids = pa.array([f"1220{number * 7:x}:{number}" for number in numbers], pa.string())
    assert node_numbers(event_ids).tolist() == numbers


@settings(max_examples=20)
@given(st.permutations(range(12)))
def test_order_of_nodes_does_not_matter(order: list[int]) -> None:
    nodes = [node(0, *range(1, 11)), *(node(number) for number in range(1, 10)), node(10, 11), node(11)]
    other = transaction(node(0, 1, update_id="1220bb"), node(1, update_id="1220bb"), update_id="1220bb")
    found = tables(transaction(*(nodes[number] for number in order)), other)["tree_events"]
    assert found == tables(transaction(*nodes), other)["tree_events"]
    assert found["node_index"].to_pylist() == [*range(12), 0, 1]


def test_a_large_tree_is_in_order_of_its_numbers() -> None:
    rows = frames(transaction(node(0, *range(1, 1200)), *(node(number) for number in range(1, 1200))))["tree_events"]
    assert rows["node_index"].tolist() == list(range(1200))
    assert rows["event_id"].tolist() == [f"1220aa:{number}" for number in range(1200)]
    assert rows["depth"].tolist() == [0] + [1] * 1199


def test_recorded_events_have_the_rows_one_counts_by_hand(fixtures: Any) -> None:
    def load(name: str) -> dict[str, pd.DataFrame]:
        event = decode((fixtures / name).read_bytes(), Event, name)
        return {table: TABLES[table].to_pandas(rows) for table, rows in event_tables([event], "user").items()}

    rejected = load("v0_event_rejected_verdict_only.json")
    assert (len(rejected["updates"]), len(rejected["verdicts"]), len(rejected["views"]), len(rejected["quorums"])) == (0, 1, 1, 2)
    accepted = load("v0_event_accepted_with_subviews.json")
    assert (len(accepted["updates"]), len(accepted["tree_events"]), len(accepted["views"])) == (1, 3, 2)
    assert accepted["tree_events"]["exercise_result"][1].startswith('"ValidatorLivenessActivityRecord')
    assert accepted["views"]["parent_view_id"].tolist() == [pd.NA, 0]


@pytest.mark.parametrize("payload", ["null", "true", '"nil"', "{}", '"\\u00e9"', '"é"'])
def test_payloads_next_to_missing_ones_stay_as_they_came(payload: str) -> None:
    item = json.dumps(transaction(node(0, 1, 2), node(1, exercise_result="HERE"), node(2, create_arguments={"a": 1})))
    body = f'{{"events":[{item}]}}'.replace('"HERE"', payload).encode()
    rows = event_tables(decode(body, EventsPage, "x").events, "listing")["tree_events"]
    assert rows["exercise_result"].to_pylist() == ["{}", None if payload == "null" else payload, None]
    assert rows["create_arguments"].to_pylist() == [None, None, '{"a": 1}']


def test_event_types_left_out_follow_from_the_choice() -> None:
    created = {**node(1, create_arguments={}), "event_type": None}
    rows = frames(transaction({**node(0, 1), "event_type": None}, created))["tree_events"]
    assert rows["event_type"].tolist() == ["exercised_event", "created_event"]


@pytest.mark.parametrize("event_id", ["1220aa:", "1220aa:1x", "1220aa:-1", ""])
def test_an_event_id_must_end_in_a_number(event_id: str) -> None:
    with pytest.raises(DecodeError, match="does not end in the number"):
        frames(transaction(node(0), {**node(1), "event_id": event_id}))


def test_a_verdict_at_a_later_record_time_is_left_to_the_frames() -> None:
    later = verdict(record_time="2026-11-01T00:00:01.000000Z")
    assert len(frames(later, verdict())["verdicts"]) == 2
    assert "dropped_rows" not in tables(later, verdict())


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"record_time": "2026-11-01T00:00:00.000001Z"}, "has the record time .*00Z, but its verdict .*01Z"),
        ({"migration_id": 5}, "is of migration 4, but its verdict is of migration 5"),
    ],
)
def test_an_update_and_its_verdict_agree_on_their_place(members: dict[str, Any], reason: str) -> None:
    with pytest.raises(DecodeError, match=f"1220aa {reason}"):
        frames({**transaction(node(0)), **verdict(**members)})


def test_one_time_may_be_written_in_two_ways() -> None:
    assert len(frames({**transaction(node(0)), **verdict(record_time="2026-11-01T00:00:00Z")})["updates"]) == 1


@pytest.mark.parametrize("roots", [["1220aa:0", "1220aa:7"], ["1220bb:0"], ["1220aa:00"]])
def test_a_root_is_a_node_of_its_tree(roots: list[str]) -> None:
    with pytest.raises(DecodeError, match=f"Update 1220aa lists the root {roots[-1]}, which is not in its tree"):
        frames(transaction(node(0), root_event_ids=roots), transaction(node(0, update_id="1220bb"), update_id="1220bb"))


def test_an_update_without_nodes_has_no_root() -> None:
    assert len(frames(transaction(root_event_ids=[]))["updates"]) == 1
    with pytest.raises(DecodeError, match="lists the root 1220aa:0"):
        frames(transaction())
