"""Bulk objects: equal to the listing, one object a segment, and every way in which an object can be wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import random
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx
import msgspec
import pandas as pd
import pytest
import zstandard
from bulk_files import write_bulk_files
from cases import every_nth
from equality import assert_equal, with_sorted_payloads
from first_loads import FirstLoads

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.datasets import TABLES
from ledgerframes.datasets.bulk.extent import ObjectSet
from ledgerframes.datasets.bulk.wire import ObjectRef
from ledgerframes.datasets.registry import BULK, BULK_BY_KEY
from ledgerframes.errors import (
    CoverageError,
    DecodeError,
    HostUnreachableError,
    IntegrityError,
    NotFoundError,
    StoreError,
    UsageError,
)
from ledgerframes.loaders.bulk_listing import _folders
from ledgerframes.loaders.bulk_object import PARTIAL_SUFFIX
from ledgerframes.sandbox import Faults, Sandbox
from ledgerframes.values.windows import instant

WORLD = {"events": 700, "days": 3}
WHOLE = {"since": "2026-11-06", "until": "2026-11-09"}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


def connect(store: Path, **overrides: Any) -> lf.Network:
    return lf.connect("sandbox", **{**WORLD, "store": store, **overrides})


def tables(frames: lf.Frames) -> dict[str, pd.DataFrame]:
    return {name: with_sorted_payloads(frames.read(name)) for name in ("updates", "tree_events", "reassignments")}


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory, first_loads: FirstLoads) -> dict[str, pd.DataFrame]:
    """What the range listing gives."""
    with first_loads.copied():
        return tables(lf.load_events(connect(tmp_path_factory.mktemp("listed")), **WHOLE))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> lf.Frames:
    """What the objects give where nothing goes wrong."""
    return lf.load_bulk(connect(tmp_path_factory.mktemp("good")), **WHOLE)


@pytest.fixture(scope="module")
def good_day(tmp_path_factory: pytest.TempPathFactory) -> lf.Frames:
    """What the objects of one day give where nothing goes wrong."""
    return lf.load_bulk(connect(tmp_path_factory.mktemp("good_day")), **DAY)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every object of the world as a file named by its key."""
    return write_bulk_files(Sandbox(**WORLD), tmp_path_factory.mktemp("objects"))


# -- what is right --------------------------------------------------------------------------------------------------


def test_objects_hold_what_the_listing_gives(good: lf.Frames, listed: dict[str, pd.DataFrame]) -> None:
    assert len(set(good.updates["migration_id"])) == 2, "the world has a migration, or nothing is shown about order"
    assert_equal(tables(good), listed)
    assert good.tables == ("updates", "tree_events", "reassignments", "bulk_objects")
    assert good.bulk_objects["lines"].sum() == len(good.updates)
    assert set(good.bulk_objects["digest_status"]) == {"matched"}


def test_an_object_is_a_segment_and_is_read_once(tmp_path: Path) -> None:
    net = connect(tmp_path)
    frames = lf.load_bulk(net, **DAY)
    extents = [segment.extent for segment in net.store.segments(BULK) if segment.files]
    assert sorted(key for extent in extents if isinstance(extent, ObjectSet) for key in extent.keys) == sorted(
        frames.bulk_objects["object_key"]
    )
    asked = net.request_count
    assert len(lf.load_bulk(net, **DAY).updates) == len(frames.updates)
    assert net.request_count == asked
    lf.load_bulk(net, **WHOLE)
    assert net.request_count > asked
    assert lf.load_bulk(net, **WHOLE).bulk_objects["object_key"].is_unique


def test_lines_outside_the_range_are_not_in_the_frames(tmp_path: Path, listed: dict[str, pd.DataFrame]) -> None:
    frames = lf.load_bulk(connect(tmp_path), since="2026-11-07T10:00:00Z", until="2026-11-07T11:30:00Z")
    times = listed["updates"]["record_time"]
    inside = listed["updates"][(times >= "2026-11-07T10:00:00Z") & (times < "2026-11-07T11:30:00Z")].reset_index(drop=True)
    assert 0 < len(inside) < len(listed["updates"])
    pd.testing.assert_frame_equal(frames.updates, inside)


