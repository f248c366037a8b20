"""Quarantine of what cannot be decoded: events by id, lines of bulk objects, and updates that are followed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from cases import every_nth
from ledger_items import update

import ledgerframes as lf
from ledgerframes.api.update_format import update_format
from ledgerframes.errors import DecodeError, IntegrityError, UsageError
from ledgerframes.loaders import bulk_object
from ledgerframes.loaders.ledger_filter import open_ledger
from ledgerframes.loaders.ledger_pages import OffsetReader, follow
from ledgerframes.store.prune import prune

Item = dict[str, Any]


def quarantined(net: lf.Network) -> list[Any]:
    return [json.loads(path.read_bytes()) for path in sorted((net.local_dir / "quarantine").iterdir())]


# -- events by id ---------------------------------------------------------------------------------------------------------

IDS = [f"id{number}" for number in range(6)]
SPOILED: dict[str, Item] = {
    "no event": {"update": 5},
    "another event": {"verdict": {"update_id": "other"}},
    "no finalization time": {"verdict": {"finalization_time": "late"}},
    "a huge number": {"traffic_summary": {"total_traffic_cost": 2**70}},
}


def event(update_id: str) -> Item:
    time = "2026-11-01T00:00:01.000000Z"
    verdict = {
        "update_id": update_id, "migration_id": 4, "domain_id": "d", "record_time": time, "finalization_time": time,
        "verdict_result": "VERDICT_RESULT_ACCEPTED", "submitting_participant_uid": "p",
    }  # fmt: skip
    return {"update": None, "verdict": verdict, "traffic_summary": None, "app_activity_records": None}


def bad_event(kind: str) -> Item:
    parts = SPOILED[kind]
    good = event("id3")
    return {**good, **parts, **({"verdict": {**good["verdict"], **parts["verdict"]}} if "verdict" in parts else {})}


def history(store: Path, bad: Item | None) -> lf.Network:
    def handler(request: httpx.Request) -> httpx.Response:
        update_id = request.url.path.rpartition("/")[2]
        if update_id == "id5":
            return httpx.Response(404, json={"error": "unknown"})
        return httpx.Response(200, json=bad if bad and update_id == "id3" else event(update_id))

    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", history_url="http://one.invalid", transport=transport, store=store, requests_per_second=0)


@pytest.mark.parametrize("kind", SPOILED)
def test_an_event_by_id_does_not_lose_the_others(kind: str, tmp_path: Path) -> None:
    bad = bad_event(kind)
    net = history(tmp_path / "store", bad)
    frames = lf.load_events(net, update_ids=IDS, on_bad_item="quarantine")
    assert sorted(frames.verdicts["update_id"]) == ["id0", "id1", "id2", "id4"]
    assert frames.unknown_ids == ("id5",)
    assert quarantined(net) == [bad]
    assert len(prune(net.store, min_age=timedelta(0), include_quarantine=True, dry_run=True).deleted_files) == 1
    assert lf.plan(lf.load_events, net, update_ids=["id3"])["update_id"].tolist() == ["id3"]
    with pytest.raises(DecodeError) as caught:
        lf.load_events(net, update_ids=IDS)
    assert (caught.value.endpoint, caught.value.update_id) == ("GET /v0/events/{update_id}", "id3")
    well = history(tmp_path / "store", None)
    assert len(lf.load_events(well, update_ids=IDS).verdicts) == 5


# -- lines of bulk objects ------------------------------------------------------------------------------------------------

DAYS = {"since": "2026-11-07", "until": "2026-11-09"}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bulk objects of two days."""
    folder = tmp_path_factory.mktemp("objects")
    net = lf.connect("sandbox", events=600, days=2, store=tmp_path_factory.mktemp("store"))
    lf.load_bulk(net, **DAYS, download_dir=folder)
    return folder


def spoil(path: Path, target: Path, line: bytes, position: int) -> bytes:
    """Write an object with another line in the place of one, and return the line that was there."""
    with path.open("rb") as file:
        lines = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read().split(b"\n")
    old, lines[position] = lines[position], line
    target.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(b"\n".join(lines)))
    return old


LINES = {"no update": b'{"update_id": 7}', "no JSON": b'{"update_id"', "a list": b"[1]"}


