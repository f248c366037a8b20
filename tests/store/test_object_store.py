"""A store in a bucket: it holds what a folder holds, what one machine commits others read, and what is wrong is named."""

from __future__ import annotations

import logging
import pickle
import shutil
import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from equality import assert_equal, every_table
from object_stores import CATALOG, KEYS, Machine, ObjectStore, commit, left_in, replace_catalog, seen, served

import ledgerframes as lf
from ledgerframes.api.transport import in_process
from ledgerframes.cli.store import describe
from ledgerframes.datasets.registry import DATASETS, EVENTS
from ledgerframes.doctor import check_store
from ledgerframes.errors import StoreError
from ledgerframes.sandbox import Sandbox
from ledgerframes.store import Store
from ledgerframes.store.catalog_schema import SCHEMA
from ledgerframes.store.location import Location
from ledgerframes.values.extents import Migration
from ledgerframes.values.windows import Window

pytestmark = pytest.mark.loopback
WORLD = {"events": 400, "days": 1}
DAY = {"since": "2026-11-08", "until": "2026-11-09"}


# -- the whole cycle ------------------------------------------------------------------------------------------------


def test_a_store_in_a_bucket_holds_what_a_folder_holds(uri: str, machine: Machine, tmp_path: Path) -> None:
    expected = lf.load_events(lf.connect("sandbox", **WORLD), **DAY)
    machine()
    net = lf.connect("sandbox", store=uri, max_concurrency=2, **WORLD)
    found = lf.load_events(net, **DAY)
    asked = net.request_count
    assert len(lf.plan(lf.load_events, net, **DAY)) == 0
    lf.load_events(net, **DAY)
    assert net.request_count == asked
    machine()
    offline = lf.load_events(lf.connect("sandbox", store=uri, offline=True, **WORLD), **DAY)
    for frames in (found, offline):
        assert frames.tables == expected.tables
        assert_equal(every_table(frames), every_table(expected))
    assert len(found.traffic) > 0

    document = describe(net)
    assert document["exists"]
    assert document["location"] == f"s3://bucket/{tmp_path.name}/{net.name}"
    second_verdicts = found.problems.set_index("table")["rows"].get("traffic", 0)
    assert document["tables"]["events.traffic"]["rows"] == len(found.traffic) + second_verdicts
    other = lf.connect("sandbox", store=uri, seed=2, **WORLD)
    assert describe(other)["other_networks"] == [net.name]
    assert not other.store.exists()
    assert [check.status for check in check_store(net)] == ["ok", "ok", "ok"]
    assert left_in(net.store) == [CATALOG]
    assert not any(key in f"{net!r} {net._repr_html_()} {document}" for key in KEYS.values())


def test_a_snapshot_is_a_local_copy_over_the_bucket(uri: str, machine: Machine, tmp_path: Path) -> None:
    store = machine()
    commit(store, 0, 5, 1, final=False)
    store.freeze(tmp_path / "frozen.sqlite")
    commit(machine(), 0, 9, 2)
    assert seen(Store(uri, "net", DATASETS, tmp_path / "frozen.sqlite")) == dict.fromkeys(range(5), 1)
    assert seen(store) == dict.fromkeys(range(9), 2)
    net = lf.connect(store=uri, snapshot=tmp_path / "frozen.sqlite", **WORLD)
    assert net.offline
    assert net.store.migrations() == []


