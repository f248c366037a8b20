"""A present that moves: nothing shown is taken back, nothing is lost or doubled."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Any

import httpx
import pytest

from ledgerframes.sandbox import Sandbox
from ledgerframes.sandbox.times import HOUR, Clock, to_datetime

from .conftest import DAYS, EVENTS, PAGE, client_of, cursor_of, ledger_of, update_format, updates_of


def test_a_tail_sees_every_update_once(effects: Any) -> None:
    box = Sandbox(1, EVENTS, DAYS)
    end = box.now
    client = ledger_of(box.at(box.start - timedelta(hours=1)))
    assert client.get("/v2/state/ledger-end").json() == {"offset": 0}
    body: dict[str, Any] = {"updateFormat": update_format(), "maxPageSize": 200}
    results, steps, highest = [], 0, 0
    while True:
        page = client.post(PAGE, json=body).raise_for_status().json()
        assert page["lowestPageOffsetExclusive"] == highest
        highest = page["highestPageOffsetInclusive"]
        results += updates_of([page])
        body["pageToken"] = page["nextPageToken"]
        assert body["pageToken"]
        if page["updates"]:
            continue
        if box.now >= end:
            break
        box.clock.set(min(end, box.now + timedelta(hours=1, minutes=7)))
        steps += 1
    assert steps > 30
    assert results == effects


def test_the_history_grows_without_gaps(items: Any) -> None:
    box = Sandbox(1, EVENTS, DAYS)
    end = box.now
    client = client_of(box.at(box.start))
    results: list[dict[str, Any]] = []
    body: dict[str, Any] = {"page_size": 1000}
    while True:
        page = client.post("/v0/events", json=body).json()["events"]
        results += page
        if results:
            body["after"] = cursor_of(results[-1])
        if not page and box.now >= end + timedelta(minutes=2):
            break
        if not page:
            box.clock.advance(timedelta(hours=5, minutes=3))
    assert [cursor_of(item) for item in results] == [cursor_of(item) for item in items]
    plain = [{**item, "app_activity_records": None} for item in items]
    assert [{**item, "app_activity_records": None} for item in results] == plain


def test_new_rounds_have_no_activity_yet(items: Any) -> None:
    box = Sandbox(1, EVENTS, DAYS)
    now = box.start + timedelta(hours=40)
    events = client_of(box.at(now)).post(
        "/v0/events",
        json={
            "page_size": 1000,
            "after": {"after_migration_id": 4, "after_record_time": (now - timedelta(hours=2)).isoformat()},
        },
    ).json()["events"]  # fmt: skip
    known = {item["verdict"]["update_id"]: item["app_activity_records"] for item in items if item["verdict"]}
    fresh = [e for e in events if e["app_activity_records"] is None and known[e["verdict"]["update_id"]]]
    older = [e for e in events if e["app_activity_records"]]
    assert fresh
    assert older
    assert max(e["verdict"]["record_time"] for e in older) <= min(e["verdict"]["record_time"] for e in fresh)


def test_a_running_present() -> None:
    box = Sandbox(1, EVENTS, DAYS, grows=True, speed=36_000)
    client = ledger_of(box)
    assert box.start < box.now
    first = client.get("/v2/state/ledger-end").json()["offset"]
    time.sleep(0.1)
    second = client.get("/v2/state/ledger-end").json()["offset"]
    assert first < second < Sandbox(1, EVENTS, DAYS).ledger.end()
    past = client.post(PAGE, json={"updateFormat": update_format(), "endOffsetInclusive": first})
    assert past.is_success
    time.sleep(0.5)
    assert box.now == Sandbox(1, EVENTS, DAYS).now or box.now > box.start


def test_a_running_clock_is_set_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr("ledgerframes.sandbox.times.monotonic", lambda: seconds)
    reads = []

    class ReadWhileSet(Clock):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if seconds:
                reads.append(self.now())

    clock = ReadWhileSet(0, 10**15, speed=1)
    seconds = 1000.0
    clock.set(to_datetime(5 * HOUR))
    assert set(reads) == {5 * HOUR}


def test_the_end_is_not_passed(ledger: httpx.Client, box: Sandbox) -> None:
    assert box.ledger.end() == box.ledger.offset_at(box.world.timeline.now)
    earlier = Sandbox(1, EVENTS, DAYS)
    offset = earlier.at(earlier.start + timedelta(hours=30)).ledger.end()
    later = box.ledger.offset_at(box.world.timeline.now)
    assert offset < later
    body = {"updateFormat": update_format(), "endOffsetInclusive": offset + 1}
    assert ledger_of(earlier).post(PAGE, json=body).json()["code"] == "OFFSET_AFTER_LEDGER_END"
    assert ledger.post(PAGE, json=body).is_success


def test_guests_come_and_go() -> None:
    box = Sandbox(1, EVENTS, DAYS)
    seen = set()
    for hours in range(1, 50, 4):
        parties = ledger_of(box.at(box.start + timedelta(hours=hours))).get("/v2/parties").json()["partyDetails"]
        seen.add(json.dumps(sorted(entry["party"] for entry in parties if "-guest-" in entry["party"])))
    assert len(seen) >= 3


@pytest.mark.parametrize("hours", [0, 13.99, 20.0, 21.5, 54])
def test_offsets_of_times_rise(hours: float) -> None:
    box = Sandbox(1, EVENTS, DAYS)
    at = box.world.timeline.start + int(hours * 3600) * 1_000_000
    ends = [box.ledger.offset_at(at + minutes * 60_000_000) for minutes in range(0, 90, 5)]
    assert ends == sorted(ends)
