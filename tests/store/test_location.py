"""A place reads and writes the same, whether it is a folder or a prefix of a bucket."""

from __future__ import annotations

import os
import pickle
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from object_stores import KEYS, ObjectStore

from ledgerframes.errors import StoreError
from ledgerframes.store.location import Location, object_store_error

pytestmark = pytest.mark.loopback
LARGE = os.urandom(11 << 20)  # more than one part of an upload


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path, objects: ObjectStore) -> Location:
    return Location.parse(tmp_path if request.param == "folder" else objects.uri(tmp_path.name))


def put(place: Location, path: str, data: bytes) -> str:
    with place.write(path) as file:
        file.write(data)
    return file.sha256


def got(place: Location, path: str) -> bytes:
    with place.read(path) as file:
        return bytes(file.read())


def names(place: Location, under: str = "") -> list[str]:
    return sorted(stored.path for stored in place.iter_files(under))


# -- reading and writing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"a few bytes", LARGE], ids=["empty", "small", "large"])
def test_what_is_written_is_read(place: Location, data: bytes) -> None:
    assert not place.exists("traffic/a.parquet")
    digest = put(place, "traffic/a.parquet", data)
    assert place.exists("traffic/a.parquet")
    assert got(place, "traffic/a.parquet") == data
    assert len(digest) == 64
    (stored,) = place.iter_files()
    assert (stored.path, stored.bytes) == ("traffic/a.parquet", len(data))
    assert stored.modified_at > 1e9


@pytest.mark.parametrize(
    ("data", "failure"),
    [(b"half", ValueError), (b"half", OSError), (LARGE, KeyboardInterrupt)],
    ids=["small", "small-disk", "large-stopped"],
)
def test_a_write_that_fails_leaves_nothing(place: Location, data: bytes, failure: type[BaseException]) -> None:
    with pytest.raises(StoreError if failure is OSError else failure), place.write("traffic/a.parquet") as file:
        file.write(data)
        raise failure
    assert names(place) == []


def test_a_parquet_file_that_fails_leaves_nothing(place: Location) -> None:
    table = pa.table({"n": [1, 2, 3]})
    with (
        pytest.raises(pa.ArrowInvalid),
        place.write("traffic/a.parquet") as file,
        pq.ParquetWriter(file, table.schema) as writer,
    ):
        writer.write_table(table)
        raise pa.ArrowInvalid("no more rows")
    assert names(place) == []


def test_listings_go_down_but_name_only_what_is_below(place: Location) -> None:
    for path in ("a/x", "a/b/y", "ab/z"):
        put(place, path, b"1")
    assert names(place) == ["a/b/y", "a/x", "ab/z"]
    assert names(place, "a") == ["a/b/y", "a/x"]
    assert names(place, "nothing") == []
    assert place.list_directories() == ["a", "ab"]
    assert names(place.child("a")) == ["b/y", "x"]
    assert place.child("nothing").list_directories() == []


def test_removing_and_moving(place: Location) -> None:
    put(place, "a/x", b"1")
    place.move("a/x", "quarantine/x")
    assert names(place) == ["quarantine/x"]
    place.remove("quarantine/x")
    place.remove("quarantine/x")
    place.remove("never/there")
    assert names(place) == []


def test_a_copy_replaces_what_was_there(place: Location) -> None:
    put(place, "new", b"2")
    put(place, "live", b"1")
    place.copy("new", "live")
    assert (got(place, "live"), got(place, "new")) == (b"2", b"2")


def test_a_missing_file_is_missing_in_both(place: Location) -> None:
    with pytest.raises(FileNotFoundError):
        place.read("traffic/none")


def test_a_worker_gets_it_as_it_is(place: Location) -> None:
    put(place, "x", b"1")
    assert got(pickle.loads(pickle.dumps(place)), "x") == b"1"


# -- addresses ------------------------------------------------------------------------------------------------------


def test_an_address_is_taken_apart_and_put_together() -> None:
    place = Location.parse("s3://bucket/some/prefix/?region=eu-central-1").child("net")
    assert (place.root, place.bucket) == ("s3://bucket/some/prefix/net", "bucket")
    assert place.uri == "s3://bucket/some/prefix/net?region=eu-central-1"
    assert place.local_path is None
    assert Location.parse(place.uri) == place
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
def test_an_address_that_makes_no_sense_is_refused_without_showing_it(address: str) -> None:
    with pytest.raises(StoreError, match=r"Write s3://bucket/prefix, .* AWS_SECRET_ACCESS_KEY\.$") as raised:
        Location.parse(address).exists("x")
    assert "hidden" not in str(raised.value)
    assert raised.value.__suppress_context__


# -- failures -------------------------------------------------------------------------------------------------------

EVERYTHING = [
    lambda place: place.exists("x"),
    lambda place: place.read("x"),
    lambda place: put(place, "x", b"1"),
    lambda place: put(place, "x", LARGE),
    lambda place: list(place.iter_files()),
    lambda place: place.list_directories(),
    lambda place: place.remove("x"),
    lambda place: place.move("x", "y"),
    lambda place: place.copy("x", "y"),
]


def test_a_missing_bucket_is_named_when_writing_and_when_asked(objects: ObjectStore) -> None:
    place = Location.parse(objects.uri("x", bucket="nowhere"))
    for data in (b"1", LARGE):
        with pytest.raises(StoreError, match=r"has no such bucket .* Create the bucket, or correct the setting store\.$"):
            put(place, "x", data)
    with pytest.raises(StoreError, match="has no such bucket"):
        place.require_bucket()
    Location.parse(objects.uri("x")).require_bucket()


@pytest.mark.parametrize("act", EVERYTHING)
def test_keys_that_are_refused_are_named_and_not_shown(
    objects: ObjectStore, act: object, capfd: pytest.CaptureFixture[str]
) -> None:
    place = Location.parse(objects.uri("denied"))
    put(place, "x", b"1")
    objects.demand_keys(True)
    try:
        with pytest.raises(StoreError, match=r"rejected (unknown|the) keys .* Check AWS_ACCESS_KEY_ID") as raised:
            act(place)  # type: ignore[operator]
        place.require_bucket()  # keys may be good for the prefix only
    finally:
        objects.demand_keys(False)
    assert not any(key in f"{raised.value} {raised.value!r} {place!r} {capfd.readouterr()}" for key in KEYS.values())


def test_keys_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name)
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


def test_an_endpoint_that_is_not_there_is_named() -> None:
    place = Location.parse(ObjectStore(unused_port()).uri("x"))
    for act in (EVERYTHING[0], EVERYTHING[2]):
        with pytest.raises(
            StoreError, match=r"at 127\.0\.0\.1:\d+ does not respond \(NETWORK_CONNECTION at \w+\)\. Check the network"
        ):
            act(place)


def test_an_endpoint_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = Location.parse(ObjectStore(silent.getsockname()[1]).uri("x") + "&request_timeout=1")
        with pytest.raises(StoreError, match="does not respond"):
            place.exists("x")


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
def test_what_the_service_says_is_put_in_our_words(said: str, meaning: str) -> None:
    error = object_store_error(Location.parse("s3://bucket/x?endpoint_override=AKIA@host:9"), OSError(said))
    assert meaning in str(error)
    assert "s3://bucket/x at host:9" in str(error)
    assert "AKIA" not in str(error)
    assert error.path == "s3://bucket/x"