def test_the_wallets_journal_stays_on_this_machine(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    box = Sandbox(**WORLD)
    urls = {"history_url": box.history_url, "wallet_url": box.wallet_url}
    net = lf.connect("sandbox", transport=in_process(box.app), token=box.token, store=uri, requests_per_second=0, **urls)
    expiry = box.now.replace(year=2099)
    net.wallet.offer_transfer(receiver=box.user_parties[1], amount=Decimal("1.5"), description="gift", expires_at=expiry)
    assert len(lf.load_transfer_offers(net)) == 1
    assert tmp_path / "data" in net.local_dir.parents
    assert any(net.local_dir.iterdir())
    assert list(net.store.root.iter_files()) == []


# -- readers --------------------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_a_reader_sees_commits_whole_and_in_order_while_a_writer_goes_on(machine: Machine) -> None:
    writer, reader = machine(), machine()
    steps, sights = 8, []

    def write() -> None:
        for step in range(steps):
            commit(writer, 10 * step, 10 * step + 10, step)

    thread = threading.Thread(target=write)
    thread.start()
    while thread.is_alive():
        sights.append(seen(reader))
    thread.join()
    sights.append(seen(reader))
    whole = {10 * step + time: step for step in range(steps) for time in range(10)}
    for before, sight in zip([{}, *sights], sights, strict=False):
        assert len(sight) % 10 == 0
        assert sight == {time: whole[time] for time in range(len(sight))}
        assert len(sight) >= len(before)
    assert sights[-1] == whole
    assert len({len(sight) for sight in sights}) > 2, "the writer was over before the reader could look"


@pytest.fixture
def logged(objects: ObjectStore) -> None:
    """Only the object store in this process logs its requests here."""
    if objects.name != "moto":
        pytest.skip(f"{objects.name} is another process")


def requests(caplog: pytest.LogCaptureFixture, act: Callable[[], object]) -> list[str]:
    """What the object store was asked meanwhile."""
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "object_stores"):
        act()
    return [record.getMessage() for record in caplog.records if record.name == "object_stores"]


