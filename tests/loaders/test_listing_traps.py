"""Listings that misbehave: whatever they do, no event is lost, doubled, or taken for final when it is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import DecodeError, ServiceUnavailableError
from ledgerframes.values.extents import microseconds
from ledgerframes.values.windows import Window, instant

Events = list[dict[str, Any]]
ASKED = {"since": "2026-11-01", "until": "2026-11-01T01:00:00Z"}


def event(number: int, second: int, migration_id: int = 4) -> dict[str, Any]:
    time = f"2026-11-01T00:{second // 60:02}:{second % 60:02}.000000Z"
    verdict = {
        "update_id": f"id{number}",
        "migration_id": migration_id,
        "domain_id": "d",
        "record_time": time,
        "finalization_time": time,
        "verdict_result": "VERDICT_RESULT_ACCEPTED",
        "submitting_participant_uid": "p",
    }
    return {"update": None, "verdict": verdict, "traffic_summary": None, "app_activity_records": None}


def place(item: dict[str, Any]) -> tuple[int, str]:
    return item["verdict"]["migration_id"], item["verdict"]["record_time"]


def service(
    events: Events, *, spoil: Callable[[Events], Events] = lambda page: page, ignore_after: bool = False
) -> httpx.MockTransport:
    def handler(request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        after = asked.get("after") if not ignore_after else None
        begin = (after["after_migration_id"], after["after_record_time"]) if after else (-1, "")
        page = [item for item in sorted(events, key=place) if place(item) > begin][: asked["page_size"]]
        return httpx.Response(200, json={"events": spoil(page)})

    return httpx.MockTransport(handler)


def connect(store: Path, transport: httpx.MockTransport, **overrides: Any) -> lf.Network:
    return lf.connect(
        "sandbox", history_url="http://one.invalid", transport=transport, store=store, max_concurrency=1, **overrides
    )


@pytest.mark.parametrize("page_size", [2, 3, 4, 5, 7])
def test_events_of_one_record_time_are_not_lost_at_a_page_border(tmp_path: Path, page_size: int) -> None:
    events = [event(number, number // 2) for number in range(20)]
    if page_size == 2:
        with pytest.raises(DecodeError, match="Raise page_size="):
            lf.load_verdicts(connect(tmp_path, service(events), page_size=page_size), **ASKED)
        return
    verdicts = lf.load_verdicts(connect(tmp_path, service(events), page_size=page_size), **ASKED)
    assert sorted(verdicts["update_id"]) == sorted(f"id{number}" for number in range(20))


def test_events_at_the_earliest_time_are_loaded(tmp_path: Path) -> None:
    events = [event(0, 1, migration_id=3), event(1, 0), event(2, 1)]
    events += [event(3, 0, migration_id=3), event(4, 0)]
    for item in events[3:]:
        item["verdict"]["record_time"] = "0001-01-01T00:00:00.000000Z"  # docs/facts.md#times-before-1678
    verdicts = lf.load_verdicts(connect(tmp_path, service(events)), since="0001-01-01", until="2026-11-02")
    assert list(verdicts["update_id"]) == ["id3", "id0", "id4", "id1", "id2"]


@pytest.mark.parametrize("page_size", [3, 4, 5, 7])
def test_events_of_one_record_time_are_in_one_segment(tmp_path: Path, page_size: int) -> None:
    events = [event(number, number // 2) for number in range(21)]
    each_page = {"segment_bytes": 1, "min_merged_segments": 1_000}
    net = connect(tmp_path, service(events), page_size=page_size, **each_page)
    lf.load_events(net, **ASKED)
    for second in range(11):
        since = pd.Timestamp("2026-11-01", tz="UTC") + pd.Timedelta(seconds=second)
        found = lf.load_verdicts(net, since=since, until=since + pd.Timedelta(microseconds=1))
        assert sorted(found["update_id"]) == sorted(f"id{n}" for n in (2 * second, 2 * second + 1) if n < len(events))
    assert len(net.store.segments(EVENTS)) > 3


def test_what_came_before_a_failure_is_kept(tmp_path: Path) -> None:
    events = [event(number, number) for number in range(30)]
    answers = service(events)
    asked = 0

    def failing(request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        return httpx.Response(503) if asked > 5 else answers.handler(request)  # type: ignore[return-value]

    with pytest.raises(ServiceUnavailableError):
        lf.load_events(connect(tmp_path, httpx.MockTransport(failing), page_size=4, retries=0), **ASKED)
    net = connect(tmp_path, answers, page_size=30)
    (missing,) = net.store.missing(EVENTS, Window(instant(ASKED["since"]), instant(ASKED["until"])))
    assert missing.start == microseconds(instant("2026-11-01T00:00:09Z")), "three pages of three new events each"
    assert len(lf.load_verdicts(net, **ASKED)) == len(events)


def test_a_page_in_no_order_is_refused(tmp_path: Path) -> None:
    events = [event(number, number) for number in range(20)]
    with pytest.raises(DecodeError, match="not in order"):
        lf.load_verdicts(connect(tmp_path, service(events, spoil=lambda page: page[::-1]), page_size=7), **ASKED)


def test_a_service_that_ignores_the_cursor_is_refused(tmp_path: Path) -> None:
    events = [event(number, number) for number in range(20)]
    with pytest.raises(DecodeError, match="after migration 4"):
        lf.load_verdicts(connect(tmp_path, service(events, ignore_after=True), page_size=7), **ASKED)


def test_a_host_that_lags_behind_takes_nothing_away(tmp_path: Path) -> None:
    events = [event(number, number) for number in range(30)]
    first = lf.load_verdicts(connect(tmp_path, service(events)), **ASKED)
    again = lf.load_verdicts(connect(tmp_path, service(events[:3])), **ASKED)
    pd.testing.assert_frame_equal(again, first)


def test_a_listing_that_ends_before_stored_events_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    events = [event(number, number) for number in range(30)]
    middle = "2026-11-01T00:00:15Z"
    lf.load_events(connect(tmp_path, service(events)), since=middle, until=ASKED["until"])
    assert "listing_ended_early" not in caplog.text
    lf.load_events(connect(tmp_path, service(events[:3])), since=ASKED["since"], until=middle)
    assert "listing_ended_early" not in caplog.text, "no stored event of that window is later"
    lf.load_events(connect(tmp_path, service(events[:3])), **ASKED)
    assert "listing_ended_early network=sandbox host=one.invalid" in caplog.text


def test_a_migration_id_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DecodeError, match="invalid migration id"):
        lf.load_verdicts(connect(tmp_path, service([event(0, 0, migration_id=2**63)])), **ASKED)
