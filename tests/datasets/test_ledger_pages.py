from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ledgerframes.datasets import LEDGER_TABLES, TABLES
from ledgerframes.datasets.decode import decode
from ledgerframes.datasets.ledger.build import ledger_tables
from ledgerframes.datasets.ledger.wire import ActiveContractItem, decode_page
from ledgerframes.datasets.state.build import active_contract_table
from ledgerframes.errors import DecodeError

TIME = "2026-11-01T00:00:00.000001Z"
ME = "participant::1"


def exercised(node_id: int, last: int, **members: Any) -> dict[str, Any]:
    node = {"contractId": f"00{node_id}", "templateId": "pkg:Main:Asset", "offset": 7, "nodeId": node_id, "packageName": "asset"}
    choice = {
        "choice": "Go",
        "choiceArgument": {},
        "actingParties": ["a"],
        "consuming": True,
        "lastDescendantNodeId": last,
        "exerciseResult": None,
    }
    return {"ExercisedEvent": {**node, **choice, **members}}


def created(node_id: int, **members: Any) -> dict[str, Any]:
    node = {"contractId": f"00{node_id}", "templateId": "pkg:Main:Asset", "offset": 7, "nodeId": node_id, "packageName": "asset"}
    return {
        "CreatedEvent": {
            **node,
            "createArgument": {"n": "1"},
            "createdAt": TIME,
            "signatories": ["a"],
            "observers": [],
            **members,
        }
    }


def transaction(*events: dict[str, Any], offset: int = 7, **members: Any) -> dict[str, Any]:
    value = {
        "updateId": f"1220{offset}",
        "offset": offset,
        "recordTime": TIME,
        "effectiveAt": TIME,
        "synchronizerId": "s::1",
        "events": list(events),
    }
    return {"update": {"Transaction": {"value": {**value, **members}}}}


REASSIGNMENT = {
    "value": {"updateId": "1", "offset": 7, "recordTime": TIME, "synchronizerId": "s", "events": []},
}


def topology(*events: dict[str, Any]) -> dict[str, Any]:
    return {"update": {"TopologyTransaction": {"value": {**REASSIGNMENT["value"], "events": events}}}}


def page(*items: dict[str, Any], **members: Any) -> bytes:
    head = {"lowestPageOffsetExclusive": 0, "highestPageOffsetInclusive": 9, "nextPageToken": None}
    return json.dumps({"updates": items, **head, **members}).encode()


def frames(body: bytes, *, trees: bool = True) -> dict[str, pd.DataFrame]:
    tables = ledger_tables(decode_page(body).updates or [], ME, trees=trees)
    return {name: TABLES[name].to_pandas(rows) for name, rows in tables.items()}


