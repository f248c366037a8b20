"""Downloads that break off: gone on with, begun again, or given up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.errors import HostUnreachableError, NotFoundError, StoreError, UsageError

CONTENT = bytes(range(256)) * 40_000
KEY = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd"
KEPT = "bytes=2097152-"  # of 3,000,000 bytes: whole pieces count
Answer = Callable[[httpx.Request], httpx.Response]


class Broken(httpx.SyncByteStream):
    """A body that ends too early."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content
        raise httpx.ReadError("connection reset")


def network(tmp_path: Path, answers: list[Answer], asked: list[httpx.Request]) -> lf.Network:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answers[min(len(asked), len(answers)) - 1](request)

    url = "http://history.invalid"
    return lf.connect("sandbox", history_url=url, transport=httpx.MockTransport(answer), store=tmp_path, requests_per_second=0)


def whole(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, stream=httpx.ByteStream(CONTENT), headers={"ETag": '"a"', "Content-Length": str(len(CONTENT))})


def broken(_: httpx.Request) -> httpx.Response:
    return httpx.Response(200, stream=Broken(CONTENT[:3_000_000]), headers={"ETag": '"a"', "Content-Length": str(len(CONTENT))})


def rest(request: httpx.Request) -> httpx.Response:
    begin = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-"))
    headers = {"ETag": '"a"', "Content-Range": f"bytes {begin}-{len(CONTENT) - 1}/{len(CONTENT)}"}
    return httpx.Response(206, stream=httpx.ByteStream(CONTENT[begin:]), headers=headers)


def refused(_: httpx.Request) -> httpx.Response:
    return httpx.Response(416, json={"error": "no such range"})


@pytest.mark.parametrize(
    ("answers", "ranges"),
    [
        ([whole], [None]),
        ([broken, rest], [None, KEPT]),
        ([broken, whole], [None, KEPT]),
        ([broken, refused, whole], [None, KEPT, None]),
    ],
)
def test_what_broke_off_is_gone_on_with_or_begun_again(tmp_path: Path, answers: list[Answer], ranges: list[str | None]) -> None:
    asked: list[httpx.Request] = []
    with network(tmp_path, answers, asked) as net:
        found = net.history.bulk_download(KEY, tmp_path / "object")
    assert (tmp_path / "object").read_bytes() == CONTENT
    assert (found.bytes, found.sha256, found.host) == (len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), "history.invalid")
    assert [request.headers.get("Range") for request in asked] == ranges
    assert asked[0].url.raw_path.count(b"/") == "/v0/history/bulk/download/KEY".count("/")


def test_a_service_that_always_breaks_off_is_given_up(tmp_path: Path) -> None:
    with network(tmp_path, [broken], []) as net, pytest.raises(HostUnreachableError):
        net.history.bulk_download(KEY, tmp_path / "object")


def test_an_object_that_is_not_there(tmp_path: Path) -> None:
    def missing(_: httpx.Request) -> httpx.Response:
        return httpx.Response(404, json={"error": "no such object"})

    with network(tmp_path, [missing], []) as net:
        with pytest.raises(NotFoundError):
            net.history.bulk_download(KEY, tmp_path / "object")
        with pytest.raises(UsageError):
            net.history.bulk_download("", tmp_path / "object")


def test_a_disk_without_room_is_not_the_connection_s_fault(tmp_path: Path) -> None:
    with network(tmp_path, [whole], []) as net, pytest.raises(StoreError, match="Free disk space"):
        net.history.bulk_download(KEY, Path("/dev/full"))


def test_a_directory_that_does_not_exist_is_not_the_connection_s_fault(tmp_path: Path) -> None:
    asked: list[httpx.Request] = []
    with network(tmp_path, [whole], asked) as net, pytest.raises(StoreError, match=r"No such file or directory.*Check the"):
        net.history.bulk_download(KEY, tmp_path / "missing" / "object")
    assert len(asked) == 1, "the object is not fetched again"
