"""The history API over a world: one event or update by id, pages of them, and the probes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from .builder import NULL, Event
from .requests import Refusal, body_of, cursor_of, encoding_of, json_response, page_size_of
from .times import SECOND
from .words import Words
from .world import World

# How far the service's own copy of each stream is behind the network, in microseconds.
UPDATES_BEHIND, VERDICTS_BEHIND = 45 * SECOND, 90 * SECOND
VERSION = {"version": "0.7.4", "commit_ts": "2026-10-02T09:41:07Z"}


def history_api(world: World, words: Words) -> Blueprint:
    """Return the routes of the history API (order.md "History API", wire facts 5).

    Parameters
    ----------
    world
        The world that is shown.
    words
        The vocabulary of the query keys.
    """
    api = Blueprint("history", __name__)
    _add_events(api, world, words.lang)
    _add_updates(api, world, words.lang)
    _add_probes(api, words)
    return api


def _add_events(api: Blueprint, world: World, lang: str) -> None:
    @api.get("/v0/events/<path:update_id>")
    def event(update_id: str) -> Response:
        found = _find(world, update_id, encoding_of(request, None, lang))
        if found is None or (_late(world, found) and found.update == NULL):
            raise Refusal(404, f"Event with id {update_id} not found")
        return json_response(found.update_only() if _late(world, found) else found.item())

    @api.post("/v0/events")
    def events() -> Response:
        # The page waits for the slower of both streams, hence it may be short before the end (wire fact 38).
        end = world.timeline.now - max(UPDATES_BEHIND, VERDICTS_BEHIND)
        listed = (found.item() for found in _asked(world, lang, end))
        return json_response(_page("events", listed))


def _add_updates(api: Blueprint, world: World, lang: str) -> None:
    @api.get("/v2/updates/<path:update_id>")
    def update(update_id: str) -> Response:
        return json_response(_update(world, update_id, encoding_of(request, None, lang)))

    @api.post("/v2/updates")
    def updates() -> Response:
        listed = _asked(world, lang, world.timeline.now - UPDATES_BEHIND)
        return json_response(_page("transactions", (found.update for found in listed if found.update != NULL)))

    @api.get("/v0/updates/<path:update_id>")
    def first_version(update_id: str) -> Response:
        lossless = request.args.get("lossless", "false")
        if lossless not in ("true", "false"):
            raise Refusal(400, f"'{lossless}' is not a value of lossless: use true or false")
        encoding = "protobuf_json" if lossless == "true" else "compact_json"
        return json_response(in_first_version(_update(world, update_id, encoding)))


def _add_probes(api: Blueprint, words: Words) -> None:
    @api.get("/readyz")
    @api.get("/livez")
    def probe() -> Response:
        return Response(b"", 200, content_type="text/plain; charset=UTF-8")

    @api.get("/version")
    def version() -> Response:
        return json_response(msgspec.json.encode(VERSION))

    @api.get("/status")
    def status() -> Response:
        success = {
            "id": f"{words.coin}::scan-app",
            "uptime": "PT190H12M4.118S",
            "ports": {"admin": 5012},
            "extra": None,
            "active": True,
        }
        return json_response(msgspec.json.encode({"success": success}))


def _find(world: World, update_id: str, encoding: str) -> Event | None:
    found = world.find(update_id, encoding)
    arrived = found and found.record_time < world.timeline.now - UPDATES_BEHIND
    return found if arrived else None


def _late(world: World, event: Event) -> bool:
    """Tell whether the event's verdict is to come; a look-up by id answers without it (wire fact 51)."""
    return event.record_time >= world.timeline.now - VERDICTS_BEHIND


def _update(world: World, update_id: str, encoding: str) -> bytes:
    found = _find(world, update_id, encoding)
    if found is None or found.update == NULL:
        raise Refusal(404, f"Transaction with id {update_id} not found")
    return found.update


def _asked(world: World, lang: str, end: int) -> Iterable[Event]:
    """Iterate over the events that a page request asks for; for updates, over those that have one."""
    body = body_of(request)
    size, (migration_id, record_time) = page_size_of(body), cursor_of(body)
    found = world.after(migration_id, record_time, end, encoding_of(request, body, lang))
    if request.path.endswith("/updates"):
        found = (event for event in found if event.update != NULL)
    return islice(found, size)


def _page(name: str, items: Iterable[bytes]) -> bytes:
    return b'{"%b":[%b]}' % (name.encode(), b",".join(items))


def in_first_version(update: bytes) -> bytes:
    """Return an update as the deprecated route shows it: event ids start with "#" (wire fact 21)."""
    item: dict[str, Any] = msgspec.json.decode(update)
    if "event" in item:
        return update
    offset = f"{int(item['update_id'][4:20], 16):018d}"[:18]
    nodes = {f"#{key}": _marked(node) for key, node in item.pop("events_by_id").items()}
    roots = [f"#{key}" for key in item.pop("root_event_ids")]
    return msgspec.json.encode({**item, "offset": offset, "root_event_ids": roots, "events_by_id": nodes})


def _marked(node: dict[str, Any]) -> dict[str, Any]:
    node["event_id"] = f"#{node['event_id']}"
    if "child_event_ids" in node:
        node["child_event_ids"] = [f"#{child}" for child in node["child_event_ids"]]
    return node
