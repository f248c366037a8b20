"""A location reads and writes the same in a directory and under a prefix of a bucket."""

from __future__ import annotations

import os
import pickle
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from object_stores import KEYS, ObjectStore
from pyarrow import fs

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location, object_store_error

pytestmark = pytest.mark.loopback
LARGE = os.urandom(11 << 20)  # more than one part of an upload


@pytest.fixture(params=["folder", "bucket"])
def location(request: pytest.FixtureRequest, tmp_path: Path, objects: ObjectStore) -> Location:
    return Location.parse(tmp_path if request.param == "folder" else objects.uri(tmp_path.name))


def put(location: Location, path: str, data: bytes) -> str:
    with location.write(path) as file:
        file.write(data)
    return file.sha256


def got(location: Location, path: str) -> bytes:
    with location.read(path) as file:
        return bytes(file.read())


def names(location: Location, under: str = "") -> list[str]:
    return sorted(file.path for file in location.iter_files(under))


# -- reading and writing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"a few bytes", LARGE], ids=["empty", "small", "large"])
def test_what_is_written_is_read(location: Location, data: bytes) -> None:
    assert not location.exists("traffic/a.parquet")
    digest = put(location, "traffic/a.parquet", data)
    assert location.exists("traffic/a.parquet")
    assert got(location, "traffic/a.parquet") == data
    assert len(digest) == 64
    (file,) = location.iter_files()
    assert (file.path, file.bytes) == ("traffic/a.parquet", len(data))
    assert file.modified_at > 1e9


@pytest.mark.parametrize(
    ("data", "failure"),
    [(b"half", ValueError), (b"half", OSError), (LARGE, KeyboardInterrupt)],
    ids=["small", "small-disk", "large-stopped"],
)
def test_a_write_that_fails_leaves_nothing(location: Location, data: bytes, failure: type[BaseException]) -> None:
    with pytest.raises(StoreError if failure is OSError else failure), location.write("traffic/a.parquet") as file:
        file.write(data)
        raise failure
    assert names(location) == []


def test_a_parquet_file_that_fails_leaves_nothing(location: Location) -> None:
    table = pa.table({"n": [1, 2, 3]})
    with (
        pytest.raises(pa.ArrowInvalid),
        location.write("traffic/a.parquet") as file,
        pq.ParquetWriter(file, table.schema) as writer,
    ):
        writer.write_table(table)
        raise pa.ArrowInvalid("no more rows")
    assert names(location) == []


def test_listings_are_recursive_and_only_of_the_directory(location: Location) -> None:
    for path in ("a/x", "a/b/y", "ab/z"):
        put(location, path, b"1")
    assert names(location) == ["a/b/y", "a/x", "ab/z"]
    assert names(location, "a") == ["a/b/y", "a/x"]
    assert names(location, "nothing") == []
    assert location.list_directories() == ["a", "ab"]
    assert names(location.child("a")) == ["b/y", "x"]
    assert location.child("nothing").list_directories() == []