def test_keys_that_are_not_listed_can_be_named(tmp_path: Path) -> None:
    net = connect(tmp_path)
    key = next(key for key in lf.load_bulk(net, **DAY).bulk_objects["object_key"] if "compact_json" in key)
    twin = key.replace("compact_json", "protobuf_json")
    plain, typed = lf.load_bulk(net, object_keys=[key]), lf.load_bulk(connect(tmp_path / "typed"), object_keys=[twin])
    assert plain.updates["update_id"].tolist() == typed.updates["update_id"].tolist()
    assert typed.bulk_objects["encoding"].tolist() == ["protobuf_json"]
    assert '"record":{"fields"' in "".join(typed.tree_events["create_arguments"].dropna())
    with pytest.raises(UsageError, match="same lines"):
        lf.load_bulk(net, object_keys=[key, twin])
    assert lf.load_bulk(net, object_keys=[quote(key, safe="")]).updates.equals(plain.updates)


@pytest.mark.parametrize("encoding", ["compact_json_", ""])
def test_the_other_encoding_of_a_stored_object_needs_another_store(tmp_path: Path, objects: Path, encoding: str) -> None:
    net, file = connect(tmp_path / "store"), sorted(objects.glob("*compact_json*"))[0]
    typed, other = (tmp_path / file.name.replace("compact_json_", name) for name in ("protobuf_json_", encoding))
    for each in (typed, other):
        each.write_bytes(file.read_bytes())
    with pytest.raises(UsageError, match=r"same lines in two encodings\. Load each into its own store"):
        lf.load_bulk(net, paths=[typed, other])
    frames = lf.load_bulk(net, paths=typed)
    with pytest.raises(UsageError, match=r"in the store, in another encoding\. Load it into another store"):
        lf.load_bulk(net, paths=other)
    with pytest.raises(UsageError, match="in the store, in another encoding"):
        lf.load_bulk(net, object_keys=[unquote(other.name)])
    assert lf.load_bulk(net, paths=typed).updates.equals(frames.updates)
    assert lf.sql(net, "select count(*) as n from updates")["n"].tolist() == [len(frames.updates)]


@pytest.mark.exhaustive
def test_what_was_named_changes_no_range(tmp_path: Path, objects: Path, listed: dict[str, pd.DataFrame], good: lf.Frames) -> None:
    net, key = connect(tmp_path), good.bulk_objects["object_key"].iloc[-1]
    lf.load_bulk(net, paths=[file for file in objects.iterdir() if unquote(file.name) != key])
    lf.load_bulk(net, **DAY)
    lf.load_bulk(net, object_keys=[key.replace("compact_json", "protobuf_json")])
    frames = lf.load_bulk(net, **WHOLE)
    assert frames.updates["update_id"].is_unique
    assert_equal(tables(frames), listed)
    assert int(lf.sql(net, "select count(*) as n from updates")["n"][0]) == len(frames.updates)
    contracts = lf.load_bulk(net, kind="acs", at="2026-11-08")
    acs_key = contracts.bulk_objects["object_key"].iloc[0]
    lf.load_bulk(net, kind="acs", object_keys=[acs_key.replace("compact_json", "protobuf_json")])
    again = lf.load_bulk(connect(tmp_path, offline=True), kind="acs", at="2026-11-08")
    assert len(again.active_contracts) == len(contracts.active_contracts) > 0
    assert len(again.bulk_objects) == len(contracts.bulk_objects) > 1


def test_a_snapshot_of_the_network_is_a_base(tmp_path: Path) -> None:
    net = connect(tmp_path)
    base = lf.load_bulk(net, kind="acs", at="2026-11-08").active_contracts
    day = lf.load_bulk(net, **DAY)
    expected = with_sorted_payloads(lf.load_bulk(net, kind="acs", at="2026-11-09").active_contracts)
    pd.testing.assert_frame_equal(with_sorted_payloads(lf.contracts.active_at(day, "2026-11-09", base=base)), expected)


def test_rows_of_two_segments_are_sorted_together(tmp_path: Path, objects: Path) -> None:
    net = connect(tmp_path)
    later, earlier = sorted(objects.iterdir())[1], sorted(objects.iterdir())[0]
    for number, file in enumerate((later, earlier)):
        (tmp_path / f"{number}.zstd").write_bytes(file.read_bytes())
    frames = lf.load_bulk(net, paths=[tmp_path / "0.zstd", tmp_path / "1.zstd"])
    for name in frames.tables:
        keys = frames.read(name, [column for column in TABLES[name].sort if column != "kind"])
        pd.testing.assert_frame_equal(keys, keys.sort_values(list(keys.columns), ignore_index=True))


