"""Endpoints of the bulk storage, with damaged objects (docs/facts.md#bulk-storage)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import quote

import flask
import msgspec
import zstandard
from flask import Response
from werkzeug.exceptions import RequestedRangeNotSatisfiable

from .bulk import EMPTY_DIGEST, LEVEL, digest_of
from .endpoints import Api, endpoint
from .faults import DOWNLOAD
from .history_api import SizedRequest
from .randomness import number
from .responses import HttpError, Json, parse_time
from .times import instant

BOMB_FRAME, BOMB_FRAMES = 64 * 2**20, 64  # bytes before compression, four gigabytes in all
FOREIGN_LINES = 500


class ListingRequest(SizedRequest, kw_only=True):
    """Body of the listing of updates."""

    start_record_time: Any  # a bad time is refused in its own way
    end_record_time: Any
    next_page_token: str | None = None


class ChecksumsRequest(msgspec.Struct):
    """Body of the request for checksums."""

    object_keys: list[str]


class BulkApi(Api):
    """Endpoints of the bulk storage."""

    @endpoint("POST", "/v0/history/bulk/updates", ListingRequest)
    def _updates(self, request: ListingRequest) -> Json:
        """List as many whole folders as fit, with the name of the last one as token."""
        begin, end = parse_time(request.start_record_time), parse_time(request.end_record_time)
        size, token = request.page_size, request.next_page_token or ""
        folders = self.box.bulk.folders()
        rest = [each for each in folders if each.begin < end and each.end > begin and f"{each.name}/" > token]
        complete = not rest
        keys: list[str] = []
        for folder in rest:
            more = self.box.bulk.keys(folder)
            if len(more) > size:
                raise HttpError(400, f"page_size {size} is too small for the {len(more)} objects of {folder.name}")
            if len(keys) + len(more) > size:
                break
            keys += more
            token, complete = f"{folder.name}/", folder == rest[-1]
        refs = {"object_refs": [self._reference(key) for key in keys]}
        complete = complete and bool(folders) and end <= folders[-1].end
        return refs if complete else {**refs, "next_page_token": token}

    @endpoint("GET", "/v0/history/bulk/acs")
    def _active_contracts(self) -> Json:
        time = flask.request.args.get("at_or_before_record_time")
        limit = parse_time(time.replace(" ", "+")) if time else None
        folders = [folder for folder in self.box.bulk.snapshots() if limit is None or folder.begin <= limit]
        if not folders:
            raise HttpError(404, "No active contracts are stored for that time")
        refs = [self._reference(key) for key in self.box.bulk.keys(folders[-1])]
        return {"record_time": instant(folders[-1].begin), "object_refs": refs}

    @endpoint("POST", "/v0/history/bulk/checksums", ChecksumsRequest)
    def _checksums(self, request: ChecksumsRequest) -> Json:
        digests = [self._digest(key) for key in request.object_keys]
        if None in digests:
            raise HttpError(404, f"No bulk object {request.object_keys[digests.index(None)]}")
        return {"checksums": [{"value": digest} for digest in digests]}

    @endpoint("GET", f"{DOWNLOAD}<path:object_key>")
    def _download(self, object_key: str) -> Response:
        """Return an object, or the part of it that the request's Range names."""
        raw = self._object(object_key)
        if raw is None:
            raise HttpError(404, f"No bulk object {object_key}")
        response = Response(raw, content_type="application/octet-stream")
        if self.strikes("no_ranges"):
            return response
        response.accept_ranges = "bytes"
        response.set_etag(self._true_digest(object_key) or "")
        try:
            response.make_conditional(flask.request, accept_ranges=True, complete_length=len(raw))
        except RequestedRangeNotSatisfiable:
            message = f"Range {flask.request.headers['Range']} is not within the object's {len(raw)} bytes"
            response = HttpError(416, message).response()
            response.headers["Content-Range"] = f"bytes */{len(raw)}"
        return response

    def _object(self, key: str) -> bytes | None:
        raw = self.box.bulk.get(key)
        if raw is None:
            return None
        raw = self._replacement(key) or raw
        for name, damage in DAMAGE.items():
            if self.box.faults.strikes_object(name, key):
                raw = damage(raw)
        return raw

    def _replacement(self, key: str) -> bytes | None:
        """Return the contents stored under a key instead of the history."""
        if self.box.faults.strikes_object("bomb_object", key):
            return bomb()
        return foreign(key) if self.box.faults.strikes_object("foreign_object", key) else None

    def _true_digest(self, key: str) -> str | None:
        """Return the digest of an undamaged object, or None if it does not exist."""
        digest = self.box.bulk.digest(key)
        replacement = self._replacement(key) if digest else None
        return digest_of(replacement) if replacement else digest

    def _digest(self, key: str) -> str | None:
        digest = self._true_digest(key)
        return EMPTY_DIGEST if digest and self.strikes("digest_of_nothing") else digest

    def _reference(self, key: str) -> Json:
        before, _, _ = flask.request.base_url.partition("/v0/")
        name = quote(key, safe="").replace("~", "%7E")
        return {"url": f"{before}{DOWNLOAD}{name}", "digest": self._digest(key)}


def corrupt(raw: bytes) -> bytes:
    """Return an object with 16 inverted bytes in the middle."""
    middle = len(raw) // 2
    return raw[:middle] + bytes(byte ^ 0xFF for byte in raw[middle : middle + 16]) + raw[middle + 16 :]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated_object": lambda raw: raw[: len(raw) * 5 // 6],  # in the middle of the last frame, of three frames or of one
    "corrupt_object": corrupt,
}


def foreign(key: str) -> bytes:
    """Return an object of JSON lines that are not updates."""
    lines = (b'{"level":%d,"station":"harbour","tide":%d}\n' % (number(key, n) % 900, n) for n in range(FOREIGN_LINES))
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=False).compress(b"".join(lines))


@cache
def bomb() -> bytes:
    """Return an object of one endless line that starts like an update's."""
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_content_size=False)
    zeros = b"0" * 2**20
    frame = compressor.compressobj()
    compressed = b"".join(frame.compress(zeros) for _ in range(BOMB_FRAME // len(zeros))) + frame.flush()
    return compressor.compress(b'{"effective_at":"') + compressed * BOMB_FRAMES