class ChangingDirectory:
    """A file system with a directory that is created while it is listed for the first time."""

    def __init__(self, filesystem: fs.FileSystem) -> None:
        self._filesystem = filesystem
        self.listings = 0

    def get_file_info(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        self.listings += 1
        if self.listings == 1:
            raise FileNotFoundError(2, "Cannot list directory")
        infos: list[fs.FileInfo] = self._filesystem.get_file_info(selector)
        return infos


def test_a_directory_that_changes_is_listed_again(tmp_path: Path) -> None:
    put(Location.parse(tmp_path), "a/x", b"1")
    changing = ChangingDirectory(Location.parse(tmp_path).filesystem)

    class ChangingLocation(Location):
        filesystem = changing

    assert (names(ChangingLocation.parse(tmp_path)), changing.listings) == (["a/x"], 2)


def test_removing_and_moving(location: Location) -> None:
    put(location, "a/x", b"1")
    location.move("a/x", "quarantine/x")
    assert names(location) == ["quarantine/x"]
    location.remove("quarantine/x")
    location.remove("quarantine/x")
    location.remove("never/there")
    assert names(location) == []


def test_a_copy_replaces_what_was_there(location: Location) -> None:
    put(location, "new", b"2")
    put(location, "live", b"1")
    location.copy("new", "live")
    assert (got(location, "live"), got(location, "new")) == (b"2", b"2")


def test_a_missing_file_is_a_file_not_found_error(location: Location) -> None:
    with pytest.raises(FileNotFoundError):
        location.read("traffic/none")


def test_a_location_can_be_pickled(location: Location) -> None:
    put(location, "x", b"1")
    assert got(pickle.loads(pickle.dumps(location)), "x") == b"1"


# -- addresses ------------------------------------------------------------------------------------------------------


def test_an_address_is_parsed_and_formatted() -> None:
    location = Location.parse("s3://bucket/some/prefix/?region=eu-central-1").child("net")
    assert (location.root, location.bucket) == ("s3://bucket/some/prefix/net", "bucket")
    assert location.uri == "s3://bucket/some/prefix/net?region=eu-central-1"
    assert location.local_path is None
    assert Location.parse(location.uri) == location
    assert Location.parse("s3://bucket?region=x").child("net").filesystem.base_path == "bucket/net/"
    assert Location.parse("relative").local_path == Path("relative").absolute()


@pytest.mark.parametrize(
    "address",
    [
        "s3://bucket/x?secret_key=hidden",
        "s3://hidden:hidden@bucket/x",
        "s3://bucket/x?connect_timeout=hidden",
        "s3://?region=hidden",
    ],
)
def test_an_invalid_address_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(StoreError, match=r"Write s3://bucket/prefix, .* AWS_SECRET_ACCESS_KEY\.$") as raised:
        Location.parse(address).exists("x")
    assert "hidden" not in str(raised.value)
    assert raised.value.__suppress_context__


# -- failures -------------------------------------------------------------------------------------------------------

EVERYTHING = [
    lambda location: location.exists("x"),
    lambda location: location.read("x"),
    lambda location: put(location, "x", b"1"),
    lambda location: put(location, "x", LARGE),
    lambda location: list(location.iter_files()),
    lambda location: location.list_directories(),
    lambda location: location.remove("x"),
    lambda location: location.move("x", "y"),
    lambda location: location.copy("x", "y"),
]


def test_a_missing_bucket_is_reported_by_writes_and_checks(objects: ObjectStore) -> None:
    location = Location.parse(objects.uri("x", bucket="nowhere"))
    for data in (b"1", LARGE):
        with pytest.raises(StoreError, match=r"has no such bucket .* Create the bucket, or correct the setting store\.$"):
            put(location, "x", data)
    with pytest.raises(StoreError, match="has no such bucket"):
        location.require_bucket()
    Location.parse(objects.uri("x")).require_bucket()


@pytest.mark.parametrize("act", EVERYTHING)
def test_rejected_keys_are_reported_and_not_shown(objects: ObjectStore, act: object, capfd: pytest.CaptureFixture[str]) -> None:
    location = Location.parse(objects.uri("denied"))
    put(location, "x", b"1")
    objects.demand_keys(True)
    try:
        with pytest.raises(StoreError, match=r"rejected (unknown|the) keys .* Check AWS_ACCESS_KEY_ID") as raised:
            act(location)  # type: ignore[operator]
        location.require_bucket()  # keys may be good for the prefix only
    finally:
        objects.demand_keys(False)
    assert not any(key in f"{raised.value} {raised.value!r} {location!r} {capfd.readouterr()}" for key in KEYS.values())


def test_missing_keys_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    signed = []

    class Refusing(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            signed.append("Authorization" in self.headers)
            self.send_response(403)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with pytest.raises(StoreError, match=r"rejected the keys .* Check AWS_ACCESS_KEY_ID"):
                Location.parse(ObjectStore(server.server_port).uri("x")).exists("x")
        finally:
            server.shutdown()
            thread.join()
    assert set(signed) == {False}


def unused_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def test_an_unreachable_endpoint_is_reported() -> None:
    location = Location.parse(ObjectStore(unused_port()).uri("x"))
    with ThreadPoolExecutor() as pool:  # Arrow waits between three tries
        for waiting in [pool.submit(act, location) for act in (EVERYTHING[0], EVERYTHING[2])]:
            with pytest.raises(
                StoreError, match=r"at 127\.0\.0\.1:\d+ does not respond \(NETWORK_CONNECTION at \w+\)\. Check the network"
            ):
                waiting.result()


def test_an_endpoint_that_never_responds_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        location = Location.parse(ObjectStore(silent.getsockname()[1]).uri("x") + "&request_timeout=0.2")
        with pytest.raises(StoreError, match="does not respond"):
            location.exists("x")


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        (
            "AWS Error UNKNOWN (HTTP status 301) during HeadObject operation: <b>AKIA</b>",
            "in another region (UNKNOWN 301 at HeadObject)",
        ),
        ("AWS Error ACCESS_DENIED during PutObject operation: AKIA", "rejected the keys (ACCESS_DENIED at PutObject)"),
        ("AWS Error SLOW_DOWN during PutObject operation: AKIA", "failed (SLOW_DOWN at PutObject)"),
        ("AWS Error REQUEST_TIME_TOO_SKEWED during PutObject operation: AKIA", "rejected the request's time"),
        ("something AKIA", "failed (OSError)"),
    ],
)
def test_error_codes_become_messages_without_secrets(said: str, meaning: str) -> None:
    error = object_store_error(Location.parse("s3://bucket/x?endpoint_override=AKIA@host:9"), OSError(said))
    assert meaning in str(error)
    assert "s3://bucket/x at host:9" in str(error)
    assert "AKIA" not in str(error)
    assert error.path == "s3://bucket/x"


def test_a_path_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "events").write_bytes(b"")
    with pytest.raises(StoreError, match="The store cannot be written at "):
        put(Location.parse(tmp_path), "events/part", b"x")