def test_compaction_leaves_objects_apart(tmp_path: Path) -> None:
    from ledgerframes.store.compact import compact

    net = connect(tmp_path)
    keys = lf.load_bulk(net, **DAY).bulk_objects["object_key"].tolist()
    before = tables(lf.load_bulk(net, object_keys=keys[2:4]))
    compact(net.store)
    after = lf.load_bulk(net, object_keys=keys[2:4])
    assert_equal(tables(after), before)
    assert after.bulk_objects["object_key"].tolist() == keys[2:4]


def test_files_on_the_disk_need_no_network(tmp_path: Path, objects: Path, listed: dict[str, pd.DataFrame]) -> None:
    net = connect(tmp_path, offline=True)
    assert_equal(tables(lf.load_bulk(net, paths=objects)), listed)
    assert set(lf.load_bulk(net, paths=sorted(objects.iterdir())[:2]).bulk_objects["source"]) == {"file"}


def test_a_file_under_another_name_is_known_by_its_bytes(tmp_path: Path, objects: Path) -> None:
    original = sorted(objects.iterdir())[3]
    file = tmp_path / "renamed.zstd"
    file.write_bytes(original.read_bytes())
    net = connect(tmp_path / "store")
    frames = lf.load_bulk(net, paths=file)
    assert frames.bulk_objects["since"].isna().all()
    assert lf.load_bulk(net, paths=[file, file]).updates.equals(frames.updates)
    other = connect(tmp_path / "other")
    by_key = lf.load_bulk(other, paths=original)
    again = lf.load_bulk(other, paths=file)
    assert again.bulk_objects["object_key"].tolist() == by_key.bulk_objects["object_key"].tolist()
    assert len(other.store.committed_keys(BULK_BY_KEY)) == 1


