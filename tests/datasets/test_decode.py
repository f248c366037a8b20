from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.datasets._extensions import Extensions
from ledgerframes.datasets.decode import decode, move_extras
from ledgerframes.datasets.events.wire import ActivityRecords, Event, EventsPage, TrafficSummary, View
from ledgerframes.errors import DecodeError

VERDICT = {
    "update_id": "a",
    "migration_id": 4,
    "domain_id": "d",
    "record_time": "2026-11-01T00:00:00.000000Z",
    "finalization_time": "2026-11-01T00:00:01.000000Z",
    "verdict_result": "VERDICT_RESULT_ACCEPTED",
    "submitting_participant_uid": "p",
}


def page(*events: object) -> bytes:
    return json.dumps({"events": events}).encode()


def test_null_and_absent_are_the_same() -> None:
    null = {"update": None, "verdict": VERDICT, "traffic_summary": None, "app_activity_records": None}
    assert decode(page(null), EventsPage, "x") == decode(page({"verdict": VERDICT}), EventsPage, "x")


@pytest.mark.parametrize("number", [0, 7, -1, 2**53 + 1, 2**63 - 1])
def test_integers_may_come_as_text(number: int) -> None:
    as_number = json.dumps({"total_traffic_cost": number}).encode()
    as_text = json.dumps({"total_traffic_cost": str(number)}).encode()
    assert decode(as_number, TrafficSummary, "x").total_traffic_cost == number
    assert decode(as_text, TrafficSummary, "x").total_traffic_cost == number


@pytest.mark.parametrize("number", ["1.5", "", "twelve", 1.5, True, None])
def test_what_is_no_integer_is_refused(number: object) -> None:
    with pytest.raises(DecodeError, match="total_traffic_cost"):
        decode(json.dumps({"total_traffic_cost": number}).encode(), TrafficSummary, "x")


def test_unknown_members_are_kept_at_every_level() -> None:
    strange = {
        "verdict": {
            **VERDICT,
            "mood": "good",
            "transaction_views": {"views": [{"view_id": 0, "colour": "blue"}], "root_views": []},
        },
        "weather": {"sun": [1]},
    }
    event = decode(page(strange, {"verdict": VERDICT}), EventsPage, "x").events[0]
    assert event.verdict is not None
    assert event.verdict.transaction_views is not None
    assert bytes(event.extra) == b'{"weather":{"sun": [1]}}'
    assert bytes(event.verdict.extra) == b'{"mood":"good"}'
    assert bytes(event.verdict.transaction_views.views[0].extra) == b'{"colour":"blue"}'


def test_unknown_members_leave_payload_bytes_alone() -> None:
    body = (
        b'{"update":{"new":1,"update_id":"a","record_time":"t","migration_id":1,"events_by_id":{"a:0":{"event_id":"a:0",'
        b'"contract_id":"c","template_id":"p:M:E","create_arguments":{"x": 1.50, "y":"0E-10"}}}}}'
    )
    update = decode(body, Event, "x").update
    assert update is not None
    assert update.events_by_id is not None
    assert bytes(update.events_by_id["a:0"].create_arguments) == b'{"x": 1.50, "y":"0E-10"}'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values))
def test_no_unknown_member_is_lost(strange: dict[str, object]) -> None:
    known = {"view_id", "informees", "confirming_parties", "sub_views", "view_hash"}
    strange = {name: value for name, value in strange.items() if name not in known}
    view = decode(json.dumps({"view_id": 1, **strange}).encode(), View, "x")
    assert (json.loads(bytes(view.extra)) if bytes(view.extra) else {}) == strange


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (page({"update": 5}), "$.events[0].update"),
        (page({"verdict": VERDICT}, {"verdict": {**VERDICT, "record_time": 3}}), "$.events[1].verdict.record_time"),
        (page({"new": 1, "verdict": {**VERDICT, "migration_id": "x"}}), "$.events[0].verdict.migration_id"),
        (b'{"error":"no"}', "$"),
        (b"[]", "$"),
    ],
)
def test_what_is_no_event_names_its_json_path(body: bytes, path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(body, EventsPage, "POST /v0/events")
    assert caught.value.json_path == path
    assert caught.value.endpoint == "POST /v0/events"
    assert path in str(caught.value)


@pytest.mark.parametrize("body", [b"", b"<html>busy</html>", b'{"events":[{"upd', b'{"events":[]} trailing', b"\xff\xfe"])
def test_what_is_no_json_says_how_it_begins(body: bytes) -> None:
    with pytest.raises(DecodeError, match="not JSON"):
        decode(body, EventsPage, "POST /v0/events")


def test_moving_leaves_what_has_the_wrong_shape_to_the_decoder() -> None:
    assert move_extras(b'{"records":7}', ActivityRecords, Extensions(), {}) == b'{"records":7}'
    assert move_extras(msgspec.Raw(b"null"), View | None, Extensions(), {}) == msgspec.Raw(b"null")