@pytest.fixture
def recorded(fixtures: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((fixtures / "made" / "get_updates_page_all_variants.json").read_text())
    return loaded


def test_an_empty_page_gives_every_table_empty() -> None:
    for spec in LEDGER_TABLES:
        pd.testing.assert_frame_equal(frames(page())[spec.name], spec.empty())


def test_all_kinds_of_update_load(recorded: dict[str, Any]) -> None:
    tables = frames(json.dumps(recorded).encode())
    assert tables["ledger_updates"]["kind"].tolist() == ["transaction", "reassignment", "reassignment", "topology"]
    assert tables["ledger_updates"]["paid_traffic_cost"].tolist() == [2841, pd.NA, pd.NA, pd.NA]
    assert tables["ledger_events"]["event_type"].tolist() == ["created_event", "exercised_event", "created_event"]
    assert tables["ledger_reassignments"]["kind"].tolist() == ["unassignment", "assignment"]
    assert tables["ledger_topology"]["change"].tolist() == ["added", "changed", "revoked"]
    assert pd.isna(tables["ledger_topology"]["participant_permission"][2])
    assert tables["ledger_reassignments"]["contract_id"].notna().all()


def _wrapped_the_other_way(page: dict[str, Any]) -> dict[str, Any]:
    """Every one-of with `value` where the specification has none, and without where it has one."""
    page = copy.deepcopy(page)
    for item in page["updates"]:
        ((kind, wrapped),) = item["update"].items()
        content = wrapped["value"]
        for event in content["events"]:
            for name in list(event):
                if name == "event":
                    ((change, inner),) = event.pop("event").items()
                    event[change] = inner.get("value", inner)
                elif name == "JsUnassignedEvent":
                    event[name] = event[name]["value"]
                else:
                    event[name] = {"value": event[name]}
        item["update"] = {kind: content}
    return page


def test_one_ofs_wrapped_the_other_way_load_alike(recorded: dict[str, Any]) -> None:
    expected = frames(json.dumps(recorded, separators=(",", ":")).encode())
    other = frames(json.dumps(_wrapped_the_other_way(recorded)).encode())
    for name, frame in expected.items():
        pd.testing.assert_frame_equal(other[name], frame, obj=name)


def test_trees_are_rebuilt_from_node_ids_with_gaps() -> None:
    events = [exercised(0, 9), exercised(2, 5), created(4), created(7), exercised(11, 11)]
    rows = frames(page(transaction(*events)))["ledger_events"]
    assert rows["node_id"].tolist() == [0, 2, 4, 7, 11]
    assert rows["parent_node_id"].tolist() == [pd.NA, 0, 2, 0, pd.NA]
    assert rows["depth"].tolist() == [0, 1, 2, 1, 0]


def test_acs_delta_has_no_tree() -> None:
    rows = frames(
        page(transaction(created(0), {"ArchivedEvent": {"contractId": "00", "templateId": "p:M:E", "nodeId": 3}})), trees=False
    )
    assert rows["ledger_events"]["event_type"].tolist() == ["created_event", "archived_event"]
    assert rows["ledger_events"][["parent_node_id", "depth"]].isna().all(axis=None)


def test_numbers_may_come_as_text_and_times_with_any_digits() -> None:
    item = transaction(
        created(0), paidTrafficCost="12", effectiveAt="2026-11-01T00:00:00Z", recordTime="2026-11-01T00:00:00.123456789Z"
    )
    row = frames(page(item, lowestPageOffsetExclusive="0"))["ledger_updates"].iloc[0]
    assert row["paid_traffic_cost"] == 12
    assert row["record_time"] == pd.Timestamp("2026-11-01T00:00:00.123456Z")


def test_shapes_before_3_4_lack_members_without_failing(fixtures: Path) -> None:
    value = json.loads((fixtures / "transaction_by_offset_acs_delta.json").read_text())["transaction"]
    rows = frames(page({"update": {"Transaction": {"value": value}}}), trees=False)
    assert len(rows["ledger_events"]) == len(value["events"])
    assert rows["ledger_events"]["acs_delta"].isna().all()
    assert rows["ledger_updates"]["paid_traffic_cost"].isna().all()


def test_two_updates_at_one_offset_are_refused() -> None:
    with pytest.raises(DecodeError, match="Updates 12207 and 1220x have the same offset 7"):
        frames(page(transaction(), transaction(offset=8), transaction(updateId="1220x")))


def test_two_events_of_one_node_are_refused() -> None:
    events = [created(0), created(3), created(0)]
    with pytest.raises(DecodeError, match=r"Table ledger_events: two rows have the key .*offset 7, node_id 0, where"):
        frames(page(transaction(*events)))
    assert len(frames(page(transaction(created(0)), transaction(created(0), offset=8, updateId="1220x")))["ledger_events"]) == 2


def test_unknown_members_are_kept() -> None:
    tables = frames(page(transaction(created(0, mood="good"), flavour="sweet")))
    assert tables["ledger_events"]["extra"].tolist() == ['{"mood":"good"}']
    assert tables["ledger_updates"]["extra"].tolist() == ['{"flavour":"sweet"}']


def test_checkpoints_hold_no_update(fixtures: Path) -> None:
    checkpoint = {"update": {"OffsetCheckpoint": {"value": {"offset": 9, "synchronizerTimes": []}}}}
    assert len(frames(page(checkpoint))["ledger_updates"]) == 0


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (page(transaction({})), r"of update 12207 has no kind"),
        (page({"update": {"Surprise": {"value": {}}}}), "of the kind 'Surprise', which this version does not know"),
        (
            page({"update": {**transaction()["update"], "Reassignment": REASSIGNMENT}}),
            r"several kinds \(transaction, reassignment\)",
        ),
        (page(transaction({**created(0), **exercised(1, 1)})), r"several kinds \(created, exercised\)"),
        (page(transaction({**created(0), "NewEvent": {}})), r"several kinds \(created, NewEvent\)"),
        (page(topology({"event": {"ParticipantRenamed": {"value": {}}}})), "of the kind 'ParticipantRenamed'"),
        (page({"update": {"Transaction": {"value": {"updateId": 3}}}}), r"updates\[0\]"),
        (page(transaction(created(0), recordTime="soon")), "not a time"),
        (b"{}", "lowestPageOffsetExclusive"),
        (b"<html>", "not JSON"),
    ],
)
def test_what_is_no_page_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(DecodeError, match=reason):
        frames(body)