@pytest.mark.usefixtures("logged")
def test_a_second_read_makes_one_request_and_fetches_nothing(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    commit(machine(), 0, 5, 1)
    reader = machine()
    assert requests(caplog, lambda: reader.segments(EVENTS)) == ["HEAD", "GET"]
    assert requests(caplog, lambda: reader.segments(EVENTS)) == ["HEAD"]
    commit(machine(), 5, 9, 1)
    assert requests(caplog, lambda: reader.segments(EVENTS)) == ["HEAD", "GET"]


@pytest.mark.usefixtures("logged")
def test_a_writer_reads_its_own_commit_without_fetching(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    store = machine()
    commit(store, 0, 5, 1)
    assert requests(caplog, lambda: seen(store))[0] == "HEAD"
    assert requests(caplog, lambda: store.segments(EVENTS)) == ["HEAD"]


@pytest.mark.usefixtures("logged")
def test_a_writer_looks_at_the_catalog_once_before_it_writes(machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    store = machine()
    commit(store, 0, 5, 1)
    made = requests(caplog, lambda: store.save_migrations([Migration(4, 0)]))
    assert made[: made.index("PUT", 2)] == ["HEAD", "PUT", "GET", "HEAD"], "read, claim, list, look"


def test_a_catalog_replaced_between_two_requests_is_fetched_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(machine(), 0, 5, 1)
    reader, read, torn = machine(), Location.read, [True]

    class Torn:
        def __init__(self, file: pa.NativeFile) -> None:
            self.file = file
            self.metadata = file.metadata

        def __enter__(self) -> Torn:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def read(self) -> bytes:
            content = bytes(self.file.read())
            return content[: len(content) // 2] if torn.pop() else content

    monkeypatch.setattr(Location, "read", lambda location, path: Torn(read(location, path)))
    torn[:] = [False, True, True]
    assert len(reader.segments(EVENTS)) == 1
    assert torn == []


def test_a_cleaned_temporary_folder_is_no_empty_store(machine: Machine) -> None:
    store = machine()
    commit(store, 0, 5, 1)
    shutil.rmtree(store.catalog.path.parent)
    assert seen(store) == dict.fromkeys(range(5), 1)
    shutil.rmtree(store.catalog.path.parent)
    commit(store, 5, 7, 1)
    assert seen(store) == dict.fromkeys(range(7), 1)


def test_a_catalog_taken_away_is_refused_and_without_its_files_an_empty_store(machine: Machine) -> None:
    store = machine()
    commit(store, 0, 5, 1)
    store.location.remove(CATALOG)
    for act in (lambda: seen(store), lambda: commit(store, 0, 3, 2)):
        with pytest.raises(StoreError, match="store rebuild"):
            act()
    for file in store.table_files():
        store.location.remove(file.path)
    assert seen(store) == {}
    commit(store, 0, 3, 2)
    assert seen(store) == dict.fromkeys(range(3), 2)


def test_a_newer_schema_and_a_damaged_catalog_are_named_by_their_address(machine: Machine, tmp_path: Path) -> None:
    store = machine()
    path = tmp_path / "newer.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
    connection.close()
    for content, message in (
        (path.read_bytes(), f"The catalog {store.location}/catalog.sqlite has schema {SCHEMA.version + 1}"),
        (b"no catalog", f"Cannot read the catalog {store.location}/{CATALOG}"),
    ):
        replace_catalog(store, content)
        for act in (lambda: store.segments(EVENTS), lambda: commit(store, 0, 1, 1)):
            with pytest.raises(StoreError) as raised:
                act()
            assert message in str(raised.value)
        with store.location.read(CATALOG) as file:
            assert file.read() == content


# -- what cannot be reached -----------------------------------------------------------------------------------------


def everything(net: lf.Network) -> list[Callable[[], object]]:
    now = datetime(2026, 11, 8, tzinfo=UTC)
    return [
        lambda: lf.load_events(net, **DAY),
        lambda: describe(net),
        lambda: net.store.snapshot(EVENTS, Window(now, now.replace(hour=1))),
        lambda: net.store.save_migrations([Migration(4, 0)]),
        lambda: net.store.freeze(Path("frozen.sqlite")),
    ]


def test_a_missing_bucket_is_no_empty_store(objects: ObjectStore) -> None:
    net = lf.connect("sandbox", store=objects.uri("x", bucket="nowhere"), **WORLD)
    for act in everything(net):
        with pytest.raises(StoreError, match=r"has no such bucket .* Create the bucket, or correct the setting store\.$"):
            act()
    assert [check.status for check in check_store(net)] == ["failed", "ok", "failed"], "the journal is on this machine"
    assert "bucket" in check_store(net)[0].next_step


def test_refused_keys_are_an_error_with_the_next_step(objects: ObjectStore, uri: str) -> None:
    net = lf.connect("sandbox", store=uri, **WORLD)
    objects.demand_keys(True)
    try:
        for act in everything(net):
            with pytest.raises(StoreError, match=r"rejected (unknown|the) keys .* Check AWS") as raised:
                act()
            assert not any(key in f"{raised.value!r}" for key in KEYS.values())
        checks = check_store(net)
    finally:
        objects.demand_keys(False)
    assert [check.status for check in checks] == ["failed", "ok", "failed"], "the journal is on this machine"
    assert not any(key in f"{checks}" for key in KEYS.values())


def test_a_store_that_was_read_before_is_not_read_without_its_endpoint() -> None:
    with served() as brief:
        store = Store(brief.uri("x"), "net", DATASETS)
        commit(store, 0, 5, 1)
    with pytest.raises(StoreError, match="does not respond"):
        store.segments(EVENTS)


def test_frames_of_a_store_in_a_bucket_can_be_sent(uri: str, machine: Machine) -> None:
    machine()
    net = lf.connect("sandbox", store=uri, **WORLD)
    frames = lf.load_events(net, **DAY)
    sent = pickle.loads(pickle.dumps(frames))
    assert_equal(every_table(sent), every_table(frames))
    ids = sorted({*lf.load_updates(net).ledger_updates["update_id"]} & {*frames.verdicts["update_id"]})[:3]
    assert sent.where("verdicts", update_id=ids).population == "committed"
    assert pickle.loads(pickle.dumps(net.store)).segments(EVENTS) == net.store.segments(EVENTS)
