"""The routes of the bulk storage: listings, checksums and downloads (wire facts 6)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import quote

import msgspec
from flask import Blueprint, Response, request

from .bulk import EMPTY_DIGEST, BulkStorage, Folder
from .faults import Faults
from .requests import Refusal, body_of, json_response, page_size_of, time_of
from .times import instant

DOWNLOAD = "/v0/history/bulk/download/"


def bulk_api(storage: BulkStorage, faults: Faults | None) -> Blueprint:
    """Return the routes of the bulk storage.

    Parameters
    ----------
    storage
        The objects.
    faults
        What shall go wrong: digests of nothing.
    """
    api = Blueprint("bulk", __name__)
    refs = _References(storage, faults or Faults())

    @api.get(f"{DOWNLOAD}<path:object_key>")
    def download(object_key: str) -> Response:
        raw = storage.get(object_key)
        if raw is None:
            raise Refusal(404, f"No bulk object {object_key}")
        return Response(raw, 200, content_type="application/octet-stream")

    @api.post("/v0/history/bulk/updates")
    def updates() -> Response:
        body = body_of(request)
        size = page_size_of(body)
        begin, end = time_of(body.get("start_record_time")), time_of(body.get("end_record_time"))
        return _answer(_page(storage, refs, begin, end, size, body.get("next_page_token") or ""))

    @api.get("/v0/history/bulk/acs")
    def active_contracts() -> Response:
        asked = request.args.get("at_or_before_record_time")
        limit = time_of(asked.replace(" ", "+")) if asked else None
        found = [folder for folder in storage.snapshots() if limit is None or folder.begin <= limit]
        if not found:
            raise Refusal(404, "No active contracts are stored for that time")
        listed = [refs.reference(key) for key in storage.keys(found[-1], "ACS")]
        return _answer({"record_time": instant(found[-1].begin), "object_refs": listed})

    @api.post("/v0/history/bulk/checksums")
    def checksums() -> Response:
        keys = body_of(request).get("object_keys")
        if not isinstance(keys, list):
            raise Refusal(400, "The request content was malformed:\nDecodingFailure at .object_keys", plain=True)
        digests = [refs.digest(str(key)) for key in keys]
        if None in digests:
            raise Refusal(404, f"No bulk object {keys[digests.index(None)]}")
        return _answer({"checksums": [{"value": digest} for digest in digests]})

    return api


class _References:
    """Addresses and digests of objects, as this request sees them."""

    def __init__(self, storage: BulkStorage, faults: Faults) -> None:
        self._storage = storage
        self._faults = faults
        self._number: Callable[[], int] = count().__next__

    def digest(self, key: str) -> str | None:
        digest = self._storage.digest(key)
        return EMPTY_DIGEST if digest and self._faults.strike("digest_of_nothing", self._number()) else digest

    def reference(self, key: str) -> dict[str, Any]:
        before, _, _ = request.base_url.partition("/v0/")
        return {"url": f"{before}{DOWNLOAD}{quote(key, safe='')}", "digest": self.digest(key)}


def _page(storage: BulkStorage, refs: _References, begin: int, end: int, size: int, token: str) -> dict[str, Any]:
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
        listed += [refs.reference(key) for key in keys]
        last = folder
    done = last is None or last == rest[-1]
    more_to_come = not folders or end > folders[-1].end
    page: dict[str, Any] = {"object_refs": listed}
    if not done or more_to_come:
        page["next_page_token"] = f"{last.name}/" if last else token
    return page


def _answer(value: Any) -> Response:
    return json_response(msgspec.json.encode(value))