def test_downloads_are_kept_when_asked(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    frames = lf.load_bulk(connect(tmp_path / "a"), **DAY, download_dir=kept)
    assert len(list(kept.glob("*.zstd"))) == len(frames.bulk_objects)
    again = lf.load_bulk(connect(tmp_path / "b", offline=True), paths=kept)
    assert_equal(tables(again), tables(frames))
    assert not list((tmp_path / "a").rglob("*.part"))


def test_a_bit_that_flips_after_the_download_is_noticed(tmp_path: Path) -> None:
    """It may lie in a value, where neither compression nor JSON would show it."""
    kept = tmp_path / "kept"
    lf.load_bulk(connect(tmp_path / "a"), **DAY, download_dir=kept)
    file = min(kept.glob("*.zstd"))
    digest = file.with_name(f"{file.name}.sha256")
    assert digest.read_text() == f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
    good = file.read_bytes()
    file.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    with pytest.raises(IntegrityError, match=r"has the digest .+ is in its digest file"):
        lf.load_bulk(connect(tmp_path / "b"), paths=kept)
    file.write_bytes(good)
    assert set(lf.load_bulk(connect(tmp_path / "c"), paths=kept).bulk_objects["digest_status"]) == {"matched"}
    digest.write_text("no digest")
    with pytest.raises(UsageError, match="has no SHA-256 digest"):
        lf.load_bulk(connect(tmp_path / "d"), paths=kept)


def test_nothing_but_bad_objects_is_an_error_also_of_a_part(tmp_path: Path) -> None:
    (tmp_path / "bad.zstd").write_bytes(b"no object")
    with pytest.raises(IntegrityError, match=r"^Cannot read 1 bulk object, the first because: (?!.*allow_partial)"):
        lf.load_bulk(connect(tmp_path / "store"), paths=tmp_path / "bad.zstd", allow_partial=True)


def test_active_contracts_are_those_of_the_newest_snapshot(tmp_path: Path) -> None:
    net = connect(tmp_path)
    frames = lf.load_bulk(net, kind="acs", at="2026-11-08T17:00:00Z")
    assert set(frames.active_contracts["snapshot_time"].astype(str)) == {"2026-11-08 00:00:00+00:00"}
    box = Sandbox(**WORLD)
    client = httpx.Client(transport=httpx.WSGITransport(app=box.app), base_url=box.history_url)
    refs = client.get("/v0/history/bulk/acs", params={"at_or_before_record_time": "2026-11-08T17:00:00Z"}).json()["object_refs"]
    expected: dict[str, Any] = {}
    for ref in refs:
        with zstandard.ZstdDecompressor().stream_reader(client.get(ref["url"]).content, read_across_frames=True) as lines:
            expected.update({(contract := json.loads(line))["contract_id"]: contract for line in lines.read().splitlines()})
    contracts = frames.active_contracts
    assert contracts["contract_id"].tolist() == sorted(expected)
    assert [json.loads(text) for text in contracts["create_arguments"]] == [
        expected[contract_id]["create_arguments"] for contract_id in contracts["contract_id"]
    ]
    offline = lf.load_bulk(connect(tmp_path, offline=True), kind="acs", at="2026-11-08T17:00:00Z")
    pd.testing.assert_frame_equal(offline.active_contracts, contracts)
    with pytest.raises(UsageError, match=r"lists no active contracts at or before 2026-11-01T00:00:00Z .* Pass a later at="):
        lf.load_bulk(net, kind="acs", at="2026-11-01")


def test_the_snapshot_of_a_midnight_is_listed_once(tmp_path: Path) -> None:
    net = connect(tmp_path)
    contracts = lf.load_bulk(net, kind="acs", at="2026-11-08").active_contracts
    before = net.request_count
    pd.testing.assert_frame_equal(lf.load_bulk(net, kind="acs", at="2026-11-08").active_contracts, contracts)
    assert net.request_count == before
    lf.load_bulk(net, kind="acs", at="2026-11-08T17:00:00Z")  # a newer snapshot could be before this time
    assert net.request_count > before


def test_state_from_history_equals_the_objects_of_active_contracts(tmp_path: Path) -> None:
    net = connect(tmp_path)
    frames = lf.load_bulk(net, since="0001-01-01", until="2026-11-09")
    migrations = frames.updates.set_index("update_id")["migration_id"]
    for day in ("2026-11-07", "2026-11-08", "2026-11-09"):
        snapshot = with_sorted_payloads(lf.load_bulk(net, kind="acs", at=day).active_contracts)
        replayed = with_sorted_payloads(lf.contracts.active_at(frames, day))
        created_in = replayed["created_in_update_id"].map(migrations)
        is_imported = created_in < created_in.max()  # a snapshot does not name updates of earlier migrations
        expected = replayed.assign(created_in_update_id=replayed["created_in_update_id"].mask(is_imported))
        pd.testing.assert_frame_equal(expected, snapshot)
    assert is_imported.any()


# -- who does the work ----------------------------------------------------------------------------------------------


class Shuffling(Executor):
    """Ends tasks in an order of its own."""

    def __init__(self, seed: int) -> None:
        self._pool = ThreadPoolExecutor(3)
        self._chance = random.Random(seed)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        pause = self._chance.random() / 20
        return self._pool.submit(lambda: (time.sleep(pause), fn(*args, **kwargs))[1])


@pytest.mark.parametrize("seed", every_nth(range(3), 3))
def test_any_order_of_workers_gives_the_same_frames(
    tmp_path: Path, objects: Path, listed: dict[str, pd.DataFrame], seed: int
) -> None:
    net = connect(tmp_path, segment_bytes=random.Random(seed).choice([1, 50_000, 16_000_000]))
    assert_equal(tables(lf.load_bulk(net, paths=objects, executor=Shuffling(seed))), listed)


def test_two_loads_at_once_double_nothing(tmp_path: Path, objects: Path, listed: dict[str, pd.DataFrame]) -> None:
    loads = [threading.Thread(target=lambda: lf.load_bulk(connect(tmp_path), paths=objects)) for _ in range(2)]
    for load in loads:
        load.start()
    for load in loads:
        load.join()
    assert_equal(tables(lf.load_bulk(connect(tmp_path), paths=objects)), listed)


# -- looking before reading -----------------------------------------------------------------------------------------


def test_a_plan_names_what_would_be_read(tmp_path: Path) -> None:
    net = connect(tmp_path, events=800, days=1)
    plan = lf.plan(lf.load_bulk, net, **DAY)
    numbers = plan["object_key"].str.extract(r"_(\d+)\.zstd")[0].astype(int)
    assert numbers.is_monotonic_increasing
    assert numbers.max() >= 10, "10 must come after 2, or nothing is shown"
    lf.load_bulk(net, **DAY)
    assert lf.plan(lf.load_bulk, net, **DAY).empty


def test_offline_what_was_not_read_is_an_error(tmp_path: Path) -> None:
    lf.load_bulk(connect(tmp_path), **DAY)
    offline = connect(tmp_path, offline=True)
    assert len(lf.load_bulk(offline, **DAY).updates)
    with pytest.raises(CoverageError, match="2026-11-06"):
        lf.load_bulk(offline, **WHOLE)
    with pytest.raises(CoverageError):
        lf.load_bulk(offline, object_keys=["2026-11-01T00:00:00Z~2026-11-02T00:00:00Z/updates_0.zstd"])
    with pytest.raises(CoverageError, match="snapshot"):
        lf.load_bulk(offline, kind="acs")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "Pass since="),
        ({**DAY, "object_keys": ["x"]}, "cannot be combined"),
        ({"until": "2026-11-09", "object_keys": ["x"]}, "cannot be combined"),
        ({"kind": "acs", **DAY}, "Pass at="),
        ({"at": "2026-11-09"}, "kind='updates'"),
        ({"kind": "other", **DAY}, "Unknown kind 'other'"),
        ({**DAY, "executor": 3}, "must be a concurrent.futures.Executor"),
        ({"object_keys": ["x"]}, "Invalid object key"),
        ({"object_keys": "x"}, "list of keys"),
        ({"object_keys": ["2026-11-08T00:00:00Z~2026-11-09T00:00:00Z/ACS_compact_json_0.zstd"]}, "kind='acs'"),
        ({"paths": "nowhere.zstd"}, "does not exist"),
        ({"paths": "."}, "contains no .*zstd"),
    ],
)
def test_calls_that_make_no_sense(tmp_path: Path, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        lf.load_bulk(connect(tmp_path), **asked)


def test_a_range_without_objects_is_empty_and_whole(tmp_path: Path) -> None:
    net = connect(tmp_path)
    frames = lf.load_bulk(net, since="2026-11-09", until="2026-11-09T06:00:00Z")
    assert len(frames.updates) == 0
    assert frames.coverage.empty, "the day is not over: nothing is claimed about it"


# -- what is wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("truncated_object", "digest"),
        pytest.param("corrupt_object", "digest", marks=pytest.mark.exhaustive),
        ("foreign_object", "something other than updates"),
        ("bomb_object", "max_decompression_ratio"),
    ],
)
def test_a_bad_object_is_named_and_the_rest_goes_on(tmp_path: Path, good_day: lf.Frames, fault: str, words: str) -> None:
    net = connect(tmp_path, faults=Faults(**{fault: 0.4}))
    with pytest.raises(IntegrityError, match=words) as caught:
        lf.load_bulk(net, **DAY)
    failed = dict(caught.value.failures)
    assert not list(tmp_path.rglob("*.part")), "the disk would fill up with what is asked for again and again"
    every = set(good_day.bulk_objects["object_key"])
    assert 0 < len(failed) < len(every)
    assert net.store.committed_keys(BULK) & every == every - failed.keys()
    frames = lf.load_bulk(net, **DAY, allow_partial=True)
    assert set(frames.bulk_objects["object_key"]) == every - failed.keys()
    # Where the service gives them right, only those are read.
    mended = connect(tmp_path)
    assert_equal(tables(lf.load_bulk(mended, **DAY)), tables(good_day))


