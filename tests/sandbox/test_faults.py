"""Each fault, shown; and that trying again helps."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Dropped, Faults, Sandbox

from .conftest import DAYS, EVENTS, client_of, ledger_of, update_format, wallet_of
from .conftest import PAGE as PAGE_OF_UPDATES

PAGE = {"page_size": 40, "after": {"after_migration_id": 4, "after_record_time": "2026-11-08T12:00:00Z"}}


def faulty(**faults: Any) -> httpx.Client:
    return client_of(Sandbox(1, EVENTS, DAYS, faults=Faults(**faults)))


def page(**faults: Any) -> httpx.Response:
    return faulty(**faults).post("/v0/events", json=PAGE)


@pytest.fixture
def good(client: httpx.Client) -> httpx.Response:
    return client.post("/v0/events", json=PAGE)


def test_without_faults_nothing_changes(good: httpx.Response) -> None:
    assert page().content == good.content


def test_too_many_requests() -> None:
    answer = page(too_many_requests=True)
    assert answer.status_code == 429
    assert answer.headers["content-type"].startswith("text/plain")
    assert "retry-after" not in answer.headers
    assert page(too_many_requests=True, retry_after=1).headers["retry-after"] == "1"


def test_unavailable_html() -> None:
    answer = page(unavailable_html=1)
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "text/html"


def test_dropped_connections() -> None:
    with pytest.raises(Dropped) as caught:
        page(dropped_connections=1)
    assert isinstance(caught.value, OSError)


def test_truncated_bodies(good: httpx.Response) -> None:
    answer = page(truncated_bodies=1)
    assert int(answer.headers["content-length"]) == len(good.content)
    assert answer.content == good.content[: len(good.content) // 2]


def test_html_instead_of_json() -> None:
    answer = page(html_instead_of_json=1)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html")
    assert answer.text.startswith("<!DOCTYPE html>")


def test_not_an_event(good: httpx.Response) -> None:
    events = page(not_an_event=1).json()["events"]
    assert len(events) == 40
    assert [event for event in events if event not in good.json()["events"]] == [{"update": 5}]


def without_extensions(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_extensions(entry) for key, entry in value.items() if key != "sandbox_extension"}
    return [without_extensions(entry) for entry in value] if isinstance(value, list) else value


def test_unknown_members(good: httpx.Response) -> None:
    answer = page(unknown_members=1)
    assert without_extensions(answer.json()) == good.json()
    assert answer.text.count("sandbox_extension") > 10 * 40
    for event in answer.json()["events"]:
        if event["verdict"]:
            assert "sandbox_extension" in event["verdict"]["transaction_views"]["views"][0]


def test_string_integers(good: httpx.Response) -> None:
    for event, plain in zip(page(string_integers=1).json()["events"], good.json()["events"], strict=True):
        if event["traffic_summary"]:
            assert event["traffic_summary"]["total_traffic_cost"] == str(plain["traffic_summary"]["total_traffic_cost"])
        assert event["verdict"]["migration_id"] == "4"
        assert event["verdict"]["transaction_views"] == plain["verdict"]["transaction_views"]


def test_old_service(good: httpx.Response) -> None:
    events = page(old_service=1).json()["events"]
    assert events == [{key: part for key, part in event.items() if part is not None} for event in good.json()["events"]]
    assert any(len(event) < 4 for event in events)
    single = faulty(old_service=1).get(f"/v0/events/{events[0]['verdict']['update_id']}").json()
    assert single == events[0]


def test_latency() -> None:
    client = faulty(latency_seconds=0.05)
    started = time.perf_counter()
    client.get("/readyz")
    assert time.perf_counter() - started >= 0.05


def test_not_ready() -> None:
    client = faulty(not_ready=True)
    assert (client.get("/readyz").status_code, client.get("/readyz").content) == (503, b"")
    assert client.get("/livez").status_code == 200
    for path in ("/v0/events", "/v2/updates"):
        answer = client.post(path, json=PAGE)
        assert (answer.status_code, list(answer.json())) == (503, ["error"])


def test_probes_are_spared() -> None:
    client = faulty(too_many_requests=1, dropped_connections=1, truncated_bodies=1)
    assert client.get("/version").json()["version"]


def test_a_retry_succeeds_and_is_reproducible(good: httpx.Response) -> None:
    def statuses() -> list[int]:
        client = faulty(too_many_requests=0.4, unavailable_html=0.2)
        return [client.post("/v0/events", json=PAGE).status_code for _ in range(30)]

    first = statuses()
    assert {200, 429, 503} == set(first)
    assert statuses() == first
    client = faulty(too_many_requests=0.4)
    answers = [client.post("/v0/events", json=PAGE) for _ in range(30)]
    assert all(answer.content == good.content for answer in answers if answer.status_code == 200)


def test_another_seed_of_faults_strikes_elsewhere() -> None:
    strikes = [
        [Faults(too_many_requests=0.5, seed=seed).strikes("too_many_requests", number) for number in range(50)] for seed in (0, 1)
    ]
    assert strikes[0] != strikes[1]


def test_a_probability_is_checked() -> None:
    with pytest.raises(ValueError, match="old_service=2"):
        Faults(old_service=2)


def test_payloads_are_left_alone(good: httpx.Response) -> None:
    def payloads(answer: httpx.Response) -> list[Any]:
        return [
            node.get("create_arguments", node.get("choice_argument"))
            for event in answer.json()["events"]
            if event["update"] and "events_by_id" in event["update"]
            for node in event["update"]["events_by_id"].values()
        ]

    assert json.dumps(payloads(page(unknown_members=1, string_integers=1))) == json.dumps(payloads(good))


def ledger_page(**faults: Any) -> Any:
    client = ledger_of(Sandbox(1, EVENTS, DAYS, faults=Faults(**faults)))
    return client.post(PAGE_OF_UPDATES, json={"updateFormat": update_format(), "endOffsetInclusive": 45_000}).json()


def test_response_faults_of_ledger_updates() -> None:
    plain = ledger_page()
    assert without_extensions(ledger_page(unknown_members=1)) == plain
    assert ledger_page(unknown_members=1) != plain
    for item in ledger_page(unknown_members=1)["updates"]:
        assert len(item["update"]) == 1
    text = ledger_page(string_integers=1)
    assert text["highestPageOffsetInclusive"] == str(plain["highestPageOffsetInclusive"])
    values = [next(iter(item["update"].values()))["value"] for item in text["updates"]]
    assert all(isinstance(value["offset"], str) for value in values)
    assert {"update": 5} in ledger_page(not_an_event=1)["updates"]


def test_response_faults_leave_other_bodies_alone() -> None:
    everything = Faults(not_an_event=1, unknown_members=1, string_integers=1, old_service=1)
    client = ledger_of(Sandbox(1, EVENTS, DAYS, faults=everything))
    package = client.get("/v2/packages").json()["packageIds"][0]
    assert client.get(f"/v2/packages/{package}").is_success
    body = {"updateFormat": update_format(), "beginExclusive": 0, "endInclusive": 500}
    assert isinstance(client.post("/v2/updates", json=body).json(), list)


def test_faults_strike_all_apis(box: Sandbox) -> None:
    busy = Sandbox(1, EVENTS, DAYS, faults=Faults(too_many_requests=1))
    assert ledger_of(busy).get("/v2/version").status_code == 429
    assert wallet_of(busy).get("/v0/wallet/balance").status_code == 429
    assert ledger_of(busy).get("/livez").is_success


def test_the_sandbox_says_what_goes_wrong() -> None:
    assert "faults {'overload_409': 0.5}" in repr(Sandbox(1, EVENTS, DAYS, faults=Faults(overload_409=0.5)))
    assert "faults" not in repr(Sandbox(1, EVENTS, DAYS, faults=Faults()))
