"""The history API over a world: one event or update by id, pages of them, and the probes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any

import msgspec
from flask import Blueprint, Response, request

from .builder import NULL, Event
from .clock import Clock
from .requests import Refusal, body_of, cursor_of, encoding_of, json_response, page_size_of
from .rounds import INCOMPLETE_ROUNDS
from .timeline import OVERLAP, SECOND_MIGRATION
from .times import SECOND
from .vocabulary import Vocabulary
from .world import World

# How far the service's own copy of each stream is behind the network, in microseconds.
UPDATES_BEHIND, VERDICTS_BEHIND = 45 * SECOND, 90 * SECOND
VERSION = {"version": "0.7.4", "commit_ts": "2026-10-02T09:41:07Z"}


def history_api(world: World, words: Vocabulary, clock: Clock) -> Blueprint:
    """Return the routes of the history API (docs/facts.md#history-api).

    Parameters
    ----------
    world
        The world that is shown.
    words
        The vocabulary of the query keys.
    clock
        The present; what comes after it is not there yet.
    """
    api = Blueprint("history", __name__)
    view = History(world, clock, words.lang)
    _add_events(api, view)
    _add_updates(api, view)
    _add_probes(api, words)
    return api


class History:
    """The world as the history service has it at present.

    Parameters
    ----------
    world, clock
        The world, and the present.
    lang
        The network's word for its contract language.
    """

    def __init__(self, world: World, clock: Clock, lang: str) -> None:
        self._world, self._clock, self._lang = world, clock, lang

    def now(self) -> int:
        """Return the present, microseconds since 1970."""
        return self._clock.now()

    def find(self, update_id: str, encoding: str = "") -> Event | None:
        """Return the event with an id when its update has arrived, in the encoding that the query asks for."""
        found = self._world.find(update_id, encoding or encoding_of(request, None, self._lang))
        arrived = found and found.record_time < self.now() - UPDATES_BEHIND and self._begun(found.migration_id)
        return found if arrived else None

    def late(self, event: Event) -> bool:
        """Tell whether the event's verdict is to come; a look-up by id answers without it (docs/facts.md#history-not-ready)."""
        return event.record_time >= self.now() - VERDICTS_BEHIND

    def item(self, event: Event) -> bytes:
        """Return an event as it is known at present: newer rounds have no activity yet."""
        state = None
        if event.app_activity_records != NULL and self.now() < self._world.timeline.now:
            state = self._world.rounds.state_at(event.record_time)
        if state and state.number >= self._first_incomplete():
            return replace(event, app_activity_records=NULL).item()
        return event.item()

    def _first_incomplete(self) -> int:
        newest = self._world.rounds.lowest_open(self.now())
        return newest - INCOMPLETE_ROUNDS + 1 if newest else 0

    def _begun(self, migration_id: int) -> bool:
        # The service moves to the next migration when it has all of the one before.
        timeline = self._world.timeline
        return migration_id < SECOND_MIGRATION or self.now() >= timeline.switch + OVERLAP + VERDICTS_BEHIND

    def update(self, update_id: str, encoding: str = "") -> bytes:
        """Return an update, or refuse."""
        found = self.find(update_id, encoding)
        if found is None or found.update == NULL:
            raise Refusal(404, f"Transaction with id {update_id} not found")
        return found.update

    def asked(self, behind: int) -> Iterable[Event]:
        """Iterate over the events that a page request asks for; for updates, over those that have one."""
        body = body_of(request)
        size, (migration_id, record_time) = page_size_of(body), cursor_of(body)
        encoding = encoding_of(request, body, self._lang)
        found: Iterable[Event] = self._world.after(migration_id, record_time, self.now() - behind, encoding)
        found = takewhile(lambda event: self._begun(event.migration_id), found)
        if request.path.endswith("/updates"):
            found = (event for event in found if event.update != NULL)
        return islice(found, size)


def _add_events(api: Blueprint, view: History) -> None:
    @api.get("/v0/events/<path:update_id>")
    def event(update_id: str) -> Response:
        found = view.find(update_id)
        if found is None or (view.late(found) and found.update == NULL):
            raise Refusal(404, f"Event with id {update_id} not found")
        return json_response(found.update_only() if view.late(found) else view.item(found))

    @api.post("/v0/events")
    def events() -> Response:
        # The page waits for the slower of both streams, hence it may be short before the end (docs/facts.md#short-event-pages).
        listed = (view.item(found) for found in view.asked(max(UPDATES_BEHIND, VERDICTS_BEHIND)))
        return json_response(_page("events", listed))


def _add_updates(api: Blueprint, view: History) -> None:
    @api.get("/v2/updates/<path:update_id>")
    def update(update_id: str) -> Response:
        return json_response(view.update(update_id))

    @api.post("/v2/updates")
    def updates() -> Response:
        return json_response(_page("transactions", (found.update for found in view.asked(UPDATES_BEHIND))))

    @api.get("/v0/updates/<path:update_id>")
    def first_version(update_id: str) -> Response:
        lossless = request.args.get("lossless", "false")
        if lossless not in ("true", "false"):
            raise Refusal(400, f"'{lossless}' is not a value of lossless: use true or false")
        encoding = "protobuf_json" if lossless == "true" else "compact_json"
        return json_response(in_first_version(view.update(update_id, encoding)))


def _add_probes(api: Blueprint, words: Vocabulary) -> None:
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


def _page(name: str, items: Iterable[bytes]) -> bytes:
    return b'{"%b":[%b]}' % (name.encode(), b",".join(items))


def in_first_version(update: bytes) -> bytes:
    """Return an update as the deprecated route shows it: event ids start with "#" (docs/facts.md#event-id-prefix)."""
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