def test_a_download_that_breaks_off_goes_on(tmp_path: Path, good_day: lf.Frames) -> None:
    for ranges in ({}, {"no_ranges": 1}):
        store = tmp_path / f"ranges{len(ranges)}"
        net = connect(store, faults=Faults(dropped_download=0.5, **ranges), retries=20)
        assert_equal(tables(lf.load_bulk(net, **DAY)), tables(good_day))


def test_what_a_killed_download_left_a_day_ago_is_removed(tmp_path: Path) -> None:
    net = connect(tmp_path)
    downloads = net.local_dir / "downloads"
    downloads.mkdir(parents=True)
    abandoned, active = downloads / f"abandoned{PARTIAL_SUFFIX}", downloads / f"active{PARTIAL_SUFFIX}"
    for partial in (abandoned, active):
        partial.write_bytes(b"part")
    os.utime(abandoned, (0, 0))
    lf.load_bulk(net, **DAY)
    assert (abandoned.exists(), active.exists()) == (False, True)


def test_the_digest_of_nothing_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ledgerframes"):
        frames = lf.load_bulk(connect(tmp_path, faults=Faults(digest_of_nothing=1)), **DAY)
    assert set(frames.bulk_objects["digest_status"]) == {"empty_digest"}
    assert "digest_of_empty_bytes" in caplog.text
    assert len(frames.updates)


