"""Downloads in parts, downloads that end early, and objects gone bad."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import httpx
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ledgerframes.sandbox import Faults, Sandbox

from .conftest import client_of
from .test_bulk import key_of, lines_of, refs
from .test_serve import connected

GIGABYTE = 2**30
SHAPE = (1, 600, 2)  # seed, events, days


def faulty(**faults: Any) -> httpx.Client:
    return client_of(Sandbox(*SHAPE, faults=Faults(**faults)))


def digest(raw: bytes) -> str:
    return base64.b64encode(hashlib.sha256(raw).digest()).decode()


@pytest.fixture(scope="module")
def client() -> httpx.Client:
    return client_of(Sandbox(*SHAPE))


@pytest.fixture(scope="module")
def ref(client: httpx.Client) -> dict[str, str]:
    return refs(client)[-1]


@pytest.fixture(scope="module")
def whole(client: httpx.Client, ref: dict[str, str]) -> httpx.Response:
    return client.get(ref["url"])


def test_a_download_says_that_it_takes_ranges(whole: httpx.Response, ref: dict[str, str]) -> None:
    assert whole.status_code == 200
    assert whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["etag"] == f'"{ref["digest"]}"'
    assert int(whole.headers["content-length"]) == len(whole.content)
    assert "content-range" not in whole.headers


@given(share=st.floats(0, 1, exclude_max=True))
def test_the_rest_of_an_object(client: httpx.Client, ref: dict[str, str], whole: httpx.Response, share: float) -> None:
    length = len(whole.content)
    begin = int(length * share)
    answer = client.get(ref["url"], headers={"Range": f"bytes={begin}-"})
    assert answer.status_code == 206
    assert answer.content == whole.content[begin:]
    assert answer.headers["content-range"] == f"bytes {begin}-{length - 1}/{length}"
    assert int(answer.headers["content-length"]) == length - begin
    assert answer.headers["etag"] == whole.headers["etag"]


@pytest.mark.parametrize("range_header", ["bytes={}-", "bytes=99999999999-", "bytes=0-1,5-6", "bytes=x-", "lines=0-", "5"])
def test_ranges_that_cannot_be(client: httpx.Client, ref: dict[str, str], whole: httpx.Response, range_header: str) -> None:
    length = len(whole.content)
    answer = client.get(ref["url"], headers={"Range": range_header.format(length)})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{length}"
    assert list(answer.json()) == ["error"]


def test_another_object_is_sent_whole(client: httpx.Client, ref: dict[str, str], whole: httpx.Response) -> None:
    same = client.get(ref["url"], headers={"Range": "bytes=9-", "If-Range": whole.headers["etag"]})
    assert (same.status_code, same.content) == (206, whole.content[9:])
    other = client.get(ref["url"], headers={"Range": "bytes=9-", "If-Range": '"another"'})
    assert (other.status_code, other.content) == (200, whole.content)
    assert "content-range" not in other.headers


def test_no_ranges(ref: dict[str, str], whole: httpx.Response) -> None:
    answer = faulty(no_ranges=1).get(ref["url"], headers={"Range": "bytes=9-"})
    assert (answer.status_code, answer.content) == (200, whole.content)
    assert not {"accept-ranges", "content-range", "etag"} & set(answer.headers)


def test_a_dropped_download_can_be_taken_up(ref: dict[str, str], whole: httpx.Response) -> None:
    client = faulty(dropped_download=0.7, seed=3)
    got, tries = b"", 0
    while len(got) < len(whole.content):
        answer = client.get(ref["url"], headers={"Range": f"bytes={len(got)}-"})
        assert int(answer.headers["content-length"]) == len(whole.content) - len(got)
        got += answer.content
        tries += 1
    assert tries > 1
    assert got == whole.content


def test_a_dropped_download_can_be_begun_again(ref: dict[str, str], whole: httpx.Response) -> None:
    client = faulty(dropped_download=0.5, no_ranges=1)
    bodies = [client.get(ref["url"]).content for _ in range(20)]
    assert set(bodies) == {whole.content, whole.content[: len(whole.content) // 2]}


@pytest.mark.loopback
def test_a_dropped_download_is_a_closed_socket() -> None:
    with connected(Sandbox(*SHAPE, faults=Faults(dropped_download=1))) as remote:
        url = refs(remote)[0]["url"]
        with pytest.raises(httpx.RemoteProtocolError):
            remote.get(url)


def test_only_downloads_are_dropped(ref: dict[str, str]) -> None:
    client = faulty(dropped_download=1)
    assert refs(client)
    missing = client.get(f"{ref['url']}x")
    assert (missing.status_code, list(missing.json())) == (404, ["error"])


def test_truncated_objects(client: httpx.Client) -> None:
    bad = faulty(truncated_object=1)
    assert refs(bad) == refs(client)
    for ref in refs(bad):
        raw, good = bad.get(ref["url"]), client.get(ref["url"]).content
        assert good.startswith(raw.content)
        assert len(good) * 0.8 < int(raw.headers["content-length"]) == len(raw.content) < len(good)
        assert ref["digest"] == digest(good)
        assert in_the_middle_of_a_frame(raw.content)


def in_the_middle_of_a_frame(raw: bytes) -> bool:
    while raw:
        frame = zstandard.ZstdDecompressor().decompressobj()
        frame.decompress(raw)
        if not frame.eof:
            return True
        raw = frame.unused_data
    return False


def test_corrupt_objects(client: httpx.Client) -> None:
    bad = faulty(corrupt_object=1)
    assert refs(bad) == refs(client)
    for ref in refs(bad):
        raw, good = bad.get(ref["url"]).content, client.get(ref["url"]).content
        differing = [position for position in range(len(good)) if raw[position] != good[position]]
        assert len(raw) == len(good)
        assert differing == list(range(len(good) // 2, len(good) // 2 + 16))
        assert ref["digest"] == digest(good)


def test_foreign_objects() -> None:
    client = faulty(foreign_object=1)
    raws = [client.get(ref["url"]).content for ref in refs(client)]
    assert [digest(raw) for raw in raws] == [ref["digest"] for ref in refs(client)]
    assert len(set(raws)) == len(raws)
    lines = [json.loads(line) for line in lines_of(raws[0])]
    assert len(lines) > 100
    assert not any("update_id" in line or "event" in line for line in lines)


def test_a_bomb_is_small_and_never_ends_its_line() -> None:
    client = faulty(bomb_object=1)
    ref = refs(client)[0]
    raw = client.get(ref["url"]).content
    assert ref["digest"] == digest(raw)
    assert len(raw) < 2**20
    with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as reader:
        start = reader.read(40)
        assert start.startswith(b'{"effective_at":"0000')
        while reader.tell() < 70 * 2**20:  # past the end of a frame
            assert not reader.read(2**20).strip(b"0")
    assert length_of(raw) > 4 * GIGABYTE


def length_of(raw: bytes) -> int:
    """Decompress all frames but the repeated ones only once."""
    head = zstandard.ZstdDecompressor().decompressobj()
    length = len(head.decompress(raw))
    frame = zstandard.ZstdDecompressor().decompressobj()
    once = len(frame.decompress(head.unused_data))
    size = len(head.unused_data) - len(frame.unused_data)
    frames, rest = divmod(len(head.unused_data), size)
    assert rest == 0
    assert head.unused_data == head.unused_data[:size] * frames
    return length + once * frames


@pytest.mark.parametrize("fault", ["truncated_object", "corrupt_object", "foreign_object", "bomb_object"])
def test_a_damaged_object_stays_damaged(client: httpx.Client, fault: str) -> None:
    bad = faulty(**{fault: 0.5})
    good = {key_of(ref): client.get(ref["url"]).content for ref in refs(client)}
    first = {key_of(ref): bad.get(ref["url"]).content for ref in refs(bad)}
    repeated = {key_of(ref): bad.get(ref["url"]).content for ref in reversed(refs(bad))}
    assert first == repeated
    changed_keys = [key for key in good if first[key] != good[key]]
    assert 0 < len(changed_keys) < len(good)
    sums = bad.post("/v0/history/bulk/checksums", json={"object_keys": list(good)}).json()["checksums"]
    right = [entry["value"] == digest(first[key]) for key, entry in zip(good, sums, strict=True)]
    assert all(right) == (fault in ("foreign_object", "bomb_object"))


def test_a_damaged_object_has_parts_too() -> None:
    client = faulty(truncated_object=1)
    url = refs(client)[0]["url"]
    whole = client.get(url).content
    assert client.get(url, headers={"Range": "bytes=7-"}).content == whole[7:]
    assert client.get(url, headers={"Range": f"bytes={len(whole)}-"}).status_code == 416