@pytest.mark.parametrize(("kind", "position"), every_nth(product(LINES, [0, 7, -2]), 7))
def test_a_line_does_not_lose_its_object(kind: str, position: int, objects: Path, tmp_path: Path) -> None:
    whole = sorted(objects.glob("*updates*.zstd"))[-1]
    spoiled = tmp_path / whole.name
    lost = json.loads(spoil(whole, spoiled, LINES[kind], position))["update_id"]
    net = lf.connect("sandbox", store=tmp_path / "store")
    with pytest.raises(IntegrityError, match=r"(?i)\bline \d"):
        lf.load_bulk(net, paths=[spoiled])
    frames = lf.load_bulk(net, paths=[spoiled], on_bad_item="quarantine")
    [file] = (net.local_dir / "quarantine").iterdir()
    assert file.read_bytes() == LINES[kind]
    assert set(frames.coverage["status"]) == {"provisional"}
    expected = lf.load_bulk(lf.connect("sandbox", store=tmp_path / "whole"), paths=[whole]).updates
    assert frames.updates["update_id"].tolist() == [each for each in expected["update_id"] if each != lost]
    assert lf.plan(lf.load_bulk, net, paths=[spoiled])["object_key"].notna().all(), "the next load reads it again"
    offline = lf.connect("sandbox", store=tmp_path / "store", offline=True)
    assert lf.load_bulk(offline, object_keys=frames.bulk_objects["object_key"]).updates.equals(frames.updates)
    well = lf.load_bulk(net, paths=[whole])
    assert well.updates.equals(expected)
    assert lf.plan(lf.load_bulk, net, paths=[whole]).empty


