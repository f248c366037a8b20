"""The history API over a world.

It serves single events and updates, pages of them, reference data and probes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import flask
import msgspec

from .builder import NULL, Event, decode_object
from .endpoints import Api, endpoint
from .identifiers import blob_of, contract_id, fingerprint
from .requests import Int64
from .responses import HttpError, Json, contract_object, parse_time, text_response
from .timeline import OVERLAP, SECOND_MIGRATION
from .times import HOUR, SECOND, trimmed
from .traffic import LIMIT_DELAY, Traffic
from .transactions.templates.governance import PRICE_VOTE
from .transactions.templates.wallet import NAME_RULES
from .values import ENCODINGS
from .world import World

if TYPE_CHECKING:
    from .network import SimulatedNetwork

MAX_PAGE = 1000
MAX_CACHED_CONTRACTS = 100
# Delay of the service's own copy of each stream, in microseconds.
UPDATES_DELAY, VERDICTS_DELAY = 45 * SECOND, 90 * SECOND
COMMITTED = "2026-10-02T09:41:07Z"  # time of the service's own version
SERIAL = 0  # counts the logical upgrades of a synchronizer, of which no world has one: a new migration starts at 0
MEMBER = re.compile(r"(PAR|MED)::([A-Za-z0-9_-]+::[0-9a-f]+)")
STATUS = {"uptime": "PT190H12M4.118S", "ports": {"admin": 5012}, "extra": None, "active": True}
NAME_RULES_STEP, VOTES_STEP = 1, 5  # transactions of the start that create them
NEWCOMER = "Umbra-Commons"  # an SV without a vote so far, whose contract came with the second migration


class Cursor(msgspec.Struct):
    """Position in the history (docs/facts.md#history-paging)."""

    after_migration_id: Int64
    after_record_time: Any  # a bad time has its own refusal


class SizedRequest(msgspec.Struct, kw_only=True):
    """Body of a listing in pages."""

    page_size: int

    def __post_init__(self) -> None:
        """Refuse a page size out of bounds."""
        if not 1 <= self.page_size <= MAX_PAGE:
            raise HttpError(400, f"Invalid page size: {self.page_size}; it must be between 1 and {MAX_PAGE}")


class PageRequest(SizedRequest, kw_only=True):
    """Body of the listings of events and updates."""

    after: Cursor | None = None


class NameRulesRequest(msgspec.Struct):
    """Body of the request for the rules of the name service."""

    cached_ans_rules_contract_id: str | None = None
    cached_ans_rules_domain_id: str | None = None


class HistoryApi(Api):
    """Endpoints of the history API (docs/facts.md#history-api)."""

    def __init__(self, box: SimulatedNetwork) -> None:
        super().__init__(box)
        self._contract = lru_cache(MAX_CACHED_CONTRACTS)(partial(_contract, self.world))

    @endpoint("GET", "/v0/events/<path:update_id>")
    def _event(self, update_id: str) -> bytes:
        event = self._find(update_id, self._encoding(flask.request.args))
        # A lookup responds even without a verdict that is still on its way (docs/facts.md#history-not-ready).
        late = event is not None and event.record_time >= self.clock.now() - VERDICTS_DELAY
        if event is None or (late and event.update == NULL):
            raise HttpError(404, f"Event with id {update_id} not found")
        return Event(update_id, event.migration_id, event.record_time, event.update).item() if late else self._item(event)

    @endpoint("POST", "/v0/events", PageRequest)
    def _events(self, request: PageRequest) -> bytes:
        # A page waits for the slower stream, so it may be short before the end (docs/facts.md#short-event-pages).
        events = self._after(request, max(UPDATES_DELAY, VERDICTS_DELAY))
        return b'{"events":[%b]}' % b",".join(self._item(event) for event in islice(events, request.page_size))

    @endpoint("GET", "/v2/updates/<path:update_id>")
    def _update(self, update_id: str) -> bytes:
        return self._found_update(update_id, self._encoding(flask.request.args))

    @endpoint("POST", "/v2/updates", PageRequest)
    def _updates(self, request: PageRequest) -> bytes:
        updates = (event.update for event in self._after(request, UPDATES_DELAY) if event.update != NULL)
        return b'{"transactions":[%b]}' % b",".join(islice(updates, request.page_size))

    @endpoint("GET", "/v0/updates/<path:update_id>")
    def _first_version(self, update_id: str) -> bytes:
        lossless = flask.request.args.get("lossless", "false")
        if lossless not in ("true", "false"):
            raise HttpError(400, f"'{lossless}' is not a value of lossless: use true or false")
        update = self._found_update(update_id, "protobuf_json" if lossless == "true" else "compact_json")
        return in_first_version(update, self.world.identifiers.order(update_id))

    def _found_update(self, update_id: str, encoding: str) -> bytes:
        event = self._find(update_id, encoding)
        if event is None or event.update == NULL:
            raise HttpError(404, f"Transaction with id {update_id} not found")
        return event.update

    def _find(self, update_id: str, encoding: str) -> Event | None:
        """Return the event with an id if its update has arrived."""
        event = self.world.find(update_id, encoding)
        arrived = event and event.record_time < self.clock.now() - UPDATES_DELAY and self._has_started(event.migration_id)
        return event if arrived else None

    def _after(self, request: PageRequest, delay: int) -> Iterator[Event]:
        """Return the events after a cursor that have arrived in a stream."""
        cursor = request.after
        position = (cursor.after_migration_id, parse_time(cursor.after_record_time)) if cursor else (-1, 0)
        encoding = self._encoding(decode_object(flask.request.get_data()))
        events = self.world.after(*position, self.clock.now() - delay, encoding)
        return takewhile(lambda event: self._has_started(event.migration_id), events)

    def _encoding(self, members: Any) -> str:
        """Return the value encoding of a request, whose key names the network's language."""
        key = f"{self.world.vocabulary.lang}_value_encoding"
        encoding = members.get(key)
        if encoding is None:
            return "compact_json"
        if not isinstance(encoding, str) or encoding not in ENCODINGS:
            raise HttpError(400, f"{encoding!r} is not a value of {key}: use one of {', '.join(ENCODINGS)}")
        return encoding

    def _has_started(self, migration_id: int) -> bool:
        # The service starts the next migration when it has all of the one before.
        switch = self.world.timeline.switch + OVERLAP + VERDICTS_DELAY
        return migration_id < SECOND_MIGRATION or self.clock.now() >= switch

    def _item(self, event: Event) -> bytes:
        """Return an event as known at present, without activity for the newest rounds."""
        now = self.clock.now()
        if event.app_activity_records != NULL and now < self.world.timeline.now:
            state = self.world.rounds.state_at(event.record_time)
            if state and state.number >= self.world.rounds.first_incomplete(now):
                return replace(event, app_activity_records=NULL).item()
        return event.item()

    @endpoint("POST", "/v0/ans-rules", NameRulesRequest)
    def _name_rules(self, request: NameRulesRequest) -> Json:
        created = self.world.schedule.genesis.time(NAME_RULES_STEP)
        if self.clock.now() < created:
            raise HttpError(500, "No AnsRules found")
        rules = self._contract(self.world.constants().lasting(NAME_RULES).identifier, created)
        cached = request.cached_ans_rules_contract_id == rules["contract_id"]
        return {"ans_rules_update": {"contract": None if cached else rules, "domain_id": self.world.parties.synchronizer}}

    @endpoint("GET", "/v0/{coin}-price/votes")
    def _price_votes(self) -> Json:
        """Return the latest vote of every SV (docs/facts.md#name-rules-and-price-votes)."""
        now, schedule, constants = self.clock.now(), self.world.schedule, self.world.constants()
        votes = []
        for member, chain in enumerate(schedule.votes):
            occurrence = chain.count_before(now + 1) - 1
            created = chain.time(occurrence) if occurrence >= 0 else schedule.genesis.time(VOTES_STEP)
            if created <= now:
                vote_id = constants.lasting(PRICE_VOTE, member, occurrence).identifier
                votes.append(self._contract(vote_id, created))
        created = self.world.timeline.switch + HOUR
        if now >= created:
            sv = f"{NEWCOMER}::{fingerprint(constants.seed, NEWCOMER)}"
            names = {**constants.names, "sv": sv, "price": None, "now": created}
            vote = decode_object(constants.payload(PRICE_VOTE)(names))
            template_id, identifier = constants.templates[PRICE_VOTE].identifier, contract_id(constants.seed, "newcomer's vote")
            votes.append(contract_object(template_id, identifier, vote, trimmed(created), blob_of(identifier)))
        return {f"{constants.vocabulary.coin}_price_votes": votes}

    @endpoint("GET", "/v0/domains/<domain_id>/members/<member_id>/traffic-status")
    def _traffic_status(self, domain_id: str, member_id: str) -> Json:
        match = MEMBER.fullmatch(member_id)
        if match is None:
            raise HttpError(400, f"'{member_id}' is not a member id of the form code::id::fingerprint")
        traffic, now, participant = self.world.derived(Traffic), self.clock.now(), match[2]
        is_member = match[1] == "PAR" and traffic.is_member(participant)
        if domain_id != self.world.parties.synchronizer or not is_member:
            raise HttpError(404, f"No traffic state of member {member_id} on synchronizer {domain_id}")
        actual = {
            "total_consumed": traffic.consumed(participant, now),
            "total_limit": traffic.purchased(participant, now - LIMIT_DELAY),
        }
        return {"traffic_status": {"actual": actual, "target": {"total_purchased": traffic.purchased(participant, now)}}}

    _serial = endpoint("GET", "/v0/active-synchronizer-serial")(lambda api: {"serial": SERIAL})
    _ready = endpoint("GET", "/readyz")(lambda api: text_response())
    _live = endpoint("GET", "/livez")(lambda api: text_response())
    _version = endpoint("GET", "/version")(lambda api: {"version": api.box.history_version, "commit_ts": COMMITTED})
    _status = endpoint("GET", "/status")(lambda api: {"success": {"id": f"{api.world.vocabulary.coin}::scan-app", **STATUS}})


def _contract(world: World, identifier: str, created: int) -> Json:
    """Return a contract as the update that created it shows it, by record time."""
    events = world.slice(world.timeline.number_of(created))
    updates = (decode_object(event.update) for event in events if identifier.encode() in event.update)
    nodes = (node for update in updates for node in update["events_by_id"].values() if "created_at" in node)
    node = next(node for node in nodes if node["contract_id"] == identifier)
    blob = blob_of(identifier)
    return contract_object(node["template_id"], identifier, node["create_arguments"], node["created_at"], blob)


def in_first_version(update: bytes, offset: int) -> bytes:
    """Return an update with an offset and marked ids (docs/facts.md#event-id-prefix)."""
    item: Json = decode_object(update)
    if "event" in item:
        return update
    nodes = {f"#{key}": node for key, node in item.pop("events_by_id").items()}
    for key, node in nodes.items():
        node["event_id"] = key
        if "child_event_ids" in node:
            node["child_event_ids"] = [f"#{child}" for child in node["child_event_ids"]]
    roots = [f"#{key}" for key in item.pop("root_event_ids")]
    return msgspec.json.encode({**item, "offset": f"{offset:018d}", "root_event_ids": roots, "events_by_id": nodes})
