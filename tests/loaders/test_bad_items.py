"""One bad item of a window does not lose the others, and is never taken for nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from cases import every_nth
from ledger_items import update

import ledgerframes as lf
from ledgerframes.datasets.registry import EVENTS
from ledgerframes.errors import DecodeError, UsageError
from ledgerframes.loaders.event_pages import discover_migrations
from ledgerframes.values.extents import microseconds
from ledgerframes.values.windows import Window, instant

Item = dict[str, Any]
HOUR = {"since": "2026-11-01", "until": "2026-11-01T01:00:00Z"}
WINDOW = Window(instant("2026-11-01"), instant("2026-11-01T01:00:00Z"))
COUNT, BAD = 30, 13


def event(number: int) -> Item:
    time = f"2026-11-01T00:00:{number:02}.000000Z"
    verdict = {
        "update_id": f"id{number}", "migration_id": 4, "domain_id": "d", "record_time": time, "finalization_time": time,
        "verdict_result": "VERDICT_RESULT_ACCEPTED", "submitting_participant_uid": "p",
    }  # fmt: skip
    return {"update": None, "verdict": verdict, "traffic_summary": None, "app_activity_records": None}


LATER = {**event(0), "verdict": {**event(0)["verdict"], "update_id": "later", "record_time": "2026-11-02T00:00:00.000000Z"}}
SPOILED: dict[str, Callable[[Item], Any]] = {
    "no event": lambda item: {"update": 5},
    "no time": lambda item: {**item, "verdict": {**item["verdict"], "record_time": "soon"}},
    "an impossible migration": lambda item: {**item, "verdict": {**item["verdict"], "migration_id": 2**40}},
    "no result": lambda item: {**item, "verdict": {**item["verdict"], "verdict_result": 3}},
    "no finalization time": lambda item: {**item, "verdict": {**item["verdict"], "finalization_time": "late"}},
    "a huge number": lambda item: {**item, "traffic_summary": {"total_traffic_cost": 2**70}},
    "an unknown sub-view": lambda item: {
        **item, "verdict": {**item["verdict"], "transaction_views": {"views": [{"view_id": 0, "sub_views": [9]}]}},
    },
    "a party twice": lambda item: {
        **item, "app_activity_records": {"round_number": 7, "records": [{"party": "a", "weight": 5}] * 2},
    },
    "a list": lambda item: [1],
}  # fmt: skip
KNOWS_TIME = {"no result", "no finalization time", "a huge number", "an unknown sub-view", "a party twice"}


def connect(store: Path, spoil: Callable[[Item], Any] | None, bad: int = BAD, page_size: int = 10) -> lf.Network:
    def handler(request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)
        after = sent["after"]["after_record_time"] if sent.get("after") else ""
        items = [*map(event, range(COUNT)), LATER] if not after.startswith("9999") else []
        page = [item for item in items if item["verdict"]["record_time"] > after][: sent["page_size"]]
        return httpx.Response(200, json={"events": [spoil(item) if spoil and item == event(bad) else item for item in page]})

    return lf.connect(
        "sandbox", history_url="http://one.invalid", transport=httpx.MockTransport(handler), store=store,
        page_size=page_size, max_concurrency=1, requests_per_second=0,
    )  # fmt: skip


def ids(net: lf.Network) -> list[str]:
    return sorted(
        lf.load_verdicts(lf.connect("sandbox", history_url="http://one.invalid", store=net.settings.store, offline=True), **HOUR)[
            "update_id"
        ]
    )


def others(bad: int = BAD) -> list[str]:
    return sorted(f"id{number}" for number in range(COUNT) if number != bad)


@pytest.mark.parametrize(("page_size", "kind"), every_nth(product([4, 10, 100], SPOILED), 3))
def test_quarantine_keeps_the_item_and_goes_on(kind: str, page_size: int, tmp_path: Path) -> None:
    net = connect(tmp_path / "store", SPOILED[kind], page_size=page_size)
    frames = lf.load_events(net, **HOUR, on_bad_item="quarantine")
    assert sorted(frames.verdicts["update_id"]) == others()
    [file] = (net.local_dir / "quarantine").iterdir()
    assert json.loads(file.read_bytes()) == SPOILED[kind](event(BAD))
    [uncertain] = net.store.missing(EVENTS, WINDOW)
    length = 1 if kind in KNOWS_TIME else 2_000_001  # from the item before to the item after
    assert uncertain.stop - uncertain.start == length
    assert uncertain.start <= microseconds(instant(f"2026-11-01T00:00:{BAD}Z")) < uncertain.stop


@pytest.mark.parametrize("kind", SPOILED)
def test_an_error_names_the_item_after_the_others_of_its_page_are_committed(kind: str, tmp_path: Path) -> None:
    net = connect(tmp_path / "store", SPOILED[kind], page_size=100)
    with pytest.raises(DecodeError, match=r"Item 13 of a page from POST /v0/events") as caught:
        lf.load_events(net, **HOUR)
    error = caught.value
    assert error.json_path.startswith("$.events[13]")
    assert error.endpoint == "POST /v0/events"
    assert error.update_id == ("" if kind in ("no event", "a list") else "id13")
    assert ids(net) == others()


@pytest.mark.parametrize(("mode", "kind"), every_nth(product(["raise", "quarantine"], SPOILED), 3))
def test_a_later_load_of_a_service_that_is_well_again_is_exact(kind: str, mode: Any, tmp_path: Path) -> None:
    try:
        lf.load_events(connect(tmp_path / "store", SPOILED[kind]), **HOUR, on_bad_item=mode)
    except DecodeError:
        assert mode == "raise"
    well = connect(tmp_path / "store", None)
    assert sorted(lf.load_verdicts(well, **HOUR)["update_id"]) == sorted(f"id{number}" for number in range(COUNT))
    assert well.store.missing(EVENTS, WINDOW) == []


@pytest.mark.parametrize("bad", [0, 1, 9, 10, 28, 29])
def test_any_item_of_a_page_may_be_the_bad_one(bad: int, tmp_path: Path) -> None:
    net = connect(tmp_path / "store", SPOILED["no event"], bad)
    if bad == 0:  # the first event of a network says where its history starts
        with pytest.raises(DecodeError):
            lf.load_events(net, **HOUR, on_bad_item="quarantine")
        return
    assert sorted(lf.load_events(net, **HOUR, on_bad_item="quarantine").verdicts["update_id"]) == others(bad)
    assert net.store.missing(EVENTS, WINDOW) != []


@pytest.mark.parametrize("kind", sorted(KNOWS_TIME))
def test_a_bad_first_event_of_the_history_blocks_no_load(kind: str, tmp_path: Path) -> None:
    net = connect(tmp_path / "store", SPOILED[kind], bad=0)
    later = lf.load_events(net, since="2026-11-02", until="2026-11-03")
    assert later.verdicts["update_id"].tolist() == ["later"]
    assert sorted(lf.load_events(net, **HOUR, on_bad_item="quarantine").verdicts["update_id"]) == others(0)
    with pytest.raises(DecodeError, match="Item 0"):
        lf.load_events(net, **HOUR)


def test_the_verdict_tells_the_position_of_a_bad_update(tmp_path: Path) -> None:
    net = connect(tmp_path / "store", lambda item: {**item, "update": {"update_id": "id0", "record_time": None}}, bad=0)
    assert sorted(lf.load_events(net, **HOUR, on_bad_item="quarantine").verdicts["update_id"]) == others(0)
    [uncertain] = net.store.missing(EVENTS, WINDOW)
    assert uncertain.stop - uncertain.start == 1


def test_pages_of_nothing_but_bad_items_are_an_error(tmp_path: Path) -> None:
    box = connect(tmp_path / "store", None)
    box.store.save_migrations(discover_migrations(box.history, []))

    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"events": [{"update": 5}] * 3 if json.loads(request.content)["page_size"] > 1 else []})

    transport = httpx.MockTransport(handler)
    net = lf.connect("sandbox", history_url="http://one.invalid", transport=transport, store=tmp_path / "store")
    with pytest.raises(DecodeError, match="Item 0"):
        lf.load_events(net, **HOUR, on_bad_item="quarantine")


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Choose from raise, quarantine"):
        lf.load_events(connect(tmp_path, None), **HOUR, on_bad_item="ignore")  # type: ignore[call-overload]


# -- a participant's updates ----------------------------------------------------------------------------------------------


BAD_UPDATES: dict[str, Any] = {
    "unknown kind": update(6, "Surprise"),
    "no time": update(6, recordTime="soon"),
    "a huge cost": update(6, paidTrafficCost=2**70),
    "no update": {"update": 5},
    "unknown event": update(6, events=[{"SomeEvent": {}}]),
}


def participant(store: Path, bad: Any, page_size: int, *, descending: bool = False) -> lf.Network:
    items = [bad if offset == 6 else update(offset) for offset in range(2, 21, 2)]

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("participant-id"):
            return httpx.Response(200, json={"participantId": "p"})
        if request.url.path.endswith("ledger-end"):
            return httpx.Response(200, json={"offset": 20})
        if request.url.path.endswith("pruned-offsets"):
            return httpx.Response(200, json={"participantPrunedUpToInclusive": 0})
        sent = json.loads(request.content)
        begin, end, size = sent["beginOffsetExclusive"], sent["endOffsetInclusive"], sent["maxPageSize"]
        inside = [(offset, item) for offset, item in zip(range(2, 21, 2), items, strict=True) if begin < offset <= end]
        inside = inside[::-1] if sent["descendingOrder"] else inside
        first = int(sent.get("pageToken", 0))
        page, more = inside[first : first + size], inside[first + size :]
        low = (page[-1][0] - 1 if more else begin) if sent["descendingOrder"] else (page[0][0] - 1 if first else begin)
        high = (page[0][0] if first else end) if sent["descendingOrder"] else (more[0][0] - 1 if more else end)
        if sent["descendingOrder"] and more:
            low = more[0][0]
        body = {"updates": [item for _, item in page], "lowestPageOffsetExclusive": low, "highestPageOffsetInclusive": high}
        return httpx.Response(200, json={**body, "nextPageToken": str(first + size) if more else None})

    return lf.connect(
        "sandbox", ledger_url="http://one.invalid", transport=httpx.MockTransport(handler), store=store, page_size=page_size,
        max_concurrency=1, requests_per_second=0,
    )  # fmt: skip


@pytest.mark.parametrize(("page_size", "descending", "kind"), every_nth(product([3, 100], [False, True], BAD_UPDATES), 3))
def test_a_bad_update_does_not_lose_the_others(kind: str, descending: bool, page_size: int, tmp_path: Path) -> None:
    net = participant(tmp_path / "store", BAD_UPDATES[kind], page_size)
    frames = lf.load_updates(net, descending=descending, on_bad_item="quarantine")
    good = [offset for offset in range(2, 21, 2) if offset != 6]
    assert frames.ledger_updates["offset"].tolist() == good
    [file] = (net.local_dir / "quarantine").iterdir()
    assert json.loads(file.read_bytes()) == BAD_UPDATES[kind]
    [missing] = lf.plan(lf.load_updates, net).to_dict("records")
    assert missing["after"] < 6 <= missing["through"]
    assert missing["through"] - missing["after"] <= (3 if kind == "no update" else 1)
    offline = lf.connect("sandbox", ledger_url="http://one.invalid", store=tmp_path / "store", offline=True)
    assert lf.load_updates(offline).ledger_updates["offset"].tolist() == good
    with pytest.raises(DecodeError, match="Item 0 of a page from POST /v2/updates") as caught:
        lf.load_updates(net)
    assert caught.value.update_id == ("" if kind == "no update" else "u6")
    well = participant(tmp_path / "store", update(6), page_size)
    assert lf.load_updates(well).ledger_updates["offset"].tolist() == sorted([*good, 6])
    assert lf.plan(lf.load_updates, well).empty