def test_one_object_that_nobody_gives_does_not_stop_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = connect(tmp_path)
    keys = lf.plan(lf.load_bulk, net, **DAY)["object_key"].tolist()
    download = net.history.bulk_download

    def flaky(object_key: str, target: Path) -> Any:
        if object_key == keys[1]:
            raise HostUnreachableError("broke off")
        return download(object_key, target)

    monkeypatch.setattr(net.history, "bulk_download", flaky)
    frames = lf.load_bulk(net, **DAY, allow_partial=True)
    assert list(frames.failed_objects) == [keys[1]]
    assert repr(frames).endswith("  not read           1 bulk object")
    monkeypatch.setattr(net.history, "bulk_download", lambda *_: (_ for _ in ()).throw(HostUnreachableError("down")))
    with pytest.raises(HostUnreachableError):
        lf.load_bulk(net, **WHOLE)
    assert net.store.committed_keys(BULK) >= set(keys) - {keys[1]}


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        lf.load_bulk(connect(tmp_path / "store"), **DAY, download_dir=tmp_path / "file" / "below")


def test_a_hole_in_the_listing_is_not_taken_for_an_empty_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: dict[str, pd.DataFrame]
) -> None:
    net = connect(tmp_path)
    listing = net.history.bulk_updates

    def lacking(*given: Any, **named: Any) -> Any:
        page = listing(*given, **named)
        page.object_refs = [ref for ref in page.object_refs if "2026-11-07T00%3A00%3A00Z%7E2026-11-08" not in ref.url]
        return page

    monkeypatch.setattr(net.history, "bulk_updates", lacking)
    assert len(lf.load_bulk(net, **WHOLE).updates) < len(listed["updates"])
    monkeypatch.undo()
    assert_equal(tables(lf.load_bulk(connect(tmp_path), **WHOLE)), listed)


def test_a_key_that_is_not_there_does_not_stop_the_others(tmp_path: Path) -> None:
    net = connect(tmp_path)
    good = lf.plan(lf.load_bulk, net, **DAY)["object_key"].tolist()[:2]
    missing = "2026-01-01T00:00:00Z~2026-01-02T00:00:00Z/updates_0.zstd"
    with pytest.raises(IntegrityError, match=r"^Cannot read 1 bulk object, the first because: ") as caught:
        lf.load_bulk(net, object_keys=[missing, *good])
    assert list(caught.value.failures) == [missing]
    assert net.store.committed_keys(BULK_BY_KEY) >= set(good)
    assert lf.load_bulk(net, object_keys=[missing, *good], allow_partial=True).bulk_objects["object_key"].tolist() == good


def damaged(content: bytes) -> dict[str, bytes]:
    lines = zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True).read()
    compress = zstandard.ZstdCompressor(level=3, write_content_size=False).compress
    backwards = b"".join(line + b"\n" for line in lines.splitlines()[::-1])
    huge = json.loads(lines.splitlines()[0])
    huge["migration_id"] = 2**70
    return {
        "is empty": b"",
        "truncated": content[:-40],
        "not zstd": b"nothing of the kind",
        "truncated inside a line": compress(lines[:-30]),
        "Unexpected line": compress(b'{"a":1}\n'),
        "Line 2": compress(lines.splitlines()[0] + b"\nnot json\n"),
        "larger than the API allows|something other": compress(json.dumps(huge).encode() + b"\n"),
        "not in order": b"".join(compress(part) for part in (backwards * 3,)),
    }


