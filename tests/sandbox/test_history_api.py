"""The history API: look-ups, listings, their cursors, and refusals."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerframes.sandbox import Sandbox

from .conftest import client_of, cursor_of, read_all

UNKNOWN = "1220" + "ab" * 32


def text_of(item: dict[str, Any]) -> str:
    return str((item["verdict"] or item["update"])["record_time"])


def wire_time(box: Sandbox, seconds_before_now: float) -> str:
    return (box.now - timedelta(seconds=seconds_before_now)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_the_listing_is_the_world_up_to_the_slower_stream(client: httpx.Client, box: Sandbox, items: Any) -> None:
    end = wire_time(box, 90)
    expected = [item for item in items if text_of(item) < end]
    assert read_all(client) == expected
    assert len(expected) < len(items)


def test_updates_are_listed_without_waiting_for_verdicts(client: httpx.Client, box: Sandbox, items: Any) -> None:
    end = wire_time(box, 45)
    assert read_all(client, "/v2/updates") == [item["update"] for item in items if item["update"] and text_of(item) < end]


@given(st.integers(1, 300), st.integers(0, 2900))
@settings(max_examples=15, deadline=None)
def test_pages_of_any_size_continue_where_the_cursor_stands(box: Sandbox, items: Any, size: int, position: int) -> None:
    body = {"page_size": size, "after": cursor_of(items[position])}
    page = client_of(box).post("/v0/events", json=body).json()["events"]
    visible = [item for item in items if text_of(item) < wire_time(box, 90)]
    assert page == visible[position + 1 : position + 1 + size]


@pytest.mark.parametrize(
    ("after", "first"),
    [
        ({"after_migration_id": 0, "after_record_time": "2024-06-24T00:00:00Z"}, 0),
        ({"after_migration_id": 2, "after_record_time": "2027-01-01T00:00:00Z"}, 0),
        ({"after_migration_id": 3, "after_record_time": "0001-01-01T00:00:00Z"}, 0),
        ({"after_migration_id": 3, "after_record_time": "2027-01-01T00:00:00+01:00"}, "second migration"),
        ({"after_migration_id": 4, "after_record_time": "2026-11-01T00:00:00.000Z"}, "second migration"),
    ],
)
def test_cursors_reach_over_migrations(client: httpx.Client, items: Any, after: Any, first: Any) -> None:
    page = client.post("/v0/events", json={"page_size": 2, "after": after}).json()["events"]
    migrations = [cursor_of(item)["after_migration_id"] for item in items]
    start = first if isinstance(first, int) else migrations.index(4)
    assert page == items[start : start + 2]


@pytest.mark.parametrize("migration_id", [4, 5])
def test_after_the_end_there_is_nothing(client: httpx.Client, migration_id: int) -> None:
    after = {"after_migration_id": migration_id, "after_record_time": "2026-11-09T06:00:00Z"}
    for path, name in (("/v0/events", "events"), ("/v2/updates", "transactions")):
        answer = client.post(path, json={"page_size": 10, "after": after})
        assert (answer.status_code, answer.json()) == (200, {name: []})


def test_events_are_found_by_id(client: httpx.Client, box: Sandbox, items: Any) -> None:
    for event, item in list(zip(box.world.events(), items, strict=True))[:2900:58]:
        assert client.get(f"/v0/events/{event.update_id}").json() == item


def test_updates_are_found_by_id_unless_nobody_may_see_them(client: httpx.Client, box: Sandbox, items: Any) -> None:
    statuses = set()
    for event, item in list(zip(box.world.events(), items, strict=True))[:2900:34]:
        answer = client.get(f"/v2/updates/{event.update_id}")
        statuses.add(answer.status_code)
        if item["update"]:
            assert answer.json() == item["update"]
        else:
            assert answer.status_code == 404
            assert set(answer.json()) == {"error"}
    assert statuses == {200, 404}


def test_the_first_version_marks_event_ids(client: httpx.Client, updates: Any) -> None:
    update = updates[700]
    response = client.get(f"/v0/updates/{update['update_id']}").json()
    assert response["root_event_ids"] == [f"#{root}" for root in update["root_event_ids"]]
    assert isinstance(response["offset"], str)
    for key, node in update["events_by_id"].items():
        assert response["events_by_id"][f"#{key}"]["event_id"] == f"#{key}"
        children = [f"#{child}" for child in node.get("child_event_ids", [])]
        assert response["events_by_id"][f"#{key}"].get("child_event_ids", []) == children


def test_offsets_of_the_first_version_increase_along_the_history(client: httpx.Client, updates: Any) -> None:
    chosen = updates[:: len(updates) // 40]
    offsets = [client.get(f"/v0/updates/{update['update_id']}").json()["offset"] for update in chosen]
    assert offsets == sorted(set(offsets), key=int)
    assert {len(offset) for offset in offsets} == {18}


def test_look_ups_near_the_end_answer_in_part(client: httpx.Client, box: Sandbox) -> None:
    near = list(box.world.events(box.now - timedelta(seconds=90)))
    fresh = [event for event in near if event.record_time >= box.world.timeline.now - 45_000_000]
    assert near
    for event in near:
        answer = client.get(f"/v0/events/{event.update_id}")
        if event in fresh or event.update == b"null":
            assert answer.status_code == 404
        else:
            assert answer.json()["update"] == json.loads(event.update)
            assert answer.json()["verdict"] is None


@pytest.mark.parametrize("path", ["/v0/events/", "/v2/updates/", "/v0/updates/"])
def test_unknown_ids_are_not_found(client: httpx.Client, path: str) -> None:
    for identifier in (UNKNOWN, "x", "%23", "a%2Fb", UNKNOWN * 20):
        answer = client.get(path + identifier)
        assert answer.status_code == 404
        assert list(answer.json()) == ["error"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"{", True),
        (b"", True),
        (b"[]", True),
        (b"{}", True),
        (b'{"page_size":"5"}', True),
        (b'{"page_size":0}', False),
    ]
    + [
        (json.dumps(body).encode(), plain)
        for body, plain in (
            ({"page_size": 1001}, False),
            ({"page_size": 5, "lang_value_encoding": "pretty"}, False),
            ({"page_size": 5, "lang_value_encoding": ["compact_json"]}, False),
            ({"page_size": 5, "after": 7}, True),
            ({"page_size": 5, "after": {"after_migration_id": 3}}, True),
            ({"page_size": 5, "after": {"after_migration_id": "3", "after_record_time": "x"}}, True),
            ({"page_size": 5, "after": {"after_migration_id": 3, "after_record_time": "yesterday"}}, False),
            (
                {
                    "page_size": 5,
                    "after": {"after_migration_id": 3, "after_record_time": "2026-11-08T00:00:00"},
                },
                False,
            ),
            ({"page_size": 5, "after": {"after_migration_id": 3, "after_record_time": 5}}, False),
        )
    ],
)
def test_bad_requests_are_refused(client: httpx.Client, body: bytes, text: bool) -> None:
    for path in ("/v0/events", "/v2/updates"):
        answer = client.post(path, content=body)
        assert answer.status_code == 400
        if text:
            assert answer.headers["content-type"].startswith("text/plain")
            assert answer.text.startswith("The request content was malformed:")
        else:
            assert list(answer.json()) == ["error"]


def test_a_bad_encoding_is_refused_in_the_query(client: httpx.Client, updates: Any) -> None:
    answer = client.get(f"/v0/events/{updates[0]['update_id']}", params={"lang_value_encoding": "x"})
    assert answer.status_code == 400


def test_unknown_routes_and_wrong_methods(client: httpx.Client) -> None:
    answer = client.get("/v0/nothing")
    assert (answer.status_code, answer.text) == (404, "The requested resource could not be found.")
    assert answer.headers["content-type"].startswith("text/plain")
    assert client.get("/v0/events").status_code == 405


@pytest.mark.parametrize("base_url", ["http://sandbox.invalid/api/scan", "http://sandbox.invalid"])
def test_the_api_answers_with_and_without_its_prefix(box: Sandbox, base_url: str) -> None:
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=base_url)
    for probe in ("/readyz", "/livez"):
        assert (client.get(probe).status_code, client.get(probe).content) == (200, b"")
    assert set(client.get("/version").json()) == {"version", "commit_ts"}
    assert client.get("/status").json()["success"]["active"] is True
    assert client.post("/v0/events", json={"page_size": 1}).json()["events"]