@pytest.mark.parametrize("time", ["2026-11-01T00:00:00", "yesterday", "", "2026-13-01T00:00:00Z", "x" * 500])
def test_a_time_that_is_none_is_named_without_advice_for_programmers(time: str) -> None:
    """Such as to call a function of the library that parses it, if a time has no zone."""
    with pytest.raises(DecodeError, match="createdAt is not a time with a zone, such as") as caught:
        frames(page(transaction(created(0), created(1, createdAt=time))))
    assert (caught.value.json_path, caught.value.column) == ("$..createdAt", "createdAt")
    assert f"got {time[:80]!r}" in str(caught.value)
    assert not any(word in str(caught.value) for word in ("assume_timezone", "zone offset", "scalar", "Error parsing"))


@pytest.mark.parametrize("empty", [{}, {"update": None}, {"update": {}}])
def test_an_item_without_an_update_is_no_row(empty: dict[str, Any]) -> None:
    """`update` is optional in an item of a page."""
    tables = frames(page(empty, transaction(created(0)), empty))
    assert tables["ledger_updates"]["offset"].tolist() == [7]


@pytest.mark.parametrize("empty", [{}, {"event": None}, {"event": {}}, {"event": {"Empty": {}}}])
def test_a_topology_event_without_an_event_is_no_row(empty: dict[str, Any]) -> None:
    """`event` is optional in a topology event."""
    added = {"event": {"ParticipantAuthorizationAdded": {"value": {"partyId": "a", "participantId": "p"}}}}
    tables = frames(page(topology(empty, added)))
    assert tables["ledger_updates"]["event_count"].tolist() == [2]
    assert tables["ledger_topology"][["event_index", "party"]].values.tolist() == [[1, "a"]]


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (transaction(created(0))["update"], "Transaction"),
        (topology({"ParticipantAuthorizationAdded": {"value": {"partyId": "a", "participantId": "p"}}}), "ParticipantAuthor"),
    ],
)
def test_a_kind_without_the_level_around_it_is_no_empty_item(item: dict[str, Any], kind: str) -> None:
    with pytest.raises(DecodeError, match=f"has the kind '{kind}.* itself, not in a one-of"):
        frames(page(item))


OTHER = {"beside": {"value": {"deep": 1}}}


def test_unknown_members_stay_what_they_are_in_the_other_encoding() -> None:
    """Whatever some services wrap differently, a member that nobody knows is not changed."""
    value = transaction(created(0))["update"]["Transaction"]["value"]
    other = page({"update": {"Transaction": value, **OTHER}})
    assert json.loads(frames(other)["ledger_updates"]["extra"][0]) == {"item": {"update": OTHER}}
    wrapped = page(transaction({"CreatedEvent": {"value": created(0)["CreatedEvent"], **OTHER}, **OTHER}))
    assert json.loads(frames(wrapped)["ledger_events"]["extra"][0]) == {**OTHER, "event": OTHER}


def test_recorded_active_contracts_load(fixtures: Path) -> None:
    body = (fixtures / "active_contracts.json").read_bytes()
    items = decode(body, list[ActiveContractItem], "test")
    rows = TABLES["ledger_active_contracts"].to_pandas(active_contract_table(items, ME, 500))
    assert len(rows) == len(json.loads(body))
    assert set(rows["contract_state"]) == {"active"}
    assert rows["template_name"].str.contains(":").all()


def test_active_contracts_load_alike_with_a_wrapper(fixtures: Path) -> None:
    contracts = [{**item, "extraOfItem": 1} for item in json.loads((fixtures / "active_contracts.json").read_bytes())]
    contracts[0]["contractEntry"]["JsActiveContract"]["extraOfContract"] = 2
    wrapped = [
        {**item, "contractEntry": {kind: {"value": content} for kind, content in item["contractEntry"].items()}}
        for item in contracts
    ]
    expected, other = (
        active_contract_table(decode(json.dumps(items).encode(), list[ActiveContractItem], "test"), ME, 500)
        for items in (contracts, wrapped)
    )
    assert expected.num_rows == len(contracts)
    assert other.equals(expected)
