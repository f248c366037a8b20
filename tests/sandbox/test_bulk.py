"""Bulk objects: listings, digests, frames, lines (docs/facts.md#bulk-storage)."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any
from urllib.parse import quote, unquote

import httpx
import pytest
import zstandard

from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.sandbox.bulk import BulkStorage
from ledgerframes.sandbox.vocabulary import vocabulary_of
from ledgerframes.sandbox.world import World

from .conftest import DAYS, EVENTS, client_of, nodes_of

DOWNLOAD = "/v0/history/bulk/download/"
LINES_DIGEST = "45ee8d3e82b30b2e"  # of the world with seed 7, 300 events, one day
ALL = {"start_record_time": "2026-01-01T00:00:00Z", "end_record_time": "2026-11-09T00:00:00Z", "page_size": 100}


def refs(client: httpx.Client, **request: Any) -> list[dict[str, str]]:
    answer = client.post("/v0/history/bulk/updates", json={**ALL, **request}).raise_for_status().json()
    results: list[dict[str, str]] = answer["object_refs"]
    return results


def key_of(ref: dict[str, str]) -> str:
    segment = ref["url"].partition(DOWNLOAD)[2]
    assert "/" not in segment
    return unquote(segment)


def number_of(key: str) -> tuple[str, int]:
    folder, _, file = key.partition("/")
    return folder, int(file.removesuffix(".zstd").rpartition("_")[2])


def lines_of(raw: bytes) -> list[bytes]:
    with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
        text = reader.read()
    assert text.endswith(b"\n")
    return text.splitlines()


@pytest.fixture(scope="module")
def objects(box: Sandbox) -> dict[str, bytes]:
    client = client_of(box)
    return {key_of(ref): client.get(ref["url"]).raise_for_status().content for ref in refs(client)}


def test_the_objects_are_the_history_up_to_the_last_whole_day(objects: Any, items: Any) -> None:
    lines = [line for key in sorted(objects, key=number_of) for line in lines_of(objects[key])]
    results = [json.loads(line) for line in lines]
    expected = [item["update"] for item in items if item["update"] and item["update"]["record_time"] < "2026-11-09T00:00:00"]
    assert len(results) == len(expected)
    assert sorted(results, key=lambda update: update["update_id"]) == sorted(expected, key=lambda update: update["update_id"])
    assert all(line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
               for line in lines[::40])  # fmt: skip


def test_keys_and_their_order(objects: Any) -> None:
    keys = list(objects)
    assert keys == sorted(keys)
    assert keys != sorted(keys, key=number_of)
    assert keys[0] == "0001-01-01T00:00:00Z~2026-11-08T00:00:00Z/updates_0.zstd"
    assert any(key.startswith("2026-11-08T00:00:00Z~2026-11-09T00:00:00Z/updates_compact_json_") for key in keys)


def test_a_key_in_a_url_is_percent_encoded(box: Sandbox) -> None:
    name = refs(client_of(box))[-1]["url"].rpartition("/")[2]
    assert name.startswith("2026-11-08T00%3A00%3A00Z%7E2026-11-09T00%3A00%3A00Z%2Fupdates_")


def test_frames_have_no_size_and_are_several(objects: Any) -> None:
    raw = next(iter(objects.values()))
    assert zstandard.frame_content_size(raw) == -1
    first = zstandard.ZstdDecompressor().decompressobj()
    text = first.decompress(raw)
    assert first.unused_data
    assert text.endswith(b"\n")


def test_digests(box: Sandbox, objects: Any) -> None:
    client = client_of(box)
    for ref in refs(client):
        digest = hashlib.sha256(objects[key_of(ref)]).digest()
        assert ref["digest"] == base64.b64encode(digest).decode()
    keys = list(objects)[:3][::-1]
    sums = client.post("/v0/history/bulk/checksums", json={"object_keys": keys}).json()["checksums"]
    known = {key_of(ref): ref["digest"] for ref in refs(client)}
    assert [entry["value"] for entry in sums] == [known[key] for key in keys]
    assert client.post("/v0/history/bulk/checksums", json={"object_keys": ["x"]}).status_code == 404
    assert client.post("/v0/history/bulk/checksums", json={}).status_code == 400


def test_the_fault_of_empty_digests() -> None:
    client = client_of(Sandbox(1, EVENTS, DAYS, faults=Faults(digest_of_nothing=1)))
    ref = refs(client)[0]
    assert ref["digest"] == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    assert len(client.get(ref["url"]).content) > 100


def test_listings_are_whole_days(box: Sandbox, objects: Any) -> None:
    client = client_of(box)
    folders = list(dict.fromkeys(key.partition("/")[0] for key in objects))
    hour = refs(client, start_record_time="2026-11-08T10:00:00Z", end_record_time="2026-11-08T11:00:00Z")
    assert {key_of(ref).partition("/")[0] for ref in hour} == {folders[1]}
    assert refs(client, start_record_time="2026-11-09T00:00:00Z", end_record_time="2026-11-09T01:00:00Z") == []
    size = max(sum(key.startswith(folder) for key in objects) for folder in folders)
    page = client.post("/v0/history/bulk/updates", json={**ALL, "page_size": size}).json()
    assert {key_of(ref).partition("/")[0] for ref in page["object_refs"]} == {folders[0]}
    assert page["next_page_token"] == f"{folders[0]}/"
    rest = client.post("/v0/history/bulk/updates", json={**ALL, "next_page_token": page["next_page_token"]}).json()
    assert {key_of(ref).partition("/")[0] for ref in rest["object_refs"]} == {folders[1]}
    assert "next_page_token" not in rest
    assert client.post("/v0/history/bulk/updates", json={**ALL, "page_size": 2}).status_code == 400


def test_an_end_in_the_future_leaves_the_token(box: Sandbox) -> None:
    client, body = client_of(box), {**ALL, "end_record_time": "2027-01-01T00:00:00Z"}
    page = client.post("/v0/history/bulk/updates", json=body).json()
    assert page["object_refs"]
    next_page = client.post("/v0/history/bulk/updates", json={**body, "next_page_token": page["next_page_token"]}).json()
    assert next_page == {"object_refs": [], "next_page_token": page["next_page_token"]}


def test_the_other_encoding_is_there_but_not_listed(box: Sandbox, objects: Any) -> None:
    client = client_of(box)
    key = next(key for key in objects if "compact_json" in key)
    other_key = key.replace("compact_json", "protobuf_json")
    assert other_key not in objects
    raw = client.get(DOWNLOAD + quote(other_key, safe="")).raise_for_status().content
    typed, plain = lines_of(raw), lines_of(objects[key])
    assert [json.loads(line)["update_id"] for line in typed] == [json.loads(line)["update_id"] for line in plain]
    assert b'"record":{"fields"' in b"".join(typed)


def test_active_contracts(box: Sandbox, updates: Any) -> None:
    client = client_of(box)
    answer = client.get("/v0/history/bulk/acs", params={"at_or_before_record_time": "2026-11-08T17:00:00Z"}).json()
    assert answer["record_time"] == "2026-11-08T00:00:00Z"
    keys = [key_of(ref) for ref in answer["object_refs"]]
    assert keys[0] == "2026-11-08T00:00:00Z~2026-11-09T00:00:00Z/ACS_compact_json_0.zstd"
    results = [json.loads(line) for ref in answer["object_refs"] for line in lines_of(client.get(ref["url"]).content)]
    creators: dict[str, Any] = {}
    for update in updates:
        if update["record_time"] < "2026-11-08T00:00:00":
            nodes = nodes_of(update)
            update_id = update["update_id"] if update["migration_id"] == 4 else None  # that of an earlier migration is not named
            creators |= {node["contract_id"]: update_id for node in nodes if "created_at" in node}
            for node in nodes:
                if node.get("consuming"):
                    creators.pop(node["contract_id"], None)
    assert {entry["contract_id"]: entry.get("created_in_update_id") for entry in results} == creators
    assert None in creators.values()
    named = next(entry for entry in results if creators[entry["contract_id"]])
    assert set(named) == {
        "contract_id", "template_id", "package_name", "create_arguments", "created_at", "signatories", "observers",
        "created_in_update_id",
    }  # fmt: skip
    assert client.get("/v0/history/bulk/acs").json()["record_time"] == "2026-11-09T00:00:00Z"
    early = client.get("/v0/history/bulk/acs", params={"at_or_before_record_time": "2026-01-01T00:00:00Z"})
    assert early.status_code == 404


@pytest.mark.parametrize(
    "key",
    ["", "x", "2026-11-08T00:00:00Z~2026-11-09T00:00:00Z/updates_compact_json_999.zstd", "a/b/c.zstd",
     "2026-11-08T00:00:00Z~2026-11-09T00:00:00Z/updates_0.zstd",
     "2026-11-09T00:00:00Z~2026-11-10T00:00:00Z/updates_compact_json_0.zstd",
     "0001-01-01T00:00:00Z~2026-11-08T00:00:00Z/updates_protobuf_json_0.zstd"],
)  # fmt: skip
def test_unknown_objects(box: Sandbox, key: str) -> None:
    answer = client_of(box).get(DOWNLOAD + quote(key, safe=""))
    assert answer.status_code == 404
    if key:
        assert list(answer.json()) == ["error"]


@pytest.mark.usefixtures("own_worlds")
def test_a_folder_is_made_from_its_own_slices() -> None:
    box = Sandbox(1, 2_000, 8)
    folder = box.bulk.folders()[5]
    assert box.bulk.keys(folder)
    assert 0 < box.world.generated <= 24


def test_a_day_of_two_migrations_has_both_in_order() -> None:
    box = Sandbox(1, 2_000, 2)
    (day,) = [folder for folder in box.bulk.folders() if folder.begin < box.world.timeline.switch < folder.end]
    results = [
        json.loads(line) for key in sorted(box.bulk.keys(day), key=number_of) for line in lines_of(box.bulk.get(key) or b"")
    ]
    positions = [(update.get("migration_id") or update["event"]["migration_id"], update["record_time"]) for update in results]
    assert positions == sorted(positions)
    switch = [position for position in positions if "2026-11-07T21:00:00" <= position[1] < "2026-11-07T21:20:00"]
    assert {migration_id for migration_id, _ in switch} == {3, 4}


@pytest.mark.usefixtures("own_worlds")
def test_snapshots_do_not_depend_on_the_order_of_asking() -> None:
    def snapshots(order: list[int]) -> dict[str, bytes | None]:
        bulk = Sandbox(1, 700, 3).bulk
        keys = [f"{bulk.snapshots()[n].name}/ACS_compact_json_0.zstd" for n in order]
        return {key: bulk.get(key) for key in keys}

    results = snapshots([0, 1, 2])
    assert snapshots([2, 0, 1]) == results
    assert len(set(results.values()) - {None}) == 3


@pytest.mark.usefixtures("own_worlds")
def test_a_snapshot_builds_on_the_one_before() -> None:
    box = Sandbox(1, 700, 3)
    earlier, later = box.bulk.snapshots()[-2:]
    box.bulk.keys(earlier)
    before = box.world.generated
    box.bulk.keys(later)
    assert box.world.generated - before <= 24


def test_digests_outlive_their_objects() -> None:
    world = World(1, 700, 3, vocabulary_of("neutral"), max_cached_events=1)
    bulk = BulkStorage(world, Sandbox(1, 700, 3).clock, max_cached_folders=1)
    keys = [key for folder in bulk.folders() for key in bulk.keys(folder)]
    digests = [bulk.digest(key) for key in keys]
    before = world.generated
    assert [bulk.digest(key) for key in keys] == digests
    assert world.generated == before
    sums = [base64.b64encode(hashlib.sha256(bulk.get(key) or b"").digest()).decode() for key in keys]
    assert sums == digests
    assert world.generated > before


def test_sandboxes_of_one_world_share_their_objects() -> None:
    first, second = Sandbox(1, 700, 3), Sandbox(1, 700, 3, faults=Faults(corrupt_object=1))
    (key, *_) = first.bulk.keys(first.bulk.folders()[0])
    assert first.bulk.get(key) is second.bulk.get(key)
    second.at(second.start)
    assert second.bulk.get(key) is None is second.bulk.digest(key)


@pytest.mark.usefixtures("own_worlds")
def test_the_lines_of_objects_are_promised() -> None:
    """Stores keep what objects held: see the promise of the world."""
    bulk = Sandbox(7, 300, 1).bulk
    folders = [bulk.folders()[0], bulk.snapshots()[0]]
    keys = [key for folder in folders for key in bulk.keys(folder)]
    text = b"".join(key.encode() + b"\n".join(lines_of(bulk.get(key) or b"")) for key in keys)
    assert hashlib.sha256(text).hexdigest()[:16] == LINES_DIGEST