@pytest.mark.parametrize(("table", "options"), [("updates", DAYS), ("active_contracts", {"kind": "acs", "at": "2026-11-08"})])
def test_a_folder_with_a_bad_line_can_be_read_offline(
    table: str, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    download = bulk_object._download

    def download_spoiled(net: lf.Network, task: Any, partial: Path, **others: Any) -> Any:
        local = download(net, task, partial, **others)
        if task.key.index == 1:
            spoil(local.path, local.path, b"[1]", 3)
        return local

    net = lf.connect("sandbox", events=600, days=2, store=tmp_path)
    offline = lf.connect("sandbox", events=600, days=2, store=tmp_path, offline=True)
    with monkeypatch.context() as patch:
        patch.setattr(bulk_object, "_download", download_spoiled)
        frames = lf.load_bulk(net, **options, on_bad_item="quarantine")
        again = lf.load_bulk(offline, **options)
        assert again.read(table).equals(frames.read(table))
        assert again.coverage.equals(frames.coverage)
        assert set(again.coverage["status"]) == {"final", "provisional"}
        with pytest.raises(IntegrityError, match=r"(?i)\bline \d"):
            lf.load_bulk(net, **options)
    well = lf.load_bulk(net, **options)
    assert len(well.read(table)) > len(frames.read(table))
    assert lf.load_bulk(offline, **options).read(table).equals(well.read(table))
    assert lf.plan(lf.load_bulk, net, **options).empty


# -- updates that are followed --------------------------------------------------------------------------------------------

PARTICIPANT = {
    "/v2/parties/participant-id": {"participantId": "p"},
    "/v2/state/ledger-end": {"offset": 0},
    "/v2/state/latest-pruned-offsets": {"participantPrunedUpToInclusive": 0},
}


def growing(store: Path, pages: list[list[Item]], stop: threading.Event) -> lf.Network:
    """A participant that appends ten offsets with each page, until it has no more pages."""
    left: Iterator[list[Item]] = iter(pages)

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path in PARTICIPANT:
            return httpx.Response(200, json=PARTICIPANT[request.url.path])
        sent = json.loads(request.content)
        begin = int(sent.get("pageToken", sent["beginOffsetExclusive"]))
        items = next(left, None)
        if items is None:
            stop.set()
        end = begin if items is None else begin + 10
        body = {"updates": items or [], "lowestPageOffsetExclusive": begin, "highestPageOffsetInclusive": end}
        return httpx.Response(200, json={**body, "nextPageToken": str(end)})

    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", ledger_url="http://one.invalid", transport=transport, store=store, requests_per_second=0)


def stored_offsets(net: lf.Network) -> list[int]:
    offline = lf.connect("sandbox", ledger_url="http://one.invalid", store=net.settings.store, offline=True)
    segments = offline.store.all_segments()
    return sorted(
        offset
        for segment in segments
        for offset in offline.store.snapshot_of([segment]).scan("ledger_updates").to_table()["offset"].to_pylist()
    )


@pytest.mark.parametrize("bad", [update(6, "Surprise"), update(6, recordTime="soon"), update(6, events=[{"SomeEvent": {}}])])
def test_following_goes_on_after_an_update(bad: Item, tmp_path: Path) -> None:
    stop = threading.Event()
    net = growing(tmp_path / "store", [[update(2), bad, update(8)], [update(12), update(20)]], stop)
    ledger_filter = open_ledger(net, update_format(), bind=True)
    assert follow(OffsetReader(net, ledger_filter, 500, False, "quarantine"), 0, 0.01, stop) == 20
    assert stored_offsets(net) == [2, 8, 12, 20]
    assert quarantined(net) == [bad]
    provisional = [segment.extent for segment in net.store.all_segments() if not segment.final]
    assert [(each.start, each.stop) for each in provisional] == [(5, 6)], "the next load fetches it again"


def test_new_members_and_kinds_are_told_once_while_following(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()
    pages = [
        [update(2, mood="good"), update(6, "Surprise")],
        [update(12, mood="bad"), update(16, "Surprise")],
        [update(22, hue=1)],
    ]
    net = growing(tmp_path / "store", pages, stop)
    ledger_filter = open_ledger(net, update_format(), bind=True)
    follow(OffsetReader(net, ledger_filter, 500, False, "quarantine"), 0, 0.01, stop)
    assert [line for line in caplog.messages if line.startswith("service_sends_new")] == [
        "service_sends_new_members network=sandbox members=ledger_updates.mood",
        "service_sends_new_kinds network=sandbox kinds=Surprise",
        "service_sends_new_members network=sandbox members=ledger_updates.hue",
    ]


def test_following_stops_at_an_update_after_the_others_of_its_page(tmp_path: Path) -> None:
    stop = threading.Event()
    net = growing(tmp_path / "store", [[update(2), update(6, "Surprise"), update(8)], [update(12)]], stop)
    ledger_filter = open_ledger(net, update_format(), bind=True)
    with pytest.raises(DecodeError, match="Item 1 of a page from POST /v2/updates"):
        follow(OffsetReader(net, ledger_filter, 500, False), 0, 0.01, stop)
    assert stored_offsets(net) == [2, 8]


@pytest.mark.parametrize(
    "bounds", [{"highestPageOffsetInclusive": 2**70}, {"lowestPageOffsetExclusive": -1}, {"nextPageToken": 5}]
)
@pytest.mark.parametrize("on_bad_item", ["raise", "quarantine"])
def test_a_page_with_impossible_bounds_is_an_error(bounds: Item, on_bad_item: Any, tmp_path: Path) -> None:
    page = {"updates": [], "lowestPageOffsetExclusive": 0, "highestPageOffsetInclusive": 9, **bounds}
    net = participant(tmp_path, {"/v2/updates/get-updates-page": page, "/v2/state/ledger-end": {"offset": 9}})
    with pytest.raises(DecodeError, match=next(iter(bounds))):
        lf.load_updates(net, on_bad_item=on_bad_item)
    assert net.store.all_segments() == []


# -- active contracts -----------------------------------------------------------------------------------------------------


def contract(number: int, **members: Any) -> Item:
    created = {"contractId": f"00{number}", "templateId": f"{'a' * 64}:M:E", "offset": number, "nodeId": 0, **members}
    return {"contractEntry": {"JsActiveContract": {"createdEvent": created, "synchronizerId": "s", "reassignmentCounter": 0}}}


@pytest.mark.parametrize(
    "bad",
    [{"contractEntry": {"JsSurprise": {}}}, contract(2, createdAt="soon"), contract(2, offset=2**70), {"contractEntry": {}}],
)
def test_a_contract_does_not_lose_the_others(bad: Item, tmp_path: Path) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path in PARTICIPANT:
            return httpx.Response(200, json=PARTICIPANT[request.url.path])
        return httpx.Response(200, json={"activeContracts": [contract(1), bad, contract(3)], "activeAtOffset": 9})

    transport = httpx.MockTransport(handler)
    net = lf.connect("sandbox", ledger_url="http://one.invalid", transport=transport, store=tmp_path, requests_per_second=0)
    contracts = lf.load_active_contracts(net, active_at_offset=9, on_bad_item="quarantine")
    assert contracts["contract_id"].tolist() == ["001", "003"]
    assert quarantined(net) == [bad]
    with pytest.raises(DecodeError):
        lf.load_active_contracts(net, active_at_offset=9)


# -- completions, parties, packages and synchronizers -------------------------------------------------------------------------


def completion(offset: object, **members: Any) -> Item:
    return {"completionResponse": {"Completion": {"value": {"commandId": f"c{offset}", "offset": offset, **members}}}}


def vetting(*packages: Item, **members: Any) -> Item:
    return {"participantId": "p", "synchronizerId": "s", "packages": list(packages), **members}


def participant(store: Path, responses: dict[str, Any]) -> lf.Network:
    """A participant that answers each path with a body, and with lists of at most two completions after an offset."""

    def handler(request: httpx.Request) -> httpx.Response:
        body = {**PARTICIPANT, **responses}[request.url.path]
        if request.url.path == "/v2/commands/command-completions":
            after, limit = json.loads(request.content)["beginExclusive"], min(2, int(request.url.params["limit"]))
            body = [item for position, item in body if position > after][:limit]
        return httpx.Response(200, json=body)

    transport = httpx.MockTransport(handler)
    return lf.connect("sandbox", ledger_url="http://one.invalid", transport=transport, store=store, requests_per_second=0)


LISTS: dict[str, tuple[Any, str, str, list[Item]]] = {
    "parties": (lf.load_parties, "/v2/parties", "partyDetails", [{"party": "a"}, {"party": 7}, {"party": "c"}]),
    "synchronizers": (
        lf.load_synchronizers,
        "/v2/state/connected-synchronizers",
        "connectedSynchronizers",
        [{"synchronizerId": "a"}, {"synchronizerAlias": "b"}, {"synchronizerId": "c"}],
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_bad_item_of_a_list_does_not_lose_the_others(name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    load, path, member, items = LISTS[name]
    net = participant(tmp_path, {path: {member: items, "nextPageToken": ""}})
    with pytest.raises(DecodeError):
        load(net)
    assert load(net, on_bad_item="quarantine").iloc[:, 1].tolist() == ["a", "c"]
    assert f"at $.{member}[1]" in caplog.text and "Item 1 of a page" in caplog.text
    assert quarantined(net) == [items[1]]
    with pytest.raises(UsageError, match="on_bad_item"):
        load(net, on_bad_item="ignore")


@pytest.mark.parametrize("body", [{}, {"partyDetails": None}, {"partyDetails": {}}, []])
def test_a_response_without_its_list_is_an_error_and_not_an_empty_frame(body: Any, tmp_path: Path) -> None:
    net = participant(tmp_path, {"/v2/parties": body})
    with pytest.raises(DecodeError):
        lf.load_parties(net, on_bad_item="quarantine")


def test_the_package_of_a_bad_vetting_is_not_shown_as_unvetted(tmp_path: Path) -> None:
    bad = {"packageId": "b", "packageName": 5}
    vettings = [vetting({"packageId": "a"}, bad), vetting({"packageId": "c"}, synchronizerId="t")]
    packages = {"packageIds": ["a", "b", "c", "d", 5]}
    net = participant(
        tmp_path, {"/v2/packages": packages, "/v2/package-vetting/list": {"vettedPackages": vettings, "nextPageToken": ""}}
    )
    frame = lf.load_packages(net, on_bad_item="quarantine")
    vetted_on = dict(zip(frame["package_id"], frame["synchronizer_id"].fillna(""), strict=True))
    assert vetted_on == {"a": "s", "c": "t", "d": ""}
    assert sorted(map(str, quarantined(net))) == sorted(map(str, [5, vetting(bad)]))


BAD_COMPLETIONS = {
    "another kind": {"completionResponse": {"Surprise": {"value": {"offset": 2}}}},
    "no command id": completion(2, commandId=None),
    "no offset": completion("soon"),
    "a huge offset": completion(2**70),
}


@pytest.mark.parametrize("kind", BAD_COMPLETIONS)
def test_a_bad_completion_does_not_lose_those_behind_it(kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Lists of two, of which the first ends with the bad completion."""
    items = [(1, completion(1)), (2, BAD_COMPLETIONS[kind]), *((offset, completion(offset)) for offset in (3, 4, 5))]
    net = participant(tmp_path, {"/v2/commands/command-completions": items})
    assert lf.load_completions(net, on_bad_item="quarantine")["offset"].tolist() == [1, 3, 4, 5]
    assert ("service_sends_new_kinds network=sandbox kinds=Surprise" in caplog.messages) == (kind == "another kind")
    assert quarantined(net) == [BAD_COMPLETIONS[kind]]
    assert lf.load_completions(net, limit=3, on_bad_item="quarantine")["offset"].tolist() == [1, 3, 4]
    with pytest.raises(DecodeError):
        lf.load_completions(net)


def test_a_list_that_is_short_is_not_the_end(tmp_path: Path) -> None:
    """A slow participant returns what it has, and an item can be empty."""
    empty = (1, {"completionResponse": {"Empty": {}}})
    net = participant(tmp_path, {"/v2/commands/command-completions": [empty, (2, completion(2)), (3, completion(3))]})
    assert lf.load_completions(net)["offset"].tolist() == [2, 3]
