"""Limits on what one response may have, and responses that are not the API's."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import ledgerframes as lf
from ledgerframes.api.transport import Transport
from ledgerframes.errors import DecodeError, HostUnreachableError, ResponseLimitError
from ledgerframes.settings import Limits

ONE, TWO = "http://one.invalid/api", "http://two.invalid/api"
KEY = "2026-01-29T00:00:00Z~2026-01-30T00:00:00Z/updates_compact_json_0.zstd"


def net(handler: Callable[[httpx.Request], httpx.Response], *urls: str, **limits: float) -> lf.Network:
    transport = httpx.MockTransport(handler)
    options = {"requests_per_second": 0, "retries": 0, **limits}
    return lf.connect("sandbox", history_url=urls or (ONE,), transport=transport, **options)


def streamed(content: bytes, size: int = 10_000, **headers: str) -> httpx.Response:
    pieces: Iterator[bytes] = (content[start : start + size] for start in range(0, len(content), size))
    return httpx.Response(200, content=pieces, headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_a_bomb_of_gzip_stops_at_the_ratio() -> None:
    bomb, seen = gzip.compress(b'{"events":[' + b" " * 400_000_000, compresslevel=1), []

    def handler(_: httpx.Request) -> httpx.Response:
        seen.append(1)
        return streamed(bomb, Content_Encoding="gzip")

    with pytest.raises(ResponseLimitError, match=r"expand to more than 200 times.*max_decompression_ratio=") as caught:
        net(handler, retries=5).history.events()
    assert (caught.value.setting, caught.value.maximum, caught.value.host) == ("max_decompression_ratio", 200, "one.invalid")
    assert len(seen) == 1, "a bomb is not fetched again"


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_response_beyond_its_bytes_is_refused(encoding: str) -> None:
    body = b'{"events":[' + b" " * 50_000
    content = gzip.compress(body) if encoding == "gzip" else body
    with pytest.raises(ResponseLimitError, match="sent more than 20,000 bytes") as caught:
        net(lambda _: streamed(content, Content_Encoding=encoding), max_response_bytes=20_000).history.events()
    assert caught.value.setting == "max_response_bytes"
    assert caught.value.endpoint == "POST /v0/events"


def test_a_response_that_drips_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10_000, 30))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    with pytest.raises(ResponseLimitError, match="within 2 minutes"):
        net(lambda _: streamed(b'{"events":[]}', 1), max_response_minutes=2).history.events()


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("cut", [0, 1, 9])
@pytest.mark.parametrize("members", [1, 2, 3])
def test_gzip_is_read_whole_or_not_at_all(members: int, cut: int, size: int) -> None:
    body = b'{"events":[]}' + b" " * 5000
    parts = [body[number * 20 : number * 20 + 20] for number in range(members - 1)]
    parts.append(body[sum(map(len, parts)) :])
    content = b"".join(map(gzip.compress, parts))
    response = streamed(content[: len(content) - cut], size, Content_Encoding="gzip")
    if cut:
        with pytest.raises(HostUnreachableError, match="part of the gzip"):
            net(lambda _: response).history.events()
    else:
        assert net(lambda _: response).history.events_page().body == body


def test_a_member_of_gzip_after_a_complete_document_is_not_left_out() -> None:
    content = gzip.compress(b'{"events":[]}') + gzip.compress(b"x")
    with pytest.raises(DecodeError):
        net(lambda _: streamed(content, Content_Encoding="gzip")).history.events()


def test_what_follows_gzip_and_is_none_is_damage() -> None:
    with pytest.raises(HostUnreachableError, match="damaged gzip"):
        net(lambda _: streamed(gzip.compress(b'{"events":[]}') + b"rest", Content_Encoding="gzip")).history.events()


def test_an_encoding_that_was_not_requested_is_no_response() -> None:
    with pytest.raises(HostUnreachableError, match="encoding 'zstd'"):
        net(lambda _: streamed(b"x", Content_Encoding="zstd")).history.events()


def test_only_gzip_is_requested() -> None:
    seen: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["accept-encoding"])
        return httpx.Response(200, json={"events": []})

    net(handler).history.events()
    assert seen == ["gzip"]


@pytest.mark.parametrize("declared", [True, False])
def test_a_download_stops_before_it_writes_beyond_its_limit(declared: bool, tmp_path: Path) -> None:
    target, content = tmp_path / "x.part", b"z" * 5_000_000
    headers = {"Content_Length": str(len(content))} if declared else {}
    with pytest.raises(ResponseLimitError, match=r"more than 2,000,000 bytes .*max_download_bytes=") as caught:
        net(lambda _: streamed(content, 100_000, **headers), max_download_bytes=2_000_000).history.bulk_download(KEY, target)
    assert caught.value.maximum == 2_000_000
    assert (target.stat().st_size if target.exists() else 0) <= (0 if declared else 2_000_000)


def test_the_error_of_a_download_is_read_within_the_limits_of_a_response(tmp_path: Path) -> None:
    def endless(_: httpx.Request) -> httpx.Response:
        return httpx.Response(500, content=(b"x" * 10_000 for _ in range(10_000)))

    with pytest.raises(ResponseLimitError, match="sent more than 20,000 bytes"):
        net(endless, max_response_bytes=20_000).history.bulk_download(KEY, tmp_path / "x")


def test_a_download_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10_000_000, 60))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    with pytest.raises(ResponseLimitError, match="max_download_minutes="):
        net(lambda _: streamed(b"z" * 50_000_000, 100_000), max_download_minutes=5).history.bulk_download(KEY, tmp_path / "x")


@pytest.mark.parametrize(
    "body", [b"<!DOCTYPE html><html></html>", b"  \n<html>", b'{"error":"not now"}', b"Service is starting", b"\xff\xfe"]
)
def test_a_response_that_is_not_the_apis_moves_on_to_the_next_host(body: bytes) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return (
            httpx.Response(200, content=body) if request.url.host == "one.invalid" else httpx.Response(200, json={"events": []})
        )

    assert net(handler, ONE, TWO).history.events_page().host == "two.invalid"
    with pytest.raises(DecodeError) as caught:
        net(handler, ONE).history.events_page()
    assert caught.value.endpoint == "POST /v0/events"


@pytest.mark.parametrize("body", [b'{"events":[],"error":"x"}', b" [1]", b"7", b"null", b'"text"', b"-1", b"true"])
def test_any_json_is_the_apis(body: bytes) -> None:
    sender = Transport((ONE,), Limits(requests_per_second=0), httpx.MockTransport(lambda _: httpx.Response(200, content=body)))
    assert sender.request("GET", "/thing").body == body


def test_only_some_operations_have_an_empty_body() -> None:
    sender = Transport((ONE,), Limits(requests_per_second=0), httpx.MockTransport(lambda _: httpx.Response(204)))
    assert sender.request("POST", "/thing", may_be_empty=True).body == b""
    with pytest.raises(DecodeError, match=r"The response of one\.invalid to GET /thing is empty\."):
        sender.request("GET", "/thing")


def test_rows_are_catalogued_as_those_of_the_host_that_sent_them(tmp_path: Path) -> None:
    """The first host fails from the second page on, so the second one has the rest."""
    box = lf.connect("sandbox", events=400, days=1)
    inner, count = box._transport, [0]
    assert inner is not None

    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.host == "one.invalid":
            count[0] += 1
            if count[0] > 5:
                return httpx.Response(200, text="<html>maintenance</html>")
        url = box.settings.history_url[0] + request.url.path.removeprefix("/api")
        return httpx.Client(transport=inner).request(
            request.method, url, content=request.content, headers={"content-type": "application/json"}
        )

    mixed = lf.connect(
        "sandbox", history_url=(ONE, TWO), transport=httpx.MockTransport(handler), requests_per_second=0, store=tmp_path,
        page_size=50, max_concurrency=1,
    )  # fmt: skip
    frames = lf.load_events(mixed, since="2026-11-08", until="2026-11-09")
    sources = [segment.source for segment in mixed.store.all_segments() if segment.rows]
    assert set(sources) == {"one.invalid", "two.invalid"}
    assert len(frames.verdicts) == len(lf.load_verdicts(box, since="2026-11-08", until="2026-11-09"))