def test_files_without_a_digest_are_checked_by_their_frames_and_lines(
    tmp_path: Path, objects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerframes.datasets.bulk.expand.BATCH_BYTES", 40_000)
    good = sorted(objects.iterdir())[4].read_bytes()
    for number, (words, content) in enumerate(damaged(good).items()):
        file = tmp_path / f"{number}.zstd"
        file.write_bytes(content)
        with pytest.raises(IntegrityError, match=words):
            lf.load_bulk(connect(tmp_path / "store"), paths=file)
    none = tmp_path / "no lines.zstd"
    none.write_bytes(zstandard.ZstdCompressor().compress(b""))
    assert len(lf.load_bulk(connect(tmp_path / "store"), paths=none).updates) == 0


def test_a_network_without_bulk_storage_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = connect(tmp_path)

    def absent(*_: object, **__: object) -> None:
        raise NotFoundError("The requested resource could not be found.", status=404)

    monkeypatch.setattr(net.history, "bulk_updates", absent)
    with pytest.raises(UsageError, match="load_events"):
        lf.load_bulk(net, **DAY)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(400, json={"error": "UNIMPLEMENTED: Bulk storage is not configured"}),
        httpx.Response(404, text="The requested resource could not be found."),
    ],
    ids=str,
)
def test_a_host_without_bulk_storage_leaves_it_to_the_next(answer: httpx.Response, tmp_path: Path) -> None:
    box = Sandbox(**WORLD)
    inner, base = in_process(box.app), httpx.URL(box.history_url)
    without = {"one.invalid"}

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.host in without and "/history/bulk/" in request.url.path:
            return answer
        request.url = request.url.copy_with(host=base.host, port=base.port)
        return inner.handle_request(request)

    urls = [f"http://{name}.invalid{base.path}" for name in ("one", "two")]
    net = lf.connect("sandbox", store=tmp_path, history_url=urls, transport=httpx.MockTransport(handler), requests_per_second=0)
    frames = lf.load_bulk(net, **DAY)
    assert len(frames.updates)
    assert set(frames.bulk_objects["source"]) == {"two.invalid"}
    without.add("two.invalid")
    with pytest.raises(UsageError, match="lists no bulk objects"):
        lf.load_bulk(net, **WHOLE)


@pytest.mark.parametrize("encoding", every_nth(["protobuf_json_", ""], 2))
def test_objects_listed_in_two_encodings_are_read_once(
    encoding: str, tmp_path: Path, good: lf.Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_both(listing: Any) -> Any:
        def list_both(*given: Any, **named: Any) -> Any:
            page = listing(*given, **named)
            others = [ObjectRef(ref.url.replace("compact_json_", encoding)) for ref in page.object_refs if "compact" in ref.url]
            return msgspec.structs.replace(page, object_refs=sorted([*page.object_refs, *others], key=lambda ref: ref.url))

        return list_both

    net = connect(tmp_path)
    for name in ("bulk_updates", "bulk_active_contracts"):
        monkeypatch.setattr(net.history, name, in_both(getattr(net.history, name)))
    frames = lf.load_bulk(net, **WHOLE)
    pd.testing.assert_frame_equal(frames.updates, good.updates)
    assert frames.bulk_objects["object_key"].tolist() == good.bulk_objects["object_key"].tolist()
    assert set(lf.load_bulk(net, kind="acs").bulk_objects["encoding"]) == {"compact_json"}


def test_a_digest_in_another_form_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    net = connect(tmp_path)
    listing = net.history.bulk_updates

    def strange(*given: Any, **named: Any) -> Any:
        page = listing(*given, **named)
        for ref in page.object_refs:
            ref.digest = base64.b64encode(b"short").decode()
        return page

    monkeypatch.setattr(net.history, "bulk_updates", strange)
    assert set(lf.load_bulk(net, **DAY).bulk_objects["digest_status"]) == {"unknown"}


def test_paths_that_are_no_paths_or_have_no_snapshot_time_are_refused(tmp_path: Path) -> None:
    net = connect(tmp_path / "store")
    with pytest.raises(UsageError, match="paths= must be paths of files or directories, got 5"):
        lf.load_bulk(net, paths=[tmp_path, 5])  # type: ignore[list-item]
    (tmp_path / "contracts.zstd").write_bytes(b"")
    with pytest.raises(UsageError, match="is not named by the key of an ACS object"):
        lf.load_bulk(net, paths=tmp_path / "contracts.zstd", kind="acs")


def test_a_listing_that_lacks_an_object_within_a_day_is_refused(tmp_path: Path) -> None:
    """Only the numbers of the keys show that. A snapshot has the objects of one folder, too."""
    history = connect(tmp_path).history
    refs = history.bulk_updates(instant("2026-11-07"), instant("2026-11-08")).object_refs
    assert len(refs) > 2
    with pytest.raises(DecodeError, match=r"is incomplete, with objects 0, 2"):
        _folders([refs[0], *refs[2:]], "updates")
    snapshot = history.bulk_active_contracts(instant("2026-11-08"))
    assert len(_folders(snapshot.object_refs, "acs")) == 1
