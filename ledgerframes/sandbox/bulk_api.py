"""The routes of the bulk storage: listings, checksums and downloads (docs/facts.md#bulk-storage), and objects gone bad."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any
from urllib.parse import quote

import msgspec
import zstandard
from flask import Blueprint, Response, request
from werkzeug.exceptions import RequestedRangeNotSatisfiable

from .bulk import EMPTY_DIGEST, LEVEL, BulkStorage, Folder, digest_of
from .faults import DOWNLOAD, Faults
from .randomness import number
from .requests import Refusal, body_of, json_response, page_size_of, time_of
from .times import instant

BOMB_FRAME, BOMB_FRAMES = 64 * 2**20, 64  # bytes before compression: four gigabytes in all
FOREIGN_LINES = 500


def bulk_api(storage: BulkStorage, faults: Faults | None) -> Blueprint:
    """Return the routes of the bulk storage.

    Parameters
    ----------
    storage
        The objects.
    faults
        What shall go wrong: digests of nothing, damaged objects, no ranges.
    """
    api = Blueprint("bulk", __name__)
    objects = _Objects(storage, faults or Faults())

    @api.get(f"{DOWNLOAD}<path:object_key>")
    def download(object_key: str) -> Response:
        return _download(objects, object_key)

    @api.post("/v0/history/bulk/updates")
    def updates() -> Response:
        body = body_of(request)
        size = page_size_of(body)
        begin, end = time_of(body.get("start_record_time")), time_of(body.get("end_record_time"))
        return _answer(_page(storage, objects, begin, end, size, body.get("next_page_token") or ""))

    @api.get("/v0/history/bulk/acs")
    def active_contracts() -> Response:
        asked = request.args.get("at_or_before_record_time")
        limit = time_of(asked.replace(" ", "+")) if asked else None
        found = [folder for folder in storage.snapshots() if limit is None or folder.begin <= limit]
        if not found:
            raise Refusal(404, "No active contracts are stored for that time")
        listed = [objects.reference(key) for key in storage.keys(found[-1], "ACS")]
        return _answer({"record_time": instant(found[-1].begin), "object_refs": listed})

    @api.post("/v0/history/bulk/checksums")
    def checksums() -> Response:
        keys = body_of(request).get("object_keys")
        if not isinstance(keys, list):
            raise Refusal(400, "The request content was malformed:\nDecodingFailure at .object_keys", plain=True)
        digests = [objects.digest(str(key)) for key in keys]
        if None in digests:
            raise Refusal(404, f"No bulk object {keys[digests.index(None)]}")
        return _answer({"checksums": [{"value": digest} for digest in digests]})

    return api


class _Objects:
    """The objects as clients see them: their addresses and digests, and some of them damaged."""

    def __init__(self, storage: BulkStorage, faults: Faults) -> None:
        self._storage = storage
        self._faults = faults
        self._number: Callable[[], int] = count().__next__

    def strikes(self, fault: str) -> bool:
        """Tell whether a fault strikes; every question is a draw of its own."""
        return self._faults.strike(fault, self._number())

    def get(self, key: str) -> bytes | None:
        raw = self._storage.get(key)
        if raw is None:
            return None
        raw = self._instead(key) or raw
        for name, damage in DAMAGES.items():
            if self._faults.strike_object(name, key):
                raw = damage(raw)
        return raw

    def sum(self, key: str) -> str | None:
        """Return the digest that an object should have; None when there is no such object."""
        digest = self._storage.digest(key)
        instead = self._instead(key) if digest else None
        return digest_of(instead) if instead else digest

    def digest(self, key: str) -> str | None:
        digest = self.sum(key)
        return EMPTY_DIGEST if digest and self.strikes("digest_of_nothing") else digest

    def _instead(self, key: str) -> bytes | None:
        """Return what was stored under a key in the place of the history."""
        if self._faults.strike_object("bomb_object", key):
            return bomb()
        return foreign(key) if self._faults.strike_object("foreign_object", key) else None

    def reference(self, key: str) -> dict[str, Any]:
        before, _, _ = request.base_url.partition("/v0/")
        return {"url": f"{before}{DOWNLOAD}{quote(key, safe='')}", "digest": self.digest(key)}


def _download(objects: _Objects, key: str) -> Response:
    """Answer with an object, or with the part of it that the request's Range names."""
    raw = objects.get(key)
    if raw is None:
        raise Refusal(404, f"No bulk object {key}")
    answer = Response(raw, 200, content_type="application/octet-stream")
    if objects.strikes("no_ranges"):
        return answer
    answer.accept_ranges = "bytes"
    answer.set_etag(objects.sum(key) or "")
    try:
        answer.make_conditional(request, accept_ranges=True, complete_length=len(raw))
    except RequestedRangeNotSatisfiable:
        answer = Refusal(416, f"Range {request.headers['Range']} is not within the object's {len(raw)} bytes").response()
        answer.headers["Content-Range"] = f"bytes */{len(raw)}"
    return answer


def truncated(raw: bytes) -> bytes:
    """Cut an object in the middle of its last frame."""
    return raw[: len(raw) * 5 // 6]  # of three frames, or of one


def corrupt(raw: bytes) -> bytes:
    """Turn some bytes in the middle of an object over."""
    middle = len(raw) // 2
    return raw[:middle] + bytes(byte ^ 0xFF for byte in raw[middle : middle + 16]) + raw[middle + 16 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {"truncated_object": truncated, "corrupt_object": corrupt}


def foreign(key: str) -> bytes:
    """Return an object of JSON lines that have nothing to do with a ledger."""
    lines = (b'{"level":%d,"station":"harbour","tide":%d}\n' % (number(key, n) % 900, n) for n in range(FOREIGN_LINES))
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=False).compress(b"".join(lines))


@cache
def bomb() -> bytes:
    """Return an object of one line that begins like an update's and goes on in zeros, without an end."""
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=False)
    zeros = b"0" * 2**20
    frame = compressor.compressobj()
    compressed = b"".join(frame.compress(zeros) for _ in range(BOMB_FRAME // len(zeros))) + frame.flush()
    return compressor.compress(b'{"effective_at":"') + compressed * BOMB_FRAMES


def _page(storage: BulkStorage, objects: _Objects, begin: int, end: int, size: int, token: str) -> dict[str, Any]:
    """List whole folders, as many as fit; the token is the name of the last one."""
    folders = storage.folders()
    asked = [folder for folder in folders if folder.begin < end and folder.end > begin]
    rest = [folder for folder in asked if f"{folder.name}/" > token]
    listed: list[dict[str, Any]] = []
    last: Folder | None = None
    for folder in rest:
        keys = storage.keys(folder)
        if len(keys) > size:
            raise Refusal(400, f"page_size {size} is too small for the {len(keys)} objects of {folder.name}")
        if len(listed) + len(keys) > size:
            break
        listed += [objects.reference(key) for key in keys]
        last = folder
    done = last is None or last == rest[-1]
    more_to_come = not folders or end > folders[-1].end
    page: dict[str, Any] = {"object_refs": listed}
    if not done or more_to_come:
        page["next_page_token"] = f"{last.name}/" if last else token
    return page


def _answer(value: Any) -> Response:
    return json_response(msgspec.json.encode(value))
